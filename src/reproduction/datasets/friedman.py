"""Friedman's first regression problem: five features tell y, however many there are."""

from typing import Annotated

import numpy as np
from sklearn.datasets import make_friedman1

from reproduction.datasets import Dataset
from reproduction.parameters import Count, NonNegative, Seed


def load(
    n_samples: Count = 1000,
    n_test: Count = 200,
    n_features: Annotated[int, ">= 5"] = 10,
    noise: NonNegative = 1.0,
    random_state: Seed = 0,
) -> Dataset:
    """Draw independent features and y = 10 sin(pi u1 u2) + 20 (u3 - 1/2)^2 + 10 u4 + 5 u5 + noise.

    u is uniform on 0 to 1 (Friedman 1991; `sklearn.datasets.make_friedman1`); the features are
    u less 1/2, times the root of 12, so that their standard deviation is 1. Models are fitted on
    `n_samples` rows, and the `n_test` rows after them are explained. `noise` is the standard
    deviation of the normal noise of y.
    """
    X, y = make_friedman1(n_samples + n_test, n_features, noise=noise, random_state=random_state)
    return Dataset(
        X=(X - 0.5) * np.sqrt(12),
        y=y,
        feature_names=tuple(f"x{j}" for j in range(1, n_features + 1)),
        relevant=tuple(range(5)),
        n_training=n_samples,
    )
