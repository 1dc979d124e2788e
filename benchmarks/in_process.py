"""Pairs that run in one process: ours and functions of our own environment, on one model."""

from __future__ import annotations

import copy
import warnings
from functools import partial
from importlib.metadata import version
from platform import python_version

import numpy as np
import sage
import shap
import xgboost
from sklearn import inspection
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits
from treeinterpreter import treeinterpreter

import splitcredit
from race import Pair
from reproduction import datasets
from reproduction.datasets import led, scikit_learn
from reproduction.models import fit
from splitcredit import to_forest
from splitcredit.kernels.tree_shap.explain import tree_shap_one
from splitcredit.kernels.walks import mdi, saabas
from splitcredit.measures import penalized_gini
from splitcredit.prediction_gap import noise, sampling

EXTRA_TREES = {
    "estimator": "ExtraTreesClassifier",
    "n_estimators": 1000,
    "criterion": "entropy",
    "random_state": 0,
}
N_SAMPLES = 35_000


def digits_forest(k, shap_rows):
    """Local MDI, Saabas and TreeSHAP on the forest of one K of sutera2021."""
    data = scikit_learn.digits()
    X32 = data.X.astype(np.float32)
    model = fit({**EXTRA_TREES, "max_features": k}, data.X, data.y)
    forest = to_forest(model)
    X = forest.prepare(data.X)
    predicted = forest.predict(data.X).argmax(axis=1)
    scope = f"digits, 1000 trees, K = {k}"
    yield Pair(
        "local MDI",
        f"{scope}, 1797 rows, arrays built",
        "scikit-learn forest.apply",
        version("scikit-learn"),
        lambda: mdi.local_mdi(forest, X),
        lambda: model.apply(X32),
    )
    # treeinterpreter takes the trees one by one, with much work a tree before the first row: it is
    # given all rows and fewer trees. And it writes into the model.
    n_trees = 50
    clone = copy.deepcopy(model)
    clone.estimators_ = clone.estimators_[:n_trees]
    yield Pair(
        "Saabas, one class",
        f"{scope}, 1797 rows, peer {n_trees} trees",
        "treeinterpreter",
        version("treeinterpreter"),
        lambda: saabas.saabas_one(forest, X, predicted),
        lambda: treeinterpreter.predict(clone, X32),
        share=n_trees / forest.n_trees,
        rounds=3,
    )
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    yield Pair(
        "TreeSHAP, predicted class",
        f"{scope}, ours 1797 rows, peer {shap_rows}",
        "shap",
        version("shap"),
        lambda: tree_shap_one(forest, X, predicted),
        lambda: explainer.shap_values(X32[:shap_rows], check_additivity=False),
        share=shap_rows / len(X),
        rounds=1,
    )


def sage_on_led():
    """SAGE by sampling to the same precision, cross-entropy, with 1000 trees at K = 1."""
    data = led.load()
    model = fit({**EXTRA_TREES, "max_features": 1}, data.X, data.y)
    forest = to_forest(model)

    def ours():
        splitcredit.sage(forest, data.X, data.y, loss="cross_entropy", threshold=0.025)

    def theirs():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            imputer = sage.MarginalImputer(model, data.X)
            estimator = sage.PermutationEstimator(imputer, "cross entropy")
            estimator(data.X, data.y, thresh=0.025, bar=False)

    scope = "led, 1000 trees, K = 1"
    yield Pair(
        "SAGE, cross-entropy",
        f"{scope}, threshold 0.025",
        "sage-importance",
        version("sage-importance"),
        ours,
        theirs,
        rounds=3,
    )
    yield Pair(
        "MDI beside SAGE",
        scope,
        "our own sampled SAGE",
        version("splitcredit"),
        lambda: mdi.mdi_per_tree(forest).mean(axis=0),
        ours,
    )


def sage_on_numbers():
    """SAGE by so many permutations, squared error, of features with many values."""
    X, y = make_friedman1(500, 10, random_state=0)
    parameters = {"estimator": "RandomForestRegressor", "n_estimators": 100, "max_depth": 8}
    model = fit({**parameters, "random_state": 0}, X, y)
    forest = to_forest(model)

    def theirs():
        estimator = sage.PermutationEstimator(sage.MarginalImputer(model, X), "mse")
        estimator(X, y, n_permutations=512, detect_convergence=False, bar=False)

    yield Pair(
        "SAGE, squared error",
        "Friedman, 100 trees, depth 8, 10 features, 500 background rows, 512 permutations",
        "sage-importance",
        version("sage-importance"),
        lambda: splitcredit.sage(forest, X, y, n_permutations=512),
        theirs,
        rounds=1,
    )


def out_of_bag():
    """Out-of-bag scores, and TreeSHAP tree by tree, on a forest of loecher2022's table 1."""
    data = datasets.load({"dataset": "noisy_features", "random_state": 0})
    X, y = data.X, data.y
    recipe = {"estimator": "RandomForestClassifier", "max_features": 3, "random_state": 0}
    model = fit({**recipe, "n_estimators": 100}, X, y)
    forest = to_forest(model, X_train=X)
    scope = "random forest, 100 trees, 1000 rows, 50 features"
    yield Pair(
        f"out-of-bag scores, {len(penalized_gini.PRESETS)} at once",
        scope,
        "UFI alone, in Python, sums of nodes by sparse products",
        python_version(),
        lambda: penalized_gini.importances(forest, X, y),
        lambda: ufi(model, X, y),
        rounds=3,
    )
    # shap explains one tree after the other: it is given fewer.
    n_trees = 10
    explainers = [
        shap.TreeExplainer(tree, feature_perturbation="tree_path_dependent")
        for tree in model.estimators_[:n_trees]
    ]

    def theirs():
        total = np.zeros((*X.shape, 2))
        for tree, explainer in enumerate(explainers):
            rows = forest.inbag[tree] == 0
            total[rows] += explainer.shap_values(X[rows], check_additivity=False)
        return total

    yield Pair(
        "TreeSHAP, each tree its out-of-bag rows",
        f"{scope}, peer {n_trees} trees",
        "shap, tree by tree",
        version("shap"),
        lambda: splitcredit.oob_attributions(forest, X, output=1),
        theirs,
        share=n_trees / forest.n_trees,
        rounds=3,
    )


def ufi(model, X, y):
    """Unbiased feature importance (Zhou and Hooker 2019) in Python.

    The rows and ones of all nodes come from two sparse products a tree.
    """
    X32 = X.astype(np.float32)
    total = np.zeros(X.shape[1])
    for inbag, estimator in zip(model.estimators_samples_, model.estimators_, strict=True):
        tree = estimator.tree_
        oob = np.setdiff1d(np.arange(len(X)), inbag)
        path = tree.decision_path(X32[oob]).T
        rows, ones = path @ np.ones(len(oob)), path @ y[oob]
        share_inbag, weight = tree.value[:, 0, 1], tree.weighted_n_node_samples
        for node in range(tree.node_count):
            left, right = tree.children_left[node], tree.children_right[node]
            if left < 0 or rows[left] == 0 or rows[right] == 0:
                continue
            decrease = 0.0
            for k, sign in ((node, 1), (left, -1), (right, -1)):
                share = ones[k] / rows[k]
                decrease += sign * weight[k] * (share_inbag[k] + share - 2 * share_inbag[k] * share)
            total[tree.feature[node]] += decrease / weight[0]
    return total / len(model.estimators_)


def sampled_gap():
    """PG2 of one row by sampling, against XGBoost's own predictions of the same samples."""
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 11))
    y = np.sin(2 * X).sum(axis=1) + X[:, 0] * X[:, 1] + random.normal(size=len(X))
    settings = {"max_depth": 4, "eta": 0.2, "subsample": 0.8, "tree_method": "hist", "nthread": 1}
    booster = xgboost.train(settings, xgboost.DMatrix(X, y), 40)
    forest, row = to_forest(booster), X[1174:1175]
    pool = noise.noise_pool("mc", X.shape[1], N_SAMPLES, 8, 0)

    def ours():
        options = {"counts": [N_SAMPLES], "scale": 0.3, "pool": pool}
        return sampling.pg2_sampled(forest, row, np.ones((1, X.shape[1]), bool), **options)

    def theirs():
        x = row + 0.3 * pool[0, : X.shape[1]].T
        at_x = booster.inplace_predict(row.astype(np.float32))
        return np.mean((booster.inplace_predict(x.astype(np.float32)) - at_x) ** 2)

    scope = f"XGBoost, 40 trees, depth 4, {X.shape[1]} features, {forest.n_nodes} nodes"
    yield Pair(
        "sampled PG2, one pair, all features",
        f"{scope}, {N_SAMPLES} samples",
        "xgboost inplace_predict",
        xgboost.__version__,
        ours,
        theirs,
    )


def partial_dependence():
    """Curves from the fitted model; the time of the peer is that of ten values of the grid."""
    X, y = make_friedman1(10_000, 20, random_state=0)
    models = {
        "histograms": HistGradientBoostingRegressor(max_iter=300, early_stopping=False),
        "XGBoost": xgboost.XGBRegressor(n_estimators=300, n_jobs=1),
    }
    for name, model in models.items():
        model.fit(X, y)
        yield Pair(
            "partial dependence, end to end",
            f"{name}, 300 trees, 10000 rows, 100 values",
            "scikit-learn, brute",
            version("scikit-learn"),
            partial(splitcredit.partial_dependence, model, X, 0),
            partial(_by_brute_force, model, X),
            share=0.1,
            rounds=3,
        )


def _by_brute_force(model, X):
    with threadpool_limits(1, "openmp"):
        inspection.partial_dependence(model, X, [0], method="brute", grid_resolution=10)
