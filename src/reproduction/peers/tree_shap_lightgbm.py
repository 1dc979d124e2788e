"""TreeSHAP by LightGBM, which is given the trees of the model in its own text format."""

import numpy as np

from reproduction.parameters import Natural
from reproduction.peers import _results


def explain(forest, X, output: Natural = 0):
    """``pred_contrib`` of one output, in float64.

    Parameters
    ----------
    forest : Forest
        Of any library, as no paper has a model of LightGBM. Covers must be whole numbers, as
        LightGBM counts rows.
    X : array (n_samples, n_features)
    output : int
        The output that is explained.

    Raises
    ------
    ValueError
        If covers are no whole numbers.
    """
    import lightgbm

    if (forest.cover != np.rint(forest.cover)).any():
        raise ValueError("LightGBM counts rows, and the covers of this forest are no whole numbers")
    booster = lightgbm.Booster(model_str=_text(forest, output))
    rows = forest.prepare(X).astype(np.float64)
    values = booster.predict(rows, pred_contrib=True, num_threads=1)[:, :-1, None]
    return _results.attribution(
        _spread(values, output, forest.n_outputs),
        forest,
        "tree_shap_lightgbm",
        output,
        "lightgbm",
        "float64",
    )


def _spread(values, output, n_outputs):
    """The one output at its place among all."""
    all_outputs = np.zeros((*values.shape[:2], n_outputs))
    all_outputs[:, :, output] = values[:, :, 0]
    return all_outputs


def _text(forest, output):
    """A model file of LightGBM, a regression that adds up the trees."""
    share = 1 / forest.n_trees if forest.aggregate == "mean" else 1.0
    thresholds = np.nextafter(forest.threshold, -np.inf) if forest.strict else forest.threshold
    pairs = zip(forest.tree_offsets[:-1], forest.tree_offsets[1:], strict=True)
    trees = [_tree(forest, first, end, thresholds, share, output) for first, end in pairs]
    blocks = [f"Tree={t}\n{tree}\n\n" for t, tree in enumerate(trees)]
    names = " ".join(f"f{j}" for j in range(forest.n_features))
    head = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={forest.n_features - 1}",
        "objective=regression",
        f"feature_names={names}",
        f"feature_infos={' '.join(['[-inf:inf]'] * forest.n_features)}",
        f"tree_sizes={' '.join(str(len(block)) for block in blocks)}",
    ]
    return "\n".join(head) + "\n\n" + "".join(blocks) + "end of trees\n\n"


def _tree(forest, first, end, below, share, output):
    """One tree: LightGBM numbers inner nodes and leaves apart, and a leaf k is the child ~k."""
    nodes = slice(first, end)
    leaf = forest.feature[nodes] < 0
    number = np.where(leaf, ~(np.cumsum(leaf) - 1), np.cumsum(~leaf) - 1)
    left, right = (number[child[nodes][~leaf] - first] for child in (forest.left, forest.right))
    value, count = forest.value[nodes, output] * share, forest.cover[nodes].astype(int)
    lines = {"num_leaves": [leaf.sum()], "num_cat": [0]}
    if not leaf.all():
        lines |= {
            "split_feature": forest.feature[nodes][~leaf],
            "split_gain": np.ones(len(left), int),
            "threshold": below[nodes][~leaf],
            # Left on <=, and nothing is missing.
            "decision_type": np.zeros(len(left), int),
            "left_child": left,
            "right_child": right,
        }
    lines |= {
        "leaf_value": value[leaf],
        "leaf_weight": count[leaf],
        "leaf_count": count[leaf],
        "internal_value": value[~leaf],
        "internal_weight": count[~leaf],
        "internal_count": count[~leaf],
        "is_linear": [0],
        "shrinkage": [1],
    }
    return "\n".join(f"{name}={_numbers(array)}" for name, array in lines.items())


def _numbers(array):
    """In the shortest form that reads back exactly."""
    return " ".join(repr(number) for number in np.asarray(array).tolist())
