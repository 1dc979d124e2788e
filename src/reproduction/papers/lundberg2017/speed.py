"""Speed: "thousands of trees, and hundreds of inputs, to be explained in a fraction of a second".

One row and a batch of rows, ours beside shap and the libraries' own, from the fitted model to the
values. All on one thread, and all of it depends on the clock. The peers are those of this
environment: `make bench` times more of them, each in its newest release, in pairs. XGBoost, e.g.,
has a faster algorithm from release 3.4 on.
"""

import statistics
import time

import numpy as np
import pandas as pd

import splitcredit
from reproduction.figures import COLORS, panels
from reproduction.models import fit
from reproduction.papers import finding
from reproduction.papers.lundberg2017 import _peers
from reproduction.parameters import Count
from splitcredit.kernels.compiled import threads
from splitcredit.measures import tree_shap
from splitcredit.models.formats import to_forest

# "A fraction of a second".
FRACTION = 1.0
_FRACTION = "a fraction of a second is less than one"
OURS = f"splitcredit {splitcredit.__version__} TreeSHAP, end to end"
# Models of the depth of the paper's. The values of a feature are put into 15 bins, not 255, and a
# tree is grown from three of ten features: fits are many times as fast, and have as many nodes.
_EACH = {"learning_rate": 0.05, "max_bin": 15, "colsample_bytree": 0.3}
MODELS = {
    "xgboost": {"estimator": "XGBRegressor", "max_depth": 6, **_EACH},
    "lightgbm": {"estimator": "LGBMRegressor", "num_leaves": 63, **_EACH},
}
# Rows of the batch for the peers, whose time is scaled up: with all rows they would take minutes.
PEER_ROWS = 20
# CPU seconds of a call that is timed once.
LONG = 0.5
# Two timings of the same work on a busy machine are this many times apart at most.
APART = 2.0


def compute(inputs, trees: Count, features: Count, rows: Count, repeats: Count) -> pd.DataFrame:
    """CPU seconds: ``rows`` of a method, or ``reading``, what shap takes before the first row.

    ``timed_rows``: how many were timed; each row beyond them adds what one row beyond the first
    took on average.
    """
    with threads(1):
        measurements = list(_rows(trees, features, rows, repeats))
    integers = ["trees", "features", "rows", "timed_rows"]
    table = pd.DataFrame(measurements, columns=["part", "model", "method", *integers, "value"])
    return table.astype(dict.fromkeys(integers, "Int64"))


def _rows(trees, features, rows, repeats):
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, features))
    y = X[:, :8].sum(axis=1) + X[:, 0] * X[:, 1] + random.normal(size=rows)
    for name, recipe in MODELS.items():
        model = fit({**recipe, "n_estimators": trees, "random_state": 0}, X, y)
        key = {"part": "rows", "model": f"{name} {_peers.release(name)}"}
        key |= {"trees": trees, "features": features}
        ours = {OURS: lambda X, m=model: tree_shap.attribute(to_forest(m), X)}
        peers = _xgboost(model) if name == "xgboost" else _lightgbm(model)
        for method, explain in (ours | peers).items():
            explain(X[:1])  # The first call loads and compiles.
            batch = X if method == OURS else X[:PEER_ROWS]
            row_seconds, seconds = (_median(explain, data, repeats) for data in (X[:1], batch))
            if len(batch) < rows:  # The fixed cost of a call counts once.
                a_row = max(seconds - row_seconds, 0.0) / (len(batch) - 1)
                seconds = row_seconds + a_row * (rows - 1)
            key["method"] = method
            yield {**key, "rows": 1, "timed_rows": 1, "value": row_seconds}
            yield {**key, "rows": rows, "timed_rows": len(batch), "value": seconds}
    # Of the last model, which is the one that shap is given.
    reading = _median(lambda _: _explainer(model), X, repeats)
    yield {**key, "part": "reading", "method": None, "value": reading}


def _xgboost(model):
    # shap would hand the model on to XGBoost, so it is not a method of its own.
    import xgboost

    booster = model.get_booster()
    booster.set_param({"nthread": 1})

    def explain(X):
        return booster.predict(xgboost.DMatrix(X, nthread=1), pred_contribs=True)

    return {f"xgboost {_peers.release('xgboost')} pred_contribs": explain}


def _lightgbm(model):
    def of_lightgbm(X):
        return model.booster_.predict(X, pred_contrib=True, num_threads=1)

    def of_shap(X):
        return _explainer(model).shap_values(X, check_additivity=False)

    return {
        f"lightgbm {_peers.release('lightgbm')} pred_contrib": of_lightgbm,
        f"shap {_peers.release('shap')} TreeExplainer": of_shap,
    }


def _explainer(model):
    import shap

    return shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")


def _median(explain, X, repeats):
    """Median of the CPU seconds of calls after the first, or those of the first if it is long."""
    first = _seconds(explain, X)
    if first >= LONG:
        return first
    return statistics.median(_seconds(explain, X) for _ in range(repeats))


def _seconds(explain, X):
    start = time.process_time()
    explain(X)
    return time.process_time() - start


def draw(table):
    """One row and a batch by method."""
    figure, axes = panels.subplots(1, 2, figsize=(10, 3.6))
    rows = table[table["part"] == "rows"]
    for axis, n in zip(axes, sorted(rows["rows"].unique()), strict=False):
        _methods_by_model(axis, rows[rows["rows"] == n], n)
    axes[1].set_yticklabels([])
    panels.letter(axes)
    first = rows.iloc[0]
    sizes = f"{first['trees']:.0f} trees, {first['features']:.0f} features"
    figure.suptitle(f"CPU time of SHAP values, one thread; models of {sizes}", fontsize=10)
    return figure


def _methods_by_model(axis, rows, n):
    """A point a method below the name of its model: on a logarithmic axis a bar has no start."""
    labels = []
    for model, rows_of_model in rows.groupby("model", sort=False):
        labels.append(f"model of {model}")
        for row in rows_of_model.itertuples():
            ours = row.method.startswith("splitcredit")
            color, mark = (COLORS["blue"], "o") if ours else (COLORS["vermilion"], "s")
            axis.plot(row.value, len(labels), mark, color=color, ms=6)
            scaled = f" ({row.timed_rows:.0f} rows timed)" if row.timed_rows < row.rows else ""
            style = {"xytext": (7, 0), "textcoords": "offset points", "va": "center", "fontsize": 8}
            style["bbox"] = {"fc": "white", "ec": "none", "pad": 0.5}
            text = f"{panels.seconds(row.value)}{scaled}"
            axis.annotate(text, (row.value, len(labels)), **style)
            labels.append(row.method)
    axis.axvline(FRACTION, color=COLORS["black"], lw=0.8, ls=":", zorder=0)
    axis.text(FRACTION * 1.2, 0, "one second", fontsize=8, va="center")
    axis.set_yticks(range(len(labels)), labels, fontsize=8)
    for label in axis.get_yticklabels():
        label.set_fontweight("bold" if label.get_text().startswith("model of") else "normal")
    axis.tick_params(axis="y", length=0)
    axis.set_xscale("log")
    # Room for the texts at the right.
    room = 5000 if (rows["timed_rows"] < n).any() else 50
    axis.set_xlim(rows["value"].min() / 3, max(rows["value"].max(), FRACTION) * room)
    title = "One row" if n == 1 else f"{n:.0f} rows"
    axis.set(ylim=(len(labels) - 0.5, -0.6), xlabel="CPU seconds", title=title)


def statements(table):
    """s05: one prediction, from the fitted model to the values, by every program.

    The paper speaks of its own, which is that of XGBoost. The others stand beside: ours, which is
    another algorithm, LightGBM's, and shap's, which has to read the model first.
    """
    rows = table[table["part"] == "rows"]
    longest = rows.groupby(["model", "method"])["value"].max()
    reading = table.loc[table["part"] == "reading", "value"].max()
    for row in rows[rows["rows"] == 1].itertuples():
        # Where the model is small, other steps of a call take longer than reading it.
        reads = row.method.startswith("shap ") and row.value > FRACTION
        variant = f"{row.method}, model of {row.model}"
        yield finding(
            *("s05", variant, "CPU seconds for one row, one thread", row.value, FRACTION),
            reading=_FRACTION,
            expected=(reading / APART, reading * APART) if reads else None,
            possible=(0.0, APART * longest[row.model, row.method]),  # no longer than the batch
            beside=not row.method.startswith("xgboost "),
        )
