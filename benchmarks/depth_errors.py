"""Errors on deep trees of peers that need another environment than ours.

    python benchmarks/depth_errors.py shapiq

Run it with an interpreter that has the peer, numpy, scikit-learn and PyYAML; the project need not
be installed. The trees are given as plain arrays, the exact values come from fractions. Rows go to
recorded/depth_errors.csv of the paper, in place of those of the same method and version; artefact
lundberg2017/algorithms reads them (columns ``tree, depth, rows, method, version, error``). Recorded
were shapiq 1.8.0 and xgboost 3.4.1, which replaced its extend/unwind by a rule of 8 quadrature
points.
"""

from __future__ import annotations

import sys
from importlib.metadata import packages_distributions, version
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src"))

from reproduction import storage  # noqa: E402
from reproduction.papers.lundberg2017 import _deep, _peers  # noqa: E402
from reproduction.planning.places import PAPERS  # noqa: E402

FILE = PAPERS / "lundberg2017" / "recorded" / "depth_errors.csv"
COLUMNS = ("tree", "depth", "rows", "method", "version", "error")


def main(peers):
    """Measure the peers named and write them among what is recorded."""
    rows = storage.read_rows(FILE) if FILE.exists() else []
    cases = [*_deep.cases(), *_deep.real_cases()]
    for peer in peers:
        release = version(packages_distributions()[peer][0])
        rows = [r for r in rows if (r["method"], r["version"]) != (peer, release)]
        for case in cases:
            errors = case.errors(getattr(_peers, peer)(case.forest, case.X))
            place = {"tree": case.name, "depth": case.depth, "method": peer, "version": release}
            for kind, error in errors.items():
                rows.append({**place, "rows": kind, "error": error})
                line = "{tree}, depth {depth}, {rows}: {method} {version} {error:.1e}"
                print(line.format(**rows[-1]))
    storage.write_rows(FILE, rows, COLUMNS)


if __name__ == "__main__":
    main(sys.argv[1:])
