"""Figure 4: variance of the outcome that the groups of a clustering explain.

The paper shows one curve a method, in-sample, of one data set. Here: two data sets in its place,
each drawn several times; in-sample and out-of-fold; three linkages, as the paper names none. Local
MDI is a newcomer here: of the variance of the leaves, as XGBoost keeps no impurity.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.papers import finding
from reproduction.papers.lundberg2017._clustering import CLUSTERED, DATASETS, datasets_of

MODES = {"in_sample": "in-sample", "out_of_fold": "out-of-fold"}
# The linkage whose curves are drawn.
LINKAGE = "average"
# What is held against what: s06, s07, and the two readings of "random" for s08.
LEADS = {
    "s06": [("tree_shap", "saabas")],
    "s07": [("saabas", "unsupervised")],
    "s08": [("unsupervised", "random_features"), ("unsupervised", "random_labels")],
}
_FEW_GROUPS = 20
_KEYS = ["dataset", "mode", "linkage", "outcome", "clustered"]
_MARKERS = {"average": "o", "complete": "s", "ward": "^"}


def compute(inputs) -> pd.DataFrame:
    """R2 by number of groups, the area under it, and who leads by how much.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``lundberg2017_clustering/clustering_r2``.

    Returns
    -------
    DataFrame
        ``dataset``, ``mode``, ``linkage``, ``outcome``, ``clustered``, ``versus``, ``statistic``,
        ``n_groups``, ``value``, ``low``, ``high``, ``n_repeats``. Statistics: ``r2`` at a number
        of groups and ``area``, the mean of R2 over all numbers of groups: means over the repeats,
        low and high their 10 and 90 % quantiles. ``lead`` (of the area, or at 20 groups): mean
        difference of `clustered` less `versus` within the repeats, low and high two standard
        errors away. The repeats of ``ad_data`` overlap, so that theirs are too small. Curves are
        given for the label; for the prediction as outcome the area and 20 groups only.
    """
    rows = inputs["lundberg2017_clustering/clustering_r2"]
    rows = rows.rename(columns={"data": "dataset", "variant": "mode"})
    rows["outcome"] = rows["outcome"].replace("tree_shap", "prediction")
    of_label = (rows["outcome"] == "label") | (rows["statistic"] == "area")
    rows = rows[of_label | (rows["n_groups"] == _FEW_GROUPS)]
    wanted = rows[(rows["statistic"] == "area") | (rows["n_groups"] == _FEW_GROUPS)]
    leads = [_lead(wanted, *pair) for pairs in LEADS.values() for pair in pairs]
    table = pd.concat([_means(rows), *leads], ignore_index=True)
    columns = [*_KEYS, "versus", "statistic", "n_groups", "value", "low", "high", "n_repeats"]
    table["n_groups"] = table["n_groups"].astype("Int64")
    # More digits than the repeats can tell apart; unrounded the file would be twice as large.
    return table[columns].round({"value": 5, "low": 5, "high": 5})


def _means(rows):
    grouped = rows.groupby([*_KEYS, "statistic", "n_groups"], sort=False, dropna=False)["value"]
    means = grouped.agg(
        value="mean",
        low=lambda v: v.quantile(0.1),
        high=lambda v: v.quantile(0.9),
        n_repeats="size",
    )
    return means.reset_index()


def _lead(rows, clustered, versus):
    keys = ["dataset", "mode", "linkage", "outcome", "n_groups"]
    by = {
        name: rows[rows["clustered"] == name].set_index([*keys, "repeat"])["value"]
        for name in (clustered, versus)
    }
    grouped = (by[clustered] - by[versus]).groupby(level=keys, sort=False, dropna=False)
    lead = grouped.agg(value="mean", error="sem", n_repeats="size").reset_index()
    lead["low"], lead["high"] = (lead["value"] + k * lead["error"] for k in (-2, 2))
    return lead.assign(clustered=clustered, versus=versus, statistic="lead")


def draw(table):
    """Curves by data set (columns) and mode (rows) of one linkage; below, the areas of all."""
    from matplotlib import pyplot as plt

    datasets = datasets_of(table)
    size = (4.6 * len(datasets), 9.4)
    figure, axes = plt.subplots(3, len(datasets), figsize=size, sharey="row", squeeze=False)
    for column, dataset in zip(axes.T, datasets, strict=True):
        rows = table[(table["dataset"] == dataset) & (table["outcome"] == "label")]
        for axis, mode in zip(column, MODES, strict=False):
            chosen = (rows["mode"] == mode) & (rows["linkage"] == LINKAGE)
            _curves(axis, rows[chosen & (rows["statistic"] == "r2")])
            axis.text(0.97, 0.96, MODES[mode], transform=axis.transAxes, ha="right", va="top")
        column[0].set_title(DATASETS.get(dataset, dataset))
        column[1].set_xlabel("number of groups")
        _areas(column[2], rows[rows["statistic"] == "area"])
    for axis in axes[:2, 0]:
        axis.set_ylabel(f"R² of the outcome ({LINKAGE} linkage)")
    axes[2, 0].set_ylabel("mean of R² over all numbers of groups")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    note = "lines: mean over the repeats; bands and bars: 10 to 90 % of them"
    figure.legend(handles, labels, loc="outside lower center", ncols=6, title=note)
    return figure


def _curves(axis, rows):
    for name, (label, color, dash) in CLUSTERED.items():
        line = rows[rows["clustered"] == name].sort_values("n_groups")
        groups = line["n_groups"].astype(float)
        axis.fill_between(groups, line["low"], line["high"], color=color, alpha=0.13, lw=0)
        axis.plot(groups, line["value"], color=color, linestyle=dash, label=label)
    axis.set_xscale("log")
    axis.set_xlim(rows["n_groups"].max(), 1)
    ticks = [g for g in (500, 200, 100, 50, 20, 10, 5, 2, 1) if g <= rows["n_groups"].max()]
    axis.set_xticks(ticks, [str(g) for g in ticks])
    axis.set_xticks([], minor=True)
    axis.set_ylim(-0.02, 1.02)


def _areas(axis, rows):
    """Filled: in-sample; hollow: out-of-fold; the linkages side by side."""
    for column, (name, (_, color, _)) in enumerate(CLUSTERED.items()):
        for i, (linkage, marker) in enumerate(_MARKERS.items()):
            for j, mode in enumerate(MODES):
                chosen = (rows["clustered"] == name) & (rows["linkage"] == linkage)
                for row in rows[chosen & (rows["mode"] == mode)].itertuples():
                    x = column + 0.24 * (i - 1) + 0.1 * (j - 0.5)
                    error = [[row.value - row.low], [row.high - row.value]]
                    face = color if j == 0 else "white"
                    axis.errorbar(x, row.value, error, color=color, marker=marker, mfc=face, ms=4)
    names = [label.replace(" ", "\n", 1) for label, _, _ in CLUSTERED.values()]
    axis.set_xticks(range(len(names)), names, fontsize=8)
    axis.grid(False, axis="x")
    handles = [
        axis.plot([], [], color="0.3", marker=marker, ls="", ms=4, label=linkage)[0]
        for linkage, marker in _MARKERS.items()
    ]
    for mode, face in zip(MODES.values(), ("0.3", "white"), strict=True):
        handles += axis.plot([], [], color="0.3", marker="o", mfc=face, ls="", ms=4, label=mode)
    axis.legend(handles=handles, loc="upper right")


def statements(table) -> list[dict]:
    """s06 to s08, on each data set and mode: the lead of the area, worst over the linkages.

    A lead counts if it stays above 0 less two standard errors over the repeats; "no better than
    random" holds if none does.
    """
    leads = table[(table["statistic"] == "lead") & (table["outcome"] == "label")]
    leads = leads[leads["n_groups"].isna()]
    findings = []
    for statement, pairs in LEADS.items():
        chosen = pd.concat(
            leads[(leads["clustered"] == a) & (leads["versus"] == b)] for a, b in pairs
        )
        if statement == "s08":
            # Neither of the two knows the model, so both modes are the same.
            chosen = chosen[chosen["mode"] == "in_sample"]
        for (dataset, mode), rows in chosen.groupby(["dataset", "mode"], sort=False):
            findings.append(_judged(statement, dataset, mode, rows))
    return findings


def _judged(statement, dataset, mode, rows):
    best = statement == "s08"
    row = rows.loc[rows["low"].idxmax() if best else rows["low"].idxmin()]
    first, second = (CLUSTERED[row[c]][0] for c in ("clustered", "versus"))
    which = "largest" if best else "smallest"
    variant = dataset if best else f"{dataset}, {MODES[mode]}"
    measured = (
        f"{which} lead of the area over three linkages, {first} less {second}, less two "
        f"standard errors over {row['n_repeats']} repeats (stand-in data)"
    )
    value = row["low"] if np.isfinite(row["low"]) else None
    return finding(statement, variant, measured, value, 0.0, "at most" if best else "at least")
