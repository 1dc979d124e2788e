"""Files of former releases, converted and compared with what these releases gave for them.

    python benchmarks/releases.py --write

reads the models in ``tests/models/former``, which `make_former.py` there has made with each
release, and writes the table of docs/models.md. A difference is relative to the largest number of
the release.
"""

from __future__ import annotations

import argparse
import base64
import json
import tempfile
from pathlib import Path

import numpy as np

from reproduction import marked
from splitcredit import explain

ROOT = Path(__file__).resolve().parents[1]
DECODE = {
    "json": lambda content: json.dumps(content).encode(),
    "ubj": base64.b64decode,
    "text": str.encode,
}
HEAD = (
    "| release | formats | models | scores | contributions |",
    "|---|---|---|--:|--:|",
)


def main():
    """Print the table, and write it with ``--write``."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write docs/models.md")
    write = parser.parse_args().write
    paths = (ROOT / "tests" / "models" / "former").glob("*.json")
    table = "\n".join([*HEAD, *(row(path) for path in sorted(paths, key=_release))])
    print(table)
    if write:
        marked.write(ROOT / "docs" / "models.md", "releases", table)


def row(path) -> str:
    """The line of one release."""
    library, _, release = path.stem.partition("-")
    models, formats, off = json.loads(path.read_text()), [], np.zeros(2)
    for kind, stored in models.items():
        for key in (key for key in DECODE if key in stored):
            formats += [] if key in formats else [key]
            off = np.maximum(off, differences(stored, key, 2 if kind == "forest" else 1))
    cells = (f"{library} {release}", ", ".join(formats), ", ".join(models))
    return f"| {' | '.join(cells)} | {off[0]:.1e} | {off[1]:.1e} |"


def differences(stored, key, times):
    """Largest differences of scores and contributions; LightGBM adds the trees of forests."""
    rows = np.array(stored["rows"], float)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(DECODE[key](stored[key]))
        attribution = explain(path, rows)
    own = np.reshape(stored["contributions"], (len(rows), -1, rows.shape[1] + 1))
    own = own.transpose(0, 2, 1)
    size = np.abs(own).max()
    scores = np.abs(times * attribution.totals() - own.sum(axis=1)).max()
    values = np.abs(times * attribution.values - own[:, :-1]).max()
    return scores / size, values / size


def _release(path):
    library, _, release = path.stem.partition("-")
    return library, [int(part) for part in release.split(".")]


if __name__ == "__main__":
    main()
