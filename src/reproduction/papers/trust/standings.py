"""Standings: how well every measure answers every question, with paired differences."""

import numpy as np
import pandas as pd
from scipy.stats import studentized_range

from reproduction.papers.trust import _problems

# Measures whose mean ranks differ by less are alike, with this error over all pairs.
ALPHA = 0.05
ASKED = {
    "association": "does the feature\ntell y at all?",
    "conditional": "does it tell y\ngiven the others?",
    "reliance": "does the model's\noutput depend on it?",
    "refit": "is it missed by\na new fit?",
}


def compute(inputs) -> pd.DataFrame:
    """Summarize every measure: a row a kind of model and yardstick.

    ``value``: mean over tables of features of the means over their problems; ``less_univariate_f``
    and ``less_mdi``: paired differences, each with its bootstrap interval over the tables
    (``_low``, ``_high``); ``regret``: mean distance from the best measure of the problem;
    ``rank``: mean rank over the tables, 1 is best, of measures that have every problem;
    ``distance``: critical distance of mean ranks (Nemenyi; Demsar 2006).
    """
    problems, rows = _problems.studied(inputs), []
    for kind, of_kind in problems.groupby("kind"):
        for yardstick in _problems.YARDSTICKS:
            scores = _problems.wide(of_kind, yardstick)
            regret = scores.rsub(scores.max(axis=1), axis=0).mean()
            means = _problems.by_table(scores)
            complete = means.loc[:, scores.notna().sum() >= scores.notna().sum().max()]
            ranks = complete.drop(columns=_problems.RANDOM, errors="ignore").rank(
                axis=1, ascending=False
            )
            n, k = ranks.shape
            quantile = studentized_range.ppf(1 - ALPHA, k, np.inf) if k > 1 else np.nan
            distance = quantile * np.sqrt(k * (k + 1) / (12 * n)) if n else np.nan
            for measure in means:
                row = {"kind": kind, "yardstick": yardstick, "measure": measure}
                row |= {"value": means[measure].mean(), "n_problems": scores[measure].count()}
                for other in (_problems.BASELINE, _problems.DEFAULT):
                    less = _problems.by_table(scores[measure] - scores[other])
                    low, high = _problems.interval(less)
                    label = f"less_{other}"
                    row |= {label: less.mean(), f"{label}_low": low, f"{label}_high": high}
                row |= {"regret": regret[measure], "rank": ranks.mean().get(measure)}
                rows.append(row | {"distance": distance})
    return pd.DataFrame(rows)


def draw(table):
    """Draw mean ranks by question and kind of model, and a band around the best measure."""
    from matplotlib import pyplot as plt

    kinds = sorted(table["kind"].unique())
    figure, axes = plt.subplots(
        len(kinds), len(ASKED), figsize=(13, 8), sharex="row", layout="constrained", squeeze=False
    )
    for panels, kind in zip(axes, kinds, strict=True):
        for axis, (question, words) in zip(panels, ASKED.items(), strict=True):
            is_here = (table["kind"] == kind) & (table["yardstick"] == question)
            rows = table[is_here & table["rank"].notna()].sort_values("rank", ascending=False)
            places = np.arange(len(rows))
            best = rows["rank"].min()
            axis.axvspan(best, best + rows["distance"].max(), color="0.9", zorder=0)
            is_baseline = rows["measure"].isin(_problems.BASELINES)
            axis.scatter(rows["rank"], places, c=np.where(is_baseline, "C1", "C0"), s=22)
            axis.set_yticks(places, rows["measure"], fontsize=7)
            axis.set_title(f"{kind}: {words}", fontsize=9)
            axis.set_xlabel("mean rank")
    return figure
