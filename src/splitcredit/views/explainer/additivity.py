"""Whether attributions add up to the prediction, and the prediction is that of the model."""

from __future__ import annotations

import numpy as np

from splitcredit.models import rescaling
from splitcredit.models.formats.containers import first_rows, offsets
from splitcredit.models.formats.own import (
    as_the_model_takes_them,
    check_replaced,
    compare,
    rounding,
)

# Rows of a call on which the converted trees are compared with the model's own prediction.
COMPARED = 100


def check(model, forest, curve, rows, y, attribution, container=None) -> None:
    """Check the attributions of some rows, and at some calls the conversion of the model.

    ValueError if they differ by more than rounding can make. `forest` is that of the model or its
    first trees, and `container` holds the rows if it has an offset for each of them.
    """
    raw, allowed = forest.predict(rows), rounding(forest)
    if container is not None:
        raw = raw + offsets(container, forest)
        allowed += 2.0**-23 * np.abs(raw).max(initial=0.0)
    if len(rows) and forest is model.forest and model.next_call_is_compared():
        given = as_the_model_takes_them(forest, rows[:COMPARED])
        check_replaced(model.original_model, given)
        predicted = model.own_prediction(
            given if container is None else first_rows(container, COMPARED)
        )
        if predicted is not None:
            compare(
                raw[:COMPARED],
                predicted[:COMPARED],
                allowed,
                "the converted trees predict",
                "the model",
            )
    if curve != "raw":
        y = None if y is None else np.asarray(y, np.float64)
        raw, below, above = (
            rescaling.transformed(curve, raw[:, 0] + shift, y)[:, None]
            for shift in (0.0, -allowed, allowed)
        )
        allowed = allowed + np.maximum(abs(above - raw), abs(below - raw))
    compare(attribution.totals(), raw, allowed, "the attributions add up to", "the trees")
