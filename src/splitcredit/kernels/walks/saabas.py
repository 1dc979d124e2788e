"""Saabas' method: the change of the node's prediction along each row's path."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import (
    BLOCK,
    as_readonly,
    cached_per_forest,
    child_of,
    credited,
    enter,
    goes_left,
    n_blocks,
    packed_nodes,
    readonly,
)
from splitcredit.kernels.walks.steps import changes, sums_of_steps


def saabas(forest, X, outputs=None) -> np.ndarray:
    """Saabas attributions, float64 (n_samples, n_features, len(outputs)); all outputs by default.

    Saabas (2014), the "path" method of lundberg2017: node t on the path that tests X_m gives m
    the amount value(t_x) - value(t), where t_x is the child that x goes to.
    """
    credit = credits(forest)
    if outputs is not None:
        credit = readonly(np.ascontiguousarray(credit[:, outputs]))
    if credit.shape[1] == 1:  # A loop over outputs would cost much of a step.
        return _aggregated(forest, sums_of_steps(forest, credit[:, 0], X)[:, :, None])
    out = np.zeros((*X.shape, credit.shape[1]))
    _saabas(n_blocks(len(X)), *packed_nodes(forest), credit, X, out)
    return _aggregated(forest, out)


def saabas_one(forest, X, output) -> np.ndarray:
    """Saabas attributions for output ``output[i]`` of row i, float64 (n_samples, n_features).

    Rows with the same output are taken together: what they read of a tree stays in the caches.
    """
    order = np.argsort(output, kind="stable")
    by_output, out = np.zeros(X.shape), np.empty(X.shape)
    arrays = as_readonly(X[order], output[order])
    _saabas_one(n_blocks(len(X)), *packed_nodes(forest), _by_output(forest), *arrays, by_output)
    out[order] = by_output
    return _aggregated(forest, out)


@cached_per_forest
def credits(forest) -> np.ndarray:
    """What the step to each node is worth for each output, float64 (n_nodes, n_outputs)."""
    return changes(forest, forest.value)


@cached_per_forest
def _by_output(forest):
    """What `credits` gives, output by output, float64 (n_outputs, n_nodes)."""
    return readonly(np.ascontiguousarray(credits(forest).T))


def baseline(forest) -> np.ndarray:
    """Values at the roots, averaged or summed over the trees, (n_outputs,)."""
    total = forest.value[forest.tree_offsets[:-1]].sum(axis=0)
    return forest.base + (total / forest.n_trees if forest.aggregate == "mean" else total)


def _aggregated(forest, out):
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return credited(forest, out)


@kernel(parallel=True)
def _saabas(first, last, nodes, roots, missing_left, credit, X, out):
    n, n_outputs = len(X), credit.shape[1]
    at, rows = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
    for block in range(first, last):
        start, stop = block * BLOCK, min(n, block * BLOCK + BLOCK)
        for t in range(len(roots)):
            active = enter(nodes, roots[t], start, stop, at, rows)
            while active > 0:
                going = 0
                for a in range(np.uint64(active)):
                    i, k = np.uint64(rows[a]), np.uint64(at[a])
                    j = np.uint64(nodes[k].feature)
                    left = goes_left(X[i, j], nodes, missing_left, k)
                    child = np.uint64(child_of(nodes, k, left))
                    for c in range(n_outputs):
                        out[i, j, c] += credit[child, c]
                    at[going], rows[going] = child, i
                    going += child < len(nodes)
                active = going


@kernel(parallel=True)
def _saabas_one(first, last, nodes, roots, missing_left, credit, X, output, out):
    n = len(X)
    at, rows = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
    for block in range(first, last):
        start, stop = block * BLOCK, min(n, block * BLOCK + BLOCK)
        for t in range(len(roots)):
            active = enter(nodes, roots[t], start, stop, at, rows)
            while active > 0:
                going = 0
                for a in range(np.uint64(active)):
                    i, k = np.uint64(rows[a]), np.uint64(at[a])
                    j, c = np.uint64(nodes[k].feature), np.uint64(output[i])
                    left = goes_left(X[i, j], nodes, missing_left, k)
                    child = np.uint64(child_of(nodes, k, left))
                    out[i, j] += credit[c, child]
                    at[going], rows[going] = child, i
                    going += child < len(nodes)
                active = going
