"""The functions that users meet first: one door to every method.

Every function takes a fitted model as people hold it: of scikit-learn, XGBoost or LightGBM, a
Booster, a `Forest`, the path of a model file, a pipeline, or a fitted search. X goes through the
steps of a pipeline first; features are then those that come out of them.
"""

from __future__ import annotations

from splitcredit._explain import explain, explain_chunks, importance
from splitcredit._methods import methods
from splitcredit._order import faithfulness, rank

__all__ = ["explain", "explain_chunks", "faithfulness", "importance", "methods", "rank"]
