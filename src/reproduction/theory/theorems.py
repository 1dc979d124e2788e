"""Both sides of the theorems of sutera2021 on one distribution, by enumeration.

The statements are numbered as in the project's list of claims.
"""

from collections.abc import Iterator
from itertools import combinations
from math import log

import numpy as np

from reproduction.theory.distributions import (
    IMPURITIES,
    JointDistribution,
    local_mdi_totally_randomized,
    mdi_totally_randomized,
    others,
)
from reproduction.theory.games import (
    information_game,
    local_game,
    loss_game,
    prediction_game,
    shapley_values,
)
from reproduction.theory.multiway import BinaryForest, MultiwayForest
from reproduction.theory.relevance import (
    EQUAL,
    cumulative_change,
    locally_relevant,
    relevant,
    strongly_relevant,
)

# A local MDI below minus this is negative; rounding alone stays far above.
NEGATIVE = 1e-12


def cases(joint: JointDistribution) -> list[tuple]:
    """The quantities of every statement on one distribution.

    Each is (statement, quantity, impurity, values). Values are differences of what should be equal,
    or what the quantity names, for all inputs of positive probability and every K.
    """
    X, _ = joint.support()
    relevances = relevant(joint), np.array([locally_relevant(joint, x) for x in X])
    quantities = _without_impurity(joint, X, *relevances)
    for impurity in IMPURITIES:
        rows = _with_impurity(joint, impurity, *relevances)
        quantities += [(statement, name, impurity, values) for statement, name, values in rows]
    return quantities


def sage_less_mdi(joint: JointDistribution) -> np.ndarray:
    """Shapley values of `loss_game`, converted from nats to bits, less Eq. 4, (p,)."""
    sage = shapley_values(joint.n_features, loss_game(joint))
    return sage / log(2) - mdi_totally_randomized(joint)


def axioms(symmetric, pairs) -> Iterator[tuple]:
    """Quantities of symmetry and strong monotonicity of MDI with K = 1, globally and locally."""
    for joint in symmetric:
        p, forest = joint.n_features, MultiwayForest(joint, 1)
        mdi, v = forest.mdi(), information_game(joint)
        yield "s27", "v of symmetric inputs", "entropy", _asymmetry(p, v)
        yield "s27", "MDI of symmetric inputs", "entropy", mdi[0] - mdi[1]
        for x in joint.support()[0]:
            if x[1] == (x[0] + 1) % joint.cardinalities[1]:
                mdi, v = forest.local_mdi(x), local_game(joint, x)
                yield "s28", "v_loc of symmetric inputs", "entropy", _asymmetry(p, v)
                yield "s28", "local MDI of symmetric inputs", "entropy", mdi[0] - mdi[1]
    for first, second in pairs:
        p = first.n_features
        forests = [MultiwayForest(joint, 1) for joint in (first, second)]
        games = [information_game(joint) for joint in (first, second)]
        yield "s29", "lead in MDI", "entropy", _leads(p, games, [f.mdi() for f in forests])
        for x in first.support()[0]:
            games = [local_game(joint, x) for joint in (first, second)]
            leads = _leads(p, games, [f.local_mdi(x) for f in forests])
            yield "s30", "lead in local MDI", "entropy", leads


def _contributions(p, v):
    """Marginal contributions of every player, and each player's alone: (all,), p of (2^(p-1),)."""
    by_player = [
        np.array([v(tuple(sorted((*s, m)))) - v(s) for s in others(p, m)]) for m in range(p)
    ]
    return np.concatenate(by_player), by_player


def _asymmetry(p, v):
    """Largest difference that it makes to a coalition whether X_1 or X_2 joins it."""
    coalitions = [s for k in range(p - 1) for s in combinations(range(2, p), k)]
    return max(abs(v((0, *s)) - v((1, *s))) for s in coalitions)


def _leads(p, games, importances):
    """Importance in the game to which an input contributes more, less that in the other."""
    leads = []
    first, second = (_contributions(p, v)[1] for v in games)
    for m in range(p):
        lead = importances[0][m] - importances[1][m]
        if (first[m] >= second[m]).all():
            leads.append(lead)
        elif (first[m] <= second[m]).all():
            leads.append(-lead)
    return np.array(leads)


def _without_impurity(joint, X, globally, locally):
    """Statements 6, 13, 14, 34 and 45."""
    p, forest = joint.n_features, MultiwayForest(joint, 1)
    saabas = [forest.saabas(x) - shapley_values(p, prediction_game(joint, x)) for x in X]
    alone, all_inputs = (cumulative_change(joint, word) > EQUAL for word in (False, True))
    quantities = [
        ("s06", "disagreements", "any", globally != locally.any(axis=0)),
        ("s06", "relevant, yet irrelevant at some x", "any", globally & ~locally.all(axis=0)),
        ("s13", "SAGE / ln 2 - Eq. 4, random", "entropy", sage_less_mdi(joint)),
        ("s14", "Saabas - Shapley value, random", "any", np.array(saabas)),
        ("s45", "disagreements, X_m <= x_m and B = x_B", "any", globally != alone),
        ("s45", "disagreements, X_m <= x_m and B <= x_B", "any", globally != all_inputs),
    ]
    if strongly_relevant(joint).all():
        # One split fewer than it takes: on each path there is an input left that tells more.
        total = information_game(joint)(range(p))
        sums = [MultiwayForest(joint, k, depth=p - 1).mdi().sum() for k in range(2, p + 1)]
        quantity = "I(Y;V) - sum, one split short of fully grown, K > 1"
        quantities.append(("s34", quantity, "entropy", total - np.array(sums)))
    return quantities


def _with_impurity(joint, impurity, globally, locally):
    """Statements 1 to 3, 5, 7 to 9, 11, 12, 25, 26, 34 and 35."""
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
    quantities = [
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
        ("s25", "smallest marginal contribution", _contributions(p, v)[0]),
        ("s34", "sum - I(Y;V), fully grown, K > 1", mdi_k[1:].sum(axis=1) - total),
    ]
    if (joint.probability.sum(axis=-1) > 0).all():
        binary_mdi = BinaryForest(joint, impurity).mdi()
        quantities.append(("s35", "binary trees: sum - I(Y;V)", binary_mdi.sum() - total))
        # An irrelevant input gets nothing from either.
        if max(joint.cardinalities) > 2 and globally.all():
            differ = np.abs(binary_mdi - mdi).max()
            quantities.append(("s35", "binary trees - Eq. 4, three values", differ))
        elif max(joint.cardinalities) == 2:
            quantities.append(("s35", "binary trees - Eq. 4, two values", binary_mdi - mdi))
    if impurity == "variance":
        # It does not see an input that leaves mean and variance of Y alone: see `equal_moments`.
        return quantities
    is_strong = strongly_relevant(joint)
    return [
        *quantities,
        ("s26", "MDI of a relevant input, K = 1", mdi[globally]),
        ("s08", "largest local MDI of a relevant input", np.abs(local).max(axis=0)[globally]),
        ("s11", "MDI of a strongly relevant input, every K", mdi_k[:, is_strong]),
    ]
