"""Figures 1 to 7: NMAE of sampling against the number of iterations, for one model each.

The estimate from i iterations uses the first i samples of a stream, so the points of a curve are
not independent of each other; the paper draws anew for each. The expected error is the same.
"""

from itertools import product

import numpy as np
import pandas as pd

from reproduction.figures import COLORS, panels
from reproduction.papers import around, finding
from reproduction.papers.gajewski2025._settings import (
    DATASETS,
    DESCRIBED,
    METHODS,
    MODELS,
    N_FEATURES,
    NOT_NEGATIVE,
    PUBLISHED,
    SHARE,
)

ERRORS = "gajewski2025_sampling/sampling_error"
# Upper limit of the axes in print; ours show all points.
TOP = 0.15
# The stated power of i is 1/2, a half in the first decimal.
POWER, HALF_DIGIT = -0.5, 0.05
# Settings of which table 1 and the figures show another model than the one that the authors saved.
_NOT_PRINTED = {
    ("parkinson", "single"): "its gaps respond to features that the saved tree does not split on",
}
# Standard errors to either side of a value, in intervals.
K = 3
# "Often": one pair in ten.
OFTEN = 0.1
SCALES = ("linear", "log")
_STYLES = {"mc": (COLORS["blue"], "o"), "halton": (COLORS["vermilion"], "s")}
_COLUMNS = ["variant", "dataset", "model", "sigma", "method", "iterations", "value"]
_COLUMNS += ["standard_error", "exact_mean", "zero_share", "n_pairs"]


def compute(inputs, dataset: str, model: str, sigmas: list[float] | None = None) -> pd.DataFrame:
    """The curves of one model.

    Columns: ``variant``: published is the model that the authors saved, on their split, described
    one with the parameters that the text states, on a split of our own; ``value``, the NMAE, a
    share of the mean exact gap; ``exact_mean``, in squared units of the target; ``zero_share`` of
    the exact gaps are 0; ``n_pairs``.
    """
    rows = inputs[ERRORS].rename(columns={"data": "dataset"})
    rows = rows[(rows["dataset"] == dataset) & (rows["model"] == model)]
    rows = rows[rows["sigma"].isin(sigmas)] if sigmas else rows
    return rows[_COLUMNS].reset_index(drop=True)


def draw(table):
    """The paper's axes, then both axes logarithmic; a column a sigma if there are several."""
    dataset, model = table[["dataset", "model"]].iloc[0]
    sigmas = sorted(table["sigma"].unique())
    is_one = len(sigmas) == 1
    shape = (1, 2) if is_one else (2, len(sigmas))
    figure, axes = panels.subplots(
        *shape, figsize=(9.2, 4 if is_one else 6.6), sharey=False if is_one else "row"
    )
    for axis, (scale, sigma) in zip(axes.flat, product(SCALES, sigmas), strict=True):
        _panel(axis, table[table["sigma"] == sigma], scale)
        if scale == "linear":
            highest = 1.06 * (table["value"] + K * table["standard_error"]).max()
            axis.set_ylim(0, max(TOP, highest))
        words = ", logarithmic" if scale == "log" else ""
        axis.set_title(rf"noise $\sigma$ = {sigma}{words}")
        axis.set_xlabel("iterations i (samples for a pair)")
    for axis in axes.flat if is_one else axes[:, 0]:
        axis.set_ylabel("NMAE (share of the mean gap)")
    panels.letter(axes)
    handles = axes.flat[-1].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3)
    figure.suptitle("\n".join(_headings(table, dataset, model)), fontsize=10)
    return figure


def _words(variant, dataset, model):
    """The name of a variant; another name if the printed numbers come from an unavailable model."""
    is_other_model = variant == PUBLISHED and (dataset, model) in _NOT_PRINTED
    return "saved, not print's" if is_other_model else variant


def _headings(table, dataset, model):
    pairs = table.groupby("variant", sort=False)["n_pairs"].first()
    words = [f"{n:.0f} pairs ({_words(v, dataset, model)})" for v, n in pairs.items()]
    is_one = pairs.nunique() == 1
    of_pairs = f"{pairs.iloc[0]:.0f} pairs of a row and a set of features"
    of_pairs = of_pairs if is_one else ", ".join(words)
    yield f"{DATASETS[dataset]}, {MODELS[model]}: error of sampling against iterations"
    largest = K * (table["standard_error"] / table["value"]).max()
    yield f"{of_pairs}; {K} standard errors: at most {100 * largest:.0f} % of a value"
    if (dataset, model) in _NOT_PRINTED:
        yield f"Print is of another tree: {_NOT_PRINTED[dataset, model]}"


def _panel(axis, rows, scale):
    for (method, (color, marker)), variant in product(_STYLES.items(), rows["variant"].unique()):
        curve = rows[(rows["method"] == method) & (rows["variant"] == variant)]
        curve = curve.sort_values("iterations")
        words = _words(variant, *curve[["dataset", "model"]].iloc[0])
        # Rings, which show points within them.
        style = {"ls": "--", "mfc": "none", "ms": 6.5} if variant == DESCRIBED else {"ms": 4}
        style |= {"color": color, "marker": marker, "label": f"{METHODS[method]}, {words}"}
        axis.plot(curve["iterations"], curve["value"], lw=1, **style)
    if scale == "linear":
        axis.set_xlim(left=0)
        axis.locator_params(axis="x", nbins=5)
        return
    # Above all curves and below them, between no two.
    ends = rows["iterations"].agg(["min", "max"]).to_numpy()
    fall = (ends / ends[0]) ** POWER
    guides = np.outer(fall, (1.6 * rows["value"].max(), rows["value"].min() / fall[-1] / 1.6))
    axis.plot(ends, guides, ls=":", lw=1, color="0.35", label=("slope $-1/2$", "_below"))
    axis.set(xscale="log", yscale="log")


def statements(table):
    """s02: the power of the Monte Carlo error; s03: quasi-Monte Carlo, on the same pairs; s26: how
    many gaps are 0; s27: the errors fall.
    """
    for variant, rows in table.groupby("variant", sort=False):
        dataset, model = rows[["dataset", "model"]].iloc[0]
        name = f"{_words(variant, dataset, model)}, {dataset}, {model}"
        yield _power(name, rows)
        yield from _quasi(name, rows)
        yield _zeros(name, rows, N_FEATURES[dataset])
        yield _fall(name, rows)


def _wide(rows, name):
    """One column of the table, float64 (n_methods, n_iterations, n_sigmas)."""
    pivoted = rows.pivot(index="iterations", columns=["sigma", "method"], values=name).sort_index()
    sigmas = sorted(rows["sigma"].unique())
    return np.stack([pivoted[[(s, method) for s in sigmas]].to_numpy() for method in METHODS])


def _shared(rows):
    """Correlation of the errors at two numbers of iterations, (n_iterations, n_iterations)."""
    # That of means over the first i and the first j of the same samples: sqrt(i / j) for i < j.
    i = np.sort(rows["iterations"].unique()).astype(float)
    return np.sqrt(np.minimum.outer(i, i) / np.maximum.outer(i, i))


def _power(name, rows):
    value, error = _wide(rows, "value")[0], _wide(rows, "standard_error")[0]
    log_i = np.log(np.sort(rows["iterations"].unique()))
    weights = (log_i - log_i.mean()) / ((log_i - log_i.mean()) ** 2).sum()
    deviation = np.abs(weights @ np.log(value) - POWER)
    weighted = weights[:, None] * error / value
    errors = K * np.sqrt(np.einsum("is,ij,js->s", weighted, _shared(rows), weighted))
    measured = "largest |slope + 1/2| of log NMAE of Monte Carlo against log iterations, over sigma"
    reason = "half a unit of the first decimal of the power 1/2; the interval is "
    options = {"reason": f"{reason}{K} standard errors of each NMAE, over streams of noise"}
    options["interval"] = np.maximum(deviation - errors, 0).max(), (deviation + errors).max()
    place = ("s02", name, measured, deviation.max(), HALF_DIGIT)
    return finding(*place, possible=NOT_NEGATIVE, **options)


def _quasi(name, rows):
    """By the difference and by the ratio: "most at few iterations" may be either."""
    (mc, qmc), (mc_error, qmc_error) = _wide(rows, "value"), _wide(rows, "standard_error")
    ratio, gain = mc / qmc, mc - qmc
    of_ratio = K * ratio * np.hypot(mc_error / mc, qmc_error / qmc)
    of_gain = K * np.hypot(mc_error, qmc_error)
    reason = f"the interval is {K} standard errors over streams of noise"
    few, many = rows["iterations"].min(), rows["iterations"].max()

    def judged(variant, measured, value, error, limit, **ranges):
        # Another value than the smallest may have the wider interval, and be below the limit.
        interval = (value - error).min(), (value + error).min()
        options = {"basis": "monte-carlo", "reason": reason, "interval": interval, **ranges}
        return finding("s03", variant, measured, value.min(), limit, "at least", **options)

    measured = "smallest NMAE of Monte Carlo over that of quasi-Monte Carlo, over sigma and i"
    # From like errors at one iteration on, the errors fall with the powers 1/2 and at most 1.
    yield judged(name, measured, ratio, of_ratio, 1.0, possible=(0, many**0.5))
    lead, error = gain[0] - gain[1:], np.hypot(of_gain[0], of_gain[1:])
    measured = "gain of quasi-Monte Carlo at the fewest iterations less that at others, the least"
    ranges = {"reading": f'"especially", as a difference; {reason}'}
    ranges["possible"] = -mc.max(), mc.max()
    yield judged(f"{name}, difference", measured, lead, error, 0.0, **ranges)
    few_over_many = ratio[0] / ratio[-1]
    error = few_over_many * np.hypot(of_ratio[0] / ratio[0], of_ratio[-1] / ratio[-1])
    measured = "ratio of the NMAE at the fewest iterations over that at the most, least over sigma"
    # By these powers the ratio at the fewest is that at the most times this at least.
    ranges = {"possible": NOT_NEGATIVE, "expected": ((few / many) ** 0.5, 1)}
    ranges["reading"] = f'"especially", as a ratio; {reason}'
    yield judged(f"{name}, ratio", measured, few_over_many, error, 1.0, **ranges)


def _zeros(name, rows, n_features):
    of_sigma = rows.groupby("sigma")[["zero_share", "n_pairs"]].first().sort_index()
    share = of_sigma["zero_share"].to_numpy()
    error = K * np.sqrt(share * (1 - share) / of_sigma["n_pairs"].to_numpy())
    measured = f"share of exact gaps that are 0, at sigma {of_sigma.index[0]}"
    reading = f"often is taken as one pair in ten; the interval is {K} standard errors over pairs"
    options = {"reading": reading, "interval": around(share[0], error[0]), "possible": SHARE}
    if rows["model"].iloc[0] == "bigger":
        # A gap that is 0 for wider noise is so for this; and if trees split on nearly all features,
        # nearly all sets without a split have one feature, as one pair in `n_features` has.
        options["expected"] = share[-1], 1 / n_features
    return finding("s26", name, measured, share[0], OFTEN, "at least", **options)


def _fall(name, rows):
    value, error = _wide(rows, "value"), _wide(rows, "standard_error")
    ratio = value[:, -1] / value[:, 0]
    of_ratio = K * ratio * np.hypot(*np.moveaxis((error / value)[:, [0, -1]], 1, 0))
    measured = "NMAE at the most iterations over that at the fewest, largest over sigma and methods"
    reading = '"overall": from the fewest iterations to the most; the interval is '
    reading += f"{K} standard errors of each NMAE"
    options = {"reading": reading, "possible": NOT_NEGATIVE}
    options["interval"] = (ratio - of_ratio).max(), (ratio + of_ratio).max()
    return finding("s27", name, measured, ratio.max(), 1, **options)
