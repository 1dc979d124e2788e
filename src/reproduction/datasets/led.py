"""Led: the ten digits on a seven-segment display (Breiman et al. 1984), 10 x 7.

Segments are numbered from 0 as in the text of sutera2021, section 6: top, upper left, upper
right, middle, lower left, lower right, bottom.
"""

import numpy as np

from reproduction.datasets import Dataset

SEGMENTS = np.array(
    [
        [1, 1, 1, 0, 1, 1, 1],
        [0, 0, 1, 0, 0, 1, 0],
        [1, 0, 1, 1, 1, 0, 1],
        [1, 0, 1, 1, 0, 1, 1],
        [0, 1, 1, 1, 0, 1, 0],
        [1, 1, 0, 1, 0, 1, 1],
        [1, 1, 0, 1, 1, 1, 1],
        [1, 0, 1, 0, 0, 1, 0],
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1],
    ],
    dtype=np.float64,
)


def load() -> Dataset:
    """One row a digit."""
    return from_digits(np.arange(10))


def from_digits(digits) -> Dataset:
    """The rows of the given digits."""
    return Dataset(
        X=SEGMENTS[digits],
        y=np.asarray(digits, dtype=np.int64),
        feature_names=tuple(f"segment {j}" for j in range(7)),
        class_names=tuple(str(d) for d in range(10)),
    )
