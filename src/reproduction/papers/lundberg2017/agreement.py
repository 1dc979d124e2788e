"""Second opinions: our values beside those of other packages, on the models of the paper."""

from reproduction.papers import _agreement
from reproduction.papers._agreement import compute, draw

__all__ = ["compute", "draw", "statements"]

_NAMED = {"Saabas": "s18", "TreeSHAP": "s04"}


def statements(table):
    """s18: XGBoost computes path attributions; s04: programs of Algorithm 2 compute SHAP values."""
    return _agreement.statements(table, _NAMED)
