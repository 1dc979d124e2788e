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
    continuous features, and for a subset 0 where the category is in it, else 1. `feature_of`
    (n_columns,) is the feature that a column was made of.
    """

    forest: Forest
    rows: np.ndarray
    feature_of: np.ndarray
    n_features: int

    def by_feature(self, scores) -> np.ndarray:
        """Sums of the scores of the columns, (n_columns,), over those of a feature."""
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
    nodes = _Nodes(n_trees)
    tree, row = np.nonzero(inbag)
    weight = inbag[tree, row].astype(float)
    rows = {"node": tree, "row": row, "weight": weight, "one": weight * y[row]}
    while len(rows["node"]):
        rows = _split_level(nodes, rows, features, mtry, random)
    return _as_forest(nodes, features, X, inbag)


class _Feature:
    """Distinct values of a feature, and which of them each row has."""

    def __init__(self, column):
        self.values, self.codes = np.unique(column, return_inverse=True)
        self.is_category = bool((self.values == np.round(self.values)).all())
        if self.is_category and len(self.values) > 63:
            raise ValueError(f"{len(self.values)} categories: subsets are kept in 63 bits")


class _Nodes:
    """Nodes in the order in which they were made, level by level; the first are the roots."""

    def __init__(self, n_trees):
        self.tree = [np.arange(n_trees)]
        self.n = n_trees
        self.split = {}  # name -> arrays of the levels: node, feature, threshold, subset, left
        self.counts = []  # (node, rows, rows of class 1) of every level

    def add_split(self, **columns):
        for name, values in columns.items():
            self.split.setdefault(name, []).append(values)


def _split_level(nodes, rows, features, mtry, random):
    """Split the nodes of a level; the rows of its children, which are the next level."""
    level, node = np.unique(rows["node"], return_inverse=True)
    total = np.bincount(node, rows["weight"])
    ones = np.bincount(node, rows["one"])
    nodes.counts.append((level, total, ones))
    impure = (ones > 0) & (ones < total)
    place = np.cumsum(impure) - 1
    rows = {name: values[impure[node]] for name, values in rows.items()}
    node, level = place[node[impure[node]]], level[impure]
    if not len(level):
        return rows
    is_candidate = np.zeros((len(level), len(features)), bool)
    order = random.random(is_candidate.shape).argsort(axis=1)[:, :mtry]
    np.put_along_axis(is_candidate, order, True, axis=1)
    best = np.full(is_candidate.shape, -np.inf)
    left_codes = []
    for j, feature in enumerate(features):
        drawing_nodes = np.flatnonzero(is_candidate[:, j])
        best[drawing_nodes, j], left = _best_cuts(feature, j, drawing_nodes, node, rows, random)
        left_codes.append((np.searchsorted(drawing_nodes, np.arange(len(level))), left))
    split_feature = _argmax(best, random)
    is_split = np.isfinite(best[np.arange(len(level)), split_feature])
    return _children(nodes, rows, features, node, level, split_feature, is_split, left_codes)


def _best_cuts(feature, j, drawing_nodes, node, rows, random):
    """Criterion (n_drawing,) of the best cut of a feature in the nodes that drew it, and its left.

    The criterion is the sum over the children and classes of (rows of the class)^2 / rows: largest
    where the impurity is least, and -inf if the feature has one value in the node. The values that
    go left are bool (n_drawing, n_values).
    """
    k = len(feature.values)
    place = np.full(node.max() + 1 if len(node) else 0, -1)
    place[drawing_nodes] = np.arange(len(drawing_nodes))
    in_nodes = place[node] >= 0
    cell = place[node[in_nodes]] * k + feature.codes[rows["row"][in_nodes]]
    shape = (len(drawing_nodes), k)
    n = np.bincount(cell, rows["weight"][in_nodes], len(drawing_nodes) * k).reshape(shape)
    ones = np.bincount(cell, rows["one"][in_nodes], len(drawing_nodes) * k).reshape(shape)
    present = n > 0
    if feature.is_category:
        share = np.divide(ones, n, out=np.full(shape, np.inf), where=present)
        order = share.argsort(axis=1, kind="stable")
        n, ones, present_in_order = (
            np.take_along_axis(a, order, axis=1) for a in (n, ones, present)
        )
    else:
        present_in_order = present
    n, ones = n.cumsum(axis=1), ones.cumsum(axis=1)
    n_right, ones_right = n[:, -1:] - n, ones[:, -1:] - ones
    valid = present_in_order & (n_right > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        criterion = (ones**2 + (n - ones) ** 2) / n
        criterion += (ones_right**2 + (n_right - ones_right) ** 2) / n_right
    criterion = np.where(valid, criterion, -np.inf)
    cut = _argmax(criterion, random)
    best = np.take_along_axis(criterion, cut[:, None], axis=1)[:, 0]
    left = np.arange(k) <= cut[:, None]
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


def _children(nodes, rows, features, node, level, split_feature, is_split, left_codes):
    """Record the splits of a level and hand the rows to the children."""
    left_of_row = np.zeros(len(node), bool)
    threshold, subset = np.zeros(len(level)), np.zeros(len(level), np.int64)
    for j, feature in enumerate(features):
        place, left = left_codes[j]
        split_nodes = np.flatnonzero(is_split & (split_feature == j))
        if not len(split_nodes):
            continue
        left = left[place[split_nodes]]
        place_of_node = np.full(len(level), -1)
        place_of_node[split_nodes] = np.arange(len(split_nodes))
        in_nodes = place_of_node[node] >= 0
        left_of_row[in_nodes] = left[
            place_of_node[node[in_nodes]], feature.codes[rows["row"][in_nodes]]
        ]
        if feature.is_category:
            threshold[split_nodes] = 0.5
            subset[split_nodes] = left @ (1 << np.arange(len(feature.values), dtype=np.int64))
        else:
            last = left.sum(axis=1) - 1
            threshold[split_nodes] = _between(feature.values, last)
    first = nodes.n + 2 * (np.cumsum(is_split) - 1)
    nodes.add_split(
        node=level[is_split],
        feature=split_feature[is_split],
        threshold=threshold[is_split],
        subset=subset[is_split],
        left=first[is_split],
    )
    parents = np.repeat(level[is_split], 2)
    trees = np.concatenate(nodes.tree)
    nodes.tree.append(trees[parents])
    nodes.n += 2 * int(is_split.sum())
    moves_on = is_split[node]
    rows = {name: values[moves_on] for name, values in rows.items()}
    return rows | {"node": first[node[moves_on]] + ~left_of_row[moves_on]}


def _between(values, last):
    """Halfway between neighboring values, where the training rows fall on the same sides."""
    return (values[last] + values[np.minimum(last + 1, len(values) - 1)]) / 2


def _as_forest(nodes, features, X, inbag) -> SubsetForest:
    """The nodes tree by tree, on one column a continuous feature or subset of categories."""
    tree = np.concatenate(nodes.tree)
    order = np.argsort(tree, kind="stable")  # parents stay before their children
    place_of = np.empty(nodes.n, np.int64)
    place_of[order] = np.arange(nodes.n)
    numbers, total, ones = (np.concatenate(arrays) for arrays in zip(*nodes.counts, strict=True))
    rows_of, ones_of = np.zeros(nodes.n), np.zeros(nodes.n)
    rows_of[numbers], ones_of[numbers] = total, ones
    share = (ones_of / rows_of)[order]
    splits = {name: np.concatenate(arrays) for name, arrays in nodes.split.items()}
    keys, column = np.unique(
        np.column_stack([splits["feature"], splits["subset"]]), axis=0, return_inverse=True
    )
    column = column.reshape(-1)
    rows = [_column(features[j], X[:, j], subset) for j, subset in keys]
    feature, threshold = np.full(nodes.n, LEAF), np.zeros(nodes.n)
    left, right = np.full(nodes.n, LEAF), np.full(nodes.n, LEAF)
    split_nodes = place_of[splits["node"]]
    feature[split_nodes], threshold[split_nodes] = column, splits["threshold"]
    left[split_nodes], right[split_nodes] = place_of[splits["left"]], place_of[splits["left"] + 1]
    rows = np.column_stack(rows)
    forest = Forest(
        feature=feature,
        threshold=threshold,
        left=left,
        right=right,
        value=np.column_stack([1 - share, share]),
        cover=rows_of[order],
        impurity=2 * share * (1 - share),
        criterion="gini",
        tree_offsets=np.concatenate([[0], np.cumsum(np.bincount(tree))]),
        feature_names=[f"x{j + 1} {subset:b}" if subset else f"x{j + 1}" for j, subset in keys],
        output_names=("0", "1"),
        inbag=inbag.astype(np.min_scalar_type(inbag.max())),
        training_hash=array_hash(rows),
    )
    return SubsetForest(forest, rows, keys[:, 0], len(features))


def _column(feature, values, subset):
    """Values of a continuous feature, or whether a category is out of a subset."""
    return 1.0 - (subset >> feature.codes & 1) if feature.is_category else values
