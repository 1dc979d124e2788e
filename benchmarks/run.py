"""Run the benchmarks: python benchmarks/run.py [MODULE [RACE ...]], or `make bench`.

Writes results/timing/bench.csv (`ratio` is the peer's time over ours); a run of one module
replaces the rows of its own works, and leaves the others. `family SEED` races models that are drawn
by the seed, prints the ten at which ours does worst, and adds the rows to bench.csv. No test
depends on a time.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

import numba

import family
from pairs import COLUMNS
from reproduction import storage
from sides import Peers
from splitcredit.views.warm_up import warm_up

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "results" / "timing" / "bench.csv"
MODULES = ("sutera2021", "loecher2022", "gajewski2025", "tree_shap")


def main(*arguments):
    """Run all modules, or one, or of that one the races named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("module", nargs="?", choices=(*MODULES, "family"))
    parser.add_argument("names", nargs="*", metavar="RACE")
    options = parser.parse_args(arguments)
    module, names = options.module, options.names
    if module == "family" and not (names and names[0].isdigit()):
        parser.error("family needs a seed, a whole number, such as: family 7")
    warm_up()  # small jobs would go on without the fast kernels, see docs/first_call.md
    numba.set_num_threads(1)
    if module == "family":
        return run_family(*names)
    rows = []
    for name in [module] if module else MODULES:
        for timed in importlib.import_module(name).benchmarks(*names):
            rows += printed(timed.run())
        replace(rows)
    if not module:
        storage.write_rows(TABLE, rows + [row for row in stored() if row.get("family")], COLUMNS)


def replace(rows):
    """Write rows into the table in the place of those of the same works; the others stay."""
    works, before = {_work(row) for row in rows}, stored()
    place = next((i for i, row in enumerate(before) if _work(row) in works), len(before))
    rest = [row for row in before[place:] if _work(row) not in works]
    storage.write_rows(TABLE, before[:place] + rows + rest, COLUMNS)


def _work(row):
    return row["benchmark"], row["scope"]


def run_family(seed, *numbers):
    """Run the family of a seed, or some of its models; their rows in the table are replaced."""
    rows = []
    with Peers() as peers:
        for race in family.benchmarks(seed, *numbers):
            rows += printed(race.run(peers))
    scopes = {row["scope"] for row in rows}
    kept_rows = [
        row
        for row in stored()
        if row.get("family") != seed or (numbers and row["scope"] not in scopes)
    ]
    storage.write_rows(TABLE, kept_rows + rows, COLUMNS)
    print(f"\nThe lowest ratios of family {seed}, end to end on one thread:")
    for row in family.worst(rows):
        print(line(row))


def stored() -> list[dict]:
    """Rows of the table that is there."""
    return storage.read_rows(TABLE) if TABLE.exists() else []


def printed(rows) -> list[dict]:
    """The rows, of which the terminal shows one clock."""
    for row in rows:
        if row.get("clock") != ("wall" if row.get("threads") == 1 else "cpu"):
            print(line(row), flush=True)
    return rows


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
