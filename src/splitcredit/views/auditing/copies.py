"""Fit copies of a model beside noise: permuted copies of its features, and made-up noise.

Nothing in a permuted copy has to do with the targets, so what a measure says of it is a false
alarm, and how much it says is its bias.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import t

from splitcredit.measures.air import _refuse_settings_by_feature
from splitcredit.views.auditing.comparison import FITTED, MEASURES, compared
from splitcredit.views.auditing.subject import Subject, drawn, score, unfitted_copy

# Fits, features that get a permuted copy, and numbers of values of the noise that is made up.
FITS, SHADOWS, LEVELS = 5, 50, (2, 10, 100, 1000)


class Copies(NamedTuple):
    """Importances of features and of noise in several fits, and the score of the copies."""

    values: dict[str, np.ndarray]  # by measure: (FITS, n_features + columns of noise)
    why_not: dict[str, str]  # measures that do not apply, and why
    n_features: int
    n_values: np.ndarray  # distinct values of each column of noise
    score: tuple  # see `subject.score`, on rows kept apart
    permuted: np.ndarray  # the same scores of copies that were fitted on permuted targets
    n_rows: int  # that a copy is fitted on
    n_trees: int

    def lower_ends(self, values):
        """Return lower ends of the 95 % intervals of means over the fits."""
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        return values.mean(axis=0) - t.ppf(0.975, len(values) - 1) * error


def fitted(subject: Subject, done=lambda n: None) -> Copies | str:
    """Fit copies of the model, or say in a line why that cannot be."""
    why = _why_not(subject)
    if why:
        return why
    rng = subject.rng(10)
    table, _, codes, _ = subject.sample(FITTED * 3 // 2, 11)
    rows, apart = _split(codes, subject.classes, rng)
    numbers = subject.numbers(table)
    y_rows, y_apart = codes[rows], codes[apart]
    if subject.classes:  # without gaps between the classes that occur
        present, y_rows = np.unique(y_rows, return_inverse=True)
        is_known = np.isin(y_apart, present)
        apart, y_apart = apart[is_known], np.searchsorted(present, y_apart[is_known])
    p = numbers.shape[1]
    chosen = drawn(subject.rng(12), p, SHADOWS)
    per_measure: dict[str, list] = {}
    why_not: dict[str, str] = {}
    names = [name for name, measure in MEASURES.items() if measure.in_copies]
    try:
        for fit in range(FITS):
            noise = rng.permuted(numbers[:, chosen], axis=0)
            made_up = np.stack([rng.integers(0, k, len(noise)) for k in LEVELS], axis=1)
            wide = np.hstack([numbers, noise, made_up])
            model = unfitted_copy(subject.inner, subject.seed + fit).fit(wide[rows], y_rows)
            data = (wide[rows], y_rows, wide[apart], y_apart)
            found = compared(Subject(model, *data, subject.seed + fit), names)
            why_not |= found.not_applicable
            for name, importance in found.importances.items():
                per_measure.setdefault(name, []).append(importance.values)
            done(1)
        judged = []
        for fit in range(FITS + 1):
            # All copies but the first have permuted targets, also those that they are judged by.
            y_fit, y_judged = (rng.permutation(y) if fit else y for y in (y_rows, y_apart))
            model = unfitted_copy(subject.inner, subject.seed).fit(numbers[rows], y_fit)
            of_copy = Subject(model, numbers[rows], y_fit, None, None, subject.seed)
            scores = of_copy.scores(numbers[apart])
            judged.append(score(scores, y_judged, bool(subject.classes)))
        permuted = np.array([value for value, _ in judged[1:]])
        done(1)
    except Exception as error:  # any error of the estimator
        return f"a copy could not be fitted: {type(error).__name__}: {error}".partition("\n")[0]
    whole = {name: np.array(v) for name, v in per_measure.items() if len(v) == FITS}
    columns = numbers[rows][:, chosen].T
    counts = [max(len(np.unique(column[~np.isnan(column)])), 1) for column in columns]
    n_values = np.array([*counts, *LEVELS])
    return Copies(
        whole, why_not, p, n_values, judged[0], permuted, len(rows), of_copy.forest.n_trees
    )


def _why_not(subject):
    inner = subject.inner
    if not (hasattr(inner, "fit") and hasattr(inner, "get_params")):
        return f"{type(inner).__name__} is not an estimator that can be fitted anew"
    if subject.forest.categories is not None:
        return "the model splits by categories, which permuted copies as numbers would not share"
    try:
        _refuse_settings_by_feature(inner)
    except ValueError as error:
        return str(error)
    return ""


def _split(codes, classes, rng):
    """Return rows to fit on, and a third to keep apart; the same shares of each class."""
    order = rng.permutation(len(codes))
    if classes:
        order = order[np.argsort(codes[order], kind="stable")]
    kept = np.arange(len(order)) % 3 == 0
    return np.sort(order[~kept]), np.sort(order[kept])
