"""The check of seeds that users give."""

from __future__ import annotations

import numpy as np


def check_seed(random_state) -> None:
    """Raise a ValueError if a seed is no whole number from 0."""
    is_whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if not is_whole or random_state < 0:
        raise ValueError(f"random_state={random_state!r}: expected a whole number, at least 0")
