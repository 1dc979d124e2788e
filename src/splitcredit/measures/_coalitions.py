"""Compute Shapley values of functions of several sums of trees, by coalitions or permutations.

The probabilities of several classes are the softmax of their scores. Attributions of the scores
cannot be rescaled to those of a probability, as they can for a single score, so the game itself is
played: v(S) is the mean over the background rows z of the probability, or of the loss, at
``(x_S, z_-S)``.
"""

from __future__ import annotations

from math import comb

import numpy as np
from scipy.special import log_softmax, softmax

from splitcredit.kernels.nodes import owners
from splitcredit.kernels.walks import predict
from splitcredit.kernels.walks.background_masks import BackgroundMasks
from splitcredit.rows.tables import check_whole

# Features tested by splits up to which all coalitions are played: 1024.
EXACT = 10
# Permutations of a row by default, with the reverse of each.
PERMUTATIONS = 128
# Numbers in the arrays of some rows: 64 MB.
_NUMBERS = 1 << 23


def shapley_values(worth) -> np.ndarray:
    """Turn the worth of coalitions by their bits, (2**p, ...), into Shapley values, (p, ...)."""
    coalitions, p = np.arange(len(worth)), len(worth).bit_length() - 1
    sizes = np.array([bin(c).count("1") for c in coalitions])
    weight = np.array([1 / (p * comb(p - 1, size)) for size in range(p)])
    values = np.empty((p, *worth.shape[1:]))
    for j in range(p):
        without = coalitions[(coalitions >> j & 1) == 0]
        gain = worth[without | 1 << j] - worth[without]
        values[j] = np.tensordot(weight[sizes[without]], gain, 1)
    return values


def explain_scores(forest, X, background, curve, y, n_permutations, random_state) -> tuple:
    """Return values, standard errors, baseline and number of permutations (0: exact)."""
    check_whole("random_state", random_state)
    scores = predict.predict(forest, background)
    if curve == "probability":
        baseline = softmax(scores, axis=1).mean(axis=0)
    else:
        baseline = -log_softmax(scores, axis=1).mean(axis=0)[y][:, None]
    masks = BackgroundMasks(forest, X, background, curve, y)
    tested = np.unique(forest.feature[forest.feature >= 0])
    is_exact = n_permutations is None and len(tested) <= EXACT
    if is_exact:
        n_permutations, n_games = 0, 2 ** len(tested)
    else:
        n_permutations = PERMUTATIONS if n_permutations is None else n_permutations
        check_whole("n_permutations", n_permutations, 4)
        n_games = (forest.n_features + 1) * n_permutations
        ranks = _ranking(forest.n_features, n_permutations, random_state)
    values = np.zeros((len(X), forest.n_features, masks.n_outputs))
    error = np.zeros(values.shape)
    step = max(1, _NUMBERS // (n_games * masks.n_outputs))
    for start in range(0, len(X), step):
        rows = np.arange(start, min(start + step, len(X)))
        if is_exact:
            values[rows[:, None], tested] = _by_coalitions(forest, masks, rows, tested)
        else:
            values[rows], error[rows] = _by_permutations(forest, masks, rows, ranks)
    return values, error, baseline, 0 if is_exact else len(ranks)


def _ranking(n_features, n_permutations, random_state):
    """Return the place of each feature in permutations, each followed by its reverse."""
    rng, n_pairs = np.random.default_rng(random_state), -(-n_permutations // 2)
    ranks = rng.permuted(np.tile(np.arange(n_features), (n_pairs, 1)), axis=1)
    return np.stack([ranks, n_features - 1 - ranks], axis=1).reshape(-1, n_features)


def _by_permutations(forest, masks, rows, ranks):
    """Average the gains; errors are over pairs of a permutation and its reverse."""
    n_pairs, n_orders = len(ranks) // 2, len(ranks)
    of_columns = np.tile(ranks[:, owners(forest)], (len(rows), 1))
    worth = masks.along(np.repeat(rows, n_orders), of_columns)
    gains = np.diff(worth.reshape(len(rows), n_orders, *worth.shape[1:]), axis=2)
    by_feature = np.take_along_axis(gains, ranks[None, :, :, None], axis=2)
    pairs = by_feature.reshape(len(rows), n_pairs, 2, *gains.shape[2:]).mean(axis=2)
    return pairs.mean(axis=1), pairs.std(axis=1, ddof=1) / np.sqrt(n_pairs)


def _by_coalitions(forest, masks, rows, tested):
    """Compute exact values of the tested features, (n_rows, n_tested, n_outputs)."""
    coalitions = np.arange(2 ** len(tested))
    known = np.zeros((len(coalitions), forest.n_features), np.bool_)
    known[:, tested] = coalitions[:, None] >> np.arange(len(tested)) & 1
    of_columns = np.tile(known[:, owners(forest)], (len(rows), 1))
    worth = masks.means(np.repeat(rows, len(coalitions)), of_columns)
    worth = worth.reshape(len(rows), len(coalitions), -1).swapaxes(0, 1)
    return shapley_values(worth).swapaxes(0, 1)
