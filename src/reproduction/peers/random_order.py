"""Rank features at random, as a baseline for measures."""

import zlib
from typing import Annotated

import numpy as np

from splitcredit.results.attribution import Importance


def importance(forest, random_state: Annotated[int, ">= 0"] = 0) -> Importance:
    """Scores 1, ..., n_features in an order that the trees and `random_state` settle."""
    digest = zlib.crc32(forest.threshold.tobytes() + forest.value.tobytes())
    scores = np.random.default_rng([random_state, digest]).permutation(forest.n_features) + 1.0
    return Importance(scores, forest.feature_names, "random_order", {"random_state": random_state})
