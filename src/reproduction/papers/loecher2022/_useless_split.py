"""Appendix 8.3: the mean decrease of impurity at a split that tells nothing about y.

Out-of-bag labels of both children are drawn from one Bernoulli distribution. The decreases of all
outcomes are computed by the library; the simulation draws outcomes, the enumeration adds up all.
"""

from math import comb

import numpy as np

from splitcredit.measures import penalized_gini
from splitcredit.models.forest import LEAF, Forest

# Out-of-bag rows of the children, and the probability of y = 1. In two of the shapes one child has
# a single row, in one both have.
SHAPES = (
    (2, 2, 0.5),
    (2, 10, 0.3),
    (3, 5, 0.3),
    (5, 20, 0.1),
    (10, 10, 0.5),
    (1, 11, 0.3),
    (6, 1, 0.5),
    (1, 1, 0.5),
)
SINGLE_CHILD = "a child of one row is given impurity 0, where Eq. 2 and 5 are 0 / 0"
# No split is left out, so that the effect of a child of one row is seen.
SCORES = {
    name: {**penalized_gini.PRESETS[name], "min_child_oob": 0, "per_row": True}
    for name in ("pg_10", "pg_hat_10")
}


def expected(score: str, n_left: int, n_right: int, p: float) -> float:
    """Mean decrease per row by the formulas, in doubled Gini impurity: sigma^2 = 2 p (1 - p).

    PG(1, 0): sigma^2 / N (8.3). With the correction 0; but with impurity 0 for a single row, where
    the correction is 0 / 0, each child of one row leaves sigma^2 / N.
    """
    n_single = (n_left == 1) + (n_right == 1)
    return 2 * p * (1 - p) / (n_left + n_right) * (1 if score == "pg_10" else n_single)


def simulate(n_draws: int, seed: int) -> list[dict]:
    """Mean decrease over the draws and over the enumeration, for each shape and score."""
    random = np.random.default_rng(seed)
    rows = []
    for n_left, n_right, p in SHAPES:
        ones_drawn = random.binomial(n_left, p, n_draws), random.binomial(n_right, p, n_draws)
        chance = np.outer(_binomial(n_left, p), _binomial(n_right, p))
        for score, gains in gains_of_outcomes(n_left, n_right).items():
            sample = gains[ones_drawn]
            row = {"quantity": score, "n_left": n_left, "n_right": n_right, "p": p, "n": n_draws}
            row |= {"value": sample.mean(), "exact": (chance * gains).sum()}
            row["standard_error"] = sample.std(ddof=1) / n_draws**0.5
            rows.append(row | {"expected": expected(score, n_left, n_right, p)})
    return rows


def gains_of_outcomes(n_left: int, n_right: int) -> dict[str, np.ndarray]:
    """Decrease per row of every score for a ones on the left and b on the right, at [a, b]."""
    gains = {score: np.empty((n_left + 1, n_right + 1)) for score in SCORES}
    for a in range(n_left + 1):
        for b in range(n_right + 1):
            by_score = penalized_gini.importances(*one_split(n_left, a, n_right, b), SCORES)
            for score, importance in by_score.items():
                gains[score][a, b] = importance.values[0]
    return gains


def one_split(n_left: int, a: int, n_right: int, b: int) -> tuple[Forest, np.ndarray, np.ndarray]:
    """A tree of one split with its training data: one in-bag row a child, the others out-of-bag."""
    X = np.repeat([0.0, 1.0], [n_left + 1, n_right + 1])[:, None]
    y = np.repeat([1, 0, 1, 0], [1 + a, n_left - a, b, n_right - b + 1])
    times_drawn = np.zeros(len(X), np.uint8)
    times_drawn[[0, -1]] = 1
    forest = Forest(
        feature=[0, LEAF, LEAF],
        threshold=[0.5, 0.0, 0.0],
        left=[1, LEAF, LEAF],
        right=[2, LEAF, LEAF],
        value=[[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]],
        cover=[2, 1, 1],
        tree_offsets=[0, 3],
        feature_names=["x"],
        output_names=["0", "1"],
        inbag=times_drawn[None],
    )
    return forest, X, y


def _binomial(n, p):
    return np.array([comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)])
