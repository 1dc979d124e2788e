"""Copy tables and figures of the worked sweeps from a run into docs/sweeps, and their numbers
into docs/sweeps.md.

    make sweep EXPERIMENT=sweep_noisy_features
    make sweep EXPERIMENT=sweep_pgi2
    python tools/take_sweeps.py
"""

import gzip
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from reproduction import marked

ROOT = Path(__file__).resolve().parents[1]
PAGE, STORED = ROOT / "docs" / "sweeps.md", ROOT / "docs" / "sweeps"
SWEEPS = {"sweep_noisy_features": "relevance", "sweep_pgi2": "pgi2_bound"}
# Columns of the first table: what is set, to what, and in which words.
SHOWN = (
    ("data.noise_values", 2, "noise of 2 values"),
    ("data.noise_values", 1000, "of 1000"),
    ("data.n_samples", 2000, "2000 rows"),
    ("model.min_samples_leaf", 100, "100 rows a leaf"),
    ("model.max_depth", 1, "depth 1"),
)


def interval(values) -> tuple[float, float]:
    """Mean, and half of its 95 % interval by Student's t."""
    values = np.asarray(values, float)
    n = len(values)
    return values.mean(), stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)


def text(values) -> str:
    """Mean and half of the interval, for a table."""
    return "{:.2f} ± {:.2f}".format(*interval(values))


def stored(name) -> pd.DataFrame:
    """The table of one sweep."""
    return pd.read_csv(STORED / f"{name}.csv.gz")


def noisy(table) -> str:
    """Areas under the curve: measures by settings; the head has the widest interval."""
    lines, widest = [], 0.0
    for name in table["importance"].unique():
        own = table[table["importance"] == name]
        found = [interval(own.loc[own[axis] == value, "value"]) for axis, value, _ in SHOWN]
        widest = max(widest, *(half for _, half in found))
        lines.append(f"| `{name}` | " + " | ".join(f"{mean:.2f}" for mean, _ in found) + " |")
    words = " | ".join(words for _, _, words in SHOWN)
    head = [f"| ± {widest:.2f} at most | {words} |", "|---|" + "--:|" * len(SHOWN)]
    return "\n".join(head + lines)


def pgi2(table) -> str:
    """Shares of the largest PGI2, or of its bound, of the larger models."""
    table = table[(table["model.n_estimators"] == 40) & (table["model.max_depth"] == 4)]
    sizes = sorted(table["data.n_features"].unique())
    lines = ["| noise | ranking | " + " | ".join(f"{d} features" for d in sizes) + " |"]
    lines.append("|--:|---|" + "--:|" * len(sizes))
    for sigma in sorted(table["sigma_metric"].unique()):
        for name, words in ((f"greedy_sigma{sigma}", "greedy"), ("shap", "SHAP")):
            own = table[(table["sigma_metric"] == sigma) & (table["ranking"] == name)]
            cells = [text(own.loc[own["data.n_features"] == d, "value"]) for d in sizes]
            lines.append(f"| {sigma:g} | {words} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def numbers(page: str) -> str:
    """The page with its tables made anew."""
    for name, make in (("sweep_noisy_features", noisy), ("sweep_pgi2", pgi2)):
        page = marked.replaced(page, name, make(stored(name)))
    return page


def main(results=ROOT / "results"):
    """Copy, or say what is missing."""
    STORED.mkdir(exist_ok=True)
    for name, metric in SWEEPS.items():
        table, figure = (Path(results, "experiments", name + end) for end in (".csv", ".png"))
        if not (table.exists() and figure.exists()):
            sys.exit(f"{table} is not complete: run make sweep EXPERIMENT={name} first")
        shutil.copy(figure, STORED / f"{name}.png")
        rows = pd.read_csv(table, dtype=str, keep_default_na=False)
        rows = rows[rows.pop("metric") == metric]
        text = rows.loc[:, (rows != "").any()].to_csv(index=False, lineterminator="\n")
        # Without a date, so that equal tables are equal files.
        (STORED / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    PAGE.write_text(numbers(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
