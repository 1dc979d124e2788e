"""Table 4 once more, without a value of ours: treeinterpreter, shap and pandas alone."""

import pandas as pd

from reproduction import claims
from reproduction.papers import finding, printed
from reproduction.papers.sutera2021.table4 import STATISTICS

_OF_PEERS = {"saabas_treeinterpreter": "saabas", "tree_shap_shap": "tree_shap"}
_KEYS = ["dataset", "versus", "correlation", "statistic"]
# Digits are explained in ten rows here, and the rows of led_sampled are a draw.
_COMPLETE = ("led", "iris", "wine", "breast_cancer")


def compute(inputs) -> pd.DataFrame:
    """Cells of table 4 (signed scores) from other packages' values, beside ours and the print.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``sutera2021_agreement/row_correlation_summary``: from our values;
        ``sutera2021_agreement/row_correlation_summary_of_peers``: from theirs.

    Returns
    -------
    DataFrame
        ``dataset``, ``versus``, ``correlation``, ``statistic``; ``value``, theirs; ``ours``;
        ``printed`` and ``equal``, whether theirs rounds to it: only of data sets that are
        explained whole and were not drawn.
    """
    theirs = _cells(inputs["sutera2021_agreement/row_correlation_summary_of_peers"])
    theirs = theirs.assign(versus=theirs["versus"].map(_OF_PEERS))
    ours = _cells(inputs["sutera2021_agreement/row_correlation_summary"])
    table = theirs.merge(ours.rename(columns={"value": "ours"}), on=_KEYS, validate="1:1")
    texts = {tuple(cell[k] for k in _KEYS): text for cell, text in printed("sutera2021", "table4")}
    cells = table[_KEYS].itertuples(index=False, name=None)
    table["printed"] = [texts[cell] if cell[0] in _COMPLETE else "" for cell in cells]
    pairs = zip(table["printed"], table["value"], strict=True)
    table["equal"] = [
        claims.verdict(text, value, claims.Basis()) == "equal" if text else ""
        for text, value in pairs
    ]
    return table


def statements(table):
    """s47: cells of table 4 that the packages alone give as printed, of those compared."""
    judged = table[table["printed"].notna() & (table["printed"] != "")]
    n_different = (judged["equal"].astype(str) != "True").sum()
    measured = f"cells of {len(judged)} that the packages alone give otherwise than printed"
    possible = (0, len(judged))
    variant = "table 4 by the packages alone"
    return [finding("s47", variant, measured, n_different, 0.0, possible=possible)]


def _cells(summary):
    cells = summary.rename(columns={"data": "dataset"})
    return cells.loc[cells["statistic"].isin(STATISTICS), [*_KEYS, "value"]]
