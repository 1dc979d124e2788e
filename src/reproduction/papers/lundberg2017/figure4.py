"""Figure 4: variance of the outcome that the groups of a clustering explain, and a null control.

The paper shows one curve a method, in-sample, of one data set. Here: two data sets in its place,
each drawn several times; in-sample and out-of-fold; three linkages, as the paper names none. Local
MDI is a newcomer here: of the variance of the leaves, as XGBoost keeps no impurity.

Beside each stands its control, in which the outcomes are permuted among the rows before anything is
fitted. There is nothing to find then, so what a method still shows comes from the protocol: a model
that explains the rows it was fitted on has memorized their outcomes. The lead over the control
stands beside the statements.
"""

import math
from itertools import product

import numpy as np
import pandas as pd

from reproduction.figures import panels
from reproduction.papers import finding
from reproduction.papers.lundberg2017.figure3 import CLUSTERED, DATASETS, STAND_IN, datasets_of

# Pairs that are compared: for s06, s07, and by two readings of "random" for s08.
LEADS = {
    "s06": [("tree_shap", "saabas")],
    "s07": [("saabas", "unsupervised")],
    "s08": [("unsupervised", "random_features"), ("unsupervised", "random_labels")],
    "s16": [("tree_shap", "unsupervised")],
}
_FEW_GROUPS = 20
_KEYS = ["dataset", "mode", "labels", "linkage", "outcome", "clustered"]
_LEAD, _OVER = "lead", "lead over the control"
_LINKAGES = "the paper names no linkage, so it has to hold with each of three"
_SIMILAR = "similar is read as: more so than in clusters of the features"
# Basis: the R2 of the two ends is a sum of some hundred float64 over itself.
_ROUNDING = 1e-12
# A lead over the control is a sum of four areas, and each has, as it has itself, five decimals.
_DIGITS = 5 * 0.5e-5
MODES = {"in_sample": "in-sample", "out_of_fold": "out-of-fold"}
# The linkage whose curves are drawn.
LINKAGE = "average"
_MARKERS = {"average": "o", "complete": "s", "ward": "^"}
# Random labels are the control of the unsupervised clustering.
CONTROLS = ("tree_shap", "saabas", "local_mdi")
_OUTCOMES = {"label": "R² of the outcome", "prediction": "R² of the prediction"}


def compute(inputs) -> pd.DataFrame:
    """R2 by number of groups, the area under it, and leads of one clustering over another.

    ``area``, the mean of R2 over all numbers of groups, and ``r2`` are means over the repeats, low
    and high their 10 and 90 % quantiles. ``lead`` of the area: mean difference of ``clustered``
    less ``versus``; ``lead over the control``: that with observed labels less that with permuted
    ones; low and high of both are two standard errors away, see `_standard_error`.
    """
    rows = inputs["lundberg2017_clustering/clustering_r2"]
    rows = rows.rename(columns={"data": "dataset", "variant": "mode", "data.outcome": "labels"})
    if "data.share" not in rows:
        rows["data.share"] = np.nan
    rows["outcome"] = rows["outcome"].replace("tree_shap", "prediction")
    areas = rows[rows["statistic"] == "area"]
    # Of the curves: all of those that are drawn, and both ends and few groups of the others.
    observed = rows["labels"] == "observed"
    has_curve = (rows["linkage"] == LINKAGE) & (observed | rows["clustered"].isin(CONTROLS))
    ends = rows["n_groups"].isin([1, _FEW_GROUPS]) | (rows["n_groups"] == _n_rows(rows))
    curves = (rows["outcome"] == "label") & (has_curve | (observed & ends))
    rows_kept = rows[(rows["statistic"] == "area") | curves]
    pairs = list(dict.fromkeys(pair for pairs in LEADS.values() for pair in pairs))
    table = pd.concat([_means(rows_kept), *(_leads(areas, *p) for p in pairs)], ignore_index=True)
    columns = [*_KEYS, "versus", "statistic", "n_groups", "value", "low", "high", "n_repeats"]
    table["n_groups"] = table["n_groups"].astype("Int64")
    # More digits than the repeats can tell apart; unrounded the file would be twice as large.
    return table[columns].round({"value": 5, "low": 5, "high": 5})


def _n_rows(rows):
    """Number of rows that are clustered, of the data set of each line."""
    return rows.groupby("dataset")["n_groups"].transform("max")


def _means(rows):
    grouped = rows.groupby([*_KEYS, "statistic", "n_groups"], sort=False, dropna=False)["value"]
    means = grouped.agg(
        value="mean",
        low=lambda v: v.quantile(0.1),
        high=lambda v: v.quantile(0.9),
        n_repeats="size",
    )
    return means.reset_index()


def _leads(areas, clustered, versus):
    """Leads of one clustering over another, with both kinds of labels and over the control."""
    keys = ["dataset", "mode", "linkage", "outcome"]
    index = [*keys, "labels", "data.share", "repeat"]
    first, second = (
        areas[areas["clustered"] == name].set_index(index)["value"] for name in (clustered, versus)
    )
    # Random features and labels are drawn anew in each repeat: no pairing, and no overlap.
    chance = second if versus.startswith("random") else 0 * second
    leads = pd.DataFrame({"value": first - second, "chance": chance})
    leads["paired"] = leads["value"] + leads["chance"]
    rows = []
    for place, group in leads.reset_index().groupby(keys, sort=False):
        key, found = dict(zip(keys, place, strict=True)), {}
        for labels, repeats in group.groupby("labels", sort=False):
            share = repeats["data.share"].iloc[0] if labels == "observed" else 1.0
            paired = _standard_error(repeats["paired"], share)
            error = np.hypot(paired, _standard_error(repeats["chance"], 1.0))
            found[labels] = repeats["value"].mean(), error
            row = {**key, "n_repeats": len(repeats), "labels": labels, "statistic": _LEAD}
            rows.append(row | _interval(*found[labels]))
        if set(found) == {"observed", "permuted"}:
            over = found["observed"][0] - found["permuted"][0]
            error = np.hypot(*(error for _, error in found.values()))
            row |= {"labels": "observed", "statistic": _OVER}
            rows.append(row | _interval(over, error))
    return pd.DataFrame(rows).assign(clustered=clustered, versus=versus)


def _standard_error(values, share) -> float:
    """Of the mean over repeats.

    Repeats that draw everything anew, and permutations, are independent: the standard deviation
    over the root of their number. Samples of a share of the same rows overlap: the delete-d
    jackknife, whose standard error is the deviation between the samples times the root of
    share / (1 - share), however many there are (Shao & Wu, Annals of Statistics 17, 1989).
    """
    deviation = float(values.std())
    if np.isfinite(share) and share < 1:
        return deviation * (share / (1 - share)) ** 0.5
    return deviation / len(values) ** 0.5


def _interval(value, error):
    return {"value": value, "low": value - 2 * error, "high": value + 2 * error}


def draw(table):
    """Data sets and modes side by side: curves of the label; areas of label and prediction."""
    datasets = datasets_of(table)
    places = [(dataset, mode) for dataset in datasets for mode in MODES]
    layout = {"figsize": (2.6 * len(places) + 0.8, 9.4), "height_ratios": [1.15, 1, 1]}
    figure, axes = panels.subplots(3, len(places), sharey="row", squeeze=False, **layout)
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
    lines = ["Areas in-sample with permuted outcomes, where there is nothing to find:"]
    for k, dataset in enumerate(datasets, 1):
        areas = [
            f"{CLUSTERED[name][0]} {area['value'].get((dataset, name), float('nan')):.2f}"
            for name in ("tree_shap", "saabas", "unsupervised", "random_features")
        ]
        lines.append(f"{', '.join(areas)} (stand-in {k})")
    return "\n".join(lines)


def _curves(axis, rows):
    observed = rows[rows["labels"] == "observed"]
    for name, (label, color, dash) in CLUSTERED.items():
        line = observed[observed["clustered"] == name].sort_values("n_groups")
        groups = line["n_groups"].astype(float)
        axis.fill_between(groups, line["low"], line["high"], color=color, alpha=0.13, lw=0)
        axis.plot(groups, line["value"], color=color, linestyle=dash, label=label)
    for name in CONTROLS:
        control = rows[(rows["labels"] == "permuted") & (rows["clustered"] == name)]
        control = control.sort_values("n_groups").astype({"n_groups": float})
        label, color, _ = CLUSTERED[name]
        style = {"color": color, "ls": (0, (3, 1.5)), "lw": 1.1, "label": f"{label}, control"}
        axis.plot("n_groups", "value", data=control, **style)
    axis.set_xscale("log")
    axis.set_xlim(rows["n_groups"].max(), 1)
    ticks = [g for g in (200, 50, 20, 5, 2, 1) if g <= rows["n_groups"].max()]
    axis.set_xticks(ticks, [str(g) for g in ticks])
    axis.set_xticks([], minor=True)
    axis.set(ylim=(-0.02, 1.02), xlabel="number of groups")


def _areas(axis, rows):
    """Filled: outcomes as observed; hollow: permuted; the linkages one below the other."""
    for line, (name, (_, color, _)) in enumerate(CLUSTERED.items()):
        for (i, linkage), (labels, face, side) in product(
            enumerate(_MARKERS), (("observed", color, -0.05), ("permuted", "white", 0.05))
        ):
            of_linkage = (rows["clustered"] == name) & (rows["linkage"] == linkage)
            for row in rows[of_linkage & (rows["labels"] == labels)].itertuples():
                error = [[row.value - row.low], [row.high - row.value]]
                style = {"color": color, "marker": _MARKERS[linkage], "mfc": face, "ms": 3.6}
                y = line + 0.25 * (i - 1) + side
                axis.errorbar(row.value, y, xerr=error, lw=0.8, **style)
    axis.set_yticks(range(len(CLUSTERED)), [label for label, _, _ in CLUSTERED.values()])
    axis.tick_params(axis="y", labelsize=8)
    axis.grid(False, axis="y")
    axis.set(xlim=(0.4, 1.02), ylim=(len(CLUSTERED) - 0.5, -0.5))


def _key(axes):
    """Lines of the curves, marks of the areas, and the band around the curves."""
    lines, _ = axes[0, 0].get_legend_handles_labels()
    marks = [
        ("average linkage", "o", "0.3"),
        ("complete linkage", "s", "0.3"),
        ("Ward linkage", "^", "0.3"),
        ("filled, solid: outcome as observed", "o", "0.3"),
        ("hollow, dashed: permuted before the fit", "o", "white"),
    ]
    style = {"color": "0.3", "ls": "", "ms": 4}
    for label, marker, face in marks:
        lines += axes[1, 0].plot([], [], marker=marker, mfc=face, label=label, **style)
    style = {"color": "0.3", "alpha": 0.2, "lw": 0}
    label = "10 to 90 % of the repeats, around means"
    return [*lines, axes[0, 0].fill_between([], [], [], label=label, **style)]


def statements(table):
    """s06 to s08 and s16 by leads of the area, and s17: both ends of the curves.

    s06 and s07 are judged by the lead in-sample, as in the paper. Beside it stand the lead over
    that of the control, which has one too and is not the paper's, and for s06 the lead by R2 of the
    prediction.
    """
    of_label = table[table["outcome"] == "label"]
    over_control = of_label[of_label["statistic"] == _OVER]
    leads = table[(table["statistic"] == _LEAD) & (table["labels"] == "observed")]
    of_prediction = leads[leads["outcome"] == "prediction"]
    in_sample = leads[(leads["outcome"] == "label") & (leads["mode"] == "in_sample")]
    areas = table[table["statistic"] == "area"].set_index(_KEYS)["value"].sort_index()
    for statement in ("s06", "s07"):
        yield from _judged(statement, in_sample, areas, reason=_LINKAGES)
        yield from _judged(statement, over_control, areas, beside=True)
    # Neither of the two knows the model, so both modes are the same. Random labels are the control.
    for judged in _judged("s08", in_sample, areas, "at most"):
        yield _predicted_by_features(judged, of_label)
    # A model predicts what it has memorized too, so the control is no measure of these.
    yield from _judged("s16", of_prediction, areas, reading=_SIMILAR)
    yield from _judged("s06", of_prediction, areas, beside=True)
    rows = table[(table["statistic"] == "r2") & (table["labels"] == "observed")]
    is_one_group, is_one_row_each = rows["n_groups"] == 1, rows["n_groups"] == _n_rows(rows)
    errors = pd.concat([rows[is_one_group]["value"], rows[is_one_row_each]["value"] - 1]).abs()
    measured = "largest of |R2| of one group and |R2 - 1| of as many groups as rows, all curves"
    yield finding("s17", "both ends", measured, errors.max(), _ROUNDING, possible=(0, 1))


def _predicted_by_features(judged, leads):
    """The finding on unsupervised over random groups, with what its cause predicts.

    If features that tell of the outcome are the cause, permuted outcomes, of which they tell
    nothing, leave no lead: it is that over the control, to two standard errors of the control's.
    """
    low, high = judged["expected"]
    leads = leads[(leads["dataset"] == judged["variant"]) & (leads["clustered"] == "unsupervised")]
    leads = leads[leads["mode"] == "in_sample"]
    predicted = leads.loc[leads["statistic"] == _OVER, "value"].mean()
    control = leads[(leads["statistic"] == _LEAD) & (leads["labels"] == "permuted")]
    width = (control["high"] - control["value"]).mean() + _DIGITS
    # A lead that the areas do not have has no cause.
    has_cause = judged["value"] is not None and low <= judged["value"] <= high
    expected = (predicted - width, predicted + width) if has_cause else (math.nan, math.nan)
    return {**judged, "expected": expected}


def _judged(statement, leads, areas, kind="at least", **options):
    """Findings on mean leads: the paper names no linkage, so one has to hold with each of three.

    The interval reaches from the lowest to the highest end of theirs.
    """
    pairs = LEADS[statement]
    paired = pd.concat(leads[(leads["clustered"] == a) & (leads["versus"] == b)] for a, b in pairs)
    for (dataset, mode), rows in paired.groupby(["dataset", "mode"], sort=False):
        comparison = " and ".join(f"{CLUSTERED[a][0]} less {CLUSTERED[b][0]}" for a, b in pairs)
        is_over = rows["statistic"].iat[0] == _OVER
        of_prediction = rows["outcome"].iat[0] == "prediction"
        measured = (
            f"lead of the area{' (R2 of the prediction)' if of_prediction else ''}"
            f"{' over the control with permuted outcomes' if is_over else ''}, {comparison}: mean "
            f"over {'both and over ' if len(pairs) > 1 else ''}three linkages, interval over them "
            f"of two standard errors each, {rows['n_repeats'].min()} repeats"
        )
        variant = f"{dataset}, {MODES[mode]}" if kind == "at least" else dataset
        variant += ", over the control" if is_over else ""
        variant += ", of the prediction" if of_prediction and statement == "s06" else ""
        judged = finding(
            *(statement, variant, measured, rows["value"].mean(), 0.0, kind),
            interval=(rows["low"].min(), rows["high"].max()),
            expected=_of_areas(rows, areas),
            **{"basis": "monte-carlo", **options},
        )
        # A single repeat has no standard error, and decides nothing.
        has_interval = np.isfinite(judged["interval"]).all()
        yield judged if has_interval else {**judged, "value": None, "interval": None}


def _of_areas(leads, areas):
    """The mean of leads that the mean areas of the table leave, but for their rounding.

    Both are means over the same repeats, so the mean difference is the difference of the means.
    """

    def lead(row, labels):
        place = [labels if key == "labels" else row[key] for key in _KEYS[:-1]]
        return areas[*place, row["clustered"]] - areas[*place, row["versus"]]

    values = [
        lead(row, "observed") - (lead(row, "permuted") if row["statistic"] == _OVER else 0.0)
        for row in leads.to_dict("records")
    ]
    return np.mean(values) - _DIGITS, np.mean(values) + _DIGITS
