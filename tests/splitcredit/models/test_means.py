"""Means of forests: bags, votes, balanced bags; survival forests; quantile forests; GPBoost."""

import numpy as np
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import is_classifier
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBRegressor

import twins
from forests import conversion_error
from splitcredit import TreeExplainer, explain, importance, to_forest

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(200, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2]
THREE = np.array(["a", "b", "c"])[np.digitize(Y, [-0.5, 0.5])]
FOREST = RandomForestRegressor(5, random_state=0)
OTHER = ExtraTreesRegressor(7, random_state=0)
OF_CLASSES = RandomForestClassifier(5, random_state=0)
OTHER_CLASSES = ExtraTreesClassifier(7, random_state=0)
OF_LIGHTGBM = {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1, "n_estimators": 4}
OF_LIGHTGBM |= {"verbose": -1, "n_jobs": 1}
TWO_QUANTILES = {"quantile_alpha": [0.2, 0.8], "n_estimators": 2}
REGRESSORS = {
    "bag": BaggingRegressor(FOREST, 3, random_state=0),
    "bag of some features": BaggingRegressor(FOREST, 3, max_features=0.5, random_state=0),
    "vote": VotingRegressor([("a", FOREST), ("b", OTHER)]),
    "vote with weights": VotingRegressor(
        [("a", FOREST), ("b", "drop"), ("c", OTHER)], weights=np.array([1, 5, 3])
    ),
    "bag of votes": BaggingRegressor(VotingRegressor([("a", FOREST), ("b", OTHER)]), 2),
    "vote of LightGBM's forests": VotingRegressor([("a", LGBMRegressor(**OF_LIGHTGBM))]),
    "vote of boosting": VotingRegressor(
        [("a", XGBRegressor(n_estimators=3)), ("b", XGBRegressor(n_estimators=4, max_depth=2))]
    ),
}
CLASSIFIERS = {
    "bag": BaggingClassifier(OF_CLASSES, 3, random_state=0),
    "bag of few rows": BaggingClassifier(OF_CLASSES, 5, max_samples=5, random_state=0),
    "vote": VotingClassifier([("a", OF_CLASSES), ("b", OTHER_CLASSES)], voting="soft"),
}


@pytest.mark.parametrize("model", [*REGRESSORS.values(), *CLASSIFIERS.values()])
def test_totals_are_the_predictions_of_regressors_and_the_fractions_of_classifiers(model):
    of_classes = is_classifier(model)
    model.fit(X, THREE if of_classes else Y)
    # XGBoost adds up in single precision.
    assert conversion_error(model, X) <= (1e-6 if "XGB" in str(model) else 1e-12)
    assert to_forest(model).output_names == (("a", "b", "c") if of_classes else ("output",))
    TreeExplainer(model).shap_values(X)  # which checks


def test_impurities_are_kept_where_all_trees_count_alike():
    bag = REGRESSORS["bag"].fit(X, Y)
    mean = np.mean([importance(one).values for one in bag.estimators_], axis=0)
    assert twins.largest_error(importance(bag).values, mean) <= 1e-12
    assert to_forest(REGRESSORS["vote"].fit(X, Y)).impurity is None


# A forest of LightGBM averages scores.
FOREST_OF_SCORES = LGBMClassifier(**OF_LIGHTGBM)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (VotingRegressor([("a", FOREST), ("b", XGBRegressor(n_estimators=2))]), "too different"),
        (VotingRegressor([("a", FOREST), ("b", LinearRegression())]), "cannot convert .*LinearReg"),
        (BaggingRegressor(HistGradientBoostingRegressor("poisson", max_iter=2), 2), "averages"),
        (
            BaggingRegressor(make_pipeline(StandardScaler(), FOREST), 2),
            "averages what RandomForest.* from rows that steps .* put the steps before the Bagging",
        ),
        (
            VotingRegressor([("a", make_pipeline(StandardScaler(), FOREST))]),
            "put the steps before the VotingRegressor, in one pipeline around it, or explain",
        ),
        (
            VotingRegressor([("a", LGBMRegressor(objective="poisson", **OF_LIGHTGBM))]),
            "averages what LGBMRegressor predicts, a function of the sum",
        ),
        (
            VotingRegressor([("a", XGBRegressor(objective="reg:quantileerror", **TWO_QUANTILES))]),
            "this VotingRegressor is a mean of models of several outputs",
        ),
        (VotingClassifier([("a", OF_CLASSES), ("b", OTHER_CLASSES)]), "fit with voting='soft'"),
        (
            BaggingClassifier(GradientBoostingClassifier(n_estimators=2), 2),
            "averages what GradientBoostingClassifier predicts",
        ),
        (BaggingClassifier(FOREST_OF_SCORES, 2), "LGBMClassifier predicts, probabilities, and its"),
        (
            VotingClassifier([("a", FOREST_OF_SCORES)], voting="soft"),
            "LGBMClassifier predicts, probabilities, and its",
        ),
    ],
)
def test_means_of_something_else_are_refused(model, message):
    with pytest.raises(TypeError, match=message):
        to_forest(model.fit(X, THREE if is_classifier(model) else Y - Y.min()))


@pytest.mark.parametrize("leaf", [1, 5])
@pytest.mark.parametrize("kind", ["RandomForestQuantileRegressor", "ExtraTreesQuantileRegressor"])
def test_quantile_forests_are_explained_by_their_mean(kind, leaf):
    module = pytest.importorskip("quantile_forest")
    options = {"min_samples_leaf": leaf, "max_samples_leaf": None, "random_state": 0}
    model = getattr(module, kind)(5, **options).fit(X, Y)
    vote = VotingRegressor([("a", getattr(module, kind)(5))]).fit(X, Y)  # of medians
    with pytest.raises(TypeError, match="QuantileRegressor predicts, quantiles, which are not"):
        to_forest(vote)
    mean = model.predict(X, quantiles="mean", weighted_leaves=True)
    assert twins.largest_error(explain(model, X).totals()[:, 0], mean) <= 1e-12
    TreeExplainer(model).shap_values(X)


@pytest.mark.parametrize("low_memory", [False, True])
@pytest.mark.parametrize(
    "kind", ["RandomSurvivalForest", "ExtraSurvivalTrees", "GradientBoostingSurvivalAnalysis"]
)
def test_survival_models_are_explained_by_their_risk_score(kind, low_memory):
    module = pytest.importorskip("sksurv.ensemble")
    is_forest = not kind.startswith("Gradient")
    options = {"low_memory": low_memory} if is_forest else {}
    model = getattr(module, kind)(n_estimators=5, random_state=0, **options).fit(X, survival())
    attribution = explain(model, X)
    assert not is_forest or attribution.output_names == ("risk score",)
    assert twins.largest_error(attribution.totals()[:, 0], model.predict(X)) <= 1e-12
    TreeExplainer(model).shap_values(X)


@pytest.mark.parametrize("options", [{"dropout_rate": 0.5}, {"loss": "squared"}])
def test_survival_boosting_that_is_no_sum_of_trees_is_refused(options):
    module = pytest.importorskip("sksurv.ensemble")
    model = module.GradientBoostingSurvivalAnalysis(n_estimators=2, **options)
    with pytest.raises(TypeError, match="does not predict a sum of its trees: fit with loss="):
        to_forest(model.fit(X, survival()))


def survival():
    from sksurv.util import Surv

    return Surv.from_arrays(Y > 0, np.exp(Y) + 0.1)


def test_the_trees_of_a_GPBoost_model_with_random_effects_are_its_fixed_effects(tmp_path):
    gpboost = pytest.importorskip("gpboost")
    groups = np.arange(200) % 5
    random, options = gpboost.GPModel(group_data=groups), {"verbose": -1, "objective": "regression"}
    model = gpboost.train(options, gpboost.Dataset(X, Y), 3, gp_model=random)
    own = model.predict(X, group_data_pred=groups, pred_latent=True)["fixed_effect"]
    model.save_model(str(tmp_path / "mixed.json"))
    for one in (model, tmp_path / "mixed.json"):
        assert twins.largest_error(explain(one, X).totals()[:, 0], own) <= 1e-12
    assert conversion_error(gpboost.train(options, gpboost.Dataset(X, Y), 3), X) <= 1e-12


@pytest.mark.parametrize("columns", [1.0, 0.5])
def test_the_parameters_of_a_distribution_of_NGBoost_are_sums_of_trees(columns):
    ngboost = pytest.importorskip("ngboost")
    model = ngboost.NGBRegressor(n_estimators=5, verbose=False, col_sample=columns, random_state=0)
    model.fit(X, Y)
    attribution = explain(model, X)
    assert twins.largest_error(attribution.totals(), model.pred_param(X)) <= 1e-12
    assert twins.largest_error(attribution.totals()[:, 0], model.predict(X)) <= 1e-12
    assert TreeExplainer(model).shap_values(X).shape == (200, 4, 2)


def test_balanced_bags_are_means_of_their_trees():
    ensemble = pytest.importorskip("imblearn.ensemble")
    model = ensemble.BalancedBaggingClassifier(n_estimators=3, random_state=0).fit(X, Y > 1)
    assert conversion_error(model, X) <= 1e-12


def test_a_detector_of_pyod_is_its_isolation_forest():
    module = pytest.importorskip("pyod.models.iforest")
    model = module.IForest(n_estimators=5, random_state=0).fit(X)
    assert explain(model, X).values.tobytes() == explain(model.detector_, X).values.tobytes()
