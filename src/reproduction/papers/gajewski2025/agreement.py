"""Second opinions: our values beside those of other packages, on the models of the paper."""

from reproduction.papers import _agreement
from reproduction.papers._agreement import compute, draw

__all__ = ["compute", "draw", "statements"]

_NAMED = {"TreeSHAP": "s35"}


def statements(table):
    """s35: SHAP is path-dependent TreeSHAP."""
    return _agreement.statements(table, _NAMED)
