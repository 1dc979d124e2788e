"""Run notebooks from top to bottom, and write them with their outputs to a folder.

    python notebooks/execute.py [--out FOLDER] [NOTEBOOK]...

Without names it runs all of this folder; FOLDER is results/notebooks unless it is given. Cells see
what Jupyter would show them, and outputs are what Jupyter keeps: the value of the last line, what
is printed, and figures. It needs no kernel and no server, so neither is among the dependencies.
"""

from __future__ import annotations

import argparse
import ast
import base64
import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("MPLBACKEND", "agg")
NOTEBOOKS = Path(__file__).resolve().parent
RESULTS = NOTEBOOKS.parent / "results" / "notebooks"
# Small enough to be stored, and large enough to be read.
DPI = 80


def main(arguments) -> None:
    """Run the notebooks that are named; the end, with its traceback, at the first error."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("notebooks", nargs="*", type=Path)
    given = parser.parse_args(arguments)
    paths = [p.resolve() for p in given.notebooks] or sorted(NOTEBOOKS.glob("*.ipynb"))
    if len(paths) > 1:
        for path in paths:
            # In a process of its own, as in Jupyter: options that one sets do not change the next.
            command = [sys.executable, __file__, "--out", str(given.out), str(path)]
            if subprocess.run(command).returncode:
                sys.exit(f"{path.name} failed; its traceback is above")
        return
    (path,) = paths
    notebook = json.loads(path.read_text(encoding="utf-8"))
    execute(notebook, path)
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / path.name).write_text(text, encoding="utf-8", newline="\n")
    print(f"{given.out / path.name}: {len(text) / 1000:.0f} kB")


def execute(notebook: dict, path: Path) -> None:
    """Run the code cells of a notebook in its folder, and put their outputs in."""
    names: dict = {"__name__": "__main__"}
    count = 0
    with contextlib.chdir(path.parent):
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = run("".join(cell["source"]), names, f"{path.name}, cell {count}")
            for output in cell["outputs"]:
                if output["output_type"] == "execute_result":
                    output["execution_count"] = count
    notebook["metadata"]["executed"] = {"code": of_code(notebook), "claims": of_claims()}


def of_code(notebook: dict) -> str:
    """SHA-256 of the code, by which outputs of an older version are known."""
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()


def of_claims() -> str:
    """SHA-256 of the claims that the notebooks read, by which outputs of another run are known."""
    places = (NOTEBOOKS.parent / "results", NOTEBOOKS.parent / "docs" / "reference")
    claims = next(p for place in places if (p := place / "claims.csv").exists())
    return hashlib.sha256(claims.read_bytes()).hexdigest()


def run(source: str, names: dict, place: str) -> list[dict]:
    """Outputs of one cell: text, the value of a last expression, and the figures it leaves open."""
    body = ast.parse(source, place)
    last = None
    if body.body and isinstance(body.body[-1], ast.Expr):
        last = ast.Expression(body.body.pop().value)
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(body, place, "exec"), names)
        if last is not None:
            value = eval(compile(last, place, "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append(
            {"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())}
        )
    if value is not None:
        outputs.append({"output_type": "execute_result", "data": shown(value), "metadata": {}})
    return outputs + figures()


def shown(value) -> dict:
    """The forms in which Jupyter keeps a value: as text, and as HTML if it has one."""
    data = {}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = lines(value._repr_html_())
    data["text/plain"] = lines(repr(value))
    return data


def figures() -> list[dict]:
    """All open figures of matplotlib as PNG; they are closed."""
    if "matplotlib.pyplot" not in sys.modules:
        return []
    from matplotlib import pyplot as plt

    outputs = []
    for number in plt.get_fignums():
        figure, png = plt.figure(number), io.BytesIO()
        # A note of the version would make equal images differ.
        figure.savefig(png, format="png", dpi=DPI, metadata={"Software": None})
        width, height = figure.get_size_inches()
        data = {
            "image/png": base64.b64encode(png.getvalue()).decode(),
            "text/plain": f"<Figure of {width:.3g} x {height:.3g} inches>",
        }
        outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
        plt.close(figure)
    return outputs


def lines(text: str) -> list[str]:
    """Text as notebooks store it, a string a line."""
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    main(sys.argv[1:])
