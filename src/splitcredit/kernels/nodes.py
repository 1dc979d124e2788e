"""Pack the inner nodes for walks down the trees, and share what all walks need.

Numbers of rows and nodes are made unsigned before they index: of a signed one numba asks each time
whether it counts from the end.
"""

from __future__ import annotations

from functools import wraps
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from splitcredit.kernels.compiled import kernel

# Rows in one block, one thread's work. Large enough that forests beyond the caches are not read
# from memory for a few rows at a time, small enough to share 1000 rows between threads.
BLOCK = 256


def n_blocks(n_rows: int, size: int = BLOCK) -> int:
    """Return the number of blocks of `size` rows; the last may have fewer."""
    return -(-n_rows // size)


def cached_per_forest(build):
    """Keep the result of `build(forest, *key)` as long as the forest lives, which cannot change."""
    results: WeakKeyDictionary = WeakKeyDictionary()

    @wraps(build)
    def cached(forest, *key):
        of_forest = results.get(forest)
        if of_forest is None:
            of_forest = results.setdefault(forest, {})
        if key not in of_forest:
            of_forest[key] = build(forest, *key)
        return of_forest[key]

    return cached


@cached_per_forest
def packed_nodes(forest) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inner nodes as records that share cache lines: one copy for all walks.

    Returns records (n_inner,) of the threshold (in the forest's `x_dtype`, see `lowered`), the
    feature (the column of the prepared rows, see `credited`) and both children; the roots, int32
    (n_trees,); and where NaN goes, bool (n_inner,). Nodes are numbered as in `inner_first`: from
    n_inner on they are leaves.
    """
    order = inner_first(forest)
    inner = order[: np.count_nonzero(forest.feature >= 0)]
    place = np.empty(forest.n_nodes, np.int32)
    place[order] = np.arange(forest.n_nodes, dtype=np.int32)
    fields = [("threshold", forest.x_dtype), ("feature", "i4"), ("left", "i4"), ("right", "i4")]
    nodes = np.zeros(len(inner), np.dtype(fields, align=True))
    nodes["threshold"] = lowered(forest)[inner]
    nodes["feature"] = columns(forest)[inner]
    nodes["left"] = place[forest.left[inner]]
    nodes["right"] = place[forest.right[inner]]
    missing_left = np.zeros(len(inner), np.bool_)
    if forest.missing_left is not None:
        missing_left = forest.missing_left[inner]
    return nodes, place[forest.tree_offsets[:-1]], missing_left


@cached_per_forest
def inner_first(forest) -> np.ndarray:
    """Number the nodes, inner nodes before leaves, int64 (n_nodes,)."""
    return readonly(np.argsort(forest.feature < 0, kind="stable"))


def columns(forest) -> np.ndarray:
    """Return the column of the prepared rows that each node compares, int32 (n_nodes,)."""
    return forest.feature if forest.column is None else forest.column


def credited(forest, by_column) -> np.ndarray:
    """Turn credits by columns of the prepared rows into credits by features.

    A column that stands for a subset of categories gives its credit to the feature of the subset.
    """
    if by_column.shape[1] == forest.n_features:
        return by_column
    out = by_column[:, : forest.n_features].copy()
    for column in range(forest.n_features, by_column.shape[1]):
        out[:, owners(forest)[column]] += by_column[:, column]
    return out


def owners(forest) -> np.ndarray:
    """Return the feature that each column of the prepared rows belongs to, int64 (n_columns,)."""
    subsets = () if forest.categories is None else forest.categories.feature
    return np.concatenate([np.arange(forest.n_features), np.array(subsets, np.int64)])


@cached_per_forest
def largest_values(forest) -> np.ndarray:
    """Return the largest absolute value in each tree, float64 (n_trees,)."""
    values, starts = forest.value.ravel(), forest.tree_offsets[:-1] * forest.n_outputs
    return np.maximum(np.maximum.reduceat(values, starts), -np.minimum.reduceat(values, starts))


@cached_per_forest
def outputs_add_up(forest) -> bool:
    """Return whether the outputs of every leaf have the same sum, up to rounding."""
    rounding = 4 * np.finfo(float).eps * largest_values(forest).max() * forest.n_outputs
    leaves = np.flatnonzero(forest.feature < 0)
    # For most models whose outputs have no common sum, a few leaves show it.
    few = forest.value[leaves[:64]]
    # Along short rows `einsum` takes a fraction of the time of `sum`.
    return all(
        bool(np.ptp(np.einsum("ij->i", value)[some]) <= rounding)
        for value, some in ((few, slice(None)), (forest.value, leaves))
    )


def lowered(forest) -> np.ndarray:
    """Return thresholds in `x_dtype` for the comparison ``x <= threshold``, (n_nodes,).

    They are moved to the nearest value of that type which decides as the model does, for every x
    of the type: down where float64 thresholds meet float32 rows, and one step further down where
    the model compares with ``<``. Those of leaves have no meaning.
    """
    with np.errstate(over="ignore"):
        cast = forest.threshold.astype(forest.x_dtype)
        too_high = cast >= forest.threshold if forest.strict else cast > forest.threshold
    _step_down(cast, too_high & (forest.feature >= 0))
    return cast


def _step_down(numbers, chosen):
    """Replace the chosen numbers by the next lower ones, in a fifth of `numpy.nextafter`'s time."""
    # The bits of a number, as an integer, rise with its distance from 0.
    numbers[chosen & (numbers == 0)] = -0.0
    step = 1 - 2 * (numbers > 0).view(np.int8)
    step *= chosen & (numbers > -np.inf)
    numbers.view(f"i{numbers.itemsize}")[...] += step


def readonly(array) -> np.ndarray:
    """Return the array read-only, as the arrays of a Forest are: one type, one compilation."""
    array.flags.writeable = False
    return array


def as_readonly(*arrays) -> list[np.ndarray]:
    """Return contiguous views that cannot be written to: one type, one compilation."""
    return [readonly(np.ascontiguousarray(array).view()) for array in arrays]


class Nodes(NamedTuple):
    """Arrays of trees as `Forest` has them, and the column of the rows that each node compares."""

    feature: np.ndarray
    column: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    cover: np.ndarray


def nodes_of(forest) -> Nodes:
    """Return the nodes of a forest, with thresholds for ``x <= threshold``."""
    missing_left = forest.missing_left
    if missing_left is None:
        missing_left = readonly(np.zeros(forest.n_nodes, np.bool_))
    threshold = readonly(lowered(forest).astype(np.float64))
    f = forest
    return Nodes(f.feature, columns(f), threshold, f.left, f.right, missing_left, f.cover)


@kernel(inline=True)
def goes_left(x, nodes, missing_left, k):
    """Return whether a row with value `x` goes left at node `k`; `missing_left` decides for NaN."""
    if x != x:
        return missing_left[k]
    return x <= nodes[k].threshold


@kernel(inline=True)
def child_of(nodes, k, left):
    """Return the left or right child, by arithmetic: a jump would often be mispredicted."""
    return nodes[k].right + np.int32(left) * (nodes[k].left - nodes[k].right)


@kernel(inline=True)
def step(X, nodes, missing_left, at, rows, a):
    """Return a row's number, the column that its node compares, and the child that it goes to."""
    i, k = np.uint64(rows[a]), np.uint64(at[a])
    j = np.uint64(nodes[k].feature)
    return i, j, child_of(nodes, k, goes_left(X[i, j], nodes, missing_left, k))


@kernel(inline=True)
def enter(nodes, root, first, stop, at, rows):
    """Put rows first..stop at the root; return how many have a split ahead."""
    if root >= nodes.shape[0]:
        return 0
    for i in range(first, stop):
        at[i - first] = root
        rows[i - first] = i
    return stop - first
