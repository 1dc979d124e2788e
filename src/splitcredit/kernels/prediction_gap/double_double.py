"""Compute the exact prediction gap with twice the digits, for trees that cancel each other.

If trees take back what others give, the sum over pairs of leaves is far below its terms and keeps
few of their 16 digits. Here every number is a sum of two float64, a high and a low part. The tail
probabilities are taken as they are given: the result is that of noise whose tails differ from the
exact ones by a last rounding, and is as accurate as they.
"""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.error_free import two_difference, two_product, two_sum
from splitcredit.kernels.prediction_gap.shares import (
    ABOVE,
    AROUND,
    BELOW,
    BLOCK,
    LOWER,
    UPPER,
    fill_table,
)


@kernel(inner=True)
def gap_in_double_doubles(leaves, box, work):
    """Compute PG^2 of the row and set whose steps and active leaves `work` holds."""
    active, n, slot = work.active, work.active_end[-1], work.slot
    sums, total = np.empty((len(work.sums), 2)), (0.0, 0.0)
    for begin in range(0, n, BLOCK):
        end = min(n, begin + BLOCK)
        fill_table(leaves, box, work, begin, end)
        for i in range(begin, end):
            p, g = (1.0, 0.0), (active[i].gap, active[i].gap_low)
            leaf = leaves[active[i].leaf]
            for b in range(leaf.box, leaf.box_end):
                one = box[leaf.box + box[b].turn]
                if slot[one.feature] >= 0:
                    kind, low, high = work.kind[one.side], work.low[one.side], work.high[one.side]
                    p = _times(p, _width(kind, low, high, work.mass_below[one.feature]))
            behind = _expected(work, sums, i, i - begin)
            total = _plus(total, _times(_times(p, g), _plus(g, _plus(behind, behind))))
    return total[0]


@kernel(inner=True)
def _expected(work, sums, i, v):
    """Sum E[g(x') | x' in v] over the trees before active leaf i, with twice the digits."""
    steps, factors, table = work.steps, work.factors, work.table
    sums[0] = 0.0
    first = 0
    for t in range(len(work.steps_end)):
        if work.active_end[t] > i:
            break
        for s in range(first, work.steps_end[t]):
            step = steps[s]
            worth = (step.gap, step.gap_low)
            if not step.leaf:
                worth = (sums[step.level + 1, 0], sums[step.level + 1, 1])
            for f in range(step.factors, step.factors_end):
                side = factors[f].side
                row = table[factors[f].slot, :, v]
                covered = _share(row, work.kind[side], work.low[side], work.high[side])
                worth = _times(worth, covered)
            if not step.fresh:
                worth = _plus((sums[step.level, 0], sums[step.level, 1]), worth)
            sums[step.level, 0], sums[step.level, 1] = worth
        first = work.steps_end[t]
    return sums[0, 0], sums[0, 1]


@kernel(inner=True)
def _share(row, kind, low, high):
    """Return the share of an interval of the table that a factor's interval covers."""
    lower = two_difference(row[LOWER + 1], row[LOWER])
    width = _plus(lower, two_difference(row[UPPER + 1], row[UPPER]))
    if kind == AROUND:
        lower = _between(max(row[LOWER], low), row[LOWER + 1])
        covered = _plus(lower, _between(max(row[UPPER], high), row[UPPER + 1]))
    else:
        tail = LOWER if kind == BELOW else UPPER
        covered = _between(max(row[tail], low), min(row[tail + 1], high))
    return _over(covered, width)


@kernel(inner=True)
def _width(kind, low, high, mass_below):
    """Return the probability of an interval; see `shares.write_sides`."""
    if kind != BELOW and kind != ABOVE:
        return _plus(_between(low, mass_below), _between(high, 1.0 - mass_below))
    return _between(low, high)


@kernel(inner=True)
def _between(low, high):
    """Return the distance from low to high, 0 if high is not above low."""
    return two_difference(high, low) if high > low else (0.0, 0.0)


@kernel(inner=True)
def _plus(a, b):
    high, low = two_sum(a[0], b[0])
    return _joined(high, low + (a[1] + b[1]))


@kernel(inner=True)
def _times(a, b):
    high, low = two_product(a[0], b[0])
    return _joined(high, low + (a[0] * b[1] + a[1] * b[0]))


@kernel(inner=True)
def _over(a, b):
    """Return the quotient: one step of long division, and one more for the rest."""
    high = a[0] / b[0]
    back = _times((high, 0.0), b)
    rest = _plus(a, (-back[0], -back[1]))
    return _joined(high, rest[0] / b[0])


@kernel(inner=True)
def _joined(high, low):
    """Return the same sum with the larger part first."""
    total = high + low
    return total, low - (total - high)
