"""Random forests for two classes whose splits put any subset of categories on one side.

R's packages do so with factors. scikit-learn takes categories for numbers, and then a split parts
those below a value from those above it. Trees grow as in randomForest: a node of both classes draws
`mtry` features without replacement, takes the split of theirs with the largest decrease of the Gini
impurity, ties by chance, and is a leaf if none of the drawn features has two values in it. (In
scikit-learn's forests such a node goes on drawing.)

For two classes no subset is better than the best of those that part the categories in the order of
their shares of one class (Breiman et al. 1984, theorem 4.5), so that k categories take k - 1 trials
instead of 2^(k - 1) - 1. A category that has no row in a node goes left or right by chance: nothing
is known about it there.

All trees grow together, a level at a time, as arrays of (node, value).
"""

from dataclasses import dataclass

import numpy as np

from splitcredit.models.forest import LEAF, Forest, array_hash


@dataclass(frozen=True, eq=False)
class SubsetForest:
    """A forest on columns made for it: one for each continuous feature and subset of categories.

    Its features are the columns. `rows` (n_samples, n_columns) are the training rows: values of
    continuous features, and for a subset 0 where the category is in it, else 1. `feature_of` is the
    feature that each column was made of.
    """

    forest: Forest
    rows: np.ndarray
    feature_of: np.ndarray
    n_features: int

    def by_feature(self, scores) -> np.ndarray:
        """Sums of the scores of the columns over those of a feature."""
        return np.bincount(self.feature_of, weights=scores, minlength=self.n_features)


def grow(X, y, n_trees: int, mtry: int, seed) -> SubsetForest:
    """Grow a forest of unpruned trees on bootstrap samples; y is 0 or 1.

    A feature is one of categories if all its values are whole numbers, else it is continuous.
    ValueError if y has other values or one only, a feature has more than 63 categories, or `mtry`
    is not in 1 to n_features.
    """
    X, y = np.asarray(X, np.float64), np.asarray(y)
    n_samples, n_features = X.shape
    if set(np.unique(y)) != {0, 1}:
        raise ValueError("y must be 0 and 1: the order of the categories is that of two classes")
    if not 1 <= mtry <= n_features:
        raise ValueError(f"mtry={mtry} is not in 1..{n_features}, the number of features")
    features = [_Feature(column) for column in X.T]
    random = np.random.default_rng(seed)
    bootstraps = random.integers(0, n_samples, (n_trees, n_samples))
    inbag = np.stack([np.bincount(rows, minlength=n_samples) for rows in bootstraps])
    tree, row = np.nonzero(inbag)
    weight = inbag[tree, row].astype(float)
    # Of a level, nodes are numbered from 0; the first are the roots.
    rows = {"node": tree, "row": row, "weight": weight, "one": weight * y[row]}
    levels, trees, n_nodes = [], np.arange(n_trees), 0
    while len(trees):
        n_nodes += len(trees)
        nodes, rows = _split_level(rows, features, mtry, random)
        is_split = nodes["feature"] != LEAF
        levels.append(nodes | {"tree": trees, "left": nodes["left"] + n_nodes})
        trees = np.repeat(trees[is_split], 2)
    nodes = {name: np.concatenate([level[name] for level in levels]) for name in levels[0]}
    return _as_forest(nodes, features, X, inbag)


class _Feature:
    """Distinct values of a feature, and which of them each row has."""

    def __init__(self, column):
        self.values, self.codes = np.unique(column, return_inverse=True)
        self.is_category = bool((self.values == np.round(self.values)).all())
        if self.is_category and len(self.values) > 63:
            raise ValueError(f"{len(self.values)} categories: subsets are kept in 63 bits")


def _split_level(rows, features, mtry, random):
    """The nodes of a level, and the rows of their children, which are the next level."""
    total, ones = (np.bincount(rows["node"], rows[name]) for name in ("weight", "one"))
    nodes = {"total": total, "ones": ones, "threshold": np.zeros(len(total))}
    nodes |= {name: np.zeros(len(total), np.int64) for name in ("subset", "left")}
    nodes["feature"] = np.full(len(total), LEAF)
    impure = np.flatnonzero((ones > 0) & (ones < total))
    place = np.full(len(total), -1)
    place[impure] = np.arange(len(impure))
    rows = _moved(rows, place[rows["node"]])
    if not len(impure):
        return nodes, rows
    is_candidate = np.zeros((len(impure), len(features)), bool)
    order = random.random(is_candidate.shape).argsort(axis=1)[:, :mtry]
    np.put_along_axis(is_candidate, order, True, axis=1)
    best, left_values = np.full(is_candidate.shape, -np.inf), []
    for j, feature in enumerate(features):
        drawing = is_candidate[:, j]
        left_values.append(np.zeros((len(impure), len(feature.values)), bool))
        best[drawing, j], left_values[j][drawing] = _best_cuts(feature, drawing, rows, random)
    split_feature, is_split = _argmax(best, random), np.isfinite(best.max(axis=1))
    left_child = 2 * (np.cumsum(is_split) - 1)
    nodes["left"][impure] = left_child
    child = np.full(len(rows["node"]), -1)
    for j, (feature, left) in enumerate(zip(features, left_values, strict=True)):
        is_own = is_split & (split_feature == j)
        own, moves = impure[is_own], is_own[rows["node"]]
        node, row = rows["node"][moves], rows["row"][moves]
        child[moves] = left_child[node] + ~left[node, feature.codes[row]]
        nodes["feature"][own] = j
        if feature.is_category:
            bits = 1 << np.arange(len(feature.values), dtype=np.int64)
            nodes["threshold"][own], nodes["subset"][own] = 0.5, left[is_own] @ bits
        else:
            # Halfway between neighboring values, where the training rows fall on the same sides.
            values, last = feature.values, left[is_own].sum(axis=1) - 1
            after = values[np.minimum(last + 1, len(values) - 1)]
            nodes["threshold"][own] = (values[last] + after) / 2
    return nodes, _moved(rows, child)


def _moved(rows, node):
    """Rows in their new nodes, without those whose node is -1."""
    return {name: values[node >= 0] for name, values in (rows | {"node": node}).items()}


def _best_cuts(feature, drawing, rows, random):
    """Criterion (n_drawing,) of the best cut of a feature in the nodes that drew it, and its left.

    The criterion is the sum over the children and classes of (rows of the class)^2 / rows: largest
    where the impurity is least, and -inf if the feature has one value in the node. The values that
    go left are bool (n_drawing, n_values).
    """
    shape = (int(drawing.sum()), len(feature.values))
    place, in_nodes = np.cumsum(drawing) - 1, drawing[rows["node"]]
    cell = place[rows["node"][in_nodes]] * shape[1] + feature.codes[rows["row"][in_nodes]]
    n, ones = (
        np.bincount(cell, rows[name][in_nodes], shape[0] * shape[1]).reshape(shape)
        for name in ("weight", "one")
    )
    present, order = n > 0, np.broadcast_to(np.arange(shape[1]), shape)
    if feature.is_category:
        share = np.divide(ones, n, out=np.full(shape, np.inf), where=present)
        order = share.argsort(axis=1, kind="stable")
    n, ones = (np.take_along_axis(a, order, axis=1).cumsum(axis=1) for a in (n, ones))
    n_right, ones_right = n[:, -1:] - n, ones[:, -1:] - ones
    valid = np.take_along_axis(present, order, axis=1) & (n_right > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        criterion = (ones**2 + (n - ones) ** 2) / n
        criterion += (ones_right**2 + (n_right - ones_right) ** 2) / n_right
    criterion = np.where(valid, criterion, -np.inf)
    cut = _argmax(criterion, random)
    best = np.take_along_axis(criterion, cut[:, None], axis=1)[:, 0]
    left = np.arange(shape[1]) <= cut[:, None]
    if feature.is_category:
        by_value = np.empty(shape, bool)
        np.put_along_axis(by_value, order, left, axis=1)
        left = np.where(present, by_value, random.random(shape) < 0.5)
    else:
        # Values without a row between the last on the left and the first on the right: the
        # threshold lies halfway between these two, and decides for other rows.
        after = np.where(present & ~left, feature.values, np.inf).min(axis=1)
        before = np.take_along_axis(feature.values[None], cut[:, None], axis=1)[:, 0]
        with np.errstate(invalid="ignore"):
            left = feature.values <= ((before + after) / 2)[:, None]
    return best, left


def _argmax(values, random):
    """Column of the largest value of each row, ties by chance."""
    tied = values == values.max(axis=1, keepdims=True)
    return np.where(tied, random.random(values.shape), -1).argmax(axis=1)


def _as_forest(nodes, features, X, inbag) -> SubsetForest:
    """The nodes tree by tree, on one column a continuous feature or subset of categories."""
    order = np.argsort(nodes["tree"], kind="stable")  # parents stay before their children
    place_of, is_leaf = np.argsort(order), nodes["feature"][order] == LEAF
    children = nodes["left"][order], nodes["left"][order] + 1
    left, right = (
        np.where(is_leaf, LEAF, place_of[np.where(is_leaf, 0, child)]) for child in children
    )
    of_splits = np.column_stack([nodes["feature"], nodes["subset"]])[order[~is_leaf]]
    keys, column = np.unique(of_splits, axis=0, return_inverse=True)
    feature = np.full(len(order), LEAF)
    feature[~is_leaf] = column.reshape(-1)
    rows = np.column_stack([_column(features[j], X[:, j], subset) for j, subset in keys])
    share = (nodes["ones"] / nodes["total"])[order]
    forest = Forest(
        feature=feature,
        threshold=nodes["threshold"][order],
        left=left,
        right=right,
        value=np.column_stack([1 - share, share]),
        cover=nodes["total"][order],
        impurity=2 * share * (1 - share),
        criterion="gini",
        tree_offsets=np.concatenate([[0], np.cumsum(np.bincount(nodes["tree"]))]),
        feature_names=[f"x{j + 1} {subset:b}" if subset else f"x{j + 1}" for j, subset in keys],
        output_names=("0", "1"),
        inbag=inbag.astype(np.min_scalar_type(inbag.max())),
        training_hash=array_hash(rows),
    )
    return SubsetForest(forest, rows, keys[:, 0], len(features))


def _column(feature, values, subset):
    """Values of a continuous feature, or whether a category is out of a subset."""
    return 1.0 - (subset >> feature.codes & 1) if feature.is_category else values
