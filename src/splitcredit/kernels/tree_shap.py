r"""Path-dependent TreeSHAP by exact quadrature, for blocks of rows at once.

The value explained is that of lundberg2017, Algorithm 1 and Eq. 2: the Shapley value of the
expectation of the tree when a set of features is known and unknown splits are averaged by cover.

For one leaf with value v whose path tests the features i, let z_i be the product of the cover
ratios of the edges that test i, and o_i = 1 if x satisfies all of them, else 0. The Shapley
weights are integrals over [0, 1], which turns the sum over subsets into

    phi_j = sum over leaves of v (o_j - z_j) * integral of prod_{i != j} f_i(t) dt,
    f_i(t) = (1 - t) z_i + t o_i.

The integrand is a polynomial of degree m - 1 for m features on the path, so Gauss-Legendre with
K = ceil(m / 2) points is exact, and all terms are sums and products of positive factors: nothing
is divided out again, which is what makes extend/unwind fail on deep trees.

One traversal of a tree serves a block of rows. At a node at depth d that tests j, with (o, z) of
j as merged above (1, 1 if j is new), s = 1 if x goes left, r the cover ratio of the left child,
h_k = t_k + (1 - t_k) z, and for each point k

    q_k = (t_k s + (1 - t_k) z r) / h_k   if o = 1,   r   if o = 0   (share of the left child)
    A_k: product of the factors above, times the weight of the point; A q_k goes left, A (1 - q_k)
         goes right
    Q_k: sum over the leaves below of v times the factors below; Q = Q_R + q_k (Q_L - Q_R)
    phi_j += o z (s - r) sum_k A_k / h_k^2 (Q_L - Q_R)

The last line covers features that repeat on a path: the two ways of writing a leaf's term, with
the factor as merged above and below the node, differ by just this amount.

Subtrees in which the output is constant are not entered. For one output of a fully grown
classifier those are the subtrees without that class: most of the forest.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numba import prange

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import lowered, readonly

# Rows in one block. Of 32 to 256, 128 and 256 are fastest and 128 takes less memory.
LANES = 128
# Plan entries built at a time: bounds memory to some 40 MB whatever the size of the forest.
CHUNK = 1 << 19

# One inner node of a tree as the traversal for one output meets it.
_ENTRY = np.dtype(
    [
        ("threshold", np.float64),
        ("ratio", np.float64),  # r: cover of the left child over that of both children
        ("z", np.float64),  # merged cover ratio of the feature above the node
        ("left_value", np.float64),  # value of a constant left subtree
        ("right_value", np.float64),
        ("feature", np.int32),
        ("left", np.int32),  # entry of the left child, -1 if constant
        ("right", np.int32),
        ("above", np.int32),  # depth of the last edge that tests the feature, -1 if none
        ("missing_left", np.bool_),
    ],
    align=True,
)


def tree_shap(forest, X, outputs=None) -> np.ndarray:
    """Path-dependent TreeSHAP for all outputs, float64 (n_samples, n_features, len(outputs)).

    Parameters
    ----------
    forest : Forest
    X : prepared rows
    outputs : sequence of int, optional
        Outputs to explain; all by default.
    """
    n, p = X.shape
    outputs = np.arange(forest.n_outputs) if outputs is None else np.asarray(outputs)
    out = np.zeros((len(outputs), n, p))
    rows = np.arange(n)
    blocks = [(c, a, min(a + LANES, n)) for c in range(len(outputs)) for a in range(0, n, LANES)]
    flat_rows = np.tile(rows, len(outputs))
    tasks = np.array([(c, c * n + a, c * n + b) for c, a, b in blocks], np.int64)
    _run(forest, X, outputs, flat_rows, tasks.reshape(-1, 3), out.reshape(-1, p))
    return _aggregated(forest, np.ascontiguousarray(out.transpose(1, 2, 0)))


def tree_shap_one(forest, X, output) -> np.ndarray:
    """Path-dependent TreeSHAP for output ``output[i]`` of row i, float64 (n_samples, n_features).

    Rows with the same output are gathered into the same blocks.
    """
    n, p = X.shape
    outputs = np.unique(output)
    rows = np.argsort(output, kind="stable")
    tasks = []
    for c, wanted in enumerate(outputs):
        start, stop = np.searchsorted(output[rows], [wanted, wanted + 1])
        tasks += [(c, a, min(a + LANES, stop)) for a in range(start, stop, LANES)]
    sorted_out = np.zeros((n, p))
    _run(forest, X, outputs, rows, np.array(tasks, np.int64).reshape(-1, 3), sorted_out)
    out = np.empty((n, p))
    out[rows] = sorted_out
    return _aggregated(forest, out)


def expected_value(forest) -> np.ndarray:
    """Prediction when no feature is known: cover-weighted mean of the leaves, (n_outputs,)."""
    mean = forest.value.copy()
    _weigh_leaves(forest.feature, forest.left, forest.right, forest.cover, mean)
    total = mean[forest.tree_offsets[:-1]].sum(axis=0)
    return forest.base + (total / forest.n_trees if forest.aggregate == "mean" else total)


def _aggregated(forest, out):
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return out


def _run(forest, X, outputs, rows, tasks, out):
    """Add the attributions of every task (output, start, stop of `rows`) to its rows of `out`.

    Trees are taken in chunks to bound memory. A block starts from what is in `out`, so that the
    sum over trees is made in one order, wherever the chunks end.
    """
    thresholds = lowered(forest).astype(np.float64)
    missing_left = forest.missing_left
    if missing_left is None:
        missing_left = readonly(np.zeros(forest.n_nodes, np.bool_))
    inner = np.concatenate([[0], np.cumsum(forest.feature >= 0)])[forest.tree_offsets]
    points, weights = _gauss_legendre(_most_points(forest))
    first = 0
    while first < forest.n_trees:
        room = (inner - inner[first])[first:]
        last = first + max(1, int(np.searchsorted(room * len(outputs), CHUNK, side="right")) - 1)
        room = room[: last - first + 1]
        plan = np.empty(room[-1] * len(outputs), _ENTRY)
        starts, depths, n_points = _plans(
            forest.feature,
            thresholds,
            forest.left,
            forest.right,
            missing_left,
            forest.value,
            forest.cover,
            forest.tree_offsets[first : last + 1],
            outputs,
            forest.n_features,
            room,
            plan,
        )
        _blocks(plan, starts, depths, n_points, points, weights, X, rows, tasks, out)
        first = last


def _most_points(forest):
    """Bound on the quadrature points that any tree needs."""
    deepest = _deepest(forest.feature, forest.left, forest.right, forest.tree_offsets)
    return (min(forest.n_features, int(deepest)) + 1) // 2


@lru_cache(maxsize=8)
def _gauss_legendre(most):
    """Points and weights on [0, 1] of the rules with 0..most points, one rule a row."""
    points = np.zeros((most + 1, max(most, 1)))
    weights = np.zeros((most + 1, max(most, 1)))
    for k in range(1, most + 1):
        x, w = np.polynomial.legendre.leggauss(k)
        points[k, :k] = (x + 1) / 2
        weights[k, :k] = w / 2
    return points, weights


@kernel()
def _weigh_leaves(feature, left, right, cover, mean):
    for k in range(len(feature) - 1, -1, -1):
        if feature[k] >= 0:
            ratio = cover[left[k]] / (cover[left[k]] + cover[right[k]])
            for c in range(mean.shape[1]):
                mean[k, c] = ratio * mean[left[k], c] + (1 - ratio) * mean[right[k], c]


@kernel()
def _deepest(feature, left, right, offsets):
    depth = np.zeros(len(feature), np.int32)
    for k in range(len(feature)):
        if feature[k] >= 0:
            depth[left[k]] = depth[k] + 1
            depth[right[k]] = depth[k] + 1
    return depth.max()


@kernel(parallel=True)
def _plans(
    feature,
    threshold,
    left,
    right,
    missing_left,
    value,
    cover,
    offsets,
    outputs,
    n_features,
    room,
    plan,
):
    """Write the entries of the traversal of each tree for each output into `plan`, in preorder.

    There is room for all inner nodes of tree t, once an output, from ``room[t] * n_outputs`` on.
    Returns the first entry of each (tree, output), -1 if the output is constant over the tree,
    the depth of the traversal, and the number of quadrature points it needs.
    """
    n_trees, n_outputs = len(offsets) - 1, len(outputs)
    starts = np.full((n_trees, n_outputs), -1, np.int64)
    depths = np.zeros((n_trees, n_outputs), np.int32)
    n_points = np.zeros((n_trees, n_outputs), np.int32)
    for t in prange(n_trees):
        base, size = offsets[t], offsets[t + 1] - offsets[t]
        constant = np.empty(size, np.bool_)
        leaf = np.empty(size)
        stack = np.empty((size + 1, 4), np.int64)  # node, depth, parent entry, side
        # The path to the current entry, by depth of the edge: feature, merged ratio, and the
        # depth of the edge above that tests the same feature; and the last edge of each feature.
        path = np.empty(size + 1, np.int32)
        merged = np.empty(size + 1)
        above = np.empty(size + 1, np.int32)
        last = np.full(n_features, -1, np.int32)
        for c in range(n_outputs):
            _mark_constant(feature, left, right, value, base, outputs[c], constant, leaf)
            if constant[0]:
                continue
            e = room[t] * n_outputs + c * (room[t + 1] - room[t])
            starts[t, c] = e
            stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, -1, 0
            top, depth, unique, most, deepest = 1, 0, 0, 0, 0
            while top > 0:
                top -= 1
                k, d, parent, side = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
                while depth > 0 and depth >= d:  # leave the edges that do not lead here
                    last[path[depth]] = above[depth]
                    unique -= above[depth] < 0
                    depth -= 1
                if d > 0:
                    j = plan[parent].feature
                    ratio = plan[parent].ratio
                    if side == 0:
                        plan[parent].left = e
                        merged[d] = plan[parent].z * ratio
                    else:
                        plan[parent].right = e
                        merged[d] = plan[parent].z * (1 - ratio)
                    path[d] = j
                    above[d] = last[j]
                    unique += last[j] < 0
                    last[j] = d
                    depth = d
                node = base + k
                a, b = left[node] - base, right[node] - base
                j = feature[node]
                plan[e].threshold = threshold[node]
                plan[e].ratio = cover[left[node]] / (cover[left[node]] + cover[right[node]])
                plan[e].z = merged[last[j]] if last[j] >= 0 else 1.0
                plan[e].feature = j
                plan[e].above = last[j]
                plan[e].missing_left = missing_left[node]
                plan[e].left = -1
                plan[e].right = -1
                plan[e].left_value = leaf[a]
                plan[e].right_value = leaf[b]
                most = max(most, unique + (last[j] < 0))
                deepest = max(deepest, d + 1)
                for child, child_side in ((b, 1), (a, 0)):
                    if not constant[child]:
                        stack[top, 0] = child
                        stack[top, 1] = d + 1
                        stack[top, 2] = e
                        stack[top, 3] = child_side
                        top += 1
                e += 1
            while depth > 0:
                last[path[depth]] = -1
                depth -= 1
            depths[t, c] = deepest
            n_points[t, c] = (most + 1) // 2
    return starts, depths, n_points


@kernel()
def _mark_constant(feature, left, right, value, base, output, constant, leaf):
    """Mark the nodes of one tree below which the output has one value, and note that value."""
    for k in range(len(constant) - 1, -1, -1):
        node = base + k
        if feature[node] < 0:
            constant[k] = True
            leaf[k] = value[node, output]
        else:
            a, b = left[node] - base, right[node] - base
            constant[k] = constant[a] and constant[b] and leaf[a] == leaf[b]
            leaf[k] = leaf[a]


@kernel(parallel=True)
def _blocks(plan, starts, depths, n_points, points, weights, X, rows, tasks, out):
    """Run every task over every tree of the plan; one task is one thread's."""
    n_trees, p = starts.shape[0], X.shape[1]
    deepest, most = depths.max() + 1, n_points.max()
    for task in prange(tasks.shape[0]):
        c, start, stop = tasks[task]
        lanes = stop - start
        x = np.empty((p, lanes))
        phi = np.empty((p, lanes))
        for lane in range(lanes):
            for j in range(p):
                x[j, lane] = X[rows[start + lane], j]
                phi[j, lane] = out[start + lane, j]
        # One row a depth, the points one after the other within it.
        factors = np.empty((deepest, most * lanes))  # A
        share = np.empty((deepest, most * lanes))  # q
        left_sum = np.empty((deepest, most * lanes))  # Q of the left child of depth d - 1
        right_sum = np.empty((deepest, most * lanes))
        inside = np.empty((deepest, lanes))  # o after the edge into depth d
        stays = np.empty((deepest, lanes))  # o before it, at the node at depth d
        goes_left = np.empty((deepest, lanes))  # s
        scale = np.empty((deepest, most))  # 1 / h^2
        entry = np.empty(deepest, np.int64)
        phase = np.empty(deepest, np.int64)
        side = np.empty(deepest, np.int64)
        total = np.empty(lanes)
        for t in range(n_trees):
            if starts[t, c] < 0:
                continue
            n = n_points[t, c]
            for k in range(n):
                factors[0, k * lanes : (k + 1) * lanes] = weights[n, k]
            d = 0
            entry[0], phase[0], side[0] = starts[t, c], 0, 0
            while d >= 0:
                node = plan[entry[d]]
                if phase[d] == 0:
                    if node.above >= 0:
                        stays[d, :] = inside[node.above]
                    else:
                        stays[d, :] = 1.0
                    _shares(
                        node,
                        n,
                        points[n],
                        x[node.feature],
                        stays[d],
                        goes_left[d],
                        share[d],
                        scale[d],
                    )
                    phase[d] = 1
                    if node.left >= 0:
                        inside[d + 1, :] = stays[d] * goes_left[d]
                        _pass_left(n * lanes, factors[d], share[d], factors[d + 1])
                        d += 1
                        entry[d], phase[d], side[d] = node.left, 0, 0
                        continue
                if phase[d] == 1:
                    phase[d] = 2
                    if node.right >= 0:
                        inside[d + 1, :] = stays[d] * (1.0 - goes_left[d])
                        _pass_right(n * lanes, factors[d], share[d], factors[d + 1])
                        d += 1
                        entry[d], phase[d], side[d] = node.right, 0, 1
                        continue
                into = left_sum[d] if side[d] == 0 else right_sum[d]
                a, q = factors[d], share[d]
                if node.left >= 0 and node.right >= 0:
                    _combine(n, scale[d], a, q, left_sum[d + 1], right_sum[d + 1], into, total)
                elif node.left >= 0:
                    _combine_left(n, scale[d], a, q, left_sum[d + 1], node.right_value, into, total)
                elif node.right >= 0:
                    _combine_right(
                        n, scale[d], a, q, node.left_value, right_sum[d + 1], into, total
                    )
                else:
                    _combine_leaves(
                        n, scale[d], a, q, node.left_value, node.right_value, into, total
                    )
                _add(node, stays[d], goes_left[d], total, phi[node.feature])
                d -= 1
        for lane in range(lanes):
            for j in range(p):
                out[start + lane, j] = phi[j, lane]


# The loops below run over lanes, with unit stride and nothing but local numbers in them, so that
# the compiler makes vector instructions of them.


@kernel()
def _shares(node, n, points, values, stays, goes_left, share, scale):
    """Fill s, q and 1 / h^2 of a node."""
    lanes = len(values)
    threshold, missing_left, z, ratio = node.threshold, node.missing_left, node.z, node.ratio
    for lane in range(lanes):
        goes_left[lane] = 1.0 if values[lane] <= threshold else 0.0
    if missing_left:
        for lane in range(lanes):
            if np.isnan(values[lane]):
                goes_left[lane] = 1.0
    for k in range(n):
        t = points[k]
        h = t + (1 - t) * z
        not_taken = (1 - t) * z * ratio / h
        taken = t / h + not_taken
        scale[k] = 1 / (h * h)
        for lane in range(lanes):
            q = taken if goes_left[lane] > 0 else not_taken
            share[k * lanes + lane] = q if stays[lane] > 0 else ratio


@kernel()
def _pass_left(size, factors, share, below):
    for i in range(size):
        below[i] = factors[i] * share[i]


@kernel()
def _pass_right(size, factors, share, below):
    for i in range(size):
        below[i] = factors[i] * (1.0 - share[i])


@kernel()
def _combine(n, scale, a, q, left, right, into, total):
    """Q of a node into `into`, and sum_k A_k / h_k^2 (Q_L - Q_R) into `total`."""
    lanes = len(total)
    total[:] = 0.0
    for k in range(n):
        factor, base = scale[k], k * lanes
        for lane in range(lanes):
            difference = left[base + lane] - right[base + lane]
            total[lane] += factor * a[base + lane] * difference
            into[base + lane] = right[base + lane] + q[base + lane] * difference


@kernel()
def _combine_left(n, scale, a, q, left, right, into, total):
    """As `_combine`; the right subtree is constant."""
    lanes = len(total)
    total[:] = 0.0
    for k in range(n):
        factor, base = scale[k], k * lanes
        for lane in range(lanes):
            difference = left[base + lane] - right
            total[lane] += factor * a[base + lane] * difference
            into[base + lane] = right + q[base + lane] * difference


@kernel()
def _combine_right(n, scale, a, q, left, right, into, total):
    """As `_combine`; the left subtree is constant."""
    lanes = len(total)
    total[:] = 0.0
    for k in range(n):
        factor, base = scale[k], k * lanes
        for lane in range(lanes):
            difference = left - right[base + lane]
            total[lane] += factor * a[base + lane] * difference
            into[base + lane] = right[base + lane] + q[base + lane] * difference


@kernel()
def _combine_leaves(n, scale, a, q, left, right, into, total):
    """As `_combine`; both subtrees are constant."""
    lanes = len(total)
    difference = left - right
    total[:] = 0.0
    for k in range(n):
        factor, base = scale[k], k * lanes
        for lane in range(lanes):
            total[lane] += factor * a[base + lane] * difference
            into[base + lane] = right + q[base + lane] * difference


@kernel()
def _add(node, stays, goes_left, total, phi):
    """phi_j += o z (s - r) times the sum over the points."""
    z, ratio = node.z, node.ratio
    for lane in range(len(total)):
        phi[lane] += stays[lane] * z * (goes_left[lane] - ratio) * total[lane]
