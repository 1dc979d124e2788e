"""Predict from some features only: f_S of SAGE, for many pairs (row, S) at once.

An imputer is called with pairs of a row i and a coalition S and gives f_S(x_S) for each pair; its
method `along` takes an order in which the features become known. No pair depends on the others, so
the bytes do not depend on how pairs are gathered. Only predictions and `background_masks` run on
several threads: the rest is so short that threads would mostly wait for one another, on a busy
machine for longer than the work takes.
"""

from __future__ import annotations

from math import prod

import numpy as np
from scipy.special import softmax

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import columns, lowered, owners, readonly
from splitcredit.kernels.walks import predict
from splitcredit.kernels.walks.background_masks import PROBABILITY, RAW, BackgroundMasks

# Numbers in a table of predictions (inputs times outputs): at most 64 MB.
TABLE = 1 << 23
# Numbers in the arrays between two steps: bounds memory to some 10 MB for any number of rows.
CHUNK = 1 << 20


class _Imputer:
    """Shared code of both imputers: predictions, or the probabilities that they mean."""

    # Of a permutation, some ten nanoseconds each; next to none where predictions are looked up.
    steps_of_order = 1

    def __init__(self, forest, link):
        self.forest, self.link, self.owners = forest, link, owners(forest)

    def along(self, rows, ranks) -> np.ndarray:
        """Predict as more features become known, (n_pairs, n_features + 1, n_outputs)."""
        n_pairs, p = ranks.shape
        known = ranks[:, None, :] < np.arange(p + 1)[:, None]
        out = self(np.repeat(rows, p + 1), known.reshape(-1, p))
        return out.reshape(n_pairs, p + 1, -1)

    def _predict(self, rows):
        predictions = predict.predict(self.forest, rows)
        return predictions if self.link == RAW else probabilities(predictions)


class MarginalImputer(_Imputer):
    """f_S(x_S) as the mean over the background rows z of the prediction at (x_S, z_-S).

    Where the grid of inputs is small, the prediction at a cell is made when the cell is first met,
    and looked up from then on. Where it is large, sets of background rows go down the trees.
    """

    def __init__(self, forest, X, background, link=RAW):
        super().__init__(forest, link)
        self.X, self.background = X, background
        codes, self.levels = _levels(forest, np.concatenate([X, background]))
        self.sizes = np.array([len(level) for level in self.levels])
        n_cells, self.n_outputs = prod(self.sizes.tolist()), forest.n_outputs
        if link == PROBABILITY:
            self.n_outputs = max(2, forest.n_outputs)
        self.tabulated = n_cells * self.n_outputs <= TABLE
        if self.tabulated:
            below = [prod(self.sizes[j + 1 :].tolist()) for j in range(len(self.sizes))]
            self.strides = np.array(below, np.int64)
            self.steps = codes * self.strides
            self.table = np.empty((n_cells, self.n_outputs))
            self.filled = np.zeros(n_cells, np.bool_)
        else:
            self.masks = BackgroundMasks(forest, X, background, link)
            self.steps_of_order = self.masks.steps_of_order

    def __call__(self, rows, known) -> np.ndarray:
        """Predict, float64 (n_pairs, n_outputs)."""
        known = known[:, self.owners]
        if not self.tabulated:
            return self.masks.means(rows, known)
        out = np.empty((len(rows), self.n_outputs))
        step = max(1, CHUNK // len(self.background))
        for a in range(0, len(rows), step):
            part = slice(a, a + step)
            out[part] = self._looked_up(rows[part], known[part])
        return out

    def along(self, rows, ranks) -> np.ndarray:
        """Predict as all imputers do; sets of background rows go down for all steps at once."""
        if self.tabulated:
            return super().along(rows, ranks)
        return self.masks.along(rows, ranks[:, self.owners])

    def _looked_up(self, rows, known):
        n = len(self.X)
        cells = _cells(self.steps[:n], self.steps[n:], rows, known)
        new = np.unique(cells[~self.filled[cells]])
        if new.size:
            levels = new[:, None] // self.strides % self.sizes
            inputs = [level[levels[:, j]] for j, level in enumerate(self.levels)]
            inputs = readonly(np.ascontiguousarray(np.column_stack(inputs)))
            self.table[new] = self._predict(inputs)
            self.filled[new] = True
        return _means(self.table, cells)


class ConditionalImputer(_Imputer):
    """f_S(x_S) as the mean prediction over the background rows z with z_S = x_S."""

    def __init__(self, forest, X, background, link=RAW):
        super().__init__(forest, link)
        both = np.concatenate([X, background])
        codes = [np.unique(column, return_inverse=True)[1] for column in both.T]
        self.codes = np.column_stack(codes).astype(np.int64)
        self.n, self.predictions = len(X), self._predict(background)

    def __call__(self, rows, known) -> np.ndarray:
        """Predict, float64 (n_pairs, n_outputs); see `MarginalImputer`.

        ValueError if no row of the background agrees with a row of X on the known features.
        """
        known = known[:, self.owners]
        x, z = self.codes[: self.n], self.codes[self.n :]
        out, agreeing = _conditional_means(self.predictions, x, z, rows, known)
        if not agreeing.all():
            row = int(rows[agreeing.argmin()])
            raise ValueError(
                f"background has no row that agrees with row {row} of X on the known features: "
                'pass a background that holds the rows of X, or use imputer="marginal"'
            )
        return out


def probabilities(scores):
    """Apply softmax, (n_samples, n_classes); a single score belongs to the second class."""
    if scores.shape[1] == 1:
        scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
    return softmax(scores, axis=1)


def _levels(forest, X):
    """Number the intervals between thresholds (NaN has its own), with one value of each."""
    thresholds = lowered(forest)
    codes, levels = np.empty(X.shape, np.int64), []
    for j in range(X.shape[1]):
        at_most = np.unique(thresholds[(forest.feature >= 0) & (columns(forest) == j)])
        interval = np.searchsorted(at_most, X[:, j])
        interval[np.isnan(X[:, j])] = len(at_most) + 1
        _, first, codes[:, j] = np.unique(interval, return_index=True, return_inverse=True)
        levels.append(X[first, j])
    return codes, levels


@kernel()
def _cells(x_steps, z_steps, rows, known):
    """Return the cell of (x_S, z_-S) for pairs and background rows, (n_pairs, n_background)."""
    n_background, p = z_steps.shape
    out = np.empty((len(rows), n_background), np.int64)
    for i in range(len(rows)):
        x = x_steps[rows[i]]
        for b in range(n_background):
            cell = 0
            for j in range(p):
                cell += x[j] if known[i, j] else z_steps[b, j]
            out[i, b] = cell
    return out


@kernel()
def _means(table, cells):
    """Average over the cells of each pair; equal cells in equal order give equal bytes."""
    n_pairs, n_background = cells.shape
    out = np.zeros((n_pairs, table.shape[1]))
    for i in range(n_pairs):
        for b in range(n_background):
            for c in range(table.shape[1]):
                out[i, c] += table[cells[i, b], c]
        for c in range(table.shape[1]):
            out[i, c] /= n_background
    return out


@kernel()
def _conditional_means(predictions, x_codes, z_codes, rows, known):
    """Average over the background rows that agree on the known features; count them."""
    n_background, p = z_codes.shape
    out = np.zeros((len(rows), predictions.shape[1]))
    agreeing = np.zeros(len(rows), np.int64)
    for i in range(len(rows)):
        x = x_codes[rows[i]]
        for b in range(n_background):
            agrees = True
            for j in range(p):
                agrees = agrees and (not known[i, j] or x[j] == z_codes[b, j])
            if agrees:
                agreeing[i] += 1
                for c in range(predictions.shape[1]):
                    out[i, c] += predictions[b, c]
        for c in range(predictions.shape[1]):
            out[i, c] /= max(agreeing[i], 1)
    return out, agreeing
