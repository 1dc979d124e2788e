"""Problems of the study, a fit each: how well every measure answers every question."""

import numpy as np
import pandas as pd

from reproduction.datasets import _real_features

PROBLEM = ["kind", "model", "table", "response", "explained", "n_training", "repeat"]
# Question -> the yardstick that answers it; the last two are correlations, others areas under ROC.
QUESTIONS = ("association", "conditional", "reliance", "refit")
YARDSTICKS = (*QUESTIONS, "signal_noise", "signal_proxy", "power", "false_discoveries", "type_one")
FACTS = ("fit", "n", "p", "correlation", "spread")
# What needs no model, and what knows nothing.
BASELINE, DEFAULT, RANDOM = "univariate_f", "mdi", "random_order"
BASELINES = (BASELINE, "mutual_information")


def read(inputs) -> pd.DataFrame:
    """Read one row a problem and measure: `PROBLEM`, ``measure``, `YARDSTICKS` and `FACTS`.

    `inputs` are the tables of the experiments trust_bagged and trust_boosted.
    """
    frames = []
    for name, scores in inputs.items():
        experiment, _, metric = name.partition("/")
        if metric != "truth_scores":
            continue
        keys = [column for column in scores if column not in ("importance", "yardstick", "value")]
        index = [*keys, "importance"]
        wide = scores.pivot(index=index, columns="yardstick", values="value").reset_index()
        wide = wide.merge(inputs[f"{experiment}/problem_facts"], on=keys)
        frames.append(wide.assign(kind=experiment.removeprefix("trust_")))
    table = pd.concat(frames, ignore_index=True)
    table = table.rename(columns=lambda name: name.removeprefix("data."))
    table = table.rename(columns={"importance": "measure", "variant": "model"})
    table = table.reindex(columns=[*PROBLEM, "measure", *YARDSTICKS, *FACTS])
    return table.sort_values([*PROBLEM, "measure"], ignore_index=True)


def studied(inputs) -> pd.DataFrame:
    """Return the problems on tables that the rule may be chosen by."""
    problems = read(inputs)
    return problems[~problems["table"].isin(_real_features.names("test"))]


def of_test(inputs) -> pd.DataFrame:
    """Return the problems on the other tables, which judge it."""
    problems = read(inputs)
    return problems[problems["table"].isin(_real_features.names("test"))]


def wide(problems, yardstick) -> pd.DataFrame:
    """Pivot to a row a problem and a column a measure."""
    return problems.pivot(index=PROBLEM, columns="measure", values=yardstick)


def by_table(of_problems):
    """Average the problems of each table of features."""
    return of_problems.groupby(level="table").mean()


def interval(differences, seed=0, n=2000) -> tuple[float, float]:
    """Bootstrap the 95 % interval of a mean over the tables of features, which are redrawn."""
    differences = np.asarray(differences)[np.isfinite(differences)]
    if not len(differences):
        return np.nan, np.nan
    rng = np.random.default_rng(seed)
    means = differences[rng.integers(0, len(differences), (n, len(differences)))].mean(axis=1)
    return tuple(np.quantile(means, [0.025, 0.975]).tolist())
