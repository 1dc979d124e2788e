"""Attribute rows of an opened model in chunks: all at once, chunk by chunk, or as a mean."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from splitcredit.kernels.results import ResultArray
from splitcredit.kernels.tree_shap.explain import chosen
from splitcredit.measures import _library_values, module_of
from splitcredit.models import _chunks, rescaling
from splitcredit.models.opened import Opened
from splitcredit.results.attribution import Attribution, Importance
from splitcredit.rows import feature_groups
from splitcredit.rows.tables import check_whole, dense, row_weights, rows_at

_DTYPES = ("float64", "float32")


def explained(
    method, model, X, parameters, dtype="float64", check_additivity=True, progress=None
) -> Attribution:
    """Attribute all rows by a method, with its parameters; see the measures for the others."""
    value_dtype = _dtype(dtype)
    opened = _opened(method, model, X, parameters)
    if _library_values.is_needed(opened, method):
        given = _set_by_user(parameters) | {"check_additivity": check_additivity}
        own = _library_values.explain(opened, **given)
        return opened.by_columns(replace(own, values=own.values.astype(value_dtype)), opened.source)
    parameters = _parameters(opened, method, parameters)
    n_samples = opened.rows.shape[0]
    of_training = "bootstrap" in getattr(module_of(method), "REQUIRES", ())
    step = max(n_samples, 1)
    if not of_training:
        step = _chunks.chunk_rows(opened.forest, parameters)
    result = ResultArray(n_samples, value_dtype)
    pieces = _pieces(
        method, opened, step, parameters, value_dtype, check_additivity, progress, result
    )
    joined = _chunks.joined(pieces, n_samples, result)
    unit = _unit(method, opened)
    return _with_rows(joined, opened, opened.index, opened.rows, opened.source, unit)


def in_chunks(method, model, X, parameters, chunk_rows, dtype, check_additivity, progress):
    """Yield the attributions of some rows at a time; the call itself opens the model."""
    value_dtype = _dtype(dtype)
    if "bootstrap" in getattr(module_of(method), "REQUIRES", ()):
        raise ValueError(f"method {method!r} attributes all training rows at once: use explain")
    if chunk_rows is not None:
        check_whole("chunk_rows", chunk_rows, 1)
    opened = _opened(method, model, X, parameters)
    if _library_values.is_needed(opened, method):
        given = _set_by_user(parameters) | {"check_additivity": check_additivity}
        return _library_values.explain_chunks(opened, chunk_rows, value_dtype, **given)
    parameters = _parameters(opened, method, parameters)
    step = int(chunk_rows or _chunks.chunk_rows(opened.forest, parameters))
    pieces = _pieces(method, opened, step, parameters, value_dtype, check_additivity, progress)
    return _each_with_rows(pieces, opened, _unit(method, opened))


def averaged(
    method, model, X, parameters, check_additivity, progress, sample_weight=None
) -> Importance:
    """Average absolute attributions over the rows, which may have weights; sum over outputs."""
    opened = _opened(method, model, X, parameters)
    if _library_values.is_needed(opened, method):
        own = explained(method, model, X, parameters, "float64", check_additivity)
        return mean_of(own, sample_weight)
    parameters = _parameters(opened, method, parameters)
    n_samples, total = opened.rows.shape[0], np.zeros(1)
    if n_samples == 0:
        raise ValueError("X has no rows: the importance is a mean over rows, pass at least one")
    weights, start = row_weights(sample_weight, n_samples, opened.index), 0
    step, dtype = _chunks.chunk_rows(opened.forest, parameters), np.dtype("float64")
    for piece in _pieces(method, opened, step, parameters, dtype, check_additivity, progress):
        if piece.feature_names == opened.forest.feature_names:
            piece = opened.by_columns(piece)
        sizes, stop = np.abs(piece.values), start + len(piece.values)
        if weights is not None:
            sizes *= weights[start:stop, None, None]
        total, start = total + sizes.sum(axis=(0, 2)), stop
    called = _parameters_of_mean(piece, weights)
    mean = total / (n_samples if weights is None else weights.sum())
    return Importance(mean, piece.feature_names, method, called, unit=_unit(method, opened))


def mean_of(own, sample_weight=None) -> Importance:
    """Average absolute attributions over the rows, and sum them over the outputs."""
    weights = row_weights(sample_weight, len(own), own.index)
    mean = np.average(np.abs(own.values), axis=0, weights=weights).sum(axis=1)
    return Importance(mean, own.feature_names, own.method, _parameters_of_mean(own, weights))


def mean_of_rows(values, weights=None):
    """Return a mean over rows and its standard error: root of sum w^2 (x - mean)^2 over sum w."""
    mean = np.average(values, axis=0, weights=weights)
    if weights is None:
        return mean, values.std(axis=0) / np.sqrt(max(len(values), 1))
    shares = weights / weights.sum()
    return mean, np.sqrt(((shares[:, None] * (values - mean)) ** 2).sum(axis=0))


def _parameters_of_mean(own, weights):
    """Return the parameters of an importance that is a mean over the rows of attributions."""
    called = own.parameters | {"summary": "mean |attribution|"}
    return called if weights is None else called | {"weighted": True}


def _set_by_user(parameters):
    """Return the parameters of a method that do not have their defaults, None or "auto"."""
    given = {k: v for k, v in parameters.items() if k != "features"}
    return {k: v for k, v in given.items() if v is not None and v != "auto"}


def _opened(method, model, X, parameters) -> Opened:
    """Open the model and its rows as the method needs them."""
    module = module_of(method)
    return Opened(
        model,
        X,
        parameters.get("background"),
        takes_offset=True,
        takes_start=getattr(module, "ADDS_UP", False),
        of_training="bootstrap" in getattr(module, "REQUIRES", ()),
        features=parameters.get("features", "columns"),
    )


def _parameters(opened, method, parameters) -> dict:
    """Return the parameters for each chunk; a ValueError if they do not fit this model."""
    parameters = {k: v for k, v in parameters.items() if k != "features"}
    forest, groups = opened.forest, parameters.get("groups")
    if "model_output" in parameters:  # the core gets the forest, which does not know its units
        rescaling.check_model(opened, parameters["model_output"])
    if isinstance(groups, str):
        known = forest.feature_names
        names, members, _ = feature_groups.resolve_groups(known, opened.made_of, groups)
        groups = {k: [known[j] for j in own] for k, own in zip(names, members, strict=True)}
    if groups is not None:  # each chunk reads them
        parameters["groups"] = feature_groups.listed(groups)
    if opened.background is not None:
        parameters["background"] = opened.background
    if method == "tree_shap":  # by all rows: each chunk takes the same algorithm
        algorithm = parameters.get("algorithm", "auto")
        parameters["algorithm"] = chosen(forest, opened.rows.shape[0], algorithm)
    if not getattr(module_of(method), "ADDS_UP", False) or opened.offset[0] is None:
        return parameters
    what = opened.offset[1]
    if parameters.get("model_output", "raw") != "raw":
        raise ValueError(
            f"{what} shifts the raw score of rows: explain model_output='raw', or rows without it"
        )
    has_classes = forest.n_outputs > 1 or forest.other_class is not None
    if parameters.get("output") == "predicted" and has_classes:
        raise ValueError(f"{what} changes which class is predicted: explain output='all'")
    return parameters


def _pieces(method, opened, step, parameters, dtype, check_additivity, progress, result=None):
    """Yield the attributions of chunks, the first compared with what the model itself predicts."""
    module, parameters = module_of(method), dict(parameters)
    y = parameters.pop("y", None)
    adds_up = getattr(module, "ADDS_UP", False)
    offset = opened.offset[0] if adds_up else None
    pieces = _chunks.attributions(
        module.attribute,
        opened.forest,
        opened.rows,
        step,
        dtype,
        progress,
        parameters,
        y=y,
        result=result,
        offset=offset,
    )
    is_raw = adds_up and parameters.get("model_output", "raw") == "raw"
    output = parameters.get("output", "all")
    for k, piece in enumerate(pieces):
        if k == 0 and check_additivity:
            totals = piece if is_raw and output == "all" else None
            opened.check(totals, offset, output == "predicted")
        yield piece


def _unit(method, opened) -> str:
    """Return the unit of the values, in words, if they have the prediction's unit."""
    module = module_of(method)
    in_its_units = getattr(module, "ADDS_UP", False) or getattr(module, "IN_UNITS", False)
    return opened.unit if in_its_units else ""


def _with_rows(attribution, opened, labels, table, source, unit):
    """Add the rows to an attribution by features, and sum it by columns of a pipeline."""
    forest = opened.forest
    if attribution.feature_names != forest.feature_names:
        return replace(attribution, index=labels, unit=unit)
    data = dense(forest.in_order(table), forest.absent)
    return opened.by_columns(replace(attribution, index=labels, data=data, unit=unit), source)


def _each_with_rows(pieces, opened, unit):
    """Yield the attributions of chunks with their rows and unit."""
    start, labels, source = 0, opened.index, opened.source
    for piece in pieces:
        rows = slice(start, start + len(piece.values))
        own = None if source is None else replace(source, rows=rows_at(source.rows, rows))
        index, table = None if labels is None else labels[rows], rows_at(opened.rows, rows)
        yield _with_rows(piece, opened, index, table, own, unit)
        start = rows.stop


def _dtype(dtype):
    if not isinstance(dtype, Hashable) or dtype not in (*_DTYPES, np.float64, np.float32):
        raise ValueError(f"dtype={dtype!r}: available are 'float64', 'float32'")
    return np.dtype(dtype)
