"""Speed: "thousands of trees, and hundreds of inputs, to be explained in a fraction of a second".

One row and a batch of rows, ours beside shap and the libraries' own, and how our time grows with
the number of trees, the depth and the number of leaves. Peers are given the fitted model; ours is
timed from there too, and once more from the converted forest. All on one thread, and all of it
depends on the clock. The peers are those of this environment: `make bench` times more of them, each
in its newest release, in pairs. XGBoost, e.g., has a faster algorithm from release 3.4 on.
"""

import statistics
import time
from functools import partial

import numpy as np
import pandas as pd

import splitcredit
from reproduction.figures import COLORS, panels
from reproduction.models import fit
from reproduction.papers import finding
from reproduction.papers.lundberg2017 import _peers, _steps, _trees
from reproduction.parameters import Count
from splitcredit.measures import saabas, tree_shap
from splitcredit.models.formats import to_forest

# "A fraction of a second".
FRACTION = 1.0
OURS = f"splitcredit {splitcredit.__version__} TreeSHAP"
# Models of the depth of the paper's. The values of a feature are put into 15 bins, not 255, and a
# tree is grown from three of ten features: fits are many times as fast, and have as many nodes.
_EACH = {"learning_rate": 0.05, "max_bin": 15, "colsample_bytree": 0.3}
MODELS = {
    "xgboost": {"estimator": "XGBRegressor", "max_depth": 6, **_EACH},
    "lightgbm": {"estimator": "LGBMRegressor", "num_leaves": 63, **_EACH},
}
# Rows of the batch for the peers, whose time is scaled up: with all rows they would take minutes.
PEER_ROWS = 20
TREES = (1, 4, 16, 64, 256)
DEPTHS = (4, 8, 16, 32, 64)
HEIGHTS = (2, 4, 6, 8, 10)
SWEEP_ROWS = 256
# What grows in each sweep, its axis, and for what the time is taken.
_GROWTH = {
    "T": ("more trees", "number of trees", ""),
    "D": ("deeper trees", "depth", ",\nfor each node"),
    "L": ("more leaves", "leaves of a tree", ""),
}
# CPU seconds of a call that is timed once.
LONG = 0.5
# Two timings of the same work on a busy machine are this many times apart at most.
APART = 2.0


def compute(inputs, trees: Count, features: Count, rows: Count, repeats: Count) -> pd.DataFrame:
    """Seconds, by part.

    Columns: ``part``: ``rows`` (``model`` and ``method`` with releases, ``trees``, ``features``,
    ``rows``, ``timed_rows``: how many were timed; each row beyond them adds what one row beyond the
    first took on average), ``reading`` (what shap takes before the first row), ``cost`` (``sweep``,
    ``size``) or ``exponent`` (``sweep``); ``value`` in CPU seconds, or a slope.
    """
    from splitcredit.kernels.compiled import threads

    with threads(1):
        measurements = [*_rows(trees, features, rows, repeats), *_cost(repeats)]
    columns = ["part", "model", "method", "trees", "features", "rows", "timed_rows"]
    table = pd.DataFrame(measurements, columns=[*columns, "sweep", "size", "value"])
    return table.astype({name: "Int64" for name in columns[3:]})


def _rows(trees, features, rows, repeats):
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, features))
    y = X[:, :8].sum(axis=1) + X[:, 0] * X[:, 1] + random.normal(size=rows)
    for name, recipe in MODELS.items():
        model = fit({**recipe, "n_estimators": trees, "random_state": 0}, X, y)
        key = {"part": "rows", "model": f"{name} {_peers.release(name)}"}
        key |= {"trees": trees, "features": features}
        for method, (explain, max_rows) in _methods(name, model).items():
            explain(X[:1])  # The first call loads and compiles.
            batch = X[: min(rows, max_rows(X))]
            row_seconds, seconds = (_median(explain, data, repeats) for data in (X[:1], batch))
            if len(batch) < rows:  # The fixed cost of a call counts once.
                seconds = row_seconds + max(seconds - row_seconds, 0.0) * (rows - 1) / (
                    len(batch) - 1
                )
            row = {"method": method, "rows": 1, "timed_rows": 1, "value": row_seconds}
            yield {**key, **row}
            row |= {"rows": rows, "timed_rows": len(batch), "value": seconds}
            yield {**key, **row}
    # Of the last model, which is the one that shap is given.
    reading = _median(lambda _: _explainer(model), X, repeats)
    yield {**key, "part": "reading", "value": reading}


def _methods(name, model):
    """Callables on rows, and the most rows that each is given."""
    forest = to_forest(model)
    ours = {
        f"{OURS}, end to end": (lambda X: tree_shap.attribute(to_forest(model), X), len),
        f"{OURS}, converted before": (lambda X: tree_shap.attribute(forest, X), len),
        f"splitcredit {splitcredit.__version__} Saabas, converted before": (
            lambda X: saabas.attribute(forest, X),
            len,
        ),
    }
    peers = _xgboost(model) if name == "xgboost" else _lightgbm(model)
    return ours | {method: (explain, lambda X: PEER_ROWS) for method, explain in peers.items()}


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


def _cost(repeats):
    """Time of quadrature in blocks on complete and on long trees, and the slopes."""
    sweeps = {
        "T": {T: _trees.broom(0, 6, n_trees=T) for T in TREES},
        "D": {D: _trees.broom(D - 2, 2, n_trees=8) for D in DEPTHS},
        "L": {2**h: _trees.broom(0, h, n_trees=8) for h in HEIGHTS},
    }
    for sweep, forests in sweeps.items():
        points = []
        for size, forest in forests.items():
            X = np.random.default_rng(0).random((SWEEP_ROWS, forest.n_features))
            explain = partial(tree_shap.attribute, forest, algorithm="blocks")
            seconds = _median(explain, X, max(repeats, 3))
            # A long tree has one node more at each depth: then it is the time for a node.
            points.append((size, seconds / (size if sweep == "D" else 1)))
            yield {"part": "cost", "sweep": sweep, "size": size, "value": seconds}
        yield {"part": "exponent", "sweep": sweep, "value": _steps.slope(points)}


def _median(explain, X, repeats):
    """Median of the CPU seconds; the first call, which may load kernels, is not counted.

    One long call is enough, because disturbances are a small share of it.
    """
    first = _seconds(explain, X)
    if first >= LONG:
        return first
    return statistics.median(_seconds(explain, X) for _ in range(repeats))


def _seconds(explain, X):
    start = time.process_time()
    explain(X)
    return time.process_time() - start


def draw(table):
    """One row and a batch by method; below, time against T, D and L."""
    figure = panels.figure(figsize=(10, 8))
    above, below = figure.subfigures(2, 1, height_ratios=[1.45, 1])
    methods, growth = above.subplots(1, 2), below.subplots(1, len(_GROWTH))
    rows = table[table["part"] == "rows"]
    for axis, n in zip(methods, sorted(rows["rows"].unique()), strict=False):
        _methods_by_model(axis, rows[rows["rows"] == n], n)
    methods[1].set_yticklabels([])
    for axis, sweep in zip(growth, _GROWTH, strict=True):
        _growth(axis, table[table["sweep"] == sweep], *_GROWTH[sweep])
    panels.letter([*methods, *growth])
    first = rows.iloc[0]
    sizes = f"{first['trees']:.0f} trees, {first['features']:.0f} features"
    above.suptitle(f"CPU time of SHAP values, one thread; models of {sizes}", fontsize=10)
    below.suptitle(f"How the time of {OURS} grows; exponents are fitted to all points", fontsize=10)
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
            text = f"{panels.seconds(row.value)}{scaled}"
            style = {"xytext": (7, 0), "textcoords": "offset points", "va": "center"}
            style["bbox"] = {"fc": "white", "ec": "none", "pad": 0.5}
            axis.annotate(text, (row.value, len(labels)), fontsize=8, **style)
            labels.append(row.method)
    axis.axvline(FRACTION, color=COLORS["black"], lw=0.8, ls=":", zorder=0)
    axis.text(FRACTION * 1.2, 0, "one second", fontsize=8, va="center")
    axis.set_yticks(range(len(labels)), labels, fontsize=8)
    for label, name in zip(axis.get_yticklabels(), labels, strict=True):
        label.set_fontweight("bold" if name.startswith("model of") else "normal")
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(len(labels) - 0.5, -0.6)
    axis.set_xscale("log")
    # Room for the texts at the right.
    room = 5000 if (rows["timed_rows"] < n).any() else 50
    axis.set_xlim(rows["value"].min() / 3, max(rows["value"].max(), FRACTION) * room)
    axis.set_xlabel("CPU seconds")
    axis.set_title("One row" if n == 1 else f"{n:.0f} rows")


def _growth(axis, rows, title, label, per):
    cost = rows[rows["part"] == "cost"]
    value = cost["value"] / (cost["size"] if per else 1)
    axis.loglog(cost["size"], value, color=COLORS["blue"], marker="o", ms=4)
    axis.set_xticks(cost["size"], [f"{size:.0f}" for size in cost["size"]])
    axis.set_xticks([], minor=True)
    # Whole powers of ten, or no number may stand at the axis.
    exponents = np.log10([value.min(), value.max()])
    axis.set_ylim(10 ** np.floor(exponents[0]), 10 ** np.ceil(exponents[1]))
    axis.set_xlabel(label)
    axis.set_ylabel(f"CPU seconds, {SWEEP_ROWS} rows{per}")
    slope = rows.loc[rows["part"] == "exponent", "value"].iloc[0]
    axis.set_title(f"{title}: exponent {slope:.2f}")


def statements(table):
    """s05: one prediction, from the fitted model to the values, by every program.

    The paper speaks of its own, which is that of XGBoost. The others stand beside: ours, which is
    another algorithm, LightGBM's, and shap's, which has to read the model first.
    """
    rows = table[(table["part"] == "rows") & ~table["method"].str.contains("converted before")]
    longest = rows.groupby(["model", "method"])["value"].max()
    reading = table.loc[table["part"] == "reading", "value"].max()
    for row in rows[rows["rows"] == 1].itertuples():
        # Where the model is small, other steps of a call take longer than reading it.
        reads = row.method.startswith("shap ") and row.value > FRACTION
        yield finding(
            *("s05", f"{row.method}, model of {row.model}"),
            "CPU seconds for one row, one thread",
            *(row.value, FRACTION),
            basis="our reading",
            reason="a fraction of a second is less than one",
            # No longer than the batch.
            possible=(0.0, APART * longest[row.model, row.method]),
            expected=(reading / APART, reading * APART) if reads else None,
            beside=not row.method.startswith("xgboost "),
        )
