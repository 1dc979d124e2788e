"""Metrics of the model itself: its splits, its size, and how the work of measures grows with it."""

import hashlib
from collections import deque

import numpy as np
import pandas as pd

from reproduction.metrics import _rankings, declared
from splitcredit.kernels.walks.oob import OOB
from splitcredit.models.forest import LEAF
from splitcredit.models.training import sums_of_nodes

SINGLE_CHILDREN = "single_children"


@declared("feature", "depth", values=("value", "splits"))
def mdi_by_depth(attributions, forest, data) -> pd.DataFrame:
    """Splits and impurity decreases of every feature at every depth, 0 at the roots.

    ``splits`` is their mean number in a tree, and ``value`` the mean over the trees of their
    decreases, in rows times impurity. Over all depths, ``value`` adds up to MDI.
    """
    f, rows = forest, []
    weighted = f.cover * f.impurity
    level, depth = f.tree_offsets[:-1], 0
    while len(level := level[f.feature[level] != LEAF]):
        decrease = weighted[level] - weighted[f.left[level]] - weighted[f.right[level]]
        feature = f.feature[level]
        splits = np.bincount(feature, minlength=f.n_features) / f.n_trees
        values = np.bincount(feature, decrease, f.n_features) / f.n_trees
        columns = {"depth": depth, "feature": data.feature_names}
        rows.append(pd.DataFrame({**columns, "splits": splits, "value": values}))
        level, depth = np.concatenate([f.left[level], f.right[level]]), depth + 1
    if not rows:
        return pd.DataFrame(columns=["depth", "feature", "splits", "value"])
    return pd.concat(rows, ignore_index=True)


@declared("importance", "feature")
def single_children(attributions, forest, training) -> pd.DataFrame:
    """Number of children with one out-of-bag row, whose impurity n / (n - 1) cannot correct.

    A child counts if the node that was split has more rows: if it has no other, its own impurity is
    not corrected either, and the split changes nothing. One row a feature of a split, with the mean
    number in a tree; ``importance`` is "single_children".
    """
    values = single_children_in_a_tree(forest, training.X, training.y)
    names = training.feature_names
    return pd.DataFrame({"importance": SINGLE_CHILDREN, "feature": names, "value": values})


def single_children_in_a_tree(forest, X, y) -> np.ndarray:
    """Mean number in a tree by the feature of the split, float64 (n_features,)."""
    n_oob = sums_of_nodes(forest, X, y).rows[OOB]
    splits = np.flatnonzero((forest.feature != LEAF) & (n_oob > 1))
    children = np.array([forest.left[splits], forest.right[splits]])
    n_single = (n_oob[children] == 1).sum(axis=0)
    return np.bincount(forest.feature[splits], n_single, forest.n_features) / forest.n_trees


# Methods that walk along the path of a row in each tree.
_OF_PATHS = ("saabas", "local_mdi", "mdi_oob", "ufi", "penalized_gini")
# Method -> steps for a row, the leading term. T trees of L leaves and depth D on d features; n rows
# are explained, and b are the background. A global measure's steps are divided among the rows.
STEPS = {
    "random_order": lambda s, p: s["d"] / s["n"],
    "mdi": lambda s, p: 2 * s["T"] * s["L"] / s["n"],
    "splits": lambda s, p: 2 * s["T"] * s["L"] / s["n"],
    **dict.fromkeys(_OF_PATHS, lambda s, p: s["T"] * s["D"]),
    "mda": lambda s, p: s["d"] * s["T"] * s["D"],
    "permutation": lambda s, p: p["n_repeats"] * s["d"] * s["T"] * s["D"],
    "air": lambda s, p: 2 * s["d"] * s["T"] * s["D"],
    "tree_shap": lambda s, p: s["T"] * s["L"] * s["D"] ** 2,
    "oob_attributions": lambda s, p: s["T"] * s["L"] * s["D"] ** 2,
    "tree_shap_interventional": lambda s, p: s["T"] * s["L"] * s["b"],
    "sage": lambda s, p: p["n_permutations"] * s["d"] * s["b"] * s["T"] * s["D"] / s["n"],
    "rank": lambda s, p: s["d"] ** 2 / 2 * (s["T"] * s["L"]) ** 2,
}


def node_depths(forest) -> np.ndarray:
    """Number of splits above each node, int64 (n_nodes,)."""
    depth = np.zeros(len(forest.feature), np.int64)
    # Parents stand before their children.
    for node in np.flatnonzero(forest.feature >= 0):
        depth[[forest.left[node], forest.right[node]]] = depth[node] + 1
    return depth


def tree_depths(forest) -> np.ndarray:
    """Splits on the longest path of each tree, int64 (n_trees,)."""
    return np.maximum.reduceat(node_depths(forest), forest.tree_offsets[:-1])


@declared("quantity", values=())
def model_card(attributions, forest, data, training) -> pd.DataFrame:
    """Size, errors and hash of a regression model, and how often greedy rankings tie, as text.

    - ``n_trees``, ``nodes`` (with leaves), ``leaves``; ``distinct_thresholds``: pairs of a feature
      and a threshold in single precision;
    - ``test_rmse``, ``training_rmse``: of predictions in single precision; ``target_sd``: standard
      deviation (of the population) of the test's target; six digits each;
    - ``dump_sha256``: see `dump`;
    - ``tied_share NAME``: of a ranking of the method ``pg2_greedy``, the share of rows with a tie.
    """
    if forest.n_outputs != 1:
        raise ValueError(f"model_card: the model has {forest.n_outputs} outputs, expected 1")
    inner = forest.feature != LEAF
    thresholds = forest.threshold[inner].astype(np.float32)
    quantities = {
        "n_trees": forest.n_trees,
        "nodes": forest.n_nodes,
        "leaves": np.count_nonzero(~inner),
        "distinct_thresholds": len(set(zip(forest.feature[inner], thresholds, strict=True))),
        "test_rmse": f"{_rmse(forest, data):.6g}",
        "training_rmse": f"{_rmse(forest, training):.6g}",
        "target_sd": f"{np.std(np.asarray(data.y, float)):.6g}",
        "dump_sha256": hashlib.sha256(dump(forest).encode("ascii")).hexdigest(),
    }
    for name, greedy in _rankings.greedy(attributions).items():
        quantities[f"tied_share {_rankings.label(name)}"] = f"{greedy.parameters['tied_share']:.6g}"
    rows = [(quantity, str(value)) for quantity, value in quantities.items()]
    return pd.DataFrame(rows, columns=["quantity", "value"])


def dump(forest) -> str:
    """The trees of a forest with one output as text, one line a node, the same for the same trees.

    Trees in their order; the nodes of a tree breadth first, the left child before the right:
    ``id:feature:threshold:left id:right id`` of a split, ``id:leaf:value`` of a leaf. The root is
    0, features count from 0; thresholds and values are the eight hexadecimal digits of a number in
    single precision, the most significant byte first. Base score, covers and the ways of missing
    values are left out.
    """
    hexadecimal = {
        name: [word.hex() for word in array.astype(">f4").view("V4").tolist()]
        for name, array in (("threshold", forest.threshold), ("value", forest.value[:, 0]))
    }
    lines = []
    for root in forest.tree_offsets[:-1].tolist():
        waiting = deque([root])
        while waiting:
            k = waiting.popleft()
            feature, node_id = int(forest.feature[k]), k - root
            if feature == LEAF:
                lines.append(f"{node_id}:leaf:{hexadecimal['value'][k]}")
                continue
            left, right = int(forest.left[k]), int(forest.right[k])
            waiting += left, right
            threshold = hexadecimal["threshold"][k]
            lines.append(f"{node_id}:{feature}:{threshold}:{left - root}:{right - root}")
    return "\n".join(lines)


def _rmse(forest, data):
    predictions = forest.predict(data.X)[:, 0].astype(np.float32).astype(np.float64)
    return np.sqrt(((predictions - np.asarray(data.y, float)) ** 2).mean())
