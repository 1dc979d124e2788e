"""Second opinions: our values beside those of other packages, on the models of the paper."""

from functools import partial

from reproduction.papers import _agreement

compute, draw = _agreement.compute, _agreement.draw
# s18: XGBoost computes path attributions; s04: programs of Algorithm 2 compute SHAP values.
statements = partial(_agreement.statements, named={"Saabas": "s18", "TreeSHAP": "s04"})
