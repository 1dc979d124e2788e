"""Read rows as users of shap have them, and the background: its rows and its node counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils import shuffle

from splitcredit.kernels.nodes import columns, lowered
from splitcredit.models.forest import Forest
from splitcredit.models.formats.containers import name_of_offset, offsets, rows_in
from splitcredit.rows.names import as_known, labels_of_columns
from splitcredit.rows.tables import dense, named, refuse_container, with_nan


def as_rows(X, forest) -> tuple:
    """Return rows as an array or DataFrame, and whether they were a single one without axis.

    A Series whose index holds names, or the numbers that name the features, is a DataFrame then.
    """
    X = dense(rows_in(X), forest.absent)
    if hasattr(X, "columns"):
        return X, False
    if (
        hasattr(X, "to_frame")
        and hasattr(X, "index")
        and _holds_names(X.index, forest.feature_names)
    ):
        values = X.to_numpy()
        values = with_nan(values) if values.dtype == object else values
        return named(values[None], X.index), True
    refuse_container(X)
    try:
        array = np.asarray(X)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"X is not a table ({error}): pass rows of equal lengths") from None
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.array(X, dtype=object)  # numbers beside text stay numbers
    if array.dtype == object:
        array = with_nan(array)
    return (array[None], True) if array.ndim == 1 else (array, False)


def _holds_names(index, features):
    """Return whether an index has column names: text, tuples or the features' own numbers."""
    is_text = all(isinstance(name, (str, tuple)) for name in index)
    return is_text or set(as_known(index, features)) == set(features)


def refuse_offset(X, outputs):
    """Refuse rows that have an offset each where only the values of features are returned."""
    if offsets(X, outputs) is not None:
        raise ValueError(
            f"{name_of_offset(X)} adds to each row what expected_value cannot hold: call "
            "explainer(X), whose base_values do, or explain rows without it"
        )


def names_of(X) -> list | None:
    """Return the column names of a table or of a masker's rows, else None."""
    names = labels_of_columns(X)
    if names is None:
        names = getattr(X, "feature_names", None) if hasattr(X, "max_samples") else None
    return None if names is None else list(names)


# Of more rows shap takes a sample of this size, always the same one.
MOST_ROWS = 100
# Weight of all training rows of a tree beside a background row, where it alone decides.
_BELOW_ROUNDING = 2.0**-100


def background_rows(data):
    """Return the background as shap takes it: at most 100 rows, all of a masker; or None."""
    if data is None:
        return None
    if type(data).__module__.startswith("shap.maskers"):
        if type(data).__name__ != "Independent":
            raise ValueError(
                f"data is a {type(data).__name__} masker: pass the rows, or an Independent masker"
            )
        return named(data.data, names_of(data))
    if hasattr(data, "toarray"):
        raise ValueError("data is sparse: pass data.toarray()")
    if not hasattr(data, "shape") or len(data.shape) != 2:
        raise ValueError(
            f"data is a {type(data).__name__}: pass an array or DataFrame of rows, "
            "(n_background, n_features)"
        )
    if len(data) <= MOST_ROWS:
        return data
    return shuffle(data, n_samples=MOST_ROWS, random_state=0)


def with_covers_of(forest, rows) -> Forest:
    """Return the forest with covers that count the background rows in each node.

    Where no row comes, the model's covers still say how a node's rows are divided,
    but their weight beside that of any background row is below rounding.
    """
    threshold, column = lowered(forest), columns(forest)
    count = np.zeros(forest.n_nodes)
    node = np.tile(forest.tree_offsets[:-1], len(rows))
    row = np.repeat(np.arange(len(rows)), forest.n_trees)
    while node.size:
        count += np.bincount(node, minlength=forest.n_nodes)
        inner = forest.feature[node] >= 0
        node, row = node[inner], row[inner]
        x = rows[row, column[node]]
        goes_left = x <= threshold[node]
        if forest.missing_left is not None:
            goes_left |= np.isnan(x) & forest.missing_left[node]
        node = np.where(goes_left, forest.left[node], forest.right[node])
    roots = np.repeat(forest.tree_offsets[:-1], np.diff(forest.tree_offsets))
    share = forest.cover / np.maximum(forest.cover[roots], np.finfo(float).tiny)
    cover = np.where(count > 0, count, _BELOW_ROUNDING * share)
    return replace(forest, cover=cover, cover_kind="background rows")
