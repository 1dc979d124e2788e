"""Check the arrays of a `Forest`."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar

import numpy as np

from splitcredit.models.categories import Categories

# Covers may be sums that a library keeps in single precision, so they add up only nearly.
COVER_TOLERANCE = 1e-4
LEAF = -1
# Nodes that are checked at a time: intermediate arrays fit the caches.
_NODES = 1 << 14

_TOO_LARGE = (
    ": if the model was fitted with weights of rows, their sum is too large for its library; "
    "divide them by their mean, and fit again"
)

_prepared: ContextVar[tuple] = ContextVar("prepared", default=(None, None))


@contextlib.contextmanager
def prepared(forest, rows):
    """Skip the check of these rows in the context, as `Forest.prepare` has returned them."""
    token = _prepared.set((forest, rows))
    try:
        yield
    finally:
        _prepared.reset(token)


def is_prepared(forest, rows) -> bool:
    """Return whether these are the very rows of `prepared`."""
    known_forest, known_rows = _prepared.get()
    return rows is not None and known_rows is rows and known_forest is forest


def check(forest) -> None:
    """Raise a ValueError that names the array, if the arrays of a Forest contradict each other."""
    f = forest
    _check_types(f)
    n = len(f.feature)
    shapes: dict[str, tuple[int, ...]] = {
        name: (n,) for name in ("threshold", "left", "right", "cover")
    }
    shapes |= {"value": (n, f.n_outputs), "base": (f.n_outputs,)}
    optional = ("impurity", "missing_left", "column")
    shapes |= {k: (n,) for k in optional if getattr(f, k) is not None}
    for name, shape in shapes.items():
        if getattr(f, name).shape != shape:
            raise ValueError(f"{name} has shape {getattr(f, name).shape}, expected {shape}")
    offsets = f.tree_offsets
    if len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != n or (np.diff(offsets) < 1).any():
        raise ValueError("tree_offsets must rise from 0 to the number of nodes")
    for name, allowed in (("aggregate", ("mean", "sum")), ("x_dtype", ("float32", "float64"))):
        if getattr(f, name) not in allowed:
            raise ValueError(f"{name} is {getattr(f, name)!r}, expected one of {allowed}")
    if f.other_class is not None and f.n_outputs != 1:
        raise ValueError(f"other_class is {f.other_class!r}, and there are {f.n_outputs} outputs")
    for name in ("value", "base"):  # impurities are checked by the measures that read them
        if not is_finite(getattr(f, name)):
            raise ValueError(f"{name} must be finite{_TOO_LARGE if name == 'value' else ''}")
    first = 0
    while first < f.n_trees:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + _NODES, "right")) - 1)
        _check_trees(f, first, last)
        first = last


# What fields that are no arrays may hold, in words.
_TYPES = {
    "True or False": ((bool, np.bool_), ("strict", "names_given")),
    "True, False or None": ((bool, np.bool_, type(None)), ("several_targets",)),
    "text or None": ((str, type(None)), ("criterion", "training_hash", "other_class")),
    "text": ((str,), ("cover_kind", "x_dtype", "aggregate")),
    "a number or None": ((float, int, np.number, type(None)), ("missing_value",)),
    "Categories or None": ((Categories, type(None)), ("categories",)),
    "an array": ((np.ndarray,), ("feature", "threshold", "left", "right", "value", "cover")),
    "numbers in an array": ((np.ndarray,), ("tree_offsets", "base")),
}


def _check_types(forest):
    """Refuse fields of another type, such as a text that would count as true."""
    for words, (types, names) in _TYPES.items():
        for name in names:
            if not isinstance(getattr(forest, name), types):
                raise ValueError(f"{name} is {getattr(forest, name)!r}, expected {words}")


def is_finite(numbers):
    """Return whether all numbers are finite: a finite sum shows it without another array."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = numbers.sum()
    return bool(np.isfinite(total)) or bool(np.isfinite(numbers).all())


def _check_trees(forest, first, last):
    """Check the trees from `first` to before `last`."""
    f, start, stop = forest, forest.tree_offsets[first], forest.tree_offsets[last]
    inner = start + np.flatnonzero(f.feature[start:stop] != LEAF)
    left, right = f.left[inner], f.right[inner]
    _check_splits(f, first, last, inner, left, right)
    if f.column is not None:
        _check_columns(f, inner)
    covers, cover = f.cover[start:stop], f.cover[inner]
    # Asked so that a NaN, which every comparison denies, is refused.
    in_order = covers.min() >= 0 and covers.max() < np.inf
    if not in_order or (inner.size and cover.min() == 0):
        why = "" if covers.max() < np.inf else _TOO_LARGE
        raise ValueError(f"cover must be finite, not negative, and above 0 at inner nodes{why}")
    gap = np.abs(f.cover[left] + f.cover[right] - cover)
    if (gap > COVER_TOLERANCE * cover).any():
        raise ValueError("cover: the covers of two children must add up to that of their parent")


def check_inbag(forest, inbag) -> None:
    """Raise a ValueError unless there is a row of counts from 0 for each tree of a Forest."""
    if inbag.dtype.kind == "i" and inbag.min(initial=0) < 0:
        raise ValueError("inbag must not be negative: it counts how often each row was drawn")
    if inbag.ndim != 2 or len(inbag) != forest.n_trees:
        raise ValueError(f"inbag has shape {inbag.shape}, expected ({forest.n_trees}, n_train)")


def _check_splits(forest, first, last, inner, left, right):
    """Check features, children and thresholds of the inner nodes of some trees."""
    f, offsets = forest, forest.tree_offsets[first : last + 1]
    start, n_nodes = offsets[0], offsets[-1] - offsets[0]
    nodes = slice(start, offsets[-1])
    if f.feature[nodes].min() < LEAF or f.feature[nodes].max() >= f.n_features:
        raise ValueError(f"feature must lie in 0..{f.n_features - 1}, or be -1 at a leaf")
    end = np.repeat(offsets[1:], np.diff(np.searchsorted(inner, offsets)))
    lower, upper = np.minimum(left, right), np.maximum(left, right)
    if ((lower <= inner) | (upper >= end)).any():
        name = "left" if ((left <= inner) | (left >= end)).any() else "right"
        raise ValueError(f"{name}: a child must come after its parent, in the same tree")
    is_child = np.zeros(n_nodes, np.bool_)
    is_child[left - start] = is_child[right - start] = True
    n_children = 2 * len(inner)
    if np.count_nonzero(is_child) != n_children or n_children + last - first != n_nodes:
        raise ValueError("left and right: every node but a root must be the child of one node")
    # Infinite thresholds are in order: scikit-learn parts NaN from all numbers that way.
    if np.isnan(f.threshold[nodes]).any() and np.isnan(f.threshold[inner]).any():
        raise ValueError("threshold must not be NaN at inner nodes")


def _check_columns(forest, inner):
    """Check that a node compares its feature or a subset of its categories, never both."""
    f = forest
    of = () if f.categories is None else f.categories.feature
    owner = np.concatenate([np.arange(f.n_features), np.array(of, np.int64)])
    column, feature = f.column[inner], f.feature[inner]
    if inner.size and (column.min() < 0 or column.max() >= len(owner)):
        raise ValueError(f"column must lie in 0..{len(owner) - 1}: a feature or a subset")
    if (owner[column] != feature).any():
        raise ValueError("column: a subset must be of the feature that the node has")
    if np.isin(feature[column < f.n_features], np.array(of, np.int64)).any():
        raise ValueError("column: a feature that is split by categories is not compared itself")


def check_impurity(forest, who: str) -> None:
    """Raise a ValueError if a measure that reads the impurity of every node cannot."""
    if forest.impurity is None:
        raise ValueError(
            f"{who} needs the impurity of every node, and this model stores none: "
            "use a scikit-learn tree or forest, or give Forest(impurity=...)"
        )
    if is_finite(forest.impurity):
        return
    for node in np.flatnonzero(~np.isfinite(forest.impurity)):
        tree = int(np.searchsorted(forest.tree_offsets, node, side="right")) - 1
        if forest.tree_offsets[tree + 1] - forest.tree_offsets[tree] == 1:
            # Without a split nothing decreases. By the Poisson criterion the impurity of a tree
            # whose targets are all 0 is infinite.
            continue
        raise ValueError(
            f"{who} reads impurities, and tree {tree} has one that is {forest.impurity[node]}, as "
            "scikit-learn computes it from tiny sample weights: fit with weights of like size"
        )
