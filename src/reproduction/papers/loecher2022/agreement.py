"""Second opinions: our values beside those of other packages, on the models of the paper."""

from functools import partial

from reproduction.papers import _agreement

compute, draw = _agreement.compute, _agreement.draw
# s29: CFC are those of TreeInterpreter, SHAP values those of TreeExplainer.
statements = partial(_agreement.statements, named={"Saabas": "s29", "TreeSHAP": "s29"})
