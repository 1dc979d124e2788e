"""Rows in the containers of libraries, which may hold an offset for each row."""

from __future__ import annotations

import numpy as np

from splitcredit._tables import dense, records

_KINDS = {"DMatrix": "base_margin", "QuantileDMatrix": "base_margin", "Pool": "baseline"}


def opened(X, model=None):
    """The rows of a container, or of dicts as a DataFrame; anything else as it is.

    Returns sparse matrix, array or DataFrame (n_samples, n_features). Of a QuantileDMatrix the
    values that it keeps, by which the library predicts it, too. ValueError if the container has not
    kept its rows, or not as they were.

    Parameters
    ----------
    X : xgboost.DMatrix, xgboost.QuantileDMatrix, catboost.Pool, lightgbm.Dataset, or anything
    model : optional
        For which the rows are; see `splitcredit._tables.records`.
    """
    X, kind = records(X, model), type(X).__name__
    if kind in ("DMatrix", "QuantileDMatrix") and hasattr(X, "get_data"):
        if "c" in (X.feature_types or ()):
            raise ValueError(
                f"this {kind} has categories, whose order it does not give: pass the table or "
                "array that it was made of"
            )
        return named(X.get_data(), X.feature_names)
    if kind == "Pool" and hasattr(X, "get_features"):
        if X.is_quantized():
            raise ValueError("this Pool keeps no rows, since it is quantized: pass its rows")
        names = X.get_feature_names()
        made_up = names == [str(j) for j in range(len(names))]
        return named(np.array(X.get_features()), None if made_up else names)
    if kind == "Dataset" and hasattr(X, "free_raw_data"):
        return _of_dataset(X)
    return X


def named(rows, names):
    """A DataFrame of rows, in which absent ones are missing, if there are names for its columns."""
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(dense(rows, np.nan), columns=names).infer_objects()


def offsets(X, forest):
    """What a container adds to the prediction of each of its rows, beside the trees.

    Returns float64 (n_samples, n_outputs), or None if there is nothing. XGBoost takes a base margin
    in place of the base score, CatBoost adds a baseline.

    Parameters
    ----------
    X : as for `opened`
    forest : Forest
    """
    kind = type(X).__name__
    if kind not in _KINDS:
        return None
    given = getattr(X, f"get_{_KINDS[kind]}")()
    if not np.size(given):
        return None
    given = np.reshape(np.asarray(given, np.float64), (-1, forest.n_outputs))
    return given if kind == "Pool" else given - forest.base


def name_of_offset(X) -> str:
    """What the offset of a container is called there."""
    return f"the {_KINDS[type(X).__name__]} of this {type(X).__name__}"


def first(X, n: int):
    """The first rows of a DMatrix or Pool with their offsets; all where it cannot be cut."""
    rows = range(min(n, X.num_row()))
    return X if type(X).__name__ == "QuantileDMatrix" else X.slice(list(rows))


def with_offset(attribution, forest, offset):
    """An attribution of the prediction with the offsets of its rows in the baseline."""
    names = attribution.output_names
    if attribution.output_index is not None and forest.other_class is not None:
        own = np.where(attribution.output_index[:, None] == 1, offset, -offset)
    elif attribution.output_index is not None:
        own = np.take_along_axis(offset, attribution.output_index[:, None], axis=1)
    elif forest.n_outputs == 1:
        own = -offset if names == (forest.other_class,) else offset
    else:
        own = offset[:, [forest.output_names.index(name) for name in names]]
    return attribution.baseline + own


def _of_dataset(X):
    if X.init_score is not None:
        raise ValueError(
            "this Dataset has an init_score, which LightGBM leaves out of predictions: pass the "
            "rows, and add it to the totals yourself"
        )
    if isinstance(X.data, list):
        raise ValueError("this Dataset holds a list: pass its rows as one table")
    if X.data is None or isinstance(X.data, str):
        raise ValueError(
            "this Dataset has not kept its rows: pass them, or make it with free_raw_data=False"
        )
    return X.data
