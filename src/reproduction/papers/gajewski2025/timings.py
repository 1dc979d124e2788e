"""Times behind table 1, ours: the exact algorithm, sampling, and iterations of equal time.

The text takes the number of iterations whose time comes closest to the exact algorithm's, the
authors' program the first that is slower; both are here. Paper and program measure their own
implementations of sampling and of the exact algorithm, and so do these. Of sampling's time for a
pair most is making a generator of its own: the draws are `sampling.pg2_sampled`'s literal ones.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction import datasets
from reproduction.figures import COLORS
from reproduction.models import fit
from reproduction.papers.gajewski2025 import _clocks, _ensembles
from reproduction.papers.gajewski2025._settings import (
    METHODS,
    MODELS,
    PUBLISHED,
    SIGMAS,
    printed_iterations,
    recipe_of,
)
from reproduction.papers.gajewski2025.curves import ERRORS
from splitcredit.convert import to_forest

_COLUMNS = ["dataset", "model", "sigma", "method", "quantity", "n_trees", "nodes", "size"]


def compute(inputs, recipes, pairs: int, repeats: int, trees: list[int], sizes) -> pd.DataFrame:
    """Seconds, iterations of equal time and their errors.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``gajewski2025_sampling/sampling_error``: the errors, and the iterations to choose from.
    recipes : dict of str to dict
        Data recipes. Models have the parameters of the saved ones; times do not hang on the split.
    pairs, repeats : int
        Pairs of a row and a set; times are medians.
    trees : list of int
        Sizes of the growing ensemble.
    sizes : list of int
        Numbers of features that are perturbed there, of 11.

    Returns
    -------
    DataFrame
        ``part``, ``value``, and by part: ``setting`` (``dataset``, ``model``, ``sigma``,
        ``method``, ``quantity``: CPU seconds ``a pair``, ``a sample``; iterations ``first slower``,
        ``closest`` and ``printed``, the first two missing if no count is slow enough; and the
        ``NMAE`` at each), ``growth`` (CPU seconds a pair; ``n_trees``, ``nodes``, ``size``),
        ``exponent`` (of seconds in nodes, last five sizes).
    """
    from splitcredit.kernels.compiled import threads

    errors = inputs[ERRORS].rename(columns={"data": "dataset"})
    rows = []
    with threads(1):
        for name, recipe in recipes.items():
            data = datasets.load(recipe)
            for model in MODELS:
                rows += _settings(name, model, data, errors, pairs, repeats)
        grown = _clocks.growth(trees, sizes, max(16, pairs // 20), repeats)
    rows += [{"part": "growth", **row} for row in grown]
    for size in sizes:
        largest = [row for row in grown if row["size"] == size][-5:]
        slope = _ensembles.slope(
            [row["nodes"] for row in largest], [row["value"] for row in largest]
        )
        rows.append({"part": "exponent", "size": size, "value": slope})
    table = pd.DataFrame(rows, columns=["part", *_COLUMNS, "value"])
    return table.astype({name: "Int64" for name in ("n_trees", "nodes", "size")})


def _settings(dataset, model, data, errors, pairs, repeats):
    """Rows of one model, all standard deviations."""
    n = data.n_training
    forest = to_forest(fit(recipe_of(dataset, model), data.X[:n], data.y[:n]))
    X = forest.prepare(data.X[n:])
    for sigma in SIGMAS:
        seconds = _clocks.of_setting(forest, X, sigma, pairs, repeats)
        key = {"part": "setting", "dataset": dataset, "model": model, "sigma": sigma}
        yield {**key, "method": "exact", "quantity": "a pair", "value": seconds["exact"]}
        for method in METHODS:
            errors_of_setting = errors[(errors["dataset"] == dataset) & (errors["model"] == model)]
            errors_of_setting = errors_of_setting[errors_of_setting["variant"] == PUBLISHED]
            errors_of_setting = errors_of_setting[
                (errors_of_setting["sigma"] == sigma) & (errors_of_setting["method"] == method)
            ]
            nmae = errors_of_setting.set_index("iterations")["value"].sort_index()
            a_pair, a_sample = seconds[method]
            quantities = {"a pair": a_pair, "a sample": a_sample}
            chosen = equal_time(nmae.index.to_numpy(), a_pair, a_sample, seconds["exact"])
            chosen["printed"] = printed_iterations()[dataset, model, sigma, method]
            for rule, count in chosen.items():
                quantities |= {rule: count, f"NMAE, {rule}": nmae.get(count, np.nan)}
            for quantity, value in quantities.items():
                yield {**key, "method": method, "quantity": quantity, "value": value}


def equal_time(counts, a_pair, a_sample, exact) -> dict:
    """Numbers of iterations that take as long as the exact algorithm, by both rules.

    Parameters
    ----------
    counts : int (n_counts,), rising
    a_pair, a_sample : float
        Seconds of sampling.
    exact : float
        Seconds of the exact algorithm, a pair.
    """
    seconds = a_pair + a_sample * counts
    slower = counts[seconds > exact]
    first = int(slower[0]) if len(slower) else np.nan
    return {"first slower": first, "closest": int(counts[np.abs(seconds - exact).argmin()])}


def draw(table):
    """Growth with the nodes; and exact seconds beside sampling's at the printed iterations."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9.4, 3.8), width_ratios=[1, 1.25], layout="none")
    figure.subplots_adjust(left=0.1, right=0.99, bottom=0.2, top=0.9, wspace=0.27)
    _growth(axes[0], table)
    _settings_panel(axes[1], table[table["part"] == "setting"])
    return figure


def _growth(axis, table):
    exponents = table[table["part"] == "exponent"].set_index("size")["value"]
    grown = table[table["part"] == "growth"]
    for (size, rows), color in zip(
        grown.groupby("size"), ("blue", "orange", "green"), strict=False
    ):
        label = f"|S| = {size:.0f}: exponent {exponents[size]:.2f}"
        style = {"color": COLORS[color], "ms": 4, "label": label}
        axis.loglog(rows["nodes"].astype(float), rows["value"], "o-", **style)
    axis.set_xlabel("nodes of the ensemble")
    axis.set_ylabel("CPU seconds a pair, one thread")
    axis.set_title("Exact algorithm")
    axis.legend(loc="upper left")


def _settings_panel(axis, rows):
    by = rows.pivot(index=["dataset", "model", "sigma"], columns=["method", "quantity"])["value"]
    by = by.sort_index(level=["model", "dataset", "sigma"], ascending=[False, True, True])
    places = np.arange(len(by))
    axis.semilogy(places, by["exact", "a pair"], "D", color=COLORS["black"], ms=4, label="exact")
    for method, color, marker in (("mc", "blue", "o"), ("halton", "vermilion", "s")):
        columns = by[method]
        seconds = columns["a pair"] + columns["a sample"] * columns["printed"]
        label = f"{METHODS[method]}, printed iterations"
        axis.semilogy(places, seconds, marker, color=COLORS[color], ms=4, label=label)
    axis.set_xticks(places, [f"{s:g}" for s in by.index.get_level_values("sigma")], fontsize=7)
    for start in range(0, len(by), 3):
        dataset, model, _ = by.index[start]
        setting = f"{dataset.split('_')[0]}\n{model}"
        axis.text(start + 1, -0.1, setting, ha="center", va="top", **_below(axis))
    axis.set_xlabel("$\\sigma$, data set, model", labelpad=24)
    axis.set_ylabel("CPU seconds a pair, one thread")
    axis.set_title("Our times in the settings of table 1")
    axis.legend(loc="upper left")
    low, high = axis.get_ylim()
    axis.set_ylim(low, high * 30)


def _below(axis):
    return {"transform": axis.get_xaxis_transform(), "fontsize": 7}
