"""Why some samples have uncorrelated scores, which appendix E.2 of the paper leaves open.

The paper's guess: Saabas and TreeSHAP explain the predicted class, local MDI all classes together.
Two things set local MDI apart: it has all classes, and an entropy, which rises before it falls as a
class becomes likely. Here the same paths are read once more by measures that differ in one of the
two, and by the parts of local MDI; and forests are fitted with balanced classes, and on permuted
labels. One class can be taken out of an impurity in more than one way, and the ways disagree.
"""

import itertools

import numpy as np
import pandas as pd

from reproduction.figures import COLORS, panels
from reproduction.metrics import correlations
from reproduction.papers import finding
from reproduction.papers.sutera2021.figure7 import PANELS, SIMILAR

VERSUS = {"saabas": "Saabas", "tree_shap": "TreeSHAP"}
REFERENCES = {
    "local_mdi": "entropy of all classes\n(local MDI)",
    "class_entropy": "entropy of the predicted\nclass against the rest",
    "unfolded_entropy": "the same, its rise\nturned into a fall",
    "log_loss": "log loss of the\npredicted class",
    "log_loss_all": "log loss of\nall classes",
    "own_term": "term of the predicted\nclass, $-p\\,\\log\\,p$",
    "other_terms": "terms of the\nother classes",
    "gini": "Gini of all classes",
    "gini_square": "its term of the predicted\nclass as $-p^2$",
    "gini_product": "the same as $p\\,(1-p)$",
}
# What a control takes a part of, if not local MDI.
WHOLE = {"gini_square": "gini", "gini_product": "gini"}
# Those that stand for the predicted class alone and are entropies still.
JUDGED = {
    "class_entropy": "the entropy of the predicted class against the rest",
    "own_term": "the predicted class's own term of the entropy",
}
FITS = {"plain": "fitted on the data", "permuted": "fitted on permuted labels"}
NAMES = {
    "iris": ("setosa", "versicolor", "virginica"),
    "wine": ("class 0", "class 1", "class 2"),
    "breast_cancer": ("malignant", "benign"),
}
_MOST = "what comes from the choice of classes goes with it, most of it at least"
# Draws for the intervals of the shares that remain; more change their ends by less than 0.01.
DRAWS = 4000


def compute(inputs) -> pd.DataFrame:
    """Share of samples below 0.75, by class, with every reference and every fit.

    Columns: ``part`` ``class``: ``fit`` (``plain``, ``balanced`` classes or ``permuted`` labels),
    ``predicted`` (number of the class), ``prior`` (its probability at the roots), ``n`` samples,
    ``mean`` correlation (Pearson, signed scores), ``below_half`` and ``value``, percent of them
    below 0.5 and 0.75. ``part`` ``remains``: the samples of a data set below 0.75 with another
    reference than local MDI, over those with local MDI (for a term of Gini's over those with Gini's
    sum), as ``value``; ``most``, if all samples were; and ``low`` and ``high``, 95 % of samples
    drawn anew.
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
        for reference in [*REFERENCES][1:]:
            before = is_below[WHOLE.get(reference, "local_mdi")].to_numpy()
            if not before.any():
                continue
            after = is_below[reference].to_numpy()
            # Samples drawn with replacement: counts of the four kinds of samples are multinomial.
            n, kinds = len(before), np.bincount(2 * before + after, minlength=4)
            counts = np.random.default_rng(0).multinomial(n, kinds / n, size=DRAWS)
            shares = (counts[:, 1] + counts[:, 3]) / np.maximum(counts[:, 2] + counts[:, 3], 1)
            low, high = np.quantile(shares, [0.025, 0.975])
            key = {"part": "remains", "dataset": dataset, "fit": "plain", "versus": versus}
            numbers = {"n": n, "value": after.sum() / before.sum(), "most": n / before.sum()}
            yield {**key, "reference": reference, **numbers, "low": low, "high": high}


def draw(table):
    """Why: what rises and what falls; the shares with every reference; and by class."""
    figure = panels.figure(figsize=(10.5, 10))
    top, bottom = figure.subfigures(2, 1, height_ratios=[2, 1])
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
        ("class_entropy", "vermilion", "-", "entropy against the rest"),
        ("unfolded_entropy", "vermilion", ":", "its rise turned into a fall"),
        ("own_term", "green", "-", "term of the class"),
        ("log_loss", "blue", "-", "log loss"),
    ):
        values = correlations.CONTROLS[reference](p)
        axis.plot(p, values, color=COLORS[color], ls=dash, label=words)
    axis.axvline(prior, color="0.4", lw=0.8, ls=":")
    words = {"fontsize": 7.5, "color": "0.3", "ha": "right", "va": "top"}
    axis.text(prior - 0.01, 0.4, "malignant\nat the roots", **words)
    axis.set(xlim=(0, 1), ylim=(0, 2.6), xlabel="probability of the predicted class", ylabel="bits")
    axis.set_title("A step toward the class\ncan raise the entropy")
    axis.legend(loc="upper right")


def _all_sets(axis, table):
    """Samples below 0.75 by each reference, in each data set and fit; both measures."""
    rows = table[table["part"] == "class"]
    rows = rows.assign(low=rows["n"] * rows["value"] / 100)
    totals = rows.groupby(["fit", "dataset", "versus", "reference"])[["low", "n"]].sum()
    shares = (100 * totals["low"] / totals["n"]).unstack("reference")
    lines = [line for line in itertools.product(FITS, PANELS, VERSUS) if line in shares.index]
    shares = shares.reindex(index=lines, columns=[*REFERENCES])
    axis.imshow(shares, cmap="Oranges", vmin=0, vmax=100, aspect="auto")
    for line, values in enumerate(shares.to_numpy()):
        for column, value in enumerate(values):
            style = {"ha": "center", "va": "center", "fontsize": 7.5}
            color = "white" if value > 60 else "black"
            axis.text(column, line, f"{value:.1f}", color=color, **style)
    labels = REFERENCES.values()
    axis.set_xticks(range(len(labels)), labels, rotation=55, ha="right", rotation_mode="anchor")
    axis.set_yticks(range(len(lines)), [f"{PANELS[d]}, {VERSUS[v]}" for _, d, v in lines])
    axis.tick_params(length=0, labelsize=7.5)
    axis.grid(False)
    for fit, words in FITS.items():
        places = [place for place, line in enumerate(lines) if line[0] == fit]
        at = (1.02, 1 - (np.mean(places) + 0.5) / len(lines))
        text = {"rotation": 270, "ha": "left", "va": "center", "fontsize": 8}
        axis.annotate(words, at, xycoords="axes fraction", **text)
        axis.axhline(places[-1] + 0.5, color="black", lw=1)
    axis.set_title(f"samples whose correlation is below {SIMILAR:g} (%)")


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
            panels.note(axis, f"{length:.1f}", (length, place), (3, 0), va="center", fontsize=7)
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
    """s44: the disagreement that remains when only the predicted class counts.

    By its entropy against the rest and by its own term of the entropy of all: both are one class,
    and neither is the only way to take one out. The log loss cannot decide it: on permuted labels,
    where the features say nothing of the classes, the disagreement goes with it as well.
    """
    plain = table[(table["part"] == "class") & (table["fit"] == "plain")].groupby("dataset")
    priors, n_classes = plain["prior"].max(), plain["predicted"].nunique()
    own_term = correlations.CONTROLS["own_term"]
    remains = table[(table["part"] == "remains") & table["reference"].isin(JUDGED)]
    for row in remains.itertuples():
        is_entropy = row.reference == "class_entropy"
        # Of two classes, the entropy of one against the rest is that of both.
        identity = is_entropy and n_classes[row.dataset] == 2
        # One class against the rest rises up to 1/2; of all classes together the entropy is nearer
        # to its maximum at the roots. The own term rises up to .37; where it is above its start
        # halfway to 1 still, most of the way to the class counts against what leads there.
        prior = priors[row.dataset]
        predicted = is_entropy or own_term((1 + prior) / 2) > own_term(prior)
        variant = f"{row.dataset}, {VERSUS[row.versus]}{'' if is_entropy else ', own term'}"
        words, of_local = f"samples below {SIMILAR:g} by", "a share of those by local MDI"
        measured = f"{words} {JUDGED[row.reference]}, {of_local}"
        options = {"reading": _MOST, "interval": (row.low, row.high), "possible": (0, row.most)}
        options["expected"] = (1, 1 if identity else row.most) if predicted else None
        yield finding("s44", variant, measured, row.value, 0.5, identity=identity, **options)
