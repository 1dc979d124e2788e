"""The rule, judged on tables of features that had no part in it."""

import numpy as np
import pandas as pd

from reproduction.papers.trust import _problems, rule


def compute(inputs) -> pd.DataFrame:
    """Score the rule on the tables of the test: a row a question and kind of model.

    ``value``: mean score of what the rule answers; the paired differences ``less_univariate_f``,
    ``less_mdi`` and ``less_random_order``, each with its bootstrap interval over the tables;
    ``hindsight``: the measure that is best there, and ``less_hindsight`` the distance from it.
    """
    answers, rows = rule.compute(inputs), []
    problems = _problems.of_test(inputs)
    for (question, kind), leaves in answers.groupby(["question", "kind"], sort=False):
        of_kind = problems[(problems["kind"] == kind) & problems[question].notna()]
        if not len(of_kind):
            continue
        frames = []
        for leaf in leaves.itertuples():
            side = of_kind.query(leaf.condition) if leaf.condition else of_kind
            scores = _problems.wide(side, question)
            # Where the rule has no answer, the reader takes the ranking that needs no model.
            taken = _problems.BASELINE if leaf.answer == "none" else leaf.answer
            frames.append(scores.assign(rule=scores[taken]))
        scores = pd.concat(frames)
        means = _problems.by_table(scores)
        best = means.drop(columns="rule").mean().idxmax()
        row = {"question": question, "kind": kind, "value": means["rule"].mean()}
        row |= {"n_problems": len(scores), "n_tables": len(means), "hindsight": best}
        others = {name: name for name in (_problems.BASELINE, _problems.DEFAULT, _problems.RANDOM)}
        for name, other in (others | {"hindsight": best}).items():
            less = _problems.by_table(scores["rule"] - scores[other])
            label = f"less_{name}"
            low, high = _problems.interval(less)
            row |= {label: less.mean(), f"{label}_low": low, f"{label}_high": high}
        rows.append(row)
    columns = ["question", "kind", "value"]
    return (
        pd.DataFrame(rows) if rows else pd.DataFrame(columns=columns).astype({"value": np.float64})
    )
