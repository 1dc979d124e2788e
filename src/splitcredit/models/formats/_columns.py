"""Trace the features that the steps of a pipeline make back to the columns of a table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from splitcredit.rows.names import names_of_columns

# Attributes of fitted steps that make several features of a column, and put its name before each.
_BY_COLUMN = ("categories_", "bin_edges_", "bsplines_")


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """Rows given to a pipeline, names of its columns, and the column of each feature or -1."""

    rows: Any
    names: tuple[str, ...]
    column: tuple[int, ...]

    def groups(self) -> dict[str, list[int]]:
        """Return the features that were made of each column, by its name."""
        found: dict[str, list[int]] = {name: [] for name in self.names}
        for j, k in enumerate(self.column):
            if k >= 0:
                found[self.names[k]].append(j)
        return {name: features for name, features in found.items() if features}

    def table(self, names, data):
        """Return a DataFrame of some columns, and of the features that have none."""
        import pandas as pd

        own = [k for k, name in enumerate(self.names) if name in names]
        rows, features = self.rows, [j for j, k in enumerate(self.column) if k < 0]
        if hasattr(rows, "iloc"):
            labels = {str(label): k for k, label in enumerate(rows.columns)}
            rows = rows.iloc[:, [labels.get(self.names[k], k) for k in own]]
        else:
            rows = pd.DataFrame(rows[:, own]).infer_objects()
        data = data.iloc[:, features] if hasattr(data, "iloc") else data[:, features]
        return pd.concat([rows.reset_index(drop=True), pd.DataFrame(np.asarray(data))], axis=1)


def shortened(names, pipelines) -> tuple[str, ...]:
    """Remove prefixes of steps such as ``onehot__`` from names, if they stay distinct."""
    steps = {"remainder"}
    try:
        for part in (part for pipeline in pipelines for part in pipeline.get_params().values()):
            for kind in ("transformers", "transformer_list"):
                steps |= {entry[0] for entry in getattr(part, kind, None) or ()}
    except Exception:  # of steps that others wrote, which may call anything by these names
        return tuple(names)
    short = [_without(name, steps) for name in names]
    count = Counter(short)
    return tuple(cut if count[cut] == 1 else name for cut, name in zip(short, names, strict=True))


def _without(name, steps):
    step, _, rest = name.partition("__")
    return _without(rest, steps) if rest and step in steps else name


def source(pipelines, X) -> Source | None:
    """Trace the features to columns; None if there are no steps, or they do not say."""
    import pandas as pd

    if not pipelines:
        return None
    X = X.toarray() if hasattr(X, "toarray") else X
    try:
        first = pipelines[0]
        given = getattr(first, "feature_names_in_", None)
        names = [f"x{j}" for j in range(first.n_features_in_)] if given is None else list(given)
        _, column = _through(pipelines, names)
    except Exception:  # of any step: the names are optional
        return None
    if X is not None and not hasattr(X, "iloc"):
        labels, X = names_of_columns(X), X if isinstance(X, np.ndarray) else np.asarray(X)
        X = X if labels is None else pd.DataFrame(X, columns=labels)
    return Source(X, tuple(map(str, names)), tuple(column))


def _through(steps, names):
    """Return the names after some steps, and the index of the name that each is made of."""
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
    if hasattr(step, "transformer_list"):  # of a FeatureUnion
        every = range(len(names))
        parts = (part for _, part in step.transformer_list if part != "drop")
        columns = (every if part == "passthrough" else _made_of(part, names)[1] for part in parts)
        return list(step.get_feature_names_out(names)), list(chain(*columns))
    if hasattr(step, "output_indices_"):  # of a ColumnTransformer
        column = _of_blocks(step, names)
        try:
            made = list(step.get_feature_names_out(names))
        except Exception:  # of one of its transformers
            made = [f"x{j}" for j in range(len(column))]
        return made, column
    made = list(step.get_feature_names_out(names))
    if len(set(made)) < len(made) and not any(hasattr(step, name) for name in _BY_COLUMN):
        raise ValueError("names that several features have tell nothing")
    if len(names) == 1:
        return made, [0] * len(made)
    if made == list(names):
        return made, list(range(len(names)))
    if hasattr(step, "powers_"):  # PolynomialFeatures: other terms have several columns
        return made, [int(own.argmax()) if (own > 0).sum() == 1 else -1 for own in step.powers_]
    by_step = _named_by_step(step)
    made_of = [
        str(by_step.get(name, name.removeprefix("missingindicator_"))) for name in map(str, made)
    ]
    column, last = [], 0
    for name in made_of:  # encoders go through the columns in their order
        column.append(_named_before(step, name, names, last))
        last = max(last, column[-1])
    return made, column


def _named_by_step(step):
    """Return the column of each feature where an encoder of another package names it."""
    if hasattr(step, "output_to_input_"):  # of skrub
        return step.output_to_input_
    tables = getattr(step, "mapping", None)
    if hasattr(step, "cols") and isinstance(tables, list):  # of category_encoders
        return {str(name): one["col"] for one in tables for name in one["mapping"]}
    labels = getattr(step, "encoder_dict_", {})  # of feature-engine
    return {f"{name}_{label}": name for name, own in labels.items() for label in own}


def _of_blocks(step, names):
    column = [-1] * max(places.stop for places in step.output_indices_.values())
    for block, part, chosen in step.transformers_:
        places = step.output_indices_[block]
        n_made = places.stop - places.start
        own = _places(chosen, names) if n_made else []
        of = [0] * n_made if len(own) == 1 else range(len(own))
        if not isinstance(part, str) and len(own) > 1:
            try:
                _, of = _made_of(part, [names[k] for k in own])
            except Exception:  # which leaves the other blocks as they are
                of = ()
        if len(of) == n_made:
            column[places] = [own[k] if k >= 0 else -1 for k in of]
    return column


def _places(chosen, names) -> list[int]:
    """Return positions of a block's columns, in any of the forms that ColumnTransformer takes."""
    import pandas as pd

    if isinstance(chosen, slice):
        parts = [chosen.start, chosen.stop]
    else:
        parts = chosen = [chosen] if np.ndim(chosen) == 0 else list(chosen)
    places = pd.Series(range(len(names)), names)
    by_label = any(isinstance(part, str) for part in parts)
    return (places.loc[chosen] if by_label else places.iloc[chosen]).tolist()


def _named_before(step, name, names, last):
    """Return the column whose name a feature has or begins with, from `last` on; else -1."""
    if name in names:
        return list(names).index(name)
    if not any(hasattr(step, attribute) for attribute in _BY_COLUMN):
        return -1
    begins = [k for k, own in enumerate(names) if name.startswith(f"{own}_")]
    if hasattr(step, "drop_idx_"):  # of one-hot codes, which stand for labels
        labels = [{*map(str, own), "infrequent_sklearn"} for own in step.categories_]
        begins = [k for k in begins if name[len(names[k]) + 1 :] in labels[k]]
        return next((k for k in begins if k >= last), -1)
    return max(begins, key=lambda k: len(names[k]), default=-1)
