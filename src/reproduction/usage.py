"""Processor time and memory of a job, for its log; the cost model is fitted to them.

Snakemake's benchmarks look at a job twice a second, after fifteen seconds twice a minute, and miss
what lies between the last look and the end.
"""

from __future__ import annotations

import contextlib
import re
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_RUN = re.compile(r"^(\S+) took ([\d.]+) s$", re.MULTILINE)
_JOB = re.compile(r"^used ([\d.]+) s of processor time, (\d+) MB of memory$", re.MULTILINE)
_CLOCK = re.compile(r"^ran from ([\d.]+) to ([\d.]+), in seconds since 1970$", re.MULTILINE)


@dataclass(frozen=True)
class Usage:
    """Usage of one job.

    Parameters
    ----------
    seconds : float
        Of processor time, starting Python included.
    megabytes : int
        Of memory, at most.
    runs : dict of str to float
        Seconds of processor time of each run of a batch, by its key.
    began, ended : float, optional
        When, in seconds since 1970; None in logs of releases that did not write it.
    """

    seconds: float
    megabytes: int
    runs: dict[str, float]
    began: float | None = None
    ended: float | None = None


@contextlib.contextmanager
def measured(key: str):
    """Print the processor time of one run of a batch when the block ends."""
    started = time.process_time()
    yield
    print(f"{key} took {time.process_time() - started:.4f} s", flush=True)


def spent() -> str:
    """The line of the log with all that this process and its children have used."""
    process, children = (
        resource.getrusage(scope) for scope in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    seconds = process.ru_utime + process.ru_stime + children.ru_utime + children.ru_stime
    return f"used {seconds:.3f} s of processor time, {_megabytes(process)} MB of memory"


def clock(began: float) -> str:
    """The line of the log with when the job ran, from `began` to now, in seconds since 1970."""
    return f"ran from {began:.3f} to {time.time():.3f}, in seconds since 1970"


def _megabytes(process):
    # On Linux ru_maxrss starts with the size of the process that this one was forked from.
    status = Path("/proc/self/status")
    if status.is_file():
        (kilobytes,) = re.findall(r"^VmHWM:\s*(\d+) kB$", status.read_text(), re.MULTILINE)
        return round(int(kilobytes) / 1024)
    return round(process.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10))


def read(log) -> Usage | None:
    """Usage of the job of a log; None if it did not finish, or there is no log."""
    try:
        text = Path(log).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    jobs = _JOB.findall(text)
    if not jobs:
        return None
    seconds, megabytes = jobs[-1]
    runs = {key: float(value) for key, value in _RUN.findall(text)}
    clocks = [tuple(map(float, ends)) for ends in _CLOCK.findall(text)]
    return Usage(float(seconds), int(megabytes), runs, *(clocks[-1] if clocks else ()))
