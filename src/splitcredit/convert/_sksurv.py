"""Scikit-survival's forests and boosting, where they predict a mean or sum of trees."""

from __future__ import annotations

from splitcredit.convert import _nodes, _sklearn_boosting
from splitcredit.convert._sklearn_trees import KIND, stacked
from splitcredit.convert._sklearn_votes import of_leaves


def forest(model, labels) -> dict:
    """Fields of a survival tree or forest: its risk score, the sum of the cumulative hazards."""
    estimators = getattr(model, "estimators_", [model])
    values = [_risk(one) for one in estimators]
    arrays = stacked([one.tree_ for one in estimators], values, True)
    fields = of_leaves(model, arrays, labels, "mean")
    return {**fields, "output_names": ("risk score",), "several_targets": False}


def _risk(estimator):
    """Risk score of every node: over the times with an event, unless only the score is kept."""
    value = estimator.tree_.value
    if value.shape[1:] == (1, 1):
        return value[:, :, 0].copy()
    return value[:, estimator.is_event_time_, 0].sum(axis=1, keepdims=True)


def boosting(model, labels) -> dict:
    """Fields of GradientBoostingSurvivalAnalysis: the risk score of the Cox model."""
    if model.loss != "coxph" or model.dropout_rate > 0:
        raise _nodes.UnsupportedModelError(
            f"this {type(model).__name__} predicts no sum of its trees: fit with loss='coxph' and "
            "dropout_rate=0"
        )
    return {**_sklearn_boosting.gradient(model, labels), **KIND}
