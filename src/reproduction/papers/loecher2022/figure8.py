"""Figure 8: SHAP values weighted by y, power case left, null case right."""

import numpy as np
import pandas as pd

from reproduction.figures import panels
from reproduction.papers import around
from reproduction.papers.loecher2022 import cases
from reproduction.papers.loecher2022.cases import MTRY, NULL, POWER, RELEVANT, of, within

WEIGHTED = {"shap_oob_y": "out-of-bag", "shap_inbag_y": "in-bag"}
RAW = {"shap": "SHAP", "shap_inbag": "SHAP, in-bag", "shap_oob": "SHAP, out-of-bag"}
# Out-of-bag SHAP weighted by y is compared with these: the SHAP values of figure 7, and out-of-bag
# SHAP, which shows the effect of the weights alone.
BEFORE = {"shap": "all rows, as in figure 7", "shap_oob": "out-of-bag rows"}
_GREATLY = "0.8 standard deviations, which Cohen calls large, are the least for greatly improved"
GREATLY = 0.8, "at least", _GREATLY
_SEPARATES = "a distance of one standard deviation is taken for the least that separates"
_BEFORE_X2 = "in-bag, another feature is expected to be before x2"
SEPARATES = {
    "shap_oob_y": (1.0, "at least", _SEPARATES),
    "shap_inbag_y": (0.0, "at most", _BEFORE_X2),
}
# As in figure 6.
_LOW = "less than a tenth of the feature's mean |SHAP|, which is all bias here, is called none"
LOW = *cases.LOW[:2], _LOW


def compute(inputs) -> pd.DataFrame:
    """Distributions over the replications, and how far x2 is from the others.

    See `cases.summary`. Rows of the feature x2 in the power case also have ``separation``,
    the smallest distance of its mean from another's in pooled standard deviations, and
    ``separation_error`` (jackknife); those of SHAP and out-of-bag SHAP have ``gain`` and
    ``gain_error``: that of weighted out-of-bag SHAP less theirs.
    """
    names = [*WEIGHTED, *RAW]
    table = pd.concat([cases.summary(inputs, c, names) for c in (POWER, NULL)])
    rows = []
    for variant in MTRY:
        scores = cases.replications(inputs, POWER, variant, cases.NUMBERS, names)
        for name in names:
            row = {"variant": variant, "importance": name}
            row |= _measured(scores[[name]].to_numpy(), separation, "separation")
            if name in BEFORE:
                row |= _measured(scores[[name, "shap_oob_y"]].to_numpy(), _gain, "gain")
            rows.append(row)
    of_x2 = pd.DataFrame(rows).assign(case=POWER, feature=RELEVANT)
    return table.merge(of_x2, "left", on=["variant", "importance", "case", "feature"])


def _measured(scores, statistic, name):
    error = cases.jackknife(scores, statistic)
    return {name: statistic(scores), f"{name}_error": error}


def separation(scores) -> float:
    """Smallest distance of x2's mean from another's, in pooled standard deviations."""
    return _separation(scores.mean(axis=0), scores.var(axis=0, ddof=1))


def _separation(means, variances):
    x2 = cases.FEATURES.index(RELEVANT)
    distances = (means[x2] - means) / np.sqrt((variances[x2] + variances) / 2)
    return float(np.delete(distances, x2).min())


def _gain(scores):
    before, after = np.split(scores, 2, axis=1)
    return separation(after) - separation(before)


def draw(table):
    """Power left, null right; out-of-bag on top, in-bag below."""
    figure, axes = panels.subplots(2, 2, figsize=(8.6, 6.2), sharey="row", layout="none")
    figure.subplots_adjust(left=0.13, right=0.985, bottom=0.14, top=0.87, wspace=0.06, hspace=0.36)
    for line, (importance, name) in zip(axes, WEIGHTED.items(), strict=True):
        for axis, case in zip(line, (POWER, NULL), strict=True):
            cases.boxes(axis, of(table, importance, case), "0.8")
            cases.finish(axis, RELEVANT if case == POWER else None)
            axis.set_title(f"{case}, {name} rows", loc="left")
        line[0].set_ylabel("mean of y SHAP")
    cases.explain(figure, axes, table)
    figure.suptitle("SHAP weighted by y; categories as numbers, mtry 3 (published)", y=0.96)
    return figure


def statements(table):
    """s09: weighting separates x2 from the others out-of-bag, not in-bag."""
    for variant, mtry in MTRY.items():
        of_measure = {name: of(table, name, POWER, variant) for name in [*WEIGHTED, *RAW]}
        rows = {name: scores.loc[RELEVANT] for name, scores in of_measure.items()}
        # By the means and deviations of the table, not by the draws.
        apart = {
            name: _separation(scores["value"].to_numpy(), scores["deviation"].to_numpy() ** 2)
            for name, scores in of_measure.items()
        }
        for name, criterion in SEPARATES.items():
            estimate = _estimate(rows[name], "separation")
            text = "distance of x2 from the nearest other feature in standard deviations, "
            text += f"weighted, {WEIGHTED[name]}"
            place = "s09", f"{WEIGHTED[name]}, {mtry}", text, estimate
            yield within(*place, *criterion, expected=around(apart[name], cases.ROUNDING))
        for name, before in BEFORE.items():
            estimate = _estimate(rows[name], "gain")
            text = f"that distance, weighted and out-of-bag, less that of SHAP of {before}"
            low, high = around(apart["shap_oob_y"] - apart[name], cases.ROUNDING)
            if name == "shap_oob":
                # Leaving in-bag rows out, without weights, does more than the weights.
                high = min(high, apart["shap_oob"] - apart["shap"])
            place = "s09", f"improved over {before}, {mtry}", text, estimate
            yield within(*place, *GREATLY, expected=(low, high))
        # Without signal nothing is left.
        null, raw = (of(table, name, NULL, variant) for name in ("shap_oob_y", "shap"))
        errors = null["deviation"] / np.sqrt(null["n"]) / raw["value"]
        estimate = cases.largest_size(null["value"] / raw["value"], errors)
        text = "largest |mean| of a feature over its mean |SHAP|, weighted, out-of-bag"
        yield within("s09", f"null case, {mtry}", text, estimate, *LOW, possible=cases.NOT_NEGATIVE)


def _estimate(row, name):
    return row[name], around(row[name], cases.K * row[f"{name}_error"])
