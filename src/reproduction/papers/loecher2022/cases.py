"""Figures 6 and 7: MDI, SHAP, PG(0.5, 1) and AIR where no feature tells y, and where x2 alone does.

The table has the null case (figure 6) or the power case (figure 7).

Features are coded in two ways. As numbers, scikit-learn splits between categories below and above a
value. As categories, a split puts any subset of them on one side. R's forests do so, and seem to be
those of the paper's figures. Where R's own numbers are known, they stand beside ours.

The number of features drawn at a node, mtry, is 3 in the author's programs (``published``) and 2 in
the text (``described``).
"""

from functools import partial

import numpy as np
import pandas as pd

from reproduction import storage
from reproduction.datasets.mixed_categories import CATEGORIES, FEATURES
from reproduction.figures import COLORS, panels
from reproduction.metrics.trees import SINGLE_CHILDREN
from reproduction.papers import around, finding
from reproduction.papers.loecher2022._useless_split import SINGLE_CHILD

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
# UFI, as in the figures.
BY_THE_PROGRAM = {"pg_051_inbag": "PG(0.5, 1)"}
# By the text of section 2 no split is left out, and nodes are weighted by their out-of-bag rows, as
# in 8.3.
BY_THE_TEXT = {"pg_051_all_splits": "PG(0.5, 1), every split"}
UNBIASED = {**BY_THE_PROGRAM, **BY_THE_TEXT, "air": "AIR"}
CORRECTED = {"pg_hat_10": "PGhat(1, 0)", "pg_hat_10_all_splits": "PGhat(1, 0), every split"}
# Each feature against one with fewer categories; the continuous one against the larger of the two
# with few.
FEWER = {"x3": "x2", "x4": "x3", "x5": "x4", "x1": "x3"}
# Rounding of sums over the draws.
ROUNDING = 1e-9
SHARE, NOT_NEGATIVE = (0.0, 1.0), (0.0, None)
_QUANTILES = {"low": 0.05, "lower": 0.25, "median": 0.5, "upper": 0.75, "high": 0.95}
# Section 2 says of PG(0.5, 1) and PGhat(1, 0) that they are unbiased, and has no rule that leaves
# out splits with few out-of-bag rows in a child, as the author's programs do.
SAID_UNBIASED = {**BY_THE_PROGRAM, **BY_THE_TEXT, **CORRECTED}
# What a child of one out-of-bag row leaves by 8.3, in rows times impurity: sigma^2 of a fair coin.
LEFT_BY_A_CHILD = {"PGhat(1, 0), every split": 0.5}
PANELS = {
    "mdi_rows": "MDI (rows x impurity)",
    "shap": "mean |SHAP|",
    "pg_051_inbag": "PG(0.5, 1) (rows x impurity)",
    "air": "AIR (rows x impurity)",
}
# These are not in the paper's figures.
EXTRA_SCORES = [*BY_THE_TEXT, *CORRECTED, SINGLE_CHILDREN, "mda", "shap_oob_y"]
PENALIZED = ["pg_hat_051", "pg_12"]
# Standard deviations between the mean of a normal distribution and its quantiles at 5 and 95 %.
_WHISKER = 1.645
_COLORS = {NUMBERS: "0.8", SUBSETS: COLORS["sky"], R: COLORS["vermilion"]}
_NAMES = {
    NUMBERS: "categories as numbers (scikit-learn)",
    SUBSETS: "splits by subsets of categories",
    R: "R, by subsets: mean, 1.64 deviations to each side (around 0 if no mean is known)",
}
NOISE = ("x3", "x4", "x5", "x1")
_TITLES = {
    NULL: "Null case: no feature is informative",
    POWER: "Power case: only x2 is informative, P(y = 1) is 0.35 or 0.65",
}
# Limits, the side on which a finding holds, and why they mean what the paper's words mean.
_LOW = "less than a tenth of the feature's MDI, which is all bias here, is called low"
LOW = 0.1, "at most", _LOW
SLIGHTLY = 1.25, "at most", "a quarter more is taken for the most that is only slightly higher"
_IN_FIGURE = "a rise of a quarter of the highest mean is the most that looks slight in the figure"
IN_FIGURE = 0.25, "at most", _IN_FIGURE
_CHANCE = "a measure that fails puts x2 first no more often than chance, one time in five"
CHANCE = 0.2, "at most", _CHANCE
_OFTEN = "wrong in one trial of twenty is taken for the least that is worth a warning"
OFTEN = 0.05, "at least", _OFTEN
# Largest distance of a mean that is 0, in standard errors.
DEVIATION = 4.0
_UNBIASED = "of eighty means that are 0, one lies further off with a probability of 0.5 %"


def compute(inputs, case: str, recorded=None) -> pd.DataFrame:
    """Distributions over the replications, see `summary`, and R's numbers below."""
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
    columns += ["variant", "coding", "case", "importance", "feature"]
    return pd.concat([table, r_scores[columns]], ignore_index=True)


def draw(table):
    """Four panels a variant, of boxes by coding; R's numbers beside them."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    case = _case(table)
    figure, axes = panels.subplots(2, len(PANELS), figsize=(12.4, 6.6), sharey="col", layout="none")
    figure.subplots_adjust(left=0.065, right=0.99, bottom=0.17, top=0.88, wspace=0.24, hspace=0.42)
    for line, (variant, mtry) in zip(axes, MTRY.items(), strict=True):
        for axis, (importance, name) in zip(line, PANELS.items(), strict=True):
            for coding, shift in ((NUMBERS, -0.19), (SUBSETS, 0.19)):
                rows = of(table, importance, case, variant, coding)
                boxes(axis, rows.dropna(subset="n"), _COLORS[coding], shift, 0.34)
            _draw_r(axis, of(table, importance, case, variant, R))
            finish(axis, RELEVANT if case == POWER else None)
            axis.set_title(name, loc="left")
        line[0].set_ylabel(f"{mtry} ({variant})", fontweight="bold")
    handles = [Patch(fc=_COLORS[c], ec="0.3", label=_NAMES[c]) for c in (NUMBERS, SUBSETS)]
    style = {"marker": "D", "ms": 5, "color": _COLORS[R], "mec": "white", "label": _NAMES[R]}
    handles.append(Line2D([], [], **style))
    figure.legend(handles=handles, loc="lower center", ncols=3, bbox_to_anchor=(0.5, 0.035))
    explain(figure, axes, table)
    figure.suptitle(f"{_TITLES[case]}; {table['n'].max():.0f} draws", y=0.97)
    return figure


def _draw_r(axis, rows):
    style = {"color": _COLORS[R], "ls": "", "mec": "white"}
    for position, (_, row) in enumerate(rows.iterrows()):
        place, mean = position + 0.42, row["value"]
        if not np.isnan(row["deviation"]):
            width, center = _WHISKER * row["deviation"], 0.0 if np.isnan(mean) else mean
            ends = [center - width, center + width]
            axis.plot([place] * 2, ends, color=_COLORS[R], lw=1.6, marker="_", ms=5)
        if not np.isnan(mean):
            axis.plot(place, mean, marker="D", ms=5, **style)


def statements(table):
    """s05, s06 and s26 of the null case, s07, s08, s19, s27 and s28 of the power case."""
    return {NULL: _null, POWER: _power}[_case(table)](table)


def _case(table):
    return POWER if POWER in set(table["case"]) else NULL


def _each(table, names, case):
    """Name, variant of the finding, rows, and how to get others: of every measure and setting."""
    for importance, name in names.items():
        for setting, key in settings(table, importance):
            rows_of = partial(of, table, **key)
            yield name, f"{name}, {setting}", rows_of(importance, case), rows_of


def _null(table):
    """s05: MDI and SHAP rise with the categories; s06: PG(0.5, 1) and AIR do not; s26: unbiased."""
    yield from _rise("s05", table, NULL, FEWER, "x2 over x3 and x4 to x5, and to x1")
    for name, variant, rows, rows_of in _each(table, UNBIASED, NULL):
        mdi = rows_of("mdi_rows", NULL)["value"]
        estimate = largest_size(rows["value"] / mdi, _errors(rows) / mdi)
        measured = f"largest |mean {name}| of a feature over its mean MDI"
        yield within("s06", variant, measured, estimate, *LOW, possible=NOT_NEGATIVE)
    of_steps = "largest ratio of the standard deviations of x2 to x3, x3 to x4, x4 to x5"
    for _, variant, rows, _ in _each(table, UNBIASED, NULL):
        for words, pairs, measured in (
            ("", [("x2", "x5")], "standard deviation of x2 over that of x5"),
            (", each step", [(FEWER[a], a) for a in ("x3", "x4", "x5")], of_steps),
        ):
            place = "s06", f"variance, {variant}{words}", measured
            yield within(*place, deviation_ratio(rows, pairs), 1.0, possible=NOT_NEGATIVE)
    # Means over their errors; where children of one row leave a bias, as 8.3 predicts it.
    for name, variant, rows, rows_of in _each(table, SAID_UNBIASED, NULL):
        z = (rows["value"].abs() / _errors(rows)).max()
        measured = "largest |mean| of a feature in its standard errors over the draws"
        options = {"basis": "monte-carlo", "reason": _UNBIASED, "possible": NOT_NEGATIVE}
        if name in LEFT_BY_A_CHILD:
            children = rows_of(SINGLE_CHILDREN, NULL)["value"]
            bias = (LEFT_BY_A_CHILD[name] * children / _errors(rows)).max()
            options |= {"reading": SINGLE_CHILD, "expected": around(bias, DEVIATION)}
        yield finding("s26", variant, measured, z, DEVIATION, **options)


def _rise(statement, table, case, steps, words):
    """Findings that the biased measures rise with the categories of these features."""
    for name, variant, rows, _ in _each(table, BIASED, case):
        of_features = rows.loc[list(steps)]
        estimate = smallest(of_features["step"], of_features["step_error"])
        place = statement, variant, f"smallest step of the mean {name} from {words}", estimate
        yield within(*place, 0.0, "at least", expected=apart(rows, steps.items()))


def _errors(rows):
    return rows["deviation"] / np.sqrt(rows["n"])


def _power(table):
    """s07, s19, s28: MDI and SHAP; s08, s27: the scores of x2 in the power case."""
    yield from _mdi_fails(table)
    steps = {f: FEWER[f] for f in NOISE if FEWER[f] in NOISE}
    yield from _rise("s28", table, POWER, steps, "x3 over x4 to x5, and from x3 to x1")
    for name, variant, rows, _ in _each(table, UNBIASED, POWER):
        irrelevant = rows.drop(RELEVANT)
        measured = f"smallest lead of x2 over another feature by its mean {name}"
        place = "s08", variant, measured, smallest(-irrelevant["lead"], irrelevant["lead_error"])
        expected = apart(rows, [(RELEVANT, f) for f in irrelevant.index])
        yield within(*place, 0.0, "at least", expected=expected)
        behind, n = 1 - rows.loc[RELEVANT, "first"], rows.loc[RELEVANT, "n"]
        measured = "share of single draws in which x2 is not first"
        place = "s08", f"{variant}, single draws", measured, (behind, share_interval(behind, n))
        yield within(*place, *OFTEN, possible=SHARE)
        measured = "larger ratio of the standard deviations of x4 to x5 and x3 to x4"
        place = "s27", variant, measured, deviation_ratio(rows, [("x4", "x5"), ("x3", "x4")])
        yield within(*place, 1.0, possible=NOT_NEGATIVE)


def _mdi_fails(table):
    """s07: x2 is lowest by MDI; s19: and only slightly higher than without effect."""
    of_mdi = list(_each(table, {"mdi_rows": "MDI"}, POWER))
    for _, variant, rows, _ in of_mdi:
        irrelevant = rows.drop(RELEVANT)
        measured = "mean MDI of the lowest other feature less that of x2"
        estimate = smallest(irrelevant["lead"], irrelevant["lead_error"])
        place = "s07", f"{variant}, lowest", measured, estimate
        expected = apart(rows, [(f, RELEVANT) for f in irrelevant.index])
        yield within(*place, 0.0, "at least", expected=expected)
        first, n = rows.loc[RELEVANT, ["first", "n"]]
        measured = "share of draws in which x2 is first"
        place = "s07", f"{variant}, fails", measured, (first, share_interval(first, n))
        yield within(*place, *CHANCE, possible=SHARE)
    for _, variant, power, rows_of in of_mdi:
        null, others = rows_of("mdi_rows", NULL), power.drop(RELEVANT)
        with_effect, without_effect = power.loc[[RELEVANT]], null.loc[[RELEVANT]]
        before = null.loc[RELEVANT, "value"]
        # If x2 gets what others lose: a full tree takes all impurity away.
        error = np.hypot.reduce([*_errors(others), *_errors(null)])
        left = np.array(around(null["value"].sum() - others["value"].sum(), K * error))
        ratio = with_effect["value"] / before
        relative = [_errors(rows) / rows["value"] for rows in (with_effect, without_effect)]
        estimate = largest(ratio, ratio * np.hypot(*relative))
        place = "s19", variant, "mean MDI of x2 over that in the null case", estimate
        yield within(*place, *SLIGHTLY, possible=NOT_NEGATIVE, expected=left / before)
        # In units of the figure, where the eye sees the highest box as well.
        highest = power["value"].max()
        errors = np.hypot(*map(_errors, (with_effect, without_effect)))
        estimate = largest((with_effect["value"] - before) / highest, errors / highest)
        measured = "mean MDI of x2 less that in the null case, over the highest mean of a feature"
        place = "s19", f"{variant}, in the figure", measured, estimate
        yield within(*place, *IN_FIGURE, expected=(left - before) / highest)


# Shared with figure 8.


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


def within(statement, variant, measured, estimate, limit, kind="at most", reading="", **options):
    """A finding about a value, with its interval over the draws."""
    value, interval = estimate
    place = statement, variant, f"{measured}; {K:.0f} standard errors over the draws", value
    options |= {"reading": reading, "basis": "monte-carlo", "interval": interval}
    return finding(*place, limit, kind, **options)


def explain(figure, axes, table) -> None:
    """Letters, names of the lowest axes, and a line on boxes, whiskers and circles."""
    panels.letter(axes)
    for axis in axes[-1]:
        axis.set_xlabel("feature, number of categories")
    n = table["n"].max()
    text = f"Boxes: quartiles of {n:.0f} draws; whiskers: 5 and 95 % of them; circles: means."
    figure.text(0.5, 0.012, text, ha="center", fontsize=8, color="0.35", style="italic")


def boxes(axis, rows, color, shift=0.0, width=0.6) -> None:
    """One box a feature."""
    gray = {"color": "0.3"}
    style = {
        "showmeans": True,
        "patch_artist": True,
        "boxprops": {"facecolor": color, "edgecolor": "0.3"},
        "medianprops": {"color": "0.1"},
        "whiskerprops": gray,
        "capprops": gray,
        "meanprops": {"marker": "o", "mfc": "white", "mec": "0.1", "ms": 3.5},
    }
    names = {"low": "whislo", "lower": "q1", "median": "med", "upper": "q3", "high": "whishi"}
    names["value"] = "mean"
    for position, box in enumerate(rows[[*names]].rename(columns=names).to_dict("records")):
        axis.bxp([box | {"fliers": []}], positions=[position + shift], widths=width, **style)


def finish(axis, relevant) -> None:
    """Names of the features, a line at zero."""
    axis.axhline(0, color="0.3", lw=0.8)
    kinds = ["cont.", *CATEGORIES]
    labels = [f"{name}\n{kind}" for name, kind in zip(FEATURES, kinds, strict=True)]
    axis.set_xticks(range(len(FEATURES)), labels)
    axis.set_xlim(-0.6, len(FEATURES) - 0.4)
    if relevant:
        label = axis.get_xticklabels()[FEATURES.index(relevant)]
        label.set(color=COLORS["green"], fontweight="bold")
    axis.grid(False, axis="x")
