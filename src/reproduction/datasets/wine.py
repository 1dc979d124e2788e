"""Wine recognition: 178 x 13, 3 classes, from scikit-learn."""

from sklearn.datasets import load_wine

from reproduction.datasets import Dataset, from_sklearn
from reproduction.parameters import Count


def load(rows: Count | None = None) -> Dataset:
    """Load the data set, or its first `rows` rows."""
    return from_sklearn(load_wine(), rows)
