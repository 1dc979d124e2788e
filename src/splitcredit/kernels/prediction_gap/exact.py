"""Compute the exact prediction gap PG^2 of gajewski2025, as a sum over pairs of leaves.

PG^2 is the sum of P(u, v) g_u g_v. Leaves that x cannot reach when only the features of S move, and
those with g_u = 0, contribute nothing. Two different leaves of one tree exclude each other.

P(u, v) is P(v) times a product over the features of u: the share of v's interval that u's interval
covers. Leaves v with P(v) = 0 are left out, so no division is by 0. Summed over the leaves u of one
tree, the shares times g_u are E[g(x') | x' in v]. The sum is worked out from the leaves of that
tree up to its root, for many v at a time, because all leaves below a node have its share in common.

**Intervals and x.** The probability of an interval that lies below or above x is the difference of
two tails; that of an interval around x is 1 minus two of them.

**Leaves that cannot matter.** With small noise most leaves are so improbable that all of them
together are below the last digit of the result. They are left out, by a bound
(`reached_leaves.drop_negligible_leaves`).

**Trees that cancel each other** leave a sum far below its terms; it is then worked out with twice
the digits (`double_double`). Boosted trees of real data have not been seen to need it.

Each pair of a row and a set belongs to one thread, and the order of its sums depends on the pair
alone.
"""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import as_readonly
from splitcredit.kernels.prediction_gap.double_double import gap_in_double_doubles
from splitcredit.kernels.prediction_gap.leaf_lists import (
    begin_row,
    list_steps,
    take_features,
    workspace,
)
from splitcredit.kernels.prediction_gap.reached_leaves import drop_negligible_leaves, find_leaves
from splitcredit.kernels.prediction_gap.shares import (
    BLOCK,
    add_trees,
    expected_row,
    fill_table,
)

# Trees cancel each other if the mean square of their sum is below this part of the sum of their
# mean squares.
CANCELED = 0.01


def gaps(gap_forest, X, tails, rows, chosen, done=None) -> np.ndarray:
    """Compute PG^2 of pairs of a row and a set of features, float64 (n_pairs,)."""
    out, n = np.zeros(len(rows)), len(rows)
    report = (lambda pairs: done(pairs / n)) if done else None
    if n and len(gap_forest.trees):
        _gaps(n, gap_forest, *as_readonly(X, tails, rows, chosen), out, done=report)
    elif done:
        done(1.0)
    return out / gap_forest.divisor


@kernel(parallel=True)
def _gaps(first_pair, last_pair, forest, X, tails, rows, chosen, out):
    work = workspace(forest, X.shape[1])
    for i in range(first_pair, last_pair):
        if i == first_pair or rows[i] != rows[i - 1]:
            begin_row(work)
        out[i] = gap(forest, X[rows[i]], tails[rows[i]], chosen[i], work)


@kernel(inner=True)
def gap(forest, x, tails, chosen, work):
    """Compute PG^2 of one row and set; `begin_row` is called first for each row."""
    all_leaves = take_features(forest, x, tails, chosen, work)
    for canceled in (False, True):
        _, squares, largest = find_leaves(forest, x, tails, chosen, all_leaves, work)
        if not canceled:
            drop_negligible_leaves(work.active, work.active_end, squares, largest)
        list_steps(forest.leaves, forest.above, forest.box, work)
        if canceled:
            return max(gap_in_double_doubles(forest.leaves, forest.box, work), 0.0)
        sums, active, total, squares = work.sums, work.active, 0.0, 0.0
        n, results = work.active_end[-1], expected_row(sums)
        for begin in range(0, n, BLOCK):
            end = min(n, begin + BLOCK)
            fill_table(forest.leaves, forest.box, work, begin, end)
            add_trees(work, begin, end)
            for v in range(begin, end):
                share, g = active[v].probability, active[v].gap
                total += share * g * (g + 2.0 * sums[results, v - begin])
                squares += share * g * g
        if not total < CANCELED * squares:
            break
    return max(total, 0.0)  # the mean of a square: below 0 by rounding only
