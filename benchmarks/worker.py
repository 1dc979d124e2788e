"""A peer in a process of its own: python worker.py PEER, in the environment that the peer needs.

One JSON object a line comes in, one goes out; `sides.Peer` is the other end. Only the parts
that the main process asks for run, one after the other, so the two never run at the same time.

    {"do": "load", "folder": ..., "measure": ..., "variant": ..., "rows": n}
        -> {"version": ..., "threads": whether it takes a number, "nodes": n or null}
    {"do": "run", "threads": n, "loops": n}
        -> {"construct": [cpu, wall], "explain": [cpu, wall]}
    {"do": "values", "file": ...}
        -> {}, with the attributions of the last run in that file
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np

import fitted


class Side:
    """What one worker holds: the peer's module, the model, the rows, the last result."""

    def __init__(self, peer):
        self.peer = importlib.import_module(f"peers.{peer}")

    def load(self, folder, measure, variant, rows):
        """Read or grow the model; none of this is timed."""
        folder = Path(folder)
        self.model = fitted.load(folder)
        self.X = np.load(folder / "rows.npy")[:rows]
        background = folder / "background.npy"
        self.options = {
            "measure": measure,
            "variant": variant,
            "background": np.load(background) if background.exists() else None,
        }
        return {
            "version": version(self.peer.PACKAGE),
            "threads": self.peer.THREADS,
            "nodes": fitted.node_count(self.model),
        }

    def run(self, threads, loops):
        """Time the construction of the explainer and, apart, the explaining."""
        start = clocks()
        explainer = self.peer.construct(self.model, self.X, threads=threads, **self.options)
        constructed = clocks()
        for _ in range(loops):
            self.raw = self.peer.explain(explainer, self.X)
        explained = clocks()
        return {
            "construct": [b - a for a, b in zip(start, constructed, strict=True)],
            "explain": [(b - a) / loops for a, b in zip(constructed, explained, strict=True)],
        }

    def values(self, file):
        """Save the last attributions as (n_samples, n_features, n_outputs)."""
        np.save(file, self.peer.arranged(self.raw))
        return {}


def clocks():
    """CPU seconds of all threads of this process, and wall seconds."""
    return time.process_time(), time.perf_counter()


def serve(side, commands, answers):
    """Answer commands until there are no more; an error is an answer too."""
    for line in commands:
        command = json.loads(line)
        try:
            answer = getattr(side(), command.pop("do"))(**command)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


def main(peer):
    """Serve on the standard streams; what the libraries print goes to the log instead."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    sides = []

    def side():
        if not sides:
            sides.append(Side(peer))
        return sides[0]

    serve(side, sys.stdin, answers)


if __name__ == "__main__":
    main(sys.argv[1])
