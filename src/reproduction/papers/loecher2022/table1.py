"""Table 1: how well ten scores tell 5 relevant from 45 noisy features, as the area under the ROC.

All relevant features are among the ten with the fewest values. Penalized scores push noise down,
the further the more values it has: among all 50 features that looks like skill. So each score has a
second area, among the first ten features only.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction import storage
from reproduction.papers import finding

ALL, FIRST = 50, 10
# Replications behind the printed numbers (section 4.2).
PRINTED_REPLICATIONS = 100
INPUTS = ("loecher2022_noisy/relevance_auc", "loecher2022_noisy_shap/relevance_auc")
PRINTED = {
    "pg_hat_oob(1,0)": "pg_hat_10",
    "pg_oob(1,0)": "pg_10",
    "pg_hat_oob(0.5,1)": "pg_hat_051",
    "pg_oob(0.5,1)": "pg_051",
    "shap": "shap",
    "shap_inbag": "shap_inbag",
    "shap_oob": "shap_oob",
    "air": "air",
    "mda": "mda",
    "mdi": "mdi_rows",
}
EXTRA_SCORES = {
    "pg_oob(1,2)": "pg_12",
    "pg_oob(0.5,2)": "pg_052",
    "pg_hat_oob(1,1)": "pg_hat_11",
    "pg_hat_oob(0.5,1), both by n_oob": "pg_hat_051_by_oob",
    "y shap_oob": "shap_oob_y",
    "(y - mean) shap_oob": "shap_oob_centered",
}
# With these the printed 0.92 comes out.
SCORES_MATCHING_PRINT = ("pg_oob(1,2)", "pg_oob(0.5,2)", "pg_hat_oob(1,1)")
WINNER = "pg_hat_oob(0.5,1)"
COMPETITORS = ("mda", "shap", "air")
K = 3.0


def compute(inputs, recorded=None) -> pd.DataFrame:
    """Mean AUC of every score.

    The author's program pools the scores of all replications into one curve instead.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``loecher2022_noisy/relevance_auc``, ``loecher2022_noisy_shap/relevance_auc``.
    recorded : path, optional
        What the author's stored scores give, where he stored some.

    Returns
    -------
    DataFrame
        ``score``; ``value``, mean AUC; ``error``, its standard error; ``deviation`` over the
        replications; ``n``; ``standard_error`` of the difference from print, whose replications
        spread alike; ``first_ten`` and ``first_ten_error``; ``author``; and the lead of
        PGhat(0.5, 1) within the replications with its standard error, among all features
        (``lead``, ``lead_error``) and the first ten (``lead_first_ten``, ...).
    """
    rows = pd.concat([inputs[name] for name in INPUTS])
    wide = rows.pivot(index="repeat", columns=["among", "importance"], values="value")
    ahead = {n: wide[n].rsub(wide[n][PRINTED[WINNER]], axis=0) for n in (ALL, FIRST)}
    stored = (
        {r["score"]: float(r["value"]) for r in storage.read_rows(recorded)} if recorded else {}
    )
    table = []
    for score, name in {**PRINTED, **EXTRA_SCORES}.items():
        mean, mean_ten = _mean(wide[ALL][name]), _mean(wide[FIRST][name])
        lead, lead_ten = _mean(ahead[ALL][name]), _mean(ahead[FIRST][name])
        deviation = wide[ALL][name].std()
        row = {"value": mean[0], "error": mean[1], "deviation": deviation, "n": len(wide)}
        of_print = np.hypot(mean[1], deviation / np.sqrt(PRINTED_REPLICATIONS))
        row |= {
            "standard_error": of_print,
            "first_ten": mean_ten[0],
            "first_ten_error": mean_ten[1],
        }
        row |= {"author": stored.get(score, np.nan), "lead": lead[0], "lead_error": lead[1]}
        row |= {"lead_first_ten": lead_ten[0], "lead_first_ten_error": lead_ten[1]}
        table.append({"score": score, **row})
    return pd.DataFrame(table)


def statements(table) -> list[dict]:
    """s10: who is best, among all features and among ten; s11: PGhat(1, 0) keeps up."""
    rows = table.set_index("score")
    rivals = rows.loc[[score for score in PRINTED if score != WINNER]]
    findings = []
    for variant, column in (("all features", "lead"), ("first ten features", "lead_first_ten")):
        lead = (rivals[column] / rivals[f"{column}_error"]).min()
        measured = (
            f"smallest lead of PGhat(0.5, 1) over the other nine in standard errors, {variant}"
        )
        findings.append(finding("s10", variant, measured, lead, K, "at least"))
    simple = rows.loc["pg_hat_oob(1,0)"]
    others = rows.loc[list(COMPETITORS)]
    errors = np.hypot(others["deviation"], simple["deviation"]) / np.sqrt(PRINTED_REPLICATIONS)
    behind = ((others["value"] - simple["value"]) / errors).max()
    measured = (
        "largest lead of MDA, SHAP or AIR over PGhat(1, 0) in standard errors of the paper's table"
    )
    return [*findings, finding("s11", "stated", measured, behind, K, "at most")]


def _mean(values):
    """Mean and its standard error."""
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))
