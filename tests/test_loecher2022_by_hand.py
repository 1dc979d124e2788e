"""loecher2022: what its findings are judged by, from a few numbers that are known."""

import numpy as np
import pandas as pd
import pytest

from reproduction import models, papers
from reproduction.datasets import breast_cancer
from reproduction.papers.loecher2022 import _identities, _titanic, figure8, identities
from splitcredit import to_forest
from splitcredit.importances import mdi_oob, penalized_gini


def test_the_error_of_a_share_of_sex_is_that_of_a_ratio_of_means():
    """Seeds that raise both alike leave the ratio as it is: only what is left over counts."""
    random = np.random.default_rng(0)
    sex = 10 + random.normal(size=30)
    number = 0.2 * sex + 0.01 * random.normal(size=30)
    scores = {"Sex": sex, "PassengerId": number, "Age": sex, "Pclass": 5 + 0 * sex}
    rows = pd.DataFrame(
        [
            {"importance": "m", "feature": name, "repeat": repeat, "value": value}
            for name, values in scores.items()
            for repeat, value in enumerate(values)
        ]
    ).assign(**{"data.shuffled": "", "data.share": np.nan})
    table = _titanic.summary({_titanic.SCORES: rows}, ["m"]).set_index("feature")
    assert (table["case"] == _titanic.AS_THEY_ARE).all() and (table["n"] == 30).all()
    assert table.loc["Age", ["of_sex", "of_sex_error"]].tolist() == [1.0, 0.0]
    of_number = table.loc["PassengerId"]
    assert of_number["of_sex"] == pytest.approx(number.mean() / sex.mean())
    # The jackknife, which knows no formula for a ratio.
    left_out = [np.delete(number, i).mean() / np.delete(sex, i).mean() for i in range(30)]
    expected = np.sqrt(29 / 30 * np.sum((left_out - np.mean(left_out)) ** 2))
    assert of_number["of_sex_error"] == pytest.approx(expected, rel=0.05)
    assert of_number["of_sex_error"] < number.std(ddof=1) / np.sqrt(30) / sex.mean() / 5


def test_the_separation_of_x2_is_in_pooled_standard_deviations():
    """Two draws; x2 has mean 5 and variance 2, and x4, the nearest one, mean 2 and variance 8."""
    scores = np.array([[0.0, 4.0, -3.0, 0.0, 0.0], [0.0, 6.0, -3.0, 4.0, 2.0]])
    assert figure8.separation(scores) == pytest.approx((5 - 2) / np.sqrt((2 + 8) / 2))
    # One that is ahead of x2 makes it negative.
    scores[:, 0] = [7.0, 9.0]
    assert figure8.separation(scores) == pytest.approx((5 - 8) / np.sqrt((2 + 2) / 2))


def test_splits_near_the_root_are_those_of_the_first_two_levels():
    """And deep ones those from the fifth on: depths 2 and 3 count to neither."""
    splits_of_number = {0: 0.1, 1: 0.3, 2: 8.0, 3: 8.0, 4: 1.0, 5: 3.0}
    splits_of_sex = {0: 0.9, 1: 0.7, 2: 0.0, 3: 0.0, 4: 1.0, 5: 0.0}
    rows = pd.DataFrame(
        [
            {"repeat": repeat, "depth": depth, "feature": name, "splits": splits[depth]}
            for repeat in range(2)
            for name, splits in (("PassengerId", splits_of_number), ("Sex", splits_of_sex))
            for depth in splits_of_number
        ]
    ).assign(value=1.0, **{"data.shuffled": "", "data.share": np.nan})
    table = papers.artefact("loecher2022/depth").compute({"loecher2022_titanic/mdi_by_depth": rows})
    value = table[table["depth"].isna()].set_index("quantity")["value"]
    assert value["share near the root"] == pytest.approx(0.4 / 2)
    assert value["share of deep splits"] == pytest.approx(4.0 / 5)
    assert value["deep over near"] == pytest.approx(4.0)


def test_the_multiple_of_pg_12_that_is_held_against_mdi_oob_is_that_of_least_squares():
    data = breast_cancer.load()
    recipe = {"estimator": "RandomForestClassifier", "n_estimators": 5, "random_state": 0}
    model = models.fit(recipe, data.X, data.y)
    values = {q: value for _, q, value in _identities.counter_example(model, data.X, data.y)}
    forest = to_forest(model, data.X)
    pg_12 = penalized_gini.importance(forest, data.X, data.y, "pg_12", per_row=True).values
    theirs = mdi_oob.importance(forest, data.X, data.y).values
    (factor,), *_ = np.linalg.lstsq(pg_12[:, None], theirs)
    residual = np.abs(factor * pg_12 - theirs).max()
    assert values["best multiple of PG(1,2) - MDI-oob"] == pytest.approx(residual, rel=1e-9)
    assert residual > 1e-3


def test_the_error_of_what_is_left_of_contributions_is_over_data_sets(monkeypatch):
    """Features of one data set are not independent: two data sets have one number of each kind."""
    left_over = np.linspace(0.2, 0.9, 50)
    of_data_sets = iter([left_over, left_over / 2])
    monkeypatch.setattr(identities, "_fit", lambda *arguments: ())
    monkeypatch.setattr(_identities, "left_over", lambda: next(of_data_sets))
    monkeypatch.setattr(identities, "_of_canceling_of_id", lambda *arguments: {"": 0.0})
    rows = {row["quantity"]: row for row in identities._of_canceling(2, 1, 0)}
    of_many_values = rows[f"{_identities.LEFT}, {identities.MANY_VALUES}"]
    mean = left_over[10:].mean()
    assert of_many_values["n"] == 2 and of_many_values["value"] == pytest.approx(0.75 * mean)
    assert of_many_values["standard_error"] == pytest.approx(0.25 * mean)
