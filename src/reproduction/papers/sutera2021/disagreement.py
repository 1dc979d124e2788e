"""Why some samples have uncorrelated scores, which appendix E.2 of the paper leaves open.

The paper's guess: Saabas and TreeSHAP explain the predicted class, local MDI all classes together.
Here the same paths are read once more by the log loss of the predicted class alone, which has the
same global mean as local MDI; and rows are weighted so that the classes start alike.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.figures import COLORS, panels
from reproduction.papers import finding
from reproduction.papers.sutera2021.figure7 import PANELS, SIMILAR

VERSUS = {"saabas": "Saabas", "tree_shap": "TreeSHAP"}
REFERENCES = {
    "local_mdi": ("entropy of all classes (local MDI)", "vermilion", ""),
    "log_loss": ("log loss of the predicted class", "blue", "//"),
}
NAMES = {
    "iris": ("setosa", "versicolor", "virginica"),
    "wine": ("class 0", "class 1", "class 2"),
    "breast_cancer": ("malignant", "benign"),
}
# Draws for the intervals of the shares that remain; more change their ends by less than 0.01.
DRAWS = 4000


def compute(inputs) -> pd.DataFrame:
    """Share of samples below 0.75, by class, with either reference and either weighting.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``class_correlation`` of ``sutera2021_local`` and of ``sutera2021_balanced``.

    Returns
    -------
    DataFrame
        ``part`` ``class``: ``dataset``, ``weights`` (``equal`` rows or ``balanced`` classes),
        ``versus``, ``reference``, ``predicted`` (number of the class), ``prior`` (its probability
        at the roots), ``n`` samples, ``mean`` correlation (Pearson, signed scores), ``below_half``
        and ``value``, percent of them below 0.5 and 0.75. ``part`` ``remains``: of the samples of
        a data set below 0.75 with local MDI, how many there are with the log loss, as ``value``,
        with ``low`` and ``high``, 95 % of samples drawn anew.
    """
    local = inputs["sutera2021_local/class_correlation"]
    local = local[local["variant"] == "published"].assign(weights="equal")
    balanced = inputs["sutera2021_balanced/class_correlation"].assign(weights="balanced")
    rows = pd.concat([local, balanced], ignore_index=True).rename(columns={"data": "dataset"})
    rows = rows[rows["correlation"] == "pearson"]
    keys = ["dataset", "weights", "versus", "reference", "predicted"]
    grouped = rows.groupby(keys, sort=False)
    by_class = grouped.agg(
        prior=("prior", "first"),
        n=("value", "size"),
        mean=("value", "mean"),
        below_half=("value", lambda v: 100 * (v < 0.5).mean()),
        value=("value", lambda v: 100 * (v < SIMILAR).mean()),
    )
    by_class = by_class.reset_index().assign(part="class")
    remains = pd.DataFrame(_remains(rows[rows["weights"] == "equal"]))
    table = pd.concat([by_class, remains], ignore_index=True)
    return table[["part", *keys, "prior", "n", "mean", "below_half", "value", "low", "high"]]


def _remains(rows):
    """Samples below 0.75 by the log loss, a share of those by local MDI, with an interval."""
    for (dataset, versus), group in rows.groupby(["dataset", "versus"], sort=False):
        is_below = group.pivot_table(index="sample", columns="reference", values="value") < SIMILAR
        before, after = is_below["local_mdi"].to_numpy(), is_below["log_loss"].to_numpy()
        if not before.any():
            continue
        # Samples drawn with replacement: counts of the four kinds of samples are multinomial.
        kinds = np.bincount(2 * before + after, minlength=4)
        random = np.random.default_rng(0)
        counts = random.multinomial(len(before), kinds / len(before), size=DRAWS)
        shares = (counts[:, 1] + counts[:, 3]) / np.maximum(counts[:, 2] + counts[:, 3], 1)
        low, high = np.quantile(shares, [0.025, 0.975])
        key = {"part": "remains", "dataset": dataset, "weights": "equal", "versus": versus}
        value = after.sum() / before.sum()
        yield {**key, "n": len(before), "value": value, "low": low, "high": high}


def draw(table):
    """Why: entropy against log loss; and the shares by class, as they are and balanced."""
    from matplotlib import pyplot as plt

    figure = plt.figure(figsize=(10, 7.4))
    top, bottom = figure.subfigures(2, 1, height_ratios=[1.2, 1])
    above = top.subplots(1, 2, width_ratios=[1, 1.25])
    _hump(above[0], table)
    _all_sets(above[1], table)
    lower = bottom.subplots(1, 3, sharex=True)
    for axis, dataset in zip(lower, NAMES, strict=True):
        _by_class(axis, table, dataset)
        axis.set_xlabel(f"samples below {SIMILAR:g} (%)")
    panels.letter([*above, *lower])
    bottom.suptitle(
        "By predicted class, against TreeSHAP; in brackets the class's share at the roots "
        "(balanced: rows weighted so that classes are equally likely)",
        fontsize=9,
    )
    return figure


def _hump(axis, table):
    """Two classes: on its way to 1 from below 1/2, a class passes the maximum of the entropy."""
    rows = table[(table["dataset"] == "breast_cancer") & (table["weights"] == "equal")]
    malignant = NAMES["breast_cancer"].index("malignant")
    # Baselines of the two measures may differ by a rounding.
    prior = rows.loc[rows["predicted"] == malignant, "prior"].mean()
    p = np.linspace(0.001, 0.999, 400)
    entropy = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    for (words, color, _), values in zip(REFERENCES.values(), (entropy, -np.log2(p)), strict=True):
        axis.plot(p, values, color=COLORS[color], label=words)
    axis.axvline(prior, color="0.4", lw=0.8, ls=":")
    words = {"fontsize": 7.5, "color": "0.3", "ha": "right", "va": "top"}
    axis.text(prior - 0.01, 0.5, "malignant\nat the roots", **words)
    axis.set(xlim=(0, 1), ylim=(0, 2.4), xlabel="probability of the predicted class", ylabel="bits")
    axis.set_title("A step toward the class can raise the entropy")
    axis.legend(loc="upper right")


def _all_sets(axis, table):
    """Samples below 0.75 in each data set, by reference; both measures."""
    rows = table[(table["part"] == "class") & (table["weights"] == "equal")]
    count = rows["n"] * rows["value"] / 100
    totals = rows.assign(low=count).groupby(["dataset", "versus", "reference"])[["low", "n"]].sum()
    share = 100 * totals["low"] / totals["n"]
    places = [(d, v) for d in PANELS for v in VERSUS if (d, v, "local_mdi") in share.index]
    places_of_bars = np.arange(len(places))
    for shift, (reference, (words, color, hatch)) in zip(_SHIFTS, REFERENCES.items(), strict=True):
        lengths = [share[d, v, reference] for d, v in places]
        style = {"color": COLORS[color], "hatch": hatch, "label": words}
        _bars(axis, places_of_bars + shift, lengths, style)
    axis.set_yticks(places_of_bars, [f"{PANELS[d]}, {VERSUS[v]}" for d, v in places])
    axis.set_ylim(len(places) - 0.5, -0.5)
    axis.set_xlabel(f"samples below {SIMILAR:g} (%)")
    axis.set_title("Pearson correlation with Saabas and TreeSHAP, K = 1")
    # The first data sets have short bars.
    axis.legend(loc="upper right")


# Distances of two bars from the middle between them.
_SHIFTS = (-0.2, 0.2)


def _bars(axis, places, lengths, style):
    """Horizontal bars with their lengths beside them."""
    axis.barh(places, lengths, height=0.4, edgecolor="white", **style)
    for place, length in zip(places, lengths, strict=True):
        text = {"xytext": (3, 0), "textcoords": "offset points", "va": "center"}
        axis.annotate(f"{length:.1f}", (length, place), fontsize=7, **text)
    axis.tick_params(axis="y", length=0, labelsize=8)
    axis.grid(False, axis="y")


def _by_class(axis, table, dataset):
    rows = table[(table["part"] == "class") & (table["dataset"] == dataset)]
    rows = rows[rows["versus"] == "tree_shap"]
    weightings = [w for w in ("equal", "balanced") if w in set(rows["weights"])]
    groups = [(w, c) for w in weightings for c in range(len(NAMES[dataset]))]
    cells = rows.set_index(["reference", "weights", "predicted"])
    for shift, (reference, (_, color, hatch)) in zip(_SHIFTS, REFERENCES.items(), strict=True):
        drawn_groups = [k for k, (w, c) in enumerate(groups) if (reference, w, c) in cells.index]
        lengths = [cells.loc[(reference, *groups[k]), "value"] for k in drawn_groups]
        _bars(
            axis, np.array(drawn_groups) + shift, lengths, {"color": COLORS[color], "hatch": hatch}
        )
    labels = []
    for weights, predicted in groups:
        key = ("local_mdi", weights, predicted)
        prior = f"({cells.loc[key, 'prior']:.2f})" if key in cells.index else "(none)"
        word = "balanced " if weights == "balanced" else ""
        labels.append(f"{NAMES[dataset][predicted]}\n{word}{prior}")
    axis.set_yticks(range(len(groups)), labels)
    axis.set_ylim(len(groups) - 0.5, -0.5)
    axis.margins(x=0.15)
    axis.set_title(PANELS[dataset])


def statements(table) -> list[dict]:
    """s44: the disagreement that remains when only the predicted class counts."""
    rows = table[table["part"] == "remains"]
    return [
        finding(
            "s44",
            f"{row.dataset}, {VERSUS[row.versus]}",
            f"samples below {SIMILAR:g} by the log loss, a share of those by local MDI",
            row.value,
            0.5,
            basis="chosen",
            reason="what comes from the choice of classes goes with it, most of it at least",
            interval=(row.low, row.high),
        )
        for row in rows.itertuples()
    ]
