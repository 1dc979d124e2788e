"""The times of the jobs of a run: a picture with a bar for each, and the seconds of every rule."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reproduction import usage
from reproduction.figures import COLORS
from reproduction.report import manifest

# Rules in the order of their work, as the colors go.
_RULES = {
    "kernels": COLORS["black"],
    "data": "0.6",
    "models": COLORS["orange"],
    "importances": COLORS["blue"],
    "metrics": COLORS["green"],
    "tables": COLORS["vermilion"],
    "figures": COLORS["purple"],
    "judgments": COLORS["sky"],
}
_OTHERS = "other rules"
# Number of the longest jobs that are numbered in the picture and named below it.
_NAMED = 8


@dataclass(frozen=True)
class Bar:
    """One job.

    Parameters
    ----------
    rule, name : str
    began, ended : float
        Seconds since the first job of the run began.
    cpu : float
        Seconds of processor time.
    lane : int
        Jobs that run side by side have different ones, 0 up to less than the number of cores.
    """

    rule: str
    name: str
    began: float
    ended: float
    cpu: float
    lane: int


def bars(folder="results") -> list[Bar]:
    """The jobs of a run by their start, from its logs.

    Jobs that an earlier run in the same folder has made count as the run's own: a picture of one
    run needs a folder that was empty before.

    Parameters
    ----------
    folder : path
        Of results, with ``logs``.

    Raises
    ------
    ValueError
        If no log says when its job ran.
    """
    logs = Path(folder) / "logs"
    jobs = []
    for path in sorted(logs.rglob("*.log")):
        job_usage = usage.read(path)
        if job_usage is not None and job_usage.began is not None:
            names = path.relative_to(logs).with_suffix("").parts
            names = names[1:] if names[0] == "timing" else names
            jobs.append(
                (job_usage.began, job_usage.ended, names[0], "/".join(names[1:]), job_usage.seconds)
            )
    if not jobs:
        raise ValueError(f"no log below {logs} says when its job ran: a run must be there")
    jobs.sort()
    start, free, placed = jobs[0][0], [], []
    for began, ended, rule, name, cpu in jobs:
        lanes = [lane for lane, end in enumerate(free) if end <= began]
        lane = lanes[0] if lanes else len(free)
        free[lane : lane + 1] = [ended]
        placed.append(Bar(rule, name, began - start, ended - start, cpu, lane))
    return placed


def seconds_by_rule(folder="results") -> list[dict]:
    """Table of the rules of a run, the one with most processor time first.

    Returns
    -------
    list of dict
        ``rule``, ``jobs``, ``wall_seconds`` (summed over jobs), ``cpu_seconds``, ``megabytes`` (of
        the largest job); the last row is that of all rules.
    """
    rows = sorted(manifest.seconds_by_rule(folder), key=lambda row: -row["cpu"])
    total = {"rule": "all", "megabytes": max((row["megabytes"] for row in rows), default=0)}
    total |= {name: sum(row[name] for row in rows) for name in ("jobs", "wall", "cpu")}
    return [
        {
            "rule": row["rule"],
            "jobs": row["jobs"],
            "wall_seconds": round(row["wall"], 1),
            "cpu_seconds": round(row["cpu"], 1),
            "megabytes": row["megabytes"],
        }
        for row in [*rows, total]
    ]


def shares(jobs: list[Bar], cores: int) -> tuple[float, float]:
    """Shares of the time of some cores in which jobs run on them, and in which they compute.

    A job that waits for files or for a core that others use runs, and does not compute. The
    remainder of the first is the time of the scheduler, of starting Python, and of waiting for jobs
    that run alone.
    """
    time = max(bar.ended for bar in jobs) * cores
    running = sum(bar.ended - bar.began for bar in jobs)
    return running / time, sum(bar.cpu for bar in jobs) / time


def draw(jobs: list[Bar], cores: int):
    """Bars by lane and rule, with the longest jobs named below.

    Parameters
    ----------
    jobs : list of Bar
    cores : int
        That the run was given.

    Returns
    -------
    matplotlib Figure
    """
    from matplotlib import pyplot as plt

    n_lanes = 1 + max(bar.lane for bar in jobs)
    # One lane is as high as two: the names below take most of the picture.
    figure, axis = plt.subplots(figsize=(10.0, 1.9 + 0.55 * max(n_lanes, 2)))
    colors = {**_RULES, _OTHERS: "0.85"}
    for rule, color in colors.items():
        bars_of_rule = [
            bar for bar in jobs if (bar.rule if bar.rule in _RULES else _OTHERS) == rule
        ]
        if not bars_of_rule:
            continue
        cpu = sum(bar.cpu for bar in bars_of_rule)
        label = f"{rule}: {len(bars_of_rule)} jobs, {cpu:.0f} s"
        lanes = [bar.lane for bar in bars_of_rule]
        spans = [(bar.ended - bar.began) / 60 for bar in bars_of_rule]
        starts = [bar.began / 60 for bar in bars_of_rule]
        axis.barh(lanes, spans, left=starts, height=0.8, color=color, ec="white", lw=0.3)
        axis.barh([0], [0], color=color, label=label)
    for number, bar in enumerate(_longest(jobs), 1):
        middle = (bar.began + bar.ended) / 120
        axis.text(middle, bar.lane, str(number), ha="center", va="center", fontsize=8, color="w")
    wall = max(bar.ended for bar in jobs)
    axis.set_xlim(0, wall / 60)
    axis.set_ylim(n_lanes - 0.5, -0.5)
    axis.set_yticks(range(n_lanes), [str(lane + 1) for lane in range(n_lanes)])
    axis.tick_params(axis="y", length=0)
    axis.grid(False, axis="y")
    axis.set_xlabel("minutes")
    axis.set_ylabel("slot")
    running, computing = (f"{100 * share:.0f} %" for share in shares(jobs, cores))
    on_cores = "one core" if cores == 1 else f"{cores} cores"
    title = f"{len(jobs)} jobs in {wall / 60:.1f} minutes on {on_cores}"
    axis.set_title(f"{title}: jobs run for {running} of their time, and compute for {computing}")
    names = [
        f"{number}  {bar.rule}/{bar.name}, {bar.ended - bar.began:.0f} s"
        for number, bar in enumerate(_longest(jobs), 1)
    ]
    figure.legend(loc="outside lower left", ncols=1, title="rule, seconds of processor time")
    figure.text(
        0.4, 0.02, "The longest jobs, wall time\n" + "\n".join(names), fontsize=8, va="bottom"
    )
    return figure


def _longest(jobs):
    return sorted(jobs, key=lambda bar: bar.began - bar.ended)[:_NAMED]
