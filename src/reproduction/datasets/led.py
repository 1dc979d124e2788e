"""Led: the ten digits on a seven-segment display (Breiman et al. 1984), 10 x 7.

Segments are numbered from 0 as in the text of sutera2021, section 6: top, upper left, upper
right, middle, lower left, lower right, bottom.
"""

import numpy as np

from reproduction.datasets import Dataset

# Of each digit, which segments are lit.
_LIT = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011".split()
SEGMENTS = np.array([[*map(int, segments)] for segments in _LIT], dtype=np.float64)


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
