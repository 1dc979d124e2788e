"""The two kinds of sides in a race: ours, in this process, and a peer, in one of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
from threadpoolctl import threadpool_limits

import environments
import fitted
import splitcredit
from splitcredit.kernels import cache
from splitcredit.kernels.interactions.explain import interaction_matrix
from splitcredit.kernels.interventional.explain import tree_shap_interventional
from splitcredit.kernels.tree_shap.explain import chosen, tree_shap
from splitcredit.kernels.walks.saabas import saabas
from worker import clocks

HERE = Path(__file__).resolve().parent
LOGS = HERE.parent / "results" / "timing" / "peers"


class Ours:
    """Our side of a race."""

    def __init__(self, folder, measure, loops):
        self.model = fitted.load(folder)
        self.X = np.load(Path(folder) / "rows.npy")
        self.measure, self.loops = MEASURES[measure], loops
        background = Path(folder) / "background.npy"
        self.background = np.load(background) if background.exists() else None
        self.forest = splitcredit.to_forest(self.model)
        self.prepared = self.forest.prepare(self.X)
        self.outputs = np.arange(self.forest.n_outputs)
        self.explainer = splitcredit.TreeExplainer(self.model) if measure == "explainer" else None

    def run(self, threads):
        """(CPU, wall) seconds by mode."""
        numba.set_num_threads(threads)
        # Libraries write their models by threads that wait in loops.
        with threadpool_limits(threads, "openmp"):
            start = clocks()
            for _ in range(self.loops):
                self.measure.kernel(self)
            middle = clocks()
            values = self.measure.end_to_end(self)
            end = clocks()
        # An explainer leaves out the axis of a single output.
        self.values = values[..., None] if values.ndim == 2 else values
        numba.set_num_threads(1)
        return {
            "kernel": [(b - a) / self.loops for a, b in zip(start, middle, strict=True)],
            "end to end": [b - a for a, b in zip(middle, end, strict=True)],
        }


def too_slow(ours):
    """Return the chosen algorithm of TreeSHAP, and its time divided by the fastest one's."""
    seconds, taken = {}, chosen(ours.forest, len(ours.X))
    for algorithm in {"blocks", "tables", taken}:
        with contextlib.suppress(ValueError):  # the trees are too deep for tables
            for _ in range(3):
                cache.ARRAYS.clear()
                start = clocks()[0]
                tree_shap(ours.forest, ours.prepared, algorithm=algorithm)
                seconds.setdefault(algorithm, []).append(clocks()[0] - start)
    fastest = {algorithm: min(times) for algorithm, times in seconds.items()}
    return taken, fastest[taken] / min(fastest.values())


class Measure(NamedTuple):
    """What is raced: the title in the tables, our kernel, and our call from model to values."""

    title: str
    kernel: Callable[[Ours], np.ndarray]
    end_to_end: Callable[[Ours], np.ndarray]


def _explained(ours, explainer):
    return explainer.shap_values(ours.X, check_additivity=False)


MEASURES = {
    "tree_shap": Measure(
        "TreeSHAP",
        lambda ours: tree_shap(ours.forest, ours.prepared),
        lambda ours: splitcredit.tree_shap(ours.model, ours.X).values,
    ),
    "tree_shap_interventional": Measure(
        "TreeSHAP, interventional",
        lambda ours: tree_shap_interventional(
            ours.forest, ours.prepared, ours.outputs, ours.forest.prepare(ours.background)
        ),
        lambda ours: (
            splitcredit.tree_shap_interventional(
                ours.model, ours.X, background=ours.background
            ).values
        ),
    ),
    "saabas": Measure(
        "Saabas",
        lambda ours: saabas(ours.forest, ours.prepared),
        lambda ours: splitcredit.saabas(ours.model, ours.X).values,
    ),
    "interactions": Measure(
        "Shapley interaction values",
        lambda ours: interaction_matrix(ours.forest, ours.prepared, ours.outputs),
        lambda ours: splitcredit.interactions(ours.model, ours.X).values,
    ),
    "explainer": Measure(
        "TreeExplainer",
        lambda ours: _explained(ours, ours.explainer),
        lambda ours: _explained(ours, splitcredit.TreeExplainer(ours.model)),
    ),
}


class Peer:
    """The other end of worker.py."""

    def __init__(self, entrant, python):
        self.enter(entrant)
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log = open(LOGS / f"{entrant.peer}{entrant.variant}.log", "w")
        variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        # XGBoost never takes more threads than this allows.
        variables["OMP_NUM_THREADS"] = str(numba.config.NUMBA_NUM_THREADS)
        self.process = subprocess.Popen(
            [python, HERE / "worker.py", entrant.peer],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=variables,
        )

    def enter(self, entrant):
        """Take part in another race."""
        self.entrant, self.failure = entrant, ""

    def load(self, folder, measure):
        """Tell it to read or grow the model; `loaded` waits for the answer."""
        e = self.entrant
        command = {"folder": str(folder), "measure": measure, "variant": e.variant, "rows": e.rows}
        self._tell(do="load", **command)

    def loaded(self):
        """Wait until it is ready, and note what it said about itself."""
        answer = self._answer()
        self.version, self.nodes = answer.get("version", ""), answer.get("nodes")
        self.threads = answer.get("threads", False)

    def run(self, threads, loops):
        """(CPU, wall) seconds by part, `construct` and `explain`; nothing of use if it failed."""
        return {} if self.failure else self._ask(do="run", threads=threads, loops=loops)

    def values(self):
        """Attributions of its last run."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "values.npy"
            self._ask(do="values", file=str(file))
            return np.load(file)

    def stop(self):
        """End of its input is the end of the process."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def _ask(self, **command):
        self._tell(**command)
        return self._answer()

    def _tell(self, **command):
        with contextlib.suppress(BrokenPipeError):  # then there is no answer either
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()

    def _answer(self):
        line = self.process.stdout.readline()
        answer = json.loads(line) if line else {"error": f"ended; see {self.log.name}"}
        if "error" in answer:
            self.failure = answer["error"]
            print(f"{self.entrant.peer}: {self.failure}", file=sys.stderr)
        return answer


class Peers:
    """The processes of peers, one for each variant of a peer; they end with the block."""

    def __init__(self):
        self.started = {}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for peer in self.started.values():
            peer.stop()

    def enter(self, entrant) -> Peer:
        """The process of an entrant, which is started if there is none or it has ended.

        NotInstalledError says why it cannot be installed here.
        """
        key = entrant.peer, entrant.environment, entrant.variant
        peer = self.started.get(key)
        if peer is not None and peer.process.poll() is None:
            peer.enter(entrant)
            return peer
        if peer is not None:
            peer.stop()
        self.started[key] = Peer(entrant, environments.python_of(entrant.environment))
        return self.started[key]
