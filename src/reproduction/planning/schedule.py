"""How long jobs take on some cores, and how much memory: a simulation of the scheduler."""

from __future__ import annotations

import heapq
import os
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """What a simulated run comes to.

    Parameters
    ----------
    wall : float
        Seconds from start to end.
    chain : float
        Seconds of the longest chain of jobs that wait for each other: no number of cores is faster.
    megabytes : float
        Of the jobs that run side by side, at most.
    looks : int
        Jobs that were ready, added up over all starts: the scheduler looks at each of them.
    """

    wall: float
    chain: float
    megabytes: float
    looks: int


def number_of_cores(given: str) -> int:
    """A number of cores as a command line has it; ``all`` are those of this machine.

    Raises
    ------
    SystemExit
        With one line, if it is none.
    """
    if given == "all":
        return os.cpu_count() or 1
    if not (given.isdecimal() and int(given)):
        sys.exit(f"CORES={given}: expected a number of cores, or all")
    return int(given)


def chains(jobs: list, seconds: list[float]) -> list[float]:
    """Seconds of the longest chain of jobs, each waiting for the one before, that holds each job.

    Parameters
    ----------
    jobs : list of reproduction.planning.jobs.Job
        Each after those that it needs. Inputs that none of them makes are there already.
    seconds : list of float
        Of each job.
    """
    waiting = _waiting(jobs)
    before = [0.0] * len(jobs)
    for i, later in enumerate(waiting):
        for k in later:
            before[k] = max(before[k], before[i] + seconds[i])
    return [b + after for b, after in zip(before, _behind(waiting, seconds), strict=True)]


def _waiting(jobs):
    """Indices of the jobs that wait for each."""
    maker = {file: i for i, job in enumerate(jobs) for file in job.outputs}
    waiting: list[list[int]] = [[] for _ in jobs]
    for i, job in enumerate(jobs):
        for k in {maker[file] for file in job.inputs if file in maker}:
            waiting[k].append(i)
    return waiting


def _behind(waiting, seconds):
    """Seconds from the start of each job to the end of the longest chain that waits for it."""
    behind = [0.0] * len(waiting)
    for i in reversed(range(len(waiting))):
        behind[i] = seconds[i] + max((behind[k] for k in waiting[i]), default=0.0)
    return behind


def simulate(jobs: list, seconds: list[float], megabytes: list[float], cores: int) -> Schedule:
    """Run jobs as soon as their inputs are there, those first that most work waits for.

    Parameters
    ----------
    jobs : list of reproduction.planning.jobs.Job
        Each after those that it needs. Inputs that none of them makes are there already.
    seconds, megabytes : list of float
        Of each job, on one core.
    cores : int
    """
    waiting = _waiting(jobs)
    behind = _behind(waiting, seconds)
    n_missing = [0] * len(jobs)
    for later in waiting:
        for k in later:
            n_missing[k] += 1
    ready: list[tuple[float, int]] = []
    exclusive: list[int] = []

    def offer(i):
        if jobs[i].alone:
            exclusive.append(i)
        else:
            heapq.heappush(ready, (-behind[i], i))

    for i, count in enumerate(n_missing):
        if not count:
            offer(i)
    running: list[tuple[float, int]] = []
    clock = memory = peak = 0.0
    looks = 0
    while ready or running or exclusive:
        # A job that takes all cores waits until nothing else can run.
        if exclusive and not ready and not running:
            heapq.heappush(ready, (0.0, exclusive.pop()))
        while ready and len(running) < cores:
            looks += len(ready)
            _, i = heapq.heappop(ready)
            heapq.heappush(running, (clock + seconds[i], i))
            memory += megabytes[i]
        peak = max(peak, memory)
        clock, i = heapq.heappop(running)
        memory -= megabytes[i]
        for k in waiting[i]:
            n_missing[k] -= 1
            if not n_missing[k]:
                offer(k)
    return Schedule(clock, max(behind, default=0.0), peak, looks)
