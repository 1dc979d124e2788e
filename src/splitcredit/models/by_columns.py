"""Give a forest the columns of a pipeline's table as features."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from splitcredit.kernels.nodes import as_readonly, columns, owners
from splitcredit.models.categories import Categories
from splitcredit.models.forest import Forest


@dataclass(frozen=True, eq=False, repr=False)
class ForestByColumns(Forest):
    """Trees whose features are columns, and which compare the features of `transformed`.

    In prepared rows that stands behind the columns, as subsets of categories stand behind features
    in other forests. The columns themselves are NaN, which no node compares and no two rows share.
    """

    transformed: Forest | None = None


def forest_by_columns(forest, table_columns, *tables, may_move=True):
    """Return the forest with columns for features, if there are any, and rows as it reads them.

    Features of one column each are only put in the order of the columns, if they may move.
    """
    if table_columns is None:
        return forest, *tables
    names, members, _ = table_columns
    owner = np.full(forest.n_features + 1, -1, np.int32)  # leaves have feature -1
    for k, features in enumerate(members):
        owner[features] = k
    new: dict = {"feature": owner[forest.feature], "feature_names": names}
    new |= {"names_given": False, "full_names": None, "inbag": vars(forest)["inbag"]}
    order, is_one_each = np.concatenate(members), len(names) == forest.n_features
    if is_one_each and not forest.categories and (may_move or (np.diff(order) > 0).all()):
        return replace(forest, **new), *as_readonly(*(rows[:, order] for rows in tables))
    of = owner[owners(forest)].tolist()
    new["categories"] = Categories(of, [()] * len(of), [True] * len(of))
    new |= {"column": columns(forest) + len(names), "missing_value": None}
    by_columns = ForestByColumns(**vars(forest) | new, transformed=forest)
    tables = (np.pad(rows, [(0, 0), (len(names), 0)], constant_values=np.nan) for rows in tables)
    return by_columns, *as_readonly(*tables)
