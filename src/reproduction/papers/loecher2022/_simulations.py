"""Shared by figures 6 to 8: forests on five features, of which none or only x2 tells y.

Features are coded in two ways. As numbers, scikit-learn splits between categories below and above a
value. As categories, a split puts any subset of them on one side. R's forests do so, and seem to be
those of the paper's figures. Where R's own numbers are known, they stand beside ours.

The number of features drawn at a node, mtry, is 3 in the author's programs (``published``) and 2 in
the text (``described``).
"""

import numpy as np
import pandas as pd

from reproduction import storage
from reproduction.datasets.mixed_categories import CATEGORIES, FEATURES
from reproduction.figures import COLORS, panels
from reproduction.metrics.single_children import NAME as SINGLE_CHILDREN
from reproduction.papers import around, finding

SCORES, SUBSET_SCORES, CHILDREN = (
    f"loecher2022_mixed/{name}" for name in ("scores", "subset_scores", SINGLE_CHILDREN)
)
# The name is not "null", which would be read from a table as a missing value.
NULL, POWER = "null case", "power case"
RELEVANT = "x2"
NUMBERS, SUBSETS, R = "numbers", "subsets", "R"
MTRY = {"published": "mtry 3", "described": "mtry 2"}
# Standard errors on either side of a mean. Of nine comparisons, the most that one finding makes,
# the chance that any is further off is 2.4 % at most.
K = 3.0
PANELS = {
    "mdi_rows": "MDI (rows x impurity)",
    "shap": "mean |SHAP|",
    "pg_051_inbag": "PG(0.5, 1) (rows x impurity)",
    "air": "AIR (rows x impurity)",
}
BIASED = {"mdi_rows": "MDI", "shap": "SHAP"}
# The first PG(0.5, 1) is UFI, as in the figures. By the text of section 2 no split is left out, and
# nodes are weighted by their out-of-bag rows, as in 8.3.
BY_THE_TEXT = {"pg_051_all_splits": "PG(0.5, 1), every split"}
UNBIASED = {"pg_051_inbag": "PG(0.5, 1)", **BY_THE_TEXT, "air": "AIR"}
# These are not in the paper's figures.
EXTRA_SCORES = {
    **BY_THE_TEXT,
    "pg_hat_10": "PGhat(1, 0)",
    "pg_hat_10_all_splits": "PGhat(1, 0), every split",
    SINGLE_CHILDREN: "children of one out-of-bag row",
    "mda": "MDA",
    "shap_oob_y": "y SHAP, out-of-bag",
}
PENALIZED = {"pg_hat_051": "PGhat(0.5, 1)", "pg_12": "PG(1, 2)"}
# Each feature against one with fewer categories; the continuous one against the larger of the two
# with few.
FEWER = {"x3": "x2", "x4": "x3", "x5": "x4", "x1": "x3"}
# Rounding of sums over the draws.
ROUNDING = 1e-9
SHARE, NOT_NEGATIVE = (0.0, 1.0), (0.0, None)
_QUANTILES = {"low": 0.05, "lower": 0.25, "median": 0.5, "upper": 0.75, "high": 0.95}
# Standard deviations between the mean of a normal distribution and its quantiles at 5 and 95 %.
_WHISKER = 1.645
_COLORS = {NUMBERS: "0.8", SUBSETS: COLORS["sky"], R: COLORS["vermilion"]}
_NAMES = {
    NUMBERS: "categories as numbers (scikit-learn)",
    SUBSETS: "splits by subsets of categories",
    R: "R, by subsets: mean, 1.64 deviations to each side (around 0 if no mean is known)",
}


def replications(inputs, case, variant, coding, importances) -> pd.DataFrame:
    """Scores of a case: replications x (importance, feature)."""
    names = [SCORES, CHILDREN] if coding == NUMBERS else [SUBSET_SCORES]
    rows = pd.concat([inputs[name] for name in names if name in inputs], ignore_index=True)
    of_case = rows["importance"].isin(importances) & ((rows["data.effect"] > 0) == (case == POWER))
    rows = rows[of_case & (rows["variant"] == variant)]
    by_feature = rows.pivot(index="repeat", columns=["importance", "feature"], values="value")
    computed = [name for name in importances if name in by_feature]
    return by_feature[[(name, feature) for name in computed for feature in FEATURES]]


def summary(inputs, case, importances, codings=(NUMBERS,)) -> pd.DataFrame:
    """Distribution of the scores over the replications."""
    rows = []
    for variant in MTRY:
        for coding in codings:
            scores = replications(inputs, case, variant, coding, importances)
            key = {"variant": variant, "coding": coding, "case": case}
            for name in scores.columns.unique(0):
                rows += [{**key, "importance": name, **row} for row in _summarized(scores[name])]
    return pd.DataFrame(rows)


def _summarized(scores):
    """Rows of one measure, one a feature."""
    first = scores.idxmax(axis=1)
    for feature in FEATURES:
        values = scores[feature]
        row = {"feature": feature, "value": values.mean(), "deviation": values.std()}
        row |= {"log_deviation_error": jackknife(values, lambda v: np.log(v.std(ddof=1)))}
        row |= {"n": len(values)} | {key: values.quantile(q) for key, q in _QUANTILES.items()}
        row |= {"first": (first == feature).mean()}
        row |= _difference(values, scores[RELEVANT], "lead")
        if feature in FEWER:
            row |= _difference(values, scores[FEWER[feature]], "step")
        yield row


def _difference(values, reference, name):
    lead = values - reference
    return {name: lead.mean(), f"{name}_error": lead.std() / np.sqrt(len(lead))}


def jackknife(values, statistic) -> float:
    """Standard error of a statistic of replications, by leaving out one at a time."""
    values = np.asarray(values)
    n = len(values)
    left_out = [statistic(np.delete(values, i, axis=0)) for i in range(n)]
    return float(np.sqrt((n - 1) / n * ((left_out - np.mean(left_out)) ** 2).sum()))


def compute(inputs, case, recorded) -> pd.DataFrame:
    """Table of figure 6 or 7: see `summary`, and R's numbers below."""
    scores = [*PANELS, *EXTRA_SCORES, *PENALIZED]
    table = summary(inputs, case, scores, (NUMBERS, SUBSETS))
    if case == POWER:
        # The text compares x2 with its score in the null case.
        null = summary(inputs, NULL, ["mdi_rows"], (NUMBERS, SUBSETS))
        table = pd.concat([table, null], ignore_index=True)
    if not recorded:
        return table
    r_scores = pd.DataFrame(storage.read_rows(recorded)).query("case == @case")
    columns = ["value", "deviation", "first"]
    r_scores[columns] = r_scores[columns].apply(pd.to_numeric)
    r_scores = r_scores.assign(variant="published", coding=R)
    r_scores = r_scores[["variant", "coding", "case", "importance", "feature", *columns]]
    return pd.concat([table, r_scores], ignore_index=True)


def settings(table, importance) -> list[tuple[str, dict]]:
    """Name and columns of every variant and coding for which a measure was computed."""
    rows = table[(table["importance"] == importance) & (table["coding"] != R)]
    keys = rows[["variant", "coding"]].drop_duplicates().to_dict("records")
    return [(f"{MTRY[key['variant']]}, {key['coding']}", key) for key in keys]


def of(table, importance, case, variant="published", coding=NUMBERS) -> pd.DataFrame:
    """Rows of one measure by feature."""
    rows = table[(table["importance"] == importance) & (table["case"] == case)]
    rows = rows[(rows["variant"] == variant) & (rows["coding"] == coding)]
    return rows.set_index("feature").reindex(FEATURES)


def smallest(values, errors):
    """Smallest of some means, and the interval it has at `K` standard errors of each."""
    values, errors = np.asarray(values), np.asarray(errors)
    return values.min(), ((values - K * errors).min(), (values + K * errors).min())


def apart(rows, pairs):
    """Smallest mean difference of pairs of features, by their means, up to rounding."""
    mean = rows["value"]
    return around(min(mean[a] - mean[b] for a, b in pairs), ROUNDING)


def largest(values, errors):
    """Largest of some means, and the interval it has at `K` standard errors of each."""
    value, (low, high) = smallest(-np.asarray(values), errors)
    return -value, (-high, -low)


def largest_size(values, errors):
    """As `largest`, of absolute values."""
    value, (low, high) = largest(np.abs(values), errors)
    return value, (max(low, 0.0), high)


def share_interval(share, n):
    """Wilson's interval of a share of n draws, at `K` standard errors."""
    middle, width = share + K**2 / (2 * n), K * np.sqrt(share * (1 - share) / n + (K / 2 / n) ** 2)
    low, high = (middle - width) / (1 + K**2 / n), (middle + width) / (1 + K**2 / n)
    return min(max(low, 0.0), share), max(min(high, 1.0), share)


def deviation_ratio(rows, pairs):
    """Largest ratio of the standard deviations of pairs of features, and its interval."""
    logs = [np.log(rows.loc[a, "deviation"] / rows.loc[b, "deviation"]) for a, b in pairs]
    errors = [np.hypot(*rows.loc[[a, b], "log_deviation_error"]) for a, b in pairs]
    value, interval = largest(logs, errors)
    return np.exp(value), tuple(np.exp(interval))


def within(statement, variant, measured, limit, kind, estimate, **options):
    """A finding about a value, with its interval over the draws."""
    value, interval = estimate
    measured = f"{measured}; {K:.0f} standard errors over the draws"
    options = {"basis": "monte-carlo", **options}
    return finding(statement, variant, measured, value, limit, kind, interval=interval, **options)


def draw(table, case, title):
    """Four panels a variant, of boxes by coding; R's numbers beside them."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    figure, axes = panels.subplots(2, len(PANELS), figsize=(12.4, 6.6), sharey="col", layout="none")
    figure.subplots_adjust(left=0.065, right=0.99, bottom=0.17, top=0.88, wspace=0.24, hspace=0.42)
    for line, (variant, mtry) in zip(axes, MTRY.items(), strict=True):
        for axis, (importance, name) in zip(line, PANELS.items(), strict=True):
            for _, key in settings(table, importance):
                if key["variant"] == variant:
                    rows = of(table, importance, case, **key)
                    side = {NUMBERS: -1, SUBSETS: 1}[key["coding"]]
                    boxes(axis, rows, _COLORS[key["coding"]], 0.19 * side, 0.34)
            _draw_r(axis, of(table, importance, case, variant, R))
            finish(axis, RELEVANT if case == POWER else None)
            axis.set_title(name, loc="left")
        line[0].set_ylabel(f"{mtry} ({variant})", fontweight="bold")
    for axis in axes[-1]:
        axis.set_xlabel("feature, number of categories")
    panels.letter(axes)
    handles = [Patch(fc=_COLORS[c], ec="0.3", label=_NAMES[c]) for c in (NUMBERS, SUBSETS)]
    style = {"marker": "D", "ms": 5, "color": _COLORS[R], "mec": "white", "label": _NAMES[R]}
    figure.legend(
        handles=[*handles, Line2D([], [], **style)],
        loc="lower center",
        ncols=3,
        bbox_to_anchor=(0.5, 0.035),
    )
    explain_boxes(figure, table)
    figure.suptitle(title, y=0.97)
    return figure


def explain_boxes(figure, table) -> None:
    """One line below everything that explains boxes, whiskers and circles."""
    n = table["n"].max()
    text = f"Boxes: quartiles of {n:.0f} draws; whiskers: 5 and 95 % of them; circles: means."
    figure.text(0.5, 0.012, text, ha="center", fontsize=8, color="0.35", style="italic")


def boxes(axis, rows, color, shift=0.0, width=0.6) -> None:
    """One box a feature."""
    for position, (_, row) in enumerate(rows.iterrows()):
        box = {"whislo": row["low"], "q1": row["lower"], "med": row["median"]}
        box |= {"q3": row["upper"], "whishi": row["high"], "mean": row["value"], "fliers": []}
        axis.bxp(
            [box],
            positions=[position + shift],
            widths=width,
            showmeans=True,
            patch_artist=True,
            boxprops={"facecolor": color, "edgecolor": "0.3"},
            medianprops={"color": "0.1"},
            whiskerprops={"color": "0.3"},
            capprops={"color": "0.3"},
            meanprops={"marker": "o", "mfc": "white", "mec": "0.1", "ms": 3.5},
        )


def finish(axis, relevant) -> None:
    """Names of the features, a line at zero."""
    axis.axhline(0, color="0.3", lw=0.8)
    kinds = ["cont.", *CATEGORIES]
    labels = [f"{name}\n{kind}" for name, kind in zip(FEATURES, kinds, strict=True)]
    axis.set_xticks(range(len(FEATURES)), labels)
    axis.set_xlim(-0.6, len(FEATURES) - 0.4)
    for label, name in zip(axis.get_xticklabels(), FEATURES, strict=True):
        if name == relevant:
            label.set(color=COLORS["green"], fontweight="bold")
    axis.grid(False, axis="x")


def _draw_r(axis, rows):
    style = {"color": _COLORS[R], "ls": "", "mec": "white"}
    for position, (_, row) in enumerate(rows.iterrows()):
        place, mean = position + 0.42, row["value"]
        if row["deviation"] == row["deviation"]:
            width, center = _WHISKER * row["deviation"], 0.0 if np.isnan(mean) else mean
            ends = [center - width, center + width]
            axis.plot([place] * 2, ends, color=_COLORS[R], lw=1.6, marker="_", ms=5)
        if mean == mean:
            axis.plot(place, mean, marker="D", ms=5, **style)
