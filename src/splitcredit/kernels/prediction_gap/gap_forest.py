"""The trees as the exact prediction gap needs them, whatever the row and the features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import as_readonly, cached_per_forest, lowered, readonly

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
        ("tested", "u8"),  # bits of the features of the tree: of feature j it is j % 64
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


class Listed(NamedTuple):
    """What `_list_trees` writes, each from the first tree to the last and from left to right.

    Sides are given by the numbers of their cuts, or -1 and one above the last where there is none.
    """

    node: np.ndarray  # of each split, as the forest numbers them
    children: np.ndarray  # (n_splits, 2): left and right, as `SPLIT` has them
    leaf_node: np.ndarray  # a node of the forest with the value of the leaf
    leaf_ends: np.ndarray  # (n_leaves + 1, 2): up to there, nodes above and sides of boxes
    above: np.ndarray  # (n_above, 2): as in `ABOVE`
    box: np.ndarray  # (n_box, 4): feature, low and high cut, turn
    counts: np.ndarray  # nodes above, sides of boxes, and the depth of the deepest tree


@cached_per_forest
def gap_forest(forest, output: int) -> GapForest:
    """The trees of one output, kept as long as the forest lives.

    A side (the interval of one feature) of a node is *settled* at the first node of a path below
    which its feature is not split any more: there it multiplies what comes from below.
    """
    (value,) = as_readonly(forest.value[:, output])
    constant, n_leaves = np.empty(forest.n_nodes, np.bool_), np.empty(forest.n_nodes, np.int64)
    leaf = np.empty(forest.n_nodes, np.int64)
    _bottom_up(forest.left, forest.right, value, constant, leaf, n_leaves)
    cuts, cut_of = _cuts(forest, np.flatnonzero((forest.feature >= 0) & ~constant))
    roots = forest.tree_offsets[:-1]
    roots = np.ascontiguousarray(roots[~constant[roots]])
    first_leaf = np.concatenate([[0], np.cumsum(n_leaves[roots])])
    listed = _listed(forest, roots, constant, leaf, n_leaves, cut_of, len(cuts.feature))
    node, n_cuts = listed.node, len(cuts.feature)
    splits = np.zeros(len(node), SPLIT)
    splits["threshold"], splits["feature"] = lowered(forest)[node], forest.feature[node]
    splits["cut"], (splits["left"], splits["right"]) = cut_of[node], listed.children.T
    if forest.missing_left is not None:
        splits["missing_left"] = forest.missing_left[node]
    leaves = np.zeros(len(listed.leaf_node), LEAF)
    leaves["value"] = value[listed.leaf_node]
    leaves["above"], leaves["box"] = listed.leaf_ends[:-1].T
    leaves["above_end"], leaves["box_end"] = listed.leaf_ends[1:].T
    above = np.zeros(len(listed.above), ABOVE)
    above["last"], above["settled"] = listed.above.T
    box = np.zeros(len(listed.box), BOX)
    feature, low, high, box["turn"] = listed.box.T
    box["feature"] = feature
    sides, first_side, box["side"] = _sides(feature, low, high, n_cuts, forest.n_features)
    trees = np.zeros(len(roots), TREE)
    trees["root"] = first_leaf[:-1] - np.arange(len(roots))  # a tree has a split less than leaves
    trees["leaf"], trees["leaf_end"] = first_leaf[:-1], first_leaf[1:]
    if len(roots):
        bits = np.uint64(1) << (splits["feature"] % 64).astype(np.uint64)
        trees["tested"] = np.bitwise_or.reduceat(bits, trees["root"].astype(np.int64))
    first = np.zeros(forest.n_features + 1, FIRST)
    first["cut"], first["side"] = cuts.first, first_side
    arrays = splits, leaves, above, box, sides, first, trees, first_leaf
    divisor = float(forest.n_trees) ** 2 if forest.aggregate == "mean" else 1.0
    return GapForest(*map(readonly, arrays), cuts, int(listed.counts[2]), divisor)


@kernel()
def _bottom_up(left, right, value, constant, leaf, n_leaves):
    """Of each node: whether it has one value below it, a leaf below it, and how many leaves.

    What has one value counts as one leaf.
    """
    for number in range(len(left) - 1, -1, -1):
        k = np.uint64(number)
        constant[k], leaf[k], n_leaves[k] = True, number, 1
        if left[k] >= 0:
            a, b = np.uint64(left[k]), np.uint64(right[k])
            same = value[np.uint64(leaf[a])] == value[np.uint64(leaf[b])]
            constant[k], leaf[k] = constant[a] and constant[b] and same, leaf[a]
            if not constant[k]:
                n_leaves[k] = n_leaves[a] + n_leaves[b]


def _listed(forest, roots, constant, leaf, n_leaves, cut_of, n_cuts) -> Listed:
    """What `_list_trees` writes, in arrays of the right lengths: a first call counts."""
    n = int(n_leaves[roots].sum())
    listed = Listed(
        np.empty(n - len(roots), np.int64),
        np.empty((n - len(roots), 2), np.int64),
        np.empty(n, np.int64),
        np.zeros((n + 1, 2), np.int64),
        *(np.empty((0, width), np.int64) for width in (2, 4)),
        np.zeros(3, np.int64),
    )
    largest = int(n_leaves[roots].max(initial=1))
    nodes = as_readonly(
        forest.feature, forest.left, forest.right, constant, leaf, n_leaves, cut_of, roots
    )
    given = *nodes, forest.n_features, n_cuts, largest
    _list_trees(*given, False, listed)
    n_above, n_box, _ = listed.counts.tolist()
    above, box = np.empty((n_above, 2), np.int64), np.empty((n_box, 4), np.int64)
    listed = listed._replace(above=above, box=box)
    _list_trees(*given, True, listed)
    return listed


@kernel()
def _list_trees(
    feature,
    left,
    right,
    constant,
    leaf,
    n_leaves,
    cut_of,
    roots,
    n_features,
    n_cuts,
    largest,
    writes,
    listed,
):
    """Write `listed`, but count nodes above and sides of boxes only, unless it `writes` them.

    The splits of a tree are numbered in the order in which they are met, so those below a node are
    a range of numbers. A feature is split below the node if the next split of it is in this range.
    """
    room = largest + 2
    # Of the path to the node: of each edge the feature, its low and high cut before, whether it is
    # split for the first time; of each node the sides settled and the nodes above where some are.
    edges, so_far = np.empty((room, 4), np.int64), np.zeros((room, 2), np.int64)
    waiting = np.empty((room, 4), np.int64)  # node, depth, split above, and whether to its right
    low, high = np.empty(n_features, np.int64), np.empty(n_features, np.int64)
    box, settled = np.empty(n_features, np.int64), np.empty(n_features, np.int64)
    above, turn = np.empty((room, 2), np.int64), np.empty(n_features, np.int64)
    is_settled, next_split = np.zeros(n_features, np.bool_), np.empty(n_features, np.int64)
    same_next = np.empty(room, np.int64)
    n_splits, n_listed, n_above_listed, n_box_listed, deepest = 0, 0, 0, 0, 0
    n_all = len(listed.node)
    for t in range(len(roots)):
        _number_splits(feature, left, right, constant, roots[t], waiting, next_split, same_next)
        first = n_splits
        waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = roots[t], 0, -1, 0
        n_waiting, depth, n_box, n_settled, n_above = 1, 0, 0, 0, 0
        while n_waiting > 0:
            n_waiting -= 1
            k, d = waiting[n_waiting, 0], waiting[n_waiting, 1]
            split, is_right = waiting[n_waiting, 2], waiting[n_waiting, 3]
            while depth > 0 and depth >= d:  # leave the edges that do not lead here
                j = edges[depth, 0]
                low[j], high[j] = edges[depth, 1], edges[depth, 2]
                n_box -= edges[depth, 3]
                depth -= 1
            before = so_far[d - 1, 0] if d > 0 else 0
            for i in range(before, n_settled):
                is_settled[settled[i]] = False
            n_settled, n_above = before, so_far[d - 1, 1] if d > 0 else 0
            if d > 0:
                number = n_splits if not constant[k] else n_all + n_listed
                listed.children[split, is_right] = number
                j, cut = feature[listed.node[split]], cut_of[listed.node[split]]
                is_new = True
                for i in range(n_box):
                    is_new &= box[i] != j
                if is_new:
                    box[n_box], low[j], high[j] = j, -1, n_cuts + 1
                    n_box += 1
                edges[d, 0], edges[d, 1], edges[d, 2], edges[d, 3] = j, low[j], high[j], is_new
                if is_right:
                    low[j] = max(low[j], cut)
                else:
                    high[j] = min(high[j], cut)
                high[j] = max(low[j], high[j])  # an empty side is from a cut to itself
                depth = d
            stop = n_splits - first + n_leaves[k] - 1
            for i in range(n_box):
                j = box[i]
                if not is_settled[j] and (constant[k] or next_split[j] >= stop):
                    is_settled[j], settled[n_settled], turn[j] = True, j, n_settled
                    n_settled += 1
            if constant[k]:
                if writes:
                    for i in range(n_above):
                        at = n_above_listed + i
                        listed.above[at, 0], listed.above[at, 1] = above[i, 0], above[i, 1]
                    for i in range(n_box):
                        j, at = settled[i], n_box_listed + i
                        listed.box[at, 0], listed.box[at, 1], listed.box[at, 2] = j, low[j], high[j]
                        listed.box[at, 3] = turn[box[i]]
                n_above_listed, n_box_listed = n_above_listed + n_above, n_box_listed + n_box
                listed.leaf_node[n_listed] = leaf[k]
                n_listed += 1
                listed.leaf_ends[n_listed, 0] = n_above_listed
                listed.leaf_ends[n_listed, 1] = n_box_listed
                deepest = max(deepest, d)
                continue
            if n_settled > before:
                above[n_above, 0], above[n_above, 1] = n_listed + n_leaves[k] - 1, n_settled
                n_above += 1
            so_far[d, 0], so_far[d, 1] = n_settled, n_above
            listed.node[n_splits] = k
            next_split[feature[k]] = same_next[n_splits - first]
            for child, side in ((right[k], 1), (left[k], 0)):
                waiting[n_waiting, 0], waiting[n_waiting, 1] = child, d + 1
                waiting[n_waiting, 2], waiting[n_waiting, 3] = n_splits, side
                n_waiting += 1
            n_splits += 1
        for i in range(n_settled):
            is_settled[settled[i]] = False
    listed.counts[0], listed.counts[1], listed.counts[2] = n_above_listed, n_box_listed, deepest


@kernel(inner=True)
def _number_splits(feature, left, right, constant, root, waiting, next_split, same_next):
    """Write the next split of the feature of each split, and the first split of each feature.

    Where there is none it is a number above all.
    """
    none = np.int64(1) << 62
    n, n_waiting = 0, 1
    waiting[0, 0] = root
    # By feature the last split so far, and by split the node.
    for j in range(len(next_split)):
        next_split[j] = none
    while n_waiting > 0:
        n_waiting -= 1
        k = waiting[n_waiting, 0]
        if not constant[k]:
            same_next[n] = feature[k]
            n += 1
            waiting[n_waiting, 0], waiting[n_waiting + 1, 0] = right[k], left[k]
            n_waiting += 2
    for i in range(n - 1, -1, -1):
        j = same_next[i]
        same_next[i], next_split[j] = next_split[j], i


def _cuts(forest, splits):
    """Cuts by feature and threshold, and the cut of every node."""
    feature, threshold = forest.feature[splits], forest.threshold[splits]
    order = np.lexsort((threshold, feature))
    feature, threshold = feature[order], threshold[order]
    new = np.ones(len(splits), np.bool_)
    new[1:] = (feature[1:] != feature[:-1]) | (threshold[1:] != threshold[:-1])
    kept = splits[order[new]]
    cut_of = np.full(forest.n_nodes, -1, np.int64)
    cut_of[splits[order]] = np.cumsum(new) - 1
    feature = forest.feature[kept].astype(np.int64)
    low = lowered(forest)[kept].astype(np.float64)
    first = np.searchsorted(feature, np.arange(forest.n_features + 1))
    low = np.append(low, [-np.inf, np.inf])
    arrays = (feature, forest.threshold[kept], low, first)
    return Cuts(*(readonly(np.ascontiguousarray(a)) for a in arrays)), cut_of


def _sides(feature, low, high, n_cuts, n_features):
    """The distinct sides by feature, the first of each feature, and the number of each given one.

    Parameters
    ----------
    feature, low, high : int64 (n,)
        See `Listed`.
    """
    order = np.lexsort((high, low, feature))
    given = np.stack([feature, low, high])[:, order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (np.diff(given) != 0).any(axis=0)
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(is_new) - 1
    feature, low, high = given[:, is_new]
    sides = np.zeros(len(low), SIDE)
    sides["low"], sides["high"] = np.where(low < 0, n_cuts, low), high
    return sides, np.searchsorted(feature, np.arange(n_features + 1)), number
