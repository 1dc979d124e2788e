"""Which source files a job depends on: the import closure of its entry module.

Snakemake sees no edit in an imported module. So a digest of all of them is a parameter of the rule:
dozens of inputs a job would keep the scheduler busy, and a fresh checkout would count as an edit.
The closure is found by reading import statements, those inside functions included; nothing is
imported.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

PACKAGE = "splitcredit"
_ROOT = Path(__file__).resolve().parents[1]


def sources(*modules: str) -> list[str]:
    """Files that the modules need, as sorted paths relative to the current directory if inside it.

    Parameters
    ----------
    *modules : str
        Dotted names in this package, e.g. ``"splitcredit.importances.saabas"``.

    Raises
    ------
    ModuleNotFoundError
        If a module does not exist.
    """
    found: set[Path] = set()
    waiting = [_file(m) for m in modules]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path)
    here = Path.cwd()
    return sorted(str(p.relative_to(here)) if p.is_relative_to(here) else str(p) for p in found)


@cache
def digest(*modules: str) -> str:
    """Sixteen hexadecimal digits that change with any of the `sources` of the modules."""
    text = hashlib.sha256()
    for file in sources(*modules):
        path = Path(file).resolve()
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        text.update(f"{path.relative_to(_ROOT)} {content}\n".encode())
    return text.hexdigest()[:16]


def _file(module: str) -> Path:
    path = _find(module)
    if path is None:
        raise ModuleNotFoundError(f"no module {module} in {_ROOT}")
    return path


@cache
def _find(module: str) -> Path | None:
    path = _ROOT.joinpath(*module.split(".")[1:])
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _imported(path: Path) -> list[Path]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    ours = [n for n in names if n == PACKAGE or n.startswith(f"{PACKAGE}.")]
    # Importing a.b.c runs a/__init__.py and a/b/__init__.py too.
    parents = {".".join(n.split(".")[:i]) for n in ours for i in range(1, n.count(".") + 1)}
    return [p for p in (_find(n) for n in sorted({*ours, *parents})) if p is not None]
