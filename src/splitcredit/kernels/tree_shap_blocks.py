r"""Path-dependent TreeSHAP by exact quadrature, for blocks of rows and all outputs at once.

For one leaf with value v whose path tests the features i, let z_i be the product of the cover
ratios of the edges that test i, and o_i = 1 if x satisfies all of them, else 0. The Shapley
weights are integrals over [0, 1], which turns the sum over subsets (lundberg2017, Eq. 2 with
Algorithm 1) into

    phi_j = sum over leaves of v (o_j - z_j) * integral of prod_{i != j} f_i(t) dt,
    f_i(t) = (1 - t) z_i + t o_i.

The integrand is a polynomial of degree m - 1 for m features on the path, so Gauss-Legendre with
ceil(m / 2) points or more is exact, and all terms are sums and products of positive factors:
nothing is divided out again, which is what makes extend/unwind fail on deep trees.

One traversal of a tree serves a block of rows. At a node at depth d that tests j, with (o, z) of
j as merged above (1, 1 if j is new), s = 1 if x goes to the first child, r the cover ratio of the
first child, h_k = t_k + (1 - t_k) z, and for each point k

    q_k = (t_k s + (1 - t_k) z r) / h_k   if o = 1,   r   if o = 0   (share of the first child)
    A_k: product of the factors above, times the weight of the point; A q_k goes to the first
         child, A (1 - q_k) to the second
    Q_k: sum over the leaves below of v times the factors below; Q = Q_2 + q_k (Q_1 - Q_2)
    phi_j += o z (s - r) sum_k A_k / h_k^2 (Q_1 - Q_2)

The last line covers features that repeat on a path: the two ways of writing a leaf's term, with
the factor as merged above and below the node, differ by just this amount. A is the same for all
outputs. Q is made for the outputs that vary below the node and no others: most of the cost for
classifiers with pure leaves.

Q of a first child is held on the stack of its parent's own Q and is turned into that in its place;
Q of a second child is held on the other of the two stacks.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numba import prange

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.tree_shap_plan import plans

# Rows in one block. A constant, as with it the compiler knows the distances between the arrays of
# a frame and makes vector instructions without asking whether they overlap.
LANES = 128
# Points are taken three at a time, which is as many as fit the registers.
TRIPLE = 3


def attribute(forest, outputs, X, rows, out) -> None:
    """Add the attributions of some rows of X, summed over the trees, to `out`.

    A block starts from what is in `out`, so that the sum over trees is made in one order,
    wherever the plans of the forest end.

    Parameters
    ----------
    forest : Forest
    outputs : int64 (n_explained,)
    X : prepared rows
    rows : int64 (n,)
        Rows of X to explain.
    out : float64 (n, n_features, n_explained)
    """
    any_nan = bool(np.isnan(X).any())
    for plan in plans(forest, outputs):
        _blocks(plan, triples(plan), *rules(plan), X, any_nan, rows, out)


def triples(plan) -> np.ndarray:
    """Threes of points that are exact for each tree, int64 (n_trees,)."""
    return (plan.n_features.astype(np.int64) + 2 * TRIPLE - 1) // (2 * TRIPLE)


def rules(plan) -> tuple[np.ndarray, np.ndarray]:
    """Points and weights on [0, 1] for each number of threes, a row each."""
    return _gauss_legendre(int(triples(plan).max()))


@lru_cache(maxsize=8)
def _gauss_legendre(most):
    """The rules with 0, 3, 6 ... points, one a row."""
    points = np.zeros((most + 1, max(most * TRIPLE, 1)))
    weights = np.zeros_like(points)
    for rule in range(1, most + 1):
        k = rule * TRIPLE
        x, w = np.polynomial.legendre.leggauss(k)
        points[rule, :k] = (x + 1) / 2
        weights[rule, :k] = w / 2
    return points, weights


@kernel(parallel=True)
def _blocks(plan, triples, points, weights, X, any_nan, rows, out):
    """Take every block of rows through every tree; one block is one thread's."""
    n, p, n_outputs = out.shape
    entries, terms, starts = plan.entries, plan.terms, plan.starts
    deepest, most, held = plan.depths.max() + 2, triples.max(), plan.places.max()
    for block in prange((n + LANES - 1) // LANES):
        start, stop = block * LANES, min(n, (block + 1) * LANES)
        lanes = stop - start
        x, phi = np.empty((p, lanes)), np.empty((p * n_outputs, lanes))
        for lane in range(lanes):
            for j in range(p):
                x[j, lane] = X[rows[start + lane], j]
                for c in range(n_outputs):
                    phi[j * n_outputs + c, lane] = out[start + lane, j, c]
        frames = np.empty((deepest, most, 2 * TRIPLE * LANES))  # A and q of three points
        sums = np.empty((2, held, most, TRIPLE * LANES))  # Q
        lane_data = np.zeros((3, deepest, LANES))  # o below the edge into the depth, s, o z (s - r)
        scale = np.empty((deepest, most * TRIPLE))  # 1 / h^2
        total = np.zeros((3, lanes))
        for t in range(len(triples)):
            if starts[t, 0] < starts[t + 1, 0]:
                start_tree(weights, triples[t], frames, lane_data)
                traverse(
                    entries,
                    terms,
                    starts[t, 0],
                    triples[t],
                    points,
                    any_nan,
                    n_outputs,
                    x,
                    phi,
                    frames,
                    sums,
                    lane_data,
                    scale,
                    total,
                )
        for lane in range(lanes):
            for j in range(p):
                for c in range(n_outputs):
                    out[start + lane, j, c] = phi[j * n_outputs + c, lane]


@kernel()
def start_tree(weights, rule, frames, lane_data):
    """A and o at the root."""
    lane_data[0, 0, :] = 1.0
    for k in range(rule * TRIPLE):
        at = k % TRIPLE * LANES
        frames[0, k // TRIPLE, at : at + LANES] = weights[rule, k]


@kernel()
def traverse(
    entries,
    terms,
    root,
    n_triples,
    points,
    any_nan,
    n_outputs,
    x,
    phi,
    frames,
    sums,
    lane_data,
    scale,
    total,
):
    """Take one block of rows through one tree.

    No views of arrays are made in here: numba would count references to them, at a cost greater
    than that of the arithmetic.
    """
    lanes, deepest = x.shape[1], len(frames)
    at = np.empty(deepest, np.int64)
    phase = np.empty(deepest, np.int64)
    stack = np.empty(deepest, np.int64)  # the one that Q of the entry goes to
    base = np.empty((deepest, 2), np.int64)  # heights of the stacks at arrival
    top = np.zeros(2, np.int64)
    d = 0
    at[0], phase[0], stack[0], base[0, 0], base[0, 1] = root, 0, 0, 0, 0
    while d >= 0:
        entry = entries[at[d]]
        if entry.low:
            own = stack[d]
            _low(
                entries,
                terms,
                at[d],
                d,
                x,
                any_nan,
                n_triples,
                points,
                frames,
                lane_data,
                scale,
                total,
                sums,
                own,
                top[own],
            )
            _credit_low(entries, terms, entry, d, lane_data, total, phi, n_outputs)
            top[own] += 1
            d -= 1
            continue
        if phase[d] == 0:
            _part(entry, d, x, any_nan, lane_data)
            _share(entry, d, lanes, n_triples, points, lane_data, frames, scale)
        if phase[d] < 2:
            is_first = phase[d] == 0
            phase[d] += 1
            child = entry.first if is_first else entry.second
            if child < 0:
                continue
            into = stack[d] if is_first else 1 - stack[d]
            if entry.repeats:
                _enter(entry.above, d, lanes, is_first, lane_data)
            below = entries[child]
            if below.first < 0 and below.second < 0:
                _bottom(
                    below,
                    terms,
                    d,
                    is_first,
                    x,
                    any_nan,
                    n_triples,
                    points,
                    frames,
                    lane_data,
                    scale,
                    total,
                    sums,
                    into,
                    top[into],
                )
                for i in range(below.n_terms):
                    term = terms[below.terms + i]
                    difference = term.first_value - term.second_value
                    to = below.feature * n_outputs + term.output
                    _credit(d + 1, lane_data, total, 0, difference, phi, to)
                top[into] += below.n_terms
                continue
            for g in range(n_triples):
                _pass(d, g, lanes, is_first, frames)
            d += 1
            at[d], phase[d], stack[d] = child, 0, into
            base[d, 0], base[d, 1] = top[0], top[1]
            continue
        own, other = stack[d], 1 - stack[d]
        for i in range(entry.n_terms):
            term = terms[entry.terms + i]
            for g in range(n_triples):
                _combine(
                    i < entry.n_first,
                    term,
                    d,
                    g,
                    frames,
                    scale,
                    sums,
                    own,
                    base[d, own] + i,
                    base[d, other] + term.second,
                    total,
                )
            _credit(d, lane_data, total, 0, 1.0, phi, entry.feature * n_outputs + term.output)
        top[own] = base[d, own] + entry.n_terms
        top[other] = base[d, other]
        d -= 1


@kernel(inline=True)
def _bottom(
    entry,
    terms,
    d,
    is_first,
    x,
    any_nan,
    n_triples,
    points,
    frames,
    lane_data,
    scale,
    total,
    sums,
    own,
    place,
):
    """A child of a node at depth d below which nothing varies: its A need not be stored."""
    _part(entry, d + 1, x, any_nan, lane_data)
    for g in range(n_triples):
        taken, not_taken = _constants(entry, d + 1, points, n_triples, g, scale)
        _total(d, g, is_first, frames, scale, total)
        for i in range(entry.n_terms):
            term = terms[entry.terms + i]
            v, w = term.second_value, term.first_value - term.second_value
            low = v + not_taken[0] * w, v + not_taken[1] * w, v + not_taken[2] * w
            high = v + taken[0] * w, v + taken[1] * w, v + taken[2] * w
            _value(d + 1, x.shape[1], lane_data, high, low, sums, own, place + i, g)
            if entry.above > 0:
                _outside_value(
                    entry, x.shape[1], lane_data, v + entry.ratio * w, sums, own, place + i, g
                )


@kernel(inline=True)
def _low(
    entries,
    terms,
    e,
    d,
    x,
    any_nan,
    n_triples,
    points,
    frames,
    lane_data,
    scale,
    total,
    sums,
    own,
    place,
):
    """A node with bottom nodes for children, all in one pass over the rows; see `_is_low`."""
    entry = entries[e]
    term = terms[entry.terms]
    _part(entry, d, x, any_nan, lane_data)
    _part(entries[entry.first], d + 1, x, any_nan, lane_data)
    if entry.second >= 0:
        _part(entries[entry.second], d + 2, x, any_nan, lane_data)
    for g in range(n_triples):
        taken, not_taken = _constants(entry, d, points, n_triples, g, scale)
        one = _two_sums(entries, terms, entry.first, d, points, n_triples, g, scale)
        v = term.second_value
        two = (v, v, v), (v, v, v)
        if entry.second >= 0:
            two = _two_sums(entries, terms, entry.second, d, points, n_triples, g, scale)
        _take_low(d, g, taken, not_taken, one, two, frames, lane_data, total, sums, own, place)


@kernel(inline=True)
def _two_sums(entries, terms, e, d, points, n_triples, g, scale):
    """Q of a bottom node at three points for rows that go to its first child, and for others."""
    entry = entries[e]
    term = terms[entry.terms]
    v, w = term.second_value, term.first_value - term.second_value
    (a0, a1, a2), (b0, b1, b2) = _constants(entry, d, points, n_triples, g, scale)
    return (v + a0 * w, v + a1 * w, v + a2 * w), (v + b0 * w, v + b1 * w, v + b2 * w)


@kernel(inline=True)
def _credit_low(entries, terms, entry, d, lane_data, total, phi, n_outputs):
    """Credit a node and its two children."""
    output = terms[entry.terms].output
    _credit(d, lane_data, total, 0, 1.0, phi, entry.feature * n_outputs + output)
    for child, row in ((entry.first, 1), (entry.second, 2)):
        if child >= 0:
            below = entries[child]
            term = terms[below.terms]
            difference = term.first_value - term.second_value
            to = below.feature * n_outputs + output
            _credit(d + row, lane_data, total, row, difference, phi, to)


@kernel(inline=True)
def _constants(entry, d, points, n_triples, g, scale):
    """Shares q of rows that go to the first child and of those that do not; 1 / h^2."""
    ratio, k = entry.ratio, g * TRIPLE
    t0, t1, t2 = points[n_triples, k], points[n_triples, k + 1], points[n_triples, k + 2]
    if entry.above == 0:  # then z = 1 and h = 1
        scale[d, k], scale[d, k + 1], scale[d, k + 2] = 1.0, 1.0, 1.0
        n0, n1, n2 = (1 - t0) * ratio, (1 - t1) * ratio, (1 - t2) * ratio
        return (t0 + n0, t1 + n1, t2 + n2), (n0, n1, n2)
    z = entry.z
    i0, i1, i2 = 1 / (t0 + (1 - t0) * z), 1 / (t1 + (1 - t1) * z), 1 / (t2 + (1 - t2) * z)
    scale[d, k], scale[d, k + 1], scale[d, k + 2] = i0 * i0, i1 * i1, i2 * i2
    n0, n1, n2 = (1 - t0) * z * ratio * i0, (1 - t1) * z * ratio * i1, (1 - t2) * z * ratio * i2
    return (t0 * i0 + n0, t1 * i1 + n1, t2 * i2 + n2), (n0, n1, n2)


# The loops below run over lanes, with unit stride and constant distances, so that the compiler
# makes vector instructions of them.


@kernel()
def _part(entry, d, x, any_nan, lane_data):
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


@kernel()
def _enter(above, d, lanes, is_first, lane_data):
    """Fill o below an edge."""
    for lane in range(lanes):
        s = lane_data[1, d, lane]
        lane_data[0, d + 1, lane] = lane_data[0, above, lane] * (s if is_first else 1.0 - s)


@kernel(inline=True)
def _share(entry, d, lanes, n_triples, points, lane_data, frames, scale):
    """Fill q and 1 / h^2 of a node."""
    for g in range(n_triples):
        taken, not_taken = _constants(entry, d, points, n_triples, g, scale)
        _fill_share(d, g, lanes, lane_data, taken, not_taken, frames)
        if entry.above > 0:
            _outside_share(entry, d, g, lanes, lane_data, frames)


@kernel()
def _fill_share(d, g, lanes, lane_data, high, low, frames):
    b0, b1, b2 = low
    a0, a1, a2 = high[0] - b0, high[1] - b1, high[2] - b2
    for lane in range(lanes):
        s = lane_data[1, d, lane]
        frames[d, g, 3 * LANES + lane] = b0 + s * a0
        frames[d, g, 4 * LANES + lane] = b1 + s * a1
        frames[d, g, 5 * LANES + lane] = b2 + s * a2


@kernel()
def _outside_share(entry, d, g, lanes, lane_data, frames):
    """Share q of rows that have left the node's feature above (o = 0)."""
    ratio = entry.ratio
    for lane in range(lanes):
        o = lane_data[0, entry.above, lane] > 0
        for k in range(TRIPLE, 2 * TRIPLE):
            q = frames[d, g, k * LANES + lane]
            frames[d, g, k * LANES + lane] = q if o else ratio


@kernel()
def _value(d, lanes, lane_data, high, low, sums, own, place, g):
    """Q of a bottom node: one value for rows that go to its first child, one for the others."""
    b0, b1, b2 = low
    a0, a1, a2 = high[0] - b0, high[1] - b1, high[2] - b2
    for lane in range(lanes):
        s = lane_data[1, d, lane]
        sums[own, place, g, lane] = b0 + s * a0
        sums[own, place, g, LANES + lane] = b1 + s * a1
        sums[own, place, g, 2 * LANES + lane] = b2 + s * a2


@kernel()
def _outside_value(entry, lanes, lane_data, value, sums, own, place, g):
    """Q of a bottom node for rows that have left its feature above (o = 0)."""
    for lane in range(lanes):
        o = lane_data[0, entry.above, lane] > 0
        for k in range(TRIPLE):
            q = sums[own, place, g, k * LANES + lane]
            sums[own, place, g, k * LANES + lane] = q if o else value


@kernel()
def _pass(d, g, lanes, is_first, frames):
    """A of a child."""
    for lane in range(lanes):
        q0, q1 = frames[d, g, 3 * LANES + lane], frames[d, g, 4 * LANES + lane]
        q2 = frames[d, g, 5 * LANES + lane]
        a0, a1 = frames[d, g, lane], frames[d, g, LANES + lane]
        a2 = frames[d, g, 2 * LANES + lane]
        frames[d + 1, g, lane] = a0 * (q0 if is_first else 1.0 - q0)
        frames[d + 1, g, LANES + lane] = a1 * (q1 if is_first else 1.0 - q1)
        frames[d + 1, g, 2 * LANES + lane] = a2 * (q2 if is_first else 1.0 - q2)


@kernel()
def _total(d, g, is_first, frames, scale, total):
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


@kernel()
def _take_low(d, g, taken, not_taken, one, two, frames, lane_data, total, sums, own, place):
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
        sums[own, place, g, lane] = w + q * difference
        whole, first, second = a * difference, a * q, a * (1.0 - q)
        a = frames[d, g, LANES + lane]
        q, w = b1 + s * a1, v1 + s2 * r1
        difference = u1 + s1 * p1 - w
        sums[own, place, g, LANES + lane] = w + q * difference
        whole, first, second = whole + a * difference, first + a * q, second + a * (1.0 - q)
        a = frames[d, g, 2 * LANES + lane]
        q, w = b2 + s * a2, v2 + s2 * r2
        difference = u2 + s1 * p2 - w
        sums[own, place, g, 2 * LANES + lane] = w + q * difference
        whole, first, second = whole + a * difference, first + a * q, second + a * (1.0 - q)
        total[0, lane] = keep * total[0, lane] + whole
        total[1, lane] = keep * total[1, lane] + first
        total[2, lane] = keep * total[2, lane] + second


@kernel(inline=True)
def _combine(in_first, term, d, g, frames, scale, sums, own, place, other_place, total):
    """Q of a node in the place of that of its first child; sum of A / h^2 (Q_1 - Q_2)."""
    k = g * TRIPLE
    c0, c1, c2 = scale[d, k], scale[d, k + 1], scale[d, k + 2]
    if in_first and term.second >= 0:
        _combine_both(d, g, frames, c0, c1, c2, sums, own, place, 1 - own, other_place, total)
    elif in_first:
        _combine_first(d, g, frames, c0, c1, c2, sums, own, place, term.second_value, total)
    elif term.second >= 0:
        _combine_second(
            d,
            g,
            frames,
            c0,
            c1,
            c2,
            sums,
            own,
            place,
            term.first_value,
            1 - own,
            other_place,
            total,
        )
    else:
        _combine_none(
            d, g, frames, c0, c1, c2, sums, own, place, term.first_value, term.second_value, total
        )


@kernel()
def _combine_both(d, g, frames, c0, c1, c2, sums, own, place, other, second, total):
    keep = 0.0 if g == 0 else 1.0
    for lane in range(total.shape[1]):
        v0, v1 = sums[other, second, g, lane], sums[other, second, g, LANES + lane]
        v2 = sums[other, second, g, 2 * LANES + lane]
        d0, d1 = sums[own, place, g, lane] - v0, sums[own, place, g, LANES + lane] - v1
        d2 = sums[own, place, g, 2 * LANES + lane] - v2
        part = c0 * frames[d, g, lane] * d0 + c1 * frames[d, g, LANES + lane] * d1
        part += c2 * frames[d, g, 2 * LANES + lane] * d2
        sums[own, place, g, lane] = v0 + frames[d, g, 3 * LANES + lane] * d0
        sums[own, place, g, LANES + lane] = v1 + frames[d, g, 4 * LANES + lane] * d1
        sums[own, place, g, 2 * LANES + lane] = v2 + frames[d, g, 5 * LANES + lane] * d2
        total[0, lane] = keep * total[0, lane] + part


@kernel()
def _combine_first(d, g, frames, c0, c1, c2, sums, own, place, v, total):
    keep = 0.0 if g == 0 else 1.0
    for lane in range(total.shape[1]):
        d0, d1 = sums[own, place, g, lane] - v, sums[own, place, g, LANES + lane] - v
        d2 = sums[own, place, g, 2 * LANES + lane] - v
        part = c0 * frames[d, g, lane] * d0 + c1 * frames[d, g, LANES + lane] * d1
        part += c2 * frames[d, g, 2 * LANES + lane] * d2
        sums[own, place, g, lane] = v + frames[d, g, 3 * LANES + lane] * d0
        sums[own, place, g, LANES + lane] = v + frames[d, g, 4 * LANES + lane] * d1
        sums[own, place, g, 2 * LANES + lane] = v + frames[d, g, 5 * LANES + lane] * d2
        total[0, lane] = keep * total[0, lane] + part


@kernel()
def _combine_second(d, g, frames, c0, c1, c2, sums, own, place, u, other, second, total):
    keep = 0.0 if g == 0 else 1.0
    for lane in range(total.shape[1]):
        v0, v1 = sums[other, second, g, lane], sums[other, second, g, LANES + lane]
        v2 = sums[other, second, g, 2 * LANES + lane]
        d0, d1, d2 = u - v0, u - v1, u - v2
        part = c0 * frames[d, g, lane] * d0 + c1 * frames[d, g, LANES + lane] * d1
        part += c2 * frames[d, g, 2 * LANES + lane] * d2
        sums[own, place, g, lane] = v0 + frames[d, g, 3 * LANES + lane] * d0
        sums[own, place, g, LANES + lane] = v1 + frames[d, g, 4 * LANES + lane] * d1
        sums[own, place, g, 2 * LANES + lane] = v2 + frames[d, g, 5 * LANES + lane] * d2
        total[0, lane] = keep * total[0, lane] + part


@kernel()
def _combine_none(d, g, frames, c0, c1, c2, sums, own, place, u, v, total):
    w = u - v
    keep = 0.0 if g == 0 else 1.0
    for lane in range(total.shape[1]):
        part = c0 * frames[d, g, lane] + c1 * frames[d, g, LANES + lane]
        part += c2 * frames[d, g, 2 * LANES + lane]
        sums[own, place, g, lane] = v + frames[d, g, 3 * LANES + lane] * w
        sums[own, place, g, LANES + lane] = v + frames[d, g, 4 * LANES + lane] * w
        sums[own, place, g, 2 * LANES + lane] = v + frames[d, g, 5 * LANES + lane] * w
        total[0, lane] = keep * total[0, lane] + part * w


@kernel()
def _credit(d, lane_data, total, row, factor, phi, to):
    """phi_j += o z (s - r) times the sum over the points."""
    for lane in range(total.shape[1]):
        phi[to, lane] += lane_data[2, d, lane] * total[row, lane] * factor
