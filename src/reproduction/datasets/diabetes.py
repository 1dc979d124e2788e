"""Diabetes: 442 x 10, its progress after a year, from scikit-learn (Efron et al. 2004)."""

from sklearn.datasets import load_diabetes

from reproduction.datasets import Dataset


def load() -> Dataset:
    """Load the data set, for regression."""
    bunch = load_diabetes()
    return Dataset(X=bunch.data, y=bunch.target, feature_names=tuple(bunch.feature_names))
