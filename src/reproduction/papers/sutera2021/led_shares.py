"""Figures 1 and 4: global scores on led against K, of forests and in the limit."""

from itertools import combinations

import numpy as np
import pandas as pd

from reproduction import theory
from reproduction.datasets import led
from reproduction.figures import COLORS, images, panels
from reproduction.metrics.correlations import CORRELATIONS, row_correlations
from reproduction.papers import finding

KS = range(1, 8)
# Correlations of forests of 1000 trees, and differences of two, come as near to those of infinitely
# many: by Spearman, scores that are the same in the limit have ranks of their own in a forest.
NEAR = 0.03
PAIRS = tuple(combinations(("local_mdi", "saabas", "tree_shap"), 2))
# Segments that the text names, numbered from 0.
FAVORED = (1, 4)
# Measure -> source -> name of the importance in the scores. `compute` adds ``"limit"``.
SOURCES = {
    "mdi": {"forest": "mdi"},
    "sage": {"forest": "sage_exact", "sampled": "sage"},
    "sage_mse": {"forest": "sage_mse_exact", "sampled": "sage_mse"},
    "tree_shap_interventional": {"forest": "tree_shap_interventional"},
    "tree_shap": {"forest": "tree_shap"},
}
# By segment, as the colors are.
MARKERS = "os^vDP*"
_TITLES = {
    "mdi": "global MDI",
    "sage": "SAGE (cross-entropy)",
    "sage_mse": "SAGE (mse)",
    "tree_shap_interventional": "mean |TreeSHAP|, interventional",
    "tree_shap": "mean |TreeSHAP|, path-dependent",
}
# "Very similar", "very close": a tenth of the mean share of a segment.
_CLOSE = 0.1 / 7
_CLOSE_REASON = "a tenth of the mean share of a segment, 1/7, is hard to see on the figure's axis"
# Of sums of some hundred float64.
_NOT_ROUNDING = 1e-6
_NOT_ROUNDING_REASON = "a million times what rounding makes of 0 here: this or more is not 0"


def compute(inputs, measures: list[str]) -> pd.DataFrame:
    """Shares of the segments, of the 1000-tree forests and of infinitely many trees.

    Columns: ``measure``, ``k``, ``feature``, ``source`` (``forest``: exact on the forest;
    ``sampled``; ``limit``), ``value``, ``standard_error``. Absolute values add up to 1 over the
    features.
    """
    scores = inputs["sutera2021_k_led/global_scores"].rename(columns={"model.max_features": "k"})
    places = {name: j for j, name in enumerate(led.load().feature_names)}
    scores = scores.assign(feature=scores["feature"].map(places))
    frames = [
        scores[scores["importance"] == name].assign(measure=measure, source=source)
        for measure in measures
        for source, name in SOURCES[measure].items()
    ]
    limits = [limit(k) for k in KS]
    for measure in measures:
        for k, shares in zip(KS, limits, strict=True):
            columns = {"measure": measure, "k": k, "feature": range(7), "source": "limit"}
            columns |= {"value": shares[measure], "standard_error": 0.0}
            frames.append(pd.DataFrame(columns))
    columns = ["measure", "k", "feature", "source", "value", "standard_error"]
    return pd.concat(frames, ignore_index=True)[columns]


def limit(k) -> dict[str, np.ndarray]:
    """Shares of the segments for infinitely many trees, by measure."""
    X, y = led.SEGMENTS, np.arange(10)
    forest, predicted = _limit_forest(k)

    def mean(values):
        return np.abs(values[predicted]).mean(axis=0)

    scores = {
        "mdi": forest.mdi(),
        "sage": sage(forest, X, y, _cross_entropy),
        "sage_mse": sage(forest, X, y, _squared_error),
        "tree_shap": mean(forest.tree_shap(X)),
        "tree_shap_interventional": mean(forest.tree_shap_interventional(X, X)),
    }
    return {name: values / np.abs(values).sum() for name, values in scores.items()}


def correlations(k, absolute) -> dict:
    """Correlation of each pair of local measures in this limit, by display.

    Of the predicted class, by (correlation, pair); of absolute scores, or of signed ones.
    """
    X = led.SEGMENTS
    forest, predicted = _limit_forest(k)
    scores = {
        "local_mdi": forest.local_mdi(X),
        "saabas": forest.saabas(X)[predicted],
        "tree_shap": forest.tree_shap(X)[predicted],
    }
    # Equal scores may differ by a rounding, which would give them different ranks.
    scores = {n: (np.abs(v) if absolute else v).round(12) for n, v in scores.items()}
    by_pair = {pair: row_correlations(*(scores[n] for n in pair)) for pair in PAIRS}
    return {
        (name, pair): values
        for pair, both in by_pair.items()
        for name, values in zip(CORRELATIONS, both, strict=True)
    }


def _limit_forest(k):
    """Infinitely many trees on the displays, and the place of each display's predicted class."""
    forest = theory.InfiniteForest(led.SEGMENTS, np.arange(10), k)
    return forest, (np.arange(10), slice(None), forest.predict(led.SEGMENTS).argmax(axis=1))


def sage(forest, X, y, loss) -> np.ndarray:
    """SAGE of the limit of a forest by enumeration, unknown features drawn from the rows."""

    def saved(s):
        mixed = np.repeat(X[None], len(X), axis=0)
        mixed[:, :, s] = X[:, None, s]
        predicted = forest.predict(mixed.reshape(-1, X.shape[1])).reshape(len(X), len(X), -1)
        return -loss(predicted.mean(axis=1), y)

    return theory.shapley_values(X.shape[1], saved)


def _cross_entropy(predicted, y):
    return -np.log(np.maximum(predicted[np.arange(len(y)), y], 1e-12)).mean()


def _squared_error(predicted, y):
    return ((predicted - np.eye(10)[y]) ** 2).sum(axis=1).mean()


def draw(table):
    """One panel a measure: limit as lines, forests as points, samples with two standard errors."""
    measures = table["measure"].unique()
    figure = panels.figure(figsize=(3.4 * len(measures) + 1.3, 4.6))
    *axes, key = figure.subplots(1, len(measures) + 1, width_ratios=[4] * len(measures) + [1])
    colors = [*COLORS.values()]
    for axis, measure in zip(axes, measures, strict=True):
        panel = table[table["measure"] == measure]
        ends = {}
        for feature, color in enumerate(colors):
            by_source = dict(list(panel[panel["feature"] == feature].groupby("source")))
            line = by_source["limit"].sort_values("k")
            axis.plot(line["k"], line["value"], color=color, lw=1)
            style = {"marker": MARKERS[feature], "color": color, "ms": 5, "ls": ""}
            axis.plot(by_source["forest"]["k"], by_source["forest"]["value"], **style)
            ends[feature] = line["value"].iloc[-1]
            if "sampled" in by_source:
                sampled = by_source["sampled"]
                error = 2 * sampled["standard_error"]
                style = {"fmt": "x", "color": color, "ms": 4, "lw": 0.8, "capsize": 2}
                axis.errorbar(sampled["k"] + 0.18, sampled["value"], yerr=error, **style)
        axis.set(xlim=(0.7, KS[-1] + 1.2), ylim=(0, 0.28), xticks=KS)
        for feature, place in panels.apart(ends, 0.011).items():
            axis.text(KS[-1] + 0.4, place, str(feature), color=colors[feature], va="center")
        axis.set(title=_TITLES[measure], xlabel="K, features drawn at a node")
    axes[0].set_ylabel("share of the sum of absolute scores")
    panels.letter(axes)
    images.legend(key, colors)
    key.set_title("segments", fontsize=8)
    figure.suptitle(
        "Led, ten displays; lines: infinitely many trees; filled marks: a forest of "
        "extra-trees (1000 at full scale, random_state 0),\nscores without sampling; crosses: SAGE "
        "sampled on that forest, two standard errors, other permutations for each K",
        fontsize=8.5,
    )
    return figure


def statements(table):
    """s15 and s41 of MDI and SAGE, if both are there; s16 of each measure."""
    has_both = {"mdi", "sage"} <= set(table["measure"])
    return [*(_closeness(table) if has_both else []), *_masking(table[table["source"] == "limit"])]


def _closeness(table):
    """s15: the shares of MDI and SAGE are close; s41: not equal, as SAGE draws from marginals."""
    close = {"reading": _CLOSE_REASON, "possible": (0, 1)}
    for source, words in (("limit", "infinitely many trees"), ("forest", "the forests")):
        rows = table[table["source"] == source]
        shares = rows.pivot_table(index=["k", "feature"], columns="measure", values="value")
        gaps = (shares["mdi"] - shares["sage"]).abs().groupby("k").max()
        first, others = gaps.iloc[0], gaps.iloc[1:].max()
        place = ("s15", f"{words}, K = 1", "largest gap between the shares")
        yield finding(*place, first, _CLOSE, **close)
        place = ("s15", f"{words}, K > 1", f"the same, {others / first:.2g} times that of K = 1")
        yield finding(*place, others, _CLOSE, **close)
        if source == "limit":
            options = {"reading": _NOT_ROUNDING_REASON, "possible": (0, 1)}
            place = ("s41", words, "largest gap between the shares of MDI and SAGE, K = 1")
            yield finding(*place, first, _NOT_ROUNDING, "at least", **options)


def _masking(limit):
    """s16: as K grows, segments 1 and 4 together only gain, and all others lose, in the limit."""
    for measure, rows in limit.groupby("measure", sort=False):
        shares = rows.pivot_table(index="k", columns="feature", values="value")
        other_segments = shares.drop(columns=list(FAVORED))
        steps = shares[list(FAVORED)].sum(axis=1).diff()
        gains = other_segments.loc[KS[-1]] - other_segments.loc[KS[0]]
        options = {"basis": "printed", "possible": (-1, 1)}
        measured = "smallest step from K to K + 1 of the share of 1 and 4"
        yield finding("s16", measure, measured, steps.min(), 0.0, "at least", **options)
        # If another segment gains, it is number 6, and by that much.
        of_6 = gains.loc[6]
        options["expected"] = (of_6, of_6) if of_6 > 0 else None
        measured = "largest change of another share from K = 1 to 7"
        yield finding("s16", f"{measure}, others", measured, gains.max(), 0.0, **options)
