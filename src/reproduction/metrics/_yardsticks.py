"""Shared by the yardsticks of the study `trust`: orders, outputs and targets of rows."""

import numpy as np
import pandas as pd

from reproduction.metrics import _global
from splitcredit.prediction_gap.rankings import of_attribution
from splitcredit.results.attribution import Importance


def row_orders(attributions, n_rows: int) -> dict[str, np.ndarray]:
    """Features of each of the first rows, the most important first, int64 (n_rows, n_features).

    A global measure has the same order for all of them.
    """
    return {
        name: np.tile(_order(computed.values), (n_rows, 1))
        if isinstance(computed, Importance)
        else of_attribution(computed)[:n_rows]
        for name, computed in attributions.items()
    }


def global_orders(attributions) -> dict[str, np.ndarray]:
    """Features by their scores over all rows, int64 (n_features,)."""
    return {name: _order(_global.global_scores(a)[0]) for name, a in attributions.items()}


def _order(scores):
    return np.argsort(-scores, kind="stable")


def n_first(share: float, n_features: int) -> int:
    """Number of features that are a share of all, one at least and not all of them."""
    return min(max(1, round(share * n_features)), n_features - 1)


def predicted_outputs(forest, X) -> list[tuple[int, np.ndarray]]:
    """Every output that rows are about, with these rows: the only one, or the predicted class."""
    predicted = forest.predict(X).argmax(axis=1)
    return [(int(c), np.flatnonzero(predicted == c)) for c in np.unique(predicted)]


def targets(names, y) -> list[tuple[int | None, np.ndarray, np.ndarray]]:
    """Output, rows, and what it should be: y itself, or 1 for the probability of the true class.

    The output is None for a class that the model does not know, whose probability is 0.

    Parameters
    ----------
    names : sequence
        Classes of the model; of one or none the targets are numbers.
    y : (n_rows,)
    """
    if len(names) < 2:
        return [(0, np.arange(len(y)), np.asarray(y, float))]
    places = {str(name): place for place, name in enumerate(names)}
    rows_of = {c: np.flatnonzero(y == c) for c in np.unique(y)}
    return [(places.get(str(c)), rows, np.ones(len(rows))) for c, rows in rows_of.items()]


def table(values: dict[str, float], key: str = "importance", **columns) -> pd.DataFrame:
    """One row a measure."""
    return pd.DataFrame({key: [*values], "value": [*values.values()], **columns})
