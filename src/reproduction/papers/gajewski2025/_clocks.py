"""Seconds of the exact algorithm and of sampling, on one thread, taken in turn."""

import time

import numpy as np

from reproduction.papers.gajewski2025 import _ensembles
from reproduction.papers.gajewski2025._settings import METHODS
from splitcredit.prediction_gap.exact_gap import GapProblem as Setting
from splitcredit.prediction_gap.noise import noise_pool
from splitcredit.prediction_gap.sampling import pg2_sampled

# Each pair has a cost, and so has each sample. Both follow from the times at two counts.
FEW, MANY = 100, 4000
# Noise is drawn anew for every pair, as in the paper; or it is drawn before, shared by all pairs,
# and not timed.
FRESH, SHARED = "fresh noise", "shared noise"
# A random generator for each pair takes so long that fewer pairs of fresh noise are enough.
PAIRS_OF_FRESH = 22
_STREAMS = 8


def of_setting(forest, X, sigma, n_pairs, repeats) -> dict:
    """CPU seconds a pair of one model and noise, at each turn."""
    rng = np.random.default_rng(0)
    d = X.shape[1]
    n_sets_per_size = -(-n_pairs // d)
    masks = np.concatenate([_ensembles.sets(rng, n_sets_per_size, d, m) for m in range(1, d + 1)])
    x = X[rng.integers(len(X), size=len(masks))]
    fresh_rows = np.unique(np.linspace(0, len(x) - 1, min(len(x), PAIRS_OF_FRESH)).astype(int))
    setting = Setting(forest, None, sigma, None)

    def sampled(noise, kind, count):
        rows = fresh_rows if noise == FRESH else slice(None)
        options = {"draws": "literal"} if noise == FRESH else {"pool": pools[kind]}
        return lambda: pg2_sampled(forest, x[rows], masks[rows], [count], sigma, kind, **options)

    pools = {kind: noise_pool(kind, d, MANY, _STREAMS) for kind in METHODS}
    jobs = {("exact",): lambda: setting.gaps(x, masks[:, None])}
    cases = [(noise, kind) for noise in (FRESH, SHARED) for kind in METHODS]
    jobs |= {(*case, n): sampled(*case, n) for case in cases for n in (FEW, MANY)}
    seconds = turns(jobs, repeats, [name for name in jobs if MANY not in name])
    seconds_of = {"exact": seconds["exact",] / len(x)}
    for case in cases:
        n = len(fresh_rows) if case[0] == FRESH else len(x)
        a_sample = np.maximum(seconds[*case, MANY] - seconds[*case, FEW], 0) / (MANY - FEW)
        a_pair = np.maximum(seconds[*case, FEW] - FEW * a_sample, 0)
        seconds_of[case] = a_pair / n, a_sample / n
    return seconds_of


def growth(trees, sizes, n_pairs, n_sampled, repeats):
    """CPU seconds, by number of trees and size of the set."""
    rng = np.random.default_rng(1)
    n_rows = max(n_pairs, n_sampled)
    sets = {size: _ensembles.sets(rng, n_rows, _ensembles.FEATURES, size) for size in sizes}
    for n_trees in trees:
        forest, X = _ensembles.wine_like(n_trees)
        setting, x = Setting(forest, None, 0.3, None), X[:n_rows]
        pool = noise_pool("mc", X.shape[1], MANY, _STREAMS)
        jobs = {}
        for size in sizes:
            masks = sets[size]
            jobs["exact", size] = _exact(setting, x[:n_pairs], masks[:n_pairs])
            for count in (FEW, MANY):
                pairs = x[:n_sampled], masks[:n_sampled]
                jobs[count, size] = _sampling(forest, *pairs, count, "mc", {"pool": pool})
        key = {"n_trees": n_trees, "nodes": forest.n_nodes}
        seconds = turns(jobs, repeats, [name for name in jobs if MANY not in name])
        for size in sizes:
            row_key = {**key, "size": size}
            yield {"method": "exact", **row_key, "seconds": seconds["exact", size] / n_pairs}
            of_samples = np.maximum(seconds[MANY, size] - seconds[FEW, size], 0)
            yield {"method": "mc", **row_key, "seconds": of_samples / (MANY - FEW) / n_sampled}


def by_iterations(counts, n_fresh, n_shared, repeats, n_trees=40):
    """CPU seconds of sampling a pair, by number of iterations; sets of all sizes."""
    forest, X = _ensembles.wine_like(n_trees)
    n_pairs = {FRESH: n_fresh, SHARED: n_shared}
    x, d = X[: max(n_pairs.values())], X.shape[1]
    masks = np.arange(d) < (np.arange(len(x)) % d + 1)[:, None]
    pools = {kind: noise_pool(kind, d, max(counts), _STREAMS) for kind in METHODS}
    jobs = {}
    for kind in METHODS:
        for noise, options in ((FRESH, {"draws": "literal"}), (SHARED, {"pool": pools[kind]})):
            for count in counts:
                pairs = x[: n_pairs[noise]], masks[: n_pairs[noise]]
                jobs[kind, noise, count] = _sampling(forest, *pairs, count, kind, options)
    loads = [name for name in jobs if min(counts) in name]
    for (kind, noise, count), seconds in turns(jobs, repeats, loads).items():
        row = {"method": kind, "noise": noise, "iterations": count}
        yield {**row, "seconds": seconds / n_pairs[noise]}


def _exact(setting, x, masks):
    return lambda: setting.gaps(x, masks[:, None])


def _sampling(forest, x, masks, count, kind, options):
    return lambda: pg2_sampled(forest, x, masks, [count], 0.3, kind, **options)


def turns(jobs, repeats, loads) -> dict:
    """CPU seconds of each job, float64 (repeats,), taken in turn.

    The jobs of `loads` run once before, not counted: they load the kernels that the others use too.
    """
    for name in loads:
        jobs[name]()
    times = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            start = time.process_time()
            job()
            times[name].append(time.process_time() - start)
    return {name: np.array(seconds) for name, seconds in times.items()}
