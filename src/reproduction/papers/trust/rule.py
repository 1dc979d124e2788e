"""The rule: which measure to take for a question, by what the reader knows of the model and data.

A tree of depth two for each question: bagged or boosted, then at most one more fact. The fact, and
the measure of each leaf, are those with the best mean on the tables of features that are left, as
each is left out in turn.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.papers.trust import _problems

# Facts that may split the problems of a kind of model, and where.
SPLITS = (
    ("", 0.0),
    ("n", 300.0),
    ("fit", 0.2),
    ("correlation", 0.9),
    ("spread", 10.0),
)


def compute(inputs) -> pd.DataFrame:
    """Choose what to take for each question, kind of model and leaf: a row each.

    ``condition``; ``answer``: the measure to take, ``"univariate_f"`` where none is better than the
    ranking without a model, or ``"none"`` where none is better than a random order; ``alike``:
    other measures whose paired difference to the best has an interval that holds 0; ``value``: its
    mean score; ``lead``: of the measure with the largest mean over the univariate ranking, with the
    interval ``low``, ``high`` over the tables.
    """
    problems, rows = _problems.studied(inputs), []
    for question in _problems.QUESTIONS:
        for kind, of_kind in problems[problems[question].notna()].groupby("kind"):
            if of_kind["table"].nunique() < 2:  # none could be left out
                continue
            parts = leaves(of_kind, chosen(of_kind, question))
            answers = {condition: answer(part, question) for condition, part in parts.items()}
            if len({found["answer"] for found in answers.values()}) == 1:
                answers = {"": answer(of_kind, question)}
            for condition, found in answers.items():
                row = {"question": question, "kind": kind, "condition": condition}
                rows.append(row | found)
    return pd.DataFrame(rows)


def chosen(problems, question) -> tuple[str, float]:
    """Find the split with the best scores on tables that are left out.

    A fact is taken only if the interval of what it adds, over the tables, is above 0.
    """
    best = plain = left_out(problems, question, SPLITS[0])
    split = SPLITS[0]
    for candidate in SPLITS[1:]:
        if min(part["table"].nunique() for part in leaves(problems, candidate).values()) < 2:
            continue
        judged = left_out(problems, question, candidate)
        if _problems.interval(judged - plain)[0] > 0 and judged.mean() > best.mean():
            best, split = judged, candidate
    return split


def leaves(problems, split) -> dict[str, pd.DataFrame]:
    """Return the problems on each side of a split, by its condition."""
    fact, limit = split
    if not fact:
        return {"": problems}
    is_high = problems[fact] >= limit
    sides = {f"{fact} < {limit:g}": problems[~is_high], f"{fact} >= {limit:g}": problems[is_high]}
    return {condition: side for condition, side in sides.items() if len(side)}


def answer(problems, question) -> dict:
    """Choose what to take on problems that are alike in what the reader knows."""
    scores = _problems.wide(problems, question)
    means = _problems.by_table(scores)
    candidates = _complete(scores)
    best = means[candidates].mean().idxmax()

    def over(other):
        return _problems.by_table(scores[best] - scores[other])

    low, high = _problems.interval(over(_problems.BASELINE))
    taken = best if low > 0 else _problems.BASELINE
    if _problems.interval(over(_problems.RANDOM))[0] <= 0:
        taken = "none"
    alike = [m for m in candidates if m != taken and _problems.interval(over(m))[0] <= 0]
    row = {"answer": taken, "alike": "" if taken == "none" else " ".join(alike)}
    row |= {"value": means[taken].mean() if taken in means else np.nan}
    return row | {"lead": over(_problems.BASELINE).mean(), "low": low, "high": high}


def _complete(scores) -> list[str]:
    """List the measures that may be chosen: those that have nearly every problem."""
    enough = scores.notna().mean() >= 0.9
    return [measure for measure in scores.columns[enough] if measure != _problems.RANDOM]


def left_out(problems, question, split) -> pd.Series:
    """Score on each table what the others choose."""
    frames = []
    for leaf in leaves(problems, split).values():
        scores = _problems.wide(leaf, question)
        means = _problems.by_table(scores)[_complete(scores)]
        best = {table: means.drop(index=table).mean().idxmax() for table in means.index}
        of_problems = scores.index.get_level_values("table").map(best)
        places = scores.columns.get_indexer(of_problems)
        taken = scores.to_numpy()[np.arange(len(scores)), places]
        frames.append(pd.Series(taken, index=scores.index))
    return _problems.by_table(pd.concat(frames))
