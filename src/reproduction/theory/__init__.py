"""Importances of known distributions: the limits of forests (sutera2021).

`distributions` holds the formulas, `games` the coalition games and their Shapley values,
`relevance` the definitions of relevance, `theorems` both sides of the paper's theorems, `families`
the distributions to check them on. `multiway` and `limits` grow infinitely many trees by
recursion and know none of the formulas. Entropies and informations are in bits; the one function
in nats, `loss_game`, says so.
"""

# ruff: noqa: F401 - these names are what the package offers.
from reproduction.theory.distributions import (
    IMPURITIES,
    JointDistribution,
    conditional_impurity,
    entropy,
    impurity_of,
    information,
    local_mdi_totally_randomized,
    mdi_totally_randomized,
)
from reproduction.theory.families import (
    equal_moments,
    hidden_dependence,
    locally_alike_inputs,
    noisy_copy,
    pairs_of_outputs,
    random_distributions,
    swapping_input,
    symmetric_distributions,
    symmetric_inputs,
)
from reproduction.theory.games import (
    information_game,
    local_game,
    loss_game,
    prediction_game,
    shapley_values,
)
from reproduction.theory.limits import InfiniteForest, chances_of_best
from reproduction.theory.multiway import BinaryForest, MultiwayForest, mdi_best_split
from reproduction.theory.relevance import (
    cumulative_change,
    local_change,
    locally_relevant,
    relevant,
    strongly_relevant,
)
from reproduction.theory.theorems import axioms, cases, sage_less_mdi
