"""Shared by metrics of rankings: names in tables, PGI^2, and leads over a reference."""

import numpy as np
import scipy.stats

from splitcredit.prediction_gap.exact_gap import GapProblem
from splitcredit.prediction_gap.rankings import first_of_same, of_attribution
from splitcredit.results.attribution import Importance

# Resamples behind the intervals of leads: their ends are off by some 1.5 % of their width.
RESAMPLES = 2000
# Resamples held in memory at a time; the interval does not depend on it.
_BATCH = 250
_STATISTICS = {
    "mean": lambda values, axis: values.mean(axis=axis),
    "rmse": lambda squared_errors, axis: np.sqrt(squared_errors.mean(axis=axis)),
}


def label(name: str) -> str:
    """Name of an importance's ranking in tables."""
    return "shap" if name == "tree_shap" else name


def rankings(attributions, n_rows: int, reference: str | None = None) -> dict[str, np.ndarray]:
    """Rankings of all importances by their names in tables, int64 (n_rows, n_features) each.

    A global importance ranks all rows alike, by its values: below 0 it says that a feature is no
    better than noise. ValueError if `reference` is not the name of an importance, or if two of them
    have one name in tables.
    """
    if reference is not None and reference not in attributions:
        names = ", ".join(attributions)
        raise ValueError(f"reference={reference!r}: the run has {names}")
    ranked = {label(name): _ranking(computed, n_rows) for name, computed in attributions.items()}
    if len(ranked) < len(attributions):
        raise ValueError(
            "the importances tree_shap and shap are both called shap in tables of rankings: leave "
            "one of them out of the experiment, or give it another name"
        )
    return ranked


def _ranking(computed, n_rows):
    if isinstance(computed, Importance):
        order = np.argsort(-computed.values, kind="stable")
        return np.tile(order, (n_rows, 1))
    return of_attribution(computed)


def reference_of(attributions, reference: str | None) -> str:
    """The importance that the others are compared with: the first if none is named."""
    if not attributions:
        raise ValueError("there are no importances to rank by: name some in the experiment")
    return next(iter(attributions)) if reference is None else reference


def greedy(attributions) -> dict:
    """The importances that are greedy rankings, by their own names."""
    return {name: a for name, a in attributions.items() if a.method == "pg2_greedy"}


def pgi2(forest, X, ranked, sigma, output=None, important=True) -> dict[str, np.ndarray]:
    """PGI^2 of several rankings of the same rows, with normal noise; or PGU^2, if not `important`.

    The same bytes as `splitcredit.faithfulness` gives, but a set that several rankings begin with,
    such as all features, is measured once.

    Parameters
    ----------
    forest : Forest
    X : prepared rows (n_rows, n_features)
    ranked : dict of str to int64 (at least n_rows, n_features)
        Of these rows and, maybe, more.
    sigma : float
        Standard deviation of the noise, in units of the features.
    output : int, optional
        As `splitcredit.faithfulness` has it.
    important : bool
        Whether the first features of a ranking are perturbed, or all but these.

    Returns
    -------
    dict of str to float64 (n_rows,), in squared units of the prediction
    """
    n, d = X.shape
    places = [np.argsort(ranking[:n], axis=1) for ranking in ranked.values()]
    firsts = np.arange(1, d + 1)[:, None]
    masks = np.concatenate([(place[:, None, :] < firsts) == important for place in places], axis=1)
    first_index = first_of_same(masks)
    # A repeated set is replaced by the empty set, whose gap takes no time.
    masks &= (first_index == np.arange(masks.shape[1]))[:, :, None]
    gaps = np.take_along_axis(
        GapProblem(forest, None, sigma, output).gaps(X, masks), first_index, axis=1
    )
    blocks = np.split(gaps, len(ranked), axis=1)
    return {name: block.mean(axis=1) for name, block in zip(ranked, blocks, strict=True)}


def lead(values, reference, statistic: str, random_state: int) -> dict[str, float]:
    """Statistic of `values` minus that of the reference: ``lead``, and its interval.

    A resample takes the same rows of both, so what makes a row hard for both cancels.

    Parameters
    ----------
    values, reference : float (n_rows,)
        Of the same rows; squared errors for ``"rmse"``.
    statistic : {"mean", "rmse"}
    random_state : int
        The same gives the same resamples.

    Returns
    -------
    dict
        ``lead``, ``low`` and ``high``: the 95 % percentile interval of the bootstrap over the
        rows, NaN for a single row.

    Raises
    ------
    ValueError
        If the numbers of rows differ.
    """
    if values is reference:
        return dict.fromkeys(("lead", "low", "high"), 0.0)
    statistic_of = _STATISTICS[statistic]

    def difference(first, second, axis):
        return statistic_of(first, axis) - statistic_of(second, axis)

    measured = float(difference(values, reference, axis=-1))
    if len(values) == 1:
        return {"lead": measured, "low": np.nan, "high": np.nan}
    interval = scipy.stats.bootstrap(
        (values, reference),
        difference,
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=_BATCH,
        method="percentile",
        rng=random_state,
    ).confidence_interval
    return {"lead": measured, "low": float(interval.low), "high": float(interval.high)}


def rmse_error(squared_errors) -> float:
    """Standard error of an RMSE, from the spread of the squared errors over the rows.

    The delta method: standard deviation of the squared errors over the square root of the number
    of rows, over twice the RMSE. Rows count as drawn at random, independently.
    """
    errors = np.asarray(squared_errors, float)
    if len(errors) < 2 or not errors.any():
        return float("nan")
    return float(errors.std(ddof=1) / np.sqrt(len(errors)) / (2 * np.sqrt(errors.mean())))
