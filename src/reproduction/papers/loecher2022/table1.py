"""Table 1: how well ten scores tell 5 relevant from 45 noisy features, as the area under the ROC.

All relevant features are among the ten with the fewest values. Penalized scores push noise down,
the further the more values it has: among all 50 features that looks like skill. So each score has a
second area, among the first ten features only.

The text leaves more out than the programs do. ``published`` follows the author's programs: splits
with a child of fewer than two out-of-bag rows do not count, and SHAP explains regression forests
with mtry 2. ``described`` follows the text: every split counts, and all scores are those of one
classification forest with mtry 3.
"""

import numpy as np
import pandas as pd

from reproduction import storage
from reproduction.papers import around, finding, printed

ALL, FIRST = 50, 10
# Replications behind the printed numbers (section 4.2).
PRINTED_REPLICATIONS = 100
FORESTS, SHAP_FORESTS, MTRY_2 = (
    f"loecher2022_noisy{name}/relevance_auc" for name in ("", "_shap", "_mtry")
)
# Score -> importance, and the experiment that it comes from.
_PLAIN = {"air": "air", "mda": "mda", "mdi": "mdi_rows"}
PG = {
    "pg_hat_oob(1,0)": "pg_hat_10",
    "pg_oob(1,0)": "pg_10",
    "pg_hat_oob(0.5,1)": "pg_hat_051",
    "pg_oob(0.5,1)": "pg_051",
}
SHAP = ("shap", "shap_inbag", "shap_oob")
PRINTED = {
    variant: {
        **{score: (FORESTS, f"{name}{splits}") for score, name in PG.items()},
        **{name: (forests_of_shap, name) for name in SHAP},
        **{score: (FORESTS, name) for score, name in _PLAIN.items()},
    }
    for variant, splits, forests_of_shap in (
        ("published", "", SHAP_FORESTS),
        ("described", "_all_splits", FORESTS),
    )
}
EXTRA_SCORES = {
    "pg_oob(1,2)": (FORESTS, "pg_12"),
    "pg_oob(0.5,2)": (FORESTS, "pg_052"),
    "pg_hat_oob(1,1)": (FORESTS, "pg_hat_11"),
    "pg_hat_oob(0.5,1), both by n_oob": (FORESTS, "pg_hat_051_by_oob"),
    "y shap_oob": (SHAP_FORESTS, "shap_oob_y"),
    # Covariance of y and out-of-bag SHAP: without signal 0 whatever the mean of y.
    "(y - mean) shap_oob": (SHAP_FORESTS, "shap_oob_centered"),
    **{f"{score}, mtry 2": (MTRY_2, name) for score, name in {**PG, "mdi": "mdi_rows"}.items()},
}
# What the splits add that the author's program leaves out and the text does not.
DROPPED_SPLITS = "loecher2022_noisy/relevance_of_dropped"
DROPPED = {
    f"{score}, dropped splits": (DROPPED_SPLITS, f"{PG[score]}_all_splits less {PG[score]}")
    for score in ("pg_hat_oob(1,0)", "pg_oob(1,0)", "pg_hat_oob(0.5,1)")
}
WINNER, SIMPLE = "pg_hat_oob(0.5,1)", "pg_hat_oob(1,0)"
COMPETITORS = ("mda", "shap", "air")
# No mtry reproduces the winner's printed area, so it is not among these.
OF_MTRY_2 = ("pg_hat_oob(1,0)", "pg_oob(1,0)", "pg_oob(0.5,1)", "mdi")
# Standard errors; of nine comparisons, the chance that any is further off is 2.4 % at most.
K = 3.0
ROUNDING = 1e-9
_ERRORS = f"; {K:.0f} standard errors over the replications"
# Twice the logarithm of a ratio of likelihoods.
TWENTY_TO_ONE = 2 * float(np.log(20))
_TWENTY = (
    "if areas are normal and independent, this is twice the logarithm of a ratio of likelihoods; "
    "the interval reaches to ratios of twenty to one"
)
COMPETITIVE = 0.05
_COMPETITIVE = (
    "in print MDA, SHAP and AIR are within 0.02 of it, and the next score that does better, SHAP "
    "out-of-bag, is 0.07 ahead: the limit lies between"
)


def compute(inputs, recorded=None) -> pd.DataFrame:
    """Mean AUC of every score. The author's program pools all replications into one curve instead.

    ``standard_error`` is of the difference from print, whose replications spread alike;
    ``first_ten`` is among the first ten features; ``author`` is what the scores that the author
    stored give; between ``predicted_low`` and ``predicted_high`` the causes on file put the area,
    see `_predicted`. Within the replications: ``lead`` of PGhat(0.5, 1) over the score, and how far
    PGhat(1, 0) is ``behind`` it.
    """
    pivoted = {
        name: rows.pivot(index="repeat", columns=["among", "importance"], values="value")
        for name, rows in inputs.items()
    }
    author_rows = storage.read_rows(recorded) if recorded else []
    stored = {row["score"]: float(row["value"]) for row in author_rows}
    table = []
    for variant, scores in PRINTED.items():
        sources = scores | (EXTRA_SCORES if variant == "published" else DROPPED)
        areas = {
            n: pd.DataFrame({score: pivoted[e][n][name] for score, (e, name) in sources.items()})
            for n in (ALL, FIRST)
        }
        for score in sources:
            row = {"variant": variant, "score": score} | _measured(areas, score)
            table.append(row | {"author": stored.get(score, np.nan)})
    return _predicted(pd.DataFrame(table))


def _predicted(table):
    """The table with what its causes predict of areas that are not those of print.

    By the program's rule the area is that of the author's stored scores, within the errors of both.
    By the text's rule it lies between that and the area of what the dropped splits add.
    """
    area = table.set_index(["variant", "score"])["value"]
    for place, row in table.iterrows():
        low = high = np.nan
        dropped = "described", f"{row['score']}, dropped splits"
        if row["variant"] == "published":
            error = K * row["standard_error"]
            low, high = around(row["author"], error)
        elif dropped in area.index:
            low, high = area[dropped], area["published", row["score"]]
        table.loc[place, ["predicted_low", "predicted_high"]] = low, high
    return table


def _measured(areas, score):
    value, error, n = _mean(areas[ALL][score])
    deviation = areas[ALL][score].std()
    row = {"value": value, "error": error, "deviation": deviation, "n": n}
    row |= {"standard_error": np.hypot(error, deviation / np.sqrt(PRINTED_REPLICATIONS))}
    for name, values in (
        ("first_ten", areas[FIRST][score]),
        ("lead", areas[ALL][WINNER] - areas[ALL][score]),
        ("lead_first_ten", areas[FIRST][WINNER] - areas[FIRST][score]),
        ("behind", areas[ALL][score] - areas[ALL][SIMPLE]),
    ):
        row[name], row[f"{name}_error"], _ = _mean(values)
    return row


def statements(table):
    """s10: who is best, among all features and among ten; s11: PGhat(1, 0) keeps up; s25: mtry."""
    for variant in PRINTED:
        rows = table[table["variant"] == variant].set_index("score")
        rivals = rows.loc[[score for score in PRINTED[variant] if score != WINNER]]
        for among, column, area in (
            ("all features", "lead", "value"),
            ("first ten features", "lead_first_ten", "first_ten"),
        ):
            values, errors = rivals[column], rivals[f"{column}_error"]
            measured = f"smallest lead of PGhat(0.5, 1) over the other nine, {among}{_ERRORS}"
            # By the areas: those among the ten have no noise with many values to push down.
            low, high = around(rows.loc[WINNER, area] - rivals[area].max(), ROUNDING)
            place = ("s10", f"{variant}, {among}", measured, values.min(), 0.0, "at least")
            yield finding(
                *place,
                basis="monte-carlo",
                interval=((values - K * errors).min(), (values + K * errors).min()),
                beside=column != "lead",  # the table is of all features
                expected=(low, high if column == "lead" else min(high, 0.0)),
                possible=(-1.0, 1.0),
            )
        values, errors = (rows.loc[list(COMPETITORS), f"behind{end}"] for end in ("", "_error"))
        measured = f"largest lead of MDA, SHAP or AIR over PGhat(1, 0){_ERRORS}"
        best, simple = rows.loc[list(COMPETITORS), "value"].max(), rows.loc[SIMPLE]
        expected = around(best - simple["value"], ROUNDING)
        if variant == "described":
            # PGhat(1, 0) loses what its dropped splits take away.
            expected = (best - simple["predicted_high"], best - simple["predicted_low"])
        yield finding(
            *("s11", variant, measured, values.max(), COMPETITIVE),
            reading=_COMPETITIVE,
            interval=((values - K * errors).max(), (values + K * errors).max()),
            expected=expected,
            possible=(-1.0, 1.0),
        )
    yield _of_mtry(table)


def _of_mtry(table):
    """s25: whether printed areas are nearer to ours with mtry 2 or with mtry 3."""
    rows = table[table["variant"] == "published"].set_index("score")
    areas = {cell["score"]: float(text) for cell, text in printed("loecher2022", "table1")}
    expected = np.array([areas[score] for score in OF_MTRY_2])
    distances, most = [], []
    for mtry in (", mtry 2", ""):
        part = rows.loc[[f"{score}{mtry}" for score in OF_MTRY_2]]
        weights = part["standard_error"] ** 2
        distances.append(float(((part["value"] - expected) ** 2 / weights).sum()))
        # Areas, and so their distances, are 0 to 1.
        most.append(float((1 / weights).sum()))
    measured = (
        "squared distances of the printed areas of PG and MDI from ours, in squared standard "
    )
    measured += "errors: those with mtry 2 less those with mtry 3"
    difference = distances[0] - distances[1]
    return finding(
        *("s25", "table 1, mtry", measured, difference, 0.0),
        reading=_TWENTY,
        interval=around(difference, TWENTY_TO_ONE),
        possible=(-most[1], most[0]),
        # Each printed area is within the errors of ours with either mtry.
        expected=around(0.0, len(OF_MTRY_2) * K**2),
    )


def _mean(values):
    """Mean, its standard error and the number of replications."""
    values = values.dropna()
    return float(values.mean()), float(values.std() / np.sqrt(len(values))), len(values)
