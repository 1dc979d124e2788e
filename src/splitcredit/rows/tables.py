"""Convert rows and numbers from users: arrays, tables of several libraries, targets, seeds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

# How the types of columns begin that hold dates and times, in pandas, polars and pyarrow.
_TIMES = ("date", "time", "duration", "month_day_nano_interval")
# The same of columns with categories, in polars and pyarrow.
_CATEGORIES = ("categorical", "enum", "dictionary")


def refuse_container(X) -> None:
    """Refuse a library's own container of rows; the ValueError has the remedy."""
    if X is None:
        raise ValueError("X is None: pass the rows, (n_samples, n_features)")
    name = type(X).__name__
    if name in ("DMatrix", "QuantileDMatrix", "Dataset", "Pool"):
        raise ValueError(f"X is a {name}: pass the table that it was made of")
    if name == "LazyFrame":
        raise ValueError("X is a LazyFrame, which has no rows yet: pass X.collect()")
    if hasattr(type(X), "compute") and hasattr(X, "columns"):
        raise ValueError(f"X is a {name} of dask, which has no rows yet: pass X.compute()")
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            "X has masked values, and the numbers below the mask would be used: for missing values "
            "pass X.astype(float).filled(np.nan)"
        )
    _refuse_gaps_in_dictionaries(X)


def _refuse_gaps_in_dictionaries(table):
    """Refuse encoded columns of pyarrow with missing values, which NumPy would misread."""
    for (name, kind), column in zip(_types(table), getattr(table, "columns", ()), strict=False):
        is_encoded = str(kind).startswith("dictionary") and hasattr(column, "chunks")
        if is_encoded and column.null_count:
            raise ValueError(
                f"column {name!r} of X has missing values in a dictionary of pyarrow, which "
                "become other values in an array: pass X.to_pandas()"
            )


def records(X, model=None):
    """Return a DataFrame of rows given as dicts; other rows unchanged.

    So are rows of a pipeline whose first step knows no columns, as one that takes dicts.
    """
    steps = getattr(getattr(model, "best_estimator_", model), "steps", None)
    if steps and not hasattr(steps[0][1], "n_features_in_"):
        return X
    is_list = isinstance(X, (list, tuple)) and len(X) > 0
    if hasattr(X, "toarray"):  # a sparse matrix may be a mapping, too
        return X
    if not isinstance(X, Mapping) and not (is_list and all(isinstance(x, Mapping) for x in X)):
        return X
    import pandas as pd

    if is_list:
        return pd.DataFrame([dict(row) for row in X])
    is_row = all(isinstance(x, str) or not hasattr(x, "__len__") for x in X.values())
    return pd.DataFrame([dict(X)] if is_row else dict(X))


def rows_at(X, key):
    """Select rows of an array or a DataFrame, which stays one; None of None."""
    return X if X is None else X.iloc[key] if hasattr(X, "iloc") else X[key]


def column_of(X, j: int):
    """Return a column of an array or DataFrame as a Series."""
    import pandas as pd

    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    return pd.Series(np.asarray(X)[:, j]).infer_objects()


def places_of(column):
    """Return places on an axis, float64, and the labels of 0, 1, ... or None for numbers."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(np.float64, na_value=np.nan), None
    labels = pd.Categorical(column).remove_unused_categories()
    return np.where(labels.codes < 0, np.nan, labels.codes), [str(c) for c in labels.categories]


def dense(X, absent):
    """Return sparse rows as float64, with `absent` for entries not stored; others unchanged."""
    if not hasattr(X, "toarray"):
        return X
    stored, rows = X.tocoo(copy=True), np.full(X.shape, absent)
    stored.sum_duplicates()
    rows[stored.row, stored.col] = stored.data
    return rows


def named(rows, names):
    """Return a DataFrame of rows with absent ones missing, if there are column names."""
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(dense(rows, np.nan), columns=names).infer_objects()


def numeric(X, dtype) -> np.ndarray:
    """Give X as a C-contiguous array; ValueError if it is sparse or holds other than numbers."""
    refuse_container(X)
    if hasattr(X, "toarray"):
        raise ValueError("X is sparse: pass X.toarray()")
    given = X
    try:
        _refuse_columns(X)
        if hasattr(X, "iloc") and hasattr(X, "columns"):
            holds_objects = np.dtype(object) in list(X.dtypes)
            X = X.to_numpy(object if holds_objects else np.float64, na_value=np.nan)
        array = np.asarray(X)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"dtype {array.dtype}")
        if array.dtype == dtype and array.flags.c_contiguous:
            return array
        if array.dtype == object:
            _refuse_times_among(array)
            array = with_nan(array)
        with np.errstate(over="ignore"):
            return np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(_not_numeric(_of_column(given, error))) from None


def _of_column(table, error):
    """Return why a table cannot become numbers, with its column if a single one is to blame."""
    for j, (name, _) in enumerate(_types(table) if hasattr(table, "iloc") else ()):
        try:
            np.asarray(table.iloc[:, j].dropna(), np.float64)
        except (TypeError, ValueError) as of_column:
            return f"column {name!r}: {of_column}"
    return error


def with_nan(array) -> np.ndarray:
    """Return an array of objects with NaN in place of pandas' NA, which NumPy cannot read."""
    is_missing = [type(value).__name__ == "NAType" for value in array.flat]
    if not any(is_missing):
        return array
    array = array.copy()
    array[np.reshape(is_missing, array.shape)] = np.nan
    return array


def numbers(given, who: str) -> np.ndarray:
    """Return targets and the like as float64, or raise a ValueError that begins with `who`."""
    refuse_masked(given, who)
    if getattr(getattr(given, "dtype", None), "kind", "") in tuple("mM"):
        raise ValueError(f"{who} has dates or times: pass numbers")
    try:
        if np.iscomplexobj(given):
            raise TypeError("it is complex")
        return np.asarray(given, np.float64)
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{who} is not numeric ({error}): pass numbers") from None


def refuse_masked(given, who: str) -> None:
    """Raise a ValueError if there are masked values: NumPy would read what lies below."""
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise ValueError(f"{who} has masked values: leave them out")


def row_weights(given, n: int, index=None, who: str = "sample_weight"):
    """Return weights of n rows as float64; None if all rows count alike.

    A Series is aligned by its labels, if these are the labels of the rows in any order.
    """
    if given is None:
        return None
    if index is not None and hasattr(given, "loc") and len(given) == len(index) == n:
        own = given.index
        if own.is_unique and index.is_unique and own.isin(index).all():
            given = given.loc[index]
    weights = numbers(given, who)
    weights = weights[:, 0] if weights.shape == (n, 1) else weights
    if weights.shape != (n,):
        raise ValueError(f"{who} has shape {weights.shape}, expected ({n},): one for each row")
    if not np.isfinite(weights.sum()) or (weights < 0).any() or not weights.any():
        raise ValueError(f"{who} must hold finite numbers from 0, and one above 0 at least")
    return None if (weights == weights[0]).all() else weights


def refuse_times(X) -> None:
    """Refuse a table with dates and times, which would become numbers of days or nanoseconds."""
    try:
        _refuse_columns(X)
    except TypeError as error:
        raise ValueError(_not_numeric(error)) from None


def refuse_categories(X) -> None:
    """Refuse tables, other than pandas', with columns whose categories have own codes."""
    for name, kind in _types(X):
        if str(kind).lower().startswith(_CATEGORIES):
            raise ValueError(
                f"column {name!r} of X has categories of type {kind}, and this model knows those "
                "of pandas: pass X.to_pandas()"
            )


def _not_numeric(error):
    return (
        f"X is not numeric ({error}): pass a table of numbers; encode text, dates and times as "
        "numbers first"
    )


def _refuse_columns(table):
    for name, kind in _types(table):
        letter = getattr(kind, "kind", "O")  # of NumPy and pandas
        if letter in "mMc" or (letter == "O" and str(kind).lower().startswith(_TIMES)):
            raise TypeError(f"column {name!r} holds {kind}")


def _types(table):
    """Return names and types of the columns of a table; None for anything else."""
    if hasattr(table, "dtypes") and hasattr(table, "columns"):
        return zip(table.columns, table.dtypes, strict=True)
    schema = getattr(table, "schema", None)  # of pyarrow
    if hasattr(schema, "names") and hasattr(schema, "types"):
        return zip(schema.names, schema.types, strict=True)
    return ()


def _refuse_times_among(array):
    """Refuse NumPy's times among objects, which would become the number of their units."""
    times = [value for value in array.flat if isinstance(value, (np.datetime64, np.timedelta64))]
    if times:
        raise TypeError(f"it holds {times[0]!r}")


def check_choice(name: str, value, allowed) -> None:
    """Raise a ValueError that lists the allowed values, unless it is one of them."""
    # An array cannot be asked whether it is equal to a name.
    if not isinstance(value, Hashable) or value not in allowed:
        raise ValueError(f"{name}={value!r}: available are {', '.join(map(repr, allowed))}")


def check_whole(name: str, value, least: int = 0) -> None:
    """Raise a ValueError unless it is a whole number, such as a seed, from `least` on."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or value < least:
        raise ValueError(f"{name}={value!r}: expected a whole number, at least {least}")


def check_shape(array, X, n_features: int, has_labels: bool) -> None:
    """Raise a ValueError unless an array, made of X, is a table of so many features."""
    n_dimensions = len(np.shape(array))
    if n_dimensions == 1 and n_features == 1 and len(array) > 1:
        remedy = "X.to_frame()" if hasattr(X, "to_frame") else "np.reshape(X, (-1, 1))"
        raise ValueError(f"X has 1 dimension, expected 2: pass the one feature as {remedy}")
    if n_dimensions != 2:
        remedy = "X.to_frame().T" if hasattr(X, "to_frame") else "np.reshape(X, (1, -1))"
        if hasattr(X, "to_frame") and (has_labels or X.dtype == object):
            remedy = "a table, which keeps the types of its columns, such as X.iloc[[0]]"
        raise ValueError(
            f"X has {n_dimensions} dimension(s), expected 2 (n_samples, {n_features}): pass a "
            f"single row as {remedy}"
        )
    if array.shape[1] != n_features:
        raise ValueError(
            f"X has {array.shape[1]} features, the model was fitted on {n_features}: pass the "
            "columns it was fitted on, in that order"
        )


def with_text(error: Exception, text: str) -> Exception:
    """Return an error with another text, of the same type or a ValueError."""
    try:
        made = type(error)(text)
        if str(made) == text:
            return made
    except Exception:  # the type may need other arguments
        pass
    return ValueError(text)
