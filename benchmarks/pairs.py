"""Timing two functions against each other: interleaved, in one process, medians."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

COLUMNS = (
    "benchmark",
    "scope",
    "threads",
    "peer",
    "peer_version",
    "ours_s",
    "peer_s",
    "ratio",
    "target",
    "mode",
    "clock",
    "peer_threads",
    "peer_rows",
    "difference",
    "note",
    "family",
)


@dataclass(frozen=True)
class Pair:
    """Ours against a peer's, on the same work.

    Parameters
    ----------
    benchmark, scope, peer, peer_version : str
    ours, theirs : callables without arguments
    target : float
        Ratio aimed at.
    scale : float
        Times are divided by the work done: rows or trees of the peer over those of ours, where the
        peer is too slow to be given all of them.
    repeats : int
    threads : int
        Of both. With one thread CPU time is taken, with more the wall's.
    """

    benchmark: str
    scope: str
    peer: str
    peer_version: str
    ours: object
    theirs: object
    target: float
    scale: float = 1.0
    repeats: int = 5
    threads: int = 1

    def run(self) -> list[dict]:
        """Time both in turn; the first round is not counted. One row of the table."""
        clock = time.process_time if self.threads == 1 else time.perf_counter
        times = {"ours": [], "theirs": []}
        for count in range(self.repeats + 1):
            for name in times:
                start = clock()
                getattr(self, name)()
                if count:
                    times[name].append(clock() - start)
        ours, theirs = (statistics.median(times[name]) for name in ("ours", "theirs"))
        columns = {name: getattr(self, name) for name in COLUMNS[:5]}
        clock = {"clock": "cpu" if self.threads == 1 else "wall", "mode": "kernel"}
        return [row_of(ours, theirs / self.scale, target=f"{self.target:g}", **clock, **columns)]


def row_of(ours, theirs, **columns) -> dict:
    """One row of the table; without times where the peer has none."""
    if ours is None:
        return columns
    times = {"ours_s": f"{ours:.6g}", "peer_s": f"{theirs:.6g}", "ratio": f"{theirs / ours:.4g}"}
    return columns | times
