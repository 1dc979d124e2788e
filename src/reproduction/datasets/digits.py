"""Handwritten digits, 8 x 8 pixels of 0 to 16: 1797 x 64, 10 classes, from scikit-learn."""

from sklearn.datasets import load_digits

from reproduction.datasets import Dataset, from_sklearn
from reproduction.parameters import Count


def load(rows: Count | None = None) -> Dataset:
    """Load the data set, or its first `rows` rows."""
    return from_sklearn(load_digits(), rows)
