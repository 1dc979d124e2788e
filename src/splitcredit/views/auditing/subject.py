"""Open a model, its rows and its targets once, and cut them down to an audit's time.

All limits depend on sizes and never on a clock, so that the same seed gives the same bytes.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax
from sklearn.base import clone
from sklearn.metrics import r2_score, roc_auc_score

from splitcredit.models import _chunks
from splitcredit.models.forest import Forest, part
from splitcredit.models.formats import are_targets, format_of
from splitcredit.models.formats.containers import rows_in
from splitcredit.models.opened import Opened, Transformed
from splitcredit.models.training import checked_training_data, refuse_without_oob, targets_of
from splitcredit.rows.names import row_index
from splitcredit.rows.tables import row_weights, rows_at

# Most rows of an audit, and most numbers of a table all rows of which are needed.
MOST_ROWS, MOST_NUMBERS = 100_000, 150_000_000
# Rows that are explained, and that predictions are judged on.
EXPLAINED, JUDGED = 500, 5_000
# Nodes of the trees that explain rows, and (row, tree) pairs of out-of-bag measures.
NODES, PAIRS = 400_000, 5_000_000
# Columns in which leaks are looked for, and the share of the variance of the predictions of all
# trees from which on some trees stand for them.
MOST_COLUMNS, CLOSE = 150, 0.98
# Half width of a 95 % interval, in standard errors.
Z = 1.96


class Subject:
    """The subject of an audit: the forest, and rows as its trees see them."""

    def __init__(self, model, X, y, X_test, y_test, seed, features="columns", weights=(None, None)):
        weights, test_weights = weights
        opened = Opened(model, features=features)
        self._made_of = None if opened.columns is None else opened.made_of
        self.forest: Forest = opened.forest
        self.measured_names = opened.columns.names if opened.columns else self.names
        self.inner: Any = opened.inner
        self.steps, self.format = opened.steps, opened.format
        self.seed = seed
        self.notes: list[str] = []
        if are_targets(self.forest) or self.forest.output_names == ("path length",):
            what = "several targets" if are_targets(self.forest) else "no target"
            raise ValueError(f"this model has {what}, and a comparison needs a model of one")
        other = self.forest.other_class
        self.classes = self.forest.output_names if self.forest.n_outputs > 1 else ()
        if other is not None:
            self.classes = (other, *self.forest.output_names)
        fits = len_of(X) * self.forest.n_features <= MOST_NUMBERS
        keeps_all = fits and self.forest.inbag is not None  # out-of-bag rows are among all rows
        self.raw, *self._own = self._table(X, y, weights, "X", keeps_all)
        self.table, self.y, self.codes, self.weights = self._own
        self.why_not_bagged = self._why_not_bagged()
        self.has_test = X_test is not None
        if self.has_test and y_test is None:
            raise TypeError("X_test has no targets: pass y_test")
        self.raw_test, self._test = None, self._own
        if self.has_test:
            if weights is not None and test_weights is None:
                raise TypeError("X_test has no weights: pass sample_weight_test")
            of_test = self._table(X_test, y_test, test_weights, "X_test", False)
            self.raw_test, *self._test = of_test
        *_, self.test_codes, test_weights = self._test
        if self.weights is not None or test_weights is not None:
            self.note(
                "Weights of rows count in means of attributions, permutation, SAGE and the score "
                "of the model, and nowhere else."
            )
        if self.codes is not None and not has_variance(self.codes):
            self.note("The target has no variance: no score can distinguish features.")

    @property
    def names(self):
        """Names of the features as the trees see them."""
        return self.forest.feature_names

    def by_columns(self, model):
        """Return a model of transformed rows whose results are by a pipeline's columns."""
        return Transformed(model, self._made_of) if self._made_of else model

    @property
    def is_averaged(self) -> bool:
        """Whether the trees are averaged, so that the first of them stand for all."""
        return self.forest.aggregate == "mean"

    def rng(self, purpose: int):
        """Return a generator that depends on the seed and the purpose only."""
        return np.random.default_rng([self.seed, purpose])

    def note(self, text):
        """Keep a statement of what was cut down, once."""
        if text not in self.notes:
            self.notes.append(text)

    def _codes_of(self, y):
        """Return the class of each row by index, or its number; None without targets."""
        if y is None:
            return None
        forest: Any = self.forest
        if forest.other_class is not None:
            forest = SimpleNamespace(
                output_names=self.classes, n_outputs=2, several_targets=False, criterion=None
            )
        return targets_of(forest, y, len(y))

    def sample(self, n, purpose, of_test=False):
        """Return rows, labels, codes and weights of at most n rows, without replacement.

        They keep their order. Rows without weight are left out, and equal weights are None.
        """
        *data, weights = self._test if of_test else self._own
        rows = self._drawn(data[0].shape[0], weights, n, purpose)
        weights = row_weights(rows_at(weights, rows), len(rows))
        return *(rows_at(each, rows) for each in data), weights

    def _drawn(self, n, weights, most, purpose):
        """Draw at most so many rows, from those with a weight above 0."""
        pool = np.arange(n) if weights is None else np.flatnonzero(weights)
        return pool[drawn(self.rng(purpose), len(pool), most)]

    def background(self, n):
        """Draw background rows in proportion to their weights."""
        table, *_, weights = self.sample(self.table.shape[0], 3)
        if weights is None:
            return self.sample(n, 3)[0]
        return rows_at(table, self.rng(3).choice(len(weights), n, p=weights / weights.sum()))

    def numbers(self, table) -> np.ndarray:
        """Return the values of rows as the trees see them, float64 (n, n_features)."""
        return self.forest.prepare(table)[:, : self.forest.n_features].astype(np.float64)

    def some_trees(self) -> Forest:
        """Return the first trees, with about so many nodes; all of a boosted model."""
        n_trees = int(np.searchsorted(self.forest.tree_offsets[1:], NODES, side="right"))
        n_trees = n_trees if self.is_averaged else self.forest.n_trees
        return self._first(n_trees, 1, "Attributions, permutation and SAGE are")

    def training_trees(self, pairs: int = PAIRS, fewest: int = 20) -> Forest:
        """Return the first trees, for measures over all training rows and each tree."""
        n_trees = pairs // max(self.table.shape[0], 1)
        what = f"Out-of-bag measures{' by SHAP or MDA' if fewest < 20 else ''} are"
        return self._first(n_trees, fewest, what)

    def _first(self, n_trees, fewest, what) -> Forest:
        n_trees = max(n_trees, fewest)
        if n_trees >= self.forest.n_trees:
            return self.forest
        some, rows = part(self.forest, 0, n_trees), self.sample(EXPLAINED, 6)[0]
        of_all, of_some = self.forest.predict(rows), some.predict(rows)
        close = 1 - np.mean((of_some - of_all) ** 2) / max(of_all.var(axis=0).mean(), 1e-300)
        says = "are close to" if close >= CLOSE else "are not shown to be close to"
        self.note(
            f"{what} those of the first {n_trees} of {self.forest.n_trees} trees, whose "
            f"predictions {says} those of all (R² {close:.3f})."
        )
        return some

    @property
    def why_not_scored(self) -> str:
        """Reason why predictions cannot be compared with the targets; else empty."""
        if self.classes:
            return ""
        if self.format.has_link(self.inner) and not self._has_own:
            called = self.format.called(self.inner)
            return (
                f"this {called} predicts a function of the sum of its trees: pass the fitted "
                "estimator"
            )
        return self.format.no_mean(self.inner)

    @property
    def _has_own(self):
        is_raw = self.format.predicts_raw(self.inner)
        return hasattr(self.inner, "fit") and hasattr(self.inner, "predict") and not is_raw

    def scores(self, table) -> np.ndarray:
        """Predict rows: a score for each class, the last of two, or a number, (n, k)."""
        if not self.classes and self._has_own and self.format.has_link(self.inner):
            return np.asarray(self.inner.predict(table), float).reshape(-1, 1)
        scores = self.forest.predict(table)
        if len(self.classes) > 2 and not self.is_averaged:
            scores = softmax(scores, axis=1)
        return scores[:, 1:] if len(self.classes) == 2 and scores.shape[1] == 2 else scores

    def oob_scores(self):
        """Predict training rows by the trees grown without them; codes and weights, too."""
        trees = self.training_trees()
        rows = self._drawn(self.table.shape[0], self.weights, JUDGED, 1)
        values = self.numbers(rows_at(self.table, rows))
        total, count = np.zeros((len(rows), self.forest.n_outputs)), np.zeros(len(rows))
        for t in range(trees.n_trees):
            out = np.flatnonzero(trees.inbag[t, rows] == 0)
            if len(out):
                total[out] += part(trees, t, t + 1).predict(values[out])
                count[out] += 1
        seen = count > 0
        scores = total[seen] / count[seen, None]
        weights = rows_at(self.weights, rows[seen])
        scores = scores[:, 1:] if len(self.classes) == 2 else scores
        return scores, self.codes[rows][seen], weights

    def _table(self, X, y, weights, what, keeps_all):
        try:
            X = rows_in(X)
            X = np.asarray(X) if isinstance(X, (list, tuple)) else X
            y = None if y is None else np.asarray(y)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{what} or its targets are not a table of rows: {error}") from None
        index = row_index(X)
        X = X if self.steps.pipelines else _chunks.as_table(self.forest, X)
        n = len_of(X)
        y = y[:, 0] if y is not None and y.shape == (n, 1) else y
        if y is not None and y.shape != (n,):
            raise ValueError(f"{what} has {n} rows, and its targets have the shape {y.shape}")
        if n == 0:
            raise ValueError(f"{what} has no rows: pass at least one")
        who = "sample_weight" if what == "X" else "sample_weight_test"
        weights = row_weights(weights, n, index, who)
        if n > MOST_ROWS and not keeps_all:
            self.note(f"{MOST_ROWS:,} of the {n:,} rows of {what} were drawn, by the seed.")
            rows = self._drawn(n, weights, MOST_ROWS, 0)
            X, y, weights = (rows_at(each, rows) for each in (X, y, weights))
        table = _chunks.as_table(self.forest, self.steps.rows(X))
        return X, table, y, self._codes_of(y), weights

    def frames(self):
        """Return the rows as they were passed, as DataFrames; None without a test."""
        made: list[Any] = [None, None]
        for k, X in enumerate((self.raw, self.raw_test)):
            if X is None:
                continue
            X = X.to_pandas() if hasattr(X, "to_pandas") else X
            X = pd.DataFrame({"text": list(X)}) if np.ndim(X) == 1 else X
            if X.shape[1] > MOST_COLUMNS:
                self.note(f"Leaks were looked for in the first {MOST_COLUMNS} columns.")
            few = X.iloc[:, :MOST_COLUMNS] if hasattr(X, "iloc") else X[:, :MOST_COLUMNS]
            few = pd.DataFrame(few.toarray() if hasattr(few, "toarray") else few).infer_objects()
            own = self.names if X.shape[1] == len(self.names) else few.columns
            names = few.columns if hasattr(X, "iloc") else own[: few.shape[1]]
            made[k] = few.set_axis([str(name) for name in names], axis=1)
        return made

    def _why_not_bagged(self) -> str:
        """Return the reason why there are no out-of-bag measures; else empty."""
        if self.codes is None:
            return "the targets of the training rows are not known: pass y"
        try:
            if self.steps.pipelines and self.steps.row_changing:
                self.steps.training_rows(None)  # says why
            if self.forest.inbag is not None:
                refuse_without_oob(self.forest)
            trees = self.training_trees() if self.forest.inbag is not None else self.forest
            checked_training_data(trees, self.table, self.y)
        except ValueError as error:
            return str(error)
        return ""


def len_of(X) -> int:
    """Return the number of rows."""
    try:
        return X.shape[0] if hasattr(X, "shape") else len(X)
    except (IndexError, TypeError):
        raise ValueError(f"X is {X!r}: pass the rows of a table") from None


def drawn(rng, n: int, most: int) -> np.ndarray:
    """Draw at most so many of n rows, without replacement, in their order."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def score(scores, codes, is_classifier, weights=None) -> float:
    """Measure how well scores tell the targets; rows count by their weights.

    The mean area under the ROC curve of each class that occurs, or the share of the variance that
    is explained. NaN if all targets are the same.
    """
    w = np.ones(len(codes)) if weights is None else weights
    if not has_variance(codes[w > 0]):
        return np.nan
    if not is_classifier:
        return r2_score(codes, scores[:, 0], sample_weight=w)
    present = np.unique(codes[w > 0]).astype(int)
    columns = {1: 0} if scores.shape[1] == 1 else dict(zip(present, present, strict=True))
    areas = [roc_auc_score(codes == c, scores[:, j], sample_weight=w) for c, j in columns.items()]
    return float(np.mean(areas))


def error_of(scores, codes, is_classifier, weights=None) -> float:
    """Estimate the error of `score`, by a jackknife that leaves out each twentieth of the rows."""
    left_out = np.arange(len(codes)) % 20
    parts = []
    for k in range(min(20, len(codes))):
        rows = left_out != k
        parts.append(score(scores[rows], codes[rows], is_classifier, rows_at(weights, rows)))
    return float(np.sqrt(len(parts) - 1) * np.std(parts)) if len(parts) > 1 else np.nan


def has_variance(codes) -> bool:
    """Return whether there are two different targets."""
    return len(codes) > 0 and bool((codes != codes[0]).any())


def unfitted_copy(inner, seed, n_trees=100) -> Any:
    """Copy an estimator so that it is fitted fast: fewer trees, and no early stopping."""
    copy, own, library = clone(inner), inner.get_params(deep=False), format_of(inner)
    n_classes = len(getattr(inner, "classes_", ()))
    if n_classes > 2 and not hasattr(inner, "bootstrap"):
        n_trees = max(10, 2 * n_trees // n_classes)  # boosting grows a tree for each class
    counts = ("n_estimators", "num_boost_round", "num_trees", "max_iter", "iterations")
    name = next((n for n in counts if n in own), library.tree_count)
    settings = {name: min(n_trees, own.get(name) or n_trees)} if name else {}
    settings |= {"random_state": seed} if "random_state" in own else {}
    if own.get("early_stopping_rounds") is not None:
        settings["early_stopping_rounds"] = None
    return copy.set_params(**settings, **library.quiet)
