"""What the sum of the trees means: measures that need its unit refuse models of another one."""

import json

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import splitcredit
from forests import conversion_error
from splitcredit.models.formats import format_of
from splitcredit.models.formats.units import BINARY, CLASS_FRACTIONS, SQUARED, VALUE, Units
from splitcredit.views.auditing import sections
from splitcredit.views.auditing.subject import Subject

LGBMClassifier, LGBMRegressor = lightgbm.LGBMClassifier, lightgbm.LGBMRegressor
XGBClassifier, XGBRegressor = xgboost.XGBClassifier, xgboost.XGBRegressor
SMALL = {"n_estimators": 5, "random_state": 0}
QUIET = {**SMALL, "verbosity": -1, "n_jobs": 1}
BAGS = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
X = np.random.default_rng(0).normal(size=(200, 3))
# Classes, counts and numbers that all models below can be fitted on.
TARGETS = (X[:, 0] > 0).astype(int)
NONE = Units()
# XGBoost predicts in single precision: numbers of 1, added up five times, are off by 3e-7.
SINGLE = 1e-6


def own_squared_error(y, predicted):
    """An objective of one's own."""
    return predicted - y, np.ones_like(y)


# Name -> a model, its units, and whether its prediction is a function of the sum of the trees.
MODELS = {
    "forest": (RandomForestRegressor(**SMALL), SQUARED, False),
    "forest of classes": (RandomForestClassifier(**SMALL), CLASS_FRACTIONS, False),
    "gradient": (GradientBoostingRegressor(**SMALL), SQUARED, False),
    "gradient, huber": (GradientBoostingRegressor(loss="huber", **SMALL), VALUE, False),
    "gradient, classes": (GradientBoostingClassifier(**SMALL), BINARY, True),
    "gradient, exponential": (
        GradientBoostingClassifier(loss="exponential", **SMALL),
        NONE,
        True,
    ),
    "histogram": (HistGradientBoostingRegressor(max_iter=5), SQUARED, False),
    "histogram, poisson": (HistGradientBoostingRegressor("poisson", max_iter=5), NONE, True),
    "histogram, quantile": (
        HistGradientBoostingRegressor("quantile", quantile=0.9, max_iter=5),
        VALUE,
        False,
    ),
    "lightgbm": (LGBMRegressor(**QUIET), SQUARED, False),
    "lightgbm, root": (LGBMRegressor(reg_sqrt=True, **QUIET), NONE, True),
    "lightgbm, huber": (LGBMRegressor(objective="huber", **QUIET), VALUE, False),
    "lightgbm, tweedie": (LGBMRegressor(objective="tweedie", **QUIET), NONE, True),
    "lightgbm, cross entropy": (LGBMRegressor(objective="cross_entropy", **QUIET), NONE, True),
    "lightgbm, quantile": (LGBMRegressor(objective="quantile", **QUIET), VALUE, False),
    "lightgbm, own": (LGBMRegressor(objective=own_squared_error, **QUIET), NONE, False),
    "lightgbm, classes": (LGBMClassifier(**QUIET), BINARY, True),
    "lightgbm, sigmoid": (LGBMClassifier(sigmoid=2.0, **QUIET), NONE, True),
    "lightgbm, ranks": (lightgbm.LGBMRanker(**QUIET), NONE, False),
    "lightgbm, ranks of a forest": (lightgbm.LGBMRanker(**BAGS, **QUIET), NONE, False),
    "xgboost": (XGBRegressor(**SMALL), SQUARED, False),
    "xgboost, logarithms": (XGBRegressor(objective="reg:squaredlogerror", **SMALL), VALUE, False),
    "xgboost, poisson": (XGBRegressor(objective="count:poisson", **SMALL), NONE, True),
    "xgboost, logistic": (XGBRegressor(objective="reg:logistic", **SMALL), BINARY, True),
    "xgboost, cox": (XGBRegressor(objective="survival:cox", **SMALL), NONE, True),
    "xgboost, quantile": (
        XGBRegressor(objective="reg:quantileerror", quantile_alpha=0.9, **SMALL),
        VALUE,
        False,
    ),
    "xgboost, own": (XGBRegressor(objective=own_squared_error, **SMALL), NONE, False),
    "xgboost, classes": (XGBClassifier(**SMALL), BINARY, True),
    "xgboost, hinge": (XGBClassifier(objective="binary:hinge", **SMALL), NONE, True),
    "xgboost, ranks": (xgboost.XGBRanker(objective="rank:pairwise", **SMALL), NONE, False),
}
# What predicts ranks, quantiles or by an objective of one's own, and no mean of y.
NO_MEAN = [n for n in MODELS if n.endswith(("ranks", "of a forest", "cox", "quantile", "own"))]


def fitted(name):
    model = MODELS[name][0]
    return model.fit(X, TARGETS, **({"group": [len(X)]} if "ranks" in name else {}))


def saved(model, folder):
    """The path of the file of a fitted model."""
    is_text = isinstance(model, lightgbm.LGBMModel)
    path = folder / ("model.txt" if is_text else "model.ubj")
    (model.booster_ if is_text else model).save_model(path)
    return path


def loss_options(name):
    return {"background": X[:9], "model_output": name, "y": TARGETS[:4]}


@pytest.mark.parametrize("name", MODELS)
def test_units_and_link_are_those_of_the_objective(name, tmp_path):
    """Of the model, its Booster and its file."""
    model, (_, units, has_link) = fitted(name), MODELS[name]
    given = [model, getattr(model, "booster_", model)]
    # A file of XGBoost does not tell that the objective was one's own.
    if name.startswith(("xgboost", "lightgbm")) and name != "xgboost, own":
        given += [saved(model, tmp_path)]
    for one in given:
        assert format_of(one).units(one) == units and format_of(one).has_link(one) == has_link


@pytest.mark.parametrize(
    ("loss", "expected", "is_linked"),
    [
        ("Tweedie", NONE, True),
        ("RMSE", SQUARED, False),
        ("Logloss", BINARY, True),
        (None, NONE, False),
    ],
)
def test_files_of_catboost_name_their_loss(loss, expected, is_linked, tmp_path):
    information = {} if loss is None else {"params": {"loss_function": {"type": loss}}}
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"model_info": information}))
    assert format_of(path).units(path) == expected
    assert format_of(path).has_link(path) == is_linked


@pytest.mark.parametrize(
    ("name", "model_output", "given"),
    [
        ("lightgbm, sigmoid", "probability", "another one"),
        ("forest", "probability", "raw_value"),
        ("forest of classes", "probability", "probability"),
        ("xgboost, poisson", "squared_error", "another one"),
        ("xgboost, classes", "squared_error", "binary_crossentropy"),
    ],
)
def test_a_curve_is_refused_that_is_not_the_models_own(name, model_output, given):
    model = fitted(name)
    with pytest.raises(ValueError, match=f"for this {type(model).__name__} it is {given}"):
        splitcredit.tree_shap_interventional(model, X[:4], **loss_options(model_output))


@pytest.mark.parametrize("name", ["xgboost, poisson", "lightgbm, root", "histogram, poisson"])
def test_a_prediction_that_is_not_the_sum_of_the_trees_is_refused(name):
    """The sum would be taken for the prediction; an audit explained -233 % of the variance."""
    model = fitted(name)
    with pytest.raises(ValueError, match=f"this {type(model).__name__} predicts a function of"):
        splitcredit.sage(model, X, TARGETS, algorithm="exact")
    if name == "lightgbm, root":
        subject = Subject(model.booster_, X, TARGETS, None, None, 0)
        sentence = sections.model(subject)[0].sentence
        assert "Booster predicts a function of the sum of its trees: pass the" in sentence


@pytest.mark.parametrize("name", NO_MEAN)
def test_what_is_no_mean_of_y_is_held_against_it_nowhere(name):
    """Ranks and quantiles were: the first feature was noise, and the explained variance -5.85."""
    model = fitted(name)
    for one in (model, getattr(model, "booster_", model)):
        with pytest.raises(ValueError, match="SAGE needs a prediction on the scale of y") as caught:
            splitcredit.sage(one, X, TARGETS, algorithm="exact")
        assert splitcredit.methods(one).why_not["sage"] == str(caught.value)
        section, beats_chance = sections.model(Subject(one, X, TARGETS, None, None, 0))
        assert np.isnan(section.value) and beats_chance is None
        with pytest.raises(ValueError, match="needs a model whose objective is squared_error"):
            splitcredit.tree_shap_interventional(one, X[:4], **loss_options("squared_error"))
    if name == "lightgbm, ranks":
        with pytest.raises(TypeError, match="a LGBMRanker has none: give scoring=, a name or a f"):
            splitcredit.importance(model, X, TARGETS, "permutation")


@pytest.mark.parametrize("target", [0.0, 1.0])
def test_a_boosted_model_of_one_class_has_the_margin_of_xgboost(target):
    """XGBoost keeps the base score of such a model so far from 0 and 1, in single precision."""
    model = XGBRegressor(objective="binary:logistic", **SMALL).fit(X, np.full(len(X), target))
    assert conversion_error(model, X) <= SINGLE


def test_a_base_score_without_a_logarithm_is_refused():
    model = XGBRegressor(objective="count:poisson", **SMALL).fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="which has no finite logarithm"):
        splitcredit.to_forest(model)
