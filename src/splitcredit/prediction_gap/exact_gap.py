"""Compute PG^2, PGI^2 and PGU^2 of gajewski2025, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from splitcredit.kernels.nodes import outputs_add_up, owners
from splitcredit.kernels.prediction_gap import exact
from splitcredit.kernels.prediction_gap.gap_forest import gap_forest
from splitcredit.models.by_columns import ForestByColumns
from splitcredit.models.formats import to_forest
from splitcredit.models.opened import Opened
from splitcredit.models.prediction import OutputIndex, chosen_outputs
from splitcredit.prediction_gap._categories import gaps_of_pairs
from splitcredit.prediction_gap._tails import tails
from splitcredit.prediction_gap.perturbations import (
    Empirical,
    Marginal,
    checked_scale,
    of_features,
    perturbation_of,
)
from splitcredit.rows.names import feature_index, in_order_of_features, with_plain_booleans
from splitcredit.rows.tables import numeric

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Bytes of tail probabilities, and of masks, kept at a time.
CHUNK = 1 << 24
# Largest sum of leaf values whose square, times the probabilities of many leaves, is finite.
_LARGEST = 1e150


def pg2(
    model: object,
    X: ArrayLike,
    features: object,
    perturbation: object = None,
    scale: object = 1.0,
    output: str | int | None = None,
) -> np.ndarray:
    """Compute the squared prediction gap E[(f(x) - f(x'))^2] (gajewski2025, Eq. 2), exactly.

    x' is x with independent noise on some features. PGI^2 and PGU^2, its means over the first
    features of rankings, are metrics of `splitcredit.faithfulness`.

    Parameters
    ----------
    model : fitted model or Forest
        Anything `splitcredit.to_forest` accepts. f is what `Forest.predict` gives.
    X : array-like or DataFrame (n_samples, n_features)
    features : bool (n_features,) or (n_samples, n_features), or list of names or indices, or one
        Which are perturbed: the same for all rows, or row by row. A mask that is a Series, a
        DataFrame or a dict goes by names.
    perturbation : str, noise, FeatureWise or Marginal, optional
        ``"normal"`` by default, ``"laplace"``, ``"uniform"``, or an object of `perturbations`.
    scale : float, (n_features,), Series or dict by feature
        What the noise is multiplied by, in units of the features.
    output : str or int, optional
        Name or index; not needed if there is one, or two that add up to the same everywhere, as
        the fractions of two classes do: then both have the same gaps.

    Returns
    -------
    float64 (n_samples,), in squared units of the prediction

    Raises
    ------
    ValueError
        If the arguments do not fit the model, or a perturbed value is NaN.
    TypeError
        If `perturbation` is not a perturbation.

    Notes
    -----
    `kernels/prediction_gap/exact.py` derives the form that is used here, as algorithm 1 of
    gajewski2025 can divide 0 by 0. The result of a row has the same bytes for any other rows and
    any number of threads. Relative errors are 1e-16 to 1e-13; where trees cancel, the absolute
    error is at most about 2**-106 times what cancels. Where only a small share s of a tail is
    between two thresholds, it is 1e-16 / s. Leaves that x' reaches with a probability below 1e-200
    are left out: a gap that only they make, as of normal noise beyond 30 scales, is 0.

    `Empirical` noise is added to X as given, and noise with a density to the values as the model
    reads them. scikit-learn and XGBoost read single precision, whose numbers near 1.7e9, a time in
    seconds, are 128 apart: there the scale must be far above 128, or time must begin later.

    Examples
    --------
    >>> from splitcredit.prediction_gap.exact_gap import pg2
    >>> pg2(model, X[:2], [0, 1], scale=0.1).round(3)
    array([0.073, 2.161])
    >>> pg2(model, X[:2], [0, 1], "uniform", scale=[0.1, 0.2, 0, 0, 0]).round(3)
    array([0.   , 3.136])
    """
    problem, rows = problem_and_rows(model, X, perturbation, scale, output)
    masks = chosen_features(problem.forest, features, len(rows))
    return problem.gaps(rows, masks[:, None])[:, 0]


def problem_and_rows(model, X, perturbation, scale, output):
    """Return the problem of a model, and the rows of X to perturb."""
    opened = Opened(model, X)
    problem = GapProblem(opened.forest, perturbation, scale, output)
    return problem, rows_to_perturb(opened.forest, opened.rows, problem.perturbation)


class GapProblem:
    """The gap of one output under one perturbation, for any rows and sets of features."""

    def __init__(self, model, perturbation, scale, output):
        self.forest = to_forest(model)
        is_by_columns = isinstance(self.forest, ForestByColumns)
        # Noise is added to what the nodes compare, whose owners are the features of the sets.
        self.noisy = self.forest.transformed if is_by_columns else self.forest
        self.owner = owners(self.forest)[-self.noisy.n_features :]
        self.perturbation = given = of_features(perturbation_of(perturbation), self.noisy)
        d, drawn = self.forest.n_features, getattr(given, "rows", np.empty((1, 0)))
        # Prepared rows of a forest with categories have columns beside the features.
        self.by_categories = bool(self.forest.categories) and drawn.shape[1] > d
        if self.by_categories:
            self.scales = checked_scale(Marginal(np.zeros((1, d))), scale, self.forest)
        else:
            refuse_special_values(self.noisy)
            self.scales = checked_scale(given, scale, self.noisy)
        refuse_huge_values(self.forest)
        self.output = only_output(self.forest, output)

    @cached_property
    def gap_forest(self):
        """The trees as the exact gap needs them; see `kernels.prediction_gap.gap_forest`."""
        return gap_forest(self.noisy, self.output)

    def gaps(self, X, masks, done=None) -> np.ndarray:
        """Compute PG^2 for sets of each row, bool (n_samples or 1, n_sets, n_features)."""
        n_sets, d = masks.shape[1:]
        perturbed = np.broadcast_to(masks.any(axis=1), (len(X), d))
        out = np.empty((len(X), n_sets))
        for rows in self.chunks(X, perturbed, n_sets):
            n = len(X[rows])
            sets = masks[rows] if len(masks) == len(X) else np.repeat(masks, n, axis=0)
            row_of_set = np.repeat(np.arange(n), n_sets)
            report = done and partial(report_share, done, n)
            of_pairs = self.of_pairs(X[rows], perturbed[rows])
            out[rows] = of_pairs(row_of_set, sets.reshape(-1, d), report).reshape(-1, n_sets)
        return out

    def of_pairs(self, X, wanted):
        """Make a function of row numbers of X, their sets and `done` that gives PG^2."""
        if self.by_categories:
            drawn = self.perturbation.rows
            return gaps_of_pairs(self.forest, self.output, drawn, X, self.tested)
        of_sets = partial(exact.gaps, self.gap_forest, *self.with_tails(*self.spread(X, wanted)))
        return lambda rows, sets, done=None: of_sets(rows, self.spread(X, sets)[1], done)

    def spread(self, X, sets):
        """Return rows and sets of features as the perturbed forest has them."""
        return X[:, -len(self.owner) :], np.take(sets, self.owner, axis=1)

    @property
    def tested(self) -> np.ndarray:
        """Whether a split that separates values tests each feature, bool (n_features,)."""
        if self.by_categories:
            return tested_features(self.forest)
        tested = np.diff(self.gap_forest.first["cut"]) > 0
        return np.bincount(self.owner, tested, self.forest.n_features) > 0

    def curve(self, X, rankings, important, done=None) -> np.ndarray:
        """Compute PG^2 of the first 1, 2, ... features, or of all others; see `gaps`."""
        (n, d), is_tested = (len(X), self.forest.n_features), tested_features(self.forest)
        if rankings.shape[1] != d:
            raise ValueError(
                f"rankings have {rankings.shape[1]} of the {d} features: rank all of them "
                f"(top={d}), or measure the gap of those with metric='pg2'"
            )
        place = np.argsort(rankings, axis=1)[:, is_tested]
        place = np.argsort(np.argsort(place, axis=1), axis=1)  # among those that are tested
        n_sets = place.shape[1] + 1
        by_count, n_together = np.empty((n, n_sets)), max(1, CHUNK // d)
        step = max(1, n_together // n_sets)
        for i in range(0, n, step):
            for counts in np.split(np.arange(n_sets), range(n_together, n_sets, n_together)):
                rows = slice(i, i + step)
                masks = np.zeros((len(X[rows]), len(counts), d), np.bool_)
                masks[:, :, is_tested] = (place[rows, None] < counts[:, None]) == important
                report = done and partial(report_share, done, len(counts) / n_sets)
                by_count[rows, counts] = self.gaps(X[rows], masks, report)
        return np.take_along_axis(by_count, is_tested[rankings].cumsum(axis=1), axis=1)

    def chunks(self, X, wanted, n_sets=1):
        """Yield slices of rows whose tails and masks fit `CHUNK`; refuse perturbed NaN."""
        if self.by_categories:
            bytes_a_row = self.forest.n_nodes
        else:
            refuse_nan(self.noisy, *self.spread(X, wanted))
            bytes_a_row = 8 * len(self.gap_forest.cuts.lowered)
        bytes_a_row += n_sets * self.forest.n_features
        step = max(1, CHUNK // bytes_a_row)
        return [slice(i, i + step) for i in range(0, len(X), step)]

    def with_tails(self, X, wanted) -> tuple[np.ndarray, np.ndarray]:
        """Return rows as the model reads them, and their `tails`; both in float64."""
        tail = tails(self.gap_forest.cuts, self.noisy, self.perturbation, X, wanted, self.scales)
        return X.astype(self.forest.x_dtype, copy=False).astype(np.float64), tail


def report_share(done, n_rows, share):
    """Call `done` with the number of rows that are a share of so many."""
    done(share * n_rows)


def tested_features(forest) -> np.ndarray:
    """Return whether a split tests each feature, bool (n_features,)."""
    tested = np.zeros(forest.n_features, np.bool_)
    tested[forest.feature[forest.feature >= 0]] = True
    return tested


def rows_to_perturb(forest, X, perturbation) -> np.ndarray:
    """Return rows to add noise to: as the model reads them, or as given for discrete noise.

    Its values meet thresholds, on grids such as tenths, where only the given value decides rightly.
    """
    rows = forest.prepare(X)
    noises = getattr(perturbation, "noises", [perturbation])
    has_atoms = np.array([isinstance(noise, Empirical) for noise in noises])
    if rows.dtype == np.float64 or not has_atoms.any():
        return rows
    given = numeric(forest.in_order(X), np.float64)
    return np.ascontiguousarray(np.where(has_atoms, given, rows.astype(np.float64)))


def only_output(forest, output) -> int:
    """Return the index of the named output, the only one, or the second of two that add up."""
    if output is None and forest.n_outputs == 2 and outputs_add_up(forest):
        return 1
    if output is None and forest.n_outputs > 1:
        raise ValueError(
            f"the model has {forest.n_outputs} outputs: choose one with output=, by index or by "
            f"name in {list(forest.output_names)}"
        )
    outputs = chosen_outputs(forest, OutputIndex(0) if output is None else output, "")
    if len(outputs) != 1:
        raise ValueError("output='all': a gap is measured for one output, give its index or name")
    return int(outputs[0])


def chosen_features(forest, features, n) -> np.ndarray:
    """Return features as a mask for every row, bool (n, n_features), or raise a ValueError."""
    d = forest.n_features
    features = with_plain_booleans(_mask_by_feature(forest, features), "the mask")
    if getattr(features, "dtype", None) == np.bool_:
        features = in_order_of_features(forest, features, "the mask")
    elif hasattr(features, "columns"):
        features = forest.in_order(features)
    array = np.asarray(features)
    if array.dtype == np.bool_:
        if array.shape not in ((d,), (n, d)):
            raise ValueError(f"features is a mask {array.shape}, expected ({d},) or ({n}, {d})")
        return np.ascontiguousarray(np.broadcast_to(array, (n, d)))
    if array.ndim > 1:
        raise ValueError(
            f"features is a table of {array.dtype}, expected true and false: for ranks, pass the "
            "names or indices of one set of features"
        )
    mask = np.zeros(d, np.bool_)
    for one in [features] if isinstance(features, (str, int, np.integer)) else list(features):
        j = feature_index(forest.feature_names, one, "features")
        if mask[j]:
            raise ValueError(
                f"features names {forest.feature_names[j]!r} twice: of a mask of 0 and 1, pass "
                "mask.astype(bool)"
            )
        mask[j] = True
    return np.ascontiguousarray(np.broadcast_to(mask, (n, d)))


def _mask_by_feature(forest, features):
    """Return a dict of true and false as a mask; ValueError for a dict of numbers."""
    if not hasattr(features, "keys") or hasattr(features, "columns"):
        return features
    is_mapping = isinstance(features, Mapping)
    values = list(features.values()) if is_mapping else []
    if values and all(isinstance(value, (bool, np.bool_)) for value in values):
        return in_order_of_features(forest, features, "the mask")
    labels = {label for label in features.keys() if isinstance(label, str)}
    of_numbers = getattr(getattr(features, "dtype", None), "kind", "") in tuple("iuf")
    if is_mapping or (of_numbers and labels & set(forest.feature_names)):
        raise ValueError(
            f"features is a {type(features).__name__} of numbers by feature: pass a list of "
            "features, or true and false for every feature"
        )
    return features


def refuse_huge_values(forest) -> None:
    """Raise a ValueError if squares of the leaf values, or their sum, may overflow."""
    largest = np.abs(forest.value).max()
    if largest * forest.n_trees > _LARGEST:
        raise ValueError(
            f"leaf values of the model reach {largest:.3g}, and PG^2 has their squares, which a "
            "float64 cannot hold: fit the model to targets in a larger unit"
        )


def refuse_special_values(forest) -> None:
    """Raise a ValueError if features have values that noise cannot be added to."""
    remedy = (
        "draw the values of other rows, noise='marginal' of splitcredit.rank and "
        "splitcredit.faithfulness"
    )
    if forest.categories is not None and len(forest.categories):
        name = forest.feature_names[forest.categories.feature[0]]
        raise ValueError(
            f"the model splits feature {name!r} by categories, to which no noise can be added: "
            f"{remedy}"
        )
    if forest.missing_value is not None:
        raise ValueError(
            f"the model takes {forest.missing_value!r} for a missing value, which noise may hit: "
            f"{remedy}, or fit with NaN as the missing value"
        )


def refuse_nan(forest, X, chosen) -> None:
    """Raise a ValueError that names row and feature if a perturbed value is not a number."""
    refused = ~np.isfinite(X) & chosen
    if refused.any():
        rows, columns = np.nonzero(refused)
        value = "NaN" if np.isnan(X[rows[0], columns[0]]) else "infinity"
        raise ValueError(
            f"X holds {value} in row {rows[0]}, feature {forest.feature_names[columns[0]]!r}, "
            "which is to be perturbed: impute it, leave the feature out, or draw values of other "
            "rows, noise='marginal' of splitcredit.rank and splitcredit.faithfulness"
        )
