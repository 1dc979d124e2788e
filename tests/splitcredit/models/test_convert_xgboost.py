"""XGBoost models to `Forest`: the formats of its releases, base scores, rounds, refusals."""

import json

import numpy as np
import pytest
import xgboost
from test_forest import assert_equal_forests
from threadpoolctl import threadpool_info, threadpool_limits

from forests import STORED, boosted, conversion_error
from splitcredit import to_forest
from splitcredit.models.formats.xgboost import from_content
from splitcredit.prediction_gap.exact_gap import pg2

FLOAT32 = 1e-5  # relative; XGBoost adds up in float32


def train(parameters, X, y, rounds=3, **options):
    """A small Booster on one thread."""
    parameters = {"max_depth": 3, "nthread": 1, "seed": 0, **parameters}
    return xgboost.train(parameters, xgboost.DMatrix(X, y, **options), rounds)


def drawn(n=120, p=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)), rng


def vectors():
    X, _ = drawn()
    return train({"multi_strategy": "multi_output_tree", "max_depth": 6}, X, X[:, :2], rounds=5)


def subsets():
    X, rng = drawn()
    X[:, 1] = rng.integers(0, 9, len(X))
    types = {"feature_types": ["q", "c", "q"], "enable_categorical": True}
    return train({"max_cat_to_onehot": 2}, X, X[:, 0] + (X[:, 1] % 2), rounds=5, **types)


@pytest.mark.parametrize("make", [vectors, subsets])
def test_file_and_Booster_give_the_same_forest(make, tmp_path):
    """Values of vector leaves, and categories of some trees, are arrays of their own lengths."""
    for ending in ("json", "ubj"):
        make().save_model(tmp_path / f"model.{ending}")
        assert_equal_forests(to_forest(tmp_path / f"model.{ending}"), to_forest(make()))


OBJECTIVES = {
    "real": "reg:squarederror reg:pseudohubererror reg:absoluteerror reg:quantileerror",
    "positive": "reg:squaredlogerror count:poisson reg:gamma reg:tweedie survival:cox survival:aft",
    "two": "reg:logistic binary:logistic binary:logitraw binary:hinge rank:map",
    "three": "multi:softmax multi:softprob rank:ndcg rank:pairwise",
}


BASES = [
    (kind, objective, given)
    for kind, objectives in OBJECTIVES.items()
    for objective in objectives.split()
    for given in ({}, {"base_score": 0.3})
]
BASES += [("two", "binary:logistic", {"base_score": score}) for score in (1e-7, 1 - 1e-7)]


@pytest.mark.parametrize(("kind", "objective", "given"), BASES)
def test_the_base_score_of_every_objective(kind, objective, given):
    X, rng = drawn()
    y = {
        "real": X[:, 0],
        "positive": np.exp(X[:, 0] / 3) + 0.1,
        "two": (X[:, 0] > 0.2).astype(float),
        "three": rng.integers(0, 3, len(X)).astype(float),
    }[kind]
    parameters = {"objective": objective, "max_depth": 2, "nthread": 1, **given}
    parameters |= {"num_class": 3} if objective.startswith("multi") else {}
    parameters |= {"quantile_alpha": 0.4} if "quantile" in objective else {}
    data = xgboost.DMatrix(X, y)
    if objective == "survival:aft":
        data.set_float_info("label_lower_bound", y)
        data.set_float_info("label_upper_bound", y)
    if objective.startswith("rank"):
        data.set_group([len(y)])
    booster = xgboost.train(parameters, data, 2)
    assert conversion_error(booster, X) <= FLOAT32


def test_an_objective_of_ones_own_has_the_base_score_as_margin():
    X, _ = drawn()
    parameters = {"max_depth": 2, "nthread": 1, "base_score": 0.75}

    def own(margin, data):
        return margin - data.get_label(), np.ones(len(margin))

    booster = xgboost.train(parameters, xgboost.DMatrix(X, X[:, 0] - X[:, 1]), 2, obj=own)
    assert conversion_error(booster, X) <= FLOAT32


def test_a_base_score_is_a_number_in_single_precision():
    base = of_document("learner_model_param", "base_score", value="[1E-1]").base
    assert base.tolist() == [float(np.float32(0.1))] != [0.1]


def test_a_wrapper_gives_the_rounds_it_predicts_with_a_Booster_all():
    X, rng = drawn()
    noise = rng.normal(size=len(X))
    model = xgboost.XGBRegressor(
        n_estimators=40, early_stopping_rounds=5, n_jobs=1, num_parallel_tree=2, subsample=0.5
    )
    model.fit(X[:80], noise[:80], eval_set=[(X[80:], noise[80:])], verbose=False)
    booster, n_rounds = model.get_booster(), model.best_iteration + 1
    assert n_rounds < booster.num_boosted_rounds()
    assert to_forest(model).n_trees == 2 * n_rounds
    assert to_forest(booster).n_trees == 2 * booster.num_boosted_rounds()
    assert max(conversion_error(one, X) for one in (model, booster)) <= FLOAT32


VECTORS = {"multi_strategy": "multi_output_tree"}
SEVERAL_OUTPUTS = {
    "trees for each": {},
    "classes for each": {"objective": "binary:logistic"},
    "vectors": VECTORS,
    "vectors of classes": {**VECTORS, "objective": "multi:softprob", "num_class": 3},
    "quantiles": {"objective": "reg:quantileerror", "quantile_alpha": [0.2, 0.7]},
}


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("name", SEVERAL_OUTPUTS)
def test_several_outputs(name, rounds):
    X, rng = drawn()
    pairs = X[:, :2] + X[:, 2:]
    targets = {"classes for each": pairs > 0, "quantiles": pairs[:, 0]}
    targets["vectors of classes"] = rng.integers(0, 3, len(X))
    parameters = {"tree_method": "hist", **SEVERAL_OUTPUTS[name]}
    booster = train(parameters, X, targets.get(name, pairs), rounds)
    forest = to_forest(booster)
    assert conversion_error(booster, X) <= FLOAT32
    assert forest.several_targets == (name != "vectors of classes")
    assert name != "vectors" or forest.cover[0] == len(X)  # XGBoost adds the hessians of all up
    names = {"classes for each": ("y0=1", "y1=1"), "vectors of classes": ("0", "1", "2")}
    assert forest.output_names == names.get(name, ("y0", "y1"))


@pytest.mark.parametrize("missing", [-1.0, 0.0, np.inf])
def test_another_missing_value_is_compared_exactly_and_may_be_infinite(missing):
    X, rng = drawn(300)
    X = X.astype(np.float32)
    X[rng.random(X.shape) < 0.2] = missing
    X[rng.random(X.shape) < 0.2] = 1e-36  # a number, however small
    y = np.where(X[:, 0] == missing, 5.0, 0) - 4.0 * (X[:, 0] == np.float32(1e-36))
    model = xgboost.XGBRegressor(n_estimators=10, n_jobs=1, missing=missing).fit(X, y)
    forest = to_forest(model)
    X[::9, 1] = np.nan
    assert conversion_error(model, X) <= FLOAT32
    as_nan = np.where(missing == X, np.nan, X)
    np.testing.assert_array_equal(forest.predict(as_nan), forest.predict(X))
    with pytest.raises(ValueError, match=r"takes .* for a missing value, which noise may hit: d"):
        pg2(forest, X[:2], [0])


def test_vector_leaves_of_former_releases_are_refused_with_the_remedy():
    """Their trees have neither the values of leaves in one array nor covers."""
    content = json.loads(vectors().save_raw("json"))
    for tree in content["learner"]["gradient_booster"]["model"]["trees"]:
        del tree["leaf_weights"], tree["sum_hessian"]
    with pytest.raises(ValueError, match=r"made by an XGBoost before 3\.2: load and save it"):
        from_content(content, "model")


def test_a_conversion_leaves_the_model_and_the_number_of_threads_alone():
    booster = boosted("xgboost, NaN, wine")[0].get_booster()
    before = bytes(booster.save_raw("ubj"))
    with threadpool_limits(2, "openmp"):
        to_forest(booster)
        threads = {i["num_threads"] for i in threadpool_info() if i["user_api"] == "openmp"}
    assert threads == {2} and xgboost.get_config()["nthread"] == 0
    assert bytes(booster.save_raw("ubj")) == before


def of_document(*place, value):
    """Read the stored model with another value at a place."""
    content = json.loads(STORED["xgboost-3.2.0, regression"].files["model"])
    content["learner"][place[0]][place[1]] = value
    return from_content(content, "model")


def of_configuration(path):
    path.write_text(train({}, X_Y[:, :2], X_Y[:, 2]).save_config())
    return to_forest(path)


X_Y = drawn()[0]
HEAVY = np.full(120, 1e38)


LINEAR = {"booster": "gblinear", "nthread": 1}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda _: to_forest(xgboost.train(LINEAR, xgboost.DMatrix(X_Y, X_Y[:, 0]))),
            "this Booster .*booster='gblinear', which is not a sum of trees: fit with booster=",
        ),
        (lambda _: to_forest(train({}, X_Y, X_Y[:, 0], rounds=0)), "has no trees: fit at least"),
        (
            lambda _: to_forest(xgboost.XGBRegressor().fit(X_Y, X_Y[:, 0], sample_weight=HEAVY)),
            "must be finite.* divide them by their mean, and",
        ),
        (lambda _: of_document("objective", "name", value="reg:new"), "objective 'reg:new'.*: f"),
        (lambda _: of_document("gradient_booster", "name", value="gbnew"), "is not a sum of trees"),
        (of_configuration, "incomplete.*save the model itself"),
    ],
)
def test_what_is_no_sum_of_trees_is_refused(make, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        make(tmp_path / "config.json")
