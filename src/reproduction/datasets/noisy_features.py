"""Fifty discrete features with 2 to 51 values, five of which tell y (Li et al. 2019).

The simulation of loecher2022, section 4.2 and Table 1.
"""

from typing import Annotated

import numpy as np

from reproduction.datasets import Dataset
from reproduction.parameters import Count, Natural, Seed


def check(
    n_features: int = 50, n_candidates: int = 10, n_relevant: int = 5, **others: object
) -> None:
    """ValueError if there are fewer features than candidates, or fewer of these than relevant."""
    if not n_relevant <= n_candidates <= n_features:
        raise ValueError(
            f"n_relevant: n_relevant={n_relevant}, n_candidates={n_candidates}, "
            f"n_features={n_features}; give no more of one than of the next"
        )


def load(
    n_samples: Count = 1000,
    n_features: Count = 50,
    n_candidates: Count = 10,
    n_relevant: Natural = 5,
    noise_values: Annotated[int, ">= 2"] | None = None,
    random_state: Seed = 0,
) -> Dataset:
    """Draw independent features and a binary y.

    Feature j (from 1) is uniform on 0, 1, ..., j. Relevant are `n_relevant` of the first
    `n_candidates`, drawn anew each time; the log-odds of y are 0.4 sum_j x_j / j - 1 over them.
    With as many candidates as features, the number of values says nothing about relevance. With
    `noise_values`, each feature that is not relevant has so many values, uniform on 0, 1, ...;
    relevant features and y stay the same.
    """
    check(n_features, n_candidates, n_relevant)
    random = np.random.default_rng(random_state)
    highest = np.arange(1, n_features + 1)
    X = random.integers(0, highest + 1, (n_samples, n_features)).astype(np.float64)
    relevant = np.sort(random.choice(n_candidates, n_relevant, replace=False))
    log_odds = 0.4 * (X[:, relevant] / highest[relevant]).sum(axis=1) - 1
    y = random.random(n_samples) < 1 / (1 + np.exp(-log_odds))
    if noise_values is not None:
        noise = np.setdiff1d(np.arange(n_features), relevant)
        X[:, noise] = random.integers(0, noise_values, (n_samples, len(noise)))
    return Dataset(
        X=X,
        y=y.astype(np.int64),
        feature_names=tuple(f"x{j}" for j in highest),
        class_names=("0", "1"),
        relevant=tuple(relevant.tolist()),
    )
