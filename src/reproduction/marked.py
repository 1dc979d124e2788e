"""Text between two marks of a page, ``<!-- NAME -->`` and ``<!-- /NAME -->``."""

import re
from pathlib import Path

from reproduction import storage


def between(page: str, name: str) -> str:
    """The text between the marks, without the newline at its end; ValueError without marks."""
    return _match(page, name)[1].removesuffix("\n")


def replaced(page: str, name: str, text: str) -> str:
    """The page with another text between the marks."""
    match = _match(page, name)
    return page[: match.start(1)] + text.rstrip("\n") + "\n" + page[match.end(1) :]


def write(path, name: str, text: str) -> None:
    """Put a text between the marks of a file."""
    page = Path(path).read_text(encoding="utf-8")
    storage.write_text(path, replaced(page, name, text))


def _match(page, name):
    match = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", page, flags=re.DOTALL)
    if match is None:
        raise ValueError(f"the page has no text between <!-- {name} --> and <!-- /{name} -->")
    return match
