"""Second opinions: our values beside those of other packages, on the models of the paper."""

from reproduction.papers import _agreement
from reproduction.papers._agreement import compute, draw

__all__ = ["compute", "draw", "statements"]

_NAMED = dict.fromkeys(
    [
        "Saabas",
        "TreeSHAP",
        "MDI",
        "TreeSHAP, interventional",
        "SAGE, cross-entropy",
        "SAGE, mse",
    ],
    "s47",
)


def statements(table):
    """s47: the packages that compute each measure, appendix C."""
    return _agreement.statements(table, _NAMED)
