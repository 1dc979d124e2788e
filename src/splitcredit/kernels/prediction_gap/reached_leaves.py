"""Find the leaves that x' can reach; `leaf_lists` says why loops write first and then count."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.error_free import two_difference

# Leaves less probable than this are left out: what they are worth is far below 1e-60 times the
# squared value of any leaf, and numbers of that size would be denormal when multiplied.
NEGLIGIBLE = 1e-200
# What leaves that are left out may be worth together, as a part of the sum of the mean squares of
# the trees: over `exact.CANCELED`, less than the last digit of the gap.
UNSEEN = 2.0**-60


@kernel(inner=True)
def _goes_left(split, value):
    """Return whether a value goes left; NaN goes where the model sends it."""
    return (value <= split.threshold) | ((value != value) & split.missing_left)


@kernel(inner=True)
def _child(split, left):
    """Return the left or the right child, without a jump."""
    return np.uint64(split.right) + np.uint64(left) * (
        np.uint64(split.left) - np.uint64(split.right)
    )


@kernel(inner=True)
def _row_value(splits, leaves, k, x):
    """Return the value of the leaf of x below a node."""
    n_splits = np.uint64(len(splits))
    while k < n_splits:
        split = splits[k]
        k = _child(split, _goes_left(split, x[split.feature]))
    return leaves[k - n_splits].value


@kernel(inner=True)
def find_leaves(forest, x, tails, chosen, all_leaves, work):
    """List the leaves that x' can reach and whose value differs from x's, in one of two ways.

    Returns how many they are, and the sums over trees of the mean squares and the largest |g|.
    """
    splits, leaves, box, trees = forest.splits, forest.leaves, forest.box, forest.trees
    located, row_values, active_end = work.located, work.row_values, work.active_end
    bits = _bits(chosen)
    n, squares, largest = np.uint64(0), 0.0, 0.0
    for t in range(len(trees)):
        active_end[t] = n
        if not trees[t].tested & bits:
            continue
        root = trees[t].root
        if not located[t]:
            row_values[t], located[t] = _row_value(splits, leaves, root, x), True
        of_row = row_values[t]
        if all_leaves:
            own = trees[t].leaf, trees[t].leaf_end
            found = _sift(leaves, box, own, of_row, work.covered, work.active, n, squares)
        else:
            found = _walk(forest, root, x, tails, chosen, of_row, work, n, squares)
        n, squares, of_tree = found
        largest += of_tree
        active_end[t] = n
    return n, squares, largest


@kernel(inner=True)
def _walk(forest, root, x, tails, chosen, of_row, work, n, squares):
    """List leaves of one tree by a walk, which enters no side less probable than `NEGLIGIBLE`."""
    splits, leaves, box = forest.splits, forest.leaves, forest.box
    covered, waiting, active = work.covered, work.waiting, work.active
    n_splits, of_tree = np.uint64(len(splits)), 0.0
    n_waiting = np.uint64(1)
    waiting[0] = root
    while n_waiting > 0:
        n_waiting -= np.uint64(1)
        k = np.uint64(waiting[n_waiting])
        while k < n_splits:
            split = splits[k]
            both = chosen[split.feature] and tails[split.cut] >= NEGLIGIBLE
            waiting[n_waiting] = split.right
            n_waiting += np.uint64(both)
            k = _child(split, both | _goes_left(split, x[split.feature]))
        leaf, p = leaves[k - n_splits], 1.0
        for b in range(leaf.box, leaf.box_end):
            of_side = covered[box[b].side]
            p *= of_side if chosen[box[b].feature] else 1.0
        active[n].gap, active[n].gap_low = two_difference(leaf.value, of_row)
        active[n].probability, active[n].leaf = p, k - n_splits
        if leaf.value != of_row and not p < NEGLIGIBLE:
            g = abs(active[n].gap)
            squares += p * g * g
            of_tree = max(of_tree, g)
            n += np.uint64(1)
    return n, squares, of_tree


@kernel(inner=True)
def _sift(leaves, box, own, of_row, covered, active, n, squares):
    """List leaves of one tree by a look at all of them, in which no jump depends on x."""
    of_tree = 0.0
    for k in range(own[0], own[1]):
        leaf, p = leaves[k], 1.0
        for b in range(leaf.box, leaf.box_end):
            p *= covered[box[b].side]
        active[n].gap, active[n].gap_low = two_difference(leaf.value, of_row)
        active[n].probability, active[n].leaf = p, k
        g, here = abs(active[n].gap), (leaf.value != of_row) & (not p < NEGLIGIBLE)
        squares += p * g * g if here else 0.0
        of_tree = max(of_tree, g if here else 0.0)
        n += np.uint64(here)
    return n, squares, of_tree


@kernel(inner=True)
def _bits(chosen):
    bits = np.uint64(0)
    for j in range(len(chosen)):
        bits |= np.uint64(chosen[j]) << np.uint64(j % 64)
    return bits


@kernel(inner=True)
def drop_negligible_leaves(active, active_end, squares, largest):
    """Leave out leaves that together cannot change the last digit.

    Let a and b be the sums of g over the trees in leaves that stay and in those that go. The gap
    loses E[b (2a + b)], at most 2 G E[|b|], G being the sum over the trees of the largest |g|.
    """
    total = active_end[-1]
    if total == 0:
        return
    least = UNSEEN * squares / (2.0 * largest * total)
    n, first = np.uint64(0), np.uint64(0)
    for t in range(len(active_end)):
        end = np.uint64(active_end[t])
        for v in range(first, end):
            p, gap = active[v].probability, active[v].gap
            active[n].gap, active[n].gap_low = gap, active[v].gap_low
            active[n].probability, active[n].leaf = p, active[v].leaf
            n += np.uint64(not p * abs(gap) < least)
        first, active_end[t] = end, n
