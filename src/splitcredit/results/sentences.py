"""Describe the attributions of one row in words; see `Attribution.describe`."""

from __future__ import annotations

from functools import partial

import numpy as np

from splitcredit.results.plots import drawing
from splitcredit.rows.names import index_of

# Most features that are named for each direction.
_NAMED = 3


def of_row(attribution, row, output) -> str:
    """Describe a row; see `Attribution.describe`."""
    row, names = drawing.checked_row(attribution, row, "a description"), attribution.output_names
    if output is None and len(names) > 1:
        raise ValueError(f"a description needs one output: pass output=, one of {names[:10]}")
    output = 0 if output is None else index_of(names, output, "output")
    values = attribution.values[row, :, output].astype(np.float64)
    values[np.abs(values) < 1e-12 * np.abs(values).max()] = 0.0  # no more than rounding
    order = np.argsort(-np.abs(values), kind="stable")
    up, down = order[values[order] > 0][:_NAMED], order[values[order] < 0][:_NAMED]
    name = partial(drawing.with_value, attribution, attribution.data, row)
    steps = {j: f"{name(j)} ({_number(values[j], '+')})" for j in (*up, *down)}
    raised, lowered = (", ".join(steps[j] for j in own) or "nothing" for own in (up, down))
    rest = np.delete(values, list(steps))
    text = (
        f"{_whole(attribution, row, output)}. This is raised most by {raised}, and lowered most by "
        f"{lowered}."
    )
    if len(rest):
        text += f" The other features ({len(rest)}) add {_number(rest.sum(), '+')}."
    return text.replace("\\$", "$")  # which plots need


def _whole(attribution, row, output):
    """Write the total of a row, and how far it is from the baseline."""
    method, index = attribution.method, attribution.index
    counted = drawing.unit(attribution, attribution.output_names[output]) or "attribution"
    start, end = drawing.ends(attribution, row, output)
    label = row if index is None else index[row]
    who = f"Row {row}" if label == row else f"Row {row} ({label})"
    if attribution.output_index is not None:
        counted += f" (of index {attribution.output_index[row]})"
    if method == "oob_attributions":
        seen = "seen" if attribution.parameters.get("rows") == "inbag" else "not seen"
        counted = f"contributions to the {counted} by trees that have {seen} the row"
    if method not in drawing.ADD_UP:
        who = f"{who}: the values of {method} ({counted}) have the sum"
        return f"{who} {_number(end - start)}, which is not a prediction"
    verb, side = "are" if "odds" in counted else "is", "above" if end >= start else "below"
    against = f"{_number(abs(end - start))} {side} the baseline of {_number(start)}"
    return f"{who}: the {counted} {verb} {_number(end)}, {against}"


def _number(x, sign=""):
    return f"{x:{sign},.0f}" if 1000 <= abs(x) < 1e12 else f"{x:{sign}.4g}"
