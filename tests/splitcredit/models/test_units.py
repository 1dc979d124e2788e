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
from splitcredit.models.formats import format_of
from splitcredit.models.formats.units import Units
from splitcredit.views.auditing import sections
from splitcredit.views.auditing.subject import Subject

LGBMClassifier, LGBMRegressor = lightgbm.LGBMClassifier, lightgbm.LGBMRegressor
XGBClassifier, XGBRegressor = xgboost.XGBClassifier, xgboost.XGBRegressor
SMALL = {"n_estimators": 5, "random_state": 0}
QUIET = {**SMALL, "verbosity": -1, "n_jobs": 1}
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
# XGBoost predicts in single precision: numbers of 1, added up five times, are off by 3e-7.
SINGLE = 1e-6
# Classes, counts and numbers that all models below can be fitted on.
TARGETS = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    ("model", "model_output", "given"),
    [
        (LGBMClassifier(sigmoid=2.0, **QUIET), "probability", "another one"),
        (GradientBoostingClassifier(loss="exponential", **SMALL), "probability", "another one"),
        (RandomForestRegressor(**SMALL), "probability", "raw_value"),
        (RandomForestClassifier(**SMALL), "probability", "probability"),
        (XGBClassifier(objective="binary:hinge", **SMALL), "probability", "another one"),
        (XGBRegressor(objective="count:poisson", **SMALL), "squared_error", "another one"),
        (LGBMRegressor(reg_sqrt=True, **QUIET), "squared_error", "another one"),
        (XGBClassifier(**SMALL), "squared_error", "binary_crossentropy"),
    ],
)
def test_a_curve_is_refused_that_is_not_the_models_own(model, model_output, given):
    model.fit(X, TARGETS)
    options = {"background": X[:9], "model_output": model_output, "y": TARGETS[:4]}
    with pytest.raises(ValueError, match=f"that of this {type(model).__name__} is {given}"):
        splitcredit.tree_shap_interventional(model, X[:4], **options)


@pytest.mark.parametrize(
    "model", [LGBMClassifier(**QUIET), XGBClassifier(**SMALL), GradientBoostingClassifier(**SMALL)]
)
def test_probabilities_add_up_to_those_of_the_model(model):
    model.fit(X, TARGETS)
    options = {"background": X[:9], "model_output": "probability"}
    for output, column in (("all", 1), (0, 0), (1, 1)):
        attribution = splitcredit.tree_shap_interventional(model, X, output=output, **options)
        error = np.abs(attribution.totals()[:, 0] - model.predict_proba(X)[:, column]).max()
        assert error < (SINGLE if isinstance(model, XGBClassifier) else 1e-12)


def saved(model, folder):
    """The path of the file of a fitted model."""
    path = folder / ("model.txt" if isinstance(model, LGBMRegressor) else "model.ubj")
    (model.booster_ if isinstance(model, LGBMRegressor) else model).save_model(path)
    return path


@pytest.mark.parametrize(
    "model",
    [
        XGBRegressor(objective="count:poisson", **SMALL),
        XGBRegressor(objective="reg:logistic", **SMALL),
        LGBMRegressor(objective="tweedie", **QUIET),
        LGBMRegressor(objective="cross_entropy", **QUIET),
        LGBMRegressor(reg_sqrt=True, **QUIET),
        HistGradientBoostingRegressor(loss="poisson", max_iter=5),
    ],
)
def test_models_and_their_files_are_refused_where_the_prediction_is_not_the_sum_of_the_trees(
    model, tmp_path
):
    """Their sum of trees would be taken for the prediction, or for log-odds."""
    model.fit(X, TARGETS)
    assert not np.allclose(splitcredit.to_forest(model).predict(X)[:, 0], model.predict(X))
    with pytest.raises(ValueError, match=f"this {type(model).__name__} predicts a function of"):
        splitcredit.sage(model, X, TARGETS, algorithm="exact")
    if model.get_params().get("objective", "histogram") in ("histogram", "reg:logistic"):
        return
    path = saved(model, tmp_path)
    if isinstance(model, LGBMRegressor):  # an audit explained -233 % of the variance of counts
        section, _ = sections.model(Subject(model.booster_, X, TARGETS, None, None, 0), "none")
        assert "Booster predicts a function of the sum of its trees: pass the" in section.sentence
    named_by = f"this model in {path.name}"
    with pytest.raises(ValueError, match=f"{named_by} predicts a function of"):
        splitcredit.sage(path, X, TARGETS, algorithm="exact")
    for name in ("probability", "squared_error"):
        options = {"background": X[:9], "model_output": name, "y": TARGETS[:4]}
        with pytest.raises(ValueError, match=f"{named_by} is another one"):
            splitcredit.tree_shap_interventional(str(path), X[:4], **options)


@pytest.mark.parametrize("model", [XGBRegressor(**SMALL), LGBMRegressor(**QUIET)])
def test_the_file_of_a_model_is_measured_as_the_model(model, tmp_path):
    path = saved(model.fit(X, TARGETS), tmp_path)
    options = {"background": X[:9], "model_output": "squared_error", "y": TARGETS[:4]}
    for of_model, of_file in (
        [splitcredit.sage(m, X, TARGETS, n_permutations=9) for m in (model, path)],
        [splitcredit.tree_shap_interventional(m, X[:4], **options) for m in (model, path)],
    ):
        assert of_model.values.tobytes() == of_file.values.tobytes()


@pytest.mark.parametrize(
    ("loss", "expected", "is_linked"),
    [
        ("Tweedie", Units(), True),
        ("RMSE", Units("raw_value", "squared_error"), False),
        ("Logloss", Units("log_odds", "binary_crossentropy"), True),
        (None, Units(), False),
    ],
)
def test_files_of_catboost_name_their_loss(loss, expected, is_linked, tmp_path):
    information = {} if loss is None else {"params": {"loss_function": {"type": loss}}}
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"model_info": information}))
    assert format_of(path).units(path) == expected
    assert format_of(path).has_link(path) == is_linked


@pytest.mark.parametrize(
    "model",
    [
        XGBRegressor(**SMALL),
        XGBRegressor(objective="reg:squaredlogerror", **SMALL),
        LGBMRegressor(objective="huber", **QUIET),
        HistGradientBoostingRegressor(max_iter=5),
        RandomForestRegressor(**SMALL),
    ],
)
def test_sage_adds_up_to_what_the_features_save_of_the_models_own_loss(model):
    """The loss is a square, so its relative error is twice that of the prediction."""
    model.fit(X, TARGETS)
    scores = splitcredit.sage(model, X, TARGETS, algorithm="exact")
    predicted = model.predict(X)
    saved = ((predicted.mean() - TARGETS) ** 2).mean() - ((predicted - TARGETS) ** 2).mean()
    assert scores.values.sum() == pytest.approx(saved, rel=2 * SINGLE)


def own_squared_error(y, predicted):
    """An objective of one's own."""
    return predicted - y, np.ones_like(y)


@pytest.mark.parametrize(
    "model",
    [
        lightgbm.LGBMRanker(**QUIET),
        lightgbm.LGBMRanker(boosting_type="rf", bagging_freq=1, bagging_fraction=0.5, **QUIET),
        xgboost.XGBRanker(objective="rank:pairwise", **SMALL),
        XGBRegressor(objective="survival:cox", **SMALL),
        XGBRegressor(objective="reg:quantileerror", quantile_alpha=0.9, **SMALL),
        LGBMRegressor(objective="quantile", **QUIET),
        HistGradientBoostingRegressor(loss="quantile", quantile=0.9, max_iter=5),
        LGBMRegressor(objective=own_squared_error, **QUIET),
        XGBRegressor(objective=own_squared_error, **SMALL),
    ],
)
def test_what_is_no_mean_of_y_is_held_against_it_nowhere(model):
    """Ranks and quantiles were: the first feature was noise, and the explained variance -5.85."""
    given = {"group": [len(X)]} if "Ranker" in str(model) else {}
    model.fit(X, TARGETS, **given)
    for fitted in (model, getattr(model, "booster_", model)):
        with pytest.raises(ValueError, match="SAGE needs a prediction on the scale of y") as caught:
            splitcredit.sage(fitted, X, TARGETS, algorithm="exact")
        assert splitcredit.methods(fitted).why_not["sage"] == str(caught.value)
        section, beats_chance = sections.model(Subject(fitted, X, TARGETS, None, None, 0), "none")
        assert np.isnan(section.value) and beats_chance is None
        options = {"background": X[:9], "model_output": "squared_error", "y": TARGETS[:4]}
        with pytest.raises(ValueError, match="needs a model whose objective is squared_error"):
            splitcredit.tree_shap_interventional(fitted, X[:4], **options)
    if "Ranker" in str(model) and not hasattr(model, "score"):
        with pytest.raises(
            TypeError, match="a LGBMRanker has none: give scoring=, a name or a fun"
        ):
            splitcredit.importance(model, X, TARGETS, "permutation")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (GradientBoostingRegressor(n_estimators=2), ("raw_value", "squared_error")),
        (GradientBoostingRegressor(n_estimators=2, loss="huber"), ("raw_value", None)),
        (HistGradientBoostingRegressor(max_iter=2, loss="poisson"), (None, None)),
    ],
)
def test_a_loss_says_whether_the_sum_of_the_trees_is_the_prediction(model, expected):
    found = format_of(model).units(model.fit(X, TARGETS - TARGETS.min() + 1))
    assert (found.tree_output, found.objective) == expected


def test_a_booster_with_an_objective_of_its_users_own_has_no_units_and_no_link():
    """Its text names no objective."""

    def squared_error(predicted, rows):
        return predicted - rows.get_label(), np.ones_like(predicted)

    rows = lightgbm.Dataset(X, TARGETS)
    booster = lightgbm.train({"objective": squared_error, "verbosity": -1}, rows, 3)
    library = format_of(booster)
    assert library.units(booster) == Units() and not library.has_link(booster)


@pytest.mark.parametrize("target", [0.0, 1.0])
def test_a_boosted_model_of_one_class_has_the_margin_of_xgboost(target):
    """XGBoost keeps the base score of such a model so far from 0 and 1, in single precision."""
    model = XGBRegressor(objective="binary:logistic", **SMALL).fit(X, np.full(len(X), target))
    margin = splitcredit.to_forest(model).predict(X)[:, 0]
    assert margin == pytest.approx(model.predict(X, output_margin=True), rel=SINGLE)


def test_a_base_score_without_a_logarithm_is_refused():
    model = XGBRegressor(objective="count:poisson", **SMALL).fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="whose logarithm is no number"):
        splitcredit.to_forest(model)
