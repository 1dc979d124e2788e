"""Training data of small models, drawn: rows, targets, weights, and tables with categories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class Draw:
    """Training data of one model.

    Parameters
    ----------
    random : numpy.random.Generator
        What parameters are drawn from.
    complete : ndarray (n_samples, n_features)
        Rows without missing values; rounded in some draws, so that rows lie on thresholds.
    gaps : ndarray (n_samples, n_features)
        The same rows, with NaN in some draws.
    numbers, positive : ndarray (n_samples,)
        Targets of regressions.
    two, classes : ndarray (n_samples,)
        Two classes, and two or three, as integers from 0.
    pairs : ndarray (n_samples, 2)
        Two targets.
    weights : ndarray (n_samples,) or None
        Of rows: some are 0, the first of each class is not.
    """

    random: np.random.Generator
    complete: np.ndarray
    gaps: np.ndarray
    numbers: np.ndarray
    positive: np.ndarray
    two: np.ndarray
    classes: np.ndarray
    pairs: np.ndarray
    weights: np.ndarray | None

    @property
    def missing(self) -> bool:
        """Whether there are missing values."""
        return bool(np.isnan(self.gaps).any())

    def one_of(self, values):
        """One of the values, as it is."""
        return values[int(self.random.integers(len(values)))]

    def number(self, low, high) -> int:
        """A whole number from `low` to `high`."""
        return int(self.random.integers(low, high + 1))

    def seed(self) -> int:
        """A seed for the library."""
        return self.number(0, 10**6)


def draw(random) -> Draw:
    """Draw rows, targets and weights."""
    n, p = int(random.integers(25, 151)), int(random.integers(1, 7))
    X = random.normal(size=(n, p))
    if random.random() < 0.4:
        X = np.round(X, int(random.integers(0, 2)))
    numbers = X[:, 0] + (X[:, -1] > 0) * random.normal() + 0.1 * random.normal(size=n)
    ranks = np.argsort(np.argsort(numbers + random.normal(size=n)))
    n_classes = int(random.integers(2, 4))
    classes = ranks * n_classes // n
    weights = None
    if random.random() < 0.3:
        weights = random.choice([0.0, 0.5, 1.0, 3.0], n)
        weights[np.unique(ranks * 6 // n, return_index=True)[1]] = 1.0
    gaps = X.copy()
    if random.random() < 0.5:
        gaps[random.random(X.shape) < 0.15] = np.nan
    return Draw(
        random=random,
        complete=X,
        gaps=gaps,
        numbers=numbers,
        positive=np.floor(np.exp(numbers / 2)) + 0.5,
        two=ranks * 2 // n,
        classes=classes,
        pairs=np.column_stack([numbers, -(numbers**2)]),
        weights=weights,
    )


def with_categories(d) -> pd.DataFrame:
    """The rows, with one or two columns of labels that the targets depend on."""
    random, n = d.random, len(d.numbers)
    table = pd.DataFrame(d.gaps, columns=[f"x{j}" for j in range(d.gaps.shape[1])])
    labels = random.permutation([f"label {i}" for i in range(d.number(3, 12))])
    # The label depends on the row's number, and the last one is in the type only.
    codes = np.clip(np.round(d.numbers + random.normal(size=n)).astype(int) + 1, 0, len(labels) - 2)
    kinds = pd.Categorical.from_codes(random.permutation(len(labels) - 1)[codes], labels)
    table.insert(d.number(0, d.gaps.shape[1]), "label", kinds)
    if random.random() < 0.5:
        table["number"] = pd.Categorical(random.integers(0, d.number(2, 5), n) * 10)
    if d.missing:
        table.loc[random.random(n) < 0.1, "label"] = np.nan
    return table
