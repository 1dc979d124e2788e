"""Compare the model's own prediction with the prediction of the trees made of it."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.nodes import cached_per_forest, largest_values
from splitcredit.models.formats import format_of
from splitcredit.models.formats.containers import first_rows
from splitcredit.rows.tables import rows_at

# Rows of a call that are compared.
COMPARED = 3
_COLUMNS = "pass the columns that the model was fitted on"
_WITHOUT = "check_additivity=False (--no-check) leaves the check out"
# How far a method of a subclass may round in another way, as a share of the largest number.
_ALIKE = 1e-6


def check(opened, offset=None, piece=None, of_class=False) -> None:
    """Compare totals of `piece`, or of the trees, with the model's prediction for a few rows."""
    library, inner, forest = opened.format, opened.inner, opened.forest
    X, table = opened.given, opened.rows
    n_samples = table.shape[0] if piece is None else len(piece.values)
    if not library.predicts or n_samples == 0:
        return
    rows = sorted({0, n_samples // 2, n_samples - 1})
    has_offset = offset is not None and hasattr(X, "num_row")  # of a DMatrix or Pool
    if has_offset:
        rows = list(range(min(n_samples, COMPARED)))
    given = as_the_model_takes_them(forest, rows_at(table, rows))
    check_replaced(inner, given, of_class)
    if inner is not opened.model:
        check_replaced(opened.model, lambda: rows_at(X, rows), of_class)
    predicted = None
    if not library.is_slow(inner):
        predicted = own_prediction(inner, forest, first_rows(X, COMPARED) if has_offset else given)
    if predicted is not None:
        predicted, name = predicted[: len(rows)], f"this {type(inner).__name__}"
        allowed = rounding(forest) + 2.0**-23 * np.abs(predicted).max()
        if piece is None:
            ours = forest.predict(rows_at(table, rows)) + (0 if offset is None else offset[rows])
            compare(ours, predicted, allowed, "its trees predict", name, rows)
        else:
            values = piece.values[rows]
            baseline = np.broadcast_to(piece.baseline, (n_samples, values.shape[2]))[rows]
            ours = values.sum(axis=1, dtype=np.float64) + baseline
            allowed += 2.0**-23 * np.abs(values).sum(axis=1).max()  # they may be float32
            compare(ours, predicted, allowed, "the attributions add up to", name, rows)


def compare(one, other, allowed, what_one_does, what_other_is, rows=None, remedy=_COLUMNS) -> None:
    """Compare two predictions of some rows, (n_samples, n_outputs); ValueError if they differ."""
    with np.errstate(invalid="ignore"):
        gap = abs(one - other)
        right = (gap <= allowed) | (one == other) | (np.isnan(one) & np.isnan(other))
    if not right.all():
        i, c = np.argwhere(~right)[0]
        raise ValueError(
            f"additivity check: for row {i if rows is None else rows[i]} {what_one_does} "
            f"{one[i, c]:.9g}, and {what_other_is} gives {other[i, c]:.9g}, {gap[i, c]:.3g} away: "
            f"{remedy}; {_WITHOUT}"
        )


@cached_per_forest
def rounding(forest) -> float:
    """Bound the error of a sum over the trees in single precision.

    Each of the additions is off by at most 2**-24 of the largest partial sum, which the sum of the
    largest values of all trees bounds. Twice as much is allowed, for the rounding of the values.
    """
    largest = largest_values(forest)
    total = largest.mean() if forest.aggregate == "mean" else largest.sum()
    return float(2.0**-23 * (forest.n_trees + 1) * (total + abs(forest.base).max()))


def as_the_model_takes_them(forest, rows):
    """Return rows in the order of the features, with labels where the model knows them."""
    return forest.prepare(rows) if forest.categories is None else forest.in_order(rows)


def check_replaced(model, rows, of_class=False) -> None:
    """Compare a method that a subclass overrides with the library's method."""
    scores = "predict_proba", "decision_function", "score_samples"
    names = [name for name in scores if hasattr(model, name)]
    for name in [*names, "predict"] if of_class or not names else names:
        base = format_of(model).replaced_method(model, name)
        if base is None:
            continue
        try:
            X = with_names(model, rows() if callable(rows) else rows)
            own, plain = np.ravel(getattr(model, name)(X)), np.ravel(getattr(base, name)(model, X))
            is_number = own.dtype.kind in "biuf" and plain.dtype.kind in "biuf"
            if not is_number and own.dtype.kind != plain.dtype.kind:
                continue  # a label in place of its number
            differ = own != plain
            if is_number:
                differ = ~np.isclose(own, plain, _ALIKE, _ALIKE * abs(plain).max(), equal_nan=True)
        except Exception:  # the model's own
            continue
        if differ.any():
            k = int(np.argmax(differ))
            away = f", {abs(float(own[k]) - float(plain[k])):.3g} away" if is_number else ""
            raise ValueError(
                f"additivity check: {type(model).__name__}.{name} gives {own[k]}, and that of "
                f"{base.__name__}, whose trees are explained, {plain[k]}{away}; {_WITHOUT}"
            )


def own_prediction(model, forest, X) -> np.ndarray | None:
    """Predict by the model's own library, (n_samples, n_outputs); None if it fails."""
    try:
        raw = format_of(model).own_prediction(model, forest, X)
        return None if raw is None else np.asarray(raw, np.float64).reshape(-1, forest.n_outputs)
    except Exception:  # the model's own, such as one that was made by another release
        return None


def with_names(model, X):
    """Return rows with names of columns if the model was fitted with them, else without."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and not hasattr(X, "columns"):
        import pandas as pd

        return pd.DataFrame(X, columns=names)
    return X.to_numpy() if names is None and hasattr(X, "to_numpy") else X
