"""SHAP values that CatBoost computes itself, of models with features that it turns into numbers.

Its tables of categories, texts and embeddings are its own, so no Forest can hold such a model. Its
``ShapValues`` are those of the trees by their covers, and a result says that they are CatBoost's.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from splitcredit import _chunks
from splitcredit._containers import first, offsets, with_offset
from splitcredit._names import as_known, check_columns, labels_of_columns, with_columns
from splitcredit._tables import check_shape, column_of, refuse_container
from splitcredit.attribution import Attribution
from splitcredit.convert import unwrap
from splitcredit.convert.catboost import labels_of_model, own_features
from splitcredit.convert.own import COMPARED, compare, own_prediction
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


def explain(model, X, output="all", check_additivity=True, **parameters) -> Attribution:
    """Path-dependent SHAP values by CatBoost itself.

    Returns an Attribution. Its parameters say what computed it. TypeError if there are other
    parameters. ValueError if X does not fit the model.

    Parameters
    ----------
    model : fitted CatBoost model, or a pipeline or search around one
    X : array-like, DataFrame or catboost.Pool (n_samples, n_features)
    output : as for `splitcredit.importances.tree_shap.explain`
    check_additivity : bool
        Whether a few totals are compared with what CatBoost predicts. Of trees that are not
        symmetric they differ from it.
    """
    for name in parameters:
        raise TypeError(
            f"CatBoost computes the SHAP values of models with categories, and takes no {name!r}: "
            "leave it out, or encode categories as numbers"
        )
    unwrapped, steps = unwrap(model)
    inner: Any = unwrapped
    rows = X if type(X).__name__ == "Pool" else steps.rows(X)
    pool, table, n_samples = as_pool(inner, rows)
    values, baseline, outputs = computed(inner, pool)
    values = values[:n_samples]
    index, names = None, outputs.output_names
    offset = offsets(pool, outputs)
    if check_additivity and n_samples:
        _compare(inner, pool, values, baseline, outputs, offset)
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
        data=table,
    )
    if offset is None:
        return attribution
    return replace(attribution, baseline=with_offset(attribution, outputs, offset))


def _compare(model, pool, values, baseline, outputs, offset):
    """Compare the totals of the first rows with the prediction; ValueError if they differ."""
    totals = values[:COMPARED].sum(axis=1) + baseline
    totals = totals if offset is None else totals + offset[:COMPARED]
    predicted = own_prediction(model, outputs, first(pool, COMPARED))
    if predicted is not None:
        allowed = 2.0**-20 * (np.abs(values[:COMPARED]).sum(axis=1).max() + np.abs(totals).max())
        names = "CatBoost's ShapValues add up to", f"this {type(model).__name__}"
        remedy = "of trees with categories that are not symmetric they are wrong: fit with "
        remedy += "grow_policy='SymmetricTree', or encode the categories"
        compare(totals, predicted, allowed, *names, remedy=remedy)


def explain_chunks(model, X, chunk_rows, dtype, **parameters):
    """Yield the attributions of some rows at a time, as `explain`."""
    size = _ROWS if chunk_rows is None else chunk_rows
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    for start in range(0, max(n_samples, 1), size):
        if type(X).__name__ == "Pool":
            rows = X.slice(list(range(start, min(start + size, n_samples))))
        else:
            rows = _chunks.rows_of(X, start, start + size)
        piece = explain(model, rows, **parameters)
        yield replace(piece, values=piece.values.astype(dtype))


def computed(model, pool):
    """Values (n_samples, n_features, n_outputs), baseline (n_outputs,), and names of outputs."""
    scale, bias = model.get_scale_and_bias()
    if scale != 1:
        raise ValueError(
            f"CatBoost computes no SHAP values of a model with scale {scale:g}: call "
            f"model.set_scale_and_bias(1, {bias}), and multiply the values by {scale:g}"
        )
    shap = asked(model, pool, "ShapValues")
    shap = shap[:, None] if shap.ndim == 2 else shap
    outputs = outputs_of(model, shap.shape[1])
    return shap[:, :, :-1].transpose(0, 2, 1), shap[0, :, -1], outputs


def outputs_of(model, n_outputs):
    """Names of the outputs in the form in which a Forest has them."""
    labels = {"other_class": None, **labels_of_model(model, n_outputs)}
    labels["output_names"] = tuple(map(str, labels["output_names"]))
    return SimpleNamespace(n_outputs=n_outputs, base=np.zeros(n_outputs), **labels)


def asked(model, pool, kind: str) -> np.ndarray:
    """What CatBoost computes; ValueError if the rows do not fit the model."""
    with _refusals():
        return np.asarray(model.get_feature_importance(pool, type=kind))


def as_pool(model, X):
    """Rows as a Pool with the kinds of features of the model, as a table, and their number.

    The table, None of a Pool, is an array or DataFrame with columns in the order of the features.
    No Pool is empty: that of no rows has a meaningless one. ValueError if X does not fit the model.
    """
    from catboost import Pool

    kinds, names = own_features(model), list(model.feature_names_)
    is_pool, made_up = isinstance(X, Pool), [str(j) for j in range(len(names))]
    if is_pool:
        columns = X.get_feature_names()
        if names != made_up and not set(columns) <= {"", *made_up}:
            check_columns(columns, names)
    else:
        X = _table(X, names, names != made_up)
    check_shape(X, X, len(names), True)
    if is_pool:
        return X, None, X.shape[0]
    if not X.shape[0]:
        if "embedding_features" in kinds:  # whose length is not known: a wrong one ends the process
            raise ValueError("X has no rows, and this model has embeddings: pass at least one row")
        own = {j for positions in kinds.values() for j in positions}
        return Pool([["" if j in own else 0.0 for j in range(len(names))]], **kinds), X, 0
    for j in kinds.get("cat_features", ()):
        if not hasattr(X, "tocsr") and column_of(X, j).isna().any():
            raise ValueError(
                f"X has missing values in {names[j]!r}, and CatBoost takes none in categories: "
                "replace them by the label that stood for them in training"
            )
    with _refusals():
        return Pool(X, **kinds), X, X.shape[0]


def _table(X, names, are_given):
    """Rows as an array or DataFrame with columns in the order of the features."""
    refuse_container(X)
    labels = labels_of_columns(X)
    if labels is None:
        return X if hasattr(X, "shape") else np.array(X, object)
    if not hasattr(X, "iloc"):  # of polars and pyarrow
        import pandas as pd

        X = pd.DataFrame({label: np.asarray(X[label]) for label in labels})
    columns = as_known(labels, names)
    return with_columns(X, columns, names) if are_given or set(columns) == set(names) else X


@contextmanager
def _refusals():
    """What CatBoost refuses is a ValueError, as of other models."""
    from catboost import CatBoostError

    try:
        yield
    except (CatBoostError, TypeError) as error:
        raise ValueError(f"X does not fit the model, CatBoost says: {error}") from error
