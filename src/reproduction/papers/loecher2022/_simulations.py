"""Shared by figures 6 to 8: forests on five features, of which none or only x2 tells y.

Features are coded in two ways. As numbers, scikit-learn splits between categories below and above a
value. As categories, a split puts any subset of them on one side. R's forests do so, and seem to be
those of the paper's figures. Where R's own numbers are known, they stand beside ours.

The number of features drawn at a node, mtry, is 3 in the author's programs (``published``) and 2 in
the text (``described``).
"""

import numpy as np
import pandas as pd

from reproduction.datasets.mixed_categories import CATEGORIES, FEATURES
from reproduction.figures import COLORS
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
BIASED = {"mdi_rows": "MDI", "shap": "SHAP"}
# The first PG(0.5, 1) is UFI, as in the figures. By the text of section 2 no split is left out, and
# nodes are weighted by their out-of-bag rows, as in 8.3.
BY_THE_TEXT = {"pg_051_all_splits": "PG(0.5, 1), every split"}
UNBIASED = {"pg_051_inbag": "PG(0.5, 1)", **BY_THE_TEXT, "air": "AIR"}
# Each feature against one with fewer categories; the continuous one against the larger of the two
# with few.
FEWER = {"x3": "x2", "x4": "x3", "x5": "x4", "x1": "x3"}
# Rounding of sums over the draws.
ROUNDING = 1e-9
SHARE, NOT_NEGATIVE = (0.0, 1.0), (0.0, None)
_QUANTILES = {"low": 0.05, "lower": 0.25, "median": 0.5, "upper": 0.75, "high": 0.95}


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
        style = {"showmeans": True, "patch_artist": True}
        style |= {"boxprops": {"facecolor": color, "edgecolor": "0.3"}}
        style |= {"medianprops": {"color": "0.1"}, "whiskerprops": {"color": "0.3"}}
        style |= {"capprops": {"color": "0.3"}}
        style["meanprops"] = {"marker": "o", "mfc": "white", "mec": "0.1", "ms": 3.5}
        axis.bxp([box], positions=[position + shift], widths=width, **style)


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
