"""Why some samples have uncorrelated scores, which appendix E.2 of the paper leaves open.

The paper's guess: Saabas and TreeSHAP explain the predicted class, local MDI all classes together.
Two things set local MDI apart: it has all classes, and an entropy, which rises before it falls as a
class becomes likely. Here the same paths are read once more by measures that differ in one of the
two; and forests are fitted with balanced classes, and on permuted labels.
"""

import numpy as np
import pandas as pd

from reproduction.figures import COLORS, panels
from reproduction.metrics import class_correlation
from reproduction.papers import finding
from reproduction.papers.sutera2021.figure7 import PANELS, SIMILAR

VERSUS = {"saabas": "Saabas", "tree_shap": "TreeSHAP"}
REFERENCES = {
    "local_mdi": "entropy of all classes\n(local MDI)",
    "class_entropy": "entropy of the\npredicted class alone",
    "unfolded_entropy": "the same, its rise\nturned into a fall",
    "log_loss": "log loss of the\npredicted class alone",
    "log_loss_all": "log loss of\nall classes",
}
FITS = {"plain": "fitted on the data", "permuted": "fitted on permuted labels"}
NAMES = {
    "iris": ("setosa", "versicolor", "virginica"),
    "wine": ("class 0", "class 1", "class 2"),
    "breast_cancer": ("malignant", "benign"),
}
# Draws for the intervals of the shares that remain; more change their ends by less than 0.01.
DRAWS = 4000


def compute(inputs) -> pd.DataFrame:
    """Share of samples below 0.75, by class, with every reference and every fit.

    Returns
    -------
    DataFrame
        ``part`` ``class``: ``dataset``, ``fit`` (``plain``, ``balanced`` classes or ``permuted``
        labels), ``versus``, ``reference``, ``predicted`` (number of the class), ``prior`` (its
        probability at the roots), ``n`` samples, ``mean`` correlation (Pearson, signed scores),
        ``below_half`` and ``value``, percent of them below 0.5 and 0.75. ``part`` ``remains``: the
        samples of a data set below 0.75 with another reference than local MDI, over those with
        local MDI, as ``value``; ``most``, if all samples were; and ``low`` and ``high``, 95 % of
        samples drawn anew.
    """
    by_fit = {
        "plain": inputs["sutera2021_local/class_correlation"].query("variant == 'published'"),
        "balanced": inputs["sutera2021_balanced/class_correlation"],
        "permuted": inputs["sutera2021_permuted/class_correlation"],
    }
    rows = pd.concat([table.assign(fit=fit) for fit, table in by_fit.items()], ignore_index=True)
    rows = rows[rows["correlation"] == "pearson"].rename(columns={"data": "dataset"})
    keys = ["dataset", "fit", "versus", "reference", "predicted"]
    grouped = rows.groupby(keys, sort=False)
    by_class = grouped.agg(
        prior=("prior", "first"),
        n=("value", "size"),
        mean=("value", "mean"),
        below_half=("value", lambda v: 100 * (v < 0.5).mean()),
        value=("value", lambda v: 100 * (v < SIMILAR).mean()),
    )
    by_class = by_class.reset_index().assign(part="class")
    remains = pd.DataFrame(_remains(rows[rows["fit"] == "plain"]))
    table = pd.concat([by_class, remains], ignore_index=True)
    columns = ["prior", "n", "mean", "below_half", "value", "most", "low", "high"]
    return table[["part", *keys, *columns]]


def _remains(rows):
    """Samples below 0.75 by each control, a share of those by local MDI, with an interval."""
    for (dataset, versus), group in rows.groupby(["dataset", "versus"], sort=False):
        is_below = group.pivot_table(index="sample", columns="reference", values="value") < SIMILAR
        before = is_below["local_mdi"].to_numpy()
        if not before.any():
            continue
        for reference in [*REFERENCES][1:]:
            after = is_below[reference].to_numpy()
            # Samples drawn with replacement: counts of the four kinds of samples are multinomial.
            kinds = np.bincount(2 * before + after, minlength=4)
            random = np.random.default_rng(0)
            counts = random.multinomial(len(before), kinds / len(before), size=DRAWS)
            shares = (counts[:, 1] + counts[:, 3]) / np.maximum(counts[:, 2] + counts[:, 3], 1)
            low, high = np.quantile(shares, [0.025, 0.975])
            key = {"part": "remains", "dataset": dataset, "fit": "plain", "versus": versus}
            numbers = {"n": len(before), "value": after.sum() / before.sum()}
            numbers |= {"most": len(before) / before.sum(), "low": low, "high": high}
            yield {**key, "reference": reference, **numbers}


def draw(table):
    """Why: entropy against log loss; the shares with every reference; and by class."""
    figure = panels.figure(figsize=(10.5, 8.6))
    top, bottom = figure.subfigures(2, 1, height_ratios=[1.5, 1])
    above = top.subplots(1, 2, width_ratios=[1, 2])
    _hump(above[0], table)
    _all_sets(above[1], table)
    lower = bottom.subplots(1, 3, sharex=True)
    for axis, dataset in zip(lower, NAMES, strict=True):
        _by_class(axis, table, dataset)
        axis.set_xlabel(f"samples below {SIMILAR:g} (%)")
    panels.letter([*above, *lower])
    bottom.legend(*lower[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    bottom.suptitle(
        "By predicted class, against TreeSHAP; in brackets the class's share at the roots "
        "(balanced: rows weighted so that classes are equally likely)",
        fontsize=9,
    )
    return figure


def _hump(axis, table):
    """Two classes: on its way to 1 from below 1/2, a class passes the maximum of the entropy."""
    rows = table[(table["dataset"] == "breast_cancer") & (table["fit"] == "plain")]
    malignant = NAMES["breast_cancer"].index("malignant")
    # Baselines of the measures may differ by a rounding.
    prior = rows.loc[rows["predicted"] == malignant, "prior"].mean()
    p = np.linspace(0.001, 0.999, 400)
    for reference, color, dash, words in (
        ("class_entropy", "vermilion", "-", "entropy"),
        ("unfolded_entropy", "vermilion", ":", "its rise turned into a fall"),
        ("log_loss", "blue", "-", "log loss"),
    ):
        values = class_correlation.CONTROLS[reference](p)
        axis.plot(p, values, color=COLORS[color], ls=dash, label=words)
    axis.axvline(prior, color="0.4", lw=0.8, ls=":")
    words = {"fontsize": 7.5, "color": "0.3", "ha": "right", "va": "top"}
    axis.text(prior - 0.01, 0.4, "malignant\nat the roots", **words)
    axis.set(xlim=(0, 1), ylim=(0, 2.6), xlabel="probability of the predicted class", ylabel="bits")
    axis.set_title("A step toward the class\ncan raise the entropy")
    axis.legend(loc="upper right")


def _all_sets(axis, table):
    """Samples below 0.75 in each data set, by fit and reference; both measures."""
    rows = table[table["part"] == "class"]
    rows = rows.assign(low=rows["n"] * rows["value"] / 100)
    totals = rows.groupby(["dataset", "versus", "fit", "reference"])[["low", "n"]].sum()
    shares = (100 * totals["low"] / totals["n"]).unstack(["fit", "reference"])
    columns = [(fit, reference) for fit in FITS for reference in REFERENCES]
    lines = [(d, v) for d in PANELS for v in VERSUS if (d, v) in shares.index]
    shares = shares.reindex(index=lines, columns=columns)
    axis.imshow(shares, cmap="Oranges", vmin=0, vmax=100, aspect="auto")
    for line, values in enumerate(shares.to_numpy()):
        for column, value in enumerate(values):
            text = "" if np.isnan(value) else f"{value:.1f}"
            style = {"color": "white" if value > 60 else "black", "fontsize": 7.5}
            axis.text(column, line, text, ha="center", va="center", **style)
    labels = [REFERENCES[reference] for _, reference in columns]
    axis.set_xticks(range(len(columns)), labels, rotation=55, ha="right", rotation_mode="anchor")
    axis.set_yticks(range(len(lines)), [f"{PANELS[d]}, {VERSUS[v]}" for d, v in lines])
    axis.tick_params(length=0, labelsize=7.5)
    axis.grid(False)
    axis.axvline(len(REFERENCES) - 0.5, color="black", lw=1)
    for place, words in enumerate(FITS.values()):
        at = ((place + 0.5) / len(FITS), 1.01)
        axis.annotate(words, at, xycoords="axes fraction", ha="center", va="bottom", fontsize=8)
    axis.set_title(f"samples whose correlation is below {SIMILAR:g} (%)", pad=16)


# The bars by class: all classes, and one. With the other references nearly all have no length.
_BARS = {"local_mdi": (-0.2, "vermilion", ""), "class_entropy": (0.2, "blue", "//")}


def _by_class(axis, table, dataset):
    rows = table[(table["part"] == "class") & (table["dataset"] == dataset)]
    rows = rows[rows["versus"] == "tree_shap"]
    fits = [fit for fit in ("plain", "balanced") if fit in set(rows["fit"])]
    groups = [(fit, c) for fit in fits for c in range(len(NAMES[dataset]))]
    cells = rows.set_index(["reference", "fit", "predicted"])
    for reference, (shift, color, hatch) in _BARS.items():
        drawn_groups = [k for k, (f, c) in enumerate(groups) if (reference, f, c) in cells.index]
        lengths = [cells.loc[(reference, *groups[k]), "value"] for k in drawn_groups]
        places = np.array(drawn_groups) + shift
        style = {"color": COLORS[color], "hatch": hatch, "edgecolor": "white"}
        words = REFERENCES[reference].replace("\n", " ")
        axis.barh(places, lengths, height=0.4, label=words, **style)
        for place, length in zip(places, lengths, strict=True):
            text = {"xytext": (3, 0), "textcoords": "offset points", "va": "center"}
            axis.annotate(f"{length:.1f}", (length, place), fontsize=7, **text)
    labels = []
    for fit, predicted in groups:
        key = ("local_mdi", fit, predicted)
        prior = f"({cells.loc[key, 'prior']:.2f})" if key in cells.index else "(none)"
        word = "balanced " if fit == "balanced" else ""
        labels.append(f"{NAMES[dataset][predicted]}\n{word}{prior}")
    axis.set_yticks(range(len(groups)), labels)
    axis.tick_params(axis="y", length=0, labelsize=8)
    axis.grid(False, axis="y")
    axis.set_ylim(len(groups) - 0.5, -0.5)
    axis.margins(x=0.15)
    axis.set_title(PANELS[dataset])


def statements(table):
    """s44: the disagreement that remains when only the predicted class counts, by its entropy.

    The log loss cannot decide it: where no class is more likely for what the features say, on
    permuted labels, the disagreement goes with it as well.
    """
    rows = table[(table["part"] == "remains") & (table["reference"] == "class_entropy")]
    return [
        finding(
            "s44",
            f"{row.dataset}, {VERSUS[row.versus]}",
            f"samples below {SIMILAR:g} by the entropy of the predicted class, a share of those "
            "by local MDI",
            row.value,
            0.5,
            basis="chosen",
            reason="what comes from the choice of classes goes with it, most of it at least",
            interval=(row.low, row.high),
            possible=(0, row.most),
            # One class rises from a probability of 1/2 or less; of all classes together the
            # entropy is nearer to its maximum at the roots. With two classes both are the same.
            expected=(1, row.most),
        )
        for row in rows.itertuples()
    ]
