"""Data sets that come with scikit-learn, a function each, which has the name of the data set."""

import numpy as np
from sklearn import datasets

from reproduction.datasets import Dataset
from reproduction.parameters import Count


def breast_cancer(rows: Count | None = None) -> Dataset:
    """Load breast cancer Wisconsin (diagnostic): 569 x 30, 2 classes; or its first `rows` rows."""
    return _classes(datasets.load_breast_cancer(), rows)


def digits(rows: Count | None = None) -> Dataset:
    """Load digits, 8 x 8 pixels of 0 to 16: 1797 x 64, 10 classes; or the first `rows` rows."""
    return _classes(datasets.load_digits(), rows)


def iris(rows: Count | None = None) -> Dataset:
    """Load iris flowers: 150 x 4, 3 classes; or the first `rows` rows."""
    return _classes(datasets.load_iris(), rows)


def wine(rows: Count | None = None) -> Dataset:
    """Load wine recognition: 178 x 13, 3 classes; or the first `rows` rows."""
    return _classes(datasets.load_wine(), rows)


def diabetes() -> Dataset:
    """Load diabetes: 442 x 10, its progress after a year, for regression (Efron et al. 2004)."""
    bunch = datasets.load_diabetes()
    return Dataset(X=bunch.data, y=bunch.target, feature_names=tuple(bunch.feature_names))


def _classes(bunch, rows):
    rows = slice(rows)
    return Dataset(
        X=np.ascontiguousarray(bunch.data[rows], dtype=np.float64),
        y=bunch.target[rows].astype(np.int64),
        feature_names=tuple(str(n) for n in bunch.feature_names),
        class_names=tuple(str(n) for n in bunch.target_names),
    )
