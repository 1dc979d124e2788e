"""Define perturbations: what replaces the value of a perturbed feature, or is added to it.

Noise adds to it: x + scale * Z, with a scale of 1 if a measure is given none. It has
``probability_below(t)``, P(Z < t), ``probability_at_most``, ``probability_above`` and
``probability_at_least``, for t of any shape. Any object with these is a perturbation; sampling also
needs ``draw(random, shape)``, which gives independent values of Z by a numpy.random.Generator.
P(Z < t) and P(Z > t) should have a small relative error where they are small. Noise with single
values should be an `Empirical`: its values are compared with thresholds as in the model, and those
of other noise with (threshold - x) / scale, which is rounded.

`Marginal` replaces the value instead. `FeatureWise` has a noise for every feature. `NAMES` are the
noises that have a name.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field

import numpy as np

from splitcredit.rows.names import in_order_of_features, names_of_columns
from splitcredit.rows.tables import numbers, numeric


class _Perturbation:
    """Base of all perturbations: `_drawn` gives the values of `draw`."""

    _drawn: Callable

    def draw(self, random: np.random.Generator, shape):
        """Draw independent values of Z, or values of every feature: float64 of a shape."""
        return self._drawn(random, shape)


class _Continuous(_Perturbation):
    """Symmetric noise without single values: all follows from ``_tail(t)``, P(Z < t)."""

    def probability_below(self, t):
        """Return P(Z < t), float64 of t's shape."""
        return self._tail(np.asarray(t, np.float64))

    def probability_above(self, t):
        """Return P(Z > t), float64 of t's shape."""
        return self._tail(-np.asarray(t, np.float64))

    probability_at_most = probability_below
    probability_at_least = probability_above


@dataclass(frozen=True)
class Normal(_Continuous):
    """Normal noise.

    Parameters
    ----------
    scale : float above 0
        Standard deviation, in units of the scale that a measure is given.

    Examples
    --------
    >>> from splitcredit.prediction_gap.perturbations import Normal
    >>> float(Normal(2.0).probability_below(0.0))
    0.5
    """

    scale: float = 1.0

    def __post_init__(self):
        _check_positive("scale", self.scale)

    def _tail(self, t):
        from scipy.special import ndtr

        return ndtr(t / self.scale)

    def _drawn(self, random, shape):
        return self.scale * random.standard_normal(shape)


@dataclass(frozen=True)
class Laplace(_Continuous):
    """Laplace noise with density ``exp(-|z| / scale) / (2 scale)``.

    Parameters
    ----------
    scale : float above 0
        In units of the scale that a measure is given. The standard deviation is sqrt(2) of it.
    """

    scale: float = 1.0

    def __post_init__(self):
        _check_positive("scale", self.scale)

    def _tail(self, t):
        t = t / self.scale
        small = 0.5 * np.exp(-np.abs(t))
        return np.where(t < 0, small, 1.0 - small)

    def _drawn(self, random, shape):
        return self.scale * random.laplace(size=shape)


@dataclass(frozen=True)
class Uniform(_Continuous):
    """Uniform noise on (-half_width, half_width): a standard deviation of half_width / sqrt(3).

    Parameters
    ----------
    half_width : float above 0
        In units of the scale that a measure is given.
    """

    half_width: float = 1.0

    def __post_init__(self):
        _check_positive("half_width", self.half_width)

    def _tail(self, t):
        inside = np.clip(t, -self.half_width, self.half_width)
        return (self.half_width + inside) / (2 * self.half_width)

    def _drawn(self, random, shape):
        return random.uniform(-self.half_width, self.half_width, shape)


class _OfValues(_Perturbation):
    """Noise of single values: probabilities count the values on one side."""

    values: np.ndarray
    atoms: np.ndarray
    counts: np.ndarray

    def _share(self, t, side):
        return self.counts[np.searchsorted(self.atoms, t, side)] / len(self.values)

    def _share_from(self, t, side):
        below = self.counts[np.searchsorted(self.atoms, t, side)]
        return (len(self.values) - below) / len(self.values)

    def probability_below(self, t):
        """Return P(Z < t), float64 of the shape of t."""
        return self._share(t, "left")

    def probability_at_most(self, t):
        """Return P(Z <= t), float64 of the shape of t."""
        return self._share(t, "right")

    def probability_above(self, t):
        """Return P(Z > t), float64 of the shape of t."""
        return self._share_from(t, "right")

    def probability_at_least(self, t):
        """Return P(Z >= t), float64 of the shape of t."""
        return self._share_from(t, "left")


@dataclass(frozen=True, eq=False)
class Empirical(_OfValues):
    """Noise drawn from a sample, each value equally likely.

    The exact gap counts the values z for which the model, given x + scale * z (added in float64 and
    cast to the forest's `x_dtype`), decides one way: ties with thresholds are as the model's.

    Parameters
    ----------
    values : float64 (n_values,)
        At least one, and finite, else a ValueError is raised.

    Examples
    --------
    >>> from splitcredit.prediction_gap.perturbations import Empirical
    >>> noise = Empirical([-1.0, 0.0, 0.0, 1.0])
    >>> float(noise.probability_below(0.0)), float(noise.probability_at_most(0.0))
    (0.25, 0.75)
    """

    values: np.ndarray
    atoms: np.ndarray = field(init=False, repr=False)
    counts: np.ndarray = field(init=False, repr=False)  # how many values lie below each atom

    def __post_init__(self):
        values = np.sort(numbers(self.values, "values"), axis=None)
        if np.ndim(self.values) != 1 or len(values) == 0 or not np.isfinite(values).all():
            raise ValueError("values must be finite numbers, one dimension, at least one")
        atoms, first = np.unique(values, return_index=True)
        for name, array in (
            ("values", np.array(self.values, np.float64)),
            ("atoms", atoms),
            ("counts", np.append(first, len(values))),
        ):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def _drawn(self, random, shape):
        return random.choice(self.values, shape)


@dataclass(frozen=True, eq=False)
class Marginal(_Perturbation):
    """Replacement by a value of the same feature from other rows, independently for each feature.

    Parameters
    ----------
    rows : array-like or DataFrame (n_rows, n_features)
        Rows to draw values from with equal chance, as the trees see them: for a pipeline, what its
        steps make of rows. Columns with names go by these. No row, or an infinite value, raises a
        ValueError; only `splitcredit.rank` and `splitcredit.faithfulness` draw NaN and codes of
        categories as well.

    Examples
    --------
    >>> from splitcredit.prediction_gap.perturbations import Marginal
    >>> from splitcredit.prediction_gap.exact_gap import pg2
    >>> pg2(model, X[:2], [0, 1], Marginal(X)).round(2)
    array([ 7.71, 15.9 ])
    """

    rows: np.ndarray
    column_names: tuple[str, ...] | None = field(init=False, repr=False)

    def __post_init__(self):
        names = names_of_columns(self.rows)
        object.__setattr__(self, "column_names", None if names is None else tuple(names))
        rows = np.array(numeric(self.rows, np.float64))
        if rows.ndim != 2 or len(rows) == 0 or np.isinf(rows).any():
            raise ValueError("rows must be finite numbers (n_rows, n_features), at least one row")
        rows.flags.writeable = False
        object.__setattr__(self, "rows", rows)

    def _drawn(self, random, shape):
        columns = np.arange(self.rows.shape[1])
        _check_shape(shape, len(columns))
        return self.rows[random.integers(len(self.rows), size=shape), columns]


@dataclass(frozen=True, eq=False)
class FeatureWise(_Perturbation):
    """A noise for every feature, each multiplied by the feature's scale.

    Parameters
    ----------
    noises : sequence of noise, one for each feature; Series or dict by feature
        Objects, or names in `NAMES`. What is no noise raises a TypeError, and no noise at all, an
        unknown name or a `Marginal`, which replaces values, a ValueError.

    Examples
    --------
    >>> from splitcredit.prediction_gap.perturbations import FeatureWise, Laplace, Normal
    >>> FeatureWise([Normal(), Laplace(0.3)]).noises
    (Normal(scale=1.0), Laplace(scale=0.3))
    """

    noises: tuple
    by_name: object = field(init=False, repr=False)

    def __post_init__(self):
        given = self.noises
        has_names = hasattr(given, "keys")
        values = [given[name] for name in given.keys()] if has_names else list(given)
        noises = tuple(perturbation_of(noise) for noise in values)
        if not noises or any(isinstance(noise, (Marginal, FeatureWise)) for noise in noises):
            raise ValueError("noises must hold one noise for each feature, none of them a Marginal")
        object.__setattr__(self, "noises", noises)
        object.__setattr__(self, "by_name", copy(given) if has_names else None)

    def _drawn(self, random, shape):
        _check_shape(shape, len(self.noises))
        columns = [noise.draw(random, tuple(shape[:-1])) for noise in self.noises]
        return np.stack(columns, axis=-1)


# Words for noises that need no data, as the configuration has them.
NAMES = {"normal": Normal, "laplace": Laplace, "uniform": Uniform}
_WORKING = [f"probability_{where}" for where in ("below", "at_most", "above", "at_least")]


def perturbation_of(given):
    """Return the perturbation of a name, normal noise for None, or the object itself."""
    if given is None:
        return Normal()
    if isinstance(given, str):
        if given not in NAMES:
            names = ", ".join(map(repr, NAMES))
            raise ValueError(f"noise {given!r}: available are {names}, or a noise of this module")
        return NAMES[given]()
    if isinstance(given, type) or not isinstance(given, (Marginal, FeatureWise)):
        lacking = [name for name in _WORKING if not hasattr(given, name)]
        if isinstance(given, type) or lacking:
            raise TypeError(
                f"noise={given!r} is not a perturbation: pass a name in {list(NAMES)}, or an "
                "object of splitcredit.prediction_gap.perturbations, such as Laplace(0.3)"
            )
    return given


def of_features(perturbation, forest):
    """Return a `Marginal` or `FeatureWise` in a forest's order of features, by their names."""
    if isinstance(perturbation, FeatureWise) and perturbation.by_name is not None:
        return FeatureWise(in_order_of_features(forest, perturbation.by_name, "FeatureWise"))
    if not isinstance(perturbation, Marginal) or perturbation.column_names is None:
        return perturbation
    import pandas as pd

    rows = pd.DataFrame(perturbation.rows, columns=list(perturbation.column_names))
    try:
        return Marginal(forest.in_order(rows).to_numpy())
    except ValueError as error:
        raise ValueError(f"rows of the Marginal: {error}") from None


def _check_shape(shape, n_features):
    if np.ndim(shape) == 0 or shape[-1] != n_features:
        raise ValueError(f"shape is {shape}, expected (..., {n_features})")


def _check_positive(name, value):
    number = isinstance(value, (int, float, np.integer, np.floating))
    if isinstance(value, bool) or not number or not 0 < value < np.inf:
        raise ValueError(
            f"{name} is {value!r}, expected a number above 0; scales that differ between features "
            "go to scale= of the measure"
        )


def checked_scale(perturbation, scale, forest) -> np.ndarray:
    """Check the scale of every feature's noise, float64 (n_features,)."""
    n_features = forest.n_features
    scales = numbers(in_order_of_features(forest, scale, "scale"), "scale")
    if scales.ndim > 1 or (scales.ndim == 1 and len(scales) != n_features):
        raise ValueError(f"scale has shape {scales.shape}, expected a number or ({n_features},)")
    wrong = ~(scales >= 0) | np.isinf(scales)
    if wrong.any():
        j = int(wrong.argmax())
        of = f" of feature {forest.feature_names[j]!r}" if scales.ndim else ""
        raise ValueError(f"scale{of} is {scales.flat[j]}, expected a finite number, 0 or more")
    if isinstance(perturbation, Marginal):
        if (scales != 1).any():
            raise ValueError("Marginal replaces values: no scale applies, leave it at 1")
        if perturbation.rows.shape[1] != n_features:
            raise ValueError(
                f"Marginal has rows of {perturbation.rows.shape[1]} features, the model was "
                f"fitted on {n_features}"
            )
        missing = np.isnan(perturbation.rows).any(axis=0)
        if missing.any():
            raise ValueError(
                f"Marginal has NaN in feature {forest.feature_names[int(missing.argmax())]!r}: "
                "impute it, or call splitcredit.rank or splitcredit.faithfulness, which draw it"
            )
    if isinstance(perturbation, FeatureWise) and len(perturbation.noises) != n_features:
        raise ValueError(
            f"FeatureWise has {len(perturbation.noises)} noises, the model was fitted on "
            f"{n_features} features"
        )
    return np.array(np.broadcast_to(scales, n_features))
