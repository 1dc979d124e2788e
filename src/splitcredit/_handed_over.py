"""SHAP values that CatBoost computes itself, of models with features that it turns into numbers.

Its tables of categories, texts and embeddings are its own, so no Forest can hold such a model. Its
``ShapValues`` are those of the trees by their covers, and a result says that they are CatBoost's.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from splitcredit import _chunks
from splitcredit._containers import offsets, with_offset
from splitcredit.attribution import Attribution
from splitcredit.convert import unwrap
from splitcredit.convert.catboost import labels_of_model, own_features
from splitcredit.importances._prediction import (
    chosen_outputs,
    is_other_class,
    largest,
    of_predicted,
    refuse_targets,
)

COMPUTED_BY = "CatBoost ShapValues"
_ROWS = 1 << 14


def is_needed(model, method="tree_shap") -> bool:
    """Whether CatBoost is to compute what a method asks for."""
    if method != "tree_shap":
        return False
    inner, _ = unwrap(model)
    return bool(own_features(inner))


def explain(model, X, output="all", **parameters) -> Attribution:
    """Path-dependent SHAP values by CatBoost itself.

    Returns an Attribution. Its parameters say what computed it. TypeError if there are other
    parameters. CatBoostError if X does not fit the model.

    Parameters
    ----------
    model : fitted CatBoost model, or a pipeline or search around one
    X : array-like, DataFrame or catboost.Pool (n_samples, n_features)
    output : as for `splitcredit.importances.tree_shap.explain`
    """
    for name in parameters:
        raise TypeError(
            f"CatBoost computes the SHAP values of models with categories, and takes no {name!r}: "
            "leave it out, or encode categories as numbers"
        )
    unwrapped, steps = unwrap(model)
    inner: Any = unwrapped
    rows = X if type(X).__name__ == "Pool" else steps.rows(X)
    pool = as_pool(inner, rows)
    values, baseline, outputs = computed(inner, pool)
    index, names = None, outputs.output_names
    offset = offsets(pool, outputs)
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
        feature_names=tuple(inner.feature_names_),
        output_names=names,
        method="tree_shap",
        parameters={
            "output": output if isinstance(output, str) else int(output),
            "computed_by": COMPUTED_BY,
        },
        output_index=index,
        index=getattr(X, "index", None) if hasattr(X, "iloc") else None,
        data=None if rows is pool or not hasattr(rows, "shape") else rows,
    )
    if offset is None:
        return attribution
    return replace(attribution, baseline=with_offset(attribution, outputs, offset))


def explain_chunks(model, X, chunk_rows, dtype, **parameters):
    """Yield the attributions of some rows at a time, as `explain`."""
    size = _ROWS if chunk_rows is None else chunk_rows
    for start in range(0, max(len(X), 1), size):
        piece = explain(model, _chunks.rows_of(X, start, start + size), **parameters)
        yield replace(piece, values=piece.values.astype(dtype))


def computed(model, pool):
    """Values (n_samples, n_features, n_outputs), baseline (n_outputs,), and names of outputs."""
    shap = np.asarray(model.get_feature_importance(pool, type="ShapValues"))
    shap = shap[:, None] if shap.ndim == 2 else shap
    outputs = outputs_of(model, shap.shape[1])
    return shap[:, :, :-1].transpose(0, 2, 1), shap[0, :, -1], outputs


def outputs_of(model, n_outputs):
    """Names of the outputs in the form in which a Forest has them."""
    labels = {"other_class": None, **labels_of_model(model, n_outputs)}
    labels["output_names"] = tuple(map(str, labels["output_names"]))
    return SimpleNamespace(n_outputs=n_outputs, base=np.zeros(n_outputs), **labels)


def as_pool(model, X):
    """Rows as a Pool with the kinds of features of the model."""
    from catboost import Pool

    if isinstance(X, Pool):
        return X
    return Pool(X, **own_features(model))
