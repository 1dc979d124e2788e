"""Path-dependent TreeSHAP where each tree explains only its in-bag or its out-of-bag rows.

The rows of a tree are gathered from a span of rows that is one thread's, so the work is that of the
rows explained, and the sum over the trees is made in their order.
"""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import n_blocks, readonly
from splitcredit.kernels.tree_shap.blocks import LANES, padded, quadratures, traverse, workspace
from splitcredit.kernels.tree_shap.explain import skip_dependent_output
from splitcredit.kernels.tree_shap.transposed import take_rows

# Rows of one thread at a time: of so many, out-of-bag rows fill a block or more.
SPAN = 512


def oob_tree_shap(forest, X, outputs, inbag) -> np.ndarray:
    """Compute TreeSHAP by the trees with, or without, a row in their bag; see `saabas`."""
    X = readonly(np.array(X, np.float64))  # one type for the compiled code
    return skip_dependent_output(forest, outputs, lambda some: _mean(forest, X, some, inbag))


def _mean(forest, X, outputs, inbag):
    """Average over all trees, (n_samples, n_features, n_explained)."""
    out = np.zeros((len(X), forest.n_features, len(outputs)))
    any_nan = bool(np.isnan(X).any())
    for of_trees in quadratures(forest, outputs):
        layout = of_trees.layout
        counts = forest.inbag[layout.first : layout.first + len(layout.starts) - 1]
        _spans(n_blocks(len(X), SPAN), of_trees, X, any_nan, counts, inbag, out)
    return out / forest.n_trees


@kernel(parallel=True)
def _spans(first, last, of_trees, X, any_nan, counts, inbag, out):
    """Take the rows of every span that a tree explains through that tree, a block at a time."""
    layout, extents, triples, points, weights = of_trees
    n, p, n_outputs = out.shape
    entries, terms, starts = layout.entries, layout.terms, layout.starts
    space, rows = workspace(extents), np.empty(SPAN, np.int64)
    for span in range(first, last):
        for t in range(len(triples)):
            if starts[t, 0] == starts[t + 1, 0]:
                continue
            n_rows = 0
            for i in range(span * SPAN, min(n, (span + 1) * SPAN)):
                if (counts[t, i] > 0) == inbag:
                    rows[n_rows] = i
                    n_rows += 1
            for start in range(0, n_rows, LANES):
                some = min(LANES, n_rows - start)
                lanes = padded(some)
                x, phi = np.zeros((X.shape[1], lanes)), np.zeros((p * n_outputs, lanes))
                take_rows(X, rows, start, some, x)
                tree = starts[t, 0], triples[t], n_outputs, lanes
                traverse(entries, terms, tree, points, weights, any_nan, x, phi, space)
                for lane in range(some):
                    for j in range(p):
                        for c in range(n_outputs):
                            out[rows[start + lane], j, c] += phi[j * n_outputs + c, lane]
