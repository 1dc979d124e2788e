"""Compute Shapley interaction values of trees: what features add beyond their single effects."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from splitcredit.kernels.interactions import explain as kernel
from splitcredit.kernels.interactions.sets import check_size, present_sets
from splitcredit.kernels.tree_shap.explain import expected_value
from splitcredit.kernels.walks import predict
from splitcredit.measures._calls import checked
from splitcredit.models.opened import Opened
from splitcredit.models.prediction import of_chosen_outputs, prepared_background
from splitcredit.results.attribution import frame_of, largest
from splitcredit.results.plots.kinds import matrix
from splitcredit.results.plots.results import explanation
from splitcredit.results.stored import Shown, more
from splitcredit.rows.names import feature_index, index_of
from splitcredit.rows.tables import check_whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_KNOWS_MEMORY = hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names


@dataclass(frozen=True, eq=False, repr=False)
class Interactions(Shown):
    """Interaction values, row by row and output by output, with their labels.

    Parameters
    ----------
    values : float64
        Without `sets`, (n_samples, n_features, n_features, n_outputs): a symmetric matrix for every
        row and output, as shap's. Half of the Shapley interaction index of j and k is at [j, k] and
        half at [k, j]. Row j adds up to the Shapley value of j, by the diagonal.
        With `sets`, (n_samples, n_sets, n_outputs): the whole Shapley interaction index of each.
    sets : int64 (n_sets, order), optional
        Features of each set, by their indices, in rising order.
    baseline : float64 (n_outputs,) or (n_samples, 1)
        Expected prediction when no feature is known. The matrix of a row adds up to its prediction
        less the baseline.
    feature_names, output_names, parameters, output_index, index
        See `splitcredit.Attribution`.
    """

    values: np.ndarray
    sets: np.ndarray | None
    baseline: np.ndarray
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...]
    parameters: dict = field(default_factory=dict)
    output_index: np.ndarray | None = None
    index: Any = None

    def __repr__(self):
        n, k = len(self.values), self.values.shape[-1]
        if self.sets is None:
            content = f"{len(self.feature_names)} x {len(self.feature_names)} features"
        else:
            content = f"{len(self.sets)} sets of {self.sets.shape[1]} features"
        return f"Interactions({n} samples, {content}, {k} outputs)"

    def to_frame(self):
        """Convert to a DataFrame of the matrix or the sets, with a row for each row and output.

        Returns
        -------
        pandas.DataFrame
            Columns sample, output, and one for each pair or set, named by its features with
            `` x `` between them. A pair of the matrix has both its halves; a single feature has
            its entry of the diagonal. Labels of rows are as in `splitcredit.Attribution.to_frame`.
        """
        sets, values = self.sets, self.values
        if sets is None:
            j, k = np.triu_indices(len(self.feature_names))
            values = values[:, j, k] * np.where(j == k, 1.0, 2.0)[:, None]
            sets = [(a,) if a == b else (a, b) for a, b in zip(j, k, strict=True)]
        names = [" x ".join(self.feature_names[j] for j in features) for features in sets]
        return frame_of(values, names, self.output_names, self.index)

    def _summary(self):
        """Tabulate the largest mean absolute interactions, a column for each output."""
        sets, values = self.sets, self.values
        if sets is None:  # a pair has its interaction in two places of the matrix
            sets = np.stack(np.triu_indices(len(self.feature_names), 1), axis=1)
            values = 2.0 * values[:, sets[:, 0], sets[:, 1]]
        mean = np.abs(values).sum(axis=0) / max(len(values), 1)
        names = self.feature_names
        frame = largest(
            "features", mean, lambda i: " x ".join(names[j] for j in sets[i]), self.output_names
        )
        return frame, more(len(sets), "pairs" if sets.shape[1] == 2 else "sets")

    def plot(self, ax=None, output=None, top: int = 10):
        """Draw the mean absolute interaction of each pair of the largest features.

        A pair has its whole interaction, both halves; the diagonal has the mean absolute main
        effects, in gray, with shades of their own. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure if not given.
        output : str or int, optional
            Name or index of the output to draw; not needed if there is one.
        top : int
            Most features that are drawn: those with the largest sums of absolute values.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ValueError
            If these are values of sets or of no rows, or there is no such output.
        """
        check_whole("top", top, 1)
        if self.sets is not None or len(self.values) == 0:
            raise ValueError(
                "a plot shows the matrix of all pairs, for at least one row: call interactions "
                "without sets, and with order=2"
            )
        if output is None and len(self.output_names) > 1:
            raise ValueError(
                f"a plot shows one output: pass output=, one of {list(self.output_names)[:10]}"
            )
        index = index_of(self.output_names, 0 if output is None else output, "output")
        return matrix(self, ax, index, top)

    def to_shap(self, X=None):
        """Convert to a ``shap.Explanation``, for shap's plots; needs shap.

        Parameters
        ----------
        X : array-like or DataFrame (n_samples, n_features), optional
            The rows that were explained, as the trees see them: plots show their values.

        Returns
        -------
        shap.Explanation
            Values are (n_samples, n_features, n_features), with n_outputs behind it if there are
            several.

        Raises
        ------
        ModuleNotFoundError, ValueError
            If shap is not installed, these are values of sets, or X are other rows.
        """
        if self.sets is not None:
            remedy = "call interactions without sets, with order=2"
            raise ValueError(f"shap shows a matrix of all pairs: {remedy}")
        return explanation(self, X)


@checked
def interactions(
    model: object,
    X: ArrayLike,
    output: str | int = "all",
    sets: object = None,
    background: ArrayLike | None = None,
    order: int = 2,
    check_additivity: bool = True,
    *,
    features: Literal["columns", "transformed"] = "columns",
) -> Interactions:
    """Compute exact Shapley interaction values of a fitted forest.

    The Shapley interaction index (Grabisch and Roubens 1999) of a set T is the weighted mean, over
    the sets S of other features, of the difference that T makes as a whole: for a pair,
    v(S, j, k) - v(S, j) - v(S, k) + v(S). Without a background, v is defined as for
    path-dependent TreeSHAP; with one, as for interventional TreeSHAP.

    Parameters
    ----------
    model : fitted model or Forest
        Anything `splitcredit.to_forest` accepts.
    X : array-like or DataFrame (n_samples, n_features)
    output : "all", "predicted", or the name or index of one output
        ``"predicted"`` explains, for each row, its own predicted class.
    sets : feature, or sequence of sequences of features, optional
        What to explain instead of the whole matrix: all sets with one feature that occur together
        on some path, or given sets of `order` features. Features are names or indices. Where there
        are many features, this is much faster and smaller than the matrix.
    background : array-like or DataFrame (n_background, n_features), optional
        The rows that unknown features are taken from.
    order : int
        Number of features in a set. If it is not 2 and `sets` is not given, all sets are explained
        that occur together on some path; all others have the value 0.
    check_additivity : bool
        See `splitcredit.explain`.
    features : {"columns", "transformed"}
        What the matrix of a pipeline is by, as in `splitcredit.explain`: a pair of columns has the
        sum over the pairs of their features. Sets are always of transformed features.

    Returns
    -------
    Interactions
        In units of the prediction.

    Raises
    ------
    TypeError, ValueError
        As `splitcredit.explain`, and if there is no such feature, the sets are not sets of `order`
        features, or the matrices are larger than the memory.

    Notes
    -----
    Grabisch and Roubens, "An axiomatic approach to the concept of interaction among players in
    cooperative games", International Journal of Game Theory 28 (1999). Lundberg et al., "From local
    explanations to global understanding with explainable AI for trees", Nature Machine
    Intelligence 2 (2020), define the matrix.

    Examples
    --------
    >>> pairs = splitcredit.interactions(model, X[:3], output=0)
    >>> pairs
    Interactions(3 samples, 4 x 4 features, 1 outputs)
    >>> shap = splitcredit.explain(model, X[:3], output=0)
    >>> bool(abs(pairs.values.sum(axis=2) - shap.values).max() < 1e-12)
    True
    >>> splitcredit.interactions(model, X[:3], sets=[["petal length (cm)", "petal width (cm)"]])
    Interactions(3 samples, 1 sets of 2 features, 3 outputs)
    """
    opened = Opened(model, X, background, features=features).checked(check_additivity)
    forest: Any = opened.forest
    background = opened.background
    X = forest.prepare(opened.rows)
    if background is not None:
        background = prepared_background(forest, background)
    set_indices = None if sets is None and order == 2 else _chosen_sets(forest, sets, order)
    of_all = partial(_values, sets=set_indices, background=background)
    of_rows = partial(_of_own_outputs, sets=set_indices, background=background)
    mean = expected_value(forest)
    if background is not None:
        mean = predict.predict(forest, background).mean(axis=0)
    of_outputs = of_chosen_outputs(forest, X, output, of_all, of_rows, mean)
    values, baseline, names, index = of_outputs
    parameters = {"output": output if isinstance(output, str) else int(output), "order": int(order)}
    columns, labels = forest.feature_names, opened.index
    if set_indices is None and opened.columns is not None:
        columns, members, called = opened.columns
        for axis in (1, 2):
            values = np.stack([values.take(own, axis).sum(axis) for own in members], axis)
        parameters |= called
    return Interactions(values, set_indices, baseline, columns, names, parameters, index, labels)


def _values(forest, X, outputs, sets, background):
    """Compute the matrix if `sets` is None, else the index of each set."""
    if sets is None:
        _check_memory(len(X), forest.n_features, len(outputs))
        return kernel.interaction_matrix(forest, X, outputs, background)
    return kernel.interaction_index(forest, X, outputs, sets, background)


def _check_memory(n_samples, n_features, n_outputs):
    """Raise a ValueError if a matrix for every row and output does not fit into memory."""
    needed = 8 * n_samples * n_features**2 * n_outputs
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if _KNOWS_MEMORY else needed
    if needed > memory:
        raise ValueError(
            f"the matrices of {n_samples} rows, {n_features} features and {n_outputs} outputs take "
            f"{needed / 2**30:.1f} GiB, and this machine has {memory / 2**30:.1f}: pass fewer "
            "rows, or by sets the pairs that are wanted"
        )


def _of_own_outputs(forest, X, index, sets, background):
    """Explain output ``index[i]`` of row i; rows with the same output go together."""
    p = forest.n_features
    if sets is None:
        _check_memory(len(X), p, 1)
    values = np.empty((len(X), p, p) if sets is None else (len(X), len(sets)))
    for c in np.unique(index):
        rows = np.flatnonzero(index == c)
        values[rows] = _values(forest, X[rows], np.array([c]), sets, background)[..., 0]
    return values


def _chosen_sets(forest, sets, order):
    """Return sets of features by their indices, int64 (n_sets, order), each in rising order."""
    check_whole("order", order, 1)
    if order > forest.n_features:
        raise ValueError(f"order is {order}, and the model has {forest.n_features} features")
    check_size(forest, order)
    if sets is None:
        return present_sets(forest, order)[0]
    if isinstance(sets, (str, int, np.integer)):
        present, feature = present_sets(forest, order)[0], _index(forest, sets)
        return present[(present == feature).any(axis=1)]
    sets = list(sets) if hasattr(sets, "__iter__") else [sets]  # an iterator is read once
    if not all(hasattr(own, "__len__") and not isinstance(own, str) for own in sets):
        raise ValueError(f"sets={sets!r}: expected one feature, or a list of lists of features")
    set_indices = np.zeros((len(sets), order), np.int64)
    for i, features in enumerate(sets):
        indices = sorted({_index(forest, j) for j in features})
        count = len(indices)
        if count != len(features):
            raise ValueError(f"sets: {features!r} names a feature twice: name each once")
        if count != order:
            remedy = f"pass order={count}, or sets of {order}"
            raise ValueError(f"sets: {features!r} has {count} features: {remedy}")
        set_indices[i] = indices
    if len(np.unique(set_indices, axis=0)) < len(set_indices):
        raise ValueError("sets holds the same set twice: pass each once")
    return set_indices


def _index(forest, feature):
    return feature_index(forest.feature_names, feature, "sets")
