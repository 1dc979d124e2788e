"""Simulated gene modules and an ordinal score: 518 x 200 as in lundberg2017, section 5.

A stand-in: the paper's data (518 participants, 200 gene expression modules, CERAD score) are not
open. Only the two sizes are the paper's. All else is a choice of this project and not fitted to
anybody's data: how modules share factors, the shares of the scores, how many modules act, the
interaction, the noise, and a signal of about a third, so that the score can be predicted, but not
well. Results show how clusterings behave on such data, and say nothing about the cohort.
"""

from typing import Annotated

import numpy as np

from reproduction.datasets import Dataset
from reproduction.parameters import Count, NonNegative, Probability, Seed

# Shares of the rows with a score of at most 1, 2 and 3: uneven, our choice.
THRESHOLDS = (0.28, 0.62, 0.74)


def check(n_modules: int = 200, n_factors: int = 20, n_active: int = 15, **others: object) -> None:
    """ValueError if there are fewer than two factors, or not 2 to `n_modules` active modules."""
    if n_factors < 2 or not 2 <= n_active <= n_modules:
        raise ValueError(
            f"n_active: n_active={n_active}, n_modules={n_modules}, n_factors={n_factors}; "
            "give at least 2 factors and 2 active modules, and no more of these than modules"
        )


def load(
    n_samples: Count = 518,
    n_modules: Annotated[int, ">= 2"] = 200,
    n_factors: Annotated[int, ">= 2"] = 20,
    n_active: Annotated[int, ">= 2"] = 15,
    noise: NonNegative = 0.8,
    signal: Probability = 0.35,
    random_state: Seed = 0,
) -> Dataset:
    """Draw modules that share latent factors, and an ordinal score of 1 to 4.

    Every repeat draws everything anew, the loadings and weights too:

    - independent standard normal factors; each module is the sum of two different ones, drawn at
      random and times standard normal loadings, and of normal noise with the deviation `noise`;
    - the signal is a sum over `n_active` modules, drawn at random and standardized, with standard
      normal weights, plus one interaction: the product of the first two of them, of weight 1;
    - latent score: the standardized signal and standard normal noise, in shares `signal` and
      1 - `signal` of the variance; cut at its own quantiles `THRESHOLDS`.
    """
    check(n_modules, n_factors, n_active)
    random = np.random.default_rng(random_state)
    X = _modules(random, n_samples, n_modules, n_factors, noise)
    active = _standardized(X[:, random.choice(n_modules, n_active, replace=False)])
    explained = active @ random.standard_normal(n_active) + active[:, 0] * active[:, 1]
    latent = np.sqrt(signal) * _standardized(explained)
    latent += np.sqrt(1 - signal) * random.standard_normal(n_samples)
    score = 1 + np.searchsorted(np.quantile(latent, THRESHOLDS), latent)
    names = tuple(f"module {j + 1}" for j in range(n_modules))
    return Dataset(X=X, y=score.astype(np.float64), feature_names=names)


def _modules(random, n_samples, n_modules, n_factors, noise):
    loadings = np.zeros((n_factors, n_modules))
    for column in loadings.T:
        column[random.choice(n_factors, 2, replace=False)] = random.standard_normal(2)
    factors = random.standard_normal((n_samples, n_factors))
    return factors @ loadings + noise * random.standard_normal((n_samples, n_modules))


def _standardized(values):
    return (values - values.mean(axis=0)) / values.std(axis=0)
