"""The printed differences of appendix A and table 5 by other routes than the values themselves.

A cause that is right predicts our value of a cell: the parameters of a model from its trees, and an
error from print and what the cause can change of it.
"""

import numpy as np

from reproduction import models
from reproduction.papers.gajewski2025 import _enumeration
from reproduction.papers.gajewski2025._settings import GREEDY, SHAP
from splitcredit.measures import function_of
from splitcredit.models.formats import to_forest
from splitcredit.prediction_gap.exact_gap import GapProblem
from splitcredit.prediction_gap.rankings import of_attribution

# XGBoost's weight of the square of a leaf's value, which adds to the number of rows.
_LAMBDA = 1.0
# Half the distance of two values of eta in the grid of appendix A.
_HALF_STEP = 0.05
# Standard errors to either side of a share of rows.
_K = 3
# Single precision may not tell two gaps apart that differ by less than so many of its units in the
# last place of the squared prediction, which it adds to them.
_TIE = 64 * 2.0**-24
# In the authors' run of sigma 0.1 fits ended at the first tree that did not lower the training
# error. SHAP's printed error is a mean over that run and two others.
STOPPED = {("california_housing", GREEDY[0.1]): 1.0, ("california_housing", SHAP): 1 / 3}


def parameters(forest, X, y) -> dict[str, tuple[float, float]]:
    """Ranges of eta and subsample of a boosted model, from its trees and the training rows.

    A root has as many rows as were drawn for its tree. A leaf's value is eta times the mean
    residual of these rows, which is about that of all rows in it; more so in larger leaves.
    """
    n, share = len(y), forest.cover[forest.tree_offsets[:-1]].mean() / len(y)
    error = _K * np.sqrt(share * (1 - share) / n / forest.n_trees)
    predicted, of_value, of_square = np.full(n, forest.base[0]), 0.0, 0.0
    for leaf in _enumeration.leaves(forest, X).T:
        leaves, place, n_rows = np.unique(leaf, return_inverse=True, return_counts=True)
        residual = np.bincount(place, y - predicted) / n_rows
        cover = forest.cover[leaves]
        residual *= cover / (cover + _LAMBDA)
        of_value += (n_rows * residual * forest.value[leaves, 0]).sum()
        of_square += (n_rows * residual**2).sum()
        predicted += forest.value[leaf, 0]
    eta = of_value / of_square
    return {
        "subsample": (share - error, share + error),
        "eta": (eta - _HALF_STEP, eta + _HALF_STEP),
    }


class Retrained:
    """Squared errors of the test rows by models that are fitted without some features."""

    def __init__(self, recipe, data):
        self.recipe, self.training, self.test = recipe, data.training, data.explained
        self._squares: dict = {}

    def squares(self, removed, stopped=False) -> np.ndarray:
        """Float64 (n_test,); `stopped` at the first tree that does not lower the training error."""
        key = tuple(removed), stopped
        if key not in self._squares:
            X, X_test = (np.delete(part.X, removed, axis=1) for part in (self.training, self.test))
            forest = to_forest(models.fit(self.recipe, X, self.training.y))
            X_test = forest.prepare(X_test)
            if stopped:
                trees = _trees_until_stop(forest, forest.prepare(X), self.training.y)
                values = _enumeration.values(forest, X_test)[:, :trees]
                predicted = values.sum(axis=1) + forest.base[0]
            else:
                predicted = forest.predict(X_test)[:, 0]
            self._squares[key] = (predicted - self.test.y) ** 2
        return self._squares[key]


def _trees_until_stop(forest, X, y):
    """Trees up to the first one that does not lower the training error, that one included."""
    sums = np.cumsum(_enumeration.values(forest, X), axis=1) + forest.base[0]
    errors = ((sums - y[:, None]) ** 2).mean(axis=0)
    rises = np.flatnonzero(np.diff(errors) >= 0)
    return rises[0] + 2 if len(rises) else forest.n_trees


def widths_of_ties(forest, retrained, sigma, ks) -> dict[int, float]:
    """How far the mean squared error without the first k features depends on the order of ties.

    Of every row all sets of k features are taken that single precision may put first.
    """
    X = forest.prepare(retrained.test.X)
    n, d = X.shape
    problem = GapProblem(forest, None, sigma, None)
    squares = (forest.predict(X)[:, 0] - forest.base[0]) ** 2
    rows, taken, widths = np.arange(n), np.zeros((n, d), np.bool_), {}
    for k in range(1, max(ks) + 1):
        gaps = problem.gaps(X[rows], taken[:, None] | np.eye(d, dtype=np.bool_))
        gaps[taken] = -np.inf
        best = gaps.max(axis=1)
        may_be_next = gaps >= (best - _TIE * (squares[rows] + best))[:, None]
        path, feature = np.nonzero(may_be_next)
        rows, taken = rows[path], taken[path].copy()
        taken[np.arange(len(path)), feature] = True
        # Each row with each of its sets once.
        _, first = np.unique(np.column_stack([rows, taken]), axis=0, return_index=True)
        rows, taken = rows[first], taken[first]
        if k in ks:
            widths[k] = _width(rows, taken, retrained) / n
    return widths


def _width(rows, taken, retrained):
    """Sum over the rows that have several sets of the largest less the least squared error."""
    several = np.flatnonzero(np.bincount(rows) > 1)
    return sum(
        np.ptp([retrained.squares(np.flatnonzero(s))[row] for s in taken[rows == row]])
        for row in several
    )


def shifts_by_stopping(forest, retrained, sigma) -> dict[str, float]:
    """Change of the error without the first feature if fits stop early, by ranking."""
    X = forest.prepare(retrained.test.X)
    masks = np.eye(X.shape[1], dtype=np.bool_)
    gaps = GapProblem(forest, None, sigma, None).gaps(X, np.tile(masks, (len(X), 1, 1)))
    shap = function_of("tree_shap")(forest, X, output="predicted")
    first = {SHAP: of_attribution(shap)[:, 0], GREEDY[sigma]: gaps.argmax(axis=1)}

    def error(feature, stopped):
        squares = [retrained.squares((j,), stopped)[feature == j] for j in np.unique(feature)]
        return float(np.sqrt(np.concatenate(squares).mean()))

    return {name: error(feature, True) - error(feature, False) for name, feature in first.items()}
