"""The trees as the exact prediction gap needs them, whatever the row and the features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.nodes import cached_per_forest, lowered, readonly

# A split. Leaves are numbered behind the splits: child ``n_splits + i`` is leaf i. Numbers have no
# sign, as kernels ask of those with one whether they count from the end.
SPLIT = np.dtype(
    [
        ("threshold", "f8"),  # of the comparison ``x <= threshold``; see `nodes.lowered`
        ("feature", "u4"),
        ("cut", "u4"),
        ("left", "u4"),
        ("right", "u4"),
        ("missing_left", "?"),
    ],
    align=True,
)
LEAF = np.dtype(
    [
        ("value", "f8"),
        ("above", "u4"),  # first of the nodes above it where sides are settled, and one behind
        ("above_end", "u4"),
        ("box", "u4"),  # first of its sides, and one behind the last
        ("box_end", "u4"),
    ],
    align=True,
)
# A node above a leaf at which sides are settled.
ABOVE = np.dtype(
    [
        ("last", "u4"),  # leaf below the node
        ("settled", "u4"),  # how many sides of the leaf's box are settled at the node or above
    ]
)
# A side of a leaf's box, which has its sides in the order in which the way down settles them.
BOX = np.dtype(
    [
        ("feature", "u4"),
        ("side", "u4"),
        ("turn", "u4"),  # place in the box of the side whose feature is split first, second, ...
    ]
)

# The values of a feature between two cuts. Where there is none, it is one of two that stand behind
# the others: minus infinity, then plus infinity.
SIDE = np.dtype([("low", "u4"), ("high", "u4")])
TREE = np.dtype(
    [
        ("root", "u8"),  # a split
        ("tested", "u8"),  # bits of the features of the tree; see `feature_bit`
        ("leaf", "u8"),  # first leaf, and one behind the last
        ("leaf_end", "u8"),
    ]
)
# The first cut and the first side of a feature; those of the next feature follow its own.
FIRST = np.dtype([("cut", "i8"), ("side", "i8")])


class Cuts(NamedTuple):
    """The distinct splits of a forest, by feature and threshold."""

    feature: np.ndarray  # int64 (n_cuts,)
    threshold: np.ndarray  # float64, as the model has it
    lowered: np.ndarray  # float64 (n_cuts + 2,), of ``x <= lowered``; the infinities at the end
    first: np.ndarray  # int64 (n_features + 1,): those of feature j are first[j]:first[j + 1]


class GapForest(NamedTuple):
    """Trees without splits that part equal values. Leaves are numbered from left to right."""

    splits: np.ndarray  # SPLIT (n_splits,)
    leaves: np.ndarray  # LEAF (n_leaves,)
    above: np.ndarray  # ABOVE: of each leaf, from the root down
    box: np.ndarray  # BOX
    sides: np.ndarray  # SIDE: the distinct ones, by feature
    first: np.ndarray  # FIRST (n_features + 1,)
    trees: np.ndarray  # TREE (n_trees,); those of one value are left out
    first_leaf: np.ndarray  # int64 (n_trees + 1,)
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
    constant, below, n_leaves = _bottom_up(forest, value)
    splits = np.flatnonzero((forest.feature >= 0) & ~constant)
    cuts, cut_of = _cuts(forest, splits)
    roots = [r for r in forest.tree_offsets[:-1].tolist() if not constant[r]]
    n, low = len(splits), lowered(forest)
    build = _Build([], [], [], [], {}, n, cut_of, low, constant, below, n_leaves, value)
    starts = [_tree(forest, root, build) for root in roots]
    sides, first_side, place_of = _sides(build.sides, len(cuts.feature), forest.n_features)
    box = np.array(build.box, BOX)
    box["side"] = place_of[box["side"]]
    tested = [sum({feature_bit(j) for j in below[r]}) for r in roots]
    first_leaf = [0, *(leaf for _, leaf, _ in starts)]
    of_trees = [start[0] for start in starts], tested, first_leaf[:-1], first_leaf[1:]
    arrays = (
        np.array([tuple(split) for split in build.splits], SPLIT),
        np.array(build.leaves, LEAF),
        np.array(build.above, ABOVE),
        box,
        sides,
        np.array(list(zip(cuts.first, first_side, strict=True)), FIRST),
        np.array(list(zip(*of_trees, strict=True)), TREE),
        np.array(first_leaf, np.int64),
    )
    divisor = float(forest.n_trees) ** 2 if forest.aggregate == "mean" else 1.0
    depth = max((depth for _, _, depth in starts), default=0)
    return GapForest(*map(readonly, arrays), cuts, depth, divisor)


def _bottom_up(forest, value):
    """Whether each node has one value below it, the features split below, and the leaves."""
    value, constant = value.copy(), np.ones(forest.n_nodes, np.bool_)
    below, n_leaves = [frozenset()] * forest.n_nodes, np.ones(forest.n_nodes, np.int64)
    for k in range(forest.n_nodes - 1, -1, -1):
        if forest.feature[k] >= 0:
            left, right = forest.left[k], forest.right[k]
            constant[k] = constant[left] and constant[right] and value[left] == value[right]
            value[k] = value[left]
            if not constant[k]:
                below[k] = below[left] | below[right] | {int(forest.feature[k])}
                n_leaves[k] = n_leaves[left] + n_leaves[right]
    return constant, below, n_leaves


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

    splits: list
    leaves: list
    above: list
    box: list
    sides: dict  # (feature, low, high): number
    n_splits: int
    cut_of: np.ndarray
    lowered: np.ndarray
    constant: np.ndarray
    below: list
    n_leaves: np.ndarray
    value: np.ndarray


def _tree(forest, root, build):
    """Append one tree; the place of its root, the number of leaves up to its end, its depth."""
    place_of_root, most = len(build.splits), 0
    waiting = [(root, 0, {}, frozenset(), (), (), None)]
    while waiting:
        k, depth, box, open_above, settled, above, link = waiting.pop()
        leaf = build.constant[k]
        open_here = frozenset() if leaf else build.below[k]
        settled_here = [q for q in box if q not in open_here and q in open_above]
        settled = (*settled, *settled_here)
        if link is not None:
            split, field = link
            build.splits[split][field] = (
                build.n_splits + len(build.leaves) if leaf else len(build.splits)
            )
        if leaf:
            _leaf(build, _any_leaf(forest, k, build.value), box, settled, above)
            most = max(most, depth)
            continue
        if settled_here:
            last = len(build.leaves) + int(build.n_leaves[k]) - 1
            above = (*above, (last, len(settled)))
        place, feature, cut = len(build.splits), int(forest.feature[k]), int(build.cut_of[k])
        missing = forest.missing_left is not None and bool(forest.missing_left[k])
        build.splits.append([build.lowered[k], feature, cut, 0, 0, missing])
        for child, side, field in ((forest.right[k], "right", 4), (forest.left[k], "left", 3)):
            narrowed = _narrowed(box, feature, cut, side)
            state = child, depth + 1, narrowed, open_here, settled, above, (place, field)
            waiting.append(state)
    return place_of_root, len(build.leaves), most


def _narrowed(box, feature, cut, side):
    """The box of a child: cuts of one feature are in the order of their thresholds."""
    low, high = box.get(feature, (-1, np.inf))
    low, high = (low, min(high, cut)) if side == "left" else (max(low, cut), high)
    # An empty side is written as the one from a cut to itself.
    return box | {feature: (low, max(low, high))}


def _leaf(build, value, box, settled, above):
    """Append a leaf, with the nodes above it and its box."""
    first_above, first_side = len(build.above), len(build.box)
    build.above.extend(above)
    for feature, first_split in zip(settled, box, strict=True):
        side = build.sides.setdefault((feature, *box[feature]), len(build.sides))
        build.box.append((feature, side, settled.index(first_split)))
    bounds = first_above, len(build.above), first_side, len(build.box)
    build.leaves.append((value, *bounds))


def _sides(numbers, n_cuts, n_features):
    """The sides by feature, the first of each feature, and the new number of each."""
    order = sorted(numbers)
    place_of = np.empty(len(order), np.int64)
    place_of[[numbers[side] for side in order]] = np.arange(len(order))
    sides = [
        (n_cuts if low < 0 else low, n_cuts + 1 if high == np.inf else high)
        for _, low, high in order
    ]
    first = np.searchsorted([feature for feature, *_ in order], np.arange(n_features + 1))
    return np.array(sides, SIDE), first, place_of


def _any_leaf(forest, k, value):
    while forest.feature[k] >= 0:
        k = forest.left[k]
    return float(value[k])
