"""What figures 6 to 8 share: forests on five features, of which none or only x2 tells y.

All features are coded as numbers, since scikit-learn has no splits by subsets of categories; R's
forests, which the paper's figures seem to show, have them. R's numbers stand beside where known.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction import storage
from reproduction.datasets.mixed_categories import CATEGORIES, FEATURES
from reproduction.figures import COLORS
from reproduction.papers import finding

SCORES = "loecher2022_mixed/scores"
# Not "null": as text in a table that reads as missing.
NULL, POWER = "null case", "power case"
RELEVANT = "x2"
# Standard errors beyond which a mean is not called zero, or a difference not called noise.
K = 3.0
PANELS = {
    "mdi_rows": "MDI (rows x impurity)",
    "shap": "mean |SHAP|",
    "pg_051_inbag": "PG(0.5, 1) (rows x impurity)",
    "air": "AIR (rows x impurity)",
}
BIASED = {"mdi_rows": "MDI", "shap": "SHAP"}
UNBIASED = {"pg_051_inbag": "PG(0.5, 1)", "air": "AIR"}
# Not in the paper's figures.
EXTRA_SCORES = {"pg_hat_10": "PGhat(1, 0)", "mda": "MDA", "shap_oob_y": "y SHAP, out-of-bag"}
PENALIZED = {"pg_hat_051": "PGhat(0.5, 1)", "pg_12": "PG(1, 2)"}
_QUANTILES = {"low": 0.05, "lower": 0.25, "median": 0.5, "upper": 0.75, "high": 0.95}


def replications(inputs, case, importances) -> pd.DataFrame:
    """Scores of a case: replications x (importance, feature)."""
    rows = inputs[SCORES]
    chosen = rows["importance"].isin(importances) & ((rows["data.effect"] > 0) == (case == POWER))
    rows = rows[chosen].assign(feature=np.array(FEATURES)[rows.loc[chosen, "feature"]])
    wide = rows.pivot(index="repeat", columns=["importance", "feature"], values="value")
    return wide[[(name, feature) for name in importances for feature in FEATURES]]


def summary(inputs, case, importances) -> pd.DataFrame:
    """Distribution of the scores over the replications.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``loecher2022_mixed/scores``.
    case : {"null case", "power case"}
    importances : list of str

    Returns
    -------
    DataFrame
        ``case``, ``importance``, ``feature``, ``value`` (mean), ``deviation`` (standard deviation),
        ``n``, the quantiles at 5, 25, 50, 75 and 95 % (``low``, ``lower``, ``median``, ``upper``,
        ``high``), ``first``, the share of replications in which the feature is first, and ``lead``
        and ``lead_error``: mean and standard error of its score less that of x2, within the
        replications.
    """
    wide = replications(inputs, case, importances)
    rows = []
    for name in importances:
        scores = wide[name]
        ahead = scores.sub(scores[RELEVANT], axis=0)
        first = scores.idxmax(axis=1)
        for feature in FEATURES:
            values = scores[feature]
            row = {"case": case, "importance": name, "feature": feature, "value": values.mean()}
            row |= {"deviation": values.std(), "n": len(values)}
            row |= {key: values.quantile(q) for key, q in _QUANTILES.items()}
            row |= {"first": (first == feature).mean(), "lead": ahead[feature].mean()}
            rows.append(row | {"lead_error": ahead[feature].std() / np.sqrt(len(values))})
    return pd.DataFrame(rows)


def compute(inputs, case, recorded) -> pd.DataFrame:
    """Table of figure 6 or 7: see `summary`, and R's numbers below.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``loecher2022_mixed/scores``.
    case : {"null case", "power case"}
    recorded : path or None
        Table of R's numbers, measured once, of forests that split categories by subsets.
    """
    table = summary(inputs, case, [*PANELS, *EXTRA_SCORES, *PENALIZED])
    if not recorded:
        return table
    known = pd.DataFrame(storage.read_rows(recorded)).query("case == @case")
    known["case"] = "R, subsets of categories"
    columns = ["value", "deviation", "first"]
    known[columns] = known[columns].apply(pd.to_numeric)
    return pd.concat([table, known[["case", "importance", "feature", *columns]]], ignore_index=True)


def unbiased(statement, table, names) -> list[dict]:
    """Findings that no mean differs from 0, one a measure."""
    measured = "largest |mean| of a feature in standard errors, "
    findings = []
    for importance, name in names.items():
        rows = table[(table["importance"] == importance) & (table["case"] == NULL)]
        z = rows["value"].abs() / (rows["deviation"] / np.sqrt(rows["n"]))
        findings.append(finding(statement, name, measured + name, z.max(), K, "at most"))
    return findings


def of(table, importance, case) -> pd.DataFrame:
    """Rows of one measure by feature."""
    rows = table[(table["importance"] == importance) & (table["case"] == case)]
    return rows.set_index("feature").reindex(FEATURES)


def draw(table, panels, title):
    """Four panels of boxes: quartiles, whiskers at 5 and 95 %, the mean as a point."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(panels), figsize=(2.9 * len(panels), 3.4), layout="none")
    figure.subplots_adjust(left=0.04, right=0.995, bottom=0.2, top=0.78, wspace=0.3)
    for axis, (importance, case, name) in zip(axes, panels, strict=True):
        boxes(axis, of(table, importance, case), RELEVANT if case == POWER else None)
        _diamonds(axis, table, importance)
        axis.set_title(name, loc="left")
    figure.suptitle(title, y=0.97)
    return figure


def boxes(axis, rows, relevant) -> None:
    """One box a feature, the relevant one in color."""
    for position, (feature, row) in enumerate(rows.iterrows()):
        box = {"whislo": row["low"], "q1": row["lower"], "med": row["median"]}
        box |= {"q3": row["upper"], "whishi": row["high"], "mean": row["value"], "fliers": []}
        color = COLORS["orange"] if feature == relevant else "0.85"
        axis.bxp(
            [box],
            positions=[position],
            widths=0.6,
            showmeans=True,
            patch_artist=True,
            boxprops={"facecolor": color, "edgecolor": "0.3"},
            medianprops={"color": "0.1"},
            whiskerprops={"color": "0.3"},
            capprops={"color": "0.3"},
            meanprops={"marker": "o", "mfc": "white", "mec": "0.1", "ms": 4},
        )
    axis.axhline(0, color="0.3", lw=0.8)
    kinds = ["any", *CATEGORIES]
    labels = [f"{name}\n{kind}" for name, kind in zip(FEATURES, kinds, strict=True)]
    axis.set_xticks(range(len(FEATURES)), labels)
    axis.set_xlabel("feature, number of values")
    axis.grid(False, axis="x")


def _diamonds(axis, table, importance):
    rows = table[(table["importance"] == importance) & table["case"].str.startswith("R,")]
    rows = rows.dropna(subset=["value"])
    if len(rows):
        places = [FEATURES.index(f) for f in rows["feature"]]
        style = {"marker": "D", "ls": "", "ms": 4, "color": COLORS["vermilion"], "mec": "white"}
        axis.plot(places, rows["value"], label="mean in R, categories by subsets", **style)
        axis.legend(loc="lower left", bbox_to_anchor=(-0.1, 1.07), borderaxespad=0)
