"""Shapley interaction values: the choice of the algorithm, and the matrix of all pairs."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.interactions import leaf_games, pair_blocks, pair_tables
from splitcredit.kernels.interactions.sets import present_sets, table_of
from splitcredit.kernels.tree_shap.explain import skip_dependent_output


def interaction_index(forest, X, outputs, sets, background=None) -> np.ndarray:
    """Compute the Shapley interaction index of sets, (n_samples, n_sets, len(outputs))."""
    table = table_of(sets, forest.n_features)

    def explain(some):
        if background is None and sets.shape[1] == 2:
            return pair_blocks.pair_index(forest, X, some, table, len(sets), False, False)
        return leaf_games.interaction_index(forest, X, some, table, sets, background)

    return skip_dependent_output(forest, outputs, explain)


def interaction_matrix(forest, X, outputs, background=None) -> np.ndarray:
    """Compute half the index of each pair, and the main effects on the diagonal."""
    pairs, table = present_sets(forest, 2)
    p, n_pairs = forest.n_features, len(pairs)
    features = np.arange(p)[:, None]

    def explain(some):
        if background is None and pair_tables.pays(forest):
            return pair_tables.pair_index(forest, X, some, pairs)
        if background is None:
            return pair_blocks.pair_index(forest, X, some, table, n_pairs, True, True)
        tables = (table, pairs), (table_of(features, p), features)
        both = [leaf_games.interaction_index(forest, X, some, *t, background) for t in tables]
        return np.concatenate(both, axis=1)

    index = skip_dependent_output(forest, outputs, explain)
    matrix = np.zeros((len(X), p, p, len(outputs)))
    _fill_matrix(len(X), pairs, index, matrix)
    return matrix


@kernel(parallel=True)
def _fill_matrix(first, last, pairs, index, matrix):
    p, n_outputs = matrix.shape[2:]
    n_pairs = len(pairs)
    for row in range(first, last):
        for j in range(p):
            for c in range(n_outputs):
                matrix[row, j, j, c] = index[row, n_pairs + j, c]
        for i in range(n_pairs):
            j, k = pairs[i, 0], pairs[i, 1]
            for c in range(n_outputs):
                half = index[row, i, c] / 2
                matrix[row, j, k, c] = half
                matrix[row, k, j, c] = half
                matrix[row, j, j, c] -= half
                matrix[row, k, k, c] -= half
