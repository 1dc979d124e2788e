"""Conditional permutation: MDA among rows alike in correlated features (Strobl et al. 2008)."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from splitcredit.kernels.nodes import columns, nodes_of
from splitcredit.measures._calls import checked
from splitcredit.measures.mda import permuted
from splitcredit.models.opened import Opened
from splitcredit.results.attribution import Importance
from splitcredit.rows.tables import check_whole

REQUIRES = ("bootstrap",)


@checked
def conditional_permutation(
    model: object,
    X: ArrayLike,
    y: ArrayLike,
    *,
    threshold: Annotated[float, ">= 0, <= 1"] = 0.2,
    random_state: Annotated[int, ">= 0"] = 0,
    features: Literal["columns", "transformed"] = "columns",
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Importance:
    """Measure how the error rises if a feature is permuted among rows alike in correlated ones.

    All split points of a tree on features correlated with it cut the space into a grid of cells,
    and its values are permuted among the out-of-bag rows of each cell.

    Parameters
    ----------
    model, X, features, check_additivity, progress
        See `splitcredit.oob_attributions`.
    y, random_state
        See `splitcredit.mda`.
    threshold : float
        Two features are correlated if the absolute value of Spearman's rank correlation, over all
        training rows, is above it. Missing values rank above all others. Of columns that a
        pipeline makes several features of, the largest value counts. 1 gives MDA.

    Returns
    -------
    Importance
        In the units of `splitcredit.mda`, with the standard error over the trees.

    Raises
    ------
    ValueError
        As for `splitcredit.mda`, or if threshold is not from 0 to 1.

    Warns
    -----
    UserWarning
        If most out-of-bag rows are alone in their cells, where nothing can be permuted.

    Notes
    -----
    Strobl, Boulesteix, Kneib, Augustin and Zeileis, "Conditional variable importance for random
    forests", BMC Bioinformatics 9:307 (2008). Cells and errors are those of the R package party
    (``varimp``, ``conditional=TRUE``). Other packages choose correlated features otherwise: party
    by 1 - p above .2 in tests of association, and permimp (Debeer and Strobl, BMC Bioinformatics
    21:307, 2020) by 1 - p above .95 in chi-squared tests of the cut features of each tree. Missing
    values, which both refuse, are intervals of their own here.

    Examples
    --------
    >>> splitcredit.conditional_permutation(model, X, y).to_frame().round(3)
                 feature  value  standard_error
    0   petal width (cm)  0.106           0.022
    1  petal length (cm)  0.068           0.020
    2   sepal width (cm) -0.001           0.002
    3  sepal length (cm) -0.005           0.003
    """
    check_whole("random_state", random_state)
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold={threshold!r}: expected a number from 0 to 1")
    opened = Opened(model, X, of_training=True, features=features).checked(check_additivity)
    alone: dict[str, list[float]] = {}
    within = partial(orders_within_cells, threshold=threshold, alone=alone)
    parameters = {"threshold": float(threshold), "random_state": int(random_state)}
    found = permuted(opened, y, parameters, progress, "conditional_permutation", within)
    hardly = [name for name, shares in alone.items() if np.mean(shares) > 0.5]
    if hardly:
        warnings.warn(
            f"most out-of-bag rows are alone in their cells for features such as {hardly[0]!r} "
            f"({len(hardly)} in all), whose values near 0 say little: pass a larger threshold, or "
            "fit trees with fewer leaves, such as min_samples_leaf=10",
            stacklevel=3,
        )
    return found


def orders_within_cells(forest, rows, permutations, threshold, alone):
    """Make a function like `permutations`, whose orders keep the rows of a cell in the cell.

    `alone` gets, by feature and for each tree that splits on it, the share of rows alone in a cell.
    """
    nodes, are_correlated = nodes_of(forest), correlations(forest, rows) > threshold

    def of_tree(tree, n):
        orders = permutations(tree, n)
        cuts = list(_intervals(forest, nodes, rows, tree)) if n else []
        for u in {owner for owner, _ in cuts}:
            cells = np.zeros(n, np.int64)
            for owner, intervals in cuts:
                if owner != u and are_correlated[u, owner] and cells.max() < n - 1:
                    both = cells * forest.n_nodes + intervals
                    cells = np.unique(both, return_inverse=True)[1]
            # The rows of a cell get the values of its rows, in the order in which all were drawn.
            by_cell, order = np.argsort(cells, kind="stable"), orders[u]
            orders[u, by_cell] = order[np.argsort(cells[order], kind="stable")]
            is_alone = np.bincount(cells)[cells] == 1
            alone.setdefault(forest.feature_names[u], []).append(is_alone.mean())
        return orders

    return of_tree


def _intervals(forest, nodes, rows, tree):
    """Yield features that a tree splits on, and the intervals that out-of-bag rows lie in."""
    start, stop = forest.tree_offsets[tree : tree + 2]
    inner = start + np.flatnonzero(nodes.feature[start:stop] >= 0)
    for column in np.unique(nodes.column[inner]):
        own = inner[nodes.column[inner] == column]
        x = rows[forest.inbag[tree] == 0, column]
        intervals = np.searchsorted(np.sort(nodes.threshold[own]), x)
        intervals[np.isnan(x)] = len(own) + 1
        yield nodes.feature[own[0]], intervals


def correlations(forest, rows) -> np.ndarray:
    """Give the largest |Spearman| of two features' tested columns, (n_features, n_features)."""
    inner = np.flatnonzero(forest.feature >= 0)
    tested, first = np.unique(columns(forest)[inner], return_index=True)
    owner, x = forest.feature[inner[first]], rows[:, tested]
    # Whole numbers, whose sums have no rounding up to 300 000 rows: they do not depend on threads.
    ranks = 2 * rankdata(np.where(np.isnan(x), np.inf, x), axis=0) - (len(x) + 1)
    products = ranks.T @ ranks
    of_columns = np.abs(products) / np.sqrt(np.outer(np.diag(products), np.diag(products)))
    found = np.zeros((forest.n_features, forest.n_features))
    np.maximum.at(found, np.ix_(owner, owner), np.minimum(of_columns, 1.0))
    return found
