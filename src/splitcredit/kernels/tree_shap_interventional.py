"""Interventional TreeSHAP: the Shapley values of f(x_S, z_-S), averaged over a background of z.

One leaf with value v and one pair (x, z) make a game of their own. Let a features on the path to
the leaf be such that x goes towards the leaf at all nodes that test them and z does not, and b
such that only z does. If some feature fails both, no mixture of x and z reaches the leaf. Otherwise
a mixture reaches it if S holds all of the a and none of the b, and the Shapley values of that are

    v (a - 1)! b! / (a + b)!      for each of the a,
    -v a! (b - 1)! / (a + b)!     for each of the b, and 0 for all others

(Lundberg et al. 2020; proof by Laberge and Pequignot 2022). The leaves that mixtures reach are
found by one walk that forks where x and z part on a feature that has not parted them before.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import child_of, goes_left, once_a_forest, packed, reordered

# Rows in one block; few, since each is walked with the whole background.
BLOCK = 8


def tree_shap_interventional(forest, X, outputs, background) -> np.ndarray:
    """Interventional TreeSHAP, float64 (n_samples, n_features, len(outputs)).

    Parameters
    ----------
    forest : Forest
    X, background : prepared rows; the background has at least one
    outputs : int64 (k,)
        Outputs to explain.
    """
    return _run(forest, X, background, np.tile(outputs, (len(X), 1)))


def tree_shap_interventional_one(forest, X, output, background) -> np.ndarray:
    """Interventional TreeSHAP for output ``output[i]`` of row i, (n_samples, n_features)."""
    return _run(forest, X, background, output[:, None])[:, :, 0]


def _run(forest, X, background, outputs):
    outputs = np.ascontiguousarray(outputs, np.int64)
    weights = _weights(min(forest.n_features, _depth(forest)))
    out = _blocks(*_nodes(forest), reordered(forest), X, background, outputs, weights)
    out /= len(background)
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return out


_nodes = once_a_forest(packed)


def _depth(forest):
    """Most splits on any path."""
    level, depth = forest.tree_offsets[:-1], 0
    while (inner := level[forest.feature[level] >= 0]).size:
        level, depth = np.concatenate([forest.left[inner], forest.right[inner]]), depth + 1
    return depth


def _weights(most):
    """(a - 1)! b! / (a + b)! at [a, b]; 0 at a = 0. By ratios, as the factorials overflow."""
    weights = np.zeros((most + 1, most + 1))
    weights[1:, 0] = 1 / np.arange(1, most + 1)
    for b in range(1, most + 1):
        weights[1:, b] = weights[1:, b - 1] * (b / np.arange(b + 1, b + most + 1))
    return weights


@kernel(parallel=True)
def _blocks(nodes, roots, missing_left, value, X, background, outputs, weights):
    """Sums over trees and background rows, in this one order for every row."""
    n, p = X.shape
    out = np.zeros((n, p, outputs.shape[1]))
    most = weights.shape[0]
    for block in prange((n + BLOCK - 1) // BLOCK):
        only = np.zeros(p, np.int8)  # who goes on towards the leaf: 1 only x, 2 only z, 0 both
        of_x = np.empty(most, np.int32)  # the features with 1, in the order of the path
        of_z = np.empty(most, np.int32)
        forks = np.empty((most, 4), np.int32)  # child of z, feature, and a and b above
        for root in roots:
            for i in range(block * BLOCK, min(n, block * BLOCK + BLOCK)):
                for z in range(len(background)):
                    x, phi = X[i], out[i]
                    k, a, b, n_forks = root, 0, 0, 0
                    while True:
                        k, a, n_forks = _to_leaf(
                            nodes,
                            missing_left,
                            k,
                            x,
                            background[z],
                            a,
                            b,
                            n_forks,
                            only,
                            of_x,
                            forks,
                        )
                        _credit(value[k], outputs[i], a, b, weights, of_x, of_z, phi)
                        if n_forks == 0:
                            break
                        n_forks -= 1
                        k, a, b = _back(forks[n_forks], a, b, only, of_x, of_z)
                    only[of_x[:a]] = 0
                    only[of_z[:b]] = 0
    return out


@kernel()
def _to_leaf(nodes, missing_left, k, x, z, a, b, n_forks, only, of_x, forks):
    """Go from node k to a leaf with x, or with z where only z goes on; note the forks."""
    while k < len(nodes):
        j = nodes[k].feature
        ahead = z[j] if only[j] == 2 else x[j]
        child = child_of(nodes, k, goes_left(ahead, nodes, missing_left, k))
        if only[j] == 0:
            of_other = child_of(nodes, k, goes_left(z[j], nodes, missing_left, k))
            if child != of_other:
                forks[n_forks, 0], forks[n_forks, 1] = of_other, j
                forks[n_forks, 2], forks[n_forks, 3] = a, b
                n_forks += 1
                only[j] = 1
                of_x[a] = j
                a += 1
        k = child
    return k, a, n_forks


@kernel()
def _credit(value, outputs, a, b, weights, of_x, of_z, phi):
    """Share the value of a leaf among the features that part x and z on the way to it."""
    to_x, to_z = weights[a, b], weights[b, a]
    for s in range(a):
        for c in range(len(outputs)):
            phi[of_x[s], c] += to_x * value[outputs[c]]
    for s in range(b):
        for c in range(len(outputs)):
            phi[of_z[s], c] -= to_z * value[outputs[c]]


@kernel()
def _back(fork, a, b, only, of_x, of_z):
    """Return to the last fork and take the way of z: its child, and a and b below it."""
    only[of_x[fork[2] : a]] = 0
    only[of_z[fork[3] : b]] = 0
    only[fork[1]] = 2
    of_z[fork[3]] = fork[1]
    return fork[0], fork[2], fork[3] + 1
