"""Keys: digests of folders, by which an edit of the sources reruns the jobs that may use them.

Snakemake sees no edit in an imported module. So a digest of folders is a parameter of each rule:
an edit may rerun more than it must. It covers the lock, and not the place of the checkout.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from reproduction.planning.places import ROOT

# Parts of the sources. `papers` is what all papers share.
_FOLDERS = {
    "library": ("src/splitcredit",),
    "metrics": ("src/reproduction/metrics", "src/reproduction/stages/metrics.py"),
    "papers": (
        *(f"src/reproduction/{name}" for name in ("theory", "figures", "claims.py", "marked.py")),
        "src/reproduction/stages/artefacts.py",
    ),
    "report": (
        *(f"src/reproduction/{name}" for name in ("report", "claims_summary.py")),
        *(f"src/reproduction/stages/{n}.py" for n in ("claims", "check", "report", "sweeps")),
    ),
}
# Each paper is a part of its own; plans are parameters of jobs.
_APART = ("src/reproduction/papers", "src/reproduction/planning")


def key(*parts: str, files=()) -> str:
    """Digest of some parts of the sources, of the lock, and of the content of the user's files.

    The part ``"stages"`` has data sets and all that is not named elsewhere; ``"papers/NAME"`` is
    the code of one paper.
    """
    contents = "\n".join([_versions(), *map(_digest, parts), *map(_content, map(Path, files))])
    return hashlib.sha256(contents.encode()).hexdigest()[:16]


@cache
def _digest(part):
    if part == "stages":
        others = [ROOT / name for names in (*_FOLDERS.values(), _APART) for name in names]
        files = {*_files(ROOT / "src/reproduction"), *_files(ROOT / "data")} - {
            file for other in others for file in _files(other)
        }
    elif part == "papers":
        files = {*(ROOT / "src/reproduction/papers").glob("*.py")}
        files |= {file for name in _FOLDERS[part] for file in _files(ROOT / name)}
    else:
        names = _FOLDERS.get(part, (f"src/reproduction/{part}",))
        files = {file for name in names for file in _files(ROOT / name)}
    return " ".join(f"{file.relative_to(ROOT)} {_content(file)}" for file in sorted(files))


def _files(path):
    """A file, or all below a folder but hidden ones of editors, pages, and compiled code."""
    found = path.rglob("[!.]*") if path.is_dir() else [path]
    found = (file for file in found if file.is_file() and file.suffix != ".md")
    return (file for file in found if "__pycache__" not in file.relative_to(ROOT).parts)


@cache
def _content(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"


@cache
def _versions():
    """Names and versions of the packages that the lock pins; not their hashes."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^[\w.-]+==[^\s\\]+", text, re.MULTILINE))
