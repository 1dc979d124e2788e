"""Seconds of the exact algorithm and of sampling, on one thread, taken in turn."""

from __future__ import annotations

import statistics
import time

import numpy as np

from reproduction.papers.gajewski2025 import _ensembles
from reproduction.papers.gajewski2025._settings import METHODS
from splitcredit.faithfulness.prediction_gap import GapProblem as Setting
from splitcredit.faithfulness.sampling import pg2_sampled

# Sampling takes so much for a pair and so much for a sample: from the times at two counts.
FEW, MANY = 100, 4000


def of_setting(forest, X, sigma, n_pairs, repeats) -> dict:
    """CPU seconds of one model and noise.

    Sampling draws its noise anew for each pair, as the paper does, and that is part of its time.

    Parameters
    ----------
    forest : Forest
    X : prepared rows (n_rows, n_features)
    sigma : float
    n_pairs : int
        Rows with random sets, of all sizes equally many.
    repeats : int
        The median of so many is taken.

    Returns
    -------
    dict
        ``exact``: seconds a pair; by method, a pair of seconds: for a pair, for a sample.
    """
    rng = np.random.default_rng(0)
    d = X.shape[1]
    each = -(-n_pairs // d)
    chosen = np.concatenate([_ensembles.sets(rng, each, d, m) for m in range(1, d + 1)])
    x = X[rng.integers(len(X), size=len(chosen))]
    setting = Setting(forest, None, sigma, None)

    def sampled(kind, count):
        def run():
            pg2_sampled(forest, x, chosen, [count], sigma, kind, draws="literal")

        return run

    jobs = {"exact": lambda: setting.gaps(x, chosen[:, None])}
    jobs |= {(kind, n): sampled(kind, n) for kind in METHODS for n in (FEW, MANY)}
    seconds = {name: t / len(x) for name, t in medians(jobs, repeats).items()}
    seconds_of = {"exact": seconds["exact"]}
    for kind in METHODS:
        a_sample = max(seconds[kind, MANY] - seconds[kind, FEW], 0.0) / (MANY - FEW)
        seconds_of[kind] = max(seconds[kind, FEW] - FEW * a_sample, 0.0), a_sample
    return seconds_of


def growth(trees, sizes, n_pairs, repeats) -> list[dict]:
    """CPU seconds a pair of the exact algorithm, by number of trees and size of the set."""
    rng = np.random.default_rng(1)
    rows = []
    for n_trees in trees:
        forest, X = _ensembles.wine_like(n_trees)
        setting, x = Setting(forest, None, 0.3, None), X[:n_pairs]
        jobs = {}
        for size in sizes:
            chosen = _ensembles.sets(rng, len(x), X.shape[1], size)[:, None]
            jobs[size] = lambda chosen=chosen, x=x, setting=setting: setting.gaps(x, chosen)
        key = {"n_trees": n_trees, "nodes": forest.n_nodes}
        seconds = medians(jobs, repeats)
        rows += [{**key, "size": size, "value": seconds[size] / len(x)} for size in sizes]
    return rows


def medians(jobs, repeats) -> dict:
    """Median CPU seconds of each job, in turn; the first turn loads and is not counted."""
    times = {name: [] for name in jobs}
    for turn in range(repeats + 1):
        for name, job in jobs.items():
            start = time.process_time()
            job()
            if turn:
                times[name].append(time.process_time() - start)
    return {name: statistics.median(seconds) for name, seconds in times.items()}
