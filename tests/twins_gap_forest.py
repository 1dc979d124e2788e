"""Twin of `kernels.prediction_gap.gap_forest`: the lists of each tree, by recursion and dicts."""

import math
from typing import NamedTuple

# Where a side has no end. A cut may be at infinity as well, so ends are pairs.
NO_LOW, NO_HIGH = (-math.inf, -1), (math.inf, 1)


class Twin(NamedTuple):
    """What `lists` gives; leaves are numbered from left to right, splits as they are met.

    Parameters
    ----------
    splits : list of (feature, threshold, left, right)
        Children: a split, or a leaf as ``("leaf", number)``.
    leaves : list of (value, above, box, turns)
        `above` has a pair (last leaf below the node, sides settled so far) for each node above the
        leaf at which a side is settled. `box` has a triple (feature, low, high) for each side, in
        the order in which they are settled, and `turns` the features in the order in which they are
        split. Ends of sides are pairs of a threshold and 0, `NO_LOW` or `NO_HIGH`.
    roots : list of int
    depth : int
    """

    splits: list
    leaves: list
    roots: list
    depth: int


class Below(NamedTuple):
    """What is below a node: values of leaves, features that are split, and leaves.

    Where all leaves have one value, they count as one, and nothing is split.
    """

    values: frozenset
    features: frozenset
    n_leaves: int


def lists(forest, output) -> Twin:
    """The trees of one output, without those and without subtrees that have one value only."""
    below = {}
    for k in reversed(range(forest.n_nodes)):
        left, right = (below.get(int(child[k])) for child in (forest.left, forest.right))
        values = frozenset([float(forest.value[k, output])])
        if left is not None:
            values = left.values | right.values
        below[k] = Below(values, frozenset(), 1)
        if len(values) > 1:
            features = left.features | right.features | {int(forest.feature[k])}
            below[k] = Below(values, features, left.n_leaves + right.n_leaves)
    made, depths = Twin([], [], [], 0), [0]
    for root in forest.tree_offsets[:-1].tolist():
        if below[root].features:
            made.roots.append(len(made.splits))
            depths.append(_visit(forest, below, root, made, {}, [], [], 0)[1])
    return made._replace(depth=max(depths))


def _visit(forest, below, k, made, box, settled, above, depth):
    """Add what is below a node; how its parent names it, and the depth of its deepest leaf."""
    here = [j for j in box if j not in below[k].features and j not in settled]
    settled = settled + here
    if not below[k].features:
        (value,) = below[k].values
        made.leaves.append((value, above, [(j, *box[j]) for j in settled], list(box)))
        return ("leaf", len(made.leaves) - 1), depth
    if here:
        above = [*above, (len(made.leaves) + below[k].n_leaves - 1, len(settled))]
    number, j, threshold = len(made.splits), int(forest.feature[k]), float(forest.threshold[k])
    made.splits.append(None)
    low, high = box.get(j, (NO_LOW, NO_HIGH))
    cut = threshold, 0
    # An empty side is from a cut to itself.
    sides = (low, max(low, min(high, cut))), (max(low, cut), max(low, cut, high))
    children, depths = [], []
    for child, side in zip((forest.left[k], forest.right[k]), sides, strict=True):
        state = {**box, j: side}, settled, above, depth + 1
        name, deepest = _visit(forest, below, int(child), made, *state)
        children.append(name)
        depths.append(deepest)
    made.splits[number] = (j, threshold, *children)
    return number, max(depths)
