"""Led (sampled): digits drawn at random with equal probability, shown on the display."""

from __future__ import annotations

import numpy as np

from splitcredit.datasets import Dataset
from splitcredit.datasets.led import from_digits


def load(n_samples: int = 200, random_state: int = 0) -> Dataset:
    """Draw `n_samples` rows (sutera2021, appendix E.2: 200).

    The old generator is used because the paper's code passes a scikit-learn ``random_state``.
    """
    random = np.random.RandomState(random_state)
    return from_digits(random.randint(0, 10, size=n_samples))
