"""An outcome simulated from a few columns of a real table, so that it is known what tells it.

The features keep their dependence, as in the "data-inspired" simulations of Agarwal et al. (2023).
Rows are drawn from the table with replacement: the table is the population.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from reproduction.datasets import Dataset, _real_features
from reproduction.parameters import Count, Probability, Seed

Response = Literal["linear", "product", "threshold"]
# Features that are kept of a wide table, and copies of some of them with their rows permuted.
N_FEATURES, N_NOISE, N_SIGNALS = 16, 4, 4
# A feature that is no signal is a proxy if its rank correlation with a signal is above.
PROXY = 0.5
_BINS = 10
# Features that are drawn, and not of a table.
FACTORIAL = "factorial"


def files(table: str = FACTORIAL, **_) -> list[Path]:
    """Return the file of the features, unless they are drawn; ValueError lists the tables."""
    return [] if table == FACTORIAL else [_real_features.table(table).path]


def load(
    table: Annotated[str, "the name of a table"] = FACTORIAL,
    response: Response = "linear",
    explained: Probability = 0.4,
    n_training: Count = 300,
    n_test: Count = 100,
    n_fresh: Count = 500,
    classes: bool = False,
    random_state: Seed = 0,
) -> Dataset:
    """Draw rows, four signals and the outcome; training rows come first, then test and fresh rows.

    Parameters
    ----------
    table : str
        A table of ``data/trust``, or ``"factorial"``: drawn features with 2, 10 or all different
        values, of which pairs are correlated by 0, 0.5 or 0.9.
    response : {"linear", "product", "threshold"}
        Of the signals z, standardized and cut off at 3: the sum with random signs, z1 z2 + z3 z4,
        or the same of indicators of the upper half of z (Basu et al. 2018).
    explained : float
        Share of the variance of the outcome that the signals explain; with 0 nothing tells it.
    n_training, n_test, n_fresh : int
    classes : bool
        The outcome is whether the number is above its median.
    random_state : int

    Returns
    -------
    Dataset
        ``roles`` are ``"signal"``, ``"proxy"``, ``"noise"`` (permuted copies) and ``"other"``, and
        ``association`` the share of the variance of the outcome that a feature explains alone.
    """
    rng = np.random.default_rng(random_state)
    population = _population(table, rng)
    n, p = population.shape
    signals, mean = _response(population.to_numpy(), response, rng)
    correlations = np.abs(np.corrcoef(rankdata(population, axis=0), rowvar=False))
    is_near = (correlations[signals] > PROXY).any(axis=0)
    is_signal = np.isin(np.arange(p), signals)
    roles = np.select([is_signal, is_near], ["signal", "proxy"], "other")
    rows = rng.integers(0, n, n_training + n_test + n_fresh)
    copied = np.sort(rng.choice(p, min(N_NOISE, p), replace=False))
    noise = [population.iloc[rng.integers(0, n, len(rows)), j].to_numpy() for j in copied]
    X = np.column_stack([population.to_numpy()[rows], *noise])
    y = np.sqrt(explained) * mean[rows] + np.sqrt(1 - explained) * rng.standard_normal(len(rows))
    names = (*population, *(f"{population.columns[j]}, permuted" for j in copied))
    association = [explained * _share(column, mean) for column in population.to_numpy().T]
    return Dataset(
        X=X,
        y=(y > np.median(y)).astype(np.int64) if classes else y,
        feature_names=names,
        class_names=("0", "1") if classes else (),
        relevant=tuple(np.sort(signals).tolist()) if explained else (),
        n_training=n_training,
        roles=(*roles.tolist(), *["noise"] * len(copied)),
        association=(*association, *[0.0] * len(copied)),
    )


def _population(table, rng) -> pd.DataFrame:
    if table == FACTORIAL:
        return _factorial(rng)
    features = _real_features.real_features(table)
    kept = np.linspace(0, features.shape[1] - 1, min(N_FEATURES, features.shape[1])).round()
    return features.iloc[:, kept.astype(int)]


def _factorial(rng, n=1000) -> pd.DataFrame:
    """Draw pairs of normal features, one pair for each number of values and correlation."""
    columns = {}
    for correlation in (0.0, 0.5, 0.9):
        for n_values in (2, 10, n):
            pair = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], n).T
            for name, values in zip("ab", pair, strict=True):
                places = rankdata(values) - 1
                label = "all" if n_values == n else n_values
                columns[f"{name}, {label} values, {correlation}"] = np.floor(places * n_values / n)
    return pd.DataFrame(columns)


def _response(X, response, rng):
    """Draw the signals, and compute the standardized mean of the outcome of every row."""
    Z = np.clip((X - X.mean(axis=0)) / X.std(axis=0), -3, 3)
    while True:
        signals = rng.choice(X.shape[1], N_SIGNALS, replace=False)
        z = Z[:, signals]
        if response == "linear":
            mean = z @ rng.choice([-1.0, 1.0], N_SIGNALS)
        else:
            z = z if response == "product" else 1.0 * (z > np.median(z, axis=0))
            mean = z[:, 0] * z[:, 1] + z[:, 2] * z[:, 3]
        # Drawn anew if a signal tells nothing, such as an indicator that no row meets.
        if mean.std() > 1e-9 and (z.std(axis=0) > 1e-9).all():
            return signals, (mean - mean.mean()) / mean.std()


def _share(column, mean):
    """Compute the share of the variance of the mean between ten groups of rows by one feature."""
    cuts = np.unique(np.quantile(column, np.linspace(0, 1, _BINS + 1)[1:-1]))
    group = np.searchsorted(cuts, column, side="left")
    means = pd.Series(mean).groupby(group).transform("mean")
    return float(means.var(ddof=0) / mean.var())
