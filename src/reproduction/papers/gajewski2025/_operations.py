"""Operations of the exact algorithm, counted from the lists that its kernel works through."""

from __future__ import annotations

import numpy as np

from splitcredit.faithfulness.prediction_gap import GapProblem
from splitcredit.kernels.prediction_gap import exact, leaf_lists
from splitcredit.kernels.prediction_gap.shares import WHOLE, WIDTH


def count(forest, X, chosen, sigma) -> np.ndarray:
    """Operations for the gaps of pairs of a row and a set, int64 (n_pairs,).

    An operation is one of these, each a fixed number of additions and multiplications: a node at
    which a factor or a leaf is listed; a side of a leaf that is written into the table; and, of
    every tree, a factor or a sum at one of its nodes for one leaf of a later tree.

    Parameters
    ----------
    forest : Forest with one output
    X : prepared rows (n_pairs, n_features)
    chosen : bool (n_pairs, n_features)
    sigma : float
    """
    return np.array([_of_lists(*own) for own in lists(forest, X, chosen, sigma)])


def lists(forest, X, chosen, sigma):
    """The lists that the kernel works through, pair by pair; the arguments are those of `count`.

    Yields
    ------
    work : splitcredit.kernels.prediction_gap.leaf_lists.Work
        The same memory for all pairs.
    boxes : int
        Sides of the boxes of the active leaves.
    listed : int
        Nodes at which a factor or a leaf is listed.
    """
    problem = GapProblem(forest, None, sigma, None)
    *arrays, depth = exact.kernel_arrays(problem.gap_forest)
    trees = exact.Trees(*arrays)
    rows, tails = problem.with_tails(X, chosen)
    work, nodes = leaf_lists.workspace(trees, X.shape[1], depth), _Nodes(trees)
    walked = trees.splits, trees.leaves, trees.box, trees.trees
    found = work.located, work.row_values, work.waiting, work.active, work.active_end
    sides = trees.sides, trees.first, trees.lowered
    for x, tail, moving in zip(rows, tails, chosen, strict=True):
        leaf_lists.begin_row(work)
        leaf_lists.take_features(*sides, x, tail, moving, work)
        width = work.forms[WIDTH]
        n, *sums = leaf_lists.find_leaves(*walked, x, tail, moving, width, *found)
        listed = int(n) + nodes.with_factors(x, moving, work)
        leaf_lists.drop_negligible_leaves(work.active, work.active_end, *sums)
        leaf_lists.list_steps(trees.leaves, trees.above, trees.box, work)
        own = trees.leaves[work.active["leaf"][: work.active_end[-1]]]
        yield work, int((own["box_end"] - own["box"]).sum()), listed


class _Nodes:
    """The nodes above leaves at which sides are settled, whatever the row and the set."""

    def __init__(self, trees):
        self.trees, leaves = trees, trees.leaves
        self.length = (leaves["box_end"] - leaves["box"]).astype(np.int64)
        n_above = (leaves["above_end"] - leaves["above"]).astype(np.int64)
        self.leaf = np.repeat(np.arange(len(leaves)), n_above)
        self.settled = trees.above["settled"].astype(np.int64)
        first = np.zeros(len(self.leaf), np.bool_)
        first[leaves["above"][n_above > 0]] = True
        self.before = np.where(first, 0, np.roll(self.settled, 1))
        # Nodes with the same last leaf have different numbers of settled sides.
        self.key = trees.above["last"].astype(np.int64) * (self.length.max() + 1) + self.settled

    def with_factors(self, x, chosen, work):
        """Nodes that x' can come to and at which there is a factor.

        Those are left out to which a path leads that is less probable than
        `leaf_lists.NEGLIGIBLE`.
        """
        trees, box = self.trees, self.trees.box
        moves, number = chosen[box["feature"]], box["side"]
        value, side = x[box["feature"]], trees.sides[number]
        around = ~(value <= trees.lowered[side["low"]]) & ~(value > trees.lowered[side["high"]])
        reached = np.logical_and.reduceat(moves | around, trees.leaves["box"])
        width = np.where(moves, work.forms[WIDTH][number], 1.0)
        factor = moves & (work.kind[number] != WHOLE)
        probability = np.ones((len(trees.leaves), self.length.max() + 1))
        factors = np.zeros(probability.shape, np.int64)
        for place in range(self.length.max()):
            has = place < self.length
            own = trees.leaves["box"][has] + place
            for sums, more, join in ((probability, width, np.multiply), (factors, factor, np.add)):
                sums[:, place + 1] = sums[:, place]
                sums[has, place + 1] = join(sums[has, place], more[own])
        at, up_to = (self.leaf, self.settled), (self.leaf, self.before)
        listed = reached[self.leaf] & (factors[at] > factors[up_to])
        listed &= probability[at] >= leaf_lists.NEGLIGIBLE
        return len(np.unique(self.key[listed]))


def _of_lists(work, boxes, listed):
    steps = work.steps[: work.steps_end[-1]]
    updates = np.maximum(steps["factors_end"] - steps["factors"], 1)
    of_tree = np.diff(np.append(0, updates.cumsum())[np.append(0, work.steps_end)])
    later = work.active_end[-1] - work.active_end
    return int(listed + (of_tree * later).sum() + boxes)
