"""Whether attributions add up to the prediction, and the prediction is that of the model."""

from __future__ import annotations

import numpy as np

from splitcredit._containers import first, offsets
from splitcredit.importances import _rescaling
from splitcredit.kernels.nodes import cached_per_forest, largest_values

# Rows of a call on which the converted trees are compared with the model's own prediction.
COMPARED = 100


def check(model, forest, curve, rows, y, attribution, container=None) -> None:
    """Check the attributions of some rows, and at some calls the conversion of the model.

    ValueError if they differ by more than rounding can make; the message names a row.

    Parameters
    ----------
    model : ExplainedModel
    forest : Forest
        That was explained: the model's, or its first trees.
    curve : str
        ``"raw"``, or a name in `splitcredit.importances._rescaling.CURVES`.
    rows : array or DataFrame (n_samples, n_features)
    y : array-like (n_samples,), if the curve needs it
    attribution : Attribution
    container : DMatrix or Pool, optional
        In which the rows were given, if it holds an offset for each of them.
    """
    raw, allowed = forest.predict(rows), rounding(forest)
    if container is not None:
        raw = raw + offsets(container, forest)
        allowed += 2.0**-23 * np.abs(raw).max(initial=0.0)
    if len(rows) and forest is model.forest and model.next_call_is_compared():
        given = _as_the_model_takes_them(forest, rows[:COMPARED])
        predicted = model.own_prediction(given if container is None else first(container, COMPARED))
        if predicted is not None:
            _compare(
                raw[:COMPARED],
                predicted[:COMPARED],
                allowed,
                "the converted trees predict",
                "the model",
            )
    if curve != "raw":
        y = None if y is None else np.asarray(y, np.float64)
        raw, below, above = (
            _rescaling.transformed(curve, raw[:, 0] + shift, y)[:, None]
            for shift in (0.0, -allowed, allowed)
        )
        allowed = allowed + np.maximum(abs(above - raw), abs(below - raw))
    _compare(attribution.totals(), raw, allowed, "the attributions add up to", "the trees")


def _as_the_model_takes_them(forest, rows):
    """Rows in the order of the features, with labels of categories where the model has any."""
    return forest.prepare(rows) if forest.categories is None else forest.in_order(rows)


@cached_per_forest
def rounding(forest) -> float:
    """How far a sum over the trees in single precision may be off.

    Each of the additions is off by at most 2**-24 of the largest partial sum, which the sum of the
    largest values of all trees bounds. Twice as much is allowed, for the rounding of the values.
    """
    largest = largest_values(forest)
    total = largest.mean() if forest.aggregate == "mean" else largest.sum()
    return float(2.0**-23 * (forest.n_trees + 1) * (total + abs(forest.base).max()))


def _compare(one, other, allowed, what_one_does, what_other_is):
    gap = abs(one - other)
    right = gap <= allowed
    if not right.all():
        i, c = np.argwhere(~right)[0]
        raise ValueError(
            f"additivity check: for row {i} {what_one_does} {one[i, c]:.9g}, and {what_other_is} "
            f"gives {other[i, c]:.9g}: pass the columns that the model was fitted on, or "
            "check_additivity=False to leave the check out"
        )
