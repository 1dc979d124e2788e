"""Figures 2 (digits) and 6 (led): correlations of all pairs of local measures against K."""

import pandas as pd

from reproduction.figures import COLORS, panels
from reproduction.papers import around, finding
from reproduction.papers.sutera2021 import led_shares
from reproduction.papers.sutera2021.figure7 import CLOSE, CLOSE_TO_1, SIMILAR

_PAIRS = {
    ("local_mdi", "saabas"): ("local MDI, Saabas", COLORS["blue"]),
    ("local_mdi", "tree_shap"): ("local MDI, TreeSHAP", COLORS["vermilion"]),
    ("saabas", "tree_shap"): ("Saabas, TreeSHAP", COLORS["green"]),
}


# The largest K draws all features, which tells the data sets apart.
_DATASETS = {7: "led", 64: "digits"}
_ROWS = {"led": "Led, ten displays", "digits": "Digits"}
_RANGE = "lowest to highest sample"
# Below this number, values of K are named one by one.
_FEW = 20
_SEEN = "a change of the shaded area that a reader of the figure, whose axis is 1 high, sees"


def compute(inputs) -> pd.DataFrame:
    """Mean and range over the samples of the correlation of absolute scores, by K and pair."""
    (summary,) = inputs.values()
    table = summary.rename(columns={"model.max_features": "k"})
    table = table[table["statistic"].isin(["mean", "min", "max", "undefined"])]
    return table[["k", "reference", "versus", "correlation", "statistic", "value"]]


def draw(table):
    """A row a correlation, a column a pair: means over the samples, [min, max] shaded."""
    dataset, ks = _DATASETS[table["k"].max()], sorted(table["k"].unique())
    figure, axes = panels.subplots(2, 3, figsize=(9, 5.8), sharex=True, sharey="row")
    for row, correlation in zip(axes, ("pearson", "spearman"), strict=True):
        cells = table[table["correlation"] == correlation].pivot_table(
            index="k", columns=["reference", "versus", "statistic"], values="value"
        )
        closest = max(_PAIRS, key=lambda pair: cells[(*pair, "mean")].mean())
        for axis, (pair, (name, color)) in zip(row, _PAIRS.items(), strict=True):
            for of, (label, line_color) in _PAIRS.items():
                style = {"lw": 2.4, "zorder": 3} if of == pair else {"lw": 1}
                axis.plot(ks, cells[(*of, "mean")], color=line_color, label=label, **style)
            low, high = cells[(*pair, "min")], cells[(*pair, "max")]
            axis.fill_between(ks, low, high, color="0.87", lw=0, zorder=0, label=_RANGE)
            axis.set_title(name, color=color)
            words = f"lowest sample: {low.min():.2f}"
            words += "\nclosest pair: its mean is the largest" if pair == closest else ""
            axis.text(0.03, 0.03, words, transform=axis.transAxes, va="bottom", fontsize=8)
        row[0].set_ylabel(f"{correlation.capitalize()} correlation\nof absolute scores")
    for axis in axes[1]:
        axis.set_xlabel("K, features drawn at a node")
        axis.set_xticks(ks if len(ks) < _FEW else [ks[0], *ks[15::16]])
    panels.letter(axes)
    lines = axes[0, 0].get_legend_handles_labels()
    legend = figure.legend(*lines, loc="outside lower center", ncols=4)
    legend.set_title("lines: means over the samples, thick for the pair of the panel")
    for line in legend.get_lines():
        line.set_linewidth(1.6)
    figure.suptitle(f"{_ROWS[dataset]}: how two measures' scores of a sample correlate")
    return figure


def statements(table):
    """s17, s18 and s19 on the data set; the paper does not say which correlation it shows."""
    dataset = _DATASETS[table["k"].max()]
    for correlation, rows in table.groupby("correlation", sort=False):
        cells = rows.pivot_table(
            index=["k", "reference", "versus"], columns="statistic", values="value"
        )
        means = cells["mean"].unstack(["reference", "versus"])
        widths = (cells["max"] - cells["min"]).unstack(["reference", "versus"])
        variant = f"{dataset}, {correlation.capitalize()}"
        smallest = means.min().min()
        expected = _smallest_mean(dataset, correlation, means)
        for bound in (SIMILAR, CLOSE):
            place = ("s17", f"{variant}, {bound:g}", "smallest mean correlation of a pair over K")
            options = {"reading": CLOSE_TO_1, "possible": (-1, 1)}
            options["expected"] = expected if smallest < bound else None
            yield finding(*place, smallest, bound, "at least", **options)
        place = ("s18", variant, "largest change of a pair's range over K")
        change = (widths.max() - widths.min()).max()
        yield finding(*place, change, 0.05, "at least", reading=_SEEN, possible=(0, 2))
        lead = _lead(means).min()
        options = {"basis": "printed", "possible": (-2, 2)}
        if dataset == "led" and lead < 0:
            of_limit = _lead(_means_of_limit(correlation, means.index)).min()
            options["expected"] = around(of_limit, led_shares.NEAR)
        measured = "smallest lead of Saabas-TreeSHAP over the other pairs"
        yield finding("s19", variant, measured, lead, 0.0, "at least", **options)


def _smallest_mean(dataset, correlation, means):
    """Where the smallest mean is expected if it is not close to 1."""
    # On led near that of infinitely many trees. On digits at or below that of K = 1, which table 4
    # prints for signed scores.
    if dataset == "led":
        return around(_means_of_limit(correlation, means.index).min().min(), led_shares.NEAR)
    return SIMILAR, means.iloc[0].min()


def _lead(means):
    """By K: how much closer Saabas and TreeSHAP are to each other than the closest other pair."""
    others = means[[("local_mdi", "saabas"), ("local_mdi", "tree_shap")]].max(axis=1)
    return means["saabas", "tree_shap"] - others


def _means_of_limit(correlation, ks):
    """Means over the displays of led for infinitely many trees, by K and pair."""
    rows = {}
    for k in ks:
        of_limit = led_shares.correlations(int(k), absolute=True)
        rows[k] = {pair: of_limit[correlation, pair].mean() for pair in led_shares.PAIRS}
    return pd.DataFrame.from_dict(rows, orient="index")
