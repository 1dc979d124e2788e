"""Write what the pages of docs do not say by themselves: frames of measures, and plots.

    python tools/take_plots.py [PAGE ...]

The frame of a measure's page comes from the table of all methods. A plot shows the axes `ax` of
the code above it on its page; that of the README stands above its code. It holds the numbers that
it shows, so that a test can compare them with what the code gives. The plot of the benchmarks
shows the first table of their page.
"""

import json
import re
import sys
from pathlib import Path

from matplotlib import pyplot

from reproduction import marked

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
EXAMPLE = "measures/index.md"
README, BENCHMARKS = "../README.md", "benchmarks.md"
# Inches and dots per inch of plots. That of the README is as wide as the code host shows a page.
SIZE = ((6.4, 3.0), 110)
SIZES = {
    "one_row": ((7.7, 3.4), 165),
    "benchmarks": ((8.2, 3.2), 110),
    "side_by_side": ((8.2, 5.4), 110),
}
# The measure that is a function of its own, and no method.
INTERACTIONS = "interactions"
# The method that is in no module of `splitcredit.measures`.
ELSEWHERE = {"pgi2_optimum": "../api/prediction_gap.md#optimum"}
PARTS = re.compile(r"^```python\n(?P<code>.*?)^```|^!\[.*?\]\((?P<plot>\S+?)\)", re.M | re.S)


def main(chosen):
    """Write the frames, and the plots of the pages that are named, or of all."""
    from splitcredit import methods

    for page, (mark, text) in frames(methods()).items():
        marked.write(DOCS / page, mark, text)
    example = example_names()
    for page in chosen or pages(methods()):
        for plot, ax in drawn(page, example):
            save(plot, ax)
        pyplot.close("all")


def pages(methods) -> list[str]:
    """Pages with plots that their code draws."""
    names = [*(method.name for method in methods), INTERACTIONS]
    return [
        README,
        BENCHMARKS,
        "own_model.md",
        "gallery.md",
        "partial_dependence.md",
        "audit.md",
        *(f"measures/{n}.md" for n in names),
    ]


def frames(methods) -> dict[str, tuple[str, str]]:
    """By page of measures: a mark, and the text that stands there."""
    texts = {EXAMPLE: ("methods", _table(methods))}
    for method in methods:
        functions = ", ".join(f"`{function}`" for function in method.functions)
        needs = ", ".join(f"[{need}](index.md#all-methods)" for need in method.needs) or "nothing"
        place = ELSEWHERE.get(method.name, "#reference")
        lines = [
            method.summary,
            "",
            "| method | functions | needs beside model and X | parameters |",
            "|---|---|---|---|",
            f'| `"{method.name}"` | {functions} | {needs} | [reference]({place}) |',
        ]
        texts[f"measures/{method.name}.md"] = ("frame", "\n".join(lines))
    return texts


def _table(methods):
    from splitcredit.measures._methods import NEEDS

    lines = ["| name | functions | needs | what it is |", "|---|---|---|---|"]
    for m in methods:
        cells = [f"[{m.name}]({m.name}.md)", ", ".join(m.functions), ", ".join(m.needs), m.summary]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"- **{need}**: {text}" for need, text in NEEDS.items())])


def example_names() -> dict:
    """Names that the code of the example makes, which all pages of measures go on with."""
    names = {}
    list(drawn(EXAMPLE, names, names))
    return names


def drawn(page, example, names=None):
    """Run the code of a page from top to bottom.

    Parameters
    ----------
    page : str
        Relative to docs.
    example : dict
        Names that pages of measures begin with.
    names : dict, optional
        Where the names go that the code makes.

    Yields
    ------
    tuple of Path and matplotlib Axes
        Each plot of the page, and what the code above it has called `ax`.
    """
    names = {} if names is None else names
    if page.startswith("measures/"):
        names.update(example)
    parts = PARTS.finditer((DOCS / page).read_text(encoding="utf-8"))
    for part in sorted(parts, key=lambda part: page == README and not part["code"]):
        if part["code"]:
            exec(part["code"], names)
        else:
            plot = (DOCS / page).parent / part["plot"]
            yield plot, timed() if plot.stem == "benchmarks" else names["ax"]


def timed():
    """Axes with the seconds in the first table of the benchmarks: ours, and the fastest other."""
    table = marked.between((DOCS / BENCHMARKS).read_text(encoding="utf-8"), "first")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    ax = pyplot.figure(layout="constrained").subplots()
    times = [[float(cell.removesuffix(" s")) for cell in row[2:4]] for row in rows[::-1]]
    for name, seconds in zip(
        ("splitcredit", "fastest other"), zip(*times, strict=True), strict=True
    ):
        ax.scatter(seconds, range(len(rows)), label=name)
    for place, (pair, row) in enumerate(zip(times, rows[::-1], strict=True)):
        ax.plot(pair, [place, place], color="0.7", zorder=0)
        text = f"  {row[5]}  {row[4]}"
        ax.annotate(text, (max(pair), place), va="center", fontsize="small")
    kinds = [row[0].removeprefix("digits, 100 ").split(",")[0] for row in rows[::-1]]
    models = [f"{kind}, {row[1]} rows" for kind, row in zip(kinds, rows[::-1], strict=True)]
    ax.set_yticks(range(len(rows)), models)
    ax.set_xscale("log")
    ax.set_xlim(right=2000)
    ax.set_xlabel("seconds, on one core")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.legend(frameon=False, loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def numbers(ax) -> list[float]:
    """What axes show, to six digits: bars, heights of lines, where dots are, some of the colors."""
    shown = [bar.get_width() for bar in ax.patches]
    heights = {tuple(line.get_ydata()) for line in ax.lines}
    is_decision = len(heights) == 1 and len(ax.lines) > 40  # many lines, at the same heights
    for line in ax.lines:
        shown += list(line.get_xdata()[-2:] if is_decision else line.get_ydata())
    for dots in ax.collections:
        shown += list(dots.get_offsets()[:, 0]) if hasattr(dots, "get_sizes") else []
        is_map = hasattr(dots, "get_coordinates")
        shown += list(dots.get_array().ravel()[::10]) if is_map else []
    for image in ax.images:
        shown += list(image.get_array()[:, ::10].ravel())
    return [float(f"{x:.6g}") for x in shown]


def stored_numbers(plot) -> list[float]:
    """The numbers that a plot was drawn from."""
    from PIL import Image

    return json.loads(Image.open(plot).text["Description"])


def save(plot, ax):
    """Write a plot, and the numbers that it shows."""
    plot.parent.mkdir(exist_ok=True)
    inches, dpi = SIZES.get(plot.stem, SIZE)
    ax.figure.set_size_inches(*inches)
    facts = {"Description": json.dumps(numbers(ax)), "Software": None}
    ax.figure.savefig(plot, dpi=dpi, bbox_inches="tight", metadata=facts)


if __name__ == "__main__":
    main(sys.argv[1:])
