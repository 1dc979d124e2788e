"""Credit, split by split: importances and attributions of tree ensembles.

The names below are imported when first used, so that importing the package costs nothing and
editing one measure does not make a workflow rerun the others.
"""

import importlib

__version__ = "0.1.0"

_HOME = {
    "Attribution": "splitcredit.attribution",
    "Forest": "splitcredit.forest",
    "Importance": "splitcredit.attribution",
    "Interactions": "splitcredit.shapley_interactions",
    "TreeExplainer": "splitcredit.explainer",
    "explain": "splitcredit.face",
    "explain_chunks": "splitcredit.face",
    "importance": "splitcredit.face",
    "interactions": "splitcredit.shapley_interactions",
    "methods": "splitcredit.face",
    "rank": "splitcredit.face",
    "to_forest": "splitcredit.convert",
}

# `faithfulness` is a package that can be called.
__all__ = [
    "Attribution",
    "Forest",
    "Importance",
    "Interactions",
    "TreeExplainer",
    "explain",
    "explain_chunks",
    "faithfulness",
    "importance",
    "interactions",
    "methods",
    "rank",
    "to_forest",
]


def __getattr__(name):
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name == "faithfulness":
        return importlib.import_module("splitcredit.faithfulness")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
