"""Keys that are looked for, in the form in which kernels compare them."""

from __future__ import annotations

import numpy as np


def table_of(names) -> tuple[np.ndarray, np.ndarray]:
    """Characters and lengths of some names.

    Parameters
    ----------
    names : sequence of bytes

    Returns
    -------
    characters : uint8 (n_names, most characters)
        A name a row, with zeros behind it.
    lengths : int64 (n_names,)
    """
    lengths = np.array([len(name) for name in names], np.int64)
    characters = np.zeros((len(names), max(lengths, default=0)), np.uint8)
    for row, name in zip(characters, names, strict=True):
        row[: len(name)] = np.frombuffer(name, np.uint8)
    return characters, lengths
