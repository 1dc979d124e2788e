"""Merge conditions on categories along a path: one column of the rows for each.

Intervals of a number merge to an interval, by their ends. Subsets of categories merge to a subset
that no split of the model may have. So each edge below a split by categories gets a column for all
the splits of its feature from the root to the edge: 0 where a row passes all of them, else 1.
Edges that ask for the same share a column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.nodes import cached_per_forest, columns, readonly


class CategoryPaths(NamedTuple):
    """Columns that stand for the merged conditions of a forest."""

    # int32 (n_nodes,): the column for the edge into each node; -1 at roots and below splits by
    # numbers
    column: np.ndarray
    first: int  # number of the first column: those before it are the prepared rows
    # int (n_columns,): the column of the edge above that has the same feature, -1 if there is none
    above: list
    subset: list  # int (n_columns,): prepared column of the split
    left: list  # bool (n_columns,): whether the edge goes left, and whether NaN passes it
    missing: list  # bool (n_columns,)

    def appended(self, X) -> np.ndarray:
        """Return prepared rows with these columns behind them."""
        if not self.above:
            return X
        out = np.empty((len(X), self.first + len(self.above)), X.dtype)
        out[:, : self.first] = X
        for i, above in enumerate(self.above):
            x = X[:, self.subset[i]]
            fails = (x > 0.5) if self.left[i] else ~(x > 0.5)
            fails[np.isnan(x)] = not self.missing[i]
            if above >= 0:
                fails |= out[:, above] > 0.5
            out[:, self.first + i] = fails
        return readonly(out)


@cached_per_forest
def category_paths(forest) -> CategoryPaths:
    """Return the columns for the edges below splits by categories, cached with the forest."""
    column = np.full(forest.n_nodes, -1, np.int32)
    n_subsets = 0 if forest.categories is None else len(forest.categories)
    paths = CategoryPaths(column, forest.n_features + n_subsets, [], [], [], [])
    number_of, last = {}, {}  # last: by node, the columns of the features tested above it
    by_subset = (forest.feature >= 0) & (columns(forest) >= forest.n_features)
    for k in np.flatnonzero(forest.feature >= 0) if by_subset.any() else ():
        j, above = int(forest.feature[k]), last.get(int(k), {})
        for child, left in ((int(forest.left[k]), True), (int(forest.right[k]), False)):
            last[child] = above
            if by_subset[k]:
                missing = bool(forest.missing_left is not None and forest.missing_left[k]) == left
                key = (above.get(j, -1), int(columns(forest)[k]), left, missing)
                if key not in number_of:
                    number_of[key] = paths.first + len(number_of)
                    for values, one in zip(paths[2:], key, strict=True):
                        values.append(one)
                column[child] = number_of[key]
                last[child] = {**above, j: number_of[key]}
    return paths
