"""Random models of every kind, converted and compared with what their libraries predict.

    python tests/drawn_models.py --models 200 --seed 0

For each kind, as many models are fitted to drawn data with drawn parameters. The rows on which both
predict are training rows, new rows, and rows whose cells lie on thresholds of the model and one
floating-point step beside them. The difference of a model is the largest one among all rows and
outputs, relative to the largest prediction. XGBoost takes the logarithm of its base score in single
precision, so its differences are relative to 1 if no prediction is larger.

If CatBoost is not installed, its kinds are left out and the table says so. The status is 1 if a
difference is above its bound. The model is then named by its number, and ``--only KIND --number
NUMBER`` makes it again.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import xgboost
from sklearn import ensemble, tree
from threadpoolctl import threadpool_limits

from splitcredit import to_forest

# Steps of rounding are 1.1e-16 and 6.0e-8: room for some ninety of them, and for seventeen.
DOUBLE, SINGLE = 1e-14, 1e-6
# Values of parameters that keep a tree from splitting, or do not.
GAINS = (0.0, 0.0, 1.0, 1e9)
SQUARES = "reg:squarederror"
XGBOOST_REGRESSION = (SQUARES, "reg:absoluteerror", "reg:pseudohubererror")
XGBOOST_REGRESSION += ("reg:gamma", "reg:tweedie", "count:poisson")
XGBOOST_BINARY = ("binary:logistic", "binary:logitraw", "binary:hinge")
LIGHTGBM_REGRESSION = ("regression", "regression_l1", "huber", "poisson", "quantile")
CATBOOST_REGRESSION = ("RMSE", "MAE", "Poisson", "Quantile")


class Draw:
    """Training data of one model, and the generator that draws its parameters."""

    def __init__(self, random):
        n, p = int(random.integers(25, 151)), int(random.integers(1, 7))
        X = random.normal(size=(n, p))
        if random.random() < 0.4:
            X = np.round(X, int(random.integers(0, 2)))
        numbers = X[:, 0] + (X[:, -1] > 0) * random.normal() + 0.1 * random.normal(size=n)
        ranks = np.argsort(np.argsort(numbers + random.normal(size=n)))
        n_classes = int(random.integers(2, 4))
        weights = None  # some are 0, the first of each class is not
        if random.random() < 0.3:
            weights = random.choice([0.0, 0.5, 1.0, 3.0], n)
            weights[np.unique(ranks * 6 // n, return_index=True)[1]] = 1.0
        gaps = X.copy()
        if random.random() < 0.5:
            gaps[random.random(X.shape) < 0.15] = np.nan
        self.random, self.complete, self.gaps, self.weights = random, X, gaps, weights
        self.numbers, self.positive = numbers, np.floor(np.exp(numbers / 2)) + 0.5
        self.two, self.classes = ranks * 2 // n, ranks * n_classes // n
        self.pairs = np.column_stack([numbers, -(numbers**2)])

    def one_of(self, values):
        """One of the values, as it is."""
        return values[int(self.random.integers(len(values)))]

    def number(self, low, high) -> int:
        """A whole number from `low` to `high`."""
        return int(self.random.integers(low, high + 1))

    def seed(self) -> int:
        """A seed for the library."""
        return self.number(0, 10**6)


def with_categories(d) -> pd.DataFrame:
    """The rows, with one or two columns of labels that the targets depend on."""
    random, n = d.random, len(d.numbers)
    table = pd.DataFrame(d.gaps, columns=[f"x{j}" for j in range(d.gaps.shape[1])])
    labels = random.permutation([f"label {i}" for i in range(d.number(3, 12))])
    # The label depends on the row's number, and the last one is in the type only.
    codes = np.clip(np.round(d.numbers + random.normal(size=n)).astype(int) + 1, 0, len(labels) - 2)
    kinds = pd.Categorical.from_codes(random.permutation(len(labels) - 1)[codes], labels)
    table.insert(d.number(0, d.gaps.shape[1]), "label", kinds)
    if random.random() < 0.5:
        table["number"] = pd.Categorical(random.integers(0, d.number(2, 5), n) * 10)
    if np.isnan(d.gaps).any():
        table.loc[random.random(n) < 0.1, "label"] = np.nan
    return table


# Each of the following functions makes one kind of model. It takes a `Draw` and returns the fitted
# model, what the model predicts for a table (before the link), and the table that it was fitted to.


def _sklearn(model, X, y, method, weights):
    model.fit(X, y, sample_weight=weights)

    def predict(rows):
        raw = getattr(model, method)(rows)
        # Class fractions of several targets are in a list.
        return np.concatenate(raw, axis=1) if isinstance(raw, list) else raw

    return model, predict, X


def _either(d, X, regressor, classifier, method="predict_proba", **options):
    """A regressor or a classifier of scikit-learn, made by the function that is drawn."""
    weights = options.get("weights", d.weights)
    if d.random.random() < 0.5:
        return _sklearn(regressor(), X, options.get("numbers", d.numbers), "predict", weights)
    return _sklearn(classifier(), X, options.get("classes", d.classes), method, weights)


def _grown(d):
    """Parameters of trees of scikit-learn: no leaf may hold less than all rows in some."""
    leaf = d.one_of((1, 1, 1, 5, len(d.numbers)))
    return {"max_depth": d.number(1, 6), "min_samples_leaf": leaf, "random_state": d.seed()}


def sklearn_trees(d):
    """Decision trees, random forests and extra-trees."""
    grown = _grown(d)
    n_trees = {"n_estimators": d.number(1, 5)}
    balance = {"class_weight": d.one_of((None, "balanced"))}

    def regressor():
        kind = d.one_of((tree.DecisionTreeRegressor, *FORESTS[0]))
        return kind(**grown, **(n_trees if kind in FORESTS[0] else {}))

    def classifier():
        kind = d.one_of((tree.DecisionTreeClassifier, *FORESTS[1]))
        return kind(**grown, **balance, **(n_trees if kind in FORESTS[1] else {}))

    return _either(d, d.gaps, regressor, classifier)


FORESTS = (
    (ensemble.RandomForestRegressor, ensemble.ExtraTreesRegressor),
    (ensemble.RandomForestClassifier, ensemble.ExtraTreesClassifier),
)


def sklearn_targets(d):
    """Forests of two targets, numbers or classes."""
    settings = {**_grown(d), "n_estimators": d.number(1, 5)}
    kinds = [partial(of[0], **settings) for of in FORESTS]
    classes = np.column_stack([d.classes, d.two + 5])
    return _either(d, d.gaps, *kinds, numbers=d.pairs, classes=classes)


def sklearn_bagging(d):
    """Bagged trees, also on some of the features."""
    features = d.one_of((1.0, 0.5, 0.2, 1))
    settings = {"max_features": features, "n_estimators": d.number(1, 5), "random_state": d.seed()}
    kinds = (ensemble.BaggingRegressor, ensemble.BaggingClassifier)
    return _either(d, d.gaps, *(partial(kind, **settings) for kind in kinds), weights=None)


def sklearn_gradient(d):
    """GradientBoosting, which takes no missing values."""
    settings = {**_grown(d), "n_estimators": d.number(1, 5), "subsample": d.one_of((1.0, 0.7))}
    losses = ("squared_error", "absolute_error", "huber", "quantile")
    return _either(
        d,
        d.complete,
        lambda: ensemble.GradientBoostingRegressor(loss=d.one_of(losses), **settings),
        lambda: ensemble.GradientBoostingClassifier(init=d.one_of((None, "zero")), **settings),
        "decision_function",
    )


def sklearn_histogram(d, table, **more):
    """HistGradientBoosting of numbers, or of columns of labels as well."""
    leaf = d.one_of((3, 3, 3, 10**6))
    settings = {"max_iter": d.number(1, 5), "max_leaf_nodes": d.number(2, 12), **more}
    settings |= {"min_samples_leaf": leaf, "random_state": d.seed()}
    kinds = (ensemble.HistGradientBoostingRegressor, ensemble.HistGradientBoostingClassifier)
    return _either(d, table, *(partial(kind, **settings) for kind in kinds), "decision_function")


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


def xgboost_categories(d, most_single):
    """Subsets of labels, or one label against the rest."""
    of_labels = {"enable_categorical": True, "max_cat_to_onehot": most_single}
    booster = {"booster": d.one_of(("gbtree", "gbtree", "dart"))}
    return _xgboost(d, with_categories(d), *_xgboost_targets(d), **of_labels, **booster)


def _lightgbm(d, X, **parameters):
    """A fitted model of LightGBM, its raw scores, and its rows."""
    is_regression = d.random.random() < 0.5
    objective = d.one_of(LIGHTGBM_REGRESSION) if is_regression else None
    wrapper = lightgbm.LGBMRegressor if is_regression else lightgbm.LGBMClassifier
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
    ).fit(X, d.positive if is_regression else d.classes, sample_weight=d.weights)
    # A random forest predicts the mean of its trees, and its raw scores are their sum.
    rounds = model.booster_.current_iteration() if model.boosting_type == "rf" else 1
    return model, lambda rows: model.predict(rows, raw_score=True) / rounds, X


def lightgbm_trees(d):
    """Boosting gbdt, goss and rf, also with zeros for missing values."""
    kind = d.one_of(("gbdt", "goss", "rf"))
    bags = {"subsample": 0.6, "subsample_freq": 1} if kind == "rf" else {}
    zero = {"zero_as_missing": d.one_of((False, True))}
    return _lightgbm(d, d.gaps, boosting_type=kind, **bags, **zero)


def lightgbm_categories(d):
    """Subsets of labels, and one label against the rest."""
    subsets = {"min_data_per_group": 3, "cat_smooth": 1, "max_cat_to_onehot": d.one_of((1, 4, 100))}
    return _lightgbm(d, with_categories(d), **subsets)


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


@dataclass(frozen=True)
class Kind:
    """One row of the table.

    A model is written to a file of one of the suffixes and read, or converted as an object. Rows
    may have labels that training did not have if `unseen`.
    """

    name: str
    fit: Callable
    bound: float = DOUBLE
    files: tuple[str, ...] = ()
    unseen: bool = False

    @property
    def installed(self) -> bool:
        """Whether the library is there: CatBoost is no part of the project's environment."""
        return importlib.util.find_spec(self.name.partition(",")[0]) is not None

    def difference(self, seed, number) -> float:
        """Relative difference of one model."""
        random = np.random.default_rng([seed, number, *self.name.encode()])
        data = Draw(random)
        model, predict, training = self.fit(data)
        forest = self._converted(model, data)
        rows = rows_of(forest, training, random, self.unseen)
        theirs = np.asarray(predict(rows), float).reshape(len(rows), -1)
        ours = forest.predict(rows)
        if ours.shape != theirs.shape or not np.isfinite(theirs).all():
            return np.inf
        smallest_scale = 1.0 if self.bound == SINGLE else np.finfo(float).tiny
        return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), smallest_scale))

    def _converted(self, model, drawn):
        if not self.files:
            return to_forest(model)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"model{drawn.one_of(self.files)}"
            options = {"format": "json"} if self.name.startswith("catboost") else {}
            getattr(model, "booster_", model).save_model(str(path), **options)
            return to_forest(path)


KINDS = (
    Kind("catboost, files", lambda d: _catboost(d, "SymmetricTree"), files=(".json",)),
    Kind("catboost, other trees", lambda d: _catboost(d, d.one_of(("Depthwise", "Lossguide")))),
    Kind("catboost, symmetric trees", lambda d: _catboost(d, "SymmetricTree")),
    Kind("lightgbm, categories", lightgbm_categories, unseen=True),
    Kind("lightgbm, dart", lambda d: _lightgbm(d, d.gaps, boosting_type="dart", drop_rate=0.5)),
    Kind("lightgbm, files", lambda d: _lightgbm(d, d.gaps), files=(".txt",)),
    Kind("lightgbm, gbdt, goss, rf", lightgbm_trees),
    Kind("sklearn, AdaBoostClassifier", sklearn_ada_boost),
    Kind("sklearn, GradientBoosting", sklearn_gradient),
    Kind("sklearn, HistGradientBoosting", lambda d: sklearn_histogram(d, d.gaps)),
    Kind(
        "sklearn, HistGradientBoosting, categories",
        lambda d: sklearn_histogram(d, with_categories(d), categorical_features="from_dtype"),
        unseen=True,
    ),
    Kind("sklearn, IsolationForest", sklearn_isolation),
    Kind("sklearn, bagging", sklearn_bagging),
    Kind("sklearn, several targets", sklearn_targets),
    Kind("sklearn, trees and forests", sklearn_trees),
    Kind(
        "xgboost, categories, one against the rest",
        lambda d: xgboost_categories(d, most_single=100),
        SINGLE,
    ),
    Kind("xgboost, categories, subsets", lambda d: xgboost_categories(d, most_single=1), SINGLE),
    Kind("xgboost, dart", xgboost_dart, SINGLE),
    Kind(
        "xgboost, files",
        lambda d: _xgboost(d, d.gaps, *_xgboost_targets(d)),
        SINGLE,
        files=(".json", ".ubj"),
    ),
    Kind("xgboost, gbtree", xgboost_trees, SINGLE),
    Kind("xgboost, several targets", lambda d: _xgboost(d, d.gaps, d.pairs, SQUARES), SINGLE),
    Kind(
        "xgboost, vector leaves",
        lambda d: _xgboost(d, d.gaps, d.pairs, SQUARES, multi_strategy="multi_output_tree"),
        SINGLE,
    ),
)


def rows_of(forest, training, random, unseen=False):
    """Rows to predict: training rows, new ones, and ones with cells on thresholds and beside them.

    Columns that have missing values in training have more of them.
    """
    if isinstance(training, pd.DataFrame):
        columns = [
            _labels(training[name], random, unseen)
            if isinstance(training[name].dtype, pd.CategoricalDtype)
            else _numbers(training[name].to_numpy(), j, forest, random)
            for j, name in enumerate(training)
        ]
        return pd.DataFrame(dict(zip(training, columns, strict=True)))
    columns = [_numbers(training[:, j], j, forest, random) for j in range(training.shape[1])]
    return np.column_stack(columns).astype(training.dtype)


def _numbers(training, j, forest, random):
    values = random.normal(size=60)
    thresholds = forest.threshold[forest.feature == j].astype(forest.x_dtype)
    # A threshold of infinity, or of the largest number, is one between NaN and all else.
    thresholds = thresholds[np.abs(thresholds) < 1e30]
    if len(thresholds):
        neighbors = [
            np.nextafter(thresholds, thresholds.dtype.type(side)) for side in (-np.inf, np.inf)
        ]
        values[20:] = random.choice(np.concatenate([thresholds, *neighbors]), 40)
    values[random.random(60) < 0.1] = 0.0
    if np.isnan(training).any():
        values[random.random(60) < 0.2] = np.nan
    return np.concatenate([training, values])


def _labels(training, random, unseen):
    labels = list(training.cat.categories)
    added = random.choice(np.array(labels, object), 60)
    if unseen:
        labels.append("never seen" if isinstance(labels[0], str) else 12345)
        added[random.random(60) < 0.1] = labels[-1]
    added[random.random(60) < 0.1] = None
    return pd.Categorical([*training.to_numpy(object), *added], categories=labels)


def compare(kinds, numbers, seed) -> list[str]:
    """Print the table, and give a line for each model whose difference is above the bound."""
    above = []
    for kind in kinds:
        differences = []
        for number in numbers if kind.installed else ():
            try:
                differences.append(kind.difference(seed, number))
            except Exception as error:
                error.add_note(f"{kind.name}, number {number}")
                raise
            if not differences[-1] <= kind.bound:
                above.append(f"{kind.name}, number {number}: {differences[-1]:.1e}")
        largest = f"{max(differences):.1e}" if kind.installed else "not installed"
        print(f"| {kind.name} | {largest} |", flush=True)
    return above


def main(arguments=None) -> int:
    """Compare and print; 1 if a difference is above its bound."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=int, default=20, help="how many of each kind")
    parser.add_argument("--seed", type=int, default=0)
    names = [kind.name for kind in KINDS]
    parser.add_argument("--only", metavar="KIND", choices=names, help="one kind of the table")
    parser.add_argument("--number", type=int, help="one model of each kind")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # of the libraries, on models without a split
    kinds = [kind for kind in KINDS if options.only in (None, kind.name)]
    numbers = range(options.models) if options.number is None else [options.number]
    # Threads of OpenMP wait in a loop: where other work shares the processor, one is faster.
    with threadpool_limits(1):
        above = compare(kinds, numbers, options.seed)
    for text in above:
        print(f"above its bound: {text}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
