"""Importances under the libraries' names: gain, weight and cover of splits, and permutation."""

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBRegressor

import twins
from splitcredit import importance, to_forest

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.normal(size=(200, 4)), columns=["a", "b", "c", "d"])
Y = X["a"] * X["b"] + X["c"]


@pytest.mark.parametrize("kind", ["weight", "gain", "total_gain", "cover", "total_cover"])
def test_splits_are_counted_as_xgboost_counts_them(kind):
    model = XGBRegressor(n_estimators=5, max_depth=3).fit(X, Y)
    for own in (model, model.get_booster()):
        theirs = model.get_booster().get_score(importance_type=kind)
        ours = importance(own, method="splits", kind=kind).to_frame().set_index("feature")["value"]
        for name in X:
            assert ours[name] == pytest.approx(theirs.get(name, 0.0), rel=1e-6)


@pytest.mark.parametrize(("kind", "name"), [("weight", "split"), ("total_gain", "gain")])
def test_splits_are_counted_as_lightgbm_counts_them(kind, name):
    model = LGBMRegressor(n_estimators=5, verbose=-1, importance_type=name).fit(X, Y)
    for own in (model, model.booster_):
        ours = importance(own, method="splits", kind=kind).values
        assert twins.largest_error(ours, model.feature_importances_) < 1e-12


def test_gains_that_are_not_kept_are_refused():
    model = RandomForestRegressor(2, random_state=0).fit(X, Y)
    assert importance(model, method="splits").values.sum() == (to_forest(model).feature >= 0).sum()
    with pytest.raises(
        ValueError, match="only fitted models of XGBoost and LightGBM keep the gain"
    ):
        importance(model, method="splits", kind="gain")
    with pytest.raises(ValueError, match="kind='split': available are 'weight', 'gain'"):
        importance(model, method="splits", kind="split")


def test_permutation_is_that_of_scikit_learn():
    model = make_pipeline(StandardScaler(), RandomForestRegressor(9, random_state=0)).fit(X, Y)
    theirs = permutation_importance(model, X, Y, n_repeats=3, random_state=7)
    ours = importance(model, X, Y, method="permutation", n_repeats=3, random_state=7)
    assert ours.values.tobytes() == theirs.importances_mean.tobytes()
    error = theirs.importances_std / np.sqrt(3)
    assert ours.standard_error.tobytes() == error.tobytes()
    assert ours.feature_names == ("a", "b", "c", "d")


def test_the_permutation_of_a_forest_is_that_of_its_model():
    for kind, y in ((RandomForestRegressor, Y), (RandomForestClassifier, Y > 0)):
        model = kind(9, random_state=0).fit(X, y)
        ours = importance(to_forest(model), X, y, method="permutation").values
        assert (
            twins.largest_error(ours, importance(model, X, y, method="permutation").values) < 1e-9
        )
    booster = XGBRegressor(n_estimators=2).fit(X, Y).get_booster()
    with pytest.raises(TypeError, match="asks the model for its score, and a Booster has none"):
        importance(booster, X, Y, method="permutation")
