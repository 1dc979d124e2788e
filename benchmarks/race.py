"""One workload, ours against all its peers in turn: each peer is a process of its own.

A round runs ours (kernel, then end to end) and then each peer once; the rounds follow one another
and the first is not counted. While one side runs, the others wait for a line on a pipe.

Kernel: the forest and the prepared rows are there; for a peer, its explainer and its form of the
rows. End to end: from the library's fitted model to attributions, compiled code in the cache; for
a peer, construction of the explainer plus the kernel. A peer that is given fewer rows has only
its kernel time scaled to all of them.
"""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numba
import numpy as np

import environments
import fitted
import splitcredit
from pairs import row_of
from sides import Ours, Peers
from worker import clocks
from workloads import WORKLOADS

NAMES = {
    "tree_shap": "TreeSHAP",
    "tree_shap_interventional": "TreeSHAP, interventional",
    "saabas": "Saabas",
    "interactions": "Shapley interaction values",
    "explainer": "TreeExplainer",
}


@dataclass(frozen=True)
class Entrant:
    """A peer in one race.

    Parameters
    ----------
    peer : str
        File in benchmarks/peers.
    environment : str
        File of requirements there.
    rows : int, optional
        How many of the rows it is given; all if None.
    variant : str
        What the peer's file makes of it.
    label : str
        What the tables call it.
    most_threads : int
        Left out of rounds on more: where it knows no threads and another peer is faster.
    targets : dict
        Ratio aimed at, by mode; the race's if not given.
    """

    peer: str
    environment: str = "current"
    rows: int | None = None
    variant: str = ""
    label: str = ""
    most_threads: int = 2
    targets: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Race:
    """Ours against the entrants on one workload.

    Parameters
    ----------
    workload : str
        Key in `workloads.WORKLOADS`.
    entrants : tuple of Entrant
    targets : dict
        Ratio aimed at, by mode (``"kernel"``, ``"end to end"``).
    measure : str
        Of `splitcredit.measures`, ``"interactions"``, or ``"explainer"`` for TreeSHAP by
        `splitcredit.TreeExplainer`.
    rounds : int
        Counted ones.
    loops : int
        Kernel runs in one timing, where a single one is too short.
    threads : tuple of int
    background : int
        First training rows that are the background; 0 for none.
    """

    workload: str
    entrants: tuple[Entrant, ...]
    targets: dict
    measure: str = "tree_shap"
    rounds: int = 3
    loops: int = 1
    threads: tuple[int, ...] = (1, 2)
    background: int = 0

    def run(self, peers=None) -> list[dict]:
        """All rows of the table.

        Parameters
        ----------
        peers : Peers, optional
            Processes that go on to other races; by default they end with this one.
        """
        if peers is None:
            with Peers() as peers:
                return self.run(peers)
        with tempfile.TemporaryDirectory() as folder:
            WORKLOADS[self.workload].write(folder)
            if self.background:
                training = np.load(Path(folder) / "data.npz")["X"]
                np.save(Path(folder) / "background.npy", training[: self.background])
            ours = Ours(folder, self.measure, self.loops)
            sides, not_installed = self._start(peers)
            for side in sides:
                side.load(folder, self.measure)
            for side in sides:
                side.loaded()
            rows = [row for n in self._possible() for row in self._on(n, ours, sides)]
        return rows + [self._row(e, note=f"not installed here: {why}") for e, why in not_installed]

    def _possible(self):
        return [n for n in self.threads if n <= numba.config.NUMBA_NUM_THREADS]

    def _start(self, peers):
        sides, not_installed = [], []
        for entrant in self.entrants:
            try:
                sides.append(peers.enter(entrant))
            except environments.NotInstalledError as reason:
                not_installed.append((entrant, reason))
        return sides, not_installed

    def _on(self, threads, ours, sides):
        """Rows for one number of threads."""
        sides = [side for side in sides if threads <= side.entrant.most_threads]
        ours_times, times = [], {side: [] for side in sides}
        for _ in range(self.rounds + 1):
            ours_times.append(ours.run(threads))
            for side in sides:
                if not side.failure:
                    times[side].append(side.run(threads, self.loops))
        ours_median = medians(ours_times)
        for side in sides:
            yield from self._compare(threads, ours, ours_median, side, times[side])

    def _compare(self, threads, ours, ours_median, side, times):
        if side.failure:
            yield self._row(side.entrant, threads=threads, note=f"failed: {side.failure}")
            return
        scale = len(ours.X) / (side.entrant.rows or len(ours.X))
        theirs = medians(times, scale)
        shared = {
            "threads": threads,
            "peer_threads": threads if side.threads else 1,
            "peer_version": side.version,
            "difference": f"{difference(ours.values, side.values()):.1e}",
            "note": side.note(ours.model),
        }
        for mode, pair in ours_median.items():
            target = {**self.targets, **side.entrant.targets}.get(mode)
            for clock, name in enumerate(("cpu", "wall")):
                clocked = {"mode": mode, "clock": name}
                clocked["target"] = f"{target:g}" if target else ""
                yield self._row(side.entrant, pair[clock], theirs[mode][clock], **clocked, **shared)

    def _row(self, entrant, ours=None, theirs=None, **columns):
        """One row of the table."""
        scope = scope_of(self.workload)
        if self.background:
            scope += f", {self.background} background rows"
        names = {
            "benchmark": NAMES[self.measure],
            "scope": scope,
            "peer": entrant.label or entrant.peer,
            "peer_rows": entrant.rows or WORKLOADS[self.workload].rows,
        }
        return row_of(ours, theirs, **names, **columns)


@dataclass(frozen=True)
class Limit:
    """Ours against a time that is a target or printed: once, end to end, all outputs.

    Parameters
    ----------
    workload : str
        Key in `workloads.WORKLOADS`.
    whose : str
        Whose time it is.
    seconds : float
        Of wall time.
    threads : int
    """

    workload: str
    whose: str
    seconds: float
    threads: int = 2

    def run(self) -> list[dict]:
        """One row of the table."""
        with tempfile.TemporaryDirectory() as folder:
            WORKLOADS[self.workload].write(folder)
            model, X = fitted.load(folder), np.load(Path(folder) / "rows.npy")
        splitcredit.explain(model, X[:256])
        numba.set_num_threads(self.threads)
        start = clocks()
        splitcredit.explain(model, X)
        wall = clocks()[1] - start[1]
        numba.set_num_threads(1)
        names = {"benchmark": NAMES["tree_shap"], "scope": scope_of(self.workload)}
        how = {"mode": "end to end", "clock": "wall", "threads": self.threads, "target": "1"}
        return [row_of(wall, self.seconds, peer=self.whose, **names, **how)]


def scope_of(workload):
    """What a table calls the workload."""
    rows = WORKLOADS[workload].rows
    return f"{WORKLOADS[workload].title}, {rows} row{'s' if rows > 1 else ''}"


def medians(times, scale=1.0):
    """(CPU, wall) seconds by mode, medians without the first.

    A peer's parts become modes: its kernel is `explain`, scaled to all rows, and end to end is
    `construct` besides.
    """
    parts = {
        part: [statistics.median(t[part][clock] for t in times[1:]) for clock in (0, 1)]
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
