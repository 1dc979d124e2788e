"""TreeSHAP by other implementations, on the arrays of a `Forest` with one tree and one output.

Each is ``(forest, X) -> float64 (n_rows, n_features)``. They are given the tree itself, not a model
that would have to be fitted to get it.
"""

import json
from importlib.metadata import packages_distributions, version

import numpy as np

from reproduction.papers.lundberg2017 import _algorithms


def release(package) -> str:
    """Release of a package that is imported by this name."""
    return version(packages_distributions()[package][0])


def algorithm_2(forest, X) -> np.ndarray:
    """Algorithm 2 of the paper in float64, as printed but for its misprints."""
    (tree,) = _algorithms.trees_of(forest)
    return np.array([_algorithms.tree_shap(x, tree) for x in X.tolist()], float)


def splitcredit(forest, X) -> np.ndarray:
    """Ours."""
    from splitcredit.measures import tree_shap

    return tree_shap.attribute(forest, X).values[:, :, 0]


def shap(forest, X) -> np.ndarray:
    """The C extension of shap, float64."""
    import shap

    left = forest.left
    tree = {
        "children_left": left,
        "children_right": forest.right,
        "children_default": left,
        "features": forest.feature,
        "thresholds": forest.threshold,
        "values": forest.value,
        "node_sample_weight": forest.cover,
    }
    explainer = shap.TreeExplainer({"trees": [tree]}, feature_perturbation="tree_path_dependent")
    return np.asarray(explainer.shap_values(X, check_additivity=False)).reshape(X.shape)


def xgboost(forest, X) -> np.ndarray:
    """``pred_contribs`` of XGBoost, float32, one thread."""
    import xgboost

    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(bytearray(json.dumps(_xgboost_model(xgboost, forest)).encode()))
    rows = xgboost.DMatrix(X, nthread=1)
    return booster.predict(rows, pred_contribs=True)[:, :-1].astype(float)


def shapiq(forest, X) -> np.ndarray:
    """The path-dependent tree explainer of shapiq."""
    from shapiq.tree import TreeExplainer, TreeModel

    leaf = forest.feature < 0
    tree = TreeModel(
        children_left=forest.left.astype(np.int64),
        children_right=forest.right.astype(np.int64),
        children_missing=forest.left.astype(np.int64),
        features=np.where(leaf, -2, forest.feature).astype(np.int64),
        thresholds=np.where(leaf, np.nan, forest.threshold),
        values=np.where(leaf, forest.value[:, 0], 0.0),
        node_sample_weight=np.array(forest.cover),
    )
    explainer = TreeExplainer(tree, index="SV", max_order=1)
    explained = [explainer.explain(x) for x in X]
    return np.array([[values[(i,)] for i in range(X.shape[1])] for values in explained])


def _xgboost_model(xgboost, forest):
    """A model that XGBoost has trained on two rows, with its tree replaced by the forest's."""
    rows = xgboost.DMatrix(np.zeros((2, forest.n_features)), [0.0, 1.0], nthread=1)
    settings = {"nthread": 1, "base_score": 0.0, "max_depth": 1}
    model = json.loads(xgboost.train(settings, rows, 1).save_raw("json"))
    (tree,) = model["learner"]["gradient_booster"]["model"]["trees"]
    order, left, right, parents = _siblings_together(forest)
    leaf, n = np.array(left) < 0, forest.n_nodes
    # XGBoost goes left on <, the trees here on <=, and it keeps the values of leaves with the
    # thresholds; both in float32.
    single = forest.threshold.astype(np.float32)
    single = np.where(single > forest.threshold, np.nextafter(single, np.float32(-np.inf)), single)
    above = np.nextafter(single, np.float32(np.inf))
    conditions = np.where(forest.feature < 0, forest.value[:, 0], above).astype(np.float32)
    empty = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
    tree |= {name: [] for name in empty}
    tree |= {
        "base_weights": [0.0] * n,
        "default_left": [0] * n,
        "left_children": left,
        "right_children": right,
        "loss_changes": [0.0] * n,
        "parents": parents,
        "split_conditions": conditions[order].tolist(),
        "split_indices": np.where(leaf, 0, forest.feature[order]).tolist(),
        "split_type": [0] * n,
        "sum_hessian": forest.cover[order].tolist(),
    }
    tree["tree_param"] |= {"num_nodes": str(n), "num_feature": str(forest.n_features)}
    return model


def _siblings_together(forest):
    """Nodes level by level: XGBoost takes it that a right child comes just after the left one."""
    order, left, right, parents = [0], [], [], [2**31 - 1]
    for parent, k in enumerate(order):  # grows as it is read
        inner = forest.feature[k] >= 0
        left.append(len(order) if inner else -1)
        right.append(len(order) + 1 if inner else -1)
        if inner:
            order += [int(forest.left[k]), int(forest.right[k])]
            parents += [parent, parent]
    return order, left, right, parents
