"""Path-dependent TreeSHAP: the choice among three algorithms, and what they share.

All three give the same values exactly, up to rounding.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from splitcredit.kernels import leaf_means, results
from splitcredit.kernels.nodes import (
    as_readonly,
    cached_per_forest,
    columns,
    outputs_add_up,
    readonly,
)
from splitcredit.kernels.tree_shap import blocks, outcome_tables, rows

# Each adds the attributions of X[rows] for some outputs, summed over the trees, to `out`: called as
# ``attribute(forest, outputs, X, rows, out)``, with X float64 and prepared, outputs and rows int64,
# out float64 (len(rows), n_features, len(outputs)).
_ATTRIBUTE = {
    "blocks": blocks.attribute,
    "tables": outcome_tables.attribute,
    "rows": rows.attribute,
}
ALGORITHMS = ("auto", *_ATTRIBUTE)
# Up to so many rows it costs less to take them one by one than to set up a block.
FEW_ROWS = 3


def tree_shap(forest, X, outputs=None, algorithm="auto") -> np.ndarray:
    """Compute path-dependent TreeSHAP, float64 (n_samples, n_features, len(outputs))."""
    outputs = np.arange(forest.n_outputs) if outputs is None else np.asarray(outputs, np.int64)
    rows, shape = np.arange(len(X)), (len(X), forest.n_features, len(outputs))
    algorithm = chosen(forest, len(X), algorithm)
    if _leaves_out_last(forest, outputs):
        most = _attribute(forest, X, outputs[:-1], rows, algorithm)
        return _with_dependent(most, results.zeros(shape))
    return _attribute(forest, X, outputs, rows, algorithm, results.zeros(shape))


def tree_shap_one(forest, X, output, algorithm="auto") -> np.ndarray:
    """Compute path-dependent TreeSHAP for one output of each row, ``output[i]`` of row i."""
    algorithm = chosen(forest, len(X), algorithm)
    if forest.n_outputs == 2 and outputs_add_up(forest):
        first = _attribute(forest, X, np.zeros(1, np.int64), np.arange(len(X)), algorithm)[:, :, 0]
        return np.where(output[:, None] == 0, first, -first)
    out = np.empty((len(X), forest.n_features))
    for c in np.unique(output):
        rows = np.flatnonzero(output == c)
        out[rows] = _attribute(forest, X, np.array([c], np.int64), rows, algorithm)[:, :, 0]
    return out


def skip_dependent_output(forest, outputs, explain) -> np.ndarray:
    """Call ``explain(outputs)`` without the last output where the others determine it.

    If these are all outputs and they add up to the same at every leaf, their attributions add up to
    0. Then the last output is not explained: it is minus the sum of the others.
    """
    if not _leaves_out_last(forest, outputs):
        return explain(outputs)
    return _with_dependent(explain(outputs[:-1]))


def _leaves_out_last(forest, outputs):
    return len(outputs) == forest.n_outputs > 1 and outputs_add_up(forest)


def _with_dependent(most, out=None):
    return np.concatenate([most, -most.sum(axis=2, keepdims=True)], axis=2, out=out)


@cached_per_forest
def expected_value(forest) -> np.ndarray:
    """Return the prediction if no feature is known: cover-weighted mean, (n_outputs,)."""
    total = leaf_means.expectations(forest).sum(axis=0)
    return readonly(forest.base + (total / forest.n_trees if forest.aggregate == "mean" else total))


@cached_per_forest
def of_groups(forest, names, group_of):
    """Return the forest with groups as features; its nodes compare the same columns."""
    numbers = np.array([*group_of, -1], np.int32)  # leaves have feature -1
    grouped = copy(forest)
    changed = {"feature": readonly(numbers[forest.feature]), "column": columns(forest)}
    # Not by `dataclasses.replace`: a Forest of its own has no columns beside its features.
    for name, value in {**changed, "feature_names": names}.items():
        object.__setattr__(grouped, name, value)
    return grouped


def _attribute(forest, X, outputs, rows, algorithm, out=None):
    if out is None:
        out = np.zeros((len(rows), forest.n_features, len(outputs)))
    # One type for the compiled code; float32 and their thresholds lose nothing. What has this type
    # is not copied: the view alone cannot be written to.
    (X,) = as_readonly(np.asarray(X, np.float64))
    _ATTRIBUTE[algorithm](forest, outputs, X, rows, out)
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return out


def chosen(forest, n_rows, algorithm="auto") -> str:
    """Return the algorithm that costs least for so many rows, unless one is given."""
    if algorithm != "auto":
        return algorithm
    # "blocks" and "rows" give a row the same bytes. "tables" do not, so a call that takes its rows
    # in chunks chooses once for all of them.
    if outcome_tables.pays(forest, n_rows):
        return "tables"
    return "rows" if n_rows <= FEW_ROWS else "blocks"
