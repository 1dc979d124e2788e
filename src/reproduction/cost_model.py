"""Rates of the cost model, fitted to the logs of jobs; see `reproduction.planning.costs`."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy.optimize import nnls

from reproduction import usage

# Expected seconds: in which the first run of a job loads compiled code and libraries, and which
# every run takes besides those that grow with its work.
_LOADING, _RUN = 0.5, 0.01
# Weight of these two values in the fit, in which an observation has the weight 1.
_HELD = 0.3
# Seconds; shorter times count as equal.
_SHORT = 0.02


def observations(jobs) -> list[dict]:
    """Measurements of each job that has logged its usage.

    Parameters
    ----------
    jobs : iterable of reproduction.planning.jobs.Job

    Returns
    -------
    list of dict
        ``rule``, ``kind``, ``seconds``, ``megabytes``, ``memory`` (by unit), ``work`` (by unit) of
        a job without runs, and ``runs`` of the others: ``of`` (names of data and model), ``work``
        and ``seconds``, in the order in which they ran.
    """
    measured = []
    for job in jobs:
        job_usage = usage.read(job.log)
        if job_usage is None:
            continue
        row = {"rule": job.rule, "kind": job.kind, "memory": job.memory}
        row |= {"seconds": job_usage.seconds, "megabytes": job_usage.megabytes}
        if job.batch is None:
            row["work"] = job.work
        else:
            of_run = job.batch.of_run
            row["runs"] = [
                {"of": of_run[key][0], "work": job.work(of_run[key][1]), "seconds": seconds}
                for key, seconds in job_usage.runs.items()
                if key in of_run
            ]
        measured.append(row)
    return measured


def fit(measured: list[dict]) -> list[dict]:
    """Rows of the table of rates.

    Parameters
    ----------
    measured : list of dict
        As `observations` returns them, of one run of the workflow or of several.

    Returns
    -------
    list of dict
        With the keys `reproduction.planning.costs.COLUMNS`.
    """
    kinds = defaultdict(list)
    for row in measured:
        kinds[row["rule"], row["kind"]].append(row)
    fastest: dict[str, float] = {}
    for row in measured:
        fastest[row["rule"]] = min(row["seconds"], fastest.get(row["rule"], np.inf))
    rows, typical = [], defaultdict(list)
    for (rule, kind), jobs_of_kind in sorted(kinds.items()):
        with_runs = "runs" in jobs_of_kind[0]
        rates = _of_runs(jobs_of_kind) if with_runs else _of_jobs(jobs_of_kind, fastest[rule])
        factors = rates.pop("factors", {})
        if rule == "kernels":
            # Another run may have found them compiled.
            rates = {"start": max(job["seconds"] for job in jobs_of_kind)}
        rates |= _memory(jobs_of_kind)
        rows += [
            _row(rule, kind, "", name, value, len(jobs_of_kind)) for name, value in rates.items()
        ]
        rows += [_row(rule, kind, names, "factor", *factor) for names, factor in factors.items()]
        typical[rule].append(rates | {"run": _median_run(jobs_of_kind)} if with_runs else rates)
    for rule, rates_of_kinds in sorted(typical.items()):
        if ("", "") in [(r["kind"], r["data"]) for r in rows if r["rule"] == rule]:
            continue
        for name in ("start", "run", "megabytes"):
            values = [rates[name] for rates in rates_of_kinds if name in rates]
            if values:
                rows.append(_row(rule, "", "", name, np.median(values), len(values)))
    return sorted(rows, key=lambda row: (row["rule"], row["kind"], row["data"]))


def _row(rule, kind, data, quantity, value, jobs):
    value = f"{value:.4g}"
    row = {"rule": rule, "kind": kind, "data": data, "quantity": quantity}
    return row | {"value": value, "jobs": jobs}


def _median_run(jobs):
    return np.median([run["seconds"] for job in jobs for run in job["runs"]] or [0.0])


def _of_runs(jobs):
    """Rates and factors of a kind, from the runs of its jobs."""
    runs = [(i == 0, run) for job in jobs for i, run in enumerate(job["runs"])]
    seconds = np.array([run["seconds"] for _, run in runs])
    units, amounts = _amounts([run["work"] for _, run in runs])
    fixed = np.array([[1.0, first] for first, _ in runs]).reshape(-1, 2)
    per_run, _, *per = _least_squares(np.hstack([fixed, amounts]), seconds, [_RUN, _LOADING])
    growing = amounts @ np.array(per)
    factors = {}
    for names in dict.fromkeys(run["of"] for _, run in runs):
        # A first run counts only if there is no other.
        of_names = np.array([run["of"] == names for _, run in runs])
        later = of_names & ~fixed[:, 1].astype(bool)
        of_names = later if later.any() else of_names
        growing_seconds = np.maximum(seconds[of_names] - per_run, 0)
        if growing_seconds.sum() > _SHORT and growing[of_names].sum() > 0:
            factors[names] = growing_seconds.sum() / growing[of_names].sum(), int(of_names.sum())
    factor = np.array([factors.get(run["of"], (1.0,))[0] for _, run in runs])
    predicted, start, k = per_run + factor * growing, [], 0
    for job in jobs:
        n = len(job["runs"])
        start.append(job["seconds"] - predicted[k : k + n].sum())
        k += n
    # Where the times of long runs vary, the remainder of a job tells nothing about its start.
    start = max(float(np.median(start)), min(j["seconds"] - _sum(j) for j in jobs))
    rates = {"start": start, "run": per_run} | _named("per", units, per)
    return rates | {"factors": factors}


def _sum(job):
    return sum(run["seconds"] for run in job["runs"])


def _of_jobs(jobs, fastest):
    """Rates of a kind without runs; the fastest job of the rule does nothing but start."""
    seconds = np.array([job["seconds"] for job in jobs])
    units, amounts = _amounts([job["work"] for job in jobs])
    if not amounts.any():
        return {"start": float(np.median(seconds))}
    design = np.hstack([np.ones((len(jobs), 1)), amounts])
    # Jobs of one size cannot separate the start from the seconds that grow with the work.
    fixed_rates = [fastest] if len(np.unique(amounts, axis=0)) == 1 else []
    start, *per = _least_squares(design, seconds, fixed_rates)
    return {"start": start} | _named("per", units, per)


def _memory(jobs):
    megabytes = np.array([job["megabytes"] for job in jobs], dtype=float)
    units, amounts = _amounts([job["memory"] for job in jobs])
    design = np.hstack([np.ones((len(jobs), 1)), amounts])
    start, *per = _least_squares(design, megabytes, [megabytes.min()])
    return {"megabytes": start} | _named("megabytes per", units, per)


def _named(prefix, units, values):
    return {f"{prefix} {u}": v for u, v in zip(units, values, strict=True) if v > 0}


def _amounts(works):
    """Units, and float64 (n, n_units)."""
    units = list(dict.fromkeys(unit for work in works for unit in work))
    amounts = [[work.get(unit, 0.0) for unit in units] for work in works]
    return units, np.array(amounts, dtype=float).reshape(len(works), len(units))


def _least_squares(design, values, fixed_rates):
    """Coefficients, none negative, by relative errors; the first are held near given values."""
    weights = 1 / (values + _SHORT)
    rows = [design * weights[:, None]]
    pull = np.zeros((len(fixed_rates), design.shape[1]))
    pull[:, : len(fixed_rates)] = np.diag(_HELD / np.array(fixed_rates, dtype=float))
    rows.append(pull)
    target = np.concatenate([values * weights, np.full(len(fixed_rates), _HELD)])
    stacked = np.vstack(rows)
    # Columns of size one: amounts of work differ by ten orders of magnitude.
    scale = np.abs(stacked).max(axis=0)
    scale[scale == 0] = 1
    scaled, _ = nnls(stacked / scale, target)
    return (scaled / scale).tolist()
