"""Second opinions: our values beside those of other packages, on the models of the paper."""

from functools import partial

from reproduction.papers import _agreement

compute, draw = _agreement.compute, _agreement.draw
# s35: SHAP is path-dependent TreeSHAP.
statements = partial(_agreement.statements, named={"TreeSHAP": "s35"})
