"""Values drawn from other rows may be labels, or missing, where the trees have a direction."""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBRegressor

import splitcredit
import twins_prediction_gap as slow
from splitcredit import to_forest
from splitcredit.prediction_gap.exact_gap import pg2
from splitcredit.prediction_gap.perturbations import Marginal


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(120, 3)), columns=["age", "dose", "height"])
    X[random.random(X.shape) < 0.25] = np.nan
    filled = X.fillna(0.7)
    return X, filled["age"] * filled["dose"] + X["height"].isna()


@pytest.mark.parametrize("kind", ["tree", "xgboost", "three classes"])
def test_gaps_with_missing_values_are_those_of_the_definition(rows, kind):
    """Red if NaN is sent by a threshold, or by the direction of another split."""
    X, y = rows
    models = {
        "tree": DecisionTreeRegressor(max_depth=6, random_state=0),
        "xgboost": XGBRegressor(n_estimators=4, max_depth=4, learning_rate=1.0),
        "three classes": HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=4),
    }
    model = models[kind].fit(X, pd.cut(y, 3, labels=False) if kind == "three classes" else y)
    forest, drawn = to_forest(model), X[40:49]
    assert len({*forest.missing_left[forest.feature >= 0].tolist()}) == 2
    output = 2 if kind == "three classes" else 0
    options = {"noise": "marginal", "background": drawn, "output": output}
    for features in (["age"], ["age", "dose"], list(X.columns)):
        found = splitcredit.faithfulness(model, X[:4], features, "pg2", **options)
        given = X.columns.isin(features), list(drawn.to_numpy().T), output
        expected = [slow.pg2_of_values(forest, x, *given)[0] for x in X[:4].to_numpy()]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    ranked = splitcredit.rank(model, X[:9], **options)
    first = splitcredit.faithfulness(model, X[:9], ranked, "pg2", k=1, **options)
    np.testing.assert_array_equal(first, ranked.gaps[:, 0])


LIGHTGBM = {
    "n_estimators": 4,
    "min_data_per_group": 1,
    "min_child_samples": 2,
    "cat_smooth": 0,
    "max_cat_to_onehot": 1,
    "verbose": -1,
}
XGBOOST = {"n_estimators": 4, "max_depth": 4, "enable_categorical": True}
HIST = {"max_iter": 4, "min_samples_leaf": 3, "categorical_features": "from_dtype"}


@pytest.mark.parametrize("is_missing", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        LGBMRegressor(**LIGHTGBM),
        LGBMClassifier(**LIGHTGBM),
        XGBRegressor(**XGBOOST, max_cat_to_onehot=1),
        XGBRegressor(**XGBOOST, max_cat_to_onehot=99),
        HistGradientBoostingRegressor(**HIST),
    ],
    ids=["lightgbm", "lightgbm, three classes", "xgboost by sets", "xgboost by one", "sklearn"],
)
def test_gaps_with_labels_are_those_of_what_the_model_predicts(model, is_missing):
    """Red if a label is drawn as a code between others, or its sets move apart from it."""
    random = np.random.default_rng(1)
    X = pd.DataFrame({"color": pd.Categorical(random.choice(list("abcdefgh"), 120))})
    X["shape"] = pd.Categorical(random.choice(list("xyz"), 120))
    X["age"], X["dose"] = random.normal(size=120).round(1), random.normal(size=120)
    y = X["color"].cat.codes % 3 * 2 + X["age"] * (X["shape"] == "x") + X["dose"]
    if is_missing:
        X = X.mask(random.random(X.shape) < 0.2)
    classes = isinstance(model, LGBMClassifier)
    model = clone(model).fit(X, pd.cut(y, 3, labels=False) if classes else y)
    drawn, few = X[40:48], X[:5]
    options = {"background": drawn, "output": 2 if classes else None}

    def scores(table):
        return model.predict(table, raw_score=True)[:, 2] if classes else model.predict(table)

    def gap(i, features):
        others = np.array(list(product(range(8), repeat=len(features)))).T
        changed = X.iloc[np.full(others.shape[1], i)].reset_index(drop=True)
        for name, k in zip(features, others, strict=True):
            changed[name] = drawn[name].iloc[k].reset_index(drop=True)
        return ((scores(changed).astype(float) - scores(X.iloc[[i]]).astype(float)) ** 2).mean()

    for features in (["color"], ["color", "age"], list(X.columns)):
        measure = partial(splitcredit.faithfulness, model, few, features, "pg2", **options)
        found, expected = measure(), np.array([gap(i, features) for i in range(5)])
        # XGBoost predicts in single precision.
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * expected.max())
        seeds = [measure(samples=200, random_state=s) for s in range(10)]
        error = np.std(seeds, axis=0, ddof=1) / np.sqrt(10)
        assert (np.abs(np.mean(seeds, axis=0) - found) <= 6 * error + 1e-12).all()
    for method in ("pg2_greedy", "pgi2_optimum"):
        ranked = splitcredit.rank(model, few, method, **options)
        by_name = splitcredit.faithfulness(model, few, method, "pgi2_curve", **options)
        np.testing.assert_allclose(by_name, ranked.gaps, rtol=1e-12)


def test_a_number_that_counts_as_missing_is_drawn_as_missing(rows):
    """LightGBM with zero_as_missing."""
    X, y = rows
    X = X.fillna(0.0)
    options = {"n_estimators": 4, "min_child_samples": 3, "verbose": -1, "zero_as_missing": True}
    model = LGBMRegressor(**options).fit(X, y)
    found = splitcredit.faithfulness(model, X[:5], ["age"], "pg2", background=X[40:60])
    for i, gap in enumerate(found):
        changed = X.iloc[[i] * 20].assign(age=X["age"][40:60].to_numpy())
        expected = ((model.predict(changed) - model.predict(X.iloc[[i]])) ** 2).mean()
        assert gap == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match=r"which noise may hit: draw .*noise='marginal'"):
        splitcredit.rank(model, X, scale=1)


def test_what_has_no_meaning_with_missing_values_names_argument_column_and_remedy(rows):
    X, y = rows
    model, filled = XGBRegressor(n_estimators=3).fit(X, y), X.fillna(0.0)
    no_rule = GradientBoostingRegressor(n_estimators=3).fit(filled, y)
    infinite = filled.assign(dose=filled["dose"].where(filled["dose"] < 1, np.inf))
    drawn, of_finite = (
        splitcredit.rank(model, table, top=1).gaps.tobytes()
        for table in (infinite, infinite.replace(np.inf, 9))
    )
    assert drawn == of_finite
    scale = filled.std().where(filled.columns != "dose")
    for given, options, message in (
        ((model, X), {"scale": 1}, "X holds NaN in row .*'.*marginal"),
        (
            (no_rule, filled),
            {"noise": "marginal", "background": X},
            "background: X holds NaN .*'age'",
        ),
        (
            (no_rule, filled),
            {"noise": Marginal(X)},
            "rows to draw from hold NaN in .* 'age', .* imp",
        ),
        ((model, filled), {"scale": scale}, "scale of feature 'dose' is nan"),
    ):
        with pytest.raises(ValueError, match=message):
            splitcredit.rank(*given, **options)
    with pytest.raises(ValueError, match="Marginal has NaN in feature 'age'"):
        pg2(model, filled, [0], Marginal(X))
