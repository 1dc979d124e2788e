"""Forests whose features are the columns that a pipeline made the features of its trees of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from splitcredit.kernels.nodes import as_readonly, columns, owners
from splitcredit.models.categories import Categories


def together(forest, parted, *tables, may_move=True):
    """The forest with columns for features, and prepared rows as its nodes then read them.

    Nodes compare what they compared. It stands behind the columns, as subsets of categories stand
    behind features in other forests. In place of a column is a number for all its values together.
    Features of one column each are put in their order, if they may move.
    """
    names, members = parted[:2] if parted else (forest.feature_names, None)
    in_order = members in (None, [[j] for j in range(forest.n_features)])
    if in_order and names == forest.feature_names:
        return forest, *tables
    owner = np.empty(forest.n_features, np.int64)
    for k, features in enumerate(members):
        owner[features] = k
    feature = np.array([*owner, -1], np.int32)[forest.feature]  # leaves have feature -1
    new: dict[str, Any] = {
        "feature": feature,
        "feature_names": names,
        "inbag": vars(forest)["inbag"],
    }
    new |= {"names_given": False, "full_names": None}
    if (may_move or in_order) and not forest.categories and len(names) == forest.n_features:
        order = np.concatenate(members)
        return replace(forest, **new), *as_readonly(*(rows[:, order] for rows in tables))
    of = owner[owners(forest)].tolist()
    new["categories"] = Categories(of, [()] * len(of), [True] * len(of))
    new |= {"column": columns(forest) + len(names), "missing_value": None}
    grouped = replace(forest, **new)
    object.__setattr__(grouped, "whole", forest)
    numbers = _numbers(np.concatenate(tables), np.array(of), len(names))
    parts = np.split(numbers, np.cumsum([len(rows) for rows in tables])[:-1])
    return grouped, *as_readonly(*map(np.hstack, zip(parts, tables, strict=True)))


def whole(forest):
    """The forest with the features that the steps made, of one by columns; else itself."""
    return getattr(forest, "whole", forest)


def _numbers(rows, owner, n_columns):
    """A number for the values of each column together, the same for the same (n, n_columns)."""
    rows = np.where(np.isnan(rows), rows.dtype.type(np.nan), rows + rows.dtype.type(0))
    tables = [np.ascontiguousarray(rows[:, owner == k]) for k in range(n_columns)]
    as_bytes = (own.view(np.dtype((np.void, own.itemsize * own.shape[1]))) for own in tables)
    numbers = [np.unique(own, return_inverse=True)[1].ravel() for own in as_bytes]
    return np.stack(numbers, axis=1).astype(rows.dtype)
