"""Columns of a table, and the features that the steps of a pipeline make of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from splitcredit._names import names_of_columns

# Attributes of fitted steps that make several features of a column, and put its name before each.
_BY_COLUMN = ("categories_", "bin_edges_", "bsplines_")


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """Rows that a pipeline was given, and the column of them that each feature was made of.

    Parameters
    ----------
    rows : array or DataFrame (n_samples, n_columns), or None
        Not a copy.
    names : tuple of str, n_columns long
        Of the columns that the pipeline was fitted on.
    column : tuple of int, n_features long
        -1 for a feature that was made of several columns, or in a way that is not known.
    """

    rows: Any
    names: tuple[str, ...]
    column: tuple[int, ...]

    def groups(self) -> dict[str, list[int]]:
        """The features that were made of each column, by its name."""
        found: dict[str, list[int]] = {name: [] for name in self.names}
        for j, k in enumerate(self.column):
            if k >= 0:
                found[self.names[k]].append(j)
        return {name: features for name, features in found.items() if features}

    def table(self, names, data):
        """A DataFrame of the columns of some names, and of the features that have none.

        Parameters
        ----------
        names : collection of str
        data : array or DataFrame (n_samples, n_features)
            The rows as the trees see them.
        """
        import pandas as pd

        own = [k for k, name in enumerate(self.names) if name in names]
        rows, features = self.rows, [j for j, k in enumerate(self.column) if k < 0]
        if hasattr(rows, "iloc"):
            labels = {str(label): k for k, label in enumerate(rows.columns)}
            rows = rows.iloc[:, [labels[self.names[k]] for k in own]]
        else:
            rows = pd.DataFrame(rows[:, own]).infer_objects()
        data = data.iloc[:, features] if hasattr(data, "iloc") else data[:, features]
        return pd.concat([rows.reset_index(drop=True), pd.DataFrame(np.asarray(data))], axis=1)


def shortened(names, pipelines) -> tuple[str, ...]:
    """Names without those of the steps before them, such as ``onehot__``, if they stay distinct."""
    steps = {"remainder"}
    for part in (part for pipeline in pipelines for part in pipeline.get_params().values()):
        for kind in ("transformers", "transformer_list"):
            steps |= {entry[0] for entry in getattr(part, kind, None) or ()}
    short = [_without(name, steps) for name in names]
    count = Counter(short)
    return tuple(cut if count[cut] == 1 else name for cut, name in zip(short, names, strict=True))


def _without(name, steps):
    step, _, rest = name.partition("__")
    return _without(rest, steps) if rest and step in steps else name


def source(pipelines, X) -> Source | None:
    """Where the features come from; None if there are no steps, or these do not tell."""
    import pandas as pd

    if not pipelines or hasattr(X, "toarray"):
        return None
    try:
        first = pipelines[0]
        given = getattr(first, "feature_names_in_", None)
        names = [f"x{j}" for j in range(first.n_features_in_)] if given is None else list(given)
        _, column = _through(pipelines, names)
    except (AttributeError, ValueError):  # a step that names no features
        return None
    if X is not None and not hasattr(X, "iloc"):
        labels, X = names_of_columns(X), X if isinstance(X, np.ndarray) else np.asarray(X)
        X = X if labels is None else pd.DataFrame(X, columns=labels)
    return Source(X, tuple(map(str, names)), tuple(column))


def _through(steps, names):
    """Names of what comes out of some steps, and the index of the name that each is made of."""
    column = list(range(len(names)))
    for step in steps:
        made, of = _made_of(step, names)
        names, column = made, [column[k] if k >= 0 else -1 for k in of]
    return names, column


def _made_of(step, names):
    if hasattr(step, "named_steps"):
        return _through(
            [part for _, part in step.steps if part not in (None, "passthrough")], names
        )
    made = list(step.get_feature_names_out(names))
    if hasattr(step, "output_indices_"):  # of a ColumnTransformer
        return made, _of_blocks(step, names, len(made))
    if made == list(names):
        return made, list(range(len(names)))
    return made, [
        _named_before(step, name.removeprefix("missingindicator_"), names) for name in made
    ]


def _of_blocks(step, names, n_made):
    column = [-1] * n_made
    for block, part, chosen in step.transformers_:
        places = step.output_indices_[block]
        if places.start == places.stop:
            continue
        labels = [chosen] if isinstance(chosen, (str, int)) else chosen
        if isinstance(labels, slice) or np.asarray(labels).dtype.kind != "U":
            own = np.arange(len(names))[labels]
        else:
            own = [list(names).index(label) for label in labels]
        of = range(len(own))
        if not isinstance(part, str):
            _, of = _made_of(part, [names[k] for k in own])
        column[places] = [int(own[k]) if k >= 0 else -1 for k in of]
    return column


def _named_before(step, name, names):
    """Index of the column whose name a feature has, or begins with; -1 if there is none."""
    if name in names:
        return list(names).index(name)
    if not any(hasattr(step, attribute) for attribute in _BY_COLUMN):
        return -1
    begins = [k for k, own in enumerate(names) if name.startswith(f"{own}_")]
    if hasattr(step, "drop_idx_"):  # of one-hot codes, which stand for labels
        labels = [{*map(str, own), "infrequent_sklearn"} for own in step.categories_]
        begins = [k for k in begins if name[len(names[k]) + 1 :] in labels[k]]
    return max(begins, key=lambda k: len(names[k]), default=-1)
