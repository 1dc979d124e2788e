"""One race: ours and its peers run in turn, and the medians of their times make rows of a table.

A round runs ours and then each peer once. The rounds follow one another, and the first is not
counted.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numba
import numpy as np

import environments
import fitted
from sides import MEASURES, Ours, too_slow
from workloads import Workload

COLUMNS = (
    "benchmark",
    "scope",
    "threads",
    "peer",
    "peer_version",
    "ours_s",
    "peer_s",
    "ratio",
    "mode",
    "clock",
    "peer_threads",
    "peer_rows",
    "difference",
    "note",
    "family",
)
# A peer whose values are further from ours, relative to the largest, is not right. Values in single
# precision (XGBoost, WOODELF) are off by 1e-6 to 1e-5, wrong ones by 1e-1.
RIGHT = 1e-3
# An algorithm that takes so much longer than another one is wrongly chosen, and a line says so.
WRONG = 1.1


@dataclass(frozen=True)
class Pair:
    """Ours against a function of our own environment, in this process and on one thread.

    `share` is the part of the work that a slow peer is given: of the rows or of the trees.
    """

    benchmark: str
    scope: str
    peer: str
    peer_version: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    share: float = 1.0
    rounds: int = 5

    def row(self) -> dict:
        """Run both in turn; one row of the table."""
        sides = self.ours, self.theirs
        times = in_turn([lambda side=side: _cpu_seconds(side) for side in sides], self.rounds)
        ours, theirs = map(statistics.median, times)
        names = {name: getattr(self, name) for name in ("benchmark", "scope", "peer")}
        how = {"peer_version": self.peer_version, "threads": 1, "mode": "kernel", "clock": "cpu"}
        return timed_row(ours, theirs / self.share, **names, **how)


@dataclass(frozen=True)
class InProcess:
    """Pairs on one model, which the function makes."""

    make: Callable[[], Iterable[Pair]]

    def run(self, peers) -> list[dict]:
        """All rows of the table."""
        return [pair.row() for pair in self.make()]


@dataclass(frozen=True)
class Entrant:
    """A peer in one race: the name of its file in benchmarks/peers, and how it takes part."""

    peer: str
    environment: str = "current"  # the file of requirements there
    rows: int | None = None  # how many of the rows it is given; all if None
    variant: str = ""  # what the peer's file makes of it
    label: str = ""  # what the tables call it
    most_threads: int = 2  # left out of rounds on more, where another peer is faster


@dataclass(frozen=True)
class Race:
    """Ours against entrants on one workload; each is a process of its own.

    Kernel: the forest and the prepared rows are there; for a peer, its explainer and its form of
    the rows. End to end: from the library's fitted model to attributions, compiled code in the
    cache; for a peer, construction of the explainer plus the kernel. A peer that is given fewer
    rows has only its kernel time scaled to all of them.
    """

    workload: Workload
    entrants: tuple[Entrant, ...]
    measure: str = "tree_shap"  # of `sides.MEASURES`
    rounds: int = 3
    loops: int = 1  # kernel runs in one timing, where a single one is too short
    threads: tuple[int, ...] = (1, 2)
    background: int = 0  # first training rows that are the background
    family: str = ""  # the seed that drew the workload

    def run(self, peers) -> list[dict]:
        """All rows of the table; `peers` are the processes."""
        with tempfile.TemporaryDirectory() as folder:
            self.workload.write(folder, self.background)
            ours = Ours(folder, self.measure, self.loops)
            if self.measure == "tree_shap":
                algorithm, ratio = too_slow(ours)
                if ratio > WRONG:
                    print(f"{self.workload.scope}: {algorithm} takes {ratio:.2f} times the fastest")
            sides, not_installed = self._enter(peers)
            for side in sides:
                side.load(folder, self.measure)
            for side in sides:
                side.loaded()
            possible = [n for n in self.threads if n <= numba.config.NUMBA_NUM_THREADS]
            rows = [row for n in possible for row in self._on(n, ours, sides)]
        return rows + not_installed

    def _enter(self, peers):
        sides, not_installed = [], []
        for entrant in self.entrants:
            try:
                sides.append(peers.enter(entrant))
            except environments.NotInstalledError as reason:
                note = f"not installed here: {reason}"
                not_installed.append({**self._names(entrant), "note": note})
        return sides, not_installed

    def _on(self, threads, ours, sides):
        """Rows for one number of threads."""
        sides = [side for side in sides if threads <= side.entrant.most_threads]
        runs = [lambda: ours.run(threads)]
        runs += [lambda side=side: side.run(threads, self.loops) for side in sides]
        of_ours, *of_sides = in_turn(runs, self.rounds)
        for side, times in zip(sides, of_sides, strict=True):
            yield from self._compared(threads, ours, medians(of_ours), side, times)

    def _compared(self, threads, ours, ours_s, side, times):
        names = {**self._names(side.entrant), "threads": threads}
        if side.failure:
            yield {**names, "note": f"failed: {side.failure}"}
            return
        theirs_s = medians(times, len(ours.X) / (side.entrant.rows or len(ours.X)))
        off, nodes = difference(ours.values, side.values()), fitted.node_count(ours.model)
        notes = [
            f"its forest has {side.nodes} nodes, ours {nodes}" if side.nodes != nodes else "",
            "" if off <= RIGHT else "not right",
        ]
        names |= {
            "peer_threads": threads if side.threads else 1,
            "peer_version": side.version,
            "difference": f"{off:.1e}",
            "note": "; ".join(filter(None, notes)),
        }
        for mode, pair in ours_s.items():
            for clock, name in enumerate(("cpu", "wall")):
                times = pair[clock], theirs_s[mode][clock]
                yield timed_row(*times, mode=mode, clock=name, **names)

    def _names(self, entrant):
        background = f", {self.background} background rows" if self.background else ""
        return {
            "benchmark": MEASURES[self.measure].title,
            "scope": self.workload.scope + background,
            "peer": entrant.label or entrant.peer,
            "peer_rows": entrant.rows or self.workload.rows,
            "family": self.family,
        }


def in_turn(runs, rounds) -> list[list]:
    """What each of the functions gives in each round but the first."""
    results = [[run() for run in runs] for _ in range(rounds + 1)]
    return [list(of_one) for of_one in zip(*results[1:], strict=True)]


def medians(times, scale=1.0):
    """Median (CPU, wall) seconds by mode.

    A peer's parts become modes: its kernel is `explain`, scaled to all rows, and end to end is
    `construct` besides.
    """
    parts = {
        part: [statistics.median(t[part][clock] for t in times) for clock in (0, 1)]
        for part in times[0]
    }
    if "construct" not in parts:
        return parts
    kernel = [seconds * scale for seconds in parts["explain"]]
    end_to_end = [a + b for a, b in zip(parts["construct"], kernel, strict=True)]
    return {"kernel": kernel, "end to end": end_to_end}


def difference(ours, theirs) -> float:
    """Largest difference over the largest attribution, on the rows and outputs that both have.

    A peer that explains one of two classes explains the last. Matrices of interactions are compared
    entry by entry.
    """
    if ours.ndim == 4:
        ours = ours.reshape(len(ours), -1, ours.shape[3])
        theirs = theirs.reshape(len(theirs), -1, theirs.shape[3])
    ours = ours[: len(theirs), :, -theirs.shape[2] :]
    return float(np.abs(ours - theirs).max() / np.abs(ours).max())


def timed_row(ours, theirs, **columns) -> dict:
    """One row of the table, with seconds and their ratio."""
    times = {"ours_s": f"{ours:.6g}", "peer_s": f"{theirs:.6g}", "ratio": f"{theirs / ours:.4g}"}
    return columns | times


def _cpu_seconds(function):
    start = time.process_time()
    function()
    return time.process_time() - start
