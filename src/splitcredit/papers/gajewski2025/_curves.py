"""What figures 1 to 7 share: NMAE of sampling against the number of iterations.

The estimate from i iterations uses the first i samples of a stream, so the points of a curve are
not independent of each other (the paper draws anew for each). The expected error is the same.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from splitcredit.figures import COLOURS
from splitcredit.papers import finding
from splitcredit.papers.gajewski2025._settings import DATASETS, METHODS, MODELS

ERRORS = "gajewski2025_sampling/sampling_error"
# Limits of the axes in print.
TOP = 0.15
# Basis: rounding. The stated power of i is 1/2, a half in the first decimal.
POWER, HALF_DIGIT = -0.5, 0.05
_STYLES = {"mc": (COLOURS["blue"], "o"), "halton": (COLOURS["vermilion"], "s")}
_COLUMNS = ["dataset", "model", "sigma", "method", "iterations", "value", "standard_error"]


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
        ``dataset``, ``model``, ``sigma``, ``method``, ``iterations``; ``value``, the NMAE, a share
        of the mean exact gap; ``standard_error``; ``exact_mean``, in squared units of the target;
        ``n_pairs``.
    """
    rows = inputs[ERRORS].rename(columns={"data": "dataset"})
    rows = rows[(rows["dataset"] == dataset) & (rows["model"] == model)]
    rows = rows[rows["sigma"].isin(sigmas)] if sigmas else rows
    return rows[[*_COLUMNS, "exact_mean", "n_pairs"]].reset_index(drop=True)


def draw(table):
    """A panel for each sigma, as the paper's; dotted is 1/sqrt(i) through the first point."""
    from matplotlib import pyplot as plt

    sigmas = sorted(table["sigma"].unique())
    width = 3.1 * len(sigmas) + 1.2
    figure, axes = plt.subplots(
        1, len(sigmas), figsize=(width, 3.5), sharey=True, squeeze=False, layout="none"
    )
    bottom = 0.33 if len(sigmas) == 1 else 0.25
    figure.subplots_adjust(left=0.75 / width, right=1 - 0.3 / width, bottom=bottom, top=0.8)
    for axis, sigma in zip(axes[0], sigmas, strict=True):
        _panel(axis, table[table["sigma"] == sigma])
        axis.set_title(f"$\\sigma$ = {sigma}")
    axes[0, 0].set_ylabel("NMAE (share of the mean gap)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=2 if len(sigmas) == 1 else 4)
    first = table.iloc[0]
    name = f"{DATASETS[first['dataset']]}, {MODELS[first['model']]}"
    figure.suptitle(f"{name}: {first['n_pairs']:.0f} pairs, prefixes nested", y=0.97)
    return figure


def _panel(axis, rows):
    for method, (colour, marker) in _STYLES.items():
        own = rows[rows["method"] == method].sort_values("iterations")
        style = {"color": colour, "marker": marker, "ms": 3.5}
        axis.plot(own["iterations"], own["value"], ls="--", label=METHODS[method], **style)
        start = own.iloc[0]
        i = np.geomspace(start["iterations"], own["iterations"].max(), 100)
        line = start["value"] * np.sqrt(start["iterations"] / i)
        label = r"$\propto 1/\sqrt{i}$ from its first point"
        axis.plot(i, line, ls=":", lw=1.0, color=colour, alpha=0.8, label=label)
    axis.set_xlabel("iterations i")
    axis.set_ylim(0, TOP)
    axis.set_xlim(left=0)
    axis.locator_params(axis="x", nbins=5)


def statements(table) -> list[dict]:
    """s02: the power of the Monte Carlo error; s03: quasi-Monte Carlo, on the same pairs.

    "Most at few iterations" is judged twice: by the difference of the errors and by their ratio.
    """
    dataset, model = table[["dataset", "model"]].iloc[0]
    name = f"{dataset}, {model}"
    by = table.pivot(index="iterations", columns=["sigma", "method"], values="value").sort_index()
    sigmas = sorted(table["sigma"].unique())
    mc, qmc = (by[[(sigma, method) for sigma in sigmas]].to_numpy() for method in METHODS)
    powers = np.polynomial.polynomial.polyfit(np.log(by.index), np.log(mc), 1)[1]
    off = np.abs(powers - POWER).max()
    words = "largest |slope + 1/2| of log NMAE of Monte Carlo against log iterations, over sigma"
    found = [finding("s02", name, words, off, HALF_DIGIT, "at most")]
    words = "smallest NMAE of Monte Carlo over that of quasi-Monte Carlo, over sigma and iterations"
    found.append(finding("s03", name, words, (mc / qmc).min(), 1.0, "at least"))
    gain = mc - qmc
    lead = (gain[0] - gain[1:].max(axis=0)).min()
    words = (
        "difference of the NMAE at the fewest iterations less the next largest, least over sigma"
    )
    found.append(finding("s03", f"{name}, difference", words, lead, 0.0, "at least"))
    lead = ((mc / qmc)[0] / (mc / qmc)[-1]).min()
    words = "ratio of the NMAE at the fewest iterations over that at the most, least over sigma"
    return [*found, finding("s03", f"{name}, ratio", words, lead, 1.0, "at least")]
