"""The cost of the measures, against a prediction and against each other.

CPU seconds on one thread, of this project's code and of shap's TreeSHAP. All of it depends on the
clock: `make bench` times this project against other libraries.
"""

import time
from functools import partial

import numpy as np
import pandas as pd

from reproduction.datasets import led, scikit_learn
from reproduction.figures import COLORS, panels
from reproduction.models import fit
from reproduction.papers import finding
from reproduction.parameters import Count
from splitcredit import to_forest
from splitcredit.kernels.compiled import threads
from splitcredit.kernels.tree_shap.explain import tree_shap_one
from splitcredit.kernels.walks import predict, saabas
from splitcredit.kernels.walks.mdi import local_mdi
from splitcredit.measures import mdi, sage

KS = (1, 8, 64)
# Rows are too few to time by themselves; the smallest time that is measured is some milliseconds.
LEAST_SECONDS = 0.02
CALLS = {
    "prediction": "prediction",
    "local_mdi": "local MDI",
    "saabas": "Saabas",
    "tree_shap": "TreeSHAP",
    "tree_shap_shap": "TreeSHAP (shap)",
    "loss_shap": "TreeSHAP of the log loss (shap)",
    "mdi": "MDI",
    "sage": "SAGE",
}
# A tenth: "a much more efficient scheme", "a strong advantage".
MUCH = 10.0
# Rows that shap explains. Its TreeSHAP visits all nodes for every row, so one row is enough.
SHAP_ROWS = 1
# Nothing here takes a hundred thousand times as long as something else.
_RATIO = (0, 1e5)
# Local MDI walks as a prediction does, and adds a number where it has read one.
_ADDS = (0, 2)
_NO_MORE = '"no additional cost" is read as no more CPU seconds; the words may speak of the order'
_MUCH_REASON = '"much" and "strong" say no number; a factor of ten is beyond any choice of hardware'


def compute(inputs, trees: Count, repeats: Count, loss_rows: Count) -> pd.DataFrame:
    """CPU seconds of every repeat, by scope and measure.

    Columns: ``scope``, ``measure``, ``repeat``, ``value`` (CPU seconds for all rows), and ``rows``,
    how many were timed; where that is not all of them, the time is scaled up.
    """
    with threads(1):
        scopes = [*_digits(trees), _led(trees), _loss(trees, loss_rows)]
        rows = [row for scope in scopes for row in _timed(repeats, *scope)]
    return pd.DataFrame(rows)


def _forest(data, k, trees):
    recipe = {"estimator": "ExtraTreesClassifier", "criterion": "entropy", "random_state": 0}
    recipe |= {"n_estimators": trees, "max_features": k}
    model = fit(recipe, data.X, data.y)
    return model, to_forest(model)


def _digits(trees):
    """Local measures and the prediction of all rows, by K; shap explains `SHAP_ROWS` of them."""
    import shap

    data = scikit_learn.digits()
    for k in KS:
        model, forest = _forest(data, k, trees)
        X = forest.prepare(data.X)
        classes = predict.predict(forest, X).argmax(axis=1)
        explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
        by_shap = partial(explainer.shap_values, data.X[:SHAP_ROWS], check_additivity=False)
        calls = {
            "prediction": partial(predict.predict, forest, X),
            "local_mdi": partial(local_mdi, forest, X),
            "saabas": partial(saabas.saabas_one, forest, X, classes),
            "tree_shap": partial(tree_shap_one, forest, X, classes),
            "tree_shap_shap": by_shap,
        }
        yield f"digits, K = {k}", len(X), calls, {"tree_shap_shap": SHAP_ROWS}


def _led(trees):
    """Global measures."""
    data = led.load()
    _, forest = _forest(data, 1, trees)
    sampled = partial(sage.sage, forest, data.X, data.y, loss="cross_entropy")
    return "led, K = 1", len(data.X), {"mdi": partial(mdi.mdi, forest), "sage": sampled}, {}


def _loss(trees, n_rows):
    """TreeSHAP of the loss as shap has it: against a background, features as if independent."""
    import shap

    data = scikit_learn.breast_cancer()
    model, forest = _forest(data, 1, trees)
    rows = np.linspace(0, len(data.X) - 1, n_rows).astype(int)
    X, y = data.X[rows], data.y[rows]
    explainer = shap.TreeExplainer(
        model, X, feature_perturbation="interventional", model_output="log_loss"
    )
    all_rows = forest.prepare(data.X)
    calls = {
        "prediction": partial(predict.predict, forest, all_rows),
        "local_mdi": partial(local_mdi, forest, all_rows),
        "loss_shap": partial(explainer.shap_values, X, y, check_additivity=False),
    }
    return "breast cancer, K = 1", len(all_rows), calls, {"loss_shap": n_rows}


def _timed(repeats, scope, n_rows, calls, fewer):
    """Seconds of each call for all rows, of which a call of `fewer` has so many alone."""
    loops = {}
    for name, call in calls.items():
        call()  # The first call loads and compiles.
        loops[name] = max(1, int(np.ceil(LEAST_SECONDS / max(_seconds(call, 1), 1e-6))))
    for repeat in range(repeats):
        for name, call in calls.items():
            rows = fewer.get(name, n_rows)
            value = _seconds(call, loops[name]) * (n_rows / rows)
            key = {"scope": scope, "measure": name, "repeat": repeat}
            yield {**key, "value": value, "rows": rows}


def _seconds(call, loops):
    start = time.process_time()
    for _ in range(loops):
        call()
    return (time.process_time() - start) / loops


def draw(table):
    """Points by scope and measure, as on a logarithmic axis a bar has no start; and extremes."""
    summary = table.groupby(["scope", "measure"], sort=False)["value"].agg(["median", "min", "max"])
    figure, axis = panels.subplots(
        figsize=(7, 0.24 * (len(summary) + table["scope"].nunique()) + 0.9)
    )
    labels = []
    for scope in table["scope"].unique():
        labels.append(scope)
        for row in summary.loc[scope].itertuples():
            error = [[row.median - row.min], [row.max - row.median]]
            color, mark = _MARKS.get(row.Index, ("vermilion", "s"))
            style = {"fmt": mark, "color": COLORS[color], "ms": 5, "elinewidth": 1}
            axis.errorbar(row.median, len(labels), xerr=error, **style)
            text, place = panels.seconds(row.median), (row.max, len(labels))
            panels.note(axis, text, place, (7, 0), va="center", fontsize=8)
            labels.append(CALLS[row.Index])
    axis.set_yticks(range(len(labels)), labels)
    for label in axis.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() in set(table["scope"]) else "normal")
    axis.tick_params(axis="y", length=0)
    axis.set_ylim(len(labels) - 0.5, -0.6)
    axis.set(xscale="log", xlim=(summary["min"].min() / 3, summary["max"].max() * 8))
    axis.set_xlabel("CPU seconds for all rows, one thread; points: medians, lines: extremes")
    axis.set_title("What local and global scores cost beside a prediction")
    return figure


# A prediction, to which the others are compared.
_MARKS = {"prediction": ("black", "D"), "local_mdi": ("blue", "o"), "mdi": ("blue", "o")}

# Ratio of two measures -> the statement that it decides, the kind of limit, the limit, and more of
# the finding. The paper timed shap's TreeSHAP; ours stands beside it, and need only cost more.
_RATIOS = {
    ("local_mdi", "prediction"): ("s22", "at most", 1.0, {"reading": _NO_MORE, "expected": _ADDS}),
    ("sage", "mdi"): ("s23", "at least", MUCH, {"reading": _MUCH_REASON}),
    ("tree_shap_shap", "local_mdi"): ("s38", "at least", MUCH, {"reading": _MUCH_REASON}),
    ("tree_shap_shap", "saabas"): ("s38", "at least", MUCH, {"reading": _MUCH_REASON}),
    ("tree_shap", "local_mdi"): ("s38", "at least", 1.0, {"beside": True}),
    ("tree_shap", "saabas"): ("s38", "at least", 1.0, {"beside": True}),
    ("loss_shap", "local_mdi"): ("s39", "at least", 1.0, {}),
}


def statements(table):
    """s22, s23, s38 and s39: medians of the ratios of each repeat, and their extremes.

    Whether MDI and SAGE give nearly the same, of s23, is s15, which figure 1 decides.
    """
    measured = "gap between the shares of MDI and SAGE, which figure 1 measures (s15)"
    yield finding("s23", "nearly the same", measured, None, 0.0)
    measured = "ratio of CPU seconds, median and extremes over the repeats"
    for scope, rows in table.groupby("scope", sort=False):
        seconds = rows.pivot_table(index="repeat", columns="measure", values="value")
        for (over, under), (statement, kind, limit, options) in _RATIOS.items():
            if {over, under} <= set(seconds):
                ratios = seconds[over] / seconds[under]
                place = (statement, f"{scope}: {CALLS[over]} over {CALLS[under]}", measured)
                options = {"interval": (ratios.min(), ratios.max()), "possible": _RATIO, **options}
                yield finding(*place, ratios.median(), limit, kind, basis="printed", **options)
