"""Copy the outcome of a full run into docs/reference, and its summaries into the README.

Run by `make reference`. The reference is what tests and README hold on to; results/ itself is
not committed.
"""

import re
import shutil
import sys
from pathlib import Path

from splitcredit import storage

ROOT = Path(__file__).resolve().parents[1]
RESULTS, REFERENCE = ROOT / "results", ROOT / "docs" / "reference"
# Tables above this size are the points of figures, which the pictures show.
LARGEST = 200_000


def main():
    """Copy, or say what is missing."""
    claims = RESULTS / "claims.csv"
    if not claims.exists():
        sys.exit(f"{claims.relative_to(ROOT)} is missing: run make reproduce first")
    if any("preset" in row["cause"] for row in storage.read_rows(claims)):
        sys.exit("the results are those of a reduced preset: run make reproduce first")
    shutil.rmtree(REFERENCE, ignore_errors=True)
    REFERENCE.mkdir(parents=True)
    shutil.copy(claims, REFERENCE)
    tables = [p for p in RESULTS.glob("tables/*/*.csv") if p.stat().st_size <= LARGEST]
    for path in [*tables, *RESULTS.glob("figures/*/*.png")]:
        target = REFERENCE / path.relative_to(RESULTS)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    fill("claims", (RESULTS / "claims.md").read_text(encoding="utf-8"))
    bench = RESULTS / "timing" / "bench.csv"
    if bench.exists():
        shutil.copy(bench, REFERENCE)
        fill("bench", bench_table(storage.read_rows(bench)))


def bench_table(rows) -> str:
    """Markdown table of the benchmarks."""
    lines = ["| | work | against | ours | peer | ratio |", "|---|---|---|--:|--:|--:|"]
    for row in rows:
        times = " | ".join(f"{float(row[name]):.3g} s" for name in ("ours_s", "peer_s"))
        peer = f"{row['peer']} {row['peer_version']}"
        ratio = f"{float(row['ratio']):.3g}x"
        cells = (row["benchmark"], row["scope"], peer, times, ratio)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def fill(name, text):
    """Put the text between the marks of that name in the README."""
    readme = ROOT / "README.md"
    block = f"<!-- {name} -->\n{text}<!-- /{name} -->"
    pattern = f"<!-- {name} -->\n.*?<!-- /{name} -->"
    whole = re.sub(pattern, lambda _: block, readme.read_text(encoding="utf-8"), flags=re.S)
    storage.write_text(readme, whole)


if __name__ == "__main__":
    main()
