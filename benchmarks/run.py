"""Run the benchmarks: python benchmarks/run.py [MODULE [RACE ...]], or `make bench`.

Writes results/timing/bench.csv (`ratio` is the peer's time over ours); a run of one module, or of
some of its races, replaces the rows of its own works, and leaves the others. `family SEED` races
models that are drawn by the seed, and prints the ten at which ours does worst. No test depends on a
time.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numba

import family
from race import COLUMNS
from races import RACES
from reproduction import storage
from sides import Peers
from splitcredit.views.warm_up import warm_up

TABLE = Path(__file__).resolve().parents[1] / "results" / "timing" / "bench.csv"


def main(*arguments):
    """Run all modules, or one, or of that one the races named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("module", nargs="?", choices=(*RACES, "family"))
    parser.add_argument("names", nargs="*", metavar="RACE")
    options = parser.parse_args(arguments)
    module, names = options.module, options.names
    if module == "family":
        if not (names and names[0].isdigit()):
            parser.error("family needs a seed, a whole number, such as: family 7")
        races = family.races(*names)
    else:
        races = chosen(module, names)
    warm_up()  # small jobs would go on without the fast kernels, see docs/first_call.md
    numba.set_num_threads(1)
    before, rows = stored(), []
    with Peers() as peers:
        for race in races:
            rows += printed(race.run(peers))
            storage.write_rows(TABLE, replaced(before, rows), COLUMNS)
    if module is None:  # works that are raced no more are left out
        storage.write_rows(TABLE, rows + [row for row in before if row["family"]], COLUMNS)
    if module == "family":
        print(f"\nThe lowest ratios of family {names[0]}, end to end on one thread:")
        for row in family.worst(rows):
            print(line(row))


def chosen(module, names) -> list:
    """The races named, all of a module, or all."""
    if module is None:
        return [race for races in RACES.values() for race in races.values()]
    return [RACES[module][name] for name in names or RACES[module]]


def replaced(before, rows) -> list[dict]:
    """Rows of a table with new ones in the place of those of the same works.

    The rows of other works go before the models that were drawn.
    """
    works = {_work(row) for row in rows}
    not_drawn = sum(not row["family"] for row in before)
    place = next((i for i, row in enumerate(before) if _work(row) in works), not_drawn)
    rest = [row for row in before[place:] if _work(row) not in works]
    return before[:place] + rows + rest


def _work(row):
    return row["benchmark"], row["scope"]


def stored() -> list[dict]:
    """Rows of the table that is there."""
    rows = storage.read_rows(TABLE) if TABLE.exists() else []
    return [{name: row[name] for name in COLUMNS} for row in rows]


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
    notes = "".join(f"; {row[name]}" for name in ("difference", "note") if row.get(name))
    return f"{text}: {row['ratio']}x, ours {row['ours_s']} s{notes}"


if __name__ == "__main__":
    main(*sys.argv[1:])
