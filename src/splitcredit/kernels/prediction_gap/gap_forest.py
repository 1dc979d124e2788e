"""Prepare the trees for the exact prediction gap, for any row and features."""

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
# A side of a leaf's box, which has its sides in the order in which the path down settles them.
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
    """Arrays that `_list_trees` writes, from the first tree to the last and left to right.

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
    """Return the trees of one output, cached with the forest.

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
    """Find nodes with one value below, a leaf of each node, and its number of leaves (then 1)."""
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
    """Return everything that `_list_trees` writes."""
    n = int(n_leaves[roots].sum())
    listed = Listed(
        np.empty(n - len(roots), np.int64),
        np.empty((n - len(roots), 2), np.int64),
        np.empty(n, np.int64),
        np.zeros((n + 1, 2), np.int64),
        *(np.empty((n, width), np.int64) for width in (2, 4)),
        np.zeros(3, np.int64),
    )
    nodes = as_readonly(
        forest.feature, forest.left, forest.right, constant, leaf, n_leaves, cut_of, roots
    )
    room, d = int(n_leaves[roots].max(initial=1)) + 2, forest.n_features
    by_depth = *np.empty((2, room, 4), np.int64), *np.zeros((2, room, 2), np.int64)
    by_feature = *np.empty((6, d), np.int64), np.zeros(d, np.bool_)
    path = Path(*by_depth, *by_feature, np.empty(room, np.int64))
    above, box = _list_trees(Listing(*nodes), n_cuts, path, listed)
    n_above, n_box, _ = listed.counts.tolist()
    return listed._replace(above=above[:n_above], box=box[:n_box])


class Listing(NamedTuple):
    """Arrays that `_list_trees` reads for each node, see `_bottom_up`, and the roots."""

    feature: np.ndarray
    left: np.ndarray
    right: np.ndarray
    constant: np.ndarray
    leaf: np.ndarray
    n_leaves: np.ndarray
    cut_of: np.ndarray
    roots: np.ndarray


class Path(NamedTuple):
    """The path down to a node, by depth, by feature, and by split of the tree."""

    edges: np.ndarray  # of each edge the feature, its low and high cut before, and whether new
    waiting: np.ndarray  # node, depth, split above, and whether to its right
    so_far: np.ndarray  # of each node the sides settled, and the nodes above where some are
    above: np.ndarray
    low: np.ndarray
    high: np.ndarray
    box: np.ndarray
    settled: np.ndarray
    turn: np.ndarray
    next_split: np.ndarray
    is_settled: np.ndarray
    same_next: np.ndarray


@kernel()
def _list_trees(nodes, n_cuts, path, listed):
    """Write `listed`; return the nodes above leaves and the sides of boxes, enlarged as needed.

    The splits of a tree are numbered in the order in which they are met, so those below a node are
    a range of numbers. A feature is split below the node if the next split of it is in this range.
    """
    above, box = listed.above, listed.box
    n_splits, n_listed, n_above_listed, n_box_listed, deepest = 0, 0, 0, 0, 0
    for t in range(len(nodes.roots)):
        _number_splits(nodes, nodes.roots[t], path)
        first, n_waiting, depth, n_box, n_settled, n_above = n_splits, 1, 0, 0, 0, 0
        _push(path, 0, nodes.roots[t], 0, -1, 0)
        while n_waiting > 0:
            n_waiting -= 1
            # By items here, and in `_with_room`: whole rows take three times as long to compile.
            k, d = path.waiting[n_waiting, 0], path.waiting[n_waiting, 1]
            split, is_right = path.waiting[n_waiting, 2], path.waiting[n_waiting, 3]
            while depth > 0 and depth >= d:  # leave the edges that do not lead here
                n_box -= _leave_edge(path, depth)
                depth -= 1
            before = path.so_far[d - 1, 0] if d > 0 else 0
            for i in range(before, n_settled):
                path.is_settled[path.settled[i]] = False
            n_settled, n_above = before, path.so_far[d - 1, 1] if d > 0 else 0
            if d > 0:
                number = len(listed.node) + n_listed if nodes.constant[k] else n_splits
                listed.children[split, is_right] = number
                node, depth = listed.node[split], d
                test = nodes.feature[node], nodes.cut_of[node], is_right
                n_box = _enter_edge(path, d, test, n_cuts, n_box)
            stop = n_splits - first + nodes.n_leaves[k] - 1
            n_settled = _settle(path, n_box, n_settled, nodes.constant[k], stop)
            if nodes.constant[k]:
                above = _with_room(above, n_above_listed + n_above)
                box = _with_room(box, n_box_listed + n_box)
                _write_leaf(path, n_above, n_box, n_above_listed, n_box_listed, above, box)
                n_above_listed, n_box_listed = n_above_listed + n_above, n_box_listed + n_box
                listed.leaf_node[n_listed] = nodes.leaf[k]
                n_listed += 1
                listed.leaf_ends[n_listed, 0] = n_above_listed
                listed.leaf_ends[n_listed, 1] = n_box_listed
                deepest = max(deepest, d)
                continue
            if n_settled > before:
                path.above[n_above, 0] = n_listed + nodes.n_leaves[k] - 1
                path.above[n_above, 1] = n_settled
                n_above += 1
            path.so_far[d, 0], path.so_far[d, 1] = n_settled, n_above
            listed.node[n_splits] = k
            path.next_split[nodes.feature[k]] = path.same_next[n_splits - first]
            _push(path, n_waiting, nodes.right[k], d + 1, n_splits, 1)
            _push(path, n_waiting + 1, nodes.left[k], d + 1, n_splits, 0)
            n_waiting, n_splits = n_waiting + 2, n_splits + 1
        for i in range(n_settled):
            path.is_settled[path.settled[i]] = False
    listed.counts[0], listed.counts[1], listed.counts[2] = n_above_listed, n_box_listed, deepest
    return above, box


@kernel(inner=True)
def _push(path, place, node, depth, split, is_right):
    path.waiting[place, 0], path.waiting[place, 1] = node, depth
    path.waiting[place, 2], path.waiting[place, 3] = split, is_right


@kernel(inner=True)
def _leave_edge(path, depth):
    """Restore the cuts of the feature of an edge; return 1 if it left the box, else 0."""
    j = path.edges[depth, 0]
    path.low[j], path.high[j] = path.edges[depth, 1], path.edges[depth, 2]
    return path.edges[depth, 3]


@kernel(inner=True)
def _enter_edge(path, d, test, n_cuts, n_box):
    """Narrow the side of the feature of an edge; return the number of sides of the box."""
    j, cut, is_right = test
    is_new = True
    for i in range(n_box):
        is_new &= path.box[i] != j
    if is_new:
        path.box[n_box], path.low[j], path.high[j] = j, -1, n_cuts + 1
    path.edges[d, 0], path.edges[d, 1] = j, path.low[j]
    path.edges[d, 2], path.edges[d, 3] = path.high[j], is_new
    if is_right:
        path.low[j] = max(path.low[j], cut)
    else:
        path.high[j] = min(path.high[j], cut)
    path.high[j] = max(path.low[j], path.high[j])  # an empty side is from a cut to itself
    return n_box + is_new


@kernel(inner=True)
def _settle(path, n_box, n_settled, is_leaf, stop):
    """List the features that are not split before split `stop`; return how many are settled."""
    for i in range(n_box):
        j = path.box[i]
        if not path.is_settled[j] and (is_leaf or path.next_split[j] >= stop):
            path.is_settled[j], path.settled[n_settled], path.turn[j] = True, j, n_settled
            n_settled += 1
    return n_settled


@kernel(inner=True)
def _write_leaf(path, n_above, n_box, first_above, first_side, above, box):
    for i in range(n_above):
        above[first_above + i, 0], above[first_above + i, 1] = path.above[i, 0], path.above[i, 1]
    for i in range(n_box):
        j, at = path.settled[i], first_side + i
        box[at, 0], box[at, 1], box[at, 2] = j, path.low[j], path.high[j]
        box[at, 3] = path.turn[path.box[i]]


@kernel(inner=True)
def _with_room(table, n):
    """Return the table, or a copy of twice its length if it has less than n rows."""
    if n <= len(table):
        return table
    larger = np.empty((2 * n, table.shape[1]), np.int64)
    for i in range(len(table)):
        for j in range(table.shape[1]):
            larger[i, j] = table[i, j]
    return larger


@kernel(inner=True)
def _number_splits(nodes, root, path):
    """Write the next split of the feature of each split, and the first split of each feature."""
    waiting, next_split, same_next = path.waiting, path.next_split, path.same_next
    none = np.int64(1) << 62  # where there is none: above all numbers
    n, n_waiting = 0, 1
    waiting[0, 0] = root
    # By feature the last split so far, and by split the node.
    for j in range(len(next_split)):
        next_split[j] = none
    while n_waiting > 0:
        n_waiting -= 1
        k = waiting[n_waiting, 0]
        if not nodes.constant[k]:
            same_next[n] = nodes.feature[k]
            n += 1
            waiting[n_waiting, 0], waiting[n_waiting + 1, 0] = nodes.right[k], nodes.left[k]
            n_waiting += 2
    for i in range(n - 1, -1, -1):
        j = same_next[i]
        same_next[i], next_split[j] = next_split[j], i


def _cuts(forest, splits):
    """Return cuts by feature and threshold, and the cut of every node."""
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
    """Return the distinct sides by feature, the first of each feature, and each side's number."""
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
