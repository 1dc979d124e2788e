"""The lists that the exact prediction gap is made from: leaves that x' can reach, and factors.

A pair of a row and a set of features has lists of its own, made in the working memory of a thread.
The symbols, and what the lists are for, are explained in `exact`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.error_free import two_difference
from splitcredit.kernels.prediction_gap.shares import AROUND, BLOCK, interval, width

TWO_53 = 2.0**53
# Leaves less probable than this are left out: what they are worth is far below 1e-60 times the
# squared value of any leaf, and numbers of that size would be denormal when multiplied.
NEGLIGIBLE = 1e-200
# What leaves that are left out may be worth together, as a part of the sum of the mean squares of
# the trees: over `exact.CANCELLED`, less than the last digit of the gap.
UNSEEN = 2.0**-60

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
FACTOR = np.dtype(
    [("low", "f8"), ("high", "f8"), ("feature", "i4"), ("slot", "i4"), ("kind", "i4")], align=True
)
WAITING = np.dtype(
    [("node", "i4"), ("level", "i4"), ("probability", "f8"), ("with_x", "?")], align=True
)
ACTIVE = np.dtype(
    [("gap", "f8"), ("gap_low", "f8"), ("probability", "f8"), ("node", "i4")], align=True
)


class Work(NamedTuple):
    """Working memory of one thread."""

    visited: np.ndarray  # STEP: in the order of the way down the trees
    visited_end: np.ndarray  # of each tree
    steps: np.ndarray  # STEP: in the order of the way up
    steps_end: np.ndarray
    active: np.ndarray  # ACTIVE leaves
    active_end: np.ndarray
    factors: np.ndarray  # FACTOR
    waiting: np.ndarray  # WAITING: nodes to go to
    begun: np.ndarray  # whether the sum of a level has begun
    slot: np.ndarray  # of each feature in the table, -1 without
    table: np.ndarray  # (n_slots, 5, BLOCK)
    located: np.ndarray  # of each tree, whether the value of the leaf of x is known
    row_values: np.ndarray  # these values
    mass_below: np.ndarray  # of each feature, -1 as long as it is not known
    sums: np.ndarray  # (depth + 5, BLOCK): by level, results, two products in the making, ones


@kernel(inner=True)
def workspace(n_nodes, n_sides, n_trees, n_features, depth):
    """Working memory for forests of such a size."""
    sums = np.zeros((depth + 5, BLOCK))
    sums[-1] = 1.0
    return Work(
        np.empty(n_nodes, STEP),
        np.empty(n_trees, np.int64),
        np.empty(n_nodes, STEP),
        np.empty(n_trees, np.int64),
        np.empty(n_nodes, ACTIVE),
        np.empty(n_trees, np.int64),
        np.empty(n_sides + 1, FACTOR),
        np.empty(depth + 2, WAITING),
        np.empty(depth + 2, np.bool_),
        np.full(n_features, -1, np.int32),
        np.empty((min(n_features, n_sides), 5, BLOCK)),
        np.zeros(n_trees, np.bool_),
        np.empty(n_trees),
        np.full(n_features, -1.0),
        sums,
    )


@kernel(inner=True)
def begin_row(work):
    """Forget what was known of the row before."""
    for t in range(len(work.located)):
        work.located[t] = False
    for j in range(len(work.mass_below)):
        work.mass_below[j] = -1.0


@kernel(inner=True)
def _mass_below(lowered, low, high, x, tails):
    """The probability mass below x of a feature with the cuts low..high.

    Any number will do that lies between the two tails next to x.
    """
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


@kernel(inner=True)
def _next_node(node, value):
    """Where a value goes; NaN goes where the model sends it."""
    left = value <= node.threshold or (value != value and node.missing_left)
    return np.int64(node.left if left else node.right)


@kernel(inner=True)
def clear_slots(work, n_factors):
    """Take the places in the table from the features of the factors."""
    for i in range(n_factors):
        work.slot[work.factors[i].feature] = -1


@kernel(inner=True)
def list_steps(nodes, sides, roots, lowered, first, x, tails, chosen, work):
    """List the nodes where factors or active leaves are, parents before children.

    Below a node where no chosen feature is split, there is one leaf that can be reached. As long as
    the path is that of x, it is the leaf of x, whose gap is 0.

    Numba counts references to the arrays that a function is given, which takes longer than all
    that is done at a node: hence one long function that calls others with numbers only.
    """
    visited, factors, active, waiting = work.visited, work.factors, work.active, work.waiting
    row_values, mass_below, located = work.row_values, work.mass_below, work.located
    bits = np.uint64(0)
    for j in range(len(chosen)):
        if chosen[j]:
            bits |= np.uint64(1) << np.uint64(j % 64)
            if mass_below[j] < 0.0:
                mass_below[j] = _mass_below(lowered, first[j], first[j + 1], x[j], tails)
    n, n_visited, n_factors = 0, 0, 0
    for t in range(len(roots)):
        n_waiting = 0
        if nodes[roots[t]].below & bits:
            waiting[0].node, waiting[0].level, waiting[0].probability = roots[t], 0, 1.0
            waiting[0].with_x = True
            n_waiting = 1
            if not located[t]:
                k = np.int64(roots[t])
                while nodes[k].feature >= 0:
                    k = _next_node(nodes[k], x[nodes[k].feature])
                row_values[t], located[t] = nodes[k].value, True
        while n_waiting > 0:
            n_waiting -= 1
            here = waiting[n_waiting]
            k, level, p, with_x = np.int64(here.node), here.level, here.probability, here.with_x
            while True:
                node, before = nodes[k], n_factors
                single = not node.below & bits
                for s in range(node.settled, node.settled_end):
                    side, factor = sides[s], factors[n_factors]
                    j, a, b = side.feature, side.low, side.high
                    if chosen[j]:
                        kind, low, high = interval(x[j], lowered[a], lowered[b], tails[a], tails[b])
                        factor.kind, factor.low, factor.high, factor.feature = kind, low, high, j
                        p *= width(kind, low, high, mass_below[j])
                        n_factors += kind != AROUND or low != 0.0 or high != 0.0
                if single and not with_x:
                    while nodes[k].feature >= 0:
                        k = _next_node(nodes[k], x[nodes[k].feature])
                value = nodes[k].value
                leaf = node.feature < 0
                if p < NEGLIGIBLE or (leaf and value == row_values[t]):
                    n_factors = before
                    break
                if leaf or n_factors > before:
                    step = visited[n_visited]
                    step.gap, step.gap_low = two_difference(value, row_values[t])
                    step.leaf, step.level = leaf, level
                    step.factors, step.factors_end = before, n_factors
                    n_visited += 1
                    level += not leaf
                if single and (with_x or value == row_values[t]):
                    break
                if single:
                    if not leaf:
                        step = visited[n_visited]
                        step.gap, step.gap_low = two_difference(value, row_values[t])
                        step.leaf, step.level = True, level
                        step.factors, step.factors_end = n_factors, n_factors
                        n_visited += 1
                    active[n].gap, active[n].gap_low = two_difference(value, row_values[t])
                    active[n].probability, active[n].node = p, k
                    n += 1
                    break
                j = node.feature
                k = _next_node(node, x[j])
                if chosen[j]:  # both children, the left one first
                    behind = waiting[n_waiting]
                    behind.node, behind.level, behind.probability = node.right, level, p
                    behind.with_x = with_x and k == node.right
                    with_x = with_x and k == node.left
                    n_waiting += 1
                    k = np.int64(node.left)
        work.visited_end[t], work.active_end[t] = n_visited, n
    return n_factors


@kernel(inner=True)
def drop_negligible_leaves(work):
    """Leave out leaves that together cannot change the last digit.

    Let a and b be the sums of g over the trees in leaves that stay and in those that go. The gap
    loses E[b (2a + b)], at most 2 G E[|b|], G being the sum over the trees of the largest |g|.
    """
    visited, active, squares, largest, first = work.visited, work.active, 0.0, 0.0, 0
    for t in range(len(work.active_end)):
        of_tree = 0.0
        for v in range(first, work.active_end[t]):
            g = abs(active[v].gap)
            squares += active[v].probability * g * g
            of_tree = max(of_tree, g)
        first = work.active_end[t]
        largest += of_tree
    if first == 0:
        return
    least = UNSEEN * squares / (2.0 * largest * first)
    f, n, first = 0, 0, 0
    for t in range(len(work.active_end)):
        end = work.active_end[t]
        for v in range(first, end):
            while not visited[f].leaf:
                f += 1
            if active[v].probability * abs(active[v].gap) < least:
                visited[f].level = -1
            else:
                active[n] = active[v]
                n += 1
            f += 1
        first, work.active_end[t] = end, n


@kernel(inner=True)
def reverse_steps(work):
    """Reverse the lists, so that children come before parents, and leave out barren nodes.

    Those are nodes without a leaf below, and the leaves that were left out (level -1).

    Features of factors get a place in the table.
    """
    visited, steps, begun = work.visited, work.steps, work.begun
    factors, slot = work.factors, work.slot
    first, n_steps, used = 0, 0, 0
    for t in range(len(work.visited_end)):
        for level in range(len(begun)):
            begun[level] = level == 0
        for i in range(work.visited_end[t] - 1, first - 1, -1):
            level, leaf = visited[i].level, visited[i].leaf
            if level < 0 or (not leaf and not begun[level + 1]):
                continue
            if not leaf:
                begun[level + 1] = False
            steps[n_steps] = visited[i]
            steps[n_steps].fresh = not begun[level]
            begun[level] = True
            n_steps += 1
            for f in range(visited[i].factors, visited[i].factors_end):
                j = factors[f].feature
                if slot[j] < 0:
                    slot[j] = used
                    used += 1
                factors[f].slot = slot[j]
        first, work.steps_end[t] = work.visited_end[t], n_steps
