"""Write what the pages of docs/measures do not say by themselves: their frames and pictures.

    python docs/take_measures.py [NAME ...]

The frame of a page comes from the table of all methods. Its picture is what the code of the page
draws, after that of the example. A picture holds the numbers that it shows, so that a test can
compare them with what the code gives.
"""

import json
import re
import sys
from pathlib import Path

from matplotlib import pyplot

PAGES = Path(__file__).resolve().parent / "measures"
# The measure that is a function of its own, and no method.
INTERACTIONS = "interactions"
# The method that is in no module of `splitcredit.importances`.
ELSEWHERE = {"pgi2_optimum": "../api/faithfulness.md#optimum"}


def main(names):
    """Write the frames, and the pictures of the pages that are named, or of all."""
    from splitcredit import methods

    for name, text in frames(methods()).items():
        fill(PAGES / name, text)
    example = example_names()
    for name in names or [*(method.name for method in methods()), INTERACTIONS]:
        draw(name, example)


def frames(methods) -> dict[str, str]:
    """Text between the marks of every page, by the name of its file."""
    from splitcredit._methods import NEEDS

    texts = {"index.md": ("methods", _table(methods))}
    for method in methods:
        functions = ", ".join(f"`{function}`" for function in method.functions)
        needs = "; ".join(f"{need}: {NEEDS[need]}" for need in method.needs) or "nothing"
        place = ELSEWHERE.get(method.name, f"../api/measures.md#{method.name}")
        rows = [
            "| method | functions | needs beside model and X | parameters |",
            "|---|---|---|---|",
            f'| `"{method.name}"` | {functions} | {needs} | [reference]({place}) |',
        ]
        lines = [method.summary, "", *rows]
        texts[f"{method.name}.md"] = ("frame", "\n".join(lines) + "\n")
    return {
        name: f"<!-- {mark} -->\n{text}<!-- /{mark} -->" for name, (mark, text) in texts.items()
    }


def _table(methods):
    lines = ["| name | functions | needs | what it is |", "|---|---|---|---|"]
    for m in methods:
        cells = [f"[{m.name}]({m.name}.md)", ", ".join(m.functions), ", ".join(m.needs), m.summary]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def fill(page, text):
    """Put a frame in its place."""
    mark = re.match(r"<!-- (\w+) -->", text)[1]
    pattern = f"<!-- {mark} -->\n.*?<!-- /{mark} -->"
    whole = re.sub(pattern, lambda _: text, page.read_text(encoding="utf-8"), flags=re.S)
    page.write_text(whole, encoding="utf-8")


def code(page) -> str:
    """The Python of a page."""
    text = (PAGES / page).read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S))


def axes(name, example):
    """What the code of a page draws; `example` holds the names that the first page has made."""
    names = dict(example)
    exec(code(f"{name}.md"), names)
    return names["ax"]


def example_names() -> dict:
    """Names that the code of the first page makes."""
    names = {}
    exec(code("index.md"), names)
    return names


def numbers(ax) -> list[float]:
    """What axes show: lengths of bars, heights of lines, and where dots are."""
    shown = [bar.get_width() for bar in ax.patches]
    shown += [y for line in ax.lines for y in line.get_ydata()]
    shown += [float(x) for dots in ax.collections for x in _places(dots)]
    return [float(f"{x:.6g}") for x in shown]


def _places(dots):
    return dots.get_offsets()[:, 0] if hasattr(dots, "get_sizes") else []


def stored_numbers(name) -> list[float]:
    """The numbers that the picture of a page was drawn from."""
    from PIL import Image

    return json.loads(Image.open(PAGES / "figures" / f"{name}.png").text["Description"])


def draw(name, example):
    """Draw the picture of a page."""
    ax = axes(name, example)
    ax.figure.set_size_inches(6.4, 3.0)
    picture = PAGES / "figures" / f"{name}.png"
    picture.parent.mkdir(exist_ok=True)
    facts = {"Description": json.dumps(numbers(ax)), "Software": None}
    ax.figure.savefig(picture, dpi=110, bbox_inches="tight", metadata=facts)
    pyplot.close(ax.figure)


if __name__ == "__main__":
    main(sys.argv[1:])
