"""Random models of every kind, converted and compared with what their libraries predict.

    python benchmarks/conversions.py --models 200 --seed 0 --write

For each kind, as many models are fitted to drawn data with drawn parameters (`drawn_models`). The
rows on which both predict are training rows, new rows, and rows whose cells lie on thresholds of
the model and one floating-point step beside them. The difference of a model is the largest one
among all rows and outputs, relative to the largest prediction. XGBoost takes the logarithm of its
base score in single precision, so its differences are relative to 1 if no prediction is larger.

``--write`` puts the table into docs/models.md. If CatBoost is not installed, its kinds are left out
and the table says so. The status is 1 if a difference is above its bound. The model is then named
by its number, and ``--only KIND --number NUMBER`` makes it again.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import drawn_models
from drawn_data import draw
from reproduction import marked
from splitcredit import to_forest

DOCS = Path(__file__).resolve().parents[1] / "docs"
HEAD = ("| models | how many | largest difference | bound |", "|---|--:|--:|--:|")
# Steps of rounding are 1.1e-16 and 6.0e-8: room for some ninety of them, and for seventeen.
DOUBLE, SINGLE = 1e-14, 1e-6


@dataclass(frozen=True)
class Kind:
    """One row of the table.

    Parameters
    ----------
    name : str
        What the table calls it.
    fit : callable
        From a `drawn_data.Draw` to the model, its prediction and the training table.
    bound : float
        Largest difference, relative to the largest prediction.
    files : tuple of str
        Suffixes of the files of which one is written and read; without any, the object is
        converted.
    unseen : bool
        Whether rows may have labels that training did not have.
    """

    name: str
    fit: object
    bound: float = DOUBLE
    files: tuple[str, ...] = ()
    unseen: bool = False

    @property
    def library(self) -> str:
        """The package that fits these models."""
        return self.name.partition(",")[0]

    @property
    def installed(self) -> bool:
        """Whether the library is there: CatBoost is no part of the project's environment."""
        return importlib.util.find_spec(self.library) is not None

    def difference(self, seed, number) -> float:
        """Relative difference of one model."""
        random = np.random.default_rng([seed, number, *self.name.encode()])
        data = draw(random)
        model, predict, training = self.fit(data)
        forest = self._converted(model, data)
        rows = rows_of(forest, training, random, self.unseen)
        theirs = np.asarray(predict(rows), float).reshape(len(rows), -1)
        ours = forest.predict(rows)
        if ours.shape != theirs.shape or not np.isfinite(theirs).all():
            return np.inf
        smallest_scale = 1.0 if self.bound == SINGLE else np.finfo(float).tiny
        return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), smallest_scale))

    def _converted(self, model, drawn):
        if not self.files:
            return to_forest(model)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"model{drawn.one_of(self.files)}"
            SAVE[self.library](model, str(path))
            return to_forest(path)


SAVE = {
    "catboost": lambda model, path: model.save_model(path, format="json"),
    "lightgbm": lambda model, path: model.booster_.save_model(path),
    "xgboost": lambda model, path: model.save_model(path),
}
KINDS = (
    Kind("catboost, files", drawn_models.catboost_symmetric, files=(".json",)),
    Kind("catboost, other trees", drawn_models.catboost_other),
    Kind("catboost, symmetric trees", drawn_models.catboost_symmetric),
    Kind("lightgbm, categories", drawn_models.lightgbm_categories, unseen=True),
    Kind("lightgbm, dart", drawn_models.lightgbm_dart),
    Kind("lightgbm, files", drawn_models.lightgbm_files, files=(".txt",)),
    Kind("lightgbm, gbdt, goss, rf", drawn_models.lightgbm_trees),
    Kind("sklearn, AdaBoostClassifier", drawn_models.sklearn_ada_boost),
    Kind("sklearn, GradientBoosting", drawn_models.sklearn_gradient),
    Kind("sklearn, HistGradientBoosting", drawn_models.sklearn_histogram),
    Kind("sklearn, HistGradientBoosting, categories", drawn_models.sklearn_categories, unseen=True),
    Kind("sklearn, IsolationForest", drawn_models.sklearn_isolation),
    Kind("sklearn, bagging", drawn_models.sklearn_bagging),
    Kind("sklearn, several targets", drawn_models.sklearn_targets),
    Kind("sklearn, trees and forests", drawn_models.sklearn_trees),
    Kind("xgboost, categories, one against the rest", drawn_models.xgboost_single_labels, SINGLE),
    Kind("xgboost, categories, subsets", drawn_models.xgboost_subsets, SINGLE),
    Kind("xgboost, dart", drawn_models.xgboost_dart, SINGLE),
    Kind("xgboost, files", drawn_models.xgboost_files, SINGLE, files=(".json", ".ubj")),
    Kind("xgboost, gbtree", drawn_models.xgboost_trees, SINGLE),
    Kind("xgboost, several targets", drawn_models.xgboost_targets, SINGLE),
    Kind("xgboost, vector leaves", drawn_models.xgboost_vectors, SINGLE),
)


def rows_of(forest, training, random, unseen=False):
    """Rows to predict: training rows, new ones, and ones with cells on thresholds and beside them.

    Parameters
    ----------
    forest : splitcredit.Forest
        Whose thresholds are taken.
    training : ndarray or DataFrame (n_samples, n_features)
        The training rows. Columns that have missing values there have more of them.
    random : numpy.random.Generator
    unseen : bool
        Whether columns of labels get one that training did not have.

    Returns
    -------
    ndarray or DataFrame (n_samples + 60, n_features)
    """
    if isinstance(training, pd.DataFrame):
        columns = [
            _labels(training[name], random, unseen)
            if isinstance(training[name].dtype, pd.CategoricalDtype)
            else _numbers(training[name].to_numpy(), j, forest, random)
            for j, name in enumerate(training)
        ]
        return pd.DataFrame(dict(zip(training, columns, strict=True)))
    columns = [_numbers(training[:, j], j, forest, random) for j in range(training.shape[1])]
    return np.column_stack(columns).astype(training.dtype)


def _numbers(training, j, forest, random):
    values = random.normal(size=60)
    thresholds = forest.threshold[forest.feature == j].astype(forest.x_dtype)
    # A threshold of infinity, or of the largest number, is one between NaN and all else.
    thresholds = thresholds[np.abs(thresholds) < 1e30]
    if len(thresholds):
        neighbors = [
            np.nextafter(thresholds, thresholds.dtype.type(side)) for side in (-np.inf, np.inf)
        ]
        values[20:] = random.choice(np.concatenate([thresholds, *neighbors]), 40)
    values[random.random(60) < 0.1] = 0.0
    if np.isnan(training).any():
        values[random.random(60) < 0.2] = np.nan
    return np.concatenate([training, values])


def _labels(training, random, unseen):
    labels = list(training.cat.categories)
    added = random.choice(np.array(labels, object), 60)
    if unseen:
        labels.append("never seen" if isinstance(labels[0], str) else 12345)
        added[random.random(60) < 0.1] = labels[-1]
    added[random.random(60) < 0.1] = None
    return pd.Categorical([*training.to_numpy(object), *added], categories=labels)


def line(kind, differences) -> str:
    """The row of one kind."""
    if not kind.installed:
        return f"| {kind.name} | 0 | not installed | |"
    return f"| {kind.name} | {len(differences)} | {max(differences):.1e} | {kind.bound:.0e} |"


def compare(kinds, numbers, seed) -> tuple[list[str], list[str]]:
    """Rows of the table, and a line for each model whose difference is above the bound."""
    lines, above = [], []
    for kind in kinds:
        differences = []
        for number in numbers if kind.installed else ():
            try:
                differences.append(kind.difference(seed, number))
            except Exception as error:
                error.add_note(f"{kind.name}, number {number}")
                raise
            if not differences[-1] <= kind.bound:
                above.append(f"{kind.name}, number {number}: {differences[-1]:.1e}")
        lines.append(line(kind, differences))
        print(lines[-1], flush=True)
    return lines, above


def main(arguments=None) -> int:
    """Compare, print and write; 1 if a difference is above its bound."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=int, default=20, help="how many of each kind")
    parser.add_argument("--seed", type=int, default=0)
    names = [kind.name for kind in KINDS]
    parser.add_argument("--only", metavar="KIND", choices=names, help="one kind of the table")
    parser.add_argument("--number", type=int, help="one model of each kind")
    parser.add_argument("--write", action="store_true", help="put the table into docs/models.md")
    options = parser.parse_args(arguments)
    if options.write and (options.only or options.number is not None):
        parser.error("--write needs all kinds and models")
    warnings.simplefilter("ignore")  # of the libraries, on models without a split
    kinds = [kind for kind in KINDS if options.only in (None, kind.name)]
    numbers = range(options.models) if options.number is None else [options.number]
    # Threads of OpenMP wait in a loop: where other work shares the processor, one is faster.
    with threadpool_limits(1):
        lines, above = compare(kinds, numbers, options.seed)
    for text in above:
        print(f"above its bound: {text}")
    if options.write:
        marked.write(DOCS / "models.md", "checks", "\n".join([*HEAD, *lines]))
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
