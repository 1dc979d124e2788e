"""Group features: find the members of each group, and sum over them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from splitcredit.rows.names import feature_index
from splitcredit.rows.tables import check_choice

# Method -> why its values cannot be added.
_NOT_ADDED = {
    "pg2_greedy": "they are places in a ranking",
    "mda": "it permutes one feature at a time; permuting several together has another effect",
}
_NOT_ADDED["conditional_permutation"] = _NOT_ADDED["mda"]


def of_attribution(attribution, groups):
    """Sum attributions by group; see `Attribution.grouped`."""
    if isinstance(groups, str) and attribution.parameters.get("features") == groups:
        return attribution
    _check_added(attribution)
    names, members, called = resolve_groups(attribution.feature_names, attribution.source, groups)
    data = None
    if called and attribution.data is not None and attribution.source.rows is not None:
        data = attribution.source.table(names, attribution.data).set_axis(list(names), axis=1)
    shape = (len(attribution.values), len(names), attribution.values.shape[2])
    values = np.empty(shape, attribution.values.dtype)
    for k, features in enumerate(members):
        total = attribution.values[:, features].sum(axis=1, dtype=np.float64)
        values[:, k] = total
    new = {"data": data, "source": None, "parameters": attribution.parameters | called}
    return replace(attribution, values=values, feature_names=names, **new)


class Columns(NamedTuple):
    """Names of columns, the features that were made of each, and parameters that say so."""

    names: tuple[str, ...]
    members: list[list[int]]
    parameters: dict


def columns_of(feature_names, source) -> Columns | None:
    """Return the columns that features were made of; None if the steps do not name them.

    A feature that was not made of a single column follows under its own name.
    """
    # A step may name more or fewer features than it makes.
    if source is None or len(source.column) != len(feature_names):
        return None
    groups, alone = source.groups(), [j for j, k in enumerate(source.column) if k < 0]
    left = [str(feature_names[j]) for j in alone]
    names, members = (*groups, *left), [*groups.values(), *([j] for j in alone)]
    parameters = {"features": "columns"} | ({"of_no_single_column": left} if left else {})
    return Columns(names, members, parameters) if len({*names}) == len(names) else None


def resolve_groups(feature_names, source, groups) -> Columns:
    """Return groups, the features of each, and parameters for columns of a pipeline."""
    if not isinstance(groups, str):
        names, members = _partition(feature_names, groups)
        return Columns(names, members, {})
    check_choice("groups", groups, ("columns",))
    columns = columns_of(feature_names, source)
    if columns is None:
        raise ValueError(
            "groups='columns' needs the result of a pipeline whose steps name the column of each "
            "feature: pass a dict of the features of each group"
        )
    return columns


def of_importance(importance, groups):
    """Sum importances by group; see `Importance.grouped`."""
    if isinstance(groups, str) and importance.parameters.get("features") == groups:
        return importance
    _check_added(importance)
    absolute = "mean |attribution|" in importance.parameters.values()
    if absolute or importance.parameters.get("weigh_by") == "absolute":
        raise ValueError(
            f"these importances by {importance.method} are means of absolute values, which cannot "
            "be added: group the attributions, splitcredit.explain(...).grouped(groups)"
        )
    names, members, called = resolve_groups(importance.feature_names, importance.source, groups)
    values = [importance.values[features].sum() for features in members]
    error = [importance.standard_error[features].sum() for features in members]
    new = {"standard_error": error, "source": None, "parameters": importance.parameters | called}
    if importance.refits is not None:
        sums = [importance.refits[:, features].sum(axis=1) for features in members]
        new["refits"] = np.transpose(sums)
    return replace(importance, values=values, feature_names=names, **new)


def players(feature_names, groups):
    """Return names of the groups and of ungrouped features, and the group of each feature."""
    names, members = _partition(feature_names, groups)
    group_of = {j: k for k, features in enumerate(members) for j in features}
    return names, tuple(group_of[j] for j in range(len(feature_names)))


def listed(groups) -> dict:
    """Return groups with their features as lists, which can be read more than once."""
    if not hasattr(groups, "items"):
        raise ValueError(
            f"groups={groups!r}: expected a dict, the features of each group by its name"
        )
    for group, features in groups.items():
        is_one = isinstance(features, (str, int, np.integer))
        if is_one or not hasattr(features, "__iter__"):
            raise ValueError(f"group {group!r} is {features!r}: give a list of features")
    return {group: list(features) for group, features in groups.items()}


def _check_added(result):
    if result.method in _NOT_ADDED:
        raise ValueError(
            f"values of {result.method} cannot be added, because {_NOT_ADDED[result.method]}"
        )


def _partition(feature_names, groups):
    """Return names of groups and ungrouped features, and the indices of each one's features."""
    groups = listed(groups)
    group_of, members = {}, []
    for group, features in groups.items():
        who = f"group {group!r}"
        indices = [feature_index(feature_names, feature, who) for feature in features]
        for j in indices:
            if j in group_of:
                raise ValueError(
                    f"feature {feature_names[j]!r} is in {group_of[j]!r} and in {group!r}: put it "
                    "into one group, once"
                )
            group_of[j] = group
        members.append(indices)
    ungrouped = [j for j in range(len(feature_names)) if j not in group_of]
    names = [*(str(group) for group in groups), *(feature_names[j] for j in ungrouped)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{twice[:5]} would be the name of a group and of a feature: rename it")
    return tuple(names), [*members, *([j] for j in ungrouped)]
