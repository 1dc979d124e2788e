"""Let the library of a model compute explanations where only it can read some features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from splitcredit.models.formats.containers import first_rows, offsets, with_offset
from splitcredit.models.formats.own import COMPARED, compare, own_prediction
from splitcredit.models.opened import Opened
from splitcredit.models.prediction import (
    chosen_outputs,
    is_other_class,
    largest,
    of_predicted,
    refuse_targets,
)
from splitcredit.results.attribution import Attribution
from splitcredit.rows.tables import rows_at

_ROWS = 1 << 14


def is_needed(opened, method="tree_shap") -> bool:
    """Return whether the model's library must compute the values of a method."""
    return method == "tree_shap" and bool(opened.format.own_features(opened.inner))


def explain(opened, output="all", check_additivity=True, **parameters) -> Attribution:
    """Compute path-dependent SHAP values by the library of a model."""
    inner, library, X = opened.inner, opened.format, opened.given
    for name in parameters:
        raise TypeError(
            f"{library.title} computes the SHAP values of models with categories, and takes no "
            f"{name!r}: leave it out, or encode categories as numbers"
        )
    own = library.own_shap_values(inner)
    rows = X if _is_container(library, X) else opened.steps.rows(X)
    container, table, n_samples = own.container(rows)
    values, baseline = own.values(container)
    values, outputs = values[:n_samples], own.outputs
    index, names = None, outputs.output_names
    offset = offsets(container, outputs)
    if check_additivity and n_samples:
        _compare(inner, own, container, values, baseline, offset)
    if output == "predicted":
        refuse_targets(outputs)
        scores = values.sum(axis=1) + baseline + (0 if offset is None else offset)
        index, names = largest(outputs, scores), ("predicted",)
        if outputs.other_class is None:
            values = np.take_along_axis(values, index[:, None, None], axis=2)
            baseline = baseline[index][:, None]
        else:
            values, baseline = of_predicted(index, values), of_predicted(index, baseline[None])
    else:
        chosen = chosen_outputs(outputs, output, "'all', 'predicted'")
        values, baseline = values[:, :, chosen], baseline[chosen]
        names = tuple(names[c] for c in chosen)
        if is_other_class(outputs, output):
            values, baseline, names = 0.0 - values, 0.0 - baseline, (outputs.other_class,)
    attribution = Attribution(
        values=values,
        baseline=baseline,
        feature_names=own.feature_names,
        output_names=names,
        method="tree_shap",
        parameters={
            "output": output if isinstance(output, str) else int(output),
            "computed_by": own.computed_by,
        },
        output_index=index,
        index=opened.index,
        data=table,
    )
    if offset is None:
        return attribution
    return replace(attribution, baseline=with_offset(attribution, outputs, offset))


def _is_container(library, X):
    return type(X).__name__ in library.containers


def _compare(model, own, container, values, baseline, offset):
    """Compare the totals of the first rows with the prediction; ValueError if they differ."""
    totals = values[:COMPARED].sum(axis=1) + baseline
    totals = totals if offset is None else totals + offset[:COMPARED]
    predicted = own_prediction(model, own.outputs, first_rows(container, COMPARED))
    if predicted is not None:
        allowed = 2.0**-20 * (np.abs(values[:COMPARED]).sum(axis=1).max() + np.abs(totals).max())
        names = f"{own.called} add up to", f"this {type(model).__name__}"
        compare(totals, predicted, allowed, *names, remedy=own.why_off)


def explain_chunks(opened, chunk_rows, dtype, **parameters):
    """Yield the attributions of some rows at a time, as `explain` computes them."""
    X, size = opened.given, _ROWS if chunk_rows is None else chunk_rows
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    for start in range(0, max(n_samples, 1), size):
        if _is_container(opened.format, X):
            rows = X.slice(list(range(start, min(start + size, n_samples))))
        else:
            rows = rows_at(X, slice(start, start + size))
        part = Opened(opened.model, rows, features=opened.features)
        piece = explain(part, **parameters)
        yield part.by_columns(replace(piece, values=piece.values.astype(dtype)), part.source)
