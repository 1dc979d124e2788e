"""The claims table for reading: a summary in Markdown and a page in HTML."""

from __future__ import annotations

from html import escape
from pathlib import Path

from splitcredit.claims import VERDICTS, is_statement, number, parse_cell

_MEANING = {
    "equal": "ours rounds to the printed text",
    "within": "inside the tolerance, whose basis is named",
    "direction": "only the sign was asked, and agrees",
    "differs": "outside; the cause was found, and a test shows it",
    "not comparable": "not held against print, for the reason given",
}

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 68rem; padding: 0 1rem;
  color: #1a1a1a; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #ddd; padding-bottom: .2rem; }
table { border-collapse: collapse; margin: .8rem 0; }
th, td { text-align: left; padding: .15rem .7rem .15rem 0; border-bottom: 1px solid #eee;
  vertical-align: top; }
th { font-weight: 600; border-bottom: 1px solid #999; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
.v { padding: 0 .45rem; border-radius: .6rem; white-space: nowrap; }
.data td, td.long { overflow-wrap: anywhere; } td.long { min-width: 5rem; }
.equal { background: #d4ede0; } .within { background: #dcebf7; } .direction { background: #eee6f5; }
.differs { background: #fbe0d2; } .not-comparable { background: #eee; }
details > summary { cursor: pointer; font-weight: 600; margin: .6rem 0; }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; } .note { color: #555; }
"""


def counts(claims) -> dict[tuple[str, str], dict[str, int]]:
    """Number of claims of each verdict: printed values by artefact and variant, in order of
    appearance, then the findings in words by paper.
    """
    counted: dict = {}
    for claim in sorted(claims, key=is_statement):
        key = (_name(claim), claim["variant"])
        if is_statement(claim):
            key = (claim["paper"], "stated in words")
        row = counted.setdefault(key, dict.fromkeys(VERDICTS, 0))
        row[claim["verdict"]] += 1
    return counted


def summary(claims) -> str:
    """Markdown table of the numbers of verdicts."""
    lines = [
        "| artefact | variant | values | " + " | ".join(VERDICTS) + " |",
        "|---|---|--:|" + "--:|" * len(VERDICTS),
    ]
    for (name, variant), row in counts(claims).items():
        numbers = " | ".join(str(n or "") for n in row.values())
        lines.append(f"| {name} | {variant} | {sum(row.values())} | {numbers} |")
    return "\n".join(lines) + "\n"


def page(claims, titles, figures, preset, data=()) -> str:
    """Self-contained HTML: the summary, each artefact's picture, and every value.

    Parameters
    ----------
    claims : list of dict
        Rows of the claims table.
    titles : dict of str to str
        By PAPER/ARTEFACT; artefacts without printed values are listed too.
    figures : list of paths
        SVG files ending in PAPER/ARTEFACT.svg, put into the page.
    preset : str
    data : sequence of dict of str to str
        Where the real data came from, listed at the end.
    """
    pictures = {f"{Path(f).parent.name}/{Path(f).stem}": Path(f) for f in figures}
    body = [
        "<h1>Paper against ours</h1>",
        f"<p>Every printed value beside ours, with a verdict. Preset: <b>{escape(preset)}</b>.</p>",
        _legend(),
        _summary_html(claims),
    ]
    for name in dict.fromkeys([*titles, *map(_name, claims)]):
        body.append(f'<h2 id="{escape(name)}">{escape(name)}: {escape(titles.get(name, ""))}</h2>')
        if name in pictures:
            body.append(f"<figure>{_svg(pictures[name])}</figure>")
        rows = [claim for claim in claims if _name(claim) == name]
        if not rows:
            body.append('<p class="note">The paper prints no numbers here.</p>')
        for group in dict.fromkeys(map(_group, rows)):
            body.append(_values(group, [row for row in rows if _group(row) == group]))
    if data:
        body += ['<h2 id="data">Where the real data came from</h2>', _table(data)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Paper against ours</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _table(rows):
    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    lines = ["".join(f"<td>{escape(value)}</td>" for value in row.values()) for row in rows]
    return "\n".join(
        [f'<table class="data"><tr>{head}</tr>', *(f"<tr>{x}</tr>" for x in lines), "</table>"]
    )


def _legend():
    items = "".join(f"<li>{_badge(v)} {escape(text)}</li>" for v, text in _MEANING.items())
    return f"<ul>{items}</ul>"


def _badge(verdict):
    return f'<span class="v {verdict.replace(" ", "-")}">{escape(verdict)}</span>'


def _link(name):
    """To the section of an artefact; findings in words stand in several."""
    return f'<a href="#{escape(name)}">{escape(name)}</a>' if "/" in name else escape(name)


def _group(claim):
    return "stated in words" if is_statement(claim) else claim["variant"]


def _name(claim):
    return f"{claim['paper']}/{claim['artefact']}"


def _summary_html(claims):
    head = "".join(f"<th>{escape(v)}</th>" for v in VERDICTS)
    lines = [f"<table><tr><th>artefact</th><th>variant</th><th>values</th>{head}</tr>"]
    for (name, variant), row in counts(claims).items():
        cells = "".join(f'<td class="n">{n or ""}</td>' for n in row.values())
        lines.append(
            f"<tr><td>{_link(name)}</td><td>{escape(variant)}</td>"
            f'<td class="n">{sum(row.values())}</td>{cells}</tr>'
        )
    return "\n".join([*lines, "</table>"])


def _values(variant, rows):
    verdicts = [row["verdict"] for row in rows]
    tally = ", ".join(f"{verdicts.count(v)} {v}" for v in VERDICTS if v in verdicts)
    head = "".join(f"<th>{h}</th>" for h in ("cell", "printed", "ours", "tolerance", "verdict"))
    lines = [f"<details open><summary>{escape(variant)}: {escape(tally)}</summary>"]
    lines.append(f"<table><tr>{head}<th>cause, test</th></tr>")
    for row in rows:
        why = "; ".join(escape(row[k]) for k in ("cause", "test") if row[k])
        width = f"{row['tolerance']} ({row['basis']})" if row["tolerance"] else row["basis"]
        kind = "long" if number(row["printed"]) is None else "n"
        lines.append(
            f"<tr><td>{escape(_cell(row))}</td>"
            f'<td class="{kind}">{escape(row["printed"])}</td>'
            f'<td class="{kind}">{escape(_short(row["ours"], row["printed"]))}</td>'
            f"<td>{escape(width)}</td><td>{_badge(row['verdict'])}</td>"
            f'<td class="long">{why}</td></tr>'
        )
    return "\n".join([*lines, "</table></details>"])


def _cell(claim):
    if is_statement(claim):
        return claim["cell"] + ("" if claim["variant"] == "stated" else f" ({claim['variant']})")
    return ", ".join(f"{key} {value}" for key, value in parse_cell(claim["cell"]).items())


def _short(ours, printed):
    """Ours with two digits more than printed; the table has all of them."""
    if number(printed) is None or number(str(ours)) is None:
        return str(ours)
    digits = max(-number(printed).as_tuple().exponent, 0) + 2
    return f"{float(ours):.{digits}f}"


def _svg(path):
    text = Path(path).read_text(encoding="utf-8")
    return text[text.index("<svg") :]
