"""Copy the outcome of a full run into docs/reference, and its summary into the README.

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
    summary = (RESULTS / "claims.md").read_text(encoding="utf-8")
    readme = ROOT / "README.md"
    block = f"<!-- claims -->\n{summary}<!-- /claims -->"
    text = re.sub(
        r"<!-- claims -->\n.*?<!-- /claims -->", lambda _: block, readme.read_text(), flags=re.S
    )
    storage.write_text(readme, text)


if __name__ == "__main__":
    main()
