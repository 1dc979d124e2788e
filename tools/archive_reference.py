"""Put everything that a full run shows into one archive: build/reference-COMMIT.tar.gz.

Run by `make reference-archive`. The repository keeps claims, tables and a few figures of the
reference run; the archive has all figures, as PNG and SVG, all tables and the report. It names no
owner and no time, so that equal results give equal bytes.
"""

import gzip
import re
import sys
import tarfile
from pathlib import Path

from reproduction import storage
from reproduction.claims_summary import reduced_preset

ROOT = Path(__file__).resolve().parents[1]
RESULTS, BUILD = ROOT / "results", ROOT / "build"
CONTENTS = (
    "report.html",
    "claims*.csv",
    "claims.md",
    "verdict.txt",
    "tables/*/*.csv",
    "figures/*/*.*",
    "timing/tables/*/*.csv",
    "timing/figures/*/*.*",
)


def main(results: Path = RESULTS, build: Path = BUILD) -> Path:
    """Write the archive, say where it is, and return its path."""
    report = results / "report.html"
    if not (report.exists() and (results / "verdict.txt").exists()):
        sys.exit(f"{results} holds no finished run: run make reproduce first")
    reduced = reduced_preset(
        row for path in results.glob("claims*.csv") for row in storage.read_rows(path)
    )
    if reduced is not None:
        sys.exit(f"{results} holds a run of the preset {reduced}: run make reproduce first")
    name = f"reference-{commit(report.read_text(encoding='utf-8'))}"
    paths = sorted(path for pattern in CONTENTS for path in results.glob(pattern))
    target = build / f"{name}.tar.gz"
    with (
        storage.atomic(target) as temporary,
        open(temporary, "wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed,
        tarfile.open(mode="w", fileobj=packed, format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in paths:
            inside = f"{name}/{path.relative_to(results).as_posix()}"
            archive.add(path, inside, filter=anonymous)
    print(f"{target}: {len(paths)} files, {target.stat().st_size / 1e6:.1f} MB")
    return target


def commit(report: str) -> str:
    """First digits of the commit that a report names, and whether files had changed since.

    Without git a report names none, and the text is ``unknown``.
    """
    named = re.search(r"Commit</th><td[^>]*>([0-9a-f]{10})[0-9a-f]*(, with changes)?", report)
    if not named:
        return "unknown"
    return named[1] + ("-changed" if named[2] else "")


def anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """The entry without owner, time and rights, which differ between machines."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry


if __name__ == "__main__":
    main()
