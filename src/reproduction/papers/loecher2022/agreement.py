"""Second opinions: our values beside those of other packages, on the models of the paper."""

from reproduction.papers import _agreement
from reproduction.papers._agreement import compute, draw

__all__ = ["compute", "draw", "statements"]

_NAMED = {"Saabas": "s29", "TreeSHAP": "s29"}


def statements(table):
    """s29: CFC are those of TreeInterpreter, SHAP values those of TreeExplainer."""
    return _agreement.statements(table, _NAMED)
