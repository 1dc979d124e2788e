"""Speed of loecher2022: out-of-bag scores and TreeSHAP tree by tree, on a forest of table 1."""

from __future__ import annotations

from importlib.metadata import version
from platform import python_version

import numpy as np

import splitcredit
from pairs import Pair
from reproduction import datasets
from reproduction.models import fit
from splitcredit import to_forest
from splitcredit.measures import penalized_gini

RECIPE = {"estimator": "RandomForestClassifier", "max_features": 3, "random_state": 0}
# Of shap, which explains one tree after the other.
FEW = 10


def benchmarks():
    """Both pairs."""
    data = datasets.load({"dataset": "noisy_features", "random_state": 0})
    model = fit({**RECIPE, "n_estimators": 100}, data.X, data.y)
    forest = to_forest(model, X_train=data.X)
    scope = "random forest, 100 trees, 1000 rows, 50 features"
    peers = {
        "UFI alone, in Python, row by row": (ufi, 50),
        "UFI alone, in Python, sums of nodes by sparse products": (ufi_sparse, 1),
    }
    for peer, (theirs, target) in peers.items():
        yield Pair(
            f"out-of-bag scores, {len(penalized_gini.PRESETS)} at once",
            scope,
            peer,
            python_version(),
            lambda: penalized_gini.importances(forest, data.X, data.y),
            lambda theirs=theirs: theirs(model, data.X, data.y),
            target=target,
            repeats=3,
        )
    yield by_trees(model, forest, data.X, scope)


def by_trees(model, forest, X, scope):
    """TreeSHAP of every tree for the rows out of its bag, against shap on every tree."""
    import shap

    explainers = [
        shap.TreeExplainer(tree, feature_perturbation="tree_path_dependent")
        for tree in model.estimators_[:FEW]
    ]

    def theirs():
        total = np.zeros((*X.shape, 2))
        for tree, explainer in enumerate(explainers):
            rows = forest.inbag[tree] == 0
            total[rows] += explainer.shap_values(X[rows], check_additivity=False)
        return total

    return Pair(
        "TreeSHAP, each tree its out-of-bag rows",
        f"{scope}, peer {FEW} trees",
        "shap, tree by tree",
        version("shap"),
        lambda: splitcredit.oob_attributions(forest, X, output=1),
        theirs,
        target=6,
        scale=FEW / forest.n_trees,
        repeats=3,
    )


def ufi(model, X, y):
    """Unbiased feature importance (Zhou and Hooker 2019) in Python: each row down each tree."""

    def sums(tree, X32, oob):
        rows, ones = np.zeros(tree.node_count), np.zeros(tree.node_count)
        for i in oob:
            node = 0
            while node >= 0:
                rows[node] += 1
                ones[node] += y[i]
                goes_left = X32[i, tree.feature[node]] <= tree.threshold[node]
                node = tree.children_left[node] if goes_left else tree.children_right[node]
        return rows, ones

    return _ufi(model, X, sums)


def ufi_sparse(model, X, y):
    """The same, with the rows and ones of all nodes from two sparse products a tree."""

    def sums(tree, X32, oob):
        path = tree.decision_path(X32[oob]).T
        return path @ np.ones(len(oob)), path @ y[oob]

    return _ufi(model, X, sums)


def _ufi(model, X, sums):
    X32 = X.astype(np.float32)
    total = np.zeros(X.shape[1])
    for inbag, estimator in zip(model.estimators_samples_, model.estimators_, strict=True):
        tree = estimator.tree_
        oob = np.setdiff1d(np.arange(len(X)), inbag)
        rows, ones = sums(tree, X32, oob)
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
