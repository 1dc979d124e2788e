"""Operations of the exact algorithm, counted from the lists that its kernel works through."""

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.prediction_gap import leaf_lists, reached_leaves
from splitcredit.prediction_gap.exact_gap import GapProblem


def count(forest, X, chosen, sigma) -> np.ndarray:
    """Operations for the gaps of pairs of a row and a set, int64 (n_pairs,).

    Each is a fixed number of additions and multiplications: a node at which a factor or a leaf is
    listed; a side of a leaf that is written into the table; and, of every tree, a factor or a sum
    at one of its nodes for one leaf of a later tree.
    """
    return np.array(
        [_of_lists(*lists_and_sides) for lists_and_sides in lists(forest, X, chosen, sigma)]
    )


def lists(forest, X, chosen, sigma):
    """The lists that the kernel works through, pair by pair; the arguments are those of `count`."""
    problem = GapProblem(forest, None, sigma, None)
    trees = problem.gap_forest
    rows, tails = problem.with_tails(X, chosen)
    work = _workspace(trees, X.shape[1])
    for x, tail, moving in zip(rows, tails, chosen, strict=True):
        _list(trees, x, tail, moving, work)
        active_leaves = trees.leaves[work.active["leaf"][: work.active_end[-1]]]
        yield work, int((active_leaves["box_end"] - active_leaves["box"]).sum())


@kernel()
def _workspace(trees, n_features):
    return leaf_lists.workspace(trees, n_features)


@kernel()
def _list(trees, x, tails, chosen, work):
    """Fill the lists as `kernels.prediction_gap.exact.gap` does before it sums."""
    leaf_lists.begin_row(work)
    all_leaves = leaf_lists.take_features(trees, x, tails, chosen, work)
    _, squares, largest = reached_leaves.find_leaves(trees, x, tails, chosen, all_leaves, work)
    reached_leaves.drop_negligible_leaves(work.active, work.active_end, squares, largest)
    leaf_lists.list_steps(trees.leaves, trees.above, trees.box, work)


def _of_lists(work, boxes):
    steps = work.steps[: work.steps_end[-1]]
    updates = np.maximum(steps["factors_end"] - steps["factors"], 1)
    of_tree = np.diff(np.append(0, updates.cumsum())[np.append(0, work.steps_end)])
    later = work.active_end[-1] - work.active_end
    return int(len(steps) + (of_tree * later).sum() + boxes)
