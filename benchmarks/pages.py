"""Tables on pages of docs/, between two marks that name them."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def between(page, mark) -> re.Match:
    """What stands between the marks of a page, as group 2; ValueError without them."""
    match = re.search(rf"(<!-- {mark} -->\n)(.*?)(\n<!-- /{mark} -->)", page, flags=re.DOTALL)
    if match is None:
        raise ValueError(f"the page has no text between <!-- {mark} --> and <!-- /{mark} -->")
    return match


def with_table(page, mark, lines) -> str:
    """The page with these lines between the marks."""
    match = between(page, mark)
    return page[: match.start(2)] + "\n".join(lines) + page[match.end(2) :]


def write(name, mark, lines) -> None:
    """Put a table into a page of docs/."""
    path = DOCS / name
    path.write_text(with_table(path.read_text(encoding="utf-8"), mark, lines), encoding="utf-8")
