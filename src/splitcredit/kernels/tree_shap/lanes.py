"""Do the arithmetic of `blocks`: loops over the rows of a block, three points at a time.

Each frame holds A of three points, each for all lanes. In ``lane_data`` stand, for each depth, o
below the edge into it, s, and o z (s - r). In ``shares`` stand, for each depth and point, 1 / h^2
and the two values that q has where o = 1. Each loop chooses among them and r anew by s and o: that
takes less time than to keep q of each lane, which would fill the caches.
"""

from __future__ import annotations

from splitcredit.kernels.compiled import kernel

# Most rows in one block. A constant, as with it the compiler knows the distances between the arrays
# of a frame. With fewer rows, the work once a node weighs more; with more, nothing is gained.
LANES = 256
# From the numbers of a point to those of the next: apart from those of others in the caches, where
# arrays a power of two apart get into each other's way.
STRIDE = LANES + 40
# Numbers in the widest vector of today's processors.
WIDTH = 8
# Points are taken three at a time, which is as many as fit the registers.
TRIPLE = 3


@kernel(inner=True)
def compute_shares(entry, points, n_triples, g):
    """Compute q of rows that go to the first child and of those that do not, and 1 / h^2."""
    k = g * TRIPLE
    t0, t1, t2 = points[n_triples, k], points[n_triples, k + 1], points[n_triples, k + 2]
    return _shares(entry.above == 0, entry.z, entry.ratio, t0, t1, t2)


@kernel(inner=True)
def _shares(new, z, ratio, t0, t1, t2):
    """Return q and 1 / h^2 at three points; a function of numbers, which is cheap to call."""
    if new:  # then z = 1 and h = 1
        n0, n1, n2 = (1 - t0) * ratio, (1 - t1) * ratio, (1 - t2) * ratio
        return (t0 + n0, t1 + n1, t2 + n2), (n0, n1, n2), (1.0, 1.0, 1.0)
    i0, i1, i2 = 1 / (t0 + (1 - t0) * z), 1 / (t1 + (1 - t1) * z), 1 / (t2 + (1 - t2) * z)
    n0, n1, n2 = (1 - t0) * z * ratio * i0, (1 - t1) * z * ratio * i1, (1 - t2) * z * ratio * i2
    taken = t0 * i0 + n0, t1 * i1 + n1, t2 * i2 + n2
    return taken, (n0, n1, n2), (i0 * i0, i1 * i1, i2 * i2)


# The loops below run over lanes, with unit stride and constant distances, so that the compiler
# makes vector instructions of them.
# They all write out how shares are loaded and chosen: as functions of their own, these steps make
# a block of rows a sixth slower.
# They take arrays one by one: given in tuples, blocks of boosted trees took a tenth longer. Numbers
# in tuples cost nothing: `where` has the depth, the three of points and the lanes, `own` and
# `others` a stack and a place on it.
# A loop that reads one part of an array and writes another takes the array as two arguments. So the
# compiler knows that the parts are apart, and need not ask in each call.


@kernel(inner=True)
def split_rows(entry, d, lanes, x, any_nan, lane_data, inside):
    """Fill s and o z (s - r)."""
    threshold, z, ratio, j, above = entry.threshold, entry.z, entry.ratio, entry.column, entry.above
    left = 0.0 if entry.first_is_right else 1.0
    right = 1.0 - left
    for lane in range(lanes):
        first = left if x[j, lane] <= threshold else right
        lane_data[1, d, lane] = first
        lane_data[2, d, lane] = inside[0, above, lane] * z * (first - ratio)
    if any_nan and entry.missing_left:
        for lane in range(lanes):
            if x[j, lane] != x[j, lane]:
                lane_data[1, d, lane] = left
                lane_data[2, d, lane] = inside[0, above, lane] * z * (left - ratio)


@kernel(inner=True)
def enter_edge(above, d, lanes, is_first, lane_data, inside):
    """Fill o below an edge."""
    for lane in range(lanes):
        s = inside[1, d, lane]
        lane_data[0, d + 1, lane] = inside[0, above, lane] * (s if is_first else 1.0 - s)


@kernel(inner=True)
def fill_shares(entry, d, n_triples, points, shares):
    """Fill 1 / h^2 of a node, and q of rows that go to its first child and of the others."""
    for g in range(n_triples):
        taken, not_taken, scale = compute_shares(entry, points, n_triples, g)
        for k in range(TRIPLE):
            at, low = g * TRIPLE + k, not_taken[k]
            shares[0, d, at] = scale[k]
            # The bytes that low + s (taken - low) has in other loops, and in `rows`.
            shares[1, d, at] = low + (taken[k] - low)
            shares[2, d, at] = low


@kernel(inner=True)
def evaluate_bottom(above, where, values, lane_data, sums, own):
    """Compute Q of a bottom node for rows that go first, the others, and those with o = 0."""
    (d, g, lanes), (stack, place), (high, low, outside) = where, own, values
    b0, b1, b2 = low
    a0, a1, a2 = high[0] - b0, high[1] - b1, high[2] - b2
    for lane in range(lanes):
        s, o = lane_data[1, d, lane], lane_data[0, above, lane] > 0
        sums[stack, place, g, lane] = b0 + s * a0 if o else outside
        sums[stack, place, g, STRIDE + lane] = b1 + s * a1 if o else outside
        sums[stack, place, g, 2 * STRIDE + lane] = b2 + s * a2 if o else outside


@kernel(inner=True)
def pass_weights(entry, where, is_first, shares, lane_data, frames, below):
    """Compute A of a child."""
    d, g, lanes = where
    k, ratio, above = g * TRIPLE, entry.ratio, entry.above
    h0, h1, h2 = shares[1, d, k], shares[1, d, k + 1], shares[1, d, k + 2]
    l0, l1, l2 = shares[2, d, k], shares[2, d, k + 1], shares[2, d, k + 2]
    if not is_first:
        h0, h1, h2 = 1.0 - h0, 1.0 - h1, 1.0 - h2
        l0, l1, l2, ratio = 1.0 - l0, 1.0 - l1, 1.0 - l2, 1.0 - ratio
    for lane in range(lanes):
        s, o = lane_data[1, d, lane] > 0, lane_data[0, above, lane] > 0
        q0 = (h0 if s else l0) if o else ratio
        q1 = (h1 if s else l1) if o else ratio
        q2 = (h2 if s else l2) if o else ratio
        below[d + 1, g, lane] = frames[d, g, lane] * q0
        below[d + 1, g, STRIDE + lane] = frames[d, g, STRIDE + lane] * q1
        below[d + 1, g, 2 * STRIDE + lane] = frames[d, g, 2 * STRIDE + lane] * q2


@kernel(inner=True)
def add_child_weights(entry, where, is_first, frames, shares, lane_data, total):
    """Sum A / h^2 of a child over three points, from A and q of its parent at depth d."""
    d, g, lanes = where
    k, ratio, above = g * TRIPLE, entry.ratio, entry.above
    h0, h1, h2 = shares[1, d, k], shares[1, d, k + 1], shares[1, d, k + 2]
    l0, l1, l2 = shares[2, d, k], shares[2, d, k + 1], shares[2, d, k + 2]
    if not is_first:
        h0, h1, h2 = 1.0 - h0, 1.0 - h1, 1.0 - h2
        l0, l1, l2, ratio = 1.0 - l0, 1.0 - l1, 1.0 - l2, 1.0 - ratio
    c0, c1, c2 = shares[0, d + 1, k], shares[0, d + 1, k + 1], shares[0, d + 1, k + 2]
    keep = 0.0 if g == 0 else 1.0
    for lane in range(lanes):
        s, o = lane_data[1, d, lane] > 0, lane_data[0, above, lane] > 0
        q0 = (h0 if s else l0) if o else ratio
        q1 = (h1 if s else l1) if o else ratio
        q2 = (h2 if s else l2) if o else ratio
        part = c0 * (frames[d, g, lane] * q0)
        part += c1 * (frames[d, g, STRIDE + lane] * q1)
        part += c2 * (frames[d, g, 2 * STRIDE + lane] * q2)
        total[lane] = keep * total[lane] + part


@kernel(inner=True)
def fill(n_triples, lanes, value, sums, own):
    """Compute Q where the output is constant."""
    stack, place = own
    for g in range(n_triples):
        for lane in range(lanes):
            sums[stack, place, g, lane] = value
            sums[stack, place, g, STRIDE + lane] = value
            sums[stack, place, g, 2 * STRIDE + lane] = value


@kernel(inner=True)
def merge_both(entry, where, frames, shares, lane_data, sums, own, below, others, total):
    """Replace Q of the first child by Q of the node; sum A / h^2 (Q_1 - Q_2)."""
    (d, g, lanes), (stack, place), (other, second) = where, own, others
    k, ratio, above = g * TRIPLE, entry.ratio, entry.above
    h0, h1, h2 = shares[1, d, k], shares[1, d, k + 1], shares[1, d, k + 2]
    l0, l1, l2 = shares[2, d, k], shares[2, d, k + 1], shares[2, d, k + 2]
    c0, c1, c2 = shares[0, d, k], shares[0, d, k + 1], shares[0, d, k + 2]
    keep = 0.0 if g == 0 else 1.0
    for lane in range(lanes):
        s, o = lane_data[1, d, lane] > 0, lane_data[0, above, lane] > 0
        q0 = (h0 if s else l0) if o else ratio
        q1 = (h1 if s else l1) if o else ratio
        q2 = (h2 if s else l2) if o else ratio
        v0, v1 = below[other, second, g, lane], below[other, second, g, STRIDE + lane]
        v2 = below[other, second, g, 2 * STRIDE + lane]
        d0, d1 = sums[stack, place, g, lane] - v0, sums[stack, place, g, STRIDE + lane] - v1
        d2 = sums[stack, place, g, 2 * STRIDE + lane] - v2
        part = c0 * frames[d, g, lane] * d0 + c1 * frames[d, g, STRIDE + lane] * d1
        part += c2 * frames[d, g, 2 * STRIDE + lane] * d2
        sums[stack, place, g, lane] = v0 + q0 * d0
        sums[stack, place, g, STRIDE + lane] = v1 + q1 * d1
        sums[stack, place, g, 2 * STRIDE + lane] = v2 + q2 * d2
        total[lane] = keep * total[lane] + part


@kernel(inner=True)
def merge_first(entry, where, frames, shares, lane_data, sums, own, v, total):
    """Do the same as `merge_both`, where Q of the second child is a constant."""
    (d, g, lanes), (stack, place) = where, own
    k, ratio, above = g * TRIPLE, entry.ratio, entry.above
    h0, h1, h2 = shares[1, d, k], shares[1, d, k + 1], shares[1, d, k + 2]
    l0, l1, l2 = shares[2, d, k], shares[2, d, k + 1], shares[2, d, k + 2]
    c0, c1, c2 = shares[0, d, k], shares[0, d, k + 1], shares[0, d, k + 2]
    keep = 0.0 if g == 0 else 1.0
    for lane in range(lanes):
        s, o = lane_data[1, d, lane] > 0, lane_data[0, above, lane] > 0
        q0 = (h0 if s else l0) if o else ratio
        q1 = (h1 if s else l1) if o else ratio
        q2 = (h2 if s else l2) if o else ratio
        d0, d1 = sums[stack, place, g, lane] - v, sums[stack, place, g, STRIDE + lane] - v
        d2 = sums[stack, place, g, 2 * STRIDE + lane] - v
        part = c0 * frames[d, g, lane] * d0 + c1 * frames[d, g, STRIDE + lane] * d1
        part += c2 * frames[d, g, 2 * STRIDE + lane] * d2
        sums[stack, place, g, lane] = v + q0 * d0
        sums[stack, place, g, STRIDE + lane] = v + q1 * d1
        sums[stack, place, g, 2 * STRIDE + lane] = v + q2 * d2
        total[lane] = keep * total[lane] + part


@kernel(inner=True)
def credit_feature(d, lanes, lane_data, total, factor, phi, to):
    """Add o z (s - r), times the sum over the points, to phi_j."""
    for lane in range(lanes):
        phi[to, lane] += lane_data[2, d, lane] * total[lane] * factor
