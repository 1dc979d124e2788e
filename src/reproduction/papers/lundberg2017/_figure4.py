"""Drawing of figure 4: curves of R2 with their null controls, and the areas below them."""

from reproduction.figures import panels
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
_LINKAGES = {"average": "average linkage", "complete": "complete linkage", "ward": "Ward linkage"}
# Random labels are the control of the unsupervised clustering.
CONTROLS = ("tree_shap", "saabas", "local_mdi")
_CONTROL = "hollow, dashed: permuted before the fit"
_SPREAD = "10 to 90 % of the repeats, around means"
_OUTCOMES = {"label": "R² of the outcome", "prediction": "R² of the prediction"}


def draw(table):
    """Data sets and modes side by side: curves of the label; areas of label and prediction."""
    datasets = datasets_of(table)
    places = [(dataset, mode) for dataset in datasets for mode in MODES]
    size = (2.6 * len(places) + 0.8, 9.4)
    ratios = [1.15, 1, 1]
    figure, axes = panels.subplots(
        3, len(places), figsize=size, sharey="row", squeeze=False, height_ratios=ratios
    )
    for column, (dataset, mode) in zip(axes.T, places, strict=True):
        rows = table[(table["dataset"] == dataset) & (table["mode"] == mode)]
        of_label = (rows["outcome"] == "label") & (rows["linkage"] == LINKAGE)
        _curves(column[0], rows[of_label & (rows["statistic"] == "r2")])
        column[0].set_title(f"{DATASETS.get(dataset, dataset).partition(':')[0]}, {MODES[mode]}")
        for axis, (outcome, name) in zip(column[1:], _OUTCOMES.items(), strict=True):
            _areas(axis, rows[(rows["outcome"] == outcome) & (rows["statistic"] == "area")])
            axis.set_xlabel(f"{name},\nmean over all numbers of groups", fontsize=8)
    axes[0, 0].set_ylabel(f"R² of the outcome\n({LINKAGE} linkage)")
    panels.letter(axes)
    figure.suptitle(_headline(table, datasets), fontsize=9)
    note = "; ".join(DATASETS.get(d, d) for d in datasets) + ".\n" + STAND_IN
    style = {"title": note, "title_fontsize": 8, "alignment": "left"}
    figure.legend(handles=_key(axes), loc="outside lower center", ncols=4, **style)
    return figure


def _headline(table, datasets):
    """Areas of the in-sample protocol with permuted outcomes, where there is nothing to find."""
    of_control = (table["mode"] == "in_sample") & (table["labels"] == "permuted")
    of_control &= (table["linkage"] == LINKAGE) & (table["outcome"] == "label")
    area = table[of_control & (table["statistic"] == "area")].set_index(["dataset", "clustered"])
    lines = []
    for k, dataset in enumerate(datasets, 1):
        areas = [
            f"{CLUSTERED[name][0]} {area['value'].get((dataset, name), float('nan')):.2f}"
            for name in ("tree_shap", "saabas", "unsupervised", "random_features")
        ]
        lines.append(f"{', '.join(areas)} (stand-in {k})")
    return "\n".join(
        ["Areas in-sample with permuted outcomes, where there is nothing to find:", *lines]
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
    ticks = [g for g in (200, 50, 20, 5, 2, 1) if g <= rows["n_groups"].max()]
    axis.set_xticks(ticks, [str(g) for g in ticks])
    axis.set_xticks([], minor=True)
    axis.set_ylim(-0.02, 1.02)
    axis.set_xlabel("number of groups")


def _areas(axis, rows):
    """Filled: outcomes as observed; hollow: permuted; the linkages one below the other."""
    for line, (name, (_, color, _)) in enumerate(CLUSTERED.items()):
        for i, (linkage, marker) in enumerate(_MARKERS.items()):
            for j, labels in enumerate(("observed", "permuted")):
                of_linkage = (rows["clustered"] == name) & (rows["linkage"] == linkage)
                for row in rows[of_linkage & (rows["labels"] == labels)].itertuples():
                    y = line + 0.25 * (i - 1) + 0.1 * (j - 0.5)
                    error = [[row.value - row.low], [row.high - row.value]]
                    style = {"color": color, "marker": marker, "ms": 3.6, "lw": 0.8}
                    face = color if j == 0 else "white"
                    axis.errorbar(row.value, y, xerr=error, mfc=face, **style)
    axis.set_yticks(range(len(CLUSTERED)), [label for label, _, _ in CLUSTERED.values()])
    axis.tick_params(axis="y", labelsize=8)
    axis.grid(False, axis="y")
    axis.set(xlim=(0.4, 1.02), ylim=(len(CLUSTERED) - 0.5, -0.5))


def _key(axes):
    """Lines of the curves, marks of the areas, and the band around the curves."""
    lines, _ = axes[0, 0].get_legend_handles_labels()
    style = {"color": "0.3", "ls": "", "ms": 4}
    marks = [
        axes[1, 0].plot([], [], marker=marker, label=_LINKAGES[linkage], **style)[0]
        for linkage, marker in _MARKERS.items()
    ]
    for name, face in (("filled, solid: outcome as observed", "0.3"), (_CONTROL, "white")):
        marks += axes[1, 0].plot([], [], marker="o", mfc=face, label=name, **style)
    band = axes[0, 0].fill_between([], [], [], color="0.3", alpha=0.2, lw=0, label=_SPREAD)
    return [*lines, *marks, band]
