"""Speed: "thousands of trees, and hundreds of inputs, to be explained in a fraction of a second".

One row and a batch of rows, ours beside shap and the libraries' own, and how our time grows with
the number of trees, the depth and the number of leaves. All on one thread, and all of it depends on
the clock: `make bench` times more peers, each in its newest release, in pairs.
"""

from __future__ import annotations

import statistics
import time
from functools import partial

import numpy as np
import pandas as pd

from reproduction.figures import COLORS
from reproduction.models import fit
from reproduction.papers import finding
from reproduction.papers.lundberg2017 import _steps, _trees
from splitcredit.convert import to_forest
from splitcredit.importances import saabas, tree_shap

# "A fraction of a second".
FRACTION = 1.0
# Models of the depth of the paper's; the libraries' own names for their attributions.
MODELS = {
    "xgboost": {"estimator": "XGBRegressor", "max_depth": 6, "learning_rate": 0.05},
    "lightgbm": {"estimator": "LGBMRegressor", "num_leaves": 63, "learning_rate": 0.05},
}
# Of the batch, scaled up: with all rows the peers would take minutes.
PEER_ROWS = 100
TREES = (1, 4, 16, 64, 256)
DEPTHS = (4, 8, 16, 32, 64)
HEIGHTS = (2, 4, 6, 8, 10)
SWEEP_ROWS = 256


def compute(inputs, trees: int, features: int, rows: int, repeats: int) -> pd.DataFrame:
    """Seconds, by part.

    Parameters
    ----------
    inputs : unused
    trees, features, rows : int
        Sizes of models and batch.
    repeats : int
        The median of so many is taken.

    Returns
    -------
    DataFrame
        ``part``: ``rows`` (``model``, ``method``, ``rows``), ``cost`` (``sweep``, ``size``) or
        ``exponent`` (``sweep``); ``value`` in CPU seconds, or a slope.
    """
    from splitcredit.kernels.compiled import threads

    with threads(1):
        measurements = _rows(trees, features, rows, repeats) + _cost(repeats)
    return pd.DataFrame(
        measurements, columns=["part", "model", "method", "rows", "sweep", "size", "value"]
    )


def _rows(trees, features, rows, repeats):
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, features))
    y = X[:, :8].sum(axis=1) + X[:, 0] * X[:, 1] + random.normal(size=rows)
    measurements = []
    for name, recipe in MODELS.items():
        model = fit({**recipe, "n_estimators": trees, "random_state": 0}, X, y)
        for method, (explain, most) in _methods(name, model).items():
            for n in (1, rows):
                some = X[: min(n, most(X))]
                seconds = _median(explain, some, repeats) * n / len(some)
                key = {"part": "rows", "model": name, "method": method, "rows": n}
                measurements.append({**key, "value": seconds})
    return measurements


def _methods(name, model):
    """Callables on rows, and the most rows that each is given."""
    forest = to_forest(model)
    ours = {
        "splitcredit, TreeSHAP": (lambda X: tree_shap.explain(forest, X), len),
        "splitcredit, Saabas": (lambda X: saabas.explain(forest, X), len),
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

    return {"xgboost, pred_contribs": explain}


def _lightgbm(model):
    import shap

    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")

    def of_lightgbm(X):
        return model.booster_.predict(X, pred_contrib=True, num_threads=1)

    def of_shap(X):
        return explainer.shap_values(X, check_additivity=False)

    return {"lightgbm, pred_contrib": of_lightgbm, "shap, TreeExplainer": of_shap}


def _cost(repeats):
    """Time of quadrature in blocks on complete and on long trees, and the slopes."""
    sweeps = {
        "T": {T: _trees.broom(0, 6, n_trees=T) for T in TREES},
        "D": {D: _trees.broom(D - 2, 2, n_trees=8) for D in DEPTHS},
        "L": {2**h: _trees.broom(0, h, n_trees=8) for h in HEIGHTS},
    }
    measurements = []
    for sweep, forests in sweeps.items():
        points = []
        for size, forest in forests.items():
            X = np.random.default_rng(0).random((SWEEP_ROWS, forest.n_features))
            explain = partial(tree_shap.explain, forest, algorithm="blocks")
            seconds = _median(explain, X, max(repeats, 3))
            # A long tree has one node more at each depth: then it is the time for a node.
            points.append((size, seconds / (size if sweep == "D" else 1)))
            measurements.append({"part": "cost", "sweep": sweep, "size": size, "value": seconds})
        measurements.append(
            {"part": "exponent", "sweep": sweep, "value": _steps.slope(points[-3:])}
        )
    return measurements


def _median(explain, X, repeats):
    """Median of the CPU seconds; the first call, which loads and compiles, is not counted."""
    explain(X)
    times = []
    for _ in range(repeats):
        start = time.process_time()
        explain(X)
        times.append(time.process_time() - start)
    return statistics.median(times)


def draw(table):
    """One row and a batch by method, and time against T, D and L."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), width_ratios=[1, 1, 1.1])
    rows = table[table["part"] == "rows"]
    for axis, n in zip(axes, sorted(rows["rows"].unique()), strict=False):
        _bars(axis, rows[rows["rows"] == n], n)
    axes[1].set_yticklabels([])
    _curves(axes[2], table)
    return figure


def _bars(axis, rows, n):
    rows = rows.iloc[::-1]
    ours = rows["method"].str.startswith("splitcredit")
    colors = [COLORS["blue"] if is_ours else COLORS["orange"] for is_ours in ours]
    axis.barh(np.arange(len(rows)), rows["value"], color=colors)
    for y, seconds in enumerate(rows["value"]):
        axis.text(seconds * 1.15, y, f"{seconds:.2g} s", va="center", fontsize=7.5)
    axis.axvline(FRACTION, color=COLORS["black"], lw=0.8, ls=":")
    axis.set_yticks(np.arange(len(rows)), [f"{r.method}\n({r.model})" for r in rows.itertuples()])
    axis.set_xscale("log")
    axis.set_xlim(rows["value"].min() / 3, max(rows["value"].max(), FRACTION) * 15)
    axis.set_xlabel("CPU seconds, one thread")
    axis.set_title("one row" if n == 1 else f"{n:.0f} rows")


def _curves(axis, table):
    slopes = table[table["part"] == "exponent"].set_index("sweep")["value"]
    names = {"T": "trees", "D": "depth (for each node)", "L": "leaves"}
    for (sweep, name), color in zip(names.items(), ("blue", "vermilion", "green"), strict=True):
        cost = table[(table["part"] == "cost") & (table["sweep"] == sweep)]
        value = cost["value"] / (cost["size"] if sweep == "D" else 1)
        label = f"{name}: exponent {slopes[sweep]:.2f}"
        axis.loglog(cost["size"], value, "o-", color=COLORS[color], ms=4, label=label)
    low, high = axis.get_ylim()
    axis.set_ylim(low, high * 30)  # room for the legend
    axis.set_xlabel("size")
    axis.set_ylabel(f"CPU seconds for {SWEEP_ROWS} rows")
    axis.legend(fontsize=8, title="our time against the number of")


def statements(table) -> list[dict]:
    """s05: one row, and the batch, by ours."""
    rows = table[(table["part"] == "rows") & (table["method"] == "splitcredit, TreeSHAP")]
    measured = "CPU seconds, one thread"
    return [
        finding("s05", f"{row.model}, {row.rows:.0f} row(s)", measured, row.value, FRACTION)
        for row in rows.itertuples()
    ]
