"""Speed of sutera2021: the digits forests of figure 2, and SAGE on led."""

from __future__ import annotations

import copy
import warnings
from importlib.metadata import version

import numpy as np

from pairs import Pair
from reproduction.datasets import led, scikit_learn
from reproduction.models import fit
from splitcredit import to_forest
from splitcredit.kernels.tree_shap.explain import tree_shap_one
from splitcredit.kernels.walks import mdi, saabas

RECIPE = {
    "estimator": "ExtraTreesClassifier",
    "n_estimators": 1000,
    "criterion": "entropy",
    "random_state": 0,
}


def benchmarks():
    """Pairs, made one after the other: each forest is dropped before the next is grown."""
    for k, (shap_target, rows) in {1: (25, 8), 8: (10, 24), 64: (10, 40)}.items():
        yield from digits_forest(k, shap_target, rows)
    yield from sage_on_led()
    yield sage_on_numbers()


def digits_forest(k, shap_target, rows):
    """Local MDI, Saabas and TreeSHAP on the forest of one K."""
    import shap
    from treeinterpreter import treeinterpreter

    data = scikit_learn.digits()
    X32 = data.X.astype(np.float32)
    model = fit({**RECIPE, "max_features": k}, data.X, data.y)
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
        target=1 / 0.75,
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
        target=70,
        scale=n_trees / forest.n_trees,
        repeats=3,
    )
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    yield Pair(
        "TreeSHAP, predicted class",
        f"{scope}, ours 1797 rows, peer {rows}",
        "shap",
        version("shap"),
        lambda: tree_shap_one(forest, X, predicted),
        lambda: explainer.shap_values(X32[:rows], check_additivity=False),
        target=shap_target,
        scale=rows / len(X),
        repeats=1,
    )


def sage_on_led():
    """SAGE by sampling to the same precision, cross-entropy, with 1000 trees at K = 1."""
    import sage

    from splitcredit import sage as sage_values

    data = led.load()
    model = fit({**RECIPE, "max_features": 1}, data.X, data.y)
    forest = to_forest(model)

    def theirs():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            imputer = sage.MarginalImputer(model, data.X)
            estimator = sage.PermutationEstimator(imputer, "cross entropy")
            estimator(data.X, data.y, thresh=0.025, bar=False)

    yield Pair(
        "SAGE, cross-entropy",
        "led, 1000 trees, K = 1, threshold 0.025",
        "sage-importance",
        version("sage-importance"),
        lambda: sage_values(forest, data.X, data.y, loss="cross_entropy", threshold=0.025),
        theirs,
        target=200,
        repeats=3,
    )
    yield Pair(
        "MDI beside SAGE",
        "led, 1000 trees, K = 1",
        "our own sampled SAGE",
        version("splitcredit"),
        lambda: mdi.mdi_per_tree(forest).mean(axis=0),
        lambda: sage_values(forest, data.X, data.y, loss="cross_entropy", threshold=0.025),
        target=10,
    )


def sage_on_numbers():
    """SAGE by so many permutations, squared error, of features with many values."""
    import sage
    from sklearn.datasets import make_friedman1

    from splitcredit import sage as sage_values

    X, y = make_friedman1(500, 10, random_state=0)
    parameters = {"estimator": "RandomForestRegressor", "n_estimators": 100, "max_depth": 8}
    model = fit({**parameters, "random_state": 0}, X, y)
    forest = to_forest(model)

    def theirs():
        estimator = sage.PermutationEstimator(sage.MarginalImputer(model, X), "mse")
        estimator(X, y, n_permutations=512, detect_convergence=False, bar=False)

    return Pair(
        "SAGE, squared error",
        "Friedman, 100 trees, depth 8, 10 features, 500 background rows, 512 permutations",
        "sage-importance",
        version("sage-importance"),
        lambda: sage_values(forest, X, y, n_permutations=512),
        theirs,
        target=10,
        repeats=1,
    )
