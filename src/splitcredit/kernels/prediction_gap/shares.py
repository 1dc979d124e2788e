"""Compute the shares of leaves' intervals that a node covers, and sums of their products."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel

# Leaves v that are worked on together; their intervals and sums stay in the caches.
BLOCK = 256
# Loops over leaves v begin and end at multiples of this, the numbers in the longest vector, so that
# no leaf is left for a loop of single numbers. What they write beyond is never read.
LANES = 8
# Which side of x an interval lies on; the last is around x and has no cut that a value can cross.
BELOW, ABOVE, AROUND, WHOLE = 0, 1, 2, 3
# Columns of the table: v's interval in the lower tail, in the upper tail, and 1 / width.
LOWER, UPPER, INVERSE = 0, 2, 4
# Rounding of the probability 0 of an interval around x, when the tails are taken off 1.
ROUNDING = 2.0**-52


@kernel(inner=True)
def write_sides(begin, end, sides, x, tails, mass_below, work):
    """Write the kinds, the ends and the widths of the sides begin..end of one feature."""
    limits, kind, low, high = work.limits, work.kind, work.low, work.high
    width, inverse = work.width, work.inverse
    mass_above = 1.0 - mass_below
    for s in range(np.uint64(begin), np.uint64(end)):
        above, below = x <= limits[0, s], x > limits[1, s]
        low_tail, high_tail = tails[sides[s].low], tails[sides[s].high]
        around = not (above or below)
        a, b = (high_tail, low_tail) if above else (low_tail, high_tail)
        inside = _positive(mass_below - a) + _positive(mass_above - b)
        inside = inside if inside > ROUNDING else 0.0
        of_side = inside if around else _positive(b - a)
        whole = a == 0.0 and b == 0.0
        kind[s] = (ABOVE if above else BELOW) if not around else (WHOLE if whole else AROUND)
        low[s] = a
        high[s] = b
        width[s] = of_side
        inverse[s] = 1.0 / of_side if of_side > 0.0 else 0.0  # no leaf there is active


@kernel(inner=True)
def cover(begin, end, moves, x, work):
    """Write the probabilities of the sides begin..end of one feature, which moves or does not."""
    limits, width, covered = work.limits, work.width, work.covered
    for s in range(np.uint64(begin), np.uint64(end)):
        inside = (x > limits[0, s]) & (x <= limits[1, s])
        covered[s] = width[s] if moves else (1.0 if inside else 0.0)


@kernel(inner=True)
def fill_table(leaves, box, work, begin, end):
    """Write the intervals of the active leaves begin..end into the table.

    A tail that an interval does not touch is stored as the empty interval [1, 1]. An interval
    around x is split into its parts below and above x.
    """
    active, slot, mass_below, table = work.active, work.slot, work.mass_below, work.table
    kind, low, high, inverse = work.kind, work.low, work.high, work.inverse
    n = np.uint64(whole_lanes(end - begin))
    for j in range(len(slot)):
        if slot[j] >= 0:
            _write_untested(table, slot[j], n, mass_below[j])
    for v in range(np.uint64(end - begin)):
        leaf = leaves[active[np.uint64(begin) + v].leaf]
        for k in range(leaf.box, leaf.box_end):
            feature, side = box[k].feature, box[k].side
            if slot[feature] >= 0:
                place = np.uint64(slot[feature])
                above, below = kind[side] == ABOVE, kind[side] == BELOW
                a, b, mass = low[side], high[side], mass_below[feature]
                table[place, LOWER, v] = 1.0 if above else a
                table[place, LOWER + 1, v] = 1.0 if above else (b if below else mass)
                table[place, UPPER, v] = a if above else (1.0 if below else b)
                table[place, UPPER + 1, v] = b if above else (1.0 if below else 1.0 - mass)
                table[place, INVERSE, v] = inverse[side]


@kernel(inner=True)
def _write_untested(table, slot, n, mass_below):
    """Write the interval of leaves that do not test the feature: all values."""
    for v in range(n):
        table[slot, LOWER, v] = 0.0
        table[slot, LOWER + 1, v] = mass_below
        table[slot, UPPER, v] = 0.0
        table[slot, UPPER + 1, v] = 1.0 - mass_below
        table[slot, INVERSE, v] = 1.0


@kernel(inner=True)
def add_trees(work, begin, end):
    """Sum E[g(x') | x' in v] over the trees before v's, for the active leaves begin..end.

    The results are in row `expected_row` of the sums. At a step, share * number * row `source` is
    added to row `into`, or stands there alone if the sum is fresh.

    The loops stand in one function, because numba counts references to the arrays that another
    would be given, and index from unsigned numbers, so that they become vector instructions. A
    fresh sum has loops of its own, which do not load the row and multiply it by 0.
    """
    steps, steps_end, factors = work.steps, work.steps_end, work.factors
    active_end, table, sums = work.active_end, work.table, work.sums
    kinds, lows, highs = work.kind, work.low, work.high
    results, ones = expected_row(sums), np.uint64(len(sums) - 1)
    one, n_trees = np.uint64(1), np.uint64(len(steps_end))
    n = np.uint64(whole_lanes(end - begin) // LANES) * np.uint64(LANES)
    for v in range(n):
        sums[0, v] = 0.0
    first, start = np.uint64(0), 0
    for t in range(n_trees):
        # The sums of the leaves of this tree are complete; its steps may write beside their own.
        for i in range(max(start, begin), min(active_end[t], end)):
            sums[results, i - begin] = sums[0, i - begin]
        start = active_end[t]
        if start >= end:
            break
        own = np.uint64(max(0, start - begin) // LANES) * np.uint64(LANES)
        alone, last = False, np.uint64(steps_end[t])
        for s in range(first, last):
            step = steps[s]
            level = np.uint64(step.level)
            number, source = 1.0, level + one
            if step.leaf:
                number, source = step.gap, ones
            elif alone:
                number, source = steps[s - one].gap, ones
            # A leaf that is all there is below the next node is taken together with that.
            alone = step.leaf and step.fresh and step.level > 0
            alone = alone and step.factors == step.factors_end
            alone = alone and not steps[s + one].leaf and steps[s + one].level < step.level
            if alone:
                continue
            if step.factors == step.factors_end:
                kept = 0.0 if step.fresh else 1.0
                for v in range(own, n):
                    sums[level, v] = kept * sums[level, v] + number
            begun, end_of_factors = np.uint64(step.factors), np.uint64(step.factors_end)
            for f in range(begun, end_of_factors):
                into, fresh = level, step.fresh
                if f + one < end_of_factors:  # a product in the making, in two rows by turns
                    into, fresh = ones - one - (f & one), True
                slot, side = np.uint64(factors[f].slot), factors[f].side
                kind, low, high = kinds[side], lows[side], highs[side]
                tail = UPPER * np.uint64(kind == ABOVE)  # without a jump
                if kind == AROUND and fresh:
                    for v in range(own, n):
                        below = _rest(table[slot, LOWER, v], table[slot, LOWER + 1, v], low)
                        above = _rest(table[slot, UPPER, v], table[slot, UPPER + 1, v], high)
                        share = (below + above) * table[slot, INVERSE, v]
                        sums[into, v] = share * (number * sums[source, v])
                elif kind == AROUND:
                    for v in range(own, n):
                        below = _rest(table[slot, LOWER, v], table[slot, LOWER + 1, v], low)
                        above = _rest(table[slot, UPPER, v], table[slot, UPPER + 1, v], high)
                        share = (below + above) * table[slot, INVERSE, v]
                        sums[into, v] += share * (number * sums[source, v])
                elif fresh:
                    for v in range(own, n):
                        top = _smaller(table[slot, tail + one, v], high)
                        share = _rest(table[slot, tail, v], top, low) * table[slot, INVERSE, v]
                        sums[into, v] = share * (number * sums[source, v])
                else:
                    for v in range(own, n):
                        top = _smaller(table[slot, tail + one, v], high)
                        share = _rest(table[slot, tail, v], top, low) * table[slot, INVERSE, v]
                        sums[into, v] += share * (number * sums[source, v])
                number, source = 1.0, into
        first = last


@kernel(inner=True)
def expected_row(sums):
    """Return the row of the sums that has the results of `add_trees`."""
    return len(sums) - 4


@kernel(inner=True)
def whole_lanes(n):
    """Return the next multiple of `LANES`."""
    return (n + LANES - 1) // LANES * LANES


@kernel(inner=True)
def _rest(bottom, top, low):
    """Return how much of the interval from bottom to top lies above low."""
    return _positive(top - _larger(bottom, low))


@kernel(inner=True)
def _larger(a, b):
    return a if a > b else b


@kernel(inner=True)
def _smaller(a, b):
    return a if a < b else b


@kernel(inner=True)
def _positive(a):
    return a if a > 0.0 else 0.0
