"""Transform predictions for interventional TreeSHAP, by slopes of the transform's chords.

Let m(x) be the margin, the sum of the trees, and g the curve that makes what is to be explained of
it. For one background row z the attributions are the Shapley values of the margin times the slope
(g(m(x)) - g(m(z))) / (m(x) - m(z)) of the chord, and 1 where the margins are equal. So they add up
to g(m(x)) - g(m(z)). This is the definition of shap (``dense_independent`` of its C extension).
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from splitcredit.models.formats import are_targets
from splitcredit.models.formats.units import refusal
from splitcredit.models.training import number_of, targets_of
from splitcredit.rows.tables import numbers, refuse_masked

# Where two exponentials of this many nats apart still have a finite quotient.
_FINITE = 700.0
# What the raw prediction of a model must be for a curve; see `splitcredit.models.formats.units`.
_UNITS = {
    "probability": ("tree_output", ("log_odds", "class_scores")),
    "log_loss": ("objective", ("binary_crossentropy", "cross_entropy")),
    "squared_error": ("objective", ("squared_error",)),
}


def check_model(opened, name) -> None:
    """Refuse a fitted model whose raw prediction a transform does not fit."""
    library = opened.format
    if name not in CURVES or not library.has_units:
        return
    (kind, needed), given = _UNITS[name], opened.units
    if getattr(given, kind) not in needed:
        raise refusal(name, kind, " or ".join(needed), given, library.called(opened.inner))


def check(forest, name, y, n_rows) -> np.ndarray | None:
    """Check that a transform fits the forest, and return the targets that it may need."""
    if name not in CURVES:
        available = ", ".join(["raw", *CURVES])
        raise ValueError(f"unknown model_output {name!r}: available are {available}")
    of_classes = forest.aggregate == "sum" and not are_targets(forest) and name != "squared_error"
    if forest.n_outputs != 1 and not of_classes:
        raise ValueError(
            f"model_output={name!r} needs a forest with one output, or boosted scores of classes, "
            f"and this one has {forest.n_outputs}: explain model_output='raw'"
        )
    if name == "probability":
        return None
    if y is None:
        raise ValueError(f"model_output={name!r} needs the targets of the rows: pass y")
    if forest.n_outputs > 1:
        return targets_of(forest, y, n_rows)
    refuse_masked(y, "y")
    y = np.asarray(y)
    if y.shape != (n_rows,):
        raise ValueError(f"y has shape {y.shape}, expected {(n_rows,)}: one target for each row")
    if name == "log_loss" and not np.isin(y, (0, 1)).all():
        raise ValueError(
            "y holds other values than 0 and 1: for the log loss pass 1 for the class whose "
            f"score the forest predicts ({forest.output_names[0]!r}), else 0"
        )
    if name == "log_loss" and y.dtype != np.bool_:
        _refuse_other_label(forest, y)
    y = numbers(y, "y")
    if not np.isfinite(y).all():
        raise ValueError("y holds NaN or infinities: leave these rows out")
    return y


def _refuse_other_label(forest, y):
    """Refuse 1 where it may be the label of the class without a score."""
    scored = forest.output_names[0]
    if number_of(scored) not in (None, 1.0) and (y == 1).any():
        raise ValueError(
            f"y holds 1, which may mean another class than the one whose score the forest predicts "
            f"({scored!r}): pass True for this class and False for the other, as y == {scored} does"
        )


def transformed(name, margin, y=None) -> np.ndarray:
    """Transform margins by the curve of that name; see `CURVES` for units."""
    return CURVES[name][0](margin, y)


def slopes(name, margin, background, y=None) -> np.ndarray:
    """Return slopes of the chords between margins and background, (n_samples, n_background)."""
    targets = None if y is None else y[:, None]
    margin, background = np.broadcast_arrays(margin[:, None], background)
    slope = CURVES[name][1](margin, background, targets)
    return np.where(margin == background, 1.0, slope)


def _probability(margin, y):
    return expit(margin)


def _probability_slope(a, b, y):
    """Use expit(a) - expit(b) = expit(a) expit(-b) (1 - exp(b - a)): nothing cancels."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    return expit(high) * expit(-low) * _per_unit(-np.expm1(low - high), high - low)


def _log_loss(margin, y):
    return np.logaddexp(0.0, np.where(y == 1, -margin, margin))


def _log_loss_slope(a, b, y):
    """Use that the loss of class 1 is the loss of class 0 at the negative margins."""
    return np.where(y == 1, -_softplus_slope(-a, -b), _softplus_slope(a, b))


def _softplus_slope(a, b):
    """Take log(1 + exp(m)) near by the logarithm of a quotient; far, no digits are lost."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    rise = high - low
    near = np.log1p(expit(low) * np.expm1(np.minimum(rise, _FINITE)))
    far = np.logaddexp(0.0, high) - np.logaddexp(0.0, low)
    return _per_unit(np.where(rise < _FINITE, near, far), rise)


def _squared_error(margin, y):
    return (margin - y) ** 2


def _squared_error_slope(a, b, y):
    return (a - y) + (b - y)


def _per_unit(rise, run):
    """Divide; 1 where both are 0, which `slopes` replaces."""
    return np.divide(rise, run, out=np.ones_like(run), where=run > 0)


# Name -> the curve, of margins and targets, and the slope of its chords.
CURVES = {
    "probability": (_probability, _probability_slope),  # of the class that the margin speaks for
    "log_loss": (_log_loss, _log_loss_slope),  # nats
    "squared_error": (_squared_error, _squared_error_slope),  # squared units of the target
}
