"""Correlation of two measures' scores within each row, over the features."""

from itertools import combinations
from typing import Literal

import numpy as np
import pandas as pd

from reproduction.metrics import _local
from reproduction.parameters import ImportanceName

KEYS = ("versus", "reference", "correlation", "sample")
VALUES = ("value",)
IMPORTANCES = 2
SCORES = "local"

CORRELATIONS = ("pearson", "spearman")


def compute(
    attributions,
    pairs: list[tuple[ImportanceName, ImportanceName]] | None = None,
    scores: Literal["signed", "absolute"] = "signed",
) -> pd.DataFrame:
    """Pearson and Spearman correlation of the scores of each pair of measures, row by row.

    Parameters
    ----------
    attributions : dict of str to Attribution, each with one output
    pairs : list of [str, str], optional
        Names of the measures to compare; by default each with every one after it.
    scores : {"signed", "absolute"}
        Whether the scores or their absolute values are correlated.

    Returns
    -------
    DataFrame
        One row a pair, correlation and sample: ``versus`` (second of the pair), ``reference``
        (first), ``correlation``, ``sample``, ``value``; NaN where one of the two is constant.

    Raises
    ------
    ValueError
        If a measure of a pair is missing, has several outputs, or `scores` is unknown.
    """
    if scores not in ("signed", "absolute"):
        raise ValueError(f"scores={scores!r}: expected 'signed' or 'absolute'")
    if pairs is None:
        pairs = combinations(_local.local_names(attributions, None, at_least=2), 2)
    frames = []
    for reference, versus in pairs:
        a, b = (_matrix(attributions, name, scores) for name in (reference, versus))
        for correlation, values in zip(CORRELATIONS, row_correlations(a, b), strict=True):
            frames.append(
                pd.DataFrame(
                    {
                        "reference": reference,
                        "versus": versus,
                        "correlation": correlation,
                        "sample": np.arange(len(values)),
                        "value": values,
                    }
                )
            )
    return pd.concat(frames, ignore_index=True)


def row_correlations(a, b) -> tuple[np.ndarray, np.ndarray]:
    """Pearson and Spearman correlation of the rows of two (n_samples, n_features) arrays."""
    a, b = pd.DataFrame(a), pd.DataFrame(b)
    constant = (a.min(axis=1) == a.max(axis=1)) | (b.min(axis=1) == b.max(axis=1))
    pearson = a.corrwith(b, axis=1).mask(constant)
    spearman = a.rank(axis=1).corrwith(b.rank(axis=1), axis=1).mask(constant)
    return pearson.to_numpy(), spearman.to_numpy()


def _matrix(attributions, name, scores):
    values = _local.local_scores(attributions, name)
    return np.abs(values) if scores == "absolute" else values
