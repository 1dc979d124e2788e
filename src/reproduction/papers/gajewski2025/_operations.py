"""Operations of the exact algorithm, counted from the lists that its kernel works through."""

from __future__ import annotations

import numpy as np

from splitcredit.faithfulness.prediction_gap import GapProblem
from splitcredit.kernels.prediction_gap import exact, leaf_lists


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
    splitcredit.kernels.prediction_gap.leaf_lists.Work, the same memory for all pairs
    NODE (n_nodes,)
        See `splitcredit.kernels.prediction_gap.gap_forest`.
    """
    problem = GapProblem(forest, None, sigma, None)
    nodes, sides, roots, lowered, first, depth = exact.kernel_arrays(problem.gap_forest)
    rows, tails = problem.with_tails(X, chosen)
    work = leaf_lists.workspace(len(nodes), len(sides), len(roots), X.shape[1], depth)
    for x, tail, moving in zip(rows, tails, chosen, strict=True):
        leaf_lists.begin_row(work)
        listed = nodes, sides, roots, lowered, first, x, tail, moving, work
        n_factors = leaf_lists.list_steps(*listed)
        leaf_lists.drop_negligible_leaves(work)
        leaf_lists.reverse_steps(work)
        leaf_lists.clear_slots(work, n_factors)
        yield work, nodes


def _of_lists(work, nodes):
    steps = work.steps[: work.steps_end[-1]]
    updates = np.maximum(steps["factors_end"] - steps["factors"], 1)
    of_tree = np.diff(np.append(0, updates.cumsum())[np.append(0, work.steps_end)])
    leaves = work.active_end[-1]
    later = leaves - work.active_end
    own = nodes[work.active["node"][:leaves]]
    of_boxes = (own["box_end"] - own["box"]).sum()
    return int(work.visited_end[-1] + (of_tree * later).sum() + of_boxes)
