"""Values drawn from other rows may be missing, where the trees have a direction for it."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBRegressor

import splitcredit
from splitcredit import to_forest
from splitcredit.gaps.perturbations import Marginal
from splitcredit.gaps.prediction_gap import pg2


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(120, 3)), columns=["age", "dose", "height"])
    X[random.random(X.shape) < 0.25] = np.nan
    filled = X.fillna(0.7)
    return X, filled["age"] * filled["dose"] + X["height"].isna()


def squared_gaps(forest, x, features, drawn):
    """By its definition: the mean over all that may be drawn for each feature by itself."""
    changed = []
    for values in product(*(drawn[:, j] for j in features)):
        other = x.copy()
        other[list(features)] = values
        changed.append(other)
    moved = forest.predict(np.array(changed)) - forest.predict(x[None])
    return (moved[:, -1] ** 2).mean()


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
    output = 2 if kind == "three classes" else None
    options = {"noise": "marginal", "background": drawn, "output": output}
    for features in (["age"], ["age", "dose"], list(X.columns)):
        found = splitcredit.faithfulness(model, X[:9], features, "pg2", **options)
        places = [X.columns.get_loc(name) for name in features]
        expected = [squared_gaps(forest, x, places, drawn.to_numpy()) for x in X[:9].to_numpy()]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    ranked = splitcredit.rank(model, X[:9], **options)
    first = splitcredit.faithfulness(model, X[:9], ranked, "pg2", k=1, **options)
    np.testing.assert_array_equal(first, ranked.gaps[:, 0])


def test_what_has_no_meaning_with_missing_values_names_argument_column_and_remedy(rows):
    X, y = rows
    model, filled = XGBRegressor(n_estimators=3).fit(X, y), X.fillna(0.0)
    no_rule = GradientBoostingRegressor(n_estimators=3).fit(filled, y)
    to_draw = {"noise": "marginal", "background": X}
    scale = filled.std()
    scale["dose"] = np.nan
    for call, message in (
        (lambda: splitcredit.rank(model, X, scale=1), "X holds NaN in row .*'.*marginal"),
        (lambda: splitcredit.rank(no_rule, filled, **to_draw), "background: X holds NaN .*'age'"),
        (
            lambda: splitcredit.rank(no_rule, filled, noise=Marginal(X)),
            "rows to draw from hold NaN in feature 'age', .* impute",
        ),
        (lambda: splitcredit.rank(model, filled, scale=scale), "scale of feature 'dose' is nan"),
        (lambda: pg2(model, filled, [0], Marginal(X)), "Marginal has NaN in feature 'age'"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
