"""SAGE: Shapley values of the predictive power of a forest's features (Covert et al. 2020)."""

from __future__ import annotations

import warnings
from math import comb
from typing import Annotated, Literal

import numpy as np

from splitcredit import _progress
from splitcredit._tables import check_choice, check_whole
from splitcredit.attribution import Importance
from splitcredit.convert import are_targets, forest_and_rows, unwrap
from splitcredit.convert._nodes import LEAF_VARIANCE
from splitcredit.convert.units import called, has_link
from splitcredit.importances._prediction import prepared_background
from splitcredit.importances._training import targets_of

LOSSES = ("cross_entropy", "mse")
IMPUTERS = ("marginal", "conditional")
ALGORITHMS = ("sampled", "exact")
# Probabilities below are raised to this, as in sage-importance: keeps the loss finite. Lowering
# those near 1 as well, as it does, would only blur the theory.
SMALLEST = 1e-12
# Permutations between two looks at the standard errors: the batch of sage-importance.
ROUND = 512
# Permutations after which sampling gives up; only features of equal importance need that many.
MOST = 1 << 20
# Features beyond which all subsets are too many.
MOST_FEATURES = 15
# Pairs of a row and a coalition given to the imputer at once; bounds memory, not the result.
PAIRS = 1 << 16
# Criteria of the trees of GradientBoosting, which are regressors.
_OF_RESIDUALS = ("squared_error", "friedman_mse")


def importance(
    forest,
    X,
    y,
    loss: Literal["cross_entropy", "mse"] | None = None,
    background=None,
    imputer: Literal["marginal", "conditional"] = "marginal",
    algorithm: Literal["sampled", "exact"] = "sampled",
    *,
    threshold: Annotated[float, "> 0, < 1"] = 0.025,
    n_permutations: Annotated[int, ">= 2"] | None = None,
    random_state: Annotated[int, ">= 0"] = 0,
    progress: bool | None = None,
) -> Importance:
    """SAGE values: Shapley values of v(S) = E[loss(f_{}, Y)] - E[loss(f_S(X_S), Y)].

    Parameters
    ----------
    forest : Forest or fitted model
    X : array-like or DataFrame (n_samples, n_features)
        The rows that the expectations run over.
    y : (n_samples,)
        Class labels, or numbers for a regressor.
    loss : {"cross_entropy", "mse"}, optional
        By default cross entropy for a classifier and mse for a regressor. Cross entropy is in nats
        (divide by ln 2 for bits), with probabilities raised to 1e-12 at least. The mse of a
        classifier is the Brier score, summed over the classes.
    background : array-like or DataFrame (n_background, n_features), optional
        Rows that unknown features are imputed from; X by default. The time grows with their
        number.
    imputer : {"marginal", "conditional"}
        What f_S(x_S) is: the mean over the background rows z of the prediction at
        ``(x_S, z_-S)``, or of the prediction at those z that agree with x on S. The second is for
        few distinct rows.
    algorithm : {"sampled", "exact"}
        Permutations of the features, each for one row, drawn until the standard errors are small;
        or the enumeration of all subsets, for at most 15 features.
    threshold : float
        Sampling stops when the largest standard error is at most this share of the distance
        between the largest and the smallest value, of a single feature between its value and 0. It
        is looked at every 512 permutations.
    n_permutations : int, optional
        Permutations to sample, whatever the standard errors. It has no effect on the exact
        algorithm.
    random_state : int
        Seed of the permutations and rows drawn.
    progress : bool, optional
        Whether a bar is shown; by default after two seconds, in a terminal or a notebook.

    Returns
    -------
    Importance
        Values in units of the loss, nats for cross entropy, that add up to the loss which knowing
        the features saves. The standard errors are those of the sampling, zeros if exact;
        ``parameters["n_permutations"]`` is how many there were, 0 if exact.

    Raises
    ------
    ValueError
        If X or y do not fit the forest, the loss does not fit its predictions, which raw scores of
        classes are to none; if a regressor predicts a function of the sum of its trees; or if there
        is no such loss, imputer or algorithm.

    Warns
    -----
    UserWarning
        If 2**20 permutations are not enough for `threshold`.

    Notes
    -----
    Covert, Lundberg and Lee, "Understanding global feature contributions with additive importance
    measures" (2020); v(S) as in sutera2021, section 5. The marginal imputer and the rule for
    stopping are those of the package sage-importance. With the conditional imputer, cross
    entropy and the Bayes classifier the values are ln 2 times those of sutera2021, Eq. 4.

    Examples
    --------
    >>> from splitcredit.importances import sage
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> sage.importance(model, X, y, algorithm="exact").values.round(2)  # in nats
    array([0.07, 0.02, 0.49, 0.5 ])
    >>> sampled = sage.importance(model, X, y, n_permutations=512)
    >>> bool(sampled.standard_error.max() < 0.03)
    True
    """
    model = forest
    forest, X, background = forest_and_rows(model, X, background)
    _refuse_scores(forest)
    _refuse_links(model, forest)
    loss = loss or ("cross_entropy" if forest.n_outputs > 1 else "mse")
    check_choice("loss", loss, LOSSES)
    check_choice("imputer", imputer, IMPUTERS)
    check_choice("algorithm", algorithm, ALGORITHMS)
    X = forest.prepare(X)
    if len(X) == 0:
        raise ValueError("X has no rows: SAGE is a mean over rows, pass at least one")
    y, p = targets_of(forest, y, len(X)), forest.n_features
    background = X if background is None else prepared_background(forest, background)
    losses = _losses(forest, X, y, background, loss, imputer)
    parameters: dict[str, object] = {"loss": loss, "imputer": imputer, "algorithm": algorithm}
    if algorithm == "exact":
        values, n_permutations = _exact(losses, len(X), p, progress), 0
        error = np.zeros(p)  # of the permutations, as below
    else:
        _check_sampling(threshold, n_permutations, random_state)
        rng = np.random.default_rng(random_state)
        with _progress.bar(n_permutations, progress, "permutations") as done:
            values, error, n_permutations = _sampled(
                losses, len(X), p, threshold, n_permutations, rng, done
            )
        parameters |= {"threshold": float(threshold), "random_state": int(random_state)}
    parameters["n_permutations"] = int(n_permutations)
    return Importance(values, forest.feature_names, "sage", parameters, error)


def _losses(forest, X, y, background, loss, imputer):
    """Function of pairs (rows, known) that gives the loss of f_S at each pair, (n_pairs,)."""
    from splitcredit.kernels.walks import sage

    restricted = {"marginal": sage.MarginalImputer, "conditional": sage.ConditionalImputer}[imputer]
    f = restricted(forest, X, background)
    if loss == "cross_entropy":
        _check_probabilities(forest, X)
        return lambda rows, known: _cross_entropy(f(rows, known), y[rows])
    target = np.eye(forest.n_outputs)[y] if forest.n_outputs > 1 else y[:, None]
    return lambda rows, known: ((f(rows, known) - target[rows]) ** 2).sum(axis=1)


def _cross_entropy(probabilities, y):
    return -np.log(np.maximum(probabilities[np.arange(len(y)), y], SMALLEST))


def _exact(losses, n, p, progress):
    """Shapley values by enumeration of all coalitions."""
    if p > MOST_FEATURES:
        raise ValueError(
            f'algorithm="exact" enumerates the subsets of the features, and 2**{p} are too many: '
            f'use algorithm="sampled", or a forest of at most {MOST_FEATURES} features'
        )
    coalitions = np.arange(2**p)
    known = (coalitions[:, None] >> np.arange(p) & 1).astype(bool)
    worth = np.empty(2**p)
    step = max(1, PAIRS // n)
    with _progress.bar(2**p, progress, "coalitions") as done:
        for a in range(0, 2**p, step):
            chunk = known[a : a + step]
            pairs = losses(np.tile(np.arange(n), len(chunk)), np.repeat(chunk, n, axis=0))
            worth[a : a + step] = -pairs.reshape(-1, n).mean(axis=1)
            done(len(chunk))
    weight = np.array([1 / (p * comb(p - 1, size)) for size in range(p)])
    values = np.empty(p)
    for j in range(p):
        without = coalitions[~known[:, j]]
        gain = worth[without | 1 << j] - worth[without]
        values[j] = (weight[known[without].sum(axis=1)] * gain).sum()
    return values


def _sampled(losses, n, p, threshold, n_permutations, rng, done):
    """Mean and standard error of the gains over random permutations, and how many there were."""
    limit = n_permutations or MOST
    count, mean, squares = 0, np.zeros(p), np.zeros(p)
    while count < limit:
        # Always a whole round, so that more permutations begin with the same ones.
        rows = rng.integers(n, size=ROUND)
        ranks = rng.permuted(np.tile(np.arange(p), (ROUND, 1)), axis=1)
        n_taken = min(ROUND, limit - count)
        gains = _gains(losses, rows[:n_taken], ranks[:n_taken])
        # Means and sums of squares of two samples, pooled (Chan et al. 1979).
        shift = gains.mean(axis=0) - mean
        squares += ((gains - gains.mean(axis=0)) ** 2).sum(axis=0)
        squares += shift**2 * (count * n_taken / (count + n_taken))
        count += n_taken
        mean += shift * (n_taken / count)
        done(n_taken)
        error = np.sqrt(squares / (count - 1) / count)
        if n_permutations is None and error.max() <= threshold * _spread(mean):
            break
    else:
        if n_permutations is None:
            warnings.warn(
                f"SAGE stopped after {count} permutations with a standard error of "
                f"{error.max():.2g} on values that differ by {_spread(mean):.2g}: raise threshold, "
                'or use algorithm="exact"',
                stacklevel=3,
            )
    return mean, error, count


def _spread(values):
    """Distance between the largest and the smallest value; a single one has that to 0 only."""
    return np.ptp(values) if len(values) > 1 else abs(values[0])


def _gains(losses, rows, ranks):
    """Loss saved by each feature when it becomes known in the order of its rank, (n_draws, p)."""
    n_draws, p = ranks.shape
    gains = np.empty((n_draws, p))
    step = max(1, PAIRS * 16 // (p * (p + 1)))
    for a in range(0, n_draws, step):
        chunk = ranks[a : a + step]
        known = chunk[:, None, :] < np.arange(p + 1)[:, None]
        pairs = losses(np.repeat(rows[a : a + step], p + 1), known.reshape(-1, p))
        by_rank = -np.diff(pairs.reshape(-1, p + 1), axis=1)
        gains[a : a + step] = np.take_along_axis(by_rank, chunk, axis=1)
    return gains


def _refuse_scores(forest):
    """Refuse boosted classifiers: neither loss compares log-odds with classes.

    Trees that are grown on classes have another criterion than those of a booster's residuals.
    """
    if forest.output_names == ("path length",):
        raise ValueError(
            "SAGE compares predictions with targets, and an isolation forest, which predicts the "
            "length of a path, has none: explain its rows by tree_shap"
        )
    of_classes = forest.output_names != ("output",) and not are_targets(forest)
    of_residuals = forest.aggregate == "sum" and forest.criterion in _OF_RESIDUALS
    if of_classes and (of_residuals or forest.criterion == LEAF_VARIANCE):
        raise ValueError(
            f"SAGE compares predictions with classes, and those of {forest} are raw scores of "
            f"{list(forest.output_names)[:5]}: use a forest that averages class fractions. For two "
            'classes, method="tree_shap_interventional" with model_output="log_loss" divides the '
            "loss of such a model, row by row"
        )


def _refuse_links(model, forest):
    """Refuse boosted regressors whose prediction is a function of the sum of their trees."""
    inner, _ = unwrap(model)
    if forest.output_names == ("output",) and has_link(inner):
        raise ValueError(
            f"SAGE compares the sum of the trees with y, and this {called(inner)} predicts "
            "a function of that sum: fit it with the squared error, or measure it with "
            'method="tree_shap_interventional", which divides the sum'
        )


def _check_probabilities(forest, X):
    from splitcredit.kernels.walks import predict

    fractions = predict.predict(forest, X)
    off = np.abs(fractions.sum(axis=1) - 1).max()
    if forest.n_outputs == 1 or fractions.min() < 0 or off > 1e-6:
        raise ValueError(
            'loss="cross_entropy" needs predictions that are probabilities of classes, and those '
            f'of {forest} are not: use loss="mse"'
        )


def _check_sampling(threshold, n_permutations, random_state):
    if not 0 < threshold < 1:
        raise ValueError(f"threshold={threshold!r}: expected a number between 0 and 1")
    check_whole("n_permutations", 2 if n_permutations is None else n_permutations, 2)
    check_whole("random_state", random_state)
