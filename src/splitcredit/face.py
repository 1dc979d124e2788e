"""The functions that users meet first: one door to every method.

Every function takes a fitted model of scikit-learn, XGBoost, LightGBM or CatBoost, a Booster, a
`Forest`, the path of a model file, a pipeline, or a fitted search. X goes through the steps of a
pipeline first; the features are then those that come out of these steps.
"""

from __future__ import annotations

from splitcredit._explain import explain, explain_chunks, importance
from splitcredit._methods import methods
from splitcredit._order import faithfulness, rank

__all__ = ["explain", "explain_chunks", "faithfulness", "importance", "methods", "rank"]
