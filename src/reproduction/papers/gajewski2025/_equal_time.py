"""The paper's statements about errors at equal time, judged at the iterations of one comparison."""

import numpy as np

from reproduction.papers import finding, of_size
from reproduction.papers.gajewski2025._settings import (
    METHODS,
    NMAE,
    PRINTED_METHODS,
    SHARE,
    counts,
)

# Introduction: about so much at equal time, and half a unit of its last digit.
STATED = {
    ("single", "mc"): (0.13, 0.005),
    ("single", "halton"): (0.05, 0.005),
    ("bigger", "mc"): (0.01, 0.005),
    ("bigger", "halton"): (0.002, 0.0005),
}
# An error that one notices, as a share of the mean gap.
NOTICEABLE = 0.005
# Standard errors to either side of a value.
K = 3
# Powers of the iterations with which the errors fall, at least and at most.
POWERS = {"mc": (0.5, 0.5), "halton": (0.5, 1.0)}


def slack(iterations) -> float:
    """Factor up to which an error that is predicted from that at other iterations is right.

    Errors of few iterations have not yet the power of many; a tenth is for their standard errors.
    """
    return 1.1 + iterations**-0.5


def predicted(method, value, others, iterations) -> tuple[float, float]:
    """Least and largest error at some iterations by its power, from `value` at others."""
    ends = [value * (others / iterations) ** power for power in POWERS[method]]
    return min(ends), max(ends)


def findings(rows, comparison, interval, prediction=None) -> list[dict]:
    """s05 to s07, s31 and s32 of one comparison of times."""
    measured = [*_judged(rows, comparison, interval)]
    if prediction is not None:
        for f, predicted in zip(measured, _judged(prediction, comparison, interval), strict=True):
            f["expected"] = None if f["statement"] == "s31" else predicted["interval"]
    return measured


def _judged(rows, comparison, interval):
    yield from _typical(rows, comparison, interval)
    yield _smaller_for_bigger(rows, comparison, interval)
    yield from _smaller_for_wider(rows, comparison, interval)
    yield _noticeable(rows, comparison, interval)
    yield _edge(rows, comparison, interval)


def _typical(rows, comparison, words):
    for (model, method), (claimed, half_digit) in STATED.items():
        rows_of_method = rows[(rows["model"] == model) & (rows["method"] == method)]
        median, low, high = (rows_of_method[name].median() for name in ("value", "low", "high"))
        yield finding(
            "s05",
            f"{comparison}, {model}, {PRINTED_METHODS[method]}",
            f"|median NMAE over data sets and sigmas - {claimed}|",
            abs(median - claimed),
            half_digit,
            basis="rounding",
            reason=f"half a unit of the last stated digit; {words}",
            interval=of_size(low - claimed, high - claimed),
            possible=NMAE,
        )


def _smaller_for_bigger(rows, comparison, words):
    by_model = rows.pivot(index=["dataset", "sigma", "method"], columns="model")
    measured = "settings in which the bigger model has the smaller NMAE"
    reason = f'"generally": in most settings; {words}'
    bigger, single = (by_model.xs(model, axis=1, level="model") for model in ("bigger", "single"))
    return _mostly("s06", comparison, measured, reason, bigger, single)


def _smaller_for_wider(rows, comparison, words):
    mc = rows[rows["method"] == "mc"]
    for model, rows_of_model in mc.groupby("model", sort=False):
        arrays = {
            name: rows_of_model.pivot(index="dataset", columns="sigma", values=name).to_numpy()
            for name in ("low", "value", "high")
        }
        yield exceptions(
            "s07",
            f"{comparison}, {model}",
            f"steps from one sigma to the next at which {METHODS['mc']}'s NMAE does not fall",
            words,
            *((arrays[a][:, 1:] >= arrays[b][:, :-1]) for a, b in _COMPARED),
        )


# Columns that are compared where the first must be smaller: for certain exceptions, for exceptions
# of the values, and for possible exceptions.
_COMPARED = (("low", "high"), ("value", "value"), ("high", "low"))


def exceptions(statement, variant, measured, words, certain, counted, possible) -> dict:
    """A finding that nothing is an exception: booleans for certain, counted and possible ones."""
    n = np.size(counted)
    return finding(
        statement,
        variant,
        f"{measured}, of {n}",
        np.sum(counted),
        0,
        basis="monte-carlo",
        reason=f"the words name no exception; {words}",
        interval=(np.sum(certain), np.sum(possible)),
        possible=counts(n),
    )


def _noticeable(rows, comparison, words):
    mc = rows[rows["method"] == "mc"]
    smallest = mc.loc[mc["value"].idxmin()]
    return finding(
        "s31",
        comparison,
        f"smallest NMAE of {METHODS['mc']} over models, data sets and sigmas",
        smallest["value"],
        NOTICEABLE,
        "at least",
        basis="our reading",
        reason="half a percent of the mean gap is what the last digit of the introduction's errors "
        f"of {METHODS['mc']} shows; {words}",
        interval=(smallest["low"], smallest["high"]),
        possible=NMAE,
    )


def _edge(rows, comparison, words):
    by_method = rows.pivot(index=["dataset", "model", "sigma"], columns="method")
    measured = "settings in which quasi-Monte Carlo has the smaller NMAE"
    reason = f"an edge is a smaller error in most settings; {words}"
    halton, mc = (by_method.xs(method, axis=1, level="method") for method in ("halton", "mc"))
    return _mostly("s32", comparison, measured, reason, halton, mc)


def _mostly(statement, comparison, measured, reason, smaller, larger):
    """A finding that one error is smaller than the other in most settings."""
    possible, share, certain = ((smaller[a] < larger[b]).mean() for a, b in _COMPARED)
    return finding(
        statement,
        comparison,
        f"share of {len(smaller)} {measured}",
        share,
        0.5,
        "at least",
        basis="our reading",
        reason=reason,
        interval=(certain, possible),
        possible=SHARE,
    )
