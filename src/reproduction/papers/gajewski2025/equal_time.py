"""Table 1 by our own clock: iterations that take as long as our exact program, and their errors.

Sampling is timed in two ways. *Fresh noise* makes a generator of its own for every pair, as the
paper does; that alone may take longer than the exact algorithm. *Shared noise* is drawn before,
once for all pairs and not counted: left are the restriction of the trees to the features of the
set, and their evaluation. An estimate needs one iteration, so all `COMPARISONS` find at least one.

The paper times its own programs, and these are ours: the faster the exact program, the fewer
iterations sampling gets. Algorithm 1 as printed is not timed. Both run on one thread.
"""

from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from reproduction import datasets
from reproduction.figures import COLORS, panels
from reproduction.metrics.sampling_error import N_STREAMS, pairs, standard_errors
from reproduction.models import fit
from reproduction.papers import around, finding, of_size
from reproduction.papers.gajewski2025 import _ensembles, timings
from reproduction.papers.gajewski2025._settings import (
    DATASETS,
    METHODS,
    MODELS,
    NMAE,
    PRINTED_METHODS,
    PUBLISHED,
    SHARE,
    SIGMAS,
    counts,
    printed_iterations,
    recipe_of,
)
from reproduction.papers.gajewski2025.curves import ERRORS
from reproduction.parameters import Count
from splitcredit.kernels.compiled import threads
from splitcredit.models.formats import to_forest
from splitcredit.prediction_gap.exact_gap import GapProblem, pg2
from splitcredit.prediction_gap.noise import noise_pool
from splitcredit.prediction_gap.sampling import COUNTS, nmae, pg2_sampled

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
PRINTED = "printed iterations"
CLOSEST = "our clock, closest of the 13 counts, fresh noise"
NO_SETUP = "our clock, any count, fresh noise, set-up of a pair left out"
SHARED = "our clock, any count, shared noise"
COMPARISONS = (CLOSEST, NO_SETUP, SHARED)
# The smallest NMAE that table 1 prints, which is called very accurate here.
ACCURATE = 0.001
# A random generator for each pair takes so long that fewer pairs of fresh noise are enough.
PAIRS_OF_FRESH = 22
# Seconds may be off by such a factor.
FACTOR = 2
_KEY = ["dataset", "model", "sigma"]
_COLUMNS = ["part", *_KEY, "method", "comparison", "noise", "value", "low", "high"]
_WORDS = (
    f"the interval is {K} standard errors of each NMAE at the least and the largest "
    "count over the turns of the clock"
)


def compute(inputs, recipes, timed_pairs: Count, repeats: Count, n_pairs: Count) -> pd.DataFrame:
    """Seconds, iterations of equal time and their errors.

    ``value``, and ``low`` and ``high`` over the turns, by ``part``: ``a pair`` and ``a sample``:
    CPU seconds of the exact algorithm a pair; of sampling a pair, without its samples, and a
    sample; ``iterations`` and ``nmae`` of each of `COMPARISONS`, and ``nmae`` at the printed
    iterations, missing if it was not computed; low and high of an NMAE have 3 standard errors of
    draws on top; ``accurate``: seconds of sampling with shared noise over those of the exact
    algorithm, until the NMAE is 0.001 or, if it never is, at the most iterations.
    """
    errors = inputs[ERRORS].rename(columns={"data": "dataset"})
    errors = errors[errors["variant"] == PUBLISHED].set_index([*_KEY, "method"]).sort_index()
    rows = []
    with threads(1):
        for name, recipe in recipes.items():
            data = datasets.load({**recipe, "split": "authors"})
            for model in MODELS:
                n = data.n_training
                forest = to_forest(fit(recipe_of(name, model), data.X[:n], data.y[:n]))
                X = forest.prepare(data.X[n:])
                rows += _of_model((name, model), forest, X, errors, timed_pairs, repeats, n_pairs)
    return pd.DataFrame(rows, columns=_COLUMNS)


def _of_model(key, forest, X, errors, timed_pairs, repeats, n_pairs):
    rows, sets = pairs(len(X), X.shape[1], max(n_pairs, X.shape[1]))
    X_pairs = X[rows]
    for sigma in SIGMAS:
        setting = dict(zip(_KEY, (*key, sigma), strict=True))
        seconds = _seconds_of(forest, X, sigma, timed_pairs, repeats)
        yield {"part": "a pair", **setting, "method": "exact", **_median(seconds["exact"])}
        exact = pg2(forest, X_pairs, sets, scale=sigma)
        for method in METHODS:
            row = {**setting, "method": method}
            for noise in (timings.FRESH, timings.SHARED):
                a_pair, a_sample = seconds[noise, method]
                yield {"part": "a pair", **row, "noise": noise, **_median(a_pair)}
                yield {"part": "a sample", **row, "noise": noise, **_median(a_sample)}
            counts = {c: _median(equal_time(c, seconds, method)) for c in COMPARISONS}
            counts = {c: {n: int(v) for n, v in ends.items()} for c, ends in counts.items()}
            nmae_of = _errors(forest, X_pairs, sets, exact, sigma, method, counts)
            for comparison, count in counts.items():
                yield {"part": "iterations", **row, "comparison": comparison, **count}
                yield {"part": "nmae", **row, "comparison": comparison, **nmae_of[comparison]}
            of_setting = errors.loc[(*key, sigma, method)].set_index("iterations")
            printed = of_setting.reindex([printed_iterations()[(*key, sigma, method)]])
            ((value, error),) = printed[["value", "standard_error"]].to_numpy()
            ends = dict(zip(("low", "high"), around(value, K * error), strict=True))
            yield {"part": "nmae", **row, "comparison": PRINTED, "value": value, **ends}
            yield {"part": "accurate", **row, **_median(_accurate(of_setting, seconds, method))}


def _seconds_of(forest, X, sigma, n_pairs, repeats) -> dict:
    """CPU seconds a pair of one model and noise, at each turn."""
    rng = np.random.default_rng(0)
    d = X.shape[1]
    n_sets_per_size = -(-n_pairs // d)
    masks = np.concatenate([_ensembles.sets(rng, n_sets_per_size, d, m) for m in range(1, d + 1)])
    x = X[rng.integers(len(X), size=len(masks))]
    fresh_rows = np.unique(np.linspace(0, len(x) - 1, min(len(x), PAIRS_OF_FRESH)).astype(int))
    few, many = timings.FEW, timings.MANY
    jobs = {("exact",): partial(GapProblem(forest, None, sigma, None).gaps, x, masks[:, None])}
    for noise, kind in product((timings.FRESH, timings.SHARED), METHODS):
        rows, options = fresh_rows, {"draws": "literal"}
        if noise == timings.SHARED:
            rows, options = slice(None), {"pool": noise_pool(kind, d, many, timings.STREAMS)}
        for n in (few, many):
            arguments = forest, x[rows], masks[rows], [n], sigma, kind
            jobs[noise, kind, n] = partial(pg2_sampled, *arguments, **options)
    seconds = timings.turns(jobs, repeats, [name for name in jobs if many not in name])
    seconds_of = {"exact": seconds["exact",] / len(x)}
    for case in product((timings.FRESH, timings.SHARED), METHODS):
        n = len(fresh_rows) if case[0] == timings.FRESH else len(x)
        a_sample = np.maximum(seconds[*case, many] - seconds[*case, few], 0) / (many - few)
        a_pair = np.maximum(seconds[*case, few] - few * a_sample, 0)
        seconds_of[case] = a_pair / n, a_sample / n
    return seconds_of


def equal_time(comparison, seconds, method) -> np.ndarray:
    """Numbers of iterations that take as long as the exact algorithm, at each turn; 1 at least."""
    exact = seconds["exact"]
    a_pair, a_sample = seconds[_noise(comparison), method]
    if comparison == CLOSEST:
        counts = np.array(COUNTS)
        durations = a_pair[:, None] + a_sample[:, None] * counts
        return counts[np.abs(durations - exact[:, None]).argmin(axis=1)]
    remaining = exact - a_pair if comparison == SHARED else exact
    # If the clock measured no time for a sample, the largest number of iterations fits.
    most = np.full(len(remaining), np.inf)
    n_iterations = np.divide(remaining, a_sample, out=most, where=a_sample > 0)
    return np.clip(n_iterations, 1, COUNTS[-1]).astype(np.int64)


def _noise(comparison):
    return timings.SHARED if comparison == SHARED else timings.FRESH


def _median(values):
    return {"value": np.median(values), "low": np.min(values), "high": np.max(values)}


def _errors(forest, X, sets, exact, sigma, method, counts):
    """NMAE of each comparison, with its interval."""
    all_counts = sorted({c for count in counts.values() for c in count.values()})
    pool = noise_pool(method, X.shape[1], all_counts[-1], N_STREAMS, 1)
    estimates = pg2_sampled(forest, X, sets, all_counts, scale=sigma, pool=pool)
    values = dict(zip(all_counts, nmae(estimates, exact), strict=True))
    errors = dict(zip(all_counts, K * standard_errors(estimates, exact), strict=True))
    return {
        comparison: {
            "value": values[count["value"]],
            "low": min(values[i] - errors[i] for i in count.values()),
            "high": max(values[i] + errors[i] for i in count.values()),
        }
        for comparison, count in counts.items()
    }


def _accurate(errors, seconds, method):
    a_pair, a_sample = seconds[timings.SHARED, method]
    accurate_counts = errors.index[errors["value"] <= ACCURATE]
    count = accurate_counts.min() if len(accurate_counts) else errors.index.max()
    return (a_pair + a_sample * count) / seconds["exact"]


def draw(table):
    """A column a method: seconds at the printed iterations; errors there and at equal time."""
    # Single trees first, data sets and noises in the order of the paper.
    present = set(table[_KEY].itertuples(index=False, name=None))
    settings = [(d, m, s) for m, d, s in product(MODELS, DATASETS, SIGMAS) if (d, m, s) in present]
    places = [settings.index(key) for key in table[_KEY].itertuples(index=False, name=None)]
    table = table.assign(place=places)
    figure, axes = panels.subplots(2, 2, figsize=(11, 8), sharex=True, sharey="row")
    whats = ("time at the printed iterations", "error in the exact algorithm's time")
    for column, method in zip(axes.T, METHODS, strict=True):
        _draw_seconds(column[0], table, method)
        _draw_errors(column[1], table[(table["part"] == "nmae") & (table["method"] == method)])
        for axis, what in zip(column, whats, strict=True):
            axis.set_title(f"{METHODS[method]}: {what}")
            _name_settings(axis, settings)
    axes[0, 0].set_ylabel("CPU seconds for a pair, one thread")
    axes[1, 0].set_ylabel("NMAE (share of the mean gap)")
    panels.letter(axes)
    axes[0, 0].legend(loc="upper left")
    axes[1, 0].legend(loc="lower left")
    return figure


_DRAWN = (
    (PRINTED, "*", "black", 8),
    (CLOSEST, "s", "blue", 4.5),
    (NO_SETUP, "^", "orange", 5),
    (SHARED, "o", "vermilion", 5),
)


def _draw_seconds(axis, table, method):
    exact = table[(table["part"] == "a pair") & (table["method"] == "exact")]
    axis.semilogy(exact["place"], exact["value"], "D", color="black", ms=4, label="exact algorithm")
    for noise, mark, color in ((timings.FRESH, "s", "blue"), (timings.SHARED, "o", "vermilion")):
        rows = table[(table["method"] == method) & (table["noise"] == noise)]
        by_part = rows.pivot(index=["place", *_KEY], columns="part", values="value")
        counts = [printed_iterations()[(*key[1:], method)] for key in by_part.index]
        seconds = by_part["a pair"] + by_part["a sample"] * np.array(counts)
        style = {"color": COLORS[color], "ms": 4.5, "label": f"sampling, {noise}"}
        axis.semilogy(by_part.index.get_level_values("place"), seconds, mark, **style)


def _draw_errors(axis, table):
    for comparison, marker, color, size in _DRAWN:
        rows = table[table["comparison"] == comparison]
        bars = np.abs(rows[["low", "high"]].to_numpy().T - rows["value"].to_numpy())
        style = {"color": COLORS[color], "ms": size, "marker": marker, "ls": ""}
        # Stars are drawn above marks in the same place, which remain visible around them.
        style |= {"mfc": "white", "zorder": 3} if comparison == PRINTED else {}
        axis.errorbar(rows["place"], rows["value"], bars, elinewidth=0.7, label=comparison, **style)
    axis.set_yscale("log")


def _name_settings(axis, settings):
    axis.set_xticks(range(len(settings)), [f"{sigma:g}" for _, _, sigma in settings], fontsize=8)
    axis.tick_params(labelbottom=True)
    axis.set_xlim(-0.7, len(settings) - 0.3)
    places: dict = {}
    for place, (dataset, model, _) in enumerate(settings):
        places.setdefault((dataset, model), []).append(place)
    for (dataset, model), of_model in places.items():
        words = DATASETS[dataset].replace(" ", "\n") + f"\n{MODELS[model]}"
        style = {"xycoords": ("data", "axes fraction"), "ha": "center", "va": "top"}
        middle = ((of_model[0] + of_model[-1]) / 2, 0)
        panels.note(axis, words, middle, (0, -17), fontsize=7.5, **style)
        if of_model[0]:
            axis.axvline(of_model[0] - 0.5, color="0.8", lw=0.8)
    axis.grid(False, axis="x")
    axis.set_xlabel(r"noise $\sigma$, for each data set and model", labelpad=38)


def statements(table):
    """s05 to s07, s31, s32, s34 by our clock; s33: the exact algorithm where accuracy matters."""
    for comparison in COMPARISONS:
        rows = table[table["comparison"] == comparison]
        errors = rows[rows["part"] == "nmae"]
        yield from findings(errors, comparison, _WORDS, _predicted(table, comparison))
        iterations = rows[rows["part"] == "iterations"]
        by_model = iterations.pivot(index=["dataset", "sigma", "method"], columns="model")
        no_more = [by_model[a, "bigger"] <= by_model[b, "single"] for a, b in reversed(_COMPARED)]
        words = "the interval is the range over the turns of the clock"
        place = ("s34", comparison, "settings in which the bigger model has no more iterations")
        expected = _no_more_by_seconds(table, comparison)
        yield exceptions(*place, words, *no_more) | {"expected": expected}
    accurate = table[table["part"] == "accurate"]
    smallest = accurate.loc[accurate["value"].idxmin()]
    measured = (
        f"CPU seconds of sampling with shared noise until its NMAE is {ACCURATE}, or of its most "
        "iterations, over those of the exact algorithm, least over the settings"
    )
    reason = (
        f"very accurate is an NMAE of {ACCURATE}, the smallest that table 1 prints; the interval "
        "is the range over the turns of the clock"
    )
    parts = _parts(table, timings.SHARED)
    of_most = (parts["a pair"] + parts["a sample"] * COUNTS[-1]) / parts["exact"]
    options = {"reading": reason, "interval": (smallest["low"], smallest["high"])}
    options["possible"] = 0, FACTOR * of_most.min()
    yield finding("s33", "our clock", measured, smallest["value"], 1, "at least", **options)


def _predicted(table, comparison):
    """Errors that follow from those at other iterations, by the powers of the methods."""
    keys = [*_KEY, "method", "comparison"]
    iterations, errors = (
        table[table["part"] == part].set_index(keys)["value"].to_dict()
        for part in ("iterations", "nmae")
    )
    rows = []
    for (*key, of_comparison), count in iterations.items():
        if of_comparison != comparison:
            continue
        others = {printed_iterations()[tuple(key)]: errors[(*key, PRINTED)]}
        if comparison != CLOSEST:
            others[iterations[(*key, CLOSEST)]] = errors[(*key, CLOSEST)]
        nearest = min(others, key=lambda other: abs(np.log(other / count)))
        low, high = predicted(key[-1], others[nearest], nearest, count)
        low, high = low / slack(count), min(high * slack(count), NMAE[1])
        row = dict(zip(keys, key, strict=False))
        rows.append({**row, "value": (low * high) ** 0.5, "low": low, "high": high})
    return pd.DataFrame(rows)


def _parts(table, noise):
    """Median seconds by data set, model, sigma and method: of a pair, of a sample, exact."""
    rows = table[table["noise"] == noise]
    parts = rows.pivot(index=[*_KEY, "method"], columns="part", values="value")
    exact = table[(table["part"] == "a pair") & (table["method"] == "exact")]
    return parts.join(exact.set_index(_KEY)["value"].rename("exact"))


def _no_more_by_seconds(table, comparison):
    """Least and most settings in which the bigger model has no more iterations, by the seconds."""
    # Seconds of the exact algorithm may be off by a factor, in favor of either model.
    counts, factors = {}, np.array([FACTOR**0.5, FACTOR**-0.5])
    noise = _noise(comparison)
    for key, parts in _parts(table, noise).iterrows():
        exact = parts["exact"] * (factors if key[1] == "bigger" else factors[::-1])
        of_sampling = [np.full(2, parts[name]) for name in ("a pair", "a sample")]
        seconds = {"exact": exact, (noise, key[-1]): of_sampling}
        counts[key] = equal_time(comparison, seconds, key[-1])
    counts = pd.DataFrame(counts).T.rename_axis([*_KEY, "method"]).unstack("model")
    least, most = ((counts[end, "bigger"] <= counts[end, "single"]).sum() for end in (0, 1))
    return float(least), float(most)


def slack(iterations) -> float:
    """Factor up to which an error that is predicted from that at other iterations is right."""
    # Errors of few iterations have not yet the power of many; a tenth is for standard errors.
    return 1.1 + iterations**-0.5


def predicted(method, value, others, iterations) -> tuple[float, float]:
    """Least and largest error at some iterations by its power, from `value` at others."""
    ends = [value * (others / iterations) ** power for power in POWERS[method]]
    return min(ends), max(ends)


def findings(rows, comparison, interval, prediction=None) -> list[dict]:
    """s05 to s07, s31 and s32 of one comparison of times.

    `interval` says what low and high of the rows are. `prediction` is like `rows`, with the errors
    that follow from the numbers of iterations, which all but s31 then expect.
    """
    measured = [*_judged(rows, comparison, interval)]
    if prediction is not None:
        for f, of_causes in zip(measured, _judged(prediction, comparison, interval), strict=True):
            f["expected"] = None if f["statement"] == "s31" else of_causes["interval"]
    return measured


def _judged(rows, comparison, words):
    for (model, method), (claimed, half_digit) in STATED.items():
        of_method = rows[(rows["model"] == model) & (rows["method"] == method)]
        median, low, high = (of_method[name].median() for name in ("value", "low", "high"))
        variant = f"{comparison}, {model}, {PRINTED_METHODS[method]}"
        measured = f"|median NMAE over data sets and sigmas - {claimed}|"
        options = {"reason": f"half a unit of the last stated digit; {words}", "possible": NMAE}
        options["interval"] = of_size(low - claimed, high - claimed)
        yield finding("s05", variant, measured, abs(median - claimed), half_digit, **options)
    place = ("s06", comparison, "settings in which the bigger model has the smaller NMAE")
    reading = f'"generally": in most settings; {words}'
    yield _mostly(*place, reading, rows, "model", ["bigger", "single"])
    mc = rows[rows["method"] == "mc"]
    measured = f"steps from one sigma to the next at which {METHODS['mc']}'s NMAE does not fall"
    for model, of_model in mc.groupby("model", sort=False):
        by_sigma = of_model.pivot(index="dataset", columns="sigma")
        arrays = {name: by_sigma[name].to_numpy() for name in ("low", "value", "high")}
        rises = [arrays[a][:, 1:] >= arrays[b][:, :-1] for a, b in _COMPARED]
        yield exceptions("s07", f"{comparison}, {model}", measured, words, *rises)
    smallest = mc.loc[mc["value"].idxmin()]
    measured = f"smallest NMAE of {METHODS['mc']} over models, data sets and sigmas"
    reading = (
        "half a percent of the mean gap is what the last digit of the introduction's errors of"
    )
    options = {"reading": f"{reading} {METHODS['mc']} shows; {words}", "possible": NMAE}
    options["interval"] = smallest["low"], smallest["high"]
    place = ("s31", comparison, measured, smallest["value"], NOTICEABLE, "at least")
    yield finding(*place, **options)
    place = ("s32", comparison, "settings in which quasi-Monte Carlo has the smaller NMAE")
    reading = f"an edge is a smaller error in most settings; {words}"
    yield _mostly(*place, reading, rows, "method", ["halton", "mc"])


# Columns that are compared where the first must be smaller: for certain exceptions, for exceptions
# of the values, and for possible exceptions.
_COMPARED = (("low", "high"), ("value", "value"), ("high", "low"))


def exceptions(statement, variant, measured, words, certain, counted, possible) -> dict:
    """A finding that nothing is an exception: booleans for certain, counted and possible ones."""
    n = np.size(counted)
    options = {"basis": "monte-carlo", "reason": f"the words name no exception; {words}"}
    options |= {"interval": (np.sum(certain), np.sum(possible)), "possible": counts(n)}
    return finding(statement, variant, f"{measured}, of {n}", np.sum(counted), 0, **options)


def _mostly(statement, comparison, measured, reading, rows, column, names):
    """A finding that the error of the first name is the smaller one in most settings."""
    keys = [key for key in (*_KEY, "method") if key != column]
    by = rows.pivot(index=keys, columns=column)
    first, second = names
    possible, share, certain = ((by[a, first] < by[b, second]).mean() for a, b in _COMPARED)
    options = {"reading": reading, "interval": (certain, possible), "possible": SHARE}
    measured = f"share of {len(by)} {measured}"
    return finding(statement, comparison, measured, share, 0.5, "at least", **options)
