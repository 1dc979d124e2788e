"""Nodes packed for walking, and the one comparison that every walk makes."""

from __future__ import annotations

import numpy as np
from numba import njit


def packed(forest, **extra) -> np.ndarray:
    """Nodes of a forest as an array of records, small enough to share a cache line.

    Parameters
    ----------
    forest : Forest
    **extra : float64 (n_nodes,)
        Further fields of the record, e.g. the impurity decrease into the node.

    Returns
    -------
    record array (n_nodes,)
        ``threshold`` (in the forest's `x_dtype`), ``feature`` (-1 at a leaf), ``left``, ``right``,
        and the extra fields.

    Notes
    -----
    Thresholds are moved to the nearest value of `x_dtype` for which ``x <= threshold`` decides as
    the model does, for every x of that type: down if float64 thresholds meet float32 rows, and
    one step further down where the model compares with ``<``.
    """
    dtype = np.dtype(
        [
            ("threshold", forest.x_dtype),
            ("feature", np.int32),
            ("left", np.int32),
            ("right", np.int32),
            *((name, np.float64) for name in extra),
        ],
        align=True,
    )
    nodes = np.zeros(forest.n_nodes, dtype)
    nodes["threshold"] = lowered(forest)
    for name in ("feature", "left", "right"):
        nodes[name] = getattr(forest, name)
    for name, array in extra.items():
        nodes[name] = array
    return nodes


def lowered(forest) -> np.ndarray:
    """Thresholds in `x_dtype` for the comparison ``x <= threshold``; see `packed`."""
    with np.errstate(over="ignore"):
        cast = forest.threshold.astype(forest.x_dtype)
    too_high = cast >= forest.threshold if forest.strict else cast > forest.threshold
    below = np.nextafter(cast, np.array(-np.inf, cast.dtype))
    return np.where(too_high, below, cast)


def missing_of(forest, X) -> np.ndarray:
    """Directions of NaN if X holds any, else an empty array: the walks then skip the question."""
    if forest.missing_left is None or not np.isnan(X).any():
        return readonly(np.zeros(0, np.bool_))
    return forest.missing_left


def readonly(array) -> np.ndarray:
    """The array marked read-only, as those of a Forest are: one type, one compilation."""
    array.flags.writeable = False
    return array


@njit(inline="always")
def child_of(k, x, nodes, missing_left):
    """Child of node `k` that a row with value `x` of its feature goes to."""
    if missing_left.size > 0 and x != x:
        return nodes[k].left if missing_left[k] else nodes[k].right
    return nodes[k].left if x <= nodes[k].threshold else nodes[k].right
