"""List what the exact prediction gap is made from: leaves that x' can reach, and factors.

A pair of a row and a set of features has lists of its own, made in the working memory of a thread.
Which leaves can be reached, on which side of x a side lies and whether a feature is perturbed is
all but random, so a jump that depends on it is mispredicted about every other time. Hence most of
the loops here write first and then count what they have written only if it is wanted.

A function that unpacks a tuple of arrays into a call counts references to them,
which takes longer than all that is done at a node: hence arrays are given one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.prediction_gap.shares import BLOCK, LANES, WHOLE, cover, write_sides

TWO_53 = 2.0**53
# All leaves are looked at if trees have at most `FEW` on average, and if at least one feature in
# `ONE_IN` is chosen, so that x' can reach many of them. Otherwise trees are walked through.
FEW, ONE_IN = 64, 3

STEP = np.dtype(
    [
        ("gap", "f8"),  # g_u of a leaf
        ("gap_low", "f8"),  # what rounding took from it
        ("factors", "i4"),  # first factor, and one behind the last
        ("factors_end", "i4"),
        ("level", "i4"),  # of the sum that it adds to
        ("leaf", "?"),
        ("fresh", "?"),  # whether that sum begins with it
    ],
    align=True,
)
FACTOR = np.dtype([("side", "u4"), ("slot", "i4")])
ACTIVE = np.dtype(
    [("gap", "f8"), ("gap_low", "f8"), ("probability", "f8"), ("leaf", "u4")], align=True
)
# A node above the leaf that is being listed.
OPEN = np.dtype([("factors", "i4"), ("factors_end", "i4"), ("level", "i4")])


class Work(NamedTuple):
    """Working memory of one thread."""

    active: np.ndarray  # ACTIVE leaves
    active_end: np.ndarray  # of each tree
    steps: np.ndarray  # STEP: in the order of the way up
    steps_end: np.ndarray
    factors: np.ndarray  # FACTOR
    waiting: np.ndarray  # nodes to go to
    open: np.ndarray  # OPEN
    begun: np.ndarray  # whether the sum of a level has begun
    slot: np.ndarray  # of each feature in the table, -1 without
    table: np.ndarray  # (n_slots, 5, BLOCK + LANES)
    located: np.ndarray  # of each tree, whether the value of the leaf of x is known
    row_values: np.ndarray  # these values
    mass_below: np.ndarray  # of each feature, -1 as long as it and the sides are not known
    limits: np.ndarray  # (2, n_sides): the values between which each side of the forest lies
    covered: np.ndarray  # its probability; if its feature is not chosen, whether x lies in it
    kind: np.ndarray  # on which side of x it lies
    low: np.ndarray  # its ends, in the tail on whose side of x it lies, or one in each
    high: np.ndarray
    width: np.ndarray  # its probability
    inverse: np.ndarray  # 1 / width
    sums: np.ndarray  # (depth + 5, BLOCK + LANES): by level, results, two products, ones


@kernel(inner=True)
def workspace(forest, n_features):
    """Allocate working memory for the trees of a `GapForest`."""
    # Rows of a multiple of 4096 bytes would have to share a few places of the first cache.
    depth = forest.depth
    n_leaves, n_trees, n_sides = len(forest.leaves), len(forest.trees), len(forest.sides)
    sums = np.zeros((depth + 5, BLOCK + LANES))
    sums[-1] = 1.0
    return Work(
        np.empty(n_leaves + 1, ACTIVE),
        np.empty(n_trees, np.int64),
        np.empty(2 * n_leaves, STEP),
        np.empty(n_trees, np.int64),
        np.empty(len(forest.box) + 1, FACTOR),
        np.empty(depth + 2, np.uint32),
        np.empty(depth + 1, OPEN),
        np.zeros(depth + 2, np.bool_),
        np.empty(n_features, np.int32),
        np.empty((min(n_features, n_sides), 5, BLOCK + LANES)),
        np.zeros(n_trees, np.bool_),
        np.empty(n_trees),
        np.empty(n_features),
        _limits(forest.sides, forest.cuts.lowered),
        np.empty(n_sides),
        np.empty(n_sides, np.int32),
        np.empty(n_sides),
        np.empty(n_sides),
        np.empty(n_sides),
        np.empty(n_sides),
        sums,
    )


@kernel(inner=True)
def _limits(sides, lowered):
    limits = np.empty((2, len(sides)))
    for s in range(len(sides)):
        limits[0, s], limits[1, s] = lowered[sides[s].low], lowered[sides[s].high]
    return limits


@kernel(inner=True)
def begin_row(work):
    """Forget what was stored for the row before."""
    for t in range(len(work.located)):
        work.located[t] = False
    for j in range(len(work.mass_below)):
        work.mass_below[j] = -1.0


@kernel(inner=True)
def take_features(forest, x, tails, chosen, work):
    """Prepare the chosen features and their sides; return whether to look at all leaves."""
    sides, first, lowered = forest.sides, forest.first, forest.cuts.lowered
    slot, mass_below = work.slot, work.mass_below
    used, n_chosen, missing = 0, 0, False
    for j in range(len(chosen)):
        n_chosen += chosen[j]
        missing |= x[j] != x[j]
    small = len(work.active) <= FEW * len(work.located)
    all_leaves = small and ONE_IN * n_chosen >= len(chosen) and not missing
    for j in range(len(chosen)):
        slot[j] = -1
        begin, end = first[j].side, first[j + 1].side
        if chosen[j] and begin < end:
            slot[j] = used
            used += 1
            if mass_below[j] < 0.0:
                mass = _mass_below(lowered, first[j].cut, first[j + 1].cut, x[j], tails)
                write_sides(begin, end, sides, x[j], tails, mass, work)
                mass_below[j] = mass
        if chosen[j] or all_leaves:
            cover(begin, end, chosen[j], x[j], work)
    return all_leaves


@kernel(inner=True)
def _mass_below(lowered, low, high, x, tails):
    """Return the probability mass below x of a feature: a number between the tails next to x."""
    first, last = low, high
    while low < high:
        half = (low + high) >> 1
        if x > lowered[half]:
            low = half + 1
        else:
            high = half
    below = tails[low - 1] if low > first else 0.0
    above = tails[low] if low < last else 0.0
    if below > 0.5 or above > 0.5:  # a number whose difference from 1 is exact as well
        return np.ceil(below * TWO_53) / TWO_53
    return 0.5


# In one piece: a call at each node would count references to the arrays that it is given.
@kernel(inner=True)
def list_steps(leaves, above, box, work):
    """List the factors, and the nodes where factors or active leaves are, children before parents.

    The leaves of a tree are taken from right to left. A node is open from the first to the last of
    its active leaves. Indices have no sign, so that none is asked whether it counts from the end.
    """
    active, active_end, kind, slot = work.active, work.active_end, work.kind, work.slot
    steps, factors, nodes, begun = work.steps, work.factors, work.open, work.begun
    n, n_factors, first = np.uint64(0), np.uint64(0), 0
    begun[0] = True  # the sum over the trees, from 0
    for t in range(len(active_end)):
        n_open = 0
        last, before = active_end[t] - 1, 0
        for i in range(last, first - 2, -1):
            # Close the nodes that the next leaf is not below; after the last leaf, all.
            common, number = 0, -1
            if i >= first:
                number = np.int64(active[np.uint64(i)].leaf)
                leaf = leaves[number]
                n_above = leaf.above_end - leaf.above
                while common < min(n_above, n_open) and above[leaf.above + common].last >= before:
                    common += 1
            for place in range(n_open - 1, common - 1, -1):
                node, step = nodes[np.uint64(place)], steps[n]
                level, has = np.uint64(node.level), node.factors < node.factors_end
                step.factors, step.factors_end, step.level = node.factors, node.factors_end, level
                step.leaf, step.fresh = False, not begun[level]
                begun[level + np.uint64(1)] &= not has
                begun[level] |= has
                n += np.uint64(has)
            if number < 0:
                break
            leaf, before = leaves[number], number
            n_open = np.int64(leaf.above_end - leaf.above)
            level, b = 0, np.uint64(leaf.box)
            if common > 0:
                node = nodes[common - 1]
                level = node.level + (node.factors < node.factors_end)
                b += np.uint64(above[leaf.above + common - 1].settled)
            for place in range(common, n_open + 1):
                begin = n_factors
                end = np.uint64(leaf.box_end)
                if place < n_open:
                    end = np.uint64(leaf.box + above[leaf.above + place].settled)
                while b < end:
                    factor, side = factors[n_factors], box[b].side
                    factor.side, factor.slot = side, slot[box[b].feature]
                    n_factors += np.uint64((factor.slot >= 0) & (kind[side] != WHOLE))
                    b += np.uint64(1)
                if place < n_open:
                    node = nodes[place]
                    node.factors, node.factors_end, node.level = begin, n_factors, level
                    level += begin < n_factors
                else:
                    step = steps[n]
                    own = active[np.uint64(i)]
                    step.gap, step.gap_low = own.gap, own.gap_low
                    step.factors, step.factors_end, step.level = begin, n_factors, level
                    step.leaf, step.fresh = True, not begun[level]
                    begun[level] = True
                    n += np.uint64(1)
        first, work.steps_end[t] = active_end[t], n
