"""Rows and numbers as users have them: arrays, tables of several libraries, targets, seeds."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

# How the types of columns begin that hold dates and times, in pandas, polars and pyarrow.
_TIMES = ("date", "time", "duration", "month_day_nano_interval")
# The same of columns with categories, in polars and pyarrow.
_CATEGORIES = ("categorical", "enum", "dictionary")


def refuse_container(X) -> None:
    """Refuse the form in which a library keeps rows for itself; ValueError with the remedy."""
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
            "X has masked values, and what lies below the mask would be read: for missing values "
            "pass X.astype(float).filled(np.nan)"
        )
    _refuse_gaps_in_dictionaries(X)


def _refuse_gaps_in_dictionaries(table):
    """Refuse encoded columns of a pyarrow table with missing values, which NumPy would not get.

    In their place it gets another value of the column.
    """
    for (name, kind), column in zip(_types(table), getattr(table, "columns", ()), strict=False):
        is_encoded = str(kind).startswith("dictionary") and hasattr(column, "chunks")
        if is_encoded and column.null_count:
            raise ValueError(
                f"column {name!r} of X has missing values in a dictionary of pyarrow, which "
                "become other values in an array: pass X.to_pandas()"
            )


def rows_at(X, key):
    """Some rows of an array or a DataFrame, which stays one; None of None."""
    return X if X is None else X.iloc[key] if hasattr(X, "iloc") else X[key]


def column_of(X, j: int):
    """A column of an array or DataFrame as a Series."""
    import pandas as pd

    if hasattr(X, "iloc"):
        return X.iloc[:, j]
    return pd.Series(np.asarray(X)[:, j]).infer_objects()


def places_of(column):
    """Where the values of a column stand on an axis, float64, and labels of 0, 1, ... or None.

    Numbers stand at themselves, labels at their places in the order of the categories. Missing
    ones are NaN.
    """
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(np.float64, na_value=np.nan), None
    labels = pd.Categorical(column).remove_unused_categories()
    return np.where(labels.codes < 0, np.nan, labels.codes), [str(c) for c in labels.categories]


def dense(X, absent):
    """Sparse rows as float64, with a number for what they do not store; others as they are."""
    if not hasattr(X, "toarray"):
        return X
    stored, rows = X.tocoo(copy=True), np.full(X.shape, absent)
    stored.sum_duplicates()
    rows[stored.row, stored.col] = stored.data
    return rows


def numeric(X, dtype) -> np.ndarray:
    """X as a C-contiguous array of the dtype.

    ValueError if X is sparse, or holds anything but numbers.
    """
    refuse_container(X)
    if hasattr(X, "toarray"):
        raise ValueError("X is sparse: pass X.toarray()")
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
        raise ValueError(_not_numeric(error)) from None


def with_nan(array) -> np.ndarray:
    """An array of objects with NaN in place of pandas' NA, which is no number to NumPy."""
    is_missing = [type(value).__name__ == "NAType" for value in array.flat]
    if not any(is_missing):
        return array
    array = array.copy()
    array[np.reshape(is_missing, array.shape)] = np.nan
    return array


def numbers(given, who: str) -> np.ndarray:
    """What is given beside rows, such as targets, as a float64 array.

    ValueError if it holds anything but numbers, or masked ones; the message begins with `who`.
    """
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
    """ValueError if there are masked values: what lies below the mask would be read."""
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise ValueError(f"{who} has masked values: leave them out")


def refuse_times(X) -> None:
    """Refuse a table with columns of dates and times before it becomes an array.

    They would become numbers, of days or nanoseconds by library, which no model was fitted on.

    Raises
    ------
    ValueError
        The message names the column.
    """
    try:
        _refuse_columns(X)
    except TypeError as error:
        raise ValueError(_not_numeric(error)) from None


def refuse_categories(X) -> None:
    """Refuse a table, other than of pandas, with columns whose categories have codes of their own.

    Raises
    ------
    ValueError
        The message names the column.
    """
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
    """Names and types of the columns of a table; none of anything else."""
    if hasattr(table, "dtypes") and hasattr(table, "columns"):
        return zip(table.columns, table.dtypes, strict=True)
    schema = getattr(table, "schema", None)  # of pyarrow
    if hasattr(schema, "names") and hasattr(schema, "types"):
        return zip(schema.names, schema.types, strict=True)
    return ()


def _refuse_times_among(array):
    """NumPy takes its own times among objects for the number of their units."""
    times = [value for value in array.flat if isinstance(value, (np.datetime64, np.timedelta64))]
    if times:
        raise TypeError(f"it holds {times[0]!r}")


def check_choice(name: str, value, allowed) -> None:
    """Raise a ValueError that lists what is allowed, if it is something else."""
    # An array cannot be asked whether it is equal to a name.
    if not isinstance(value, Hashable) or value not in allowed:
        raise ValueError(f"{name}={value!r}: available are {', '.join(map(repr, allowed))}")


def check_whole(name: str, value, least: int = 0) -> None:
    """Raise a ValueError if it is no whole number, such as a seed, or below the least."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or value < least:
        raise ValueError(f"{name}={value!r}: expected a whole number, at least {least}")
