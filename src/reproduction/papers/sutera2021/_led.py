"""What figures 1 and 4 share: global scores on led against K, of forests and in the limit."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction import theory
from reproduction.datasets import led
from reproduction.figures import COLOURS
from reproduction.papers import finding

KS = range(1, 8)
# Segments that the text names, numbered from 0.
FAVOURED = (1, 4)


def compute(scores, measures) -> pd.DataFrame:
    """Shares of the segments, of the 1000-tree forests and of infinitely many trees.

    Parameters
    ----------
    scores : DataFrame
        ``sutera2021_k_led/global_scores``.
    measures : dict of str to dict of str to str
        Panel -> source -> name of the importance in `scores`. ``"limit"`` is added.

    Returns
    -------
    DataFrame
        ``measure``, ``k``, ``feature``, ``source`` (``forest``: exact on the forest; ``sampled``;
        ``limit``), ``value``, ``standard_error``. Absolute values add up to 1 over the features.
    """
    scores = scores.rename(columns={"model.max_features": "k"})
    frames = [
        scores[scores["importance"] == name].assign(measure=panel, source=source)
        for panel, sources in measures.items()
        for source, name in sources.items()
    ]
    found = [limit(k) for k in KS]
    for panel in measures:
        for k, values in zip(KS, found, strict=True):
            columns = {"measure": panel, "k": k, "feature": range(7), "source": "limit"}
            columns |= {"value": values[panel], "standard_error": 0.0}
            frames.append(pd.DataFrame(columns))
    columns = ["measure", "k", "feature", "source", "value", "standard_error"]
    return pd.concat(frames, ignore_index=True)[columns]


def limit(k) -> dict[str, np.ndarray]:
    """Shares of the segments for infinitely many trees, by measure."""
    X, y = led.SEGMENTS, np.arange(10)
    forest = theory.InfiniteForest(X, y, k)
    own = np.arange(10), slice(None), forest.predict(X).argmax(axis=1)
    found = {
        "mdi": forest.mdi(),
        "sage": sage(forest, X, y, _cross_entropy),
        "sage_mse": sage(forest, X, y, _squared_error),
        "tree_shap": np.abs(forest.tree_shap(X)[own]).mean(axis=0),
        "tree_shap_interventional": np.abs(forest.tree_shap_interventional(X, X)[own]).mean(axis=0),
    }
    return {name: values / np.abs(values).sum() for name, values in found.items()}


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


def draw(table, titles):
    """One panel a measure: limit as lines, forests as points, samples with two standard errors."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(titles), figsize=(4.4 * len(titles), 4.2), sharey=True)
    colours = [*COLOURS.values()]
    for axis, (measure, title) in zip(axes, titles.items(), strict=True):
        panel = table[table["measure"] == measure]
        for feature, colour in enumerate(colours):
            by = dict(list(panel[panel["feature"] == feature].groupby("source")))
            line = by["limit"]
            axis.plot(line["k"], line["value"], color=colour, lw=1, label=f"segment {feature}")
            axis.plot(by["forest"]["k"], by["forest"]["value"], ".", color=colour, ms=7)
            if "sampled" in by:
                sampled = by["sampled"]
                error = 2 * sampled["standard_error"]
                style = {"fmt": "x", "color": colour, "ms": 4, "lw": 0.8, "capsize": 2}
                axis.errorbar(sampled["k"] + 0.15, sampled["value"], yerr=error, **style)
        axis.set_title(title)
        axis.set_xlabel("K, features drawn at a node")
    axes[0].set_ylabel("share of the sum of absolute scores")
    handles, labels = axes[0].get_legend_handles_labels()
    note = "lines: infinitely many trees; points: the forest; crosses: sampled, 2 standard errors"
    figure.legend(handles, labels, loc="outside lower center", ncols=7, title=note)
    return figure


def masking(table) -> list[dict]:
    """s16: as K grows, segments 1 and 4 together only gain, and all others lose, in the limit."""
    limit = table[table["source"] == "limit"]
    found = []
    for measure, rows in limit.groupby("measure", sort=False):
        shares = rows.pivot_table(index="k", columns="feature", values="value")
        others = shares.drop(columns=list(FAVOURED))
        steps = shares[list(FAVOURED)].sum(axis=1).diff()
        gains = others.loc[KS[-1]] - others.loc[KS[0]]
        for variant, measured, value, kind in (
            ("", "smallest step from K to K + 1 of the share of 1 and 4", steps.min(), "at least"),
            (", others", "largest change of another share from K = 1 to 7", gains.max(), "at most"),
        ):
            found.append(finding("s16", f"{measure}{variant}", measured, value, 0.0, kind))
    return found
