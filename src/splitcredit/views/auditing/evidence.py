"""Fit copies of a model beside permuted copies of all features.

A permuted copy has the values of its feature, and no relation to the outcome. So its importances in
many fits show how large the importance of the feature would be by chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import false_discovery_control

from splitcredit.measures.air import _refuse_settings_by_feature
from splitcredit.views.auditing.comparison import FITTED, MEASURES, compared
from splitcredit.views.auditing.subject import Subject, unfitted_copy
from splitcredit.views.auditing.texts import CHOICES

# Fits, and the share of the features with evidence that may have it by chance (Benjamini-Hochberg).
FITS, FALSE = 20, 0.1
# Trees of a copy.
TREES = 60


class Evidence(NamedTuple):
    """What a measure says of the features beside noise."""

    measure: str
    distance: np.ndarray  # from the mean of the permuted copies, in their standard deviations
    p_values: np.ndarray
    found: np.ndarray  # whether there is evidence
    n_rows: int
    n_trees: int


def of_features(subject: Subject, done=lambda n: None) -> Evidence | str:
    """Compare features with permuted copies of themselves, or say in a line why that cannot be."""
    if why := why_not_fitted(subject):
        return why
    table, _, codes, _ = subject.sample(FITTED, 11)
    numbers, rng, own, noise = subject.numbers(table), subject.rng(10), [], []
    if subject.classes:  # without gaps between the classes that occur
        codes = np.unique(codes, return_inverse=True)[1]
    p, measure = numbers.shape[1], ""
    try:
        for fit in range(FITS):
            wide = np.hstack([numbers, rng.permuted(numbers, axis=0)])
            model = unfitted_copy(subject.inner, subject.seed + fit, TREES).fit(wide, codes)
            copy = Subject(model, wide, codes, None, None, subject.seed + fit)
            measure = measure or chosen("evidence", copy)
            if measure not in MEASURES:
                return "no measure is known to answer this for such a model"
            found = compared(copy, (measure,))
            if measure not in found.importances:
                return found.not_applicable[measure]
            values = found.importances[measure].values
            own.append(values[:p])
            noise.append(values[p:])
            done(1)
    except Exception as error:  # the estimator's own, whatever it is
        return f"a copy could not be fitted: {type(error).__name__}: {error}".partition("\n")[0]
    distance, p_values = compared_with_noise(np.array(own), np.array(noise))
    is_found = false_discovery_control(p_values) <= FALSE
    return Evidence(measure, distance, p_values, is_found, len(codes), copy.forest.n_trees)


def compared_with_noise(own, noise) -> tuple[np.ndarray, np.ndarray]:
    """Measure distances of features from permuted copies, and p-values; inputs are (fits, p).

    The mean of a feature over the fits is held against single fits of its copies, of which it is
    one more draw if it tells nothing; being a mean, it varies less, and the p-value is on the safe
    side. Distances of all copies from the other copies of the same feature are the distribution.
    """
    n, p = noise.shape
    center, spread = noise.mean(axis=0), noise.std(axis=0, ddof=1)
    distance = (own.mean(axis=0) - center) / np.where(spread > 0, spread, np.inf)
    total, squares = noise.sum(axis=0), (noise**2).sum(axis=0)
    without = (total - noise) / (n - 1)
    variance = np.maximum((squares - noise**2) / (n - 1) - without**2, 0) * (n - 1) / (n - 2)
    scale = np.sqrt(variance * (1 + 1 / (n - 1)))
    by_chance = np.sort(((noise - without) / np.where(scale > 0, scale, np.inf)).ravel())
    as_far = distance / np.sqrt(1 + 1 / n)
    above = len(by_chance) - np.searchsorted(by_chance, as_far)
    return distance, (1 + above) / (1 + n * p)


def chosen(question, subject) -> str:
    """Return the answer that the table of choices has for a question and this kind of model."""
    kind = "bagged" if not subject.why_not_bagged else "averaged" if subject.is_averaged else (
        "boosted")  # fmt: skip
    lines = CHOICES[(CHOICES["question"] == question) & CHOICES["kind"].isin([kind, "any"])]
    return lines["answer"].iloc[0]


def why_not_fitted(subject) -> str:
    """Say why no copy can be fitted; empty if one can."""
    inner = subject.inner
    if not (hasattr(inner, "fit") and hasattr(inner, "get_params")):
        return f"{type(inner).__name__} is no estimator that can be fitted anew"
    if subject.forest.categories is not None:
        return "the model splits by categories, which permuted copies as numbers would not share"
    try:
        _refuse_settings_by_feature(inner)
    except ValueError as error:
        return str(error)
    return ""
