"""Path-dependent TreeSHAP where each tree speaks for its in-bag or its out-of-bag rows only.

The traversal is that of `tree_shap_blocks`. The rows of a tree are gathered from a span of rows
that is one thread's, so the work is that of the rows explained, and the sum over the trees is made
in their order.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.tree_shap import adds_up
from splitcredit.kernels.tree_shap_blocks import LANES, TRIPLE, rules, start_tree, traverse, triples
from splitcredit.kernels.tree_shap_plan import CHUNK, nodes_of, plan_of

# Rows of one thread at a time: of so many, out-of-bag rows fill a block or more.
SPAN = 512


def tree_shap_by_bag(forest, X, outputs, inbag) -> np.ndarray:
    """TreeSHAP attributions, zero where a row is not of the kind, mean over all trees.

    Parameters
    ----------
    forest : Forest
        With `inbag`.
    X : prepared training rows
    outputs : int64 (n_explained,)
    inbag : bool
        Whether trees speak for the rows drawn for them (each once), or for the others.

    Returns
    -------
    float64 (n_samples, n_features, n_explained)
    """
    if len(outputs) == forest.n_outputs > 1 and adds_up(forest):
        # What the outputs are credited with adds up to nothing: one of them need not be explained.
        most = _summed(forest, X, outputs[:-1], inbag) / forest.n_trees
        return np.concatenate([most, -most.sum(axis=2, keepdims=True)], axis=2)
    return _summed(forest, X, outputs, inbag) / forest.n_trees


def _summed(forest, X, outputs, inbag):
    """Sum over the trees, (n_samples, n_features, n_explained)."""
    out = np.zeros((len(X), forest.n_features, len(outputs)))
    any_nan = bool(np.isnan(X).any())
    for first, plan in _plans(forest, outputs):
        counts = forest.inbag[first : first + len(plan.starts) - 1]
        _spans(plan, triples(plan), *rules(plan), X, any_nan, counts, inbag, out)
    return out


def _plans(forest, outputs):
    """First tree and plan of each chunk of trees in which something varies."""
    nodes, offsets, first = nodes_of(forest), forest.tree_offsets, 0
    while first < forest.n_trees:
        room = (offsets[first:] - offsets[first]) * len(outputs)
        last = first + max(1, int(np.searchsorted(room, CHUNK, side="right")) - 1)
        plan = plan_of(nodes, forest.value, offsets[first : last + 1], outputs, forest.n_features)
        if len(plan.entries):
            yield first, plan
        first = last


@kernel(parallel=True)
def _spans(plan, triples, points, weights, X, any_nan, counts, inbag, out):
    """Take the rows of every span that a tree speaks for through that tree, a block at a time."""
    n, p, n_outputs = out.shape
    entries, terms, starts = plan.entries, plan.terms, plan.starts
    deepest, most, held = plan.depths.max() + 2, triples.max(), plan.places.max()
    for span in prange((n + SPAN - 1) // SPAN):
        frames = np.empty((deepest, most, 2 * TRIPLE * LANES))
        sums = np.empty((2, held, most, TRIPLE * LANES))
        lane_data = np.zeros((3, deepest, LANES))
        scale = np.empty((deepest, most * TRIPLE))
        rows = np.empty(SPAN, np.int64)
        for t in range(len(triples)):
            if starts[t, 0] == starts[t + 1, 0]:
                continue
            n_rows = 0
            for i in range(span * SPAN, min(n, (span + 1) * SPAN)):
                if (counts[t, i] > 0) == inbag:
                    rows[n_rows] = i
                    n_rows += 1
            for start in range(0, n_rows, LANES):
                lanes = min(LANES, n_rows - start)
                x, phi = np.empty((p, lanes)), np.zeros((p * n_outputs, lanes))
                total = np.zeros((3, lanes))
                for lane in range(lanes):
                    for j in range(p):
                        x[j, lane] = X[rows[start + lane], j]
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
                            out[rows[start + lane], j, c] += phi[j * n_outputs + c, lane]
