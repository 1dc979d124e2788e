"""Cells of the matrix: one value a data set, model, seed, measure and yardstick."""

import json

import numpy as np
import pandas as pd
import scipy.stats

from reproduction.papers.trust import _consistency
from splitcredit import measures as library_measures

CELL = ["data", "model", "measure", "yardstick"]
EXPERIMENT = "trust_"
MEASURES = "trust_measures/measures"
# What is a property of the measure, and not of it on some data.
ANY, BAGGED = "any", "bagged"
# Words of ``REQUIRES`` -> why a measure has no value.
LACKS = {
    "impurity": "needs the impurity of every node, which this model does not keep",
    "bootstrap": "needs the rows that each tree was grown without, and this model draws none",
    "refit": "needs a model whose nodes keep an impurity, fitted anew with shadows of the features",
}


def by_seed(inputs, n_pairs: int = 60, seed: int = 0) -> pd.DataFrame:
    """Every value: `CELL`, ``seed``, ``value``, ``why_empty`` (NaN in a cell that has a value)."""
    frames = [_of_measures(inputs[MEASURES], n_pairs, seed)] if MEASURES in inputs else []
    for name, table in inputs.items():
        experiment, _, metric = name.partition("/")
        model = experiment.removeprefix(EXPERIMENT)
        if name == MEASURES or model.endswith("_again"):
            continue
        if metric == "scores":
            again = inputs[f"{experiment}_again/scores"]
            cells = _agreements(table, again)
        else:
            cells = table.assign(yardstick=table.get("yardstick", metric))
        frames.append(cells.assign(model=model))
    cells = pd.concat(frames, ignore_index=True)
    cells = cells.rename(columns={"importance": "measure", "repeat": "seed"})
    cells["data"] = cells["data"].str.removeprefix(EXPERIMENT)
    cells["why_empty"] = cells["why_empty"].replace("", np.nan)
    return cells[[*CELL[:2], "seed", *CELL[2:], "value", "why_empty"]]


def matrix(cells, methods, smaller, about_zero, why_empty) -> pd.DataFrame:
    """One row a cell, with means and 95 % intervals of the mean over the seeds (Student's t)."""
    grouped = cells.groupby(CELL, sort=False)
    rows = grouped.agg(
        value=("value", "mean"),
        spread=("value", "sem"),
        n_seeds=("value", "count"),
        why_empty=("why_empty", "first"),
    )
    half_width = rows.pop("spread") * scipy.stats.t.ppf(0.975, (rows["n_seeds"] - 1).clip(lower=1))
    rows["low"], rows["high"] = rows["value"] - half_width, rows["value"] + half_width
    rows = rows.reset_index()
    missing = _missing(rows, methods, why_empty)
    rows = pd.concat([rows, pd.DataFrame(missing)], ignore_index=True)
    rows["score"] = score(rows, smaller, about_zero)
    places = {name: k for k, name in enumerate(dict.fromkeys(cells["measure"]))}
    order = rows["measure"].map(places)
    rows = rows.assign(place=order).sort_values(["data", "model", "yardstick", "place"])
    rows["n_seeds"] = rows["n_seeds"].fillna(0).astype(int)
    return rows[[*CELL, "value", "score", "low", "high", "n_seeds", "why_empty"]]


def score(rows, smaller, about_zero) -> pd.Series:
    """Values as scores of which a larger one is better; see `matrix`."""
    scores = rows["value"].where(~rows["yardstick"].isin(smaller), -rows["value"])
    return scores.where(~rows["yardstick"].isin(about_zero), -scores.abs())


def _missing(rows, methods, why_empty):
    """Cells of measures that the experiment of a model does not compute."""
    measures = dict.fromkeys(rows["measure"])
    for (data, model, yardstick), group in rows.groupby(["data", "model", "yardstick"], sort=False):
        for measure in measures.keys() - set(group["measure"]):
            given = why_empty.get(model, {}).get(measure)
            why = (
                given or _lacks(methods.get(measure)) or f"{EXPERIMENT}{model} does not compute it"
            )
            cell = dict(zip(CELL, (data, model, measure, yardstick), strict=True))
            yield cell | {"why_empty": why}


def _lacks(method):
    if method not in library_measures.names():
        return ""
    requires = getattr(library_measures.module_of(method), "REQUIRES", ())
    return next((LACKS[word] for word in requires if word in LACKS), "")


def _agreements(whole, again):
    """Spearman's correlation of the scores of two forests: other seeds, and other halves."""
    keys = ["data", "repeat", "importance"]
    halves = {variant: table for variant, table in again.groupby("variant")}
    pairs = {
        "agreement_seeds": (whole, halves["other_seed"]),
        "agreement_halves": (halves["first_half"], halves["second_half"]),
    }
    for_yardstick = []
    for yardstick, tables in pairs.items():
        first, second = (_centered_ranks(table, keys) for table in tables)
        both = first.merge(second, on=[*keys, "feature"])
        products = {"ab": both["rank_x"] * both["rank_y"]}
        products |= {"aa": both["rank_x"] ** 2, "bb": both["rank_y"] ** 2}
        sums = both.assign(**products).groupby(keys, sort=False)[["ab", "aa", "bb"]].sum()
        # Where all scores are equal there is no order that could agree.
        norm = np.sqrt(sums["aa"] * sums["bb"])
        value = (sums["ab"] / norm.where(norm > 0, 1.0)).rename("value")
        for_yardstick.append(value.reset_index().assign(yardstick=yardstick))
    return pd.concat(for_yardstick, ignore_index=True)


def _centered_ranks(table, keys):
    ranks = table.groupby(keys)["value"].rank()
    ranks -= ranks.groupby([table[key] for key in keys]).transform("mean")
    return table[[*keys, "feature"]].assign(rank=ranks)


def _of_measures(table, n_pairs, seed):
    """Return cost and consistency, which belong to a measure for any data."""
    pairs, rows = _consistency.drawn(n_pairs, seed), []
    for row in table.to_dict("records"):
        parameters = json.loads(row["parameters"])
        falls = _consistency.share_of_falls(row["method"], parameters, row["is_global"], pairs)
        unknown = (
            "" if np.isfinite(row["steps"]) else f"no count of steps is known of {row['method']}"
        )
        for yardstick, (value, why) in (("violations", falls), ("steps", (row["steps"], unknown))):
            cell = {"data": ANY, "model": BAGGED, "repeat": 0, "why_empty": why}
            rows.append(
                cell | {"importance": row["importance"], "yardstick": yardstick, "value": value}
            )
    return pd.DataFrame(rows)
