"""Led (sampled): digits drawn at random with equal probability, shown on the display."""

from dataclasses import replace

import numpy as np

from reproduction.datasets import Dataset
from reproduction.datasets.led import from_digits
from reproduction.parameters import Count, Probability, Seed


def load(n_samples: Count = 200, noise: Probability = 0.0, random_state: Seed = 0) -> Dataset:
    """Draw `n_samples` rows (sutera2021, appendix E.2: 200).

    `noise` is the probability that a segment shows the opposite, drawn for each by itself (Breiman
    et al. 1984 use 0.1; the paper has none).
    """
    # The old generator, because the paper's code passes a scikit-learn ``random_state``.
    random = np.random.RandomState(random_state)
    displays = from_digits(random.randint(0, 10, size=n_samples))
    if noise == 0:
        return displays
    flipped = random.random_sample(displays.X.shape) < noise
    return replace(displays, X=np.where(flipped, 1 - displays.X, displays.X))
