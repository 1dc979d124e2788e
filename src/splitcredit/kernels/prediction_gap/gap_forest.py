"""The trees as the exact prediction gap needs them, whatever the row and the features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.nodes import cached_per_forest, lowered, readonly

NODE = np.dtype(
    [
        ("threshold", "f8"),  # of the comparison ``x <= threshold``; see `nodes.lowered`
        ("value", "f8"),  # of a leaf
        ("below", "u8"),  # bits of the features split here or below; see `feature_bit`
        ("feature", "i4"),  # -1 at a leaf
        ("left", "i4"),
        ("right", "i4"),
        ("box", "i4"),  # first of a leaf's sides, and one behind the last
        ("box_end", "i4"),
        ("settled", "i4"),  # first of the sides that are settled here, and one behind the last
        ("settled_end", "i4"),
        ("missing_left", "?"),
    ],
    align=True,
)
# The values of a feature between two cuts. Where there is none, it is one of two that stand behind
# the others: minus infinity, then plus infinity.
SIDE = np.dtype([("feature", "i4"), ("low", "i4"), ("high", "i4")])


class Cuts(NamedTuple):
    """The distinct splits of a forest, by feature and threshold."""

    feature: np.ndarray  # int64 (n_cuts,)
    threshold: np.ndarray  # float64, as the model has it
    lowered: np.ndarray  # float64 (n_cuts + 2,), of ``x <= lowered``; the infinities at the end
    first: np.ndarray  # int64 (n_features + 1,): those of feature j are first[j]:first[j + 1]


class GapForest(NamedTuple):
    """Trees in preorder, without splits that part equal values."""

    nodes: np.ndarray  # NODE (n_nodes,)
    sides: np.ndarray  # SIDE
    roots: np.ndarray  # int64 (n_trees,); trees of one value are left out
    cuts: Cuts
    depth: int  # of the deepest tree
    divisor: float  # of a gap, for which trees are added up: the squared number of trees if a mean


def feature_bit(j: int) -> int:
    """Bit of a feature; some have the same one if there are more than 64."""
    return 1 << j % 64


@cached_per_forest
def gap_forest(forest, output: int) -> GapForest:
    """The trees of one output, kept as long as the forest lives.

    A side (the interval of one feature) of a node is *settled* at the first node of a path below
    which its feature is not split any more: there it multiplies what comes from below.
    """
    value = forest.value[:, output]
    constant, below = _bottom_up(forest, value)
    splits = np.flatnonzero((forest.feature >= 0) & ~constant)
    cuts, cut_of = _cuts(forest, splits)
    build = _Build([], [], len(cuts.feature), cut_of, lowered(forest), constant, below, value)
    roots = [r for r in forest.tree_offsets[:-1].tolist() if not constant[r]]
    places = np.array([_tree(forest, root, build) for root in roots], np.int64)
    nodes = np.array(build.nodes, NODE)
    nodes["threshold"] = np.where(nodes["feature"] >= 0, nodes["threshold"], 0.0)
    sides = np.array(build.sides, SIDE)
    arrays = (readonly(nodes), readonly(sides), readonly(places))
    divisor = float(forest.n_trees) ** 2 if forest.aggregate == "mean" else 1.0
    return GapForest(*arrays, cuts, int(_depth(nodes)), divisor)


def _bottom_up(forest, value):
    """Whether each node has one value below it, and the features split below it."""
    value, constant = value.copy(), np.ones(forest.n_nodes, np.bool_)
    below = [frozenset()] * forest.n_nodes
    for k in range(forest.n_nodes - 1, -1, -1):
        if forest.feature[k] >= 0:
            left, right = forest.left[k], forest.right[k]
            constant[k] = constant[left] and constant[right] and value[left] == value[right]
            value[k] = value[left]
            if not constant[k]:
                below[k] = below[left] | below[right] | {int(forest.feature[k])}
    return constant, below


def _cuts(forest, splits):
    """Cuts by feature and threshold, and the cut of every node."""
    feature, threshold = forest.feature[splits], forest.threshold[splits]
    order = np.lexsort((threshold, feature))
    new = np.ones(len(splits), np.bool_)
    new[1:] = (np.diff(feature[order]) != 0) | (np.diff(threshold[order]) != 0)
    kept = splits[order[new]]
    cut_of = np.full(forest.n_nodes, -1, np.int64)
    cut_of[splits[order]] = np.cumsum(new) - 1
    feature = forest.feature[kept].astype(np.int64)
    low = lowered(forest)[kept].astype(np.float64)
    first = np.searchsorted(feature, np.arange(forest.n_features + 1))
    low = np.append(low, [-np.inf, np.inf])
    arrays = (feature, forest.threshold[kept], low, first)
    return Cuts(*(readonly(np.ascontiguousarray(a)) for a in arrays)), cut_of


class _Build(NamedTuple):
    """The lists that are built up, and the arrays that they are built from."""

    nodes: list
    sides: list
    n_cuts: int
    cut_of: np.ndarray
    lowered: np.ndarray
    constant: np.ndarray
    below: list
    value: np.ndarray


def _tree(forest, root, build):
    """Append one tree in preorder; the place of its root."""
    place_of_root = len(build.nodes)
    waiting = [(root, {}, frozenset(), None, "")]
    while waiting:
        k, box, open_above, parent, which = waiting.pop()
        place = len(build.nodes)
        if parent is not None:
            build.nodes[parent] = _with_child(build.nodes[parent], which, place)
        leaf = build.constant[k]
        open_here = frozenset() if leaf else build.below[k]
        settled = [q for q in box if q not in open_here and q in open_above]
        bounds = *_sides(build, box, box if leaf else ()), *_sides(build, box, settled)
        value = _any_leaf(forest, k, build.value) if leaf else 0.0
        feature = -1 if leaf else int(forest.feature[k])
        missing = forest.missing_left is not None and bool(forest.missing_left[k])
        bits = sum({feature_bit(j) for j in open_here})
        build.nodes.append((build.lowered[k], value, bits, feature, -1, -1, *bounds, missing))
        if not leaf:
            cut = int(build.cut_of[k])
            for child, side in ((forest.right[k], "right"), (forest.left[k], "left")):
                waiting.append((child, _narrowed(box, feature, cut, side), open_here, place, side))
    return place_of_root


def _narrowed(box, feature, cut, side):
    """The box of a child: cuts of one feature are in the order of their thresholds."""
    low, high = box.get(feature, (-1, np.inf))
    low, high = (low, min(high, cut)) if side == "left" else (max(low, cut), high)
    # An empty side is written as the one from a cut to itself.
    return box | {feature: (low, max(low, high))}


def _sides(build, box, features):
    """Append the sides of some features of a box; where they begin and end."""
    first, n_cuts = len(build.sides), build.n_cuts
    for q in features:
        low, high = box[q]
        low, high = n_cuts if low < 0 else low, n_cuts + 1 if high == np.inf else high
        build.sides.append((q, low, high))
    return first, len(build.sides)


def _with_child(node, which, place):
    fields = list(node)
    fields[NODE.names.index(which)] = place
    return tuple(fields)


def _any_leaf(forest, k, value):
    while forest.feature[k] >= 0:
        k = forest.left[k]
    return float(value[k])


def _depth(nodes):
    """Most splits on a path."""
    level = np.zeros(len(nodes), np.int64)
    for k in range(len(nodes)):
        if nodes["feature"][k] >= 0:
            level[nodes["left"][k]] = level[nodes["right"][k]] = level[k] + 1
    return level.max(initial=0)
