"""The arithmetic of `blocks`: loops over the rows of a block, three points at a time.

Each frame holds A of three points and then q of the same points, each for all lanes. In
``lane_data`` stand, for each depth, o below the edge into it, s, and o z (s - r).
"""

from __future__ import annotations

from splitcredit.kernels.compiled import kernel

# Rows in one block. A constant, as with it the compiler knows the distances between the arrays of
# a frame and makes vector instructions without asking whether they overlap.
LANES = 128
# Points are taken three at a time, which is as many as fit the registers.
TRIPLE = 3


@kernel(inline=True)
def compute_shares(entry, d, points, n_triples, g, scale):
    """Shares q of rows that go to the first child and of those that do not; 1 / h^2."""
    k = g * TRIPLE
    t0, t1, t2 = points[n_triples, k], points[n_triples, k + 1], points[n_triples, k + 2]
    taken, not_taken, s = _shares(entry.above == 0, entry.z, entry.ratio, t0, t1, t2)
    scale[d, k], scale[d, k + 1], scale[d, k + 2] = s
    return taken, not_taken


@kernel(inner=True)
def _shares(new, z, ratio, t0, t1, t2):
    """Shares and 1 / h^2 at three points; a function of numbers, which costs its callers little."""
    if new:  # then z = 1 and h = 1
        n0, n1, n2 = (1 - t0) * ratio, (1 - t1) * ratio, (1 - t2) * ratio
        return (t0 + n0, t1 + n1, t2 + n2), (n0, n1, n2), (1.0, 1.0, 1.0)
    i0, i1, i2 = 1 / (t0 + (1 - t0) * z), 1 / (t1 + (1 - t1) * z), 1 / (t2 + (1 - t2) * z)
    n0, n1, n2 = (1 - t0) * z * ratio * i0, (1 - t1) * z * ratio * i1, (1 - t2) * z * ratio * i2
    taken = t0 * i0 + n0, t1 * i1 + n1, t2 * i2 + n2
    return taken, (n0, n1, n2), (i0 * i0, i1 * i1, i2 * i2)


# The loops below run over lanes, with unit stride and constant distances, so that the compiler
# makes vector instructions of them.


@kernel(inner=True)
def split_rows(entry, d, x, any_nan, lane_data):
    """Fill s and o z (s - r)."""
    threshold, z, ratio, j, above = entry.threshold, entry.z, entry.ratio, entry.column, entry.above
    left = 0.0 if entry.first_is_right else 1.0
    right = 1.0 - left
    for lane in range(x.shape[1]):
        first = left if x[j, lane] <= threshold else right
        lane_data[1, d, lane] = first
        lane_data[2, d, lane] = lane_data[0, above, lane] * z * (first - ratio)
    if any_nan and entry.missing_left:
        for lane in range(x.shape[1]):
            if x[j, lane] != x[j, lane]:
                lane_data[1, d, lane] = left
                lane_data[2, d, lane] = lane_data[0, above, lane] * z * (left - ratio)


@kernel(inner=True)
def enter_edge(above, d, lanes, is_first, lane_data):
    """Fill o below an edge."""
    for lane in range(lanes):
        s = lane_data[1, d, lane]
        lane_data[0, d + 1, lane] = lane_data[0, above, lane] * (s if is_first else 1.0 - s)


@kernel(inline=True)
def fill_shares(entry, d, lanes, n_triples, points, lane_data, frames, scale):
    """Fill q and 1 / h^2 of a node."""
    for g in range(n_triples):
        taken, not_taken = compute_shares(entry, d, points, n_triples, g, scale)
        _write_shares(d, g, lanes, lane_data, taken, not_taken, frames)
        if entry.above > 0:
            _write_outside_shares(entry, d, g, lanes, lane_data, frames)


@kernel(inner=True)
def _write_shares(d, g, lanes, lane_data, high, low, frames):
    """Share q of rows that go to the first child and of the others, while o = 1."""
    b0, b1, b2 = low
    a0, a1, a2 = high[0] - b0, high[1] - b1, high[2] - b2
    for lane in range(lanes):
        s = lane_data[1, d, lane]
        frames[d, g, 3 * LANES + lane] = b0 + s * a0
        frames[d, g, 4 * LANES + lane] = b1 + s * a1
        frames[d, g, 5 * LANES + lane] = b2 + s * a2


@kernel(inner=True)
def _write_outside_shares(entry, d, g, lanes, lane_data, frames):
    """Share q of rows that have left the node's feature above (o = 0)."""
    ratio = entry.ratio
    for lane in range(lanes):
        o = lane_data[0, entry.above, lane] > 0
        for k in range(TRIPLE, 2 * TRIPLE):
            q = frames[d, g, k * LANES + lane]
            frames[d, g, k * LANES + lane] = q if o else ratio


@kernel(inner=True)
def evaluate_bottom(d, lanes, lane_data, high, low, sums, stack, place, g):
    """Q of a bottom node: one value for rows that go to its first child, one for the others."""
    b0, b1, b2 = low
    a0, a1, a2 = high[0] - b0, high[1] - b1, high[2] - b2
    for lane in range(lanes):
        s = lane_data[1, d, lane]
        sums[stack, place, g, lane] = b0 + s * a0
        sums[stack, place, g, LANES + lane] = b1 + s * a1
        sums[stack, place, g, 2 * LANES + lane] = b2 + s * a2


@kernel(inner=True)
def evaluate_bottom_outside(entry, lanes, lane_data, value, sums, stack, place, g):
    """Q of a bottom node for rows that have left its feature above (o = 0)."""
    for lane in range(lanes):
        o = lane_data[0, entry.above, lane] > 0
        for k in range(TRIPLE):
            q = sums[stack, place, g, k * LANES + lane]
            sums[stack, place, g, k * LANES + lane] = q if o else value


@kernel(inner=True)
def pass_weights(d, g, lanes, is_first, frames):
    """A of a child."""
    for lane in range(lanes):
        q0, q1 = frames[d, g, 3 * LANES + lane], frames[d, g, 4 * LANES + lane]
        q2 = frames[d, g, 5 * LANES + lane]
        a0, a1 = frames[d, g, lane], frames[d, g, LANES + lane]
        a2 = frames[d, g, 2 * LANES + lane]
        frames[d + 1, g, lane] = a0 * (q0 if is_first else 1.0 - q0)
        frames[d + 1, g, LANES + lane] = a1 * (q1 if is_first else 1.0 - q1)
        frames[d + 1, g, 2 * LANES + lane] = a2 * (q2 if is_first else 1.0 - q2)


@kernel(inner=True)
def add_child_weights(d, g, is_first, frames, scale, total):
    """Sum over three points of A / h^2 of a child, from A and q of its parent at depth d."""
    k = g * TRIPLE
    c0, c1, c2 = scale[d + 1, k], scale[d + 1, k + 1], scale[d + 1, k + 2]
    keep = 0.0 if g == 0 else 1.0
    for lane in range(total.shape[1]):
        q0, q1 = frames[d, g, 3 * LANES + lane], frames[d, g, 4 * LANES + lane]
        q2 = frames[d, g, 5 * LANES + lane]
        part = c0 * (frames[d, g, lane] * (q0 if is_first else 1.0 - q0))
        part += c1 * (frames[d, g, LANES + lane] * (q1 if is_first else 1.0 - q1))
        part += c2 * (frames[d, g, 2 * LANES + lane] * (q2 if is_first else 1.0 - q2))
        total[0, lane] = keep * total[0, lane] + part


@kernel(inner=True)
def evaluate_low(d, g, taken, not_taken, one, two, frames, lane_data, total, sums, stack, place):
    """Q of a low node, and the sums over three points of A (Q_1 - Q_2) for it, A of its children.

    No feature is tested twice, so z = 1 and h = 1 for all three nodes.
    """
    b0, b1, b2 = not_taken
    a0, a1, a2 = taken[0] - b0, taken[1] - b1, taken[2] - b2
    (p0, p1, p2), (u0, u1, u2) = one
    p0, p1, p2 = p0 - u0, p1 - u1, p2 - u2
    (r0, r1, r2), (v0, v1, v2) = two
    r0, r1, r2 = r0 - v0, r1 - v1, r2 - v2
    keep = 0.0 if g == 0 else 1.0
    for lane in range(total.shape[1]):
        s, s1, s2 = lane_data[1, d, lane], lane_data[1, d + 1, lane], lane_data[1, d + 2, lane]
        a = frames[d, g, lane]
        q, w = b0 + s * a0, v0 + s2 * r0
        difference = u0 + s1 * p0 - w
        sums[stack, place, g, lane] = w + q * difference
        whole, first, second = a * difference, a * q, a * (1.0 - q)
        a = frames[d, g, LANES + lane]
        q, w = b1 + s * a1, v1 + s2 * r1
        difference = u1 + s1 * p1 - w
        sums[stack, place, g, LANES + lane] = w + q * difference
        whole, first, second = whole + a * difference, first + a * q, second + a * (1.0 - q)
        a = frames[d, g, 2 * LANES + lane]
        q, w = b2 + s * a2, v2 + s2 * r2
        difference = u2 + s1 * p2 - w
        sums[stack, place, g, 2 * LANES + lane] = w + q * difference
        whole, first, second = whole + a * difference, first + a * q, second + a * (1.0 - q)
        total[0, lane] = keep * total[0, lane] + whole
        total[1, lane] = keep * total[1, lane] + first
        total[2, lane] = keep * total[2, lane] + second


@kernel(inline=True)
def merge_children(in_first, term, d, g, frames, scale, sums, stack, place, other_place, total):
    """Q of a node in the place of that of its first child; sum of A / h^2 (Q_1 - Q_2)."""
    k = g * TRIPLE
    c0, c1, c2 = scale[d, k], scale[d, k + 1], scale[d, k + 2]
    if in_first and term.second >= 0:
        _merge_both(d, g, frames, c0, c1, c2, sums, stack, place, 1 - stack, other_place, total)
    elif in_first:
        _merge_first(d, g, frames, c0, c1, c2, sums, stack, place, term.second_value, total)
    elif term.second >= 0:
        _merge_second(
            d,
            g,
            frames,
            c0,
            c1,
            c2,
            sums,
            stack,
            place,
            term.first_value,
            1 - stack,
            other_place,
            total,
        )
    else:
        _merge_constants(
            d, g, frames, c0, c1, c2, sums, stack, place, term.first_value, term.second_value, total
        )


@kernel(inner=True)
def _merge_both(d, g, frames, c0, c1, c2, sums, stack, place, other, second, total):
    keep = 0.0 if g == 0 else 1.0
    for lane in range(total.shape[1]):
        v0, v1 = sums[other, second, g, lane], sums[other, second, g, LANES + lane]
        v2 = sums[other, second, g, 2 * LANES + lane]
        d0, d1 = sums[stack, place, g, lane] - v0, sums[stack, place, g, LANES + lane] - v1
        d2 = sums[stack, place, g, 2 * LANES + lane] - v2
        part = c0 * frames[d, g, lane] * d0 + c1 * frames[d, g, LANES + lane] * d1
        part += c2 * frames[d, g, 2 * LANES + lane] * d2
        sums[stack, place, g, lane] = v0 + frames[d, g, 3 * LANES + lane] * d0
        sums[stack, place, g, LANES + lane] = v1 + frames[d, g, 4 * LANES + lane] * d1
        sums[stack, place, g, 2 * LANES + lane] = v2 + frames[d, g, 5 * LANES + lane] * d2
        total[0, lane] = keep * total[0, lane] + part


@kernel(inner=True)
def _merge_first(d, g, frames, c0, c1, c2, sums, stack, place, v, total):
    keep = 0.0 if g == 0 else 1.0
    for lane in range(total.shape[1]):
        d0, d1 = sums[stack, place, g, lane] - v, sums[stack, place, g, LANES + lane] - v
        d2 = sums[stack, place, g, 2 * LANES + lane] - v
        part = c0 * frames[d, g, lane] * d0 + c1 * frames[d, g, LANES + lane] * d1
        part += c2 * frames[d, g, 2 * LANES + lane] * d2
        sums[stack, place, g, lane] = v + frames[d, g, 3 * LANES + lane] * d0
        sums[stack, place, g, LANES + lane] = v + frames[d, g, 4 * LANES + lane] * d1
        sums[stack, place, g, 2 * LANES + lane] = v + frames[d, g, 5 * LANES + lane] * d2
        total[0, lane] = keep * total[0, lane] + part


@kernel(inner=True)
def _merge_second(d, g, frames, c0, c1, c2, sums, stack, place, u, other, second, total):
    keep = 0.0 if g == 0 else 1.0
    for lane in range(total.shape[1]):
        v0, v1 = sums[other, second, g, lane], sums[other, second, g, LANES + lane]
        v2 = sums[other, second, g, 2 * LANES + lane]
        d0, d1, d2 = u - v0, u - v1, u - v2
        part = c0 * frames[d, g, lane] * d0 + c1 * frames[d, g, LANES + lane] * d1
        part += c2 * frames[d, g, 2 * LANES + lane] * d2
        sums[stack, place, g, lane] = v0 + frames[d, g, 3 * LANES + lane] * d0
        sums[stack, place, g, LANES + lane] = v1 + frames[d, g, 4 * LANES + lane] * d1
        sums[stack, place, g, 2 * LANES + lane] = v2 + frames[d, g, 5 * LANES + lane] * d2
        total[0, lane] = keep * total[0, lane] + part


@kernel(inner=True)
def _merge_constants(d, g, frames, c0, c1, c2, sums, stack, place, u, v, total):
    w = u - v
    keep = 0.0 if g == 0 else 1.0
    for lane in range(total.shape[1]):
        part = c0 * frames[d, g, lane] + c1 * frames[d, g, LANES + lane]
        part += c2 * frames[d, g, 2 * LANES + lane]
        sums[stack, place, g, lane] = v + frames[d, g, 3 * LANES + lane] * w
        sums[stack, place, g, LANES + lane] = v + frames[d, g, 4 * LANES + lane] * w
        sums[stack, place, g, 2 * LANES + lane] = v + frames[d, g, 5 * LANES + lane] * w
        total[0, lane] = keep * total[0, lane] + part * w


@kernel(inner=True)
def credit_feature(d, lane_data, total, row, factor, phi, to):
    """phi_j += o z (s - r) times the sum over the points."""
    for lane in range(total.shape[1]):
        phi[to, lane] += lane_data[2, d, lane] * total[row, lane] * factor
