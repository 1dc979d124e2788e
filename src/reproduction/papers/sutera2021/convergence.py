"""Finite forests of totally randomized trees beside the limits of Eq. 4 and 10, on led.

All inputs of led are binary, so scikit-learn's K = 1 grows the paper's trees. Two things are
asymptotic in the paper: the number of trees, and the number of rows. The second is shown on a led
whose segments fail with probability 0.1, as in Breiman et al. (1984): without noise ten rows are
all there is to know.
"""

import numpy as np
import pandas as pd

from reproduction import datasets, models, theory
from reproduction.datasets import led
from reproduction.figures import COLORS, panels
from reproduction.papers import around, finding
from reproduction.papers.sutera2021.led_shares import MARKERS
from reproduction.parameters import Count
from splitcredit import to_forest
from splitcredit.measures import local_mdi, mdi

_MEASURES = {
    "global": ("global MDI, Eq. 4", "blue", "o"),
    "local": ("local MDI, Eq. 10", "vermilion", "s"),
}
# Standard errors between the mean over all trees and the limit: chance exceeds it in one of 16 000
# independent cells.
_WIDE = 4.0
# Largest exponent of the errors against the number of trees and of rows, and how it is read.
_EXPONENTS = (
    ("trees", -0.4, "the error of a mean over independent trees falls with exponent -0.5"),
    ("rows", -0.25, "half the exponent of a mean over rows: they approach it, if not as fast"),
)


def compute(
    inputs,
    trees: list[Count],
    repeats: Count,
    rows: list[Count],
    trees_of_rows: Count,
    noise: float,
) -> pd.DataFrame:
    """Errors of forests, in bits.

    Columns: ``part``: ``cell`` (global MDI of each ``feature`` less its limit, of one forest),
    ``trees`` or ``rows`` (root mean square of such errors over features, and over inputs x by their
    probability for ``measure`` ``local``), ``expected`` (the same from the variance between trees),
    or ``bias`` (mean over the largest forests less the limit, in standard errors, the largest over
    all cells). ``size`` is the number of trees or rows.
    """
    measurements = [*_by_trees(trees, repeats), *_by_rows(rows, repeats, trees_of_rows, noise)]
    columns = ["part", "measure", "size", "repeat", "feature", "value"]
    return pd.DataFrame(measurements, columns=columns)


def _limits(joint, X):
    """Global MDI of infinitely many trees, and local MDI at each x."""
    local = [theory.local_mdi_totally_randomized(joint, x) for x in X]
    return {"global": theory.mdi_totally_randomized(joint), "local": np.array(local)}


def _by_trees(sizes, repeats):
    X, y = led.SEGMENTS, np.arange(10)
    limits = _limits(theory.JointDistribution.from_rows(X, y), X.astype(int))
    # Every forest has seeds of its own: those of one repeat share no tree.
    estimates = {(size, r): _estimates(X, y, X, size, r) for size in sizes for r in range(repeats)}
    for name, limit in limits.items():
        for (size, repeat), values in estimates.items():
            errors = values[name] - limit
            key = {"measure": name, "size": size, "repeat": repeat}
            yield {"part": "trees", **key, "value": _root_mean_square(errors)}
            if name == "global":
                for feature, error in enumerate(errors):
                    yield {"part": "cell", **key, "feature": feature, "value": error}
        # Variances of one tree, from the forests of all sizes.
        by_size = [[estimates[size, r][name] for r in range(repeats)] for size in sizes]
        variances = [n * np.var(v, axis=0, ddof=1) for n, v in zip(sizes, by_size, strict=True)]
        spread = np.sqrt(np.mean(variances, axis=0) / sizes[-1])
        for size in sizes:
            expected = _root_mean_square(spread) * np.sqrt(sizes[-1] / size)
            yield {"part": "expected", "measure": name, "size": size, "value": expected}
        varies = spread > 1e-12
        z = (np.mean(by_size[-1], axis=0) - limit)[varies] / spread[varies] * np.sqrt(repeats)
        yield {"part": "bias", "measure": name, "size": sizes[-1], "value": np.abs(z).max()}


def _by_rows(sizes, repeats, trees, noise):
    joint = noisy_led(noise)
    X, p_x = joint.support()
    limits = _limits(joint, X)
    for size in sizes:
        for repeat in range(repeats):
            recipe = {"dataset": "led_sampled", "n_samples": size, "noise": noise}
            data = datasets.load(recipe, repeat)
            values = _estimates(data.X, data.y, X, trees, repeat)
            for name, limit in limits.items():
                squares = (values[name] - limit) ** 2
                mean = (p_x @ squares if name == "local" else squares).mean()
                key = {"measure": name, "size": size, "repeat": repeat}
                yield {"part": "rows", **key, "value": np.sqrt(mean)}


def noisy_led(noise) -> theory.JointDistribution:
    """Led whose segments each show the opposite with probability `noise`."""
    patterns = np.array(list(np.ndindex((2,) * 7)))
    n_wrong = (patterns[:, None] != led.SEGMENTS[None].astype(int)).sum(axis=2)
    table = noise**n_wrong * (1 - noise) ** (7 - n_wrong) / 10
    return theory.JointDistribution(table.reshape((2,) * 7 + (10,)))


def _estimates(X, y, explained, trees, repeat):
    recipe = {"estimator": "ExtraTreesClassifier", "criterion": "entropy", "max_features": 1}
    recipe["n_estimators"] = trees
    forest = to_forest(models.fit(recipe, X, y, repeat))
    local = local_mdi.attribute(forest, np.asarray(explained, float)).values[:, :, 0]
    return {"global": mdi.mdi(forest).values, "local": local}


def _root_mean_square(values):
    return float(np.sqrt(np.mean(np.square(values))))


def draw(table):
    """Errors of every forest, and how they fall with trees and with rows."""
    figure, axes = panels.subplots(1, 3, figsize=(11, 3.9))
    _cells(axes[0], table)
    trees, repeats = table[table["part"] == "trees"], int(table["repeat"].max()) + 1
    for axis, part in zip(axes[1:], ("trees", "rows"), strict=True):
        for measure, (label, color, marker) in _MEASURES.items():
            rows = table[(table["part"] == part) & (table["measure"] == measure)]
            by_size = rows.groupby("size")["value"].agg(["mean", "min", "max"])
            style = {"color": COLORS[color], "lw": 1}
            # Side by side, so that neither covers the other.
            x = by_size.index * (0.96 if measure == "global" else 1.04)
            axis.loglog(x, by_size["mean"], marker=marker, ms=4, label=label, **style)
            axis.vlines(x, by_size["min"], by_size["max"], **style)
            if part == "trees":
                expected = table[(table["part"] == "expected") & (table["measure"] == measure)]
                label = "by the variance between trees" if measure == "local" else None
                style = {"ls": ":", "color": "0.2", "lw": 1, "label": label}
                axis.loglog(expected["size"], expected["value"], **style)
        axis.set_ylabel("root mean square error (bits)")
        axis.legend(loc="lower left")
    axes[1].set(title="Led, ten rows", xlabel="trees")
    axes[2].set(title="Led with noise, growing samples", xlabel="rows drawn")
    panels.letter(axes)
    figure.suptitle(
        f"Extra-trees, K = 1, and their limit; mean of {repeats} forests, lines to the extremes; "
        f"the largest have {trees['size'].max():.0f} trees",
        fontsize=9,
    )
    return figure


def _cells(axis, table):
    cells = table[(table["part"] == "cell")]
    expected = table[(table["part"] == "expected") & (table["measure"] == "global")]
    for factor, alpha in ((2, 0.15), (1, 0.2)):
        band = factor * expected["value"]
        axis.fill_between(expected["size"], -band, band, color=COLORS["blue"], alpha=alpha, lw=0)
    for feature, (marker, color) in enumerate(zip(MARKERS, COLORS.values(), strict=True)):
        rows = cells[cells["feature"] == feature]
        shift = 1.09 ** (feature - 3)
        style = {"ms": 2.5, "color": color, "label": f"{feature}"}
        axis.plot(rows["size"] * shift, rows["value"], marker, **style)
    axis.axhline(0, color="0.3", lw=0.8)
    axis.set(xscale="log", xlabel="trees", ylabel="global MDI - Eq. 4 (bits)")
    axis.set_title("Led, ten rows: every segment")
    style = {"title": "segment; bands: 1 and 2 standard errors", "loc": "upper right", "ncols": 7}
    style |= {"fontsize": 7, "title_fontsize": 7, "handletextpad": 0, "columnspacing": 0.6}
    axis.legend(**style)


def statements(table):
    """s46: the mean of the forests is the limit, and errors fall with trees and rows."""
    four = {"basis": "monte-carlo", "reason": "four standard errors, by the spread over forests"}
    for measure, (label, _, _) in _MEASURES.items():
        rows = table[table["measure"] == measure]
        (bias,) = rows[rows["part"] == "bias"]["value"]
        measured = "largest difference of the mean over forests and the limit, in standard errors"
        place = ("s46", f"{label}: bias", measured)
        yield finding(*place, bias, _WIDE, **four, possible=(0, None))
        for part, limit, reading in _EXPONENTS:
            value, error = _exponent(rows[rows["part"] == part])
            place = (
                "s46",
                f"{label}: {part}",
                f"exponent of the error against the number of {part}",
            )
            options = {"interval": around(value, 2 * error), "possible": (-1, 1)}
            yield finding(*place, value, limit, reading=reading, **options)


def _exponent(rows):
    """Mean slope of the logarithms over the repeats, and its standard error."""
    logarithms = np.log(rows.pivot_table(index="repeat", columns="size", values="value"))
    sizes = np.log(logarithms.columns.to_numpy(float))
    slopes = np.polyfit(sizes, logarithms.to_numpy().T, 1)[0]
    return slopes.mean(), slopes.std(ddof=1) / np.sqrt(len(slopes))
