"""Credit, split by split: importances and attributions of tree ensembles.

Begin with `explain`, `importance`, `rank` and `faithfulness`; `methods` lists all methods, and each
has a function of its name with its own parameters, such as `sage`.
`compare` computes all importances of a model, and `audit` says whether they can be used.

Docstrings name four papers by a key.

- sutera2021: Sutera, Louppe, Huynh-Thu, Wehenkel and Geurts, "From global to local MDI variable
  importances for random forests and when they are Shapley values", NeurIPS 2021, arXiv:2111.02218.
- lundberg2017: Lundberg and Lee, "Consistent feature attribution for tree ensembles", 2017,
  arXiv:1706.06060.
- loecher2022: Loecher, "From unbiased MDI feature importance to explainable AI for trees", 2022,
  arXiv:2003.12043.
- gajewski2025: Gajewski, Karczmarz, Rapicki and Sankowski, "Accurate estimation of feature
  importance faithfulness for tree models", AAAI 2025, arXiv:2404.03426.
"""

import importlib

__version__ = "0.1.0"

# Names are imported when first used, so that importing the package costs nothing and an edit of one
# measure does not make a workflow rerun the others.
_HOME = {
    "Attribution": "splitcredit.results.attribution",
    "Audit": "splitcredit.views.auditing",
    "Comparison": "splitcredit.views.auditing",
    "Forest": "splitcredit.models.forest",
    "Importance": "splitcredit.results.attribution",
    "Interactions": "splitcredit.api.interactions",
    "PartialDependence": "splitcredit.results.partial_dependence",
    "TreeExplainer": "splitcredit.views.explainer",
    "audit": "splitcredit.views.auditing",
    "compare": "splitcredit.views.auditing",
    "explain": "splitcredit.api",
    "explain_chunks": "splitcredit.api",
    "faithfulness": "splitcredit.api",
    "importance": "splitcredit.api",
    "interactions": "splitcredit.api.interactions",
    "methods": "splitcredit.api",
    "partial_dependence": "splitcredit.api.partial_dependence",
    "rank": "splitcredit.api",
    "to_forest": "splitcredit.models.formats",
}

# Each measure has a function of its name.
_MEASURES = """
    air conditional_permutation local_mdi mda mdi mdi_oob oob_attributions penalized_gini
    permutation saabas sage splits tree_shap tree_shap_interventional ufi
""".split()
_HOME |= {name: f"splitcredit.measures.{name}" for name in _MEASURES}
_HOME["oob_importance"] = "splitcredit.measures.oob_attributions"

__all__ = list(_HOME)


def __getattr__(name):
    home = _HOME.get(name)
    if home is None and not name.startswith("_"):  # a measure in a file of its own
        measures = importlib.import_module("splitcredit.measures")
        home = f"splitcredit.measures.{name}" if name in measures.names() else None
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__():
    return sorted([*globals(), *__all__])
