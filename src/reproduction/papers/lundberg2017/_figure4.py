"""Drawing of figure 4: curves of R2 with their null controls, and the areas below them."""

from __future__ import annotations

from reproduction.papers.lundberg2017._clustering import (
    CLUSTERED,
    DATASETS,
    STAND_IN,
    datasets_of,
)

MODES = {"in_sample": "in-sample", "out_of_fold": "out-of-fold"}
# The linkage whose curves are drawn.
LINKAGE = "average"
_MARKERS = {"average": "o", "complete": "s", "ward": "^"}
# Random labels are the control of the unsupervised clustering.
CONTROLS = ("tree_shap", "saabas", "local_mdi")
_OUTCOMES = {"label": "R² of the outcome", "prediction": "R² of the prediction"}


def draw(table):
    """Data sets and modes side by side: curves of the label; areas of label and prediction."""
    from matplotlib import pyplot as plt

    datasets = datasets_of(table)
    places = [(dataset, mode) for dataset in datasets for mode in MODES]
    size = (3.1 * len(places), 9.6)
    figure, axes = plt.subplots(3, len(places), figsize=size, sharey="row", squeeze=False)
    for column, (dataset, mode) in zip(axes.T, places, strict=True):
        rows = table[(table["dataset"] == dataset) & (table["mode"] == mode)]
        chosen = (rows["outcome"] == "label") & (rows["linkage"] == LINKAGE)
        _curves(column[0], rows[chosen & (rows["statistic"] == "r2")])
        column[0].set_title(f"{DATASETS.get(dataset, dataset).partition(':')[0]}, {MODES[mode]}")
        for axis, outcome in zip(column[1:], _OUTCOMES, strict=True):
            _areas(axis, rows[(rows["outcome"] == outcome) & (rows["statistic"] == "area")])
    axes[0, 0].set_ylabel(f"R² of the outcome ({LINKAGE} linkage)")
    for axis, name in zip(axes[1:, 0], _OUTCOMES.values(), strict=True):
        axis.set_ylabel(f"{name},\nmean over all numbers of groups")
    axes[1, -1].legend(handles=_marks(axes[1, -1]), loc="upper right", fontsize=7)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.suptitle(_headline(table, datasets), fontsize=10, fontweight="bold")
    note = (
        "dashed and hollow: the null control, outcomes permuted among the rows before the fit\n"
        "lines: mean over the repeats; bands and bars: 10 to 90 % of them\n"
        + "; ".join(DATASETS.get(d, d) for d in datasets)
        + ". "
        + STAND_IN
    )
    figure.legend(
        handles, labels, loc="outside lower center", ncols=5, title=note, title_fontsize=8
    )
    return figure


def _headline(table, datasets):
    """What the in-sample protocol shows where there is nothing to find, in numbers."""
    chosen = (table["mode"] == "in_sample") & (table["labels"] == "permuted")
    chosen &= (table["linkage"] == LINKAGE) & (table["outcome"] == "label")
    area = table[chosen & (table["statistic"] == "area")].set_index(["dataset", "clustered"])
    parts = []
    for k, dataset in enumerate(datasets, 1):
        areas = [
            f"{CLUSTERED[name][0]} {area['value'].get((dataset, name), float('nan')):.2f}"
            for name in ("tree_shap", "saabas", "unsupervised", "random_features")
        ]
        parts.append(f"{', '.join(areas)} (stand-in {k})")
    return "\n".join(
        ["Areas in-sample with permuted outcomes, where there is nothing to find:", *parts]
    )


def _curves(axis, rows):
    observed = rows[rows["labels"] == "observed"]
    for name, (label, color, dash) in CLUSTERED.items():
        line = observed[observed["clustered"] == name].sort_values("n_groups")
        groups = line["n_groups"].astype(float)
        axis.fill_between(groups, line["low"], line["high"], color=color, alpha=0.13, lw=0)
        axis.plot(groups, line["value"], color=color, linestyle=dash, label=label)
    for name in CONTROLS:
        control = rows[(rows["labels"] == "permuted") & (rows["clustered"] == name)]
        control = control.sort_values("n_groups")
        label, color, _ = CLUSTERED[name]
        x = control["n_groups"].astype(float)
        style = {"color": color, "ls": (0, (3, 1.5)), "lw": 1.1}
        axis.plot(x, control["value"], label=f"{label}, control", **style)
    axis.set_xscale("log")
    axis.set_xlim(rows["n_groups"].max(), 1)
    ticks = [g for g in (500, 200, 50, 20, 5, 2, 1) if g <= rows["n_groups"].max()]
    axis.set_xticks(ticks, [str(g) for g in ticks])
    axis.set_xticks([], minor=True)
    axis.set_ylim(-0.02, 1.02)
    axis.set_xlabel("number of groups")


def _areas(axis, rows):
    """Filled: outcomes as observed; hollow: permuted; the linkages side by side."""
    for column, (name, (_, color, _)) in enumerate(CLUSTERED.items()):
        for i, (linkage, marker) in enumerate(_MARKERS.items()):
            for j, labels in enumerate(("observed", "permuted")):
                chosen = (rows["clustered"] == name) & (rows["linkage"] == linkage)
                for row in rows[chosen & (rows["labels"] == labels)].itertuples():
                    x = column + 0.24 * (i - 1) + 0.1 * (j - 0.5)
                    error = [[row.value - row.low], [row.high - row.value]]
                    style = {"color": color, "marker": marker, "ms": 3.6, "lw": 0.8}
                    axis.errorbar(x, row.value, error, mfc=color if j == 0 else "white", **style)
    names = [label.replace(" ", "\n", 1) for label, _, _ in CLUSTERED.values()]
    axis.set_xticks(range(len(names)), names, fontsize=7, rotation=90)
    axis.grid(False, axis="x")
    axis.set_ylim(0.4, 1.02)


def _marks(axis):
    style = {"color": "0.3", "ls": "", "ms": 3.6}
    handles = [
        axis.plot([], [], marker=marker, label=f"{linkage} linkage", **style)[0]
        for linkage, marker in _MARKERS.items()
    ]
    for name, face in (("outcome as observed", "0.3"), ("outcome permuted", "white")):
        handles += axis.plot([], [], marker="o", mfc=face, label=name, **style)
    return handles
