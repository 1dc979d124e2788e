"""Saabas' method: the change of the node's prediction along each row's path."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import (
    BLOCK,
    as_readonly,
    cached_per_forest,
    credited,
    n_blocks,
    packed_nodes,
    readonly,
    step,
)
from splitcredit.kernels.walks.path_sums import changes, path_sums

_ALL = readonly(np.ones((0, 0), np.bool_))


def saabas(forest, X, outputs=None) -> np.ndarray:
    """Compute Saabas attributions (Saabas 2014), (n_samples, n_features, len(outputs))."""
    credit = credits(forest)
    if outputs is not None:
        credit = readonly(np.ascontiguousarray(credit[:, outputs]))
    if credit.shape[1] == 1:  # A loop over outputs would cost much of a step.
        return _aggregated(forest, path_sums(forest, credit[:, 0], X)[:, :, None])
    return _aggregated(forest, _sums(forest, credit, X, _ALL))


def oob_saabas(forest, X, outputs, inbag) -> np.ndarray:
    """Compute Saabas attributions by the trees with a row in their bag, or without it.

    The others give 0, and the mean is over all trees: float64 (n_samples, n_features, n_explained).
    """
    credit = readonly(np.ascontiguousarray(credits(forest)[:, outputs]))
    chosen = readonly((forest.inbag > 0) == inbag)
    return credited(forest, _sums(forest, credit, X, chosen) / forest.n_trees)


def saabas_one(forest, X, output) -> np.ndarray:
    """Compute Saabas attributions for output ``output[i]`` of row i, (n_samples, n_features).

    Rows with the same output are taken together: what they read of a tree stays in the caches.
    """
    out = np.empty(X.shape)
    for c in np.unique(output):
        rows = np.flatnonzero(output == c)
        out[rows] = path_sums(forest, _by_output(forest)[c], *as_readonly(X[rows]))
    return _aggregated(forest, out)


@cached_per_forest
def credits(forest) -> np.ndarray:
    """Return the change of each output at the step to each node, float64 (n_nodes, n_outputs)."""
    return changes(forest, forest.value)


@cached_per_forest
def _by_output(forest):
    """Return `credits` output by output, float64 (n_outputs, n_nodes)."""
    return readonly(np.ascontiguousarray(credits(forest).T))


def baseline(forest) -> np.ndarray:
    """Aggregate the values at the roots over the trees, (n_outputs,)."""
    total = forest.value[forest.tree_offsets[:-1]].sum(axis=0)
    return forest.base + (total / forest.n_trees if forest.aggregate == "mean" else total)


def _aggregated(forest, out):
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return credited(forest, out)


def _sums(forest, credit, X, chosen):
    """Sum over the trees that are chosen for a row, bool (n_trees, n_samples), or over all."""
    out = np.zeros((*X.shape, credit.shape[1]))
    _add_steps(n_blocks(len(X)), *packed_nodes(forest), credit, chosen, X, out)
    return out


@kernel(parallel=True)
def _add_steps(first, last, nodes, roots, missing_left, credit, chosen, X, out):
    n, n_outputs, takes_all = len(X), credit.shape[1], len(chosen) == 0
    at, rows = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
    for block in range(first, last):
        for t in range(len(roots)):
            active = 0
            if roots[t] < len(nodes):
                for i in range(block * BLOCK, min(n, block * BLOCK + BLOCK)):
                    if takes_all or chosen[t, i]:
                        at[active], rows[active] = roots[t], i
                        active += 1
            while active > 0:
                going = 0
                for a in range(np.uint64(active)):
                    i, j, child = step(X, nodes, missing_left, at, rows, a)
                    to = np.uint64(child)
                    for c in range(n_outputs):
                        out[i, j, c] += credit[to, c]
                    at[going], rows[going] = child, i
                    going += child < len(nodes)
                active = going
