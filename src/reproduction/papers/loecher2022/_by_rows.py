"""The definitions of loecher2022, sections 2, 5, 6 and 8, by plain sums over rows of one tree.

Trees, bootstrap samples and ways of rows are read from scikit-learn itself; nothing here uses the
library's converter, kernels or measures, which are checked against it. Products are summed by
einsum, as BLAS may add in another order on another number of threads.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree of a scikit-learn forest, with the rows that the forest was fitted to."""

    feature: np.ndarray
    left: np.ndarray
    right: np.ndarray
    visits: np.ndarray
    times: dict[str, np.ndarray]
    targets: np.ndarray
    n_features: int

    @property
    def splits(self) -> list[tuple[int, int, int, int]]:
        """Node, left child, right child and feature of every split."""
        inner = np.flatnonzero(self.left >= 0)
        return [(t, self.left[t], self.right[t], self.feature[t]) for t in inner]

    @cached_property
    def rows(self) -> dict[str, np.ndarray]:
        """Number of rows of either kind in every node, (n_nodes,)."""
        return {kind: np.einsum("ti,i->t", self.visits, w) for kind, w in self.times.items()}

    @cached_property
    def means(self) -> dict[str, np.ndarray]:
        """Mean targets of either kind in every node, (n_nodes, n_columns); 0 without rows."""
        means = {}
        for kind, times in self.times.items():
            n = self.rows[kind][:, None]
            sums = np.einsum("ti,id->td", self.visits, times[:, None] * self.targets)
            means[kind] = np.divide(sums, n, out=np.zeros_like(sums), where=n > 0)
        return means


def trees(model, X, y) -> list[Tree]:
    """The trees of a fitted, bagged scikit-learn forest."""
    classes = getattr(model, "classes_", None)
    targets = y[:, None] if classes is None else y[:, None] == classes
    grown = []
    for estimator, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        times_drawn = np.bincount(rows, minlength=len(X)).astype(float)
        nodes, visits = estimator.tree_, estimator.decision_path(X).toarray().T
        grown.append(
            Tree(
                feature=nodes.feature,
                left=nodes.children_left,
                right=nodes.children_right,
                visits=visits.astype(float),
                times={"inbag": times_drawn, "oob": (times_drawn == 0).astype(float)},
                targets=targets.astype(float),
                n_features=X.shape[1],
            )
        )
    return grown


def contributions(tree: Tree) -> np.ndarray:
    """Eq. 8: f_{T,k}(x_i) by in-bag means, (n_samples, n_features, n_columns)."""
    means = tree.means["inbag"]
    f = np.zeros((len(tree.targets), tree.n_features, tree.targets.shape[1]))
    for t, left, right, k in tree.splits:
        for child in (left, right):
            f[tree.visits[child] > 0, k] += means[child] - means[t]
    return f


def eq10(tree: Tree, f, kind: str) -> np.ndarray:
    """Eq. 10: mean of f y over the rows of a kind, (n_features, n_columns)."""
    times = tree.times[kind]
    return np.einsum("ikd,id->kd", f, times[:, None] * tree.targets) / times.sum()


def eq11(tree: Tree, f, kind: str) -> np.ndarray:
    """Eq. 11: mean of f over the rows of a kind with y = 1, one class a column."""
    ones = tree.times[kind][:, None] * tree.targets
    return np.einsum("id,ikd->kd", ones, f) / ones.sum(axis=0)


def covariance(tree: Tree, f) -> np.ndarray:
    """Covariance of f and y on the bootstrap sample, (n_features, n_columns)."""
    weights = tree.times["inbag"] / tree.times["inbag"].sum()
    f = f - np.einsum("i,ikd->kd", weights, f)
    y = tree.targets - np.einsum("i,id->d", weights, tree.targets)
    return np.einsum("ikd,id->kd", f, weights[:, None] * y)


def eq18(tree: Tree) -> np.ndarray:
    """Eq. 18, decrease of the out-of-bag squared error about in-bag means, summed over the nodes.

    Nodes are weighted by N_n(t) / n, out-of-bag, as is missing in print.
    """
    means, is_oob = tree.means["inbag"], tree.times["oob"] > 0
    decreases = np.zeros((tree.n_features, tree.targets.shape[1]))
    for t, left, right, k in tree.splits:
        for child in (left, right):
            y = tree.targets[is_oob & (tree.visits[child] > 0)]
            decreases[k] += ((y - means[t]) ** 2 - (y - means[child]) ** 2).sum(axis=0)
    return decreases / is_oob.sum()


def decrease(tree: Tree, impurity, kind: str, needs_outside=False, weighted=True) -> np.ndarray:
    """Decrease of an impurity by the feature of each split, with nodes weighted by their rows."""
    n, n_oob = tree.rows[kind], tree.rows["oob"]
    decreases = np.zeros((tree.n_features, impurity.shape[1]))
    for t, left, right, k in tree.splits:
        if n[t] == 0 or (needs_outside and min(n_oob[left], n_oob[right]) == 0):
            continue
        after = (n[left] * impurity[left] + n[right] * impurity[right]) / n[t]
        decreases[k] += (impurity[t] - after) * (n[t] / n[0] if weighted else 1)
    return decreases


def products_a_node(tree: Tree, kind: str) -> np.ndarray:
    """Mean over the rows of a node of their step there times y, summed over the nodes.

    What Eq. 22 and 23 are without the weight of a node; (n_features, n_columns).
    """
    means, n = tree.means["inbag"], tree.rows[kind]
    products = np.zeros((tree.n_features, tree.targets.shape[1]))
    for t, left, right, k in tree.splits:
        for child in (left, right):
            if n[t]:
                y = np.einsum("i,id->d", tree.visits[child] * tree.times[kind], tree.targets)
                products[k] += (means[child] - means[t]) * y / n[t]
    return products


def pg_051(tree: Tree) -> np.ndarray:
    """PG(0.5, 1) of every node as in Eq. 14, whose sum covers the penalty; (n_nodes, 1)."""
    p_in, p_oob = tree.means["inbag"], tree.means["oob"]
    spread = p_oob * (1 - p_oob) + p_in * (1 - p_in) + (p_oob - p_in) ** 2
    return spread.sum(axis=1, keepdims=True) / 2


def zhou_hooker(tree: Tree) -> np.ndarray:
    """Zhou and Hooker (2019): mean of 1 - p_in(y_i) over out-of-bag rows i, (n_nodes, 1)."""
    p_in, impurity = tree.means["inbag"], np.zeros((len(tree.visits), 1))
    label, is_oob = tree.targets.argmax(axis=1), tree.times["oob"] > 0
    for t, visits in enumerate(tree.visits):
        rows = np.flatnonzero(is_oob & (visits > 0))
        if len(rows):
            impurity[t] = np.mean(1 - p_in[t, label[rows]])
    return impurity
