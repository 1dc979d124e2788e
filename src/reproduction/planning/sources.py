"""Which source files a job depends on, and a digest of them: the key by which edits rerun jobs.

Snakemake sees no edit in an imported module, so a digest of all of them is a parameter of the rule.
The files are the import closure of the job's entry module. It is found by reading import
statements, those inside functions included, and calls of `import_module` with the name as a string;
nothing is imported. Modules of the user's count as ours, in ``src`` or in the working directory.
Modules that are loaded by the name of a file (data sets, importances, metrics, artefacts) are named
by the recipes of the job, see `named`; converters, which are loaded by the library of a model,
belong to `splitcredit.convert`.

The digest ignores comments and blank lines. It covers the versions of all packages in the lock:
with others, equal sources may compute other values.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from reproduction.planning.places import CONFIG, ROOT, SRC
from reproduction.planning.signatures import MODULES, text_of

# from A import B, C; from A import (B, C); import A.B: at the start of a line, indented or not, or
# behind another statement. The text has no comments, and no line that ends in a backslash.
_IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from\b[ \t]*([\w. \t]+?)[ \t]*\bimport\b"
    r"[ \t]*(?:\(([^)]*)\)|([^\n;]*))|import[ \t]+([^\n;]*))",
    re.MULTILINE,
)
# importlib.import_module("A.B"), __import__("A.B"), import_module(".B", __package__).
_IMPORTED_BY_CALL = re.compile(
    r"""\b(?:import_module|__import__)\(\s*(?:name\s*=\s*)?["']([\w.]+)["']"""
)
_CONTINUED = re.compile(r"\\[ \t]*\n")
_CONVERTERS = SRC / "splitcredit" / "convert"
# What `make` builds the environment from.
LOCK = ROOT / "requirements.lock"
# Strings, whose text stays as it is, or what an edit may change outside of them: comments with the
# blanks before them, and empty lines. One expression is ten times as fast as tokenize.
_OUTSIDE = re.compile(
    r"""(?P<string>\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}"""
    r"""|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?<![^\n])[ \t]*(?:#[^\n]*)?\n|[ \t]*#[^\n]*|[ \t]+(?=\n)""",
    re.DOTALL,
)
# A table of the project, named where it is declared; its rows are part of the key.
_TABLE = re.compile(r"""\bTable\(\s*["'](\w+)["']""")
# What may be the name of a file, or of a folder beside the module that it lies in.
_NAME = re.compile(r"""["']((?:[\w. -]+/)*[\w. -]+)["']""")


def sources(*modules: str) -> frozenset[Path]:
    """Files that the modules need, themselves included.

    Parameters
    ----------
    *modules : str
        Dotted names, e.g. ``"splitcredit.importances.saabas"``.

    Raises
    ------
    ModuleNotFoundError
        If a module does not exist.
    """
    return frozenset().union(*(_closure(path) for module in modules for path in _files(module)))


@cache
def digest(*modules: str) -> str:
    """Sixteen hexadecimal digits that change with the lock or any `sources` of the modules."""
    text = hashlib.sha256(_versions().encode())
    # By places within SRC or the working directory: these may lie before or behind each other.
    for path in sorted(sources(*modules), key=_within_folder):
        text.update(f"{_within_folder(path)} {_digest_of(path)}\n".encode())
    return text.hexdigest()[:16]


@cache
def _versions() -> str:
    """Names and versions of the packages that the lock pins; not their hashes."""
    text = LOCK.read_text(encoding="utf-8") if LOCK.is_file() else ""
    return "\n".join(re.findall(r"^[\w.-]+==[^\s\\]+", text, re.MULTILINE))


def digest_of_files(paths) -> str:
    """Sixteen hexadecimal digits that change with the content of any of these files."""
    text = hashlib.sha256()
    for path in paths:
        status = Path(path).stat() if Path(path).is_file() else None
        content = _content(path, status.st_size, status.st_mtime_ns) if status else "missing"
        text.update(f"{content}\n".encode())
    return text.hexdigest()[:16]


@cache
def _content(path, size, date) -> str:
    """Digest of one file; size and date are there so that a file is read once unless it changes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def named(recipe) -> list[str]:
    """Modules of the data sets, importances and metrics that a recipe names, anywhere in it."""
    texts = set(_texts(recipe))
    return [module for stem, module in _modules() if stem in texts]


@cache
def _modules() -> list[tuple[str, str]]:
    """(stem, dotted name) of every data set, importance and metric."""
    folders = [folder for of_kind, _ in MODULES.values() for folder in of_kind]
    paths = sorted(path for folder in folders for path in folder.glob("*.py"))
    return [(p.stem, ".".join(p.relative_to(SRC).with_suffix("").parts)) for p in paths]


def _texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


def _files(module: str) -> list[Path]:
    """Files that importing a module runs, of itself and of the packages that it lies in."""
    if _find(module) is None:
        raise ModuleNotFoundError(f"no module {module} in {SRC}")
    names = module.split(".")
    files = [_find(".".join(names[: i + 1])) for i in range(len(names))]
    # A folder without an __init__.py, as that of a new paper may be, is a package, too.
    return [file for file in files if file]


@cache
def _find(module: str) -> Path | None:
    """The file of a module that is not one of the environment; None if there is none."""
    first, *rest = module.split(".")
    for folder in _folders():
        # Most modules are those of packages of others.
        if f"{first}.py" in _entries(folder) or first in _entries(folder):
            path = folder.joinpath(first, *rest)
            for candidate in (path.with_suffix(".py"), path / "__init__.py"):
                if candidate.is_file():
                    return candidate
    return None


def _folders():
    """Where a job finds modules that are not those of the environment: Python adds the second."""
    return SRC, Path.cwd()


@cache
def _within_folder(path):
    """A file from the folder on in which its package lies."""
    return path.relative_to(next(folder for folder in _folders() if folder in path.parents))


@cache
def _closure(path: Path) -> frozenset[Path]:
    closure: set[Path] = set()
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file not in closure:
            closure.add(file)
            waiting += _imported(file)
    return frozenset(closure)


@cache
def _imported(path: Path) -> tuple[Path, ...]:
    modules = set()
    text = _CONTINUED.sub(" ", _without_comments(text_of(path)))
    for given, bracketed, names_listed, modules_alone in _IMPORT.findall(text):
        if given:
            base = _absolute(re.sub(r"[ \t]", "", given), path)
            names = re.findall(r"(\w+)(?:[ \t]+as[ \t]+\w+)?", bracketed or names_listed)
            modules |= {base, *(f"{base}.{name}" for name in names)}
        else:
            modules |= {part.split()[0] for part in modules_alone.split(",") if part.strip()}
    modules |= {_absolute(name, path) for name in _IMPORTED_BY_CALL.findall(text)}
    # What is imported from a module need not be a module.
    files = [file for module in sorted(modules) if _find(module) for file in _files(module)]
    if path == _CONVERTERS / "__init__.py":
        # Editors keep hidden files beside those that are open.
        files += sorted(_CONVERTERS.glob("[!.]*.py"))
    return tuple(dict.fromkeys(files))


def _absolute(base, path):
    """The module that a relative import means: one dot is the folder of the file."""
    name = base.lstrip(".")
    n_dots = len(base) - len(name)
    if not n_dots:
        return base
    package = _within_folder(path).parent.parts
    return ".".join([*package[: len(package) - n_dots + 1], *([name] if name else [])])


@cache
def _digest_of(path: Path) -> str:
    text = hashlib.sha256(_without_comments(text_of(path)).encode())
    for name in _TABLE.findall(text_of(path)):
        table = ROOT / "data" / f"{name}.csv.gz"
        text.update(table.read_bytes() if table.is_file() else b"missing")
    for file in _named_files(path):
        text.update(file.read_bytes())
    return text.hexdigest()


def _named_files(path):
    """Files that a module names, by their paths or by parts as in ``HERE / "lists" / "mine.json"``.

    They lie in its folder or in one beside it, among the claims of its paper, in the configuration,
    or with the data of the project. Their order is that of these folders, and of the names in each:
    the order of absolute paths would depend on where the project lies.
    """
    names = sorted(set(_NAME.findall(text_of(path))))
    folders = [path.parent, path.parent / "claims", CONFIG, ROOT / "data"]
    folders += [path.parent / name for name in names if name in _entries(path.parent)]
    within = [name.rpartition("/")[0] for name in names if "/" in name]
    folders += [folder / name for folder in folders for name in within]
    of_parts = {name.rpartition("/")[2] for name in names if not name.endswith(".py")}
    files = (f / name for f in dict.fromkeys(folders) for name in sorted(of_parts & _entries(f)))
    return [file for file in files if file.is_file()]


@cache
def _entries(folder):
    """Names of what lies in a folder; nothing if it is none."""
    return frozenset(path.name for path in folder.iterdir()) if folder.is_dir() else frozenset()


def _without_comments(text):
    return _OUTSIDE.sub(lambda match: match["string"] or "", text)
