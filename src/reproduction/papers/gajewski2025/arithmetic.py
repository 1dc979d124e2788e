"""Dependence of rankings on the arithmetic: double and single precision, and the order of ties.

The printed rankings were made in single precision, in which many features tie. Here the authors'
models are ranked in double precision, and in single precision with two orders of equal features: by
index, and as the authors' rankings show. None was recorded of two of the bigger models: there both
are by index. The library's double precision keeps both tails of the noise, and so ties nowhere.
"""

import numpy as np
import pandas as pd

from reproduction import claims
from reproduction.figures import COLORS, panels
from reproduction.papers import printed
from reproduction.papers.gajewski2025._settings import DATASETS, GREEDY, MODELS, SHAP

DOUBLE, SINGLE, RECORDED = "double", "single", "single, recorded order"
# The variant that has PGI2 over all rows.
ALL_ROWS = "all_rows"
# Beginning of the name of a ranking -> its arithmetic.
ARITHMETICS = {
    "greedy_sigma": DOUBLE,
    "greedy_single_sigma": SINGLE,
    "greedy_recorded_sigma": RECORDED,
}
# Numbers of printed tables, and the metric that makes their cells. Shares of the bigger models are
# over more rows than are ranked here.
PRINTED = {
    "single": {2: "topk_agreement", 6: "pgi2"},
    "bigger": {3: "pgi2"},
}
_COLUMNS = ["dataset", "model", "arithmetic", "sigma", "quantity", "k", "value", "n"]
_STYLES = {DOUBLE: ("-", "o"), SINGLE: ("--", "s"), RECORDED: (":", "^")}
_COLORS = dict(zip(GREEDY, (COLORS["blue"], COLORS["orange"], COLORS["green"]), strict=True))


def compute(inputs) -> pd.DataFrame:
    """Ties, changed rankings, and printed cells, for each arithmetic.

    ``quantity``: ``tied``: share of the n rows in which another feature would have done as well in
    place k; ``set``, ``order``: share of the n rows in which the first k features, or they and
    their order, are others than in double precision; ``tied steps``: share of all steps of the n
    rows but the last, which has no choice; ``cells as printed``: how many of n printed cells are
    reproduced, of table k; ``cells that need it``: those that no arithmetic before reproduces, of
    double and then single precision by index, and then the recorded order; ``PGI2 of double's``:
    mean PGI2 over the n rows, as a share of that of the rankings in double precision, with the
    ranking's own noise; ``least`` and ``most`` with any of the three. Data set ``all`` is the sum.
    """
    frames = {
        name.partition("/")[2]: _named(frame[frame["variant"] != ALL_ROWS])
        for name, frame in inputs.items()
    }
    changes = frames["ranking_changes"].rename(columns={"n_rows": "n"})
    tied = changes[changes["quantity"] == "tied"]
    keys = ["dataset", "model", "arithmetic", "sigma"]
    # In the last place nothing ties, so the sum is over the others.
    steps = tied.groupby(keys, sort=False).agg(
        value=("value", "sum"), k=("k", "max"), n=("n", "max")
    )
    steps = steps.assign(value=steps["value"] / (steps["k"] - 1), k=None).reset_index()
    cells = pd.DataFrame(_cells(frames))
    needed = cells[cells["quantity"] == "cells that need it"].groupby("arithmetic", sort=False)
    total = needed[["value", "n"]].sum().reset_index()
    total = total.assign(dataset="all", model="all", quantity="cells that need it")
    gaps = inputs["gajewski2025_arithmetic/pgi2"].query("variant == @ALL_ROWS")
    tables = [changes, steps.assign(quantity="tied steps"), cells, total, *_of_double(_named(gaps))]
    table = pd.concat(tables)
    return table[_COLUMNS].reset_index(drop=True)


def _named(frame):
    """Rows with the arithmetic of their ranking, empty for SHAP's, and the printed name."""
    frame = frame.drop(columns="variant").rename(columns={"data": "dataset"})
    groups = frame["ranking"].str.extract(r"^([a-z_]+)(.*)$")
    sigma = pd.to_numeric(groups[1], errors="coerce")
    return frame.assign(
        arithmetic=groups[0].map(ARITHMETICS).fillna(""),
        sigma=sigma,
        ranking=sigma.map(GREEDY).fillna(SHAP),
    )


def _of_double(gaps):
    """Mean PGI2 of the other arithmetics' rankings over that of double precision."""
    keys = ["dataset", "model", "sigma", "n_rows", "sigma_metric"]
    means = gaps[gaps["arithmetic"] != ""].pivot(index=keys, columns="arithmetic", values="value")
    shares = means[[SINGLE, RECORDED]].div(means[DOUBLE], axis=0)
    shares = shares.stack().rename("value").reset_index().rename(columns={"n_rows": "n"})
    own = shares[shares["sigma"] == shares["sigma_metric"]]
    yield own.assign(quantity="PGI2 of double's")
    of_ranking = shares.groupby(["dataset", "model", "arithmetic", "sigma", "n"], sort=False)
    for word, end in (("least", "min"), ("most", "max")):
        rows = of_ranking["value"].agg(end).reset_index()
        yield rows.assign(quantity=f"PGI2 of double's, {word}")


def _cells(frames):
    """Numbers of printed cells that are reproduced, by table, data set and arithmetic."""
    for model, tables in PRINTED.items():
        for number, metric in tables.items():
            rows_of_model = frames[metric][frames[metric]["model"] == model]
            for dataset in DATASETS:
                cells = printed("gajewski2025", f"table{number}")
                cells = [c for c in cells if (c[0]["dataset"], c[0]["model"]) == (dataset, model)]
                before = np.zeros(len(cells), bool)
                for arithmetic in ARITHMETICS.values():
                    rows = rows_of_model[rows_of_model["arithmetic"].isin([arithmetic, ""])]
                    equal = np.array([_is_printed(rows, cell, text) for cell, text in cells])
                    key = {"dataset": dataset, "model": model, "arithmetic": arithmetic}
                    key |= {"k": number, "n": len(equal)}
                    yield {**key, "quantity": "cells as printed", "value": equal.sum()}
                    needed = (equal & ~before).sum()
                    yield {**key, "quantity": "cells that need it", "value": needed}
                    before |= equal


def _is_printed(rows, cell, text):
    for key, value in cell.items():
        rows = rows[rows[key].astype(str) == value]
    (value,) = rows["value"]
    return claims.verdict(text, value, claims.Basis()) == "equal"


def draw(table):
    """Shares of rows against the place for each model: ties, and first features that differ."""
    from matplotlib.lines import Line2D

    lines = [(model, quantity) for model in MODELS for quantity in ("tied", "set")]
    figure, axes = panels.subplots(
        len(lines), len(DATASETS), figsize=(9.8, 9.6), sharey="row", sharex="col", layout="none"
    )
    around = {"left": 0.115, "right": 0.985, "top": 0.915, "bottom": 0.11}
    figure.subplots_adjust(**around, hspace=0.2, wspace=0.08)
    words = {"tied": "another feature\ndoes as well", "set": "first k others than\nin double"}
    for row, (model, quantity) in zip(axes, lines, strict=True):
        shares = table[(table["model"] == model) & (table["quantity"] == quantity)]
        top = max(shares["value"].max(), 0.1)
        for axis, (dataset, name) in zip(row, DATASETS.items(), strict=True):
            rows_of_dataset = shares[shares["dataset"] == dataset]
            _panel(axis, rows_of_dataset, quantity)
            axis.set_ylim(-0.03 * top, 1.08 * top)
            if quantity == "tied":
                axis.set_title(f"{name}, {rows_of_dataset['n'].max():.0f} rows", fontsize=9.5)
        row[0].set_ylabel(f"{MODELS[model]}:\n{words[quantity]}\n(share of rows)", fontsize=8.5)
    for axis in axes[-1]:
        axis.set_xlabel("place k")
    panels.letter(axes)
    handles = [Line2D([], [], color=c, label=rf"$\sigma$ = {s}") for s, c in _COLORS.items()]
    handles += [
        Line2D([], [], color="0.3", ls=line, marker=marker, ms=4, label=name)
        for name, (line, marker) in _STYLES.items()
    ]
    figure.legend(handles=handles, loc="lower center", ncols=6, fontsize=8.5)
    figure.suptitle(
        "How a greedy ranking depends on the precision of the arithmetic", y=0.98, fontsize=11
    )
    return figure


def _panel(axis, rows, quantity):
    # How often features tie does not depend on their order, and sets are compared with double's.
    for arithmetic in (DOUBLE, SINGLE) if quantity == "tied" else (SINGLE, RECORDED):
        line, marker = _STYLES[arithmetic]
        # The widest mark first: curves that coincide are seen around each other.
        for (sigma, color), size in zip(reversed(_COLORS.items()), (7, 5, 3), strict=True):
            curve = rows[(rows["arithmetic"] == arithmetic) & (rows["sigma"] == sigma)]
            curve = curve.sort_values("k")
            style = {"ls": line, "marker": marker, "ms": size, "lw": 1.1, "color": color}
            axis.plot(curve["k"], curve["value"], **style)
    axis.locator_params(axis="x", integer=True)
