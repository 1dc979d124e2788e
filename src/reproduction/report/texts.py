"""Read the captions and accounts beside the papers' code, and fill the report's templates."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jinja2
import yaml

from reproduction import papers
from reproduction.claims import number

_PAPERS = Path(papers.__file__).parent
_SWEEPS = Path(__file__).with_name("sweeps.yaml")
# Parts of a caption, in this order, with the heading of each.
PARTS = {
    "seen": "What is seen",
    "marks": "Marks",
    "data": "Data and models",
    "whose": "Whose numbers",
}


def captions(paper: str) -> dict[str, dict[str, str]]:
    """Captions of a paper's artefacts: the keys of `PARTS`, and ``alt`` for a figure."""
    return _read(_PAPERS / paper / "captions.yaml")


def account(paper: str) -> dict:
    """The claims of a paper, and the findings about them: the keys of its account.yaml."""
    return _read(_PAPERS / paper / "account.yaml")


def spoken(paper: str):
    """Place and text of all that the account and the captions of a paper say."""
    for name, content in (("account", account(paper)), ("captions", captions(paper))):
        yield from _texts_in(content, f"src/reproduction/papers/{paper}/{name}.yaml")


def _texts_in(content, place):
    if isinstance(content, str):
        yield place, content
        return
    for key, value in content.items() if isinstance(content, dict) else enumerate(content):
        yield from _texts_in(value, f"{place}: {key}")


def parts(paper: str) -> dict[str, str]:
    """Which part of statements that hold in part does so in a full run, by id; none of times."""
    rules = _read(_PAPERS / paper / "claims" / "rules.yaml").get("statements", {})
    return {cell: rule["part"] for cell, rule in rules.items() if "part" in rule}


def sweeps() -> dict[str, dict]:
    """Words on sweeps by experiment: ``title``, ``alt``, the keys of `PARTS`, and ``findings``."""
    return _read(_SWEEPS)


@cache
def _read(path):
    return (yaml.safe_load(path.read_text(encoding="utf-8")) or {}) if path.is_file() else {}


def digits(value, after_point: int = 0) -> str:
    """A number with `after_point` digits after the point, and with a typographic minus."""
    return f"{float(value):.{after_point}f}".replace("-", "−")


def percent(value, after_point: int = 0) -> str:
    """A share in percent."""
    return f"{digits(100 * float(value), after_point)} %"


def is_number(text) -> bool:
    """Whether a text is a finite number."""
    return number(str(text)) is not None


def short(value) -> str:
    """A number with three significant digits; a text as it is."""
    return f"{float(value):.3g}".replace("-", "−") if is_number(value) else value


# Pages are HTML. Captions are text: what they become is escaped where a page shows it.
PAGES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=jinja2.select_autoescape(default_for_string=False),
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)
PAGES.filters |= {"digits": digits, "percent": percent, "short": short, "is_number": is_number}
CAPTIONS = PAGES.overlay(trim_blocks=False, lstrip_blocks=False)
