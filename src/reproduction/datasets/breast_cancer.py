"""Breast cancer Wisconsin (diagnostic): 569 x 30, 2 classes, from scikit-learn."""

from sklearn.datasets import load_breast_cancer

from reproduction.datasets import Dataset, from_sklearn
from reproduction.parameters import Count


def load(rows: Count | None = None) -> Dataset:
    """Load the data set, or its first `rows` rows."""
    return from_sklearn(load_breast_cancer(), rows)
