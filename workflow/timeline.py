"""Draw when each job of a finished run ran, and write the seconds of every rule.

    python workflow/timeline.py [--cores N] [RESULTS]

RESULTS is the folder of a run, ``results`` if not given. Into its ``timing`` go ``timeline.svg``,
``timeline.png`` and ``rules.csv``.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reproduction import storage  # noqa: E402
from reproduction.figures import save, style  # noqa: E402
from reproduction.planning.schedule import number_of_cores  # noqa: E402
from reproduction.report import timeline  # noqa: E402


def main(arguments) -> None:
    """Write the three files; end with one line if there is no run."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("results", nargs="?", default="results", type=Path)
    parser.add_argument("--cores", default="all", help="that the run was given; default all")
    options = parser.parse_args(arguments)
    cores = number_of_cores(options.cores)
    try:
        bars = timeline.bars(options.results)
    except ValueError as error:
        sys.exit(str(error))
    rows = timeline.seconds_by_rule(options.results)
    storage.write_rows(options.results / "timing" / "rules.csv", rows, list(rows[0]))
    with style():
        figure = timeline.draw(bars, cores)
        for suffix in ("svg", "png"):
            save(figure, options.results / "timing" / f"timeline.{suffix}")
    print(f"{options.results}/timing/timeline.png, {options.results}/timing/rules.csv")


if __name__ == "__main__":
    main(sys.argv[1:])
