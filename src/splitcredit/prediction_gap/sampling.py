"""Estimate prediction gaps by Monte Carlo and quasi-Monte Carlo sampling, and their error."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from splitcredit.kernels.nodes import as_readonly, owners
from splitcredit.kernels.prediction_gap.sampling import sampled_gaps
from splitcredit.kernels.walks import predict
from splitcredit.models.forest import Forest
from splitcredit.models.opened import Opened
from splitcredit.prediction_gap.exact_gap import (
    CHUNK,
    GapProblem,
    chosen_features,
    only_output,
    refuse_huge_values,
    refuse_nan,
    refuse_special_values,
)
from splitcredit.prediction_gap.noise import noise_pool, noise_stream
from splitcredit.prediction_gap.perturbations import Marginal, Normal, checked_scale
from splitcredit.prediction_gap.rankings import checked_ks, rankings_of_model, top_k_mask
from splitcredit.rows.tables import check_choice, check_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

# Iteration counts of gajewski2025, Measurements.
COUNTS = (100, 500, 1000, 2000, 4000, 6000, 8000, 10000, 15000, 20000, 25000, 30000, 35000)
# Values of noise made at a time for literal draws: 64 MB.
_CHUNK = 1 << 24


def pg2_sampled(
    model: object,
    X: ArrayLike,
    features: object,
    counts: Sequence[int] = COUNTS,
    scale: ArrayLike = 1.0,
    kind: str = "mc",
    random_state: int = 0,
    *,
    output: str | int | None = None,
    numbers: ArrayLike | None = None,
    draws: str = "nested",
    n_streams: int = 64,
    pool: np.ndarray | None = None,
) -> np.ndarray:
    """Estimate squared prediction gaps of pairs of a row and a set of features, by sampling.

    The mean of (f(x) - f(x'))^2 over x' = x + noise in the perturbed features, cast to the type in
    which the model compares: gajewski2025, Equation (2) and Experimental Setup.

    Parameters
    ----------
    model, X, features, scale, output
        See `exact_gap.pg2`; each row of X and its features are a pair. Noise is normal.
    counts : sequence of int, rising
        Numbers of samples.
    kind, n_streams, random_state
        See `noise.noise_pool`.
    numbers : int (n_pairs,), optional
        The noise of a pair depends on its number alone, 0, 1, ... if not given: pass the numbers if
        you compute only some of the pairs, with the same noise.
    draws : {"nested", "literal"}
        ``"nested"``: the estimate from n samples uses the first n of stream ``number % n_streams``
        of a pool. ``"literal"``: fresh noise for each pair and each count, as the paper has it;
        hours at full scale.
    pool : float32 (n_streams, n_columns, n_available), optional
        For ``"nested"``, a `noise_pool` made before, or other noise that is to be multiplied by
        the scale; `kind`, `n_streams` and `random_state` are not used then.

    Returns
    -------
    float64 (n_pairs, n_counts), in squared units of the prediction

    Raises
    ------
    ValueError
        If the arguments do not fit the model or each other, or a perturbed value is NaN.

    Examples
    --------
    >>> from splitcredit.prediction_gap.sampling import pg2_sampled
    >>> from splitcredit.prediction_gap.exact_gap import pg2
    >>> sampled = pg2_sampled(model, X[:2], [0, 1], counts=[100, 10000], scale=0.1)
    >>> exact = pg2(model, X[:2], [0, 1], scale=0.1)
    >>> (sampled[:, 1] / exact).round(1)
    array([1.1, 1. ])
    """
    check_choice("draws", draws, ("nested", "literal"))
    check_whole("random_state", random_state)
    pairs = checked_pairs(model, X, features, scale, output)
    sizes, n_pairs = checked_counts(counts), len(pairs[2])
    numbers = np.arange(n_pairs) if numbers is None else np.asarray(numbers)
    if numbers.dtype.kind not in "iu" or numbers.shape != (n_pairs,) or (numbers < 0).any():
        raise ValueError(f"numbers must be {n_pairs} whole numbers from 0, one for each pair")
    if draws == "literal":
        return _literal(pairs, sizes, kind, random_state, numbers)
    widest = int(pairs[3].sum(axis=1).max(initial=0))
    if pool is None:
        pool = noise_pool(kind, widest, sizes[-1], n_streams, random_state)
    pool = _checked_pool(pool, widest, sizes[-1])
    return sampled_gaps(*pairs, pool, numbers % len(pool), sizes)


class SampledProblem(GapProblem):
    """A `GapProblem` by samples that depend on the random state and the values of a row."""

    def __init__(self, model, perturbation, scale, output, samples, random_state):
        super().__init__(model, perturbation, scale, output)
        check_whole("samples", samples, 1)
        check_whole("random_state", random_state)
        if not hasattr(self.perturbation, "draw"):
            raise TypeError(f"noise={perturbation!r} has no `draw`, which samples= needs")
        self.samples, self.random_state = int(samples), int(random_state)

    def gaps(self, X, masks, done=None) -> np.ndarray:
        """Average the squared gap over the samples; see `GapProblem.gaps`."""
        n_sets, d = masks.shape[1:]
        if not self.by_categories:
            perturbed = np.broadcast_to(masks.any(axis=1), (len(X), d))
            refuse_nan(self.noisy, *self.spread(X, perturbed))
        # A column of prepared rows that stands for a set of categories moves with its feature.
        owner, out = owners(self.forest), np.zeros((len(X), n_sets))
        for i, x in enumerate(X):
            own = self._predictions(x[None])
            random = np.random.default_rng([self.random_state, zlib.crc32(x.tobytes())])
            for first in range(0, self.samples, step := max(1, CHUNK // (8 * d))):
                n = min(step, self.samples - first)
                if isinstance(self.perturbation, Marginal):
                    chosen = random.integers(len(self.perturbation.rows), size=(n, d))
                    drawn = self.perturbation.rows[chosen[:, owner], np.arange(len(owner))]
                else:
                    added = self.scales * self.perturbation.draw(random, (n, len(self.owner)))
                    drawn = x + np.pad(added, [(0, 0), (len(x) - len(self.owner), 0)])
                for s, mask in enumerate(masks[i % len(masks)]):
                    moved = self._predictions(np.where(mask[owner], drawn, x)) - own
                    out[i, s] += (moved**2).sum() / self.samples
            if done:
                done(1)
        return out

    def _predictions(self, rows):
        with np.errstate(over="ignore"):
            (rows,) = as_readonly(rows.astype(self.forest.x_dtype))
        return predict.predict(self.forest, rows)[:, self.output]


def gaps_by_k(
    model: object,
    X: ArrayLike,
    rankings: ArrayLike,
    scale: ArrayLike,
    n_samples: int = 100,
    perturbed: str = "important",
    *,
    ks: Sequence[int] | None = None,
    absolute: bool = True,
    output: str | int | None = None,
    kind: str = "mc",
    random_state: int = 0,
    n_streams: int = 64,
) -> np.ndarray:
    """Estimate PGI or PGU by sampling, by the number of features that count as important.

    Source: Agarwal et al. 2022 (OpenXAI), and gajewski2025, Equation (1); the means over k are PGI
    and PGU. OpenXAI's code gave PGU for PGI (its issue 28): a mask was for what is kept in one
    place, and for what is perturbed in another. Here `perturbed` says which set it is.

    Parameters
    ----------
    model, X, scale, output
        See `exact_gap.pg2`. Noise is normal.
    rankings : int (n_rows, n_ranked)
        Features of each row, the most important first.
    n_samples : int
        Samples for each row and k; their noise is independent, up to the number of streams.
    perturbed : {"important", "unimportant"}
        Whether the first k features of the ranking get noise, or all but these.
    ks : sequence of int, optional
        1 to n_ranked if not given.
    absolute : bool
        Whether the gap is abs(f(x) - f(x')) or its square.
    kind, random_state, n_streams
        See `noise.noise_pool`.

    Returns
    -------
    float64 (n_rows, n_ks)
        In units of the prediction, or in squared units if `absolute` is false.

    Raises
    ------
    ValueError
        As `pg2_sampled`; or if the rankings are of other features or rows, or name one twice.

    Examples
    --------
    >>> from splitcredit.prediction_gap.sampling import gaps_by_k
    >>> gaps = gaps_by_k(model, X[:1], [[3, 0, 1, 2, 4]], 0.1, 10000, ks=[1, 3])
    >>> gaps.round(1)
    array([[1.4, 1.5]])
    """
    check_choice("perturbed", perturbed, ("important", "unimportant"))
    check_whole("random_state", random_state)
    opened = Opened(model, X)
    forest, table = opened.forest, opened.rows
    refuse_special_values(forest)
    rankings = rankings_of_model(rankings, X, forest)
    ks = checked_ks(range(1, rankings.shape[1] + 1) if ks is None else ks)
    masks = np.stack([top_k_mask(rankings, k, forest.n_features) for k in ks], axis=1)
    if perturbed == "unimportant":
        masks = ~masks
    masks = masks.reshape(-1, forest.n_features)
    pairs = checked_pairs(
        forest, np.repeat(forest.prepare(table), len(ks), axis=0), masks, scale, output
    )
    pool = noise_pool(kind, forest.n_features, n_samples, n_streams, random_state)
    streams, counts = np.arange(len(masks)) % n_streams, checked_counts([n_samples])
    return sampled_gaps(*pairs, pool, streams, counts, absolute=absolute).reshape(-1, len(ks))


def nmae(estimates: ArrayLike, exact: ArrayLike) -> float | np.ndarray:
    """Compute the normalized mean absolute error: gajewski2025, Accuracy.

    Parameters
    ----------
    estimates : float (n_pairs,) or (n_pairs, n_counts)
    exact : float (n_pairs,)
        Not all 0; this, and shapes that differ, raise a ValueError.

    Returns
    -------
    float, or float64 (n_counts,)
        Sum of the absolute differences over the sum of the absolute exact values.

    Examples
    --------
    >>> import numpy as np
    >>> from splitcredit.prediction_gap.sampling import nmae
    >>> nmae(np.array([[1.0, 1.5], [2.0, 2.5]]), np.array([1.0, 3.0]))
    array([0.25, 0.25])
    """
    estimates, exact = np.asarray(estimates, float), np.asarray(exact, float)
    if exact.ndim != 1 or len(estimates) != len(exact):
        raise ValueError(f"{len(estimates)} estimates of {exact.shape} exact values")
    total = np.abs(exact).sum()
    if total == 0:
        raise ValueError("all exact values are 0: an error relative to them is not defined")
    differences = np.abs(estimates.T - exact).sum(axis=-1) / total
    return float(differences) if differences.ndim == 0 else differences


def _literal(pairs, counts, kind, random_state, numbers):
    """Estimate from fresh noise for each pair and count."""
    forest, output, X, perturbed, scale = pairs
    out = np.empty((len(X), len(counts)))
    widths = perturbed.sum(axis=1)
    for c, count in enumerate(counts.tolist()):
        together = max(1, _CHUNK // (count * max(1, widths.max(initial=0))))
        for start in range(0, len(X), together):
            chunk = slice(start, start + together)
            sizes = widths[chunk]
            pool = np.zeros((len(sizes), sizes.max(), count), np.float32)
            for s, (number, size) in enumerate(zip(numbers[chunk].tolist(), sizes, strict=True)):
                key = np.random.SeedSequence(random_state, spawn_key=(count, number))
                pool[s, :size] = noise_stream(kind, size, count, key)
            arrays = X[chunk], perturbed[chunk], scale, pool, np.arange(len(sizes))
            out[chunk, c] = sampled_gaps(forest, output, *arrays, counts[c : c + 1])[:, 0]
    return out


def checked_counts(counts) -> np.ndarray:
    """Return rising numbers of samples, int64 (n_counts,), or raise a ValueError."""
    counts = np.asarray(counts)
    is_whole = counts.dtype.kind in "iu" and counts.ndim == 1 and len(counts) > 0
    if not is_whole or (np.diff(counts.astype(np.int64), prepend=0) < 1).any():
        raise ValueError(
            "counts must be whole numbers of samples from 1, each larger than the last"
        )
    return counts.astype(np.int64)


def _checked_pool(pool, n_columns, n_samples):
    pool = np.ascontiguousarray(pool, np.float32)
    if pool.ndim != 3 or pool.shape[1] < n_columns or pool.shape[2] < n_samples or not len(pool):
        raise ValueError(
            f"the pool has shape {pool.shape}, and the call needs streams "
            f"of {n_columns} columns and {n_samples} samples"
        )
    return pool


def checked_pairs(
    model, X, features, scale, output
) -> tuple[Forest, int, np.ndarray, np.ndarray, np.ndarray]:
    """Return forest, output, prepared rows, masks and scales: arguments of `pg2_sampled`."""
    opened = Opened(model, X)
    forest, X = opened.forest, opened.rows
    refuse_special_values(forest)
    refuse_huge_values(forest)
    X = forest.prepare(X)
    perturbed = chosen_features(forest, features, len(X))
    refuse_nan(forest, X, perturbed)
    scales = checked_scale(Normal(), scale, forest)
    return forest, only_output(forest, output), X, perturbed, scales
