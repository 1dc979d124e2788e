"""Run the benchmarks: python benchmarks/run.py [NAME ...], or `make bench`.

Writes results/timing/bench.csv (`ratio` is the peer's time over ours) and the statements about
cost that they decide, results/claims_timing.csv. No test depends on a time.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numba

from pairs import COLUMNS
from splitcredit import claims, storage
from splitcredit.papers.sutera2021 import theorems

ROOT = Path(__file__).resolve().parents[1]
# Threads last: idle ones that still spin would count as CPU time of what follows.
MODULES = ("sutera2021", "threads")


def main(names):
    """Run the modules named, or all."""
    numba.set_num_threads(1)
    rows = []
    for name in names or MODULES:
        for pair in importlib.import_module(name).benchmarks():
            rows.append(pair.run())
            print("{benchmark}; {scope}; {peer}: {ratio}x (target {target}x)".format(**rows[-1]))
    storage.write_rows(ROOT / "results" / "timing" / "bench.csv", rows, COLUMNS)
    judged = statements(rows)
    if judged:
        storage.write_rows(ROOT / "results" / "claims_timing.csv", judged, claims.COLUMNS)


def statements(rows) -> list[dict]:
    """s22 and s23 of sutera2021: what local MDI costs beside a prediction, and MDI beside SAGE."""
    ratios = {
        "s22": [r for r in rows if r["benchmark"] == "local MDI" and "apply" in r["peer"]],
        "s23": [r for r in rows if r["benchmark"] == "MDI beside SAGE"],
    }
    findings = [
        {**timed, "value": min(float(r["ratio"]) for r in ratios[timed["statement"]])}
        for timed in theorems.TIMED
        if ratios[timed["statement"]]
    ]
    stated = storage.read_rows(ROOT / "config" / "claims" / "sutera2021_statements.csv")
    evidence = {s: {"test": "benchmarks/sutera2021.py", "cause": "see bench.csv"} for s in ratios}
    texts = {row["id"]: row["statement"] for row in stated}
    return claims.judge_statements("sutera2021", "theorems", findings, texts, evidence)


if __name__ == "__main__":
    main(sys.argv[1:])
