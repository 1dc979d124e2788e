"""Small models of every kind that can be converted, fitted to drawn data with drawn parameters.

Each function makes one kind. It takes a `drawn_data.Draw` and returns the fitted model, what the
model predicts for a table (before the link), and the table that it was fitted to.
"""

from __future__ import annotations

import lightgbm
import numpy as np
import xgboost
from sklearn import ensemble, tree

from drawn_data import with_categories

# Values of parameters that keep a tree from splitting, or do not.
GAINS = (0.0, 0.0, 1.0, 1e9)
XGBOOST_REGRESSION = (
    "reg:squarederror",
    "reg:absoluteerror",
    "reg:pseudohubererror",
    "reg:gamma",
    "reg:tweedie",
    "count:poisson",
)
XGBOOST_BINARY = ("binary:logistic", "binary:logitraw", "binary:hinge")
LIGHTGBM_REGRESSION = ("regression", "regression_l1", "huber", "poisson", "quantile")
CATBOOST_REGRESSION = ("RMSE", "MAE", "Poisson", "Quantile")


def joined(raw) -> np.ndarray:
    """Class fractions of several targets, which scikit-learn gives in a list, side by side."""
    return np.concatenate(raw, axis=1) if isinstance(raw, list) else raw


def _sklearn(model, X, y, method, weights):
    """A fitted model of scikit-learn, its prediction, and its rows."""
    model.fit(X, y, sample_weight=weights)
    return model, lambda rows: joined(getattr(model, method)(rows)), X


def _grown(d):
    """Parameters of trees of scikit-learn: no leaf may hold less than all rows in some."""
    leaf = d.one_of((1, 1, 1, 5, len(d.numbers)))
    return {"max_depth": d.number(1, 6), "min_samples_leaf": leaf, "random_state": d.seed()}


def sklearn_trees(d):
    """Decision trees, random forests and extra-trees."""
    grown = _grown(d)
    of_forests = {**grown, "n_estimators": d.number(1, 5)}
    balance = {"class_weight": d.one_of((None, "balanced"))}
    regressors = (
        tree.DecisionTreeRegressor(**grown),
        ensemble.RandomForestRegressor(**of_forests),
        ensemble.ExtraTreesRegressor(**of_forests),
    )
    classifiers = (
        tree.DecisionTreeClassifier(**grown, **balance),
        ensemble.RandomForestClassifier(**of_forests, **balance),
        ensemble.ExtraTreesClassifier(**of_forests, **balance),
    )
    if d.random.random() < 0.5:
        return _sklearn(d.one_of(regressors), d.gaps, d.numbers, "predict", d.weights)
    return _sklearn(d.one_of(classifiers), d.gaps, d.classes, "predict_proba", d.weights)


def sklearn_targets(d):
    """Forests of two targets, numbers or classes."""
    settings = {**_grown(d), "n_estimators": d.number(1, 5)}
    if d.random.random() < 0.5:
        model = ensemble.RandomForestRegressor(**settings)
        return _sklearn(model, d.gaps, d.pairs, "predict", d.weights)
    labels = np.column_stack([d.classes, d.two + 5])
    model = ensemble.RandomForestClassifier(**settings)
    return _sklearn(model, d.gaps, labels, "predict_proba", d.weights)


def sklearn_bagging(d):
    """Bagged trees, also on some of the features."""
    features = d.one_of((1.0, 0.5, 0.2, 1))
    settings = {"max_features": features, "n_estimators": d.number(1, 5), "random_state": d.seed()}
    if d.random.random() < 0.5:
        return _sklearn(ensemble.BaggingRegressor(**settings), d.gaps, d.numbers, "predict", None)
    model = ensemble.BaggingClassifier(**settings)
    return _sklearn(model, d.gaps, d.classes, "predict_proba", None)


def sklearn_gradient(d):
    """GradientBoosting, which takes no missing values."""
    settings = {**_grown(d), "n_estimators": d.number(1, 5), "subsample": d.one_of((1.0, 0.7))}
    if d.random.random() < 0.5:
        loss = d.one_of(("squared_error", "absolute_error", "huber", "quantile"))
        model = ensemble.GradientBoostingRegressor(loss=loss, **settings)
        return _sklearn(model, d.complete, d.numbers, "predict", d.weights)
    model = ensemble.GradientBoostingClassifier(init=d.one_of((None, "zero")), **settings)
    return _sklearn(model, d.complete, d.classes, "decision_function", d.weights)


def sklearn_histogram(d):
    """HistGradientBoosting of numbers."""
    settings = _histogram(d)
    if d.random.random() < 0.5:
        model = ensemble.HistGradientBoostingRegressor(**settings)
        return _sklearn(model, d.gaps, d.numbers, "predict", d.weights)
    model = ensemble.HistGradientBoostingClassifier(**settings)
    return _sklearn(model, d.gaps, d.classes, "decision_function", d.weights)


def _histogram(d):
    leaf = d.one_of((3, 3, 3, 10**6))
    return {
        "max_iter": d.number(1, 5),
        "max_leaf_nodes": d.number(2, 12),
        "min_samples_leaf": leaf,
        "random_state": d.seed(),
    }


def sklearn_ada_boost(d):
    """AdaBoost over trees of classes."""
    grown = {"max_depth": d.number(1, 5)}
    model = ensemble.AdaBoostClassifier(
        tree.DecisionTreeClassifier(**grown), n_estimators=d.number(1, 5), random_state=d.seed()
    )
    return _sklearn(model, d.complete, d.classes, "decision_function", d.weights)


def sklearn_isolation(d):
    """Isolation forests: the mean length of paths that belongs to their score."""
    rows = d.number(2, min(len(d.numbers), 20))
    features = d.one_of((1.0, 0.5))
    model = ensemble.IsolationForest(
        n_estimators=d.number(1, 5), max_samples=rows, max_features=features, random_state=d.seed()
    ).fit(d.gaps, sample_weight=d.weights)
    of_many = 2.0 * (np.log(max(rows, 3) - 1) + np.euler_gamma) - 2.0 * (rows - 1) / rows
    longest = of_many if rows > 2 else 1.0
    return model, lambda table: -longest * np.log2(-model.score_samples(table)), d.gaps


def _xgboost(d, X, y, objective, **parameters):
    """A fitted model of XGBoost, its margins, and its rows."""
    of_classes = objective.startswith(("binary", "multi"))
    wrapper = xgboost.XGBClassifier if of_classes else xgboost.XGBRegressor
    model = wrapper(
        n_estimators=d.number(1, 5),
        max_depth=d.number(1, 5),
        gamma=d.one_of(GAINS),
        objective=objective,
        random_state=d.seed(),
        n_jobs=1,
        **parameters,
    ).fit(X, y, sample_weight=d.weights)
    return model, lambda rows: model.predict(rows, output_margin=True), X


def _xgboost_targets(d):
    """Targets, and an objective that fits them."""
    if d.random.random() < 0.5:
        return d.positive, d.one_of(XGBOOST_REGRESSION)
    if d.classes.max() == 1:
        return d.two, d.one_of(XGBOOST_BINARY)
    return d.classes, "multi:softprob"


def xgboost_trees(d):
    """Booster gbtree, also with several trees in a round and numbers for missing values."""
    missing_value = d.one_of((np.nan, np.nan, 0.0, -1.0))
    settings = {"num_parallel_tree": d.number(1, 3), "subsample": d.one_of((1.0, 0.7))}
    return _xgboost(d, d.gaps, *_xgboost_targets(d), missing=missing_value, **settings)


def xgboost_dart(d):
    """Booster dart."""
    settings = {"rate_drop": 0.5, "normalize_type": d.one_of(("tree", "forest"))}
    return _xgboost(d, d.gaps, *_xgboost_targets(d), booster="dart", **settings)


def xgboost_targets(d):
    """A tree for each of two targets."""
    return _xgboost(d, d.gaps, d.pairs, "reg:squarederror")


def xgboost_vectors(d):
    """Trees whose leaves have a value for each of two targets."""
    return _xgboost(d, d.gaps, d.pairs, "reg:squarederror", multi_strategy="multi_output_tree")


def xgboost_files(d):
    """Booster gbtree, to be saved."""
    return _xgboost(d, d.gaps, *_xgboost_targets(d))


def _lightgbm(d, X, objective, y, **parameters):
    """A fitted model of LightGBM, its raw scores, and its rows."""
    wrapper = lightgbm.LGBMClassifier if y.dtype.kind == "i" else lightgbm.LGBMRegressor
    model = wrapper(
        n_estimators=d.number(1, 5),
        num_leaves=d.number(2, 8),
        min_child_samples=3,
        min_split_gain=d.one_of(GAINS),
        objective=objective,
        random_state=d.seed(),
        n_jobs=1,
        verbose=-1,
        **parameters,
    ).fit(X, y, sample_weight=d.weights)
    # A random forest predicts the mean of its trees, and its raw scores are their sum.
    rounds = model.booster_.current_iteration() if model.boosting_type == "rf" else 1
    return model, lambda rows: model.predict(rows, raw_score=True) / rounds, X


def _lightgbm_targets(d):
    """An objective, and targets that fit it."""
    if d.random.random() < 0.5:
        return d.one_of(LIGHTGBM_REGRESSION), d.positive
    return None, d.classes


def lightgbm_trees(d):
    """Boosting gbdt, goss and rf, also with zeros for missing values."""
    kind = d.one_of(("gbdt", "goss", "rf"))
    bags = {"subsample": 0.6, "subsample_freq": 1} if kind == "rf" else {}
    zero = {"zero_as_missing": d.one_of((False, True))}
    return _lightgbm(d, d.gaps, *_lightgbm_targets(d), boosting_type=kind, **bags, **zero)


def lightgbm_dart(d):
    """Boosting dart."""
    return _lightgbm(d, d.gaps, *_lightgbm_targets(d), boosting_type="dart", drop_rate=0.5)


def lightgbm_files(d):
    """Boosting gbdt, to be saved."""
    return _lightgbm(d, d.gaps, *_lightgbm_targets(d))


def sklearn_categories(d):
    """HistGradientBoosting of columns of labels."""
    table = with_categories(d)
    settings = {**_histogram(d), "categorical_features": "from_dtype"}
    if d.random.random() < 0.5:
        model = ensemble.HistGradientBoostingRegressor(**settings)
        return _sklearn(model, table, d.numbers, "predict", d.weights)
    model = ensemble.HistGradientBoostingClassifier(**settings)
    return _sklearn(model, table, d.classes, "decision_function", d.weights)


def lightgbm_categories(d):
    """Subsets of labels, and one label against the rest."""
    subsets = {"min_data_per_group": 3, "cat_smooth": 1, "max_cat_to_onehot": d.one_of((1, 4, 100))}
    return _lightgbm(d, with_categories(d), *_lightgbm_targets(d), **subsets)


def xgboost_subsets(d):
    """Subsets of labels."""
    return _xgboost_categories(d, 1)


def xgboost_single_labels(d):
    """One label against the rest."""
    return _xgboost_categories(d, 100)


def _xgboost_categories(d, most_single):
    of_labels = {"enable_categorical": True, "max_cat_to_onehot": most_single}
    booster = {"booster": d.one_of(("gbtree", "gbtree", "dart"))}
    return _xgboost(d, with_categories(d), *_xgboost_targets(d), **of_labels, **booster)


def catboost_symmetric(d):
    """Symmetric trees."""
    return _catboost(d, "SymmetricTree")


def catboost_other(d):
    """Trees that grow by depth or leaf by leaf."""
    return _catboost(d, d.one_of(("Depthwise", "Lossguide")))


def _catboost(d, policy):
    """A fitted model of CatBoost, its raw formula values, and its rows."""
    import catboost

    losses = {
        "numbers": (d.one_of(CATBOOST_REGRESSION), d.positive),
        "two": (d.one_of(("Logloss", "CrossEntropy")), d.two),
        "classes": (d.one_of(("MultiClass", "MultiClassOneVsAll")), d.classes),
        "pairs": ("MultiRMSE", d.pairs),
    }
    loss, y = losses[d.one_of(tuple(losses))]
    rows = d.gaps.astype(np.float32)
    model = catboost.CatBoost(
        {
            "iterations": d.number(1, 7),
            "depth": d.number(1, 5),
            "grow_policy": policy,
            "nan_mode": d.one_of(("Min", "Max")),
            "loss_function": loss,
            "random_seed": d.seed(),
            "thread_count": 1,
            "verbose": 0,
            "allow_writing_files": False,
        }
    ).fit(rows, y, sample_weight=d.weights)
    return model, lambda table: model.predict(table, prediction_type="RawFormulaVal"), rows
