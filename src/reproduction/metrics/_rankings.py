"""Rank features under any measure, name them in tables, and compute leads over a reference."""

import numpy as np
import scipy.stats

from splitcredit.prediction_gap.rankings import of_attribution
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


def rankings(attributions, n_rows: int) -> dict[str, np.ndarray]:
    """Rank the features of each of the first rows, (n_rows, n_features), the most important first.

    By their names in tables; ValueError if two have one name.
    """
    # A global importance ranks all rows alike, by its values: below 0 it says that a feature is no
    # better than noise.
    ranked = {
        label(name): np.tile(np.argsort(-computed.values, kind="stable"), (n_rows, 1))
        if isinstance(computed, Importance)
        else of_attribution(computed)[:n_rows]
        for name, computed in attributions.items()
    }
    if len(ranked) < len(attributions):
        raise ValueError(
            "the importances tree_shap and shap are both called shap in tables of rankings: leave "
            "one of them out of the experiment, or give it another name"
        )
    return ranked


def compared(attributions, n_rows: int, reference: str | None) -> tuple[dict, str]:
    """`rankings`, and the name of the one that the others are compared with, by default the first.

    ValueError if there are none, or the named importance is not among them.
    """
    if not attributions:
        raise ValueError("there are no importances to rank by: name some in the experiment")
    if reference is not None and reference not in attributions:
        names = ", ".join(attributions)
        raise ValueError(f"reference={reference!r}: the run has {names}")
    return rankings(attributions, n_rows), label(reference or next(iter(attributions)))


def greedy(attributions) -> dict:
    """The importances that are greedy rankings, by their own names."""
    return {name: a for name, a in attributions.items() if a.method == "pg2_greedy"}


def lead(values, reference, statistic: str, random_state: int) -> dict[str, float]:
    """Statistic of `values` minus the one of the reference: ``lead``, and its interval.

    ``low`` and ``high`` are the 95 % percentile interval of the bootstrap over the rows, NaN for a
    single row. A resample takes the same rows of both, so what makes a row hard for both cancels.
    For the statistic ``"rmse"`` the values are squared errors.
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
    """Standard error of an RMSE, from the spread of the squared errors over independent rows."""
    # The delta method: the standard error of their mean over twice the RMSE.
    errors = np.asarray(squared_errors, float)
    if len(errors) < 2 or not errors.any():
        return float("nan")
    return float(errors.std(ddof=1) / np.sqrt(len(errors)) / (2 * np.sqrt(errors.mean())))
