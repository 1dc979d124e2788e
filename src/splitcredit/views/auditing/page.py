"""Write the page of an audit: one file, in light and dark, without script or other files."""

from __future__ import annotations

from html import escape

import pandas as pd

from splitcredit import __version__
from splitcredit.views.auditing import plots
from splitcredit.views.auditing.texts import FOLDER, WORDS

# Rows of a table that the page shows; the others are in `Audit.to_json`.
MOST_ROWS = 300
# What the list of sections says of them, by weight.
MARKS = ("", ": mind this", ": look here first")
STYLE = (FOLDER / "page.css").read_text("utf-8")


def render(audit) -> str:
    """Return the page as text, with every name and every message escaped."""
    shown = [_section(audit, section) for section in audit.sections]
    links = "".join(
        f'<li><a href="#{escape(s.key)}">{escape(s.title)}</a>{MARKS[s.weight]}</li>'
        for s in audit.sections
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Audit of a model</title><style>{STYLE}</style></head><body>"
        f'<header><h1>Audit of a model</h1><p class="verdict">{escape(audit.verdict)}</p>'
        f"<ol>{links}</ol>{_notes('What was cut down', audit.notes)}</header>"
        f"<main>{''.join(shown)}</main><footer>splitcredit {escape(__version__)}</footer>"
        "</body></html>\n"
    )


def _section(audit, section):
    figure = plots.of_section(audit, section)
    plot = ""
    if figure is not None:
        drawing = plots.svg(figure, section.key)
        least = 22 if figure.get_figwidth() < 7 else 48
        plot = f'<div class="wide" style="--least: {least}rem" tabindex="0">{drawing}</div>'
    reasons = ""
    if section.key == "measures":
        why = pd.DataFrame(audit.comparison.not_applicable.items(), columns=["measure", "why"])
        agreement = audit.comparison.agreement().rename(columns=WORDS).round(2)
        reasons = _table("Not applicable, and why", why)
        title = "Agreement of the rankings: rank correlations"
        reasons += _table(title, agreement.reset_index(names="measure"))
    return (
        f'<section id="{escape(section.key)}"><h2>{escape(section.title)}</h2>'
        f'<p class="weight{section.weight}">{escape(section.sentence)}</p>'
        f"{plot}{_notes('How', section.notes)}{reasons}{_table('Numbers', section.table)}"
        "</section>"
    )


def _notes(title, notes):
    if not notes:
        return ""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<div class="notes">{escape(title)}:<ul>{items}</ul></div>'


def _table(title, table):
    if table.empty:
        return ""
    shown = (
        table[:MOST_ROWS]
        .replace({"measure": WORDS})
        .to_html(index=False, border=0, na_rep="", float_format="{:.3g}".format, justify="left")
    )
    more = f"<p>{len(table) - MOST_ROWS} more rows.</p>" if len(table) > MOST_ROWS else ""
    return (
        f"<details><summary>{escape(title)}</summary>"
        f'<div class="wide">{shown}</div>{more}</details>'
    )
