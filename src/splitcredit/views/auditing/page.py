"""Write the page of an audit: one file, in light and dark, without script or other files."""

from __future__ import annotations

from html import escape

import numpy as np

from splitcredit import __version__
from splitcredit.views.auditing import plots
from splitcredit.views.auditing.texts import number

# Rows of a table that the page shows; the others are in `Audit.to_json`.
MOST_ROWS = 300
STYLE = """
:root { color-scheme: light dark; --paper: #fff; --text: #1c1f24; --soft: #565d68; --line: #d9dde3;
  --card: #f5f7fa; --mark: #1d5f9e; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171c; --text: #e6e8ec; --soft: #a7afbb;
  --line: #343a44; --card: #1c2027; --mark: #7fb8ee; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; background: var(--paper);
  color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.2; } h2 { font-size: 1.15rem; margin: 0 0 .5rem; }
section { border-top: 1px solid var(--line); padding: 1.25rem 0; }
.sentence { font-size: 1.05rem; } .number { color: var(--soft); margin: .25rem 0 1rem; }
.number b { color: var(--mark); font-size: 1.4rem; }
.wide { overflow-x: auto; overflow-wrap: normal; } .wide svg { display: block; height: auto;
  max-width: 100%; min-width: var(--least); color: var(--text); }
.notes, footer { color: var(--soft); font-size: .875rem; } a, summary { color: var(--mark); }
summary { cursor: pointer; } table { border-collapse: collapse; font-size: .875rem; }
th, td { border-bottom: 1px solid var(--line); padding: .2rem .6rem .2rem 0; text-align: left;
  vertical-align: top; } ol.answers { background: var(--card); padding: 1rem 1rem 1rem 2.2rem;
  border-radius: .5rem; } ol.answers li { margin: .4rem 0; }
"""


def render(audit) -> str:
    """Return the page as text, with every name and every message escaped."""
    shown = [_section(audit, k, section) for k, section in enumerate(audit.sections, 1)]
    answers = "".join(
        f'<li><a href="#{escape(s.key)}">{escape(s.title)}</a>: {escape(s.sentence)}</li>'
        for s in audit.sections
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Audit of a model</title><style>{STYLE}</style></head><body>"
        f'<header><h1>Audit of a model</h1><ol class="answers">{answers}</ol>'
        f"{_notes('What was cut down', audit.notes)}</header><main>{''.join(shown)}</main>"
        f"<footer>splitcredit {escape(__version__)}. Intervals are 95 % intervals.</footer>"
        "</body></html>\n"
    )


def _section(audit, place, section):
    figure = plots.of_section(audit, section)
    plot = ""
    if figure is not None:
        drawing = plots.svg(figure, section.key)
        least = 22 if figure.get_figwidth() < 7 else 48
        plot = f'<div class="wide" style="--least: {least}rem" tabindex="0">{drawing}</div>'
    reasons = ""
    if section.key == "measures":
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(why)}</td></tr>"
            for name, why in audit.comparison.not_applicable.items()
        )
        reasons = (
            f"<details><summary>Not applicable, and why</summary><table>{rows}</table></details>"
        )
        reasons += _table("Agreement of the rankings: rank correlations",
                          audit.comparison.agreement().round(2).reset_index(names=""))  # fmt: skip
    value = "not known" if not np.isfinite(section.value) else number(section.value)
    interval = ""
    if np.isfinite(section.low):
        interval = f" ({number(section.low)} to {number(section.high)})"
    return (
        f'<section id="{escape(section.key)}"><h2>{place}. {escape(section.title)}</h2>'
        f'<p class="sentence">{escape(section.sentence)}</p>'
        f'<p class="number"><b>{value}</b>{interval}: {escape(section.what)}</p>'
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
    shown = table[:MOST_ROWS].to_html(
        index=False, escape=True, border=0, na_rep="", float_format=number, justify="left"
    )
    more = f"<p>{len(table) - MOST_ROWS} more rows.</p>" if len(table) > MOST_ROWS else ""
    return (
        f"<details><summary>{escape(title)}</summary>"
        f'<div class="wide">{shown}</div>{more}</details>'
    )
