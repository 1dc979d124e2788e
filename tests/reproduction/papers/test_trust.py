"""The study trust: its rule and its judgment, from scores that are made up, and the frozen rule."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from reproduction import storage
from reproduction.papers import trust
from reproduction.papers.trust import _problems, judged, rule, standings

REFERENCE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "tables" / "trust"
STUDY = ["concrete", "landsat", "letters", "storms", "thyroid", "vowels"]
TEST = ["abalone", "cells", "diamonds", "yeast"]


def made(means, tables, per_table=4, spread=0.02, seed=0):
    """Inputs as those of the experiments: bagged models, and scores about `means` of measures."""
    rng, scores, facts = np.random.default_rng(seed), [], []
    for table in tables:
        for repeat in range(per_table):
            n_training = (100, 1000)[repeat % 2]
            point = {"data.table": table, "data.response": "linear", "data.explained": 0.4}
            point |= {"data.n_training": n_training, "repeat": repeat, "variant": "deep"}
            shared = rng.normal(0, 0.1)  # a problem is hard for all measures
            for measure, mean in means.items():
                mean = mean[n_training] if isinstance(mean, dict) else mean
                value = mean + shared + rng.normal(0, spread)
                key = {"importance": measure, "yardstick": "conditional", "value": value}
                scores.append(point | key)
            known = {"fit": 0.3, "n": n_training, "p": 10, "correlation": 0.5, "spread": 2}
            facts.append(point | known)
    return {
        "trust_bagged/truth_scores": pd.DataFrame(scores),
        "trust_bagged/problem_facts": pd.DataFrame(facts),
    }


def test_a_measure_is_recommended_where_it_beats_the_ranking_without_a_model():
    means = {"good": 0.8, "twin": 0.8, "mdi": 0.6, "univariate_f": 0.7, "random_order": 0.5}
    (row,) = rule.compute(made(means, STUDY)).to_dict("records")
    assert row["answer"] in ("good", "twin") and row["condition"] == ""
    assert row["alike"] == ({"good", "twin"} - {row["answer"]}).pop()
    assert row["lead"] == pytest.approx(0.1, abs=0.02) and row["low"] > 0


def test_else_the_answer_is_the_ranking_without_a_model_or_none():
    """A lead within its interval is none, and what is no better than random is nothing."""
    means = {"good": 0.703, "mdi": 0.6, "univariate_f": 0.7, "random_order": 0.5}
    (row,) = rule.compute(made(means, STUDY, spread=0.1, seed=1)).to_dict("records")
    assert row["answer"] == "univariate_f"
    means = dict.fromkeys(("good", "mdi", "univariate_f", "random_order"), 0.5)
    (row,) = rule.compute(made(means, STUDY)).to_dict("records")
    assert (row["answer"], row["alike"]) == ("none", "")


def test_a_fact_splits_the_rule_only_where_it_adds_on_tables_that_are_left_out():
    means = {"good": {100: 0.9, 1000: 0.6}, "other": {100: 0.6, 1000: 0.9}}
    means |= {"mdi": 0.6, "univariate_f": 0.5, "random_order": 0.5}
    table = rule.compute(made(means, STUDY)).set_index("condition")["answer"]
    assert table.to_dict() == {"n < 300": "good", "n >= 300": "other"}


def test_tables_of_the_test_choose_nothing_and_judge_what_was_chosen():
    """On new tables the chosen measure fails: the rule stays, and the judgment says so."""
    means = {"good": 0.8, "mdi": 0.6, "univariate_f": 0.7, "random_order": 0.5}
    inputs, new = made(means, STUDY), made(means | {"good": 0.4}, TEST, seed=1)
    both = {name: pd.concat([table, new[name]]) for name, table in inputs.items()}
    alone = rule.compute(inputs)
    pd.testing.assert_frame_equal(rule.compute(both), alone)
    (row,) = judged.compute(both).to_dict("records")
    assert row["less_univariate_f"] == pytest.approx(-0.3, abs=0.03)
    assert row["less_univariate_f_high"] < 0 and row["hindsight"] == "univariate_f"
    assert (row["n_problems"], row["n_tables"]) == (16, 4)
    assert not len(judged.compute(inputs))


def test_differences_of_the_standings_are_paired_by_problem():
    """Problems differ by .1 and measures by .02: the interval of the difference is narrow."""
    means = {"good": 0.8, "mdi": 0.6, "univariate_f": 0.7, "random_order": 0.5}
    table = standings.compute(made(means, STUDY))
    table = table[table["yardstick"] == "conditional"].set_index("measure")
    low, high = table.loc["good", ["less_mdi_low", "less_mdi_high"]]
    assert low < 0.2 < high and high - low < 0.04
    assert table["rank"].drop("random_order").to_dict() == {"good": 1, "univariate_f": 2, "mdi": 3}
    # Demsar (2006): q(.05, 3) = 2.343, and N = 6 tables.
    assert table["distance"].iloc[0] == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 6)), rel=1e-3)


def test_tables_are_redrawn_whole():
    """Forty problems of two tables that disagree say no more than two numbers."""
    inputs = made({"good": 0.8, "mdi": 0.8}, ["concrete", "landsat"], per_table=20)
    problems = _problems.studied(inputs)
    scores = _problems.wide(problems, "conditional")
    shift = np.where(scores.index.get_level_values("table") == "concrete", 0.2, -0.2)
    low, high = _problems.interval(_problems.by_table(scores["good"] - scores["mdi"] + shift))
    assert low < -0.15 and high > 0.15


def test_the_rule_is_the_frozen_one():
    """A change of the study after the test would change it without a word."""
    frozen = yaml.safe_load(Path(trust.__file__).with_name("frozen.yaml").read_text())
    rows = storage.read_rows(REFERENCE / "rule.csv")
    keys = ("question", "kind", "condition", "answer")
    assert [{key: row[key] for key in keys} for row in rows] == frozen["answers"]
