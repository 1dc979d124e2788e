"""Error of Monte Carlo and quasi-Monte Carlo gaps (gajewski2025, figures 1 to 7 and table 1)."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from reproduction.parameters import Count, NonNegative, Seed
from splitcredit.prediction_gap.exact_gap import pg2
from splitcredit.prediction_gap.noise import noise_pool
from splitcredit.prediction_gap.sampling import nmae, pg2_sampled

KEYS = ("method", "sigma", "iterations")
VALUES = ("value", "standard_error", "exact_mean", "zero_share")

METHODS = ("mc", "halton")
N_STREAMS = 64
# Pairs computed between two lines of progress; results do not depend on it.
CHUNK = 4096


def check(load, n_pairs, counts) -> str:
    """Return the problem with the sizes of a recipe; empty if there is none."""
    # The data set is read only where there are few pairs: that takes longer than the check.
    if n_pairs < 1000 and n_pairs < (n_features := load().X.shape[1]):
        return f"n_pairs: {n_pairs} is not allowed; expected at least the {n_features} features"
    rises = all(a < b for a, b in pairwise(counts))
    return "" if rises else f"counts: {counts} is not allowed; expected numbers that rise"


def compute(
    attributions,
    forest,
    data,
    sigmas: Sequence[NonNegative],
    n_pairs: Count,
    counts: Sequence[Count],
    random_state: Seed = 0,
) -> pd.DataFrame:
    """NMAE of sampled PG^2 against the exact, by the number of samples.

    `sigmas` are standard deviations of the normal noise, in units of the features; of the `n_pairs`
    of a row and a set of features see `pairs`. `counts` of samples rise, and estimates are nested:
    more samples begin with the fewer. Pairs and standardized noise are the same for all sigmas,
    pairs for both methods; pairs share 64 independent streams of noise in turn.

    One row a sigma, method (``mc``, ``halton``) and count, called ``iterations``: ``value``, the
    NMAE; ``n_pairs`` drawn; ``exact_mean``, the mean exact PG^2 in squared units of the prediction;
    ``zero_share``, the share of the exact PG^2 that are 0; ``standard_error`` of the NMAE: that of
    a ratio, from its spread over the 64 streams, as pairs that share one are not independent; NaN
    if there are fewer than two.
    """
    rows, sets = pairs(len(data.X), forest.n_features, n_pairs, random_state)
    X = forest.prepare(data.X)[rows]

    def exact_of(chunk, scale):
        return pg2(forest, X[chunk], sets[chunk], scale=scale)

    def sampled(chunk, **noise):
        numbers = np.arange(chunk.start, chunk.stop)
        return pg2_sampled(forest, X[chunk], sets[chunk], counts, numbers=numbers, **noise)

    n, frames = len(X), {}
    exact = {s: _in_chunks(f"sigma {s}, exact", n, exact_of, scale=s) for s in sigmas}
    for method in METHODS:
        noise = np.random.SeedSequence(random_state).generate_state(2).tolist()
        pool = noise_pool(method, forest.n_features, max(counts), N_STREAMS, noise)
        print(f"sampling_error: noise {method}, {pool.nbytes >> 20} MB", flush=True)
        for sigma in sigmas:
            label = f"sigma {sigma}, {method}"
            estimates = _in_chunks(label, n, sampled, scale=sigma, pool=pool)
            frames[sigma, method] = _frame(sigma, method, counts, estimates, exact[sigma])
        del pool
    order = [(sigma, method) for sigma in sigmas for method in METHODS]
    return pd.concat([frames[key] for key in order], ignore_index=True)


def pairs(n_rows: int, n_features: int, n_pairs: int, random_state: int = 0):
    """Pairs of a row, drawn uniformly, and a set of features: as many of each size, which rises."""
    if n_pairs < n_features:
        raise ValueError(f"n_pairs is {n_pairs}: at least one a size, {n_features}")
    random = np.random.default_rng(random_state)
    sizes = np.repeat(np.arange(1, n_features + 1), n_pairs // n_features)
    rows = random.integers(n_rows, size=len(sizes))
    places = random.permuted(np.tile(np.arange(n_features), (len(sizes), 1)), axis=1)
    return rows, places < sizes[:, None]


def _in_chunks(label, n, compute, **options):
    """Results for slices of n pairs, joined, with a line of progress for each."""
    results = []
    for start in range(0, n, CHUNK):
        results.append(compute(slice(start, min(n, start + CHUNK)), **options))
        print(f"sampling_error: {label}, {min(n, start + CHUNK)} of {n} pairs", flush=True)
    return np.concatenate(results)


def _frame(sigma, method, counts, estimates, exact):
    columns = {"sigma": float(sigma), "method": method, "iterations": list(counts)}
    columns |= {"value": nmae(estimates, exact), "n_pairs": len(exact), "exact_mean": exact.mean()}
    columns["zero_share"] = (exact == 0).mean()
    columns["standard_error"] = standard_errors(estimates, exact)
    return pd.DataFrame(columns)


def standard_errors(estimates, exact) -> np.ndarray:
    """Standard errors of the NMAE of each count, as a ratio of sums over streams."""
    stream = np.arange(len(exact)) % N_STREAMS
    n = min(N_STREAMS, len(exact))
    if n < 2:
        return np.full(estimates.shape[1], np.nan)
    # Error of each pair less its share, by the exact gap, of all errors; these add up to 0.
    excess = np.abs(estimates - exact[:, None]) - nmae(estimates, exact) * np.abs(exact)[:, None]
    sums = np.zeros((n, estimates.shape[1]))
    np.add.at(sums, stream, excess)
    return np.sqrt((sums**2).sum(axis=0) * n / (n - 1)) / np.abs(exact).sum()
