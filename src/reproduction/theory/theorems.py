"""Both sides of the theorems of sutera2021 on one distribution, by enumeration.

The statements are numbered as in the project's list of claims.
"""

from __future__ import annotations

from math import log

import numpy as np

from reproduction.theory.distributions import (
    JointDistribution,
    local_mdi_totally_randomized,
    mdi_totally_randomized,
)
from reproduction.theory.games import (
    information_game,
    local_game,
    loss_game,
    prediction_game,
    shapley_values,
)
from reproduction.theory.impurities import IMPURITIES
from reproduction.theory.multiway import MultiwayForest
from reproduction.theory.relevance import locally_relevant, relevant, strongly_relevant

# A local MDI below minus this is negative; rounding alone stays far above.
NEGATIVE = 1e-12


def cases(joint: JointDistribution) -> list[tuple]:
    """What every statement says of one distribution.

    Returns
    -------
    list of (statement, quantity, impurity, values)
        Differences of what should be equal, or what the quantity says; the impurity is "any" where
        none is needed. All inputs of positive probability are taken, and every K.
    """
    X, _ = joint.support()
    relevances = relevant(joint), np.array([locally_relevant(joint, x) for x in X])
    found = _without_impurity(joint, X, *relevances)
    for impurity in IMPURITIES:
        rows = _with_impurity(joint, impurity, *relevances)
        found += [(statement, quantity, impurity, values) for statement, quantity, values in rows]
    return found


def sage_less_mdi(joint: JointDistribution) -> np.ndarray:
    """Shapley values of `loss_game`, converted from nats to bits, less Eq. 4, (p,)."""
    sage = shapley_values(joint.n_features, loss_game(joint))
    return sage / log(2) - mdi_totally_randomized(joint)


def _without_impurity(joint, X, globally, locally):
    """Statements 6, 13 and 14."""
    p, forest = joint.n_features, MultiwayForest(joint, 1)
    saabas = [forest.saabas(x) - shapley_values(p, prediction_game(joint, x)) for x in X]
    return [
        ("s06", "disagreements", "any", globally != locally.any(axis=0)),
        ("s06", "relevant, yet irrelevant at some x", "any", globally & ~locally.all(axis=0)),
        ("s13", "SAGE / ln 2 - Eq. 4, random", "entropy", sage_less_mdi(joint)),
        ("s14", "Saabas - Shapley value, random", "any", np.array(saabas)),
    ]


def _with_impurity(joint, impurity, globally, locally):
    """Statements 1 to 3, 5, 7 to 9, 11 and 12."""
    p = joint.n_features
    X, p_x = joint.support()
    v = information_game(joint, impurity)
    games = [local_game(joint, x, impurity) for x in X]
    total, total_of_x = v(range(p)), np.array([game(range(p)) for game in games])
    mdi = mdi_totally_randomized(joint, impurity)
    local = np.array([local_mdi_totally_randomized(joint, x, impurity) for x in X])
    forests = [MultiwayForest(joint, k, impurity) for k in range(1, p + 1)]
    mdi_k = np.array([forest.mdi() for forest in forests])
    local_k = np.array([[forest.local_mdi(x) for x in X] for forest in forests])
    shapley_of_x = np.array([shapley_values(p, game) for game in games])
    found = [
        ("s01", "Eq. 4 - Shapley value", mdi - shapley_values(p, v)),
        ("s01", "infinite forest - Eq. 4", mdi_k[0] - mdi),
        ("s02", "sum - I(Y;V)", mdi.sum() - total),
        ("s03", "Eq. 10 - Shapley value", local - shapley_of_x),
        ("s03", "infinite forest - Eq. 10", local_k[0] - local),
        ("s05", "Eq. 11", p_x @ local - mdi),
        ("s05", "Eq. 12", (p_x @ local).sum() - total),
        ("s07", "local MDI where locally irrelevant", local[~locally]),
        ("s09", "sum - I(Y;V), every K", mdi_k.sum(axis=1) - total),
        ("s09", "sum - v_loc(V;x), every K", local_k.sum(axis=2) - total_of_x),
        ("s09", "MDI of null players, every K", mdi_k[:, ~globally]),
        ("s09", "local MDI of local null players, every K", local_k[:, ~locally]),
        ("s12", "share of negative cells", local < -NEGATIVE),
    ]
    if impurity == "variance":
        # It does not see an input that leaves mean and variance of Y alone: see `equal_moments`.
        return found
    strong = strongly_relevant(joint)
    return [
        *found,
        ("s08", "largest local MDI of a relevant input", np.abs(local).max(axis=0)[globally]),
        ("s11", "MDI of a strongly relevant input, every K", mdi_k[:, strong]),
    ]
