"""Run the benchmarks: python benchmarks/run.py [MODULE [RACE ...]], or `make bench`.

Writes results/timing/bench.csv (`ratio` is the peer's time over ours); a run of one module writes
bench_MODULE.csv. No test depends on a time.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numba

from pairs import COLUMNS
from reproduction import storage
from splitcredit.kernels.warm_up import warm_up

ROOT = Path(__file__).resolve().parents[1]
# Threads last: idle ones that still spin would count as CPU time of what follows.
MODULES = ("sutera2021", "loecher2022", "gajewski2025", "tree_shap", "few_rows", "threads")


def main(module=None, *names):
    """Run all modules, or one, or of that one the races named."""
    warm_up()  # small jobs would go on without the fast kernels, see docs/first_call.md
    numba.set_num_threads(1)
    rows = []
    for name in [module] if module else MODULES:
        for timed in importlib.import_module(name).benchmarks(*names):
            for row in timed.run():
                rows.append(row)
                if row.get("clock") != ("wall" if row.get("threads") == 1 else "cpu"):
                    print(line(row), flush=True)
    file = f"bench_{module}.csv" if module else "bench.csv"
    storage.write_rows(ROOT / "results" / "timing" / file, rows, COLUMNS)


def line(row) -> str:
    """One row of the table, for the terminal: CPU time on one thread, wall time on more."""
    names = ("benchmark", "scope", "threads", "mode", "peer", "peer_version")
    text = "; ".join(str(row[name]) for name in names if row.get(name))
    if "ratio" not in row:
        return f"{text}: {row['note']}"
    target = f" (target {row['target']}x)" if row["target"] else ""
    notes = "".join(f"; {row[name]}" for name in ("difference", "note") if row.get(name))
    ours = f", ours {row['ours_s']} s" if "ours_s" in row else ""
    return f"{text}: {row['ratio']}x{target}{ours}{notes}"


if __name__ == "__main__":
    main(*sys.argv[1:])
