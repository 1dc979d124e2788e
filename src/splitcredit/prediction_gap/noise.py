"""Draw noise for sampling: independent streams, pseudo-random or quasi-random.

For a set of m features the noise is the first m columns of one stream, in the order of the columns
of X. One pool serves all sets: columns of Monte Carlo are independent, and a scrambled Halton
sequence in m dimensions is, byte for byte, the first m columns of one in more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from splitcredit.rows.tables import check_choice, check_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

KINDS = ("mc", "halton")


def noise_pool(
    kind: str,
    n_features: int,
    n_samples: int,
    n_streams: int = 64,
    random_state: int | Sequence[int] = 0,
) -> np.ndarray:
    """Draw independent streams of standard normal noise (gajewski2025, Preliminaries).

    A smaller pool of the same kind and random state is the corner of a larger one.

    Parameters
    ----------
    kind : {"mc", "halton"}
        Pseudo-random normals, or scrambled Halton sequences through the normal quantile function
        (gajewski2025, appendix B).
    n_features, n_samples, n_streams : int
    random_state : int, or sequence of int

    Returns
    -------
    float32 (n_streams, n_features, n_samples)
        Single precision is off by 6e-8 of the noise, far less than any sampling error.

    Raises
    ------
    ValueError
        If the kind is unknown, or a number of streams or samples is not whole and at least 1.

    Examples
    --------
    >>> from splitcredit.prediction_gap.noise import noise_pool
    >>> noise_pool("halton", n_features=3, n_samples=100, n_streams=2).shape
    (2, 3, 100)
    """
    check_whole("n_samples", n_samples, 1)
    check_whole("n_streams", n_streams, 1)
    pool = np.empty((n_streams, n_features, n_samples), np.float32)
    for s, sequence in enumerate(np.random.SeedSequence(random_state).spawn(n_streams)):
        pool[s] = noise_stream(kind, n_features, n_samples, sequence)
    return pool


def noise_stream(
    kind: str, n_columns: int, n_samples: int, sequence: np.random.SeedSequence
) -> np.ndarray:
    """Draw one stream of standard normal noise.

    Parameters
    ----------
    kind : {"mc", "halton"}
        See `noise_pool`.
    n_columns, n_samples : int
    sequence : numpy.random.SeedSequence
        The seed of the stream.

    Returns
    -------
    float32 (n_columns, n_samples) for ``"mc"``, float64 for ``"halton"``

    Examples
    --------
    >>> import numpy as np
    >>> from splitcredit.prediction_gap.noise import noise_stream
    >>> noise_stream("mc", 2, 100, np.random.SeedSequence(0)).shape
    (2, 100)
    """
    check_choice("kind", kind, KINDS)
    if n_columns == 0:
        return np.empty((0, n_samples))
    if kind == "mc":
        return np.stack(
            [
                np.random.default_rng(child).standard_normal(n_samples, dtype=np.float32)
                for child in sequence.spawn(n_columns)
            ]
        )
    # Scrambled: the plain sequence starts at 0, whose normal quantile is minus infinity.
    # Loaded here: it takes half a second, and only this noise needs it.
    from scipy.special import ndtri
    from scipy.stats import qmc

    halton = qmc.Halton(n_columns, scramble=True, seed=np.random.default_rng(sequence))
    uniform = np.clip(halton.random(n_samples).T, 2.0**-54, 1 - 2.0**-53)
    return ndtri(np.ascontiguousarray(uniform))
