"""Write files whole or not at all, and read them without pickle."""

from __future__ import annotations

import base64
import contextlib
import csv
import hashlib
import json
import os
import zlib
from collections.abc import Iterable
from pathlib import Path


class TableError(ValueError):
    """A table of the user cannot be used. The text says all: jobs end in it without a traceback."""


@contextlib.contextmanager
def atomic(path):
    """Yield a temporary path beside `path`, renamed onto it when the block ends without error."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A process that is killed leaves it: its suffix is one that no later job takes for a result.
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _write_digest(path, temporary) -> None:
    """Write the SHA-256 of a file that is about to get its name beside it, as ``sha256sum -c``."""
    # A table has nothing else that shows a cut or a changed digit.
    digest = hashlib.sha256(Path(temporary).read_bytes()).hexdigest()
    write_text(f"{path}.sha256", f"{digest}  {Path(path).name}\n")


def _check_digest(path) -> None:
    """Raise a ValueError if a file is not the one that the digest beside it is of."""
    beside = Path(f"{path}.sha256")
    if beside.exists():
        found = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        if found != beside.read_text(encoding="utf-8")[:64]:
            raise ValueError(f"its SHA-256 is not the one in {beside.name}")


def write_text(path, text: str) -> None:
    """Write `text` as UTF-8."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_json(path, content) -> None:
    """Write JSON with sorted keys, so that equal content is equal bytes."""
    with atomic(path) as temporary:
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False)
        temporary.write_text(f"{text}\n", encoding="utf-8", newline="\n")
        _write_digest(path, temporary)


def read_json(path):
    """Read one JSON file; ValueError names it if it is damaged."""
    with _named_if_damaged(path):
        return json.loads(Path(path).read_text(encoding="utf-8"))


@contextlib.contextmanager
def _named_if_damaged(path):
    """Turn an error of a reader into one that names the damaged file and the remedy."""
    import zipfile

    try:
        _check_digest(path)
        yield
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path} is damaged ({error}): delete it, and the same command makes it anew"
        ) from None


# Characters of one argument; Linux takes no more than 131071 bytes.
_ARGUMENT = 100_000


def pack(content) -> list[str]:
    """JSON content as short text for a command line, in as many arguments as it takes."""
    text = base64.b64encode(zlib.compress(canonical(content).encode(), 9)).decode()
    return [text[start : start + _ARGUMENT] for start in range(0, len(text), _ARGUMENT)]


def unpack(parts: list[str]):
    """Inverse of `pack`."""
    return json.loads(zlib.decompress(base64.b64decode("".join(parts))))


def write_table(path, frame) -> None:
    """Write a DataFrame as CSV; floats in the shortest form that reads back exactly."""
    with atomic(path) as temporary:
        frame.to_csv(temporary, index=False, lineterminator="\n")
        _write_digest(path, temporary)


def read_table(path, texts=()):
    """Read a CSV written by `write_table`; floats come back bit by bit (with pandas 3).

    A blank and nan are missing numbers. All other text is what it says: a feature may be called NA.
    The columns `texts` are text, whatever they hold.
    """
    import pandas as pd

    with _named_if_damaged(path):
        types = dict.fromkeys(texts, str)
        return pd.read_csv(path, dtype=types, keep_default_na=False, na_values=["", "nan"])


def write_rows(path, rows: Iterable[dict], columns) -> None:
    """Write rows as CSV with these columns; a value that a row lacks is left empty."""
    with atomic(path) as temporary:
        with open(temporary, "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        _write_digest(path, temporary)


def read_header(path) -> list[str]:
    """Read the names of the columns of a CSV."""
    with open(path, encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])


# What `csv` puts into a row of another length than the header.
_TOO_MANY, _TOO_FEW = object(), None


def read_rows(path) -> list[dict[str, str]]:
    """Read a CSV as rows of text; ValueError names it if it is damaged."""
    with _named_if_damaged(path), open(path, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, restkey=_TOO_MANY, restval=_TOO_FEW)
        rows = list(reader)
        if not reader.fieldnames:
            raise ValueError("it is empty")
        for row in rows:
            if _TOO_MANY in row or row[reader.fieldnames[-1]] is _TOO_FEW:
                raise ValueError(f"a row has not {len(reader.fieldnames)} cells")
    return rows


def write_bundle(path, items: dict[str, object]) -> None:
    """Write objects that have ``to_arrays`` into one ``.npz``, each under its key."""
    import numpy as np

    arrays = {
        f"{key}/{name}": array
        for key, item in items.items()
        for name, array in item.to_arrays().items()
    }
    # A file and not its path, to which numpy would add a suffix.
    with atomic(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)


def read_bundle(path, kind) -> dict:
    """Read a bundle written by `write_bundle`, by ``kind.from_arrays``."""
    with open_bundle(path, kind) as item:
        return {key: item(key) for key in item.keys}


class Bundle:
    """A bundle that is open: its items are read, by ``kind.from_arrays``, when they are called for.

    A bundle has an entry for each array of each item, and lists them all when it is opened: with
    many items, opening it anew for each takes longer than reading them.
    """

    def __init__(self, archive, kind, path):
        self._archive, self._kind, self._path = archive, kind, path
        self.keys: dict[str, list[str]] = {}
        for entry in archive.files:
            key, _, name = entry.rpartition("/")
            self.keys.setdefault(key, []).append(name)

    def __call__(self, key: str):
        """Read one item."""
        with _named_if_damaged(self._path):
            arrays = {name: self._archive[f"{key}/{name}"] for name in self.keys[key]}
        for array in arrays.values():
            # Nothing else refers to the array, so an object that keeps it need not copy it.
            array.flags.writeable = False
        return self._kind.from_arrays(arrays)


@contextlib.contextmanager
def open_bundle(path, kind):
    """Yield the `Bundle` of a file that `write_bundle` wrote."""
    import numpy as np

    with _named_if_damaged(path):
        archive = np.load(path, allow_pickle=False)
    with archive:
        yield Bundle(archive, kind, path)


# One encoder for all: `json.dumps` makes a new one for each call with options of its own.
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(content) -> str:
    """JSON text of a recipe, the same for equal content."""
    return _CANONICAL.encode(content)


def digest(content, length: int = 10) -> str:
    """First hexadecimal digits of the SHA-256 of a recipe's canonical text."""
    return hashlib.sha256(canonical(content).encode()).hexdigest()[:length]
