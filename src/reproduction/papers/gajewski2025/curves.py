"""Figures 1 to 7: NMAE of sampling against the number of iterations, for one model each.

The estimate from i iterations uses the first i samples of a stream, so the points of a curve are
not independent of each other (the paper draws anew for each). The expected error is the same.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.figures import COLORS
from reproduction.papers import finding
from reproduction.papers.gajewski2025._settings import DATASETS, METHODS, MODELS

ERRORS = "gajewski2025_sampling/sampling_error"
# Limits of the axes in print.
TOP = 0.15
# Basis: rounding. The stated power of i is 1/2, a half in the first decimal.
POWER, HALF_DIGIT = -0.5, 0.05
_STYLES = {"mc": (COLORS["blue"], "o"), "halton": (COLORS["vermilion"], "s")}
_COLUMNS = ["variant", "dataset", "model", "sigma", "method", "iterations", "value"]
_COLUMNS += ["standard_error", "exact_mean", "n_pairs"]


def compute(inputs, dataset, model, sigmas=None) -> pd.DataFrame:
    """The curves of one model.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``gajewski2025_sampling/sampling_error``.
    dataset, model : str
    sigmas : sequence of float, optional
        Standard deviations of the noise; all without it.

    Returns
    -------
    DataFrame
        ``variant``: published is the model that the authors saved, on their split, described one
        with the parameters that the text states, on a split of our own; ``dataset``, ``model``,
        ``sigma``, ``method``, ``iterations``; ``value``, the NMAE, a share of the mean exact gap;
        ``standard_error``; ``exact_mean``, in squared units of the target; ``n_pairs``.
    """
    rows = inputs[ERRORS].rename(columns={"data": "dataset"})
    rows = rows[(rows["dataset"] == dataset) & (rows["model"] == model)]
    rows = rows[rows["sigma"].isin(sigmas)] if sigmas else rows
    return rows[_COLUMNS].reset_index(drop=True)


def draw(table):
    """A panel for each sigma, as the paper's, and a row for each variant.

    Dotted is 1/sqrt(i) through the first point. One sigma's panels stand side by side.
    """
    from matplotlib import pyplot as plt

    sigmas, variants = sorted(table["sigma"].unique()), table["variant"].unique().tolist()
    panels = [(variant, sigma) for variant in variants for sigma in sigmas]
    n_columns = len(sigmas) if len(sigmas) > 1 else len(variants)
    n_rows = len(panels) // n_columns
    width, height = 3.1 * n_columns + 1.2, 2.55 * n_rows + 1.25
    figure, axes = plt.subplots(
        n_rows,
        n_columns,
        figsize=(width, height),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="none",
    )
    around = {"left": 0.75 / width, "right": 1 - 0.3 / width}
    around |= {"bottom": 0.95 / height, "top": 1 - 0.65 / height, "hspace": 0.17}
    figure.subplots_adjust(**around)
    for axis, (variant, sigma) in zip(axes.flat, panels, strict=True):
        _panel(axis, table[(table["variant"] == variant) & (table["sigma"] == sigma)])
        axis.set_title(rf"$\sigma$ = {sigma}, {variant}", fontsize=9)
    for axis in axes[-1]:
        axis.set_xlabel("iterations i")
    for axis in axes[:, 0]:
        axis.set_ylabel("NMAE (share of the mean gap)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=2 if n_columns < 3 else 4)
    dataset, model = table[["dataset", "model"]].iloc[0]
    pairs = table.groupby("variant", sort=False)["n_pairs"].first()
    pairs = ", ".join(f"{n:.0f} pairs ({variant})" for variant, n in pairs.items())
    title = f"{DATASETS[dataset]}, {MODELS[model]}: {pairs}; prefixes nested"
    figure.suptitle(title, y=1 - 0.1 / height, fontsize=10)
    return figure


def _panel(axis, rows):
    for method, (color, marker) in _STYLES.items():
        curve = rows[rows["method"] == method].sort_values("iterations")
        style = {"color": color, "marker": marker, "ms": 3.5}
        axis.plot(curve["iterations"], curve["value"], ls="--", label=METHODS[method], **style)
        start = curve.iloc[0]
        i = np.geomspace(start["iterations"], curve["iterations"].max(), 100)
        line = start["value"] * np.sqrt(start["iterations"] / i)
        label = r"$\propto 1/\sqrt{i}$ from its first point"
        axis.plot(i, line, ls=":", lw=1.0, color=color, alpha=0.8, label=label)
    axis.set_ylim(0, TOP)
    axis.set_xlim(left=0)
    axis.locator_params(axis="x", nbins=5)


def statements(table) -> list[dict]:
    """s02: the power of the Monte Carlo error; s03: quasi-Monte Carlo, on the same pairs.

    "Most at few iterations" is judged twice: by the difference of the errors and by their ratio.
    """
    findings = []
    for variant, rows in table.groupby("variant", sort=False):
        dataset, model = rows[["dataset", "model"]].iloc[0]
        findings += _findings(f"{variant}, {dataset}, {model}", rows)
    return findings


def _findings(name, rows):
    by = rows.pivot(index="iterations", columns=["sigma", "method"], values="value").sort_index()
    sigmas = sorted(rows["sigma"].unique())
    mc, qmc = (by[[(sigma, method) for sigma in sigmas]].to_numpy() for method in METHODS)
    powers = np.polynomial.polynomial.polyfit(np.log(by.index), np.log(mc), 1)[1]
    off = np.abs(powers - POWER).max()
    measured = "largest |slope + 1/2| of log NMAE of Monte Carlo against log iterations, over sigma"
    yield finding("s02", name, measured, off, HALF_DIGIT, "at most")
    measured = (
        "smallest NMAE of Monte Carlo over that of quasi-Monte Carlo, over sigma and iterations"
    )
    yield finding("s03", name, measured, (mc / qmc).min(), 1.0, "at least")
    gain = mc - qmc
    lead = (gain[0] - gain[1:].max(axis=0)).min()
    measured = (
        "difference of the NMAE at the fewest iterations less the next largest, least over sigma"
    )
    yield finding("s03", f"{name}, difference", measured, lead, 0.0, "at least")
    lead = ((mc / qmc)[0] / (mc / qmc)[-1]).min()
    measured = "ratio of the NMAE at the fewest iterations over that at the most, least over sigma"
    yield finding("s03", f"{name}, ratio", measured, lead, 1.0, "at least")
