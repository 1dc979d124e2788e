"""SAGE: Shapley values of the predictive power of a forest's features (Covert et al. 2020)."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from splitcredit.kernels.walks import predict
from splitcredit.kernels.walks import sage as kernel
from splitcredit.measures._calls import checked
from splitcredit.measures._coalitions import shapley_values
from splitcredit.models.by_columns import forest_by_columns
from splitcredit.models.formats import format_of, unwrap
from splitcredit.models.formats._nodes import LEAF_VARIANCE
from splitcredit.models.opened import Opened
from splitcredit.models.prediction import classes_of, prepared_background
from splitcredit.models.training import refuse_targets_of_several, targets_of
from splitcredit.results import progress_bar
from splitcredit.results.attribution import Importance
from splitcredit.rows.tables import check_choice, check_whole, row_weights

REQUIRES = ("prediction",)
_NEEDED = "SAGE needs a prediction on the scale of y"
LOSSES = ("cross_entropy", "mse")
IMPUTERS = ("marginal", "conditional")
ALGORITHMS = ("sampled", "exact")
# Probabilities below are raised to this, as in sage-importance: keeps the loss finite. Lowering
# those near 1 as well, as it does, would only blur the theory.
SMALLEST = 1e-12
# Permutations between two looks at the standard errors: the batch of sage-importance.
ROUND = 512
# Rows that are drawn from X as the background where none is given.
BACKGROUND = 512
# Most rows of a background in which rows are repeated by their weights, where it is not sampled.
REPEATED = 10_000
# Permutations between two moves of the bar.
PORTION = 16
# Permutations after which sampling gives up; only features of equal importance need that many.
MOST = 1 << 20
# The share where none is given, and the steps of an imputer after which sampling then gives up.
THRESHOLD, WORK = 0.025, 5 << 28
# Features beyond which all subsets are too many.
MOST_FEATURES = 15
# Pairs of a row and a coalition given to the imputer at once; bounds memory, not the result.
PAIRS = 1 << 16
# Criteria of the trees of GradientBoosting, which are regressors.
_OF_RESIDUALS = ("squared_error", "friedman_mse")


@checked
def sage(
    model: object,
    X: ArrayLike,
    y: ArrayLike,
    *,
    loss: Literal["cross_entropy", "mse"] | None = None,
    background: ArrayLike | None = None,
    imputer: Literal["marginal", "conditional"] = "marginal",
    algorithm: Literal["sampled", "exact"] = "sampled",
    threshold: Annotated[float, "> 0, < 1"] | None = None,
    n_permutations: Annotated[int, ">= 2"] | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Annotated[int, ">= 0"] = 0,
    features: Literal["columns", "transformed"] = "columns",
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Importance:
    """Compute SAGE values: Shapley values of v(S) = E[loss(f_{}, Y)] - E[loss(f_S(X_S), Y)].

    Parameters
    ----------
    model, features, check_additivity, progress
        See `splitcredit.tree_shap`.
    X : array-like or DataFrame (n_samples, n_features)
        The rows that the expectations run over.
    y : (n_samples,)
        Class labels, or numbers for a regressor.
    loss : {"cross_entropy", "mse"}, optional
        By default cross entropy for a classifier and mse for a regressor. Cross entropy is in nats
        (divide by ln 2 for bits), with probabilities raised to 1e-12 at least. The mse of a
        classifier is the Brier score, summed over the classes. Both compare probabilities: of
        boosted classifiers the softmax of the scores.
    background : array-like or DataFrame (n_background, n_features), optional
        Rows that unknown features are imputed from; X by default, of which 512 rows are drawn to
        sample with the marginal imputer. The time grows with their number.
    imputer : {"marginal", "conditional"}
        What f_S(x_S) is: the mean over the background rows z of the prediction at
        ``(x_S, z_-S)``, or of the prediction at those z that agree with x on S. The second is for
        few distinct rows.
    algorithm : {"sampled", "exact"}
        Permutations of the features, each for one row, drawn until the standard errors are small;
        or the enumeration of all subsets, for at most 15 features.
    threshold : float, optional
        Sampling stops when the largest standard error is at most this share of the distance
        between the largest and the smallest value, of a single feature between its value and 0. It
        is looked at every 512 permutations. By default 0.025, or after some twenty seconds of work,
        counted in steps and not by a clock; a warning then says which share was reached.
    n_permutations : int, optional
        Permutations to sample, for any standard errors; not for the exact algorithm.
    sample_weight : (n_samples,), optional
        Weights of the rows, see `splitcredit.importance`. Both expectations are weighted means over
        the rows: exact ones are these means, and sampling draws a row with a probability in
        proportion to its weight. Without a background, a row with a whole weight is taken so often;
        if a weight is not whole, or these rows are more than 512 to sample with the marginal
        imputer and 10,000 elsewhere, 512 rows are drawn in proportion to their weights.
    random_state : int
        Seed of the permutations and rows drawn.

    Returns
    -------
    Importance
        Values in units of the loss, nats for cross entropy, that add up to the loss which knowing
        the features saves. The standard errors cover the sampling only, zeros if exact;
        ``parameters`` hold how many permutations there were, 0 if exact, and rows of background.

    Raises
    ------
    ValueError
        If X or y do not fit the forest, the loss does not fit its predictions, or the model
        predicts neither probabilities of classes nor the target, but raw scores that no softmax
        makes probabilities of, or a function of the sum of its trees.

    Warns
    -----
    UserWarning
        If the standard errors are larger than `threshold` after 2**20 permutations, or after the
        work of the default.

    Notes
    -----
    Covert, Lundberg and Lee, "Understanding global feature contributions with additive importance
    measures" (2020); v(S) as in sutera2021, section 5. The marginal imputer and the rule for
    stopping follow the package sage-importance. With the conditional imputer, cross
    entropy and the Bayes classifier the values are ln 2 times those of sutera2021, Eq. 4.

    Examples
    --------
    >>> splitcredit.sage(model, X, y, algorithm="exact").values.round(2)  # in nats
    array([0.07, 0.02, 0.49, 0.5 ])
    >>> sampled = splitcredit.sage(model, X, y, n_permutations=512)
    >>> bool(sampled.standard_error.max() < 0.03)
    True
    """
    opened = Opened(model, X, background, features=features).checked(check_additivity)
    forest, X, background = opened.forest, opened.rows, opened.background
    refuse(opened.inner, forest)
    link = link_of(opened.inner, forest)
    classes = classes_of(forest) if link == "probability" else forest.output_names
    loss = loss or ("cross_entropy" if len(classes) > 1 else "mse")
    check_choice("loss", loss, LOSSES)
    check_choice("imputer", imputer, IMPUTERS)
    check_choice("algorithm", algorithm, ALGORITHMS)
    X = forest.prepare(X)
    if len(X) == 0:
        raise ValueError("X has no rows: SAGE is a mean over rows, pass at least one")
    y = targets_of(forest, y, len(X), classes if link == "probability" else ())
    weights = row_weights(sample_weight, len(X), opened.index)
    if weights is not None:  # rows without weight are as none at all
        kept = np.flatnonzero(weights)
        X, y, weights = X[kept], y[kept], row_weights(weights[kept], len(kept))
    if background is not None:
        background = prepared_background(forest, background)
    else:
        is_sampled = algorithm == "sampled" and imputer == "marginal"
        background = _background(X, weights, is_sampled, random_state)
    forest, rows, drawn = forest_by_columns(forest, opened.columns, X, background)
    p = forest.n_features
    imputed, losses = _losses(forest, rows, y, drawn, loss, imputer, link)
    parameters: dict[str, object] = {"loss": loss, "imputer": imputer, "algorithm": algorithm}
    if algorithm == "exact":
        values, n_permutations = _exact(imputed, losses, len(rows), weights, p, progress), 0
        error = np.zeros(p)  # of the permutations, as below
    else:
        limit = n_permutations or MOST
        if threshold is None:
            threshold = THRESHOLD
            limit = n_permutations or max(ROUND, min(MOST, WORK // imputed.steps_of_order))
        _check_sampling(threshold, n_permutations, random_state)
        wanted = threshold if n_permutations is None else None
        rng = np.random.default_rng(random_state)
        remedy = "fewer rows as background, or a larger threshold, take less"
        with progress_bar.bar(n_permutations, progress, "permutations", remedy) as done:
            draw = partial(rng.integers, len(rows), size=ROUND)
            if weights is not None:
                draw = partial(rng.choice, len(rows), ROUND, p=weights / weights.sum())
            values, error, n_permutations = _sampled(
                imputed, losses, draw, p, wanted, limit, rng, done
            )
        parameters |= {"threshold": float(threshold), "random_state": int(random_state)}
    if not np.isfinite(values).all():
        raise ValueError("the losses are too large to be added up: divide the targets first")
    parameters |= {"n_permutations": int(n_permutations), "n_background": len(drawn)}
    parameters |= {} if weights is None else {"weighted": True}
    parameters |= opened.columns.parameters if opened.columns else {}
    return opened.by_columns(Importance(values, forest.feature_names, "sage", parameters, error))


def _background(X, weights, is_sampled, random_state) -> np.ndarray:
    """Take the background from X, each row as often as its weight says."""
    check_whole("random_state", random_state)
    rng, n = np.random.default_rng([random_state, BACKGROUND]), len(X)
    if weights is None:
        is_all = not is_sampled or n <= BACKGROUND
        return X if is_all else X[np.sort(rng.choice(n, BACKGROUND, replace=False))]
    most = BACKGROUND if is_sampled else REPEATED
    if weights.sum() <= most and not (weights % 1).any():
        return np.repeat(X, weights.astype(int), axis=0)
    return X[np.sort(rng.choice(n, BACKGROUND, p=weights / weights.sum()))]


def _losses(forest, X, y, background, loss, imputer, link="raw"):
    """Return the imputer, and a function that gives the losses of its predictions for rows."""
    imputers = {"marginal": kernel.MarginalImputer, "conditional": kernel.ConditionalImputer}
    imputed = imputers[imputer](forest, X, background, link)
    n_classes = len(classes_of(forest))
    if loss == "cross_entropy":
        if link == "raw":
            _check_probabilities(forest, X)
        target = np.eye(n_classes, dtype=np.bool_)[y]
        return imputed, lambda f, rows: -np.log(np.maximum(f[target[rows]], SMALLEST))
    target = np.eye(n_classes)[y] if n_classes > 1 else y[:, None]
    return imputed, lambda f, rows: ((f - target[rows]) ** 2).sum(axis=1)


def _exact(imputed, losses, n, weights, p, progress):
    """Compute Shapley values by enumeration of all coalitions."""
    if p > MOST_FEATURES:
        raise ValueError(
            f'algorithm="exact" enumerates the subsets of the features, and 2**{p} are too many: '
            f'use algorithm="sampled", or a forest of at most {MOST_FEATURES} features'
        )
    coalitions = np.arange(2**p)
    known = (coalitions[:, None] >> np.arange(p) & 1).astype(bool)
    worth = np.empty(2**p)
    step = max(1, PAIRS // n)
    with progress_bar.bar(2**p, progress, "coalitions", "a smaller background takes less") as done:
        for a in range(0, 2**p, step):
            chunk = known[a : a + step]
            rows = np.tile(np.arange(n), len(chunk))
            pairs = losses(imputed(rows, np.repeat(chunk, n, axis=0)), rows)
            worth[a : a + step] = -np.average(pairs.reshape(-1, n), axis=1, weights=weights)
            done(len(chunk))
    return shapley_values(worth)


def _sampled(imputed, losses, draw, p, threshold, limit, rng, done):
    """Return mean and standard error of the gains over random permutations, and their number.

    There are at most `limit`, and as many without a threshold.
    """
    expected, count, mean, squares = limit, 0, np.zeros(p), np.zeros(p)
    while count < limit:
        # Always a whole round, so that more permutations begin with the same ones.
        rows = draw()
        ranks = rng.permuted(np.tile(np.arange(p), (ROUND, 1)), axis=1)
        n_taken = min(ROUND, limit - count)
        gains = np.empty((n_taken, p))
        for a in range(0, n_taken, PORTION):
            part = slice(a, min(a + PORTION, n_taken))
            gains[part] = _gains(imputed, losses, rows[part], ranks[part])
            if threshold is not None and count == 0:
                spread = gains[: part.stop].std(axis=0, ddof=1) / np.sqrt(part.stop)
                needed = _needed(part.stop, gains[: part.stop].mean(axis=0), spread, threshold)
                expected = min(needed, limit)
            done(part.stop - a, expected)
        # Means and sums of squares of two samples, pooled (Chan et al. 1979).
        shift = gains.mean(axis=0) - mean
        squares += ((gains - gains.mean(axis=0)) ** 2).sum(axis=0)
        squares += shift**2 * (count * n_taken / (count + n_taken))
        count += n_taken
        mean += shift * (n_taken / count)
        error = np.sqrt(squares / (count - 1) / count)
        if threshold is not None:
            if error.max() <= threshold * _spread(mean):
                break
            expected = min(_needed(count, mean, error, threshold), limit)
    else:
        if threshold is not None:
            remedy = "raise threshold"
            if limit < MOST:
                remedy = "pass threshold, which takes as long as it needs"
            warnings.warn(
                f"SAGE stopped after {count} permutations with a standard error of "
                f"{error.max():.2g} on values that differ by {_spread(mean):.2g}: "
                f'{remedy}, or use algorithm="exact"',
                stacklevel=3,
            )
    return mean, error, count


def _needed(count, mean, error, threshold):
    """Estimate from the standard errors so far how many permutations are needed, in full rounds."""
    wanted = threshold * _spread(mean)
    n_rounds = count * (error.max() / wanted) ** 2 / ROUND if wanted > 0 else 1.0
    return int(min(MOST, max(1.0, np.ceil(n_rounds)) * ROUND))


def _spread(values):
    """Return the largest less the smallest value; for a single value its distance to 0."""
    return np.ptp(values) if len(values) > 1 else abs(values[0])


def _gains(imputed, losses, rows, ranks):
    """Return the loss saved by each feature as it becomes known by rank, (n_draws, p)."""
    n_draws, p = ranks.shape
    predictions = imputed.along(rows, ranks).reshape(n_draws * (p + 1), -1)
    pairs = losses(predictions, np.repeat(rows, p + 1)).reshape(n_draws, p + 1)
    return np.take_along_axis(-np.diff(pairs, axis=1), ranks, axis=1)


def refuse(model, forest) -> None:
    """Raise a ValueError if the model predicts neither targets nor probabilities of classes."""
    if link_of(model, forest) == "probability":
        return
    inner, _ = unwrap(model)
    library = format_of(inner)
    if forest.output_names == ("path length",):
        raise ValueError(
            f"{_NEEDED}, and an isolation forest, which predicts the length of a path, has no y: "
            "explain its rows by tree_shap"
        )
    refuse_targets_of_several(forest)
    # Trees that are grown on classes and on a booster's residuals have different criteria.
    of_residuals = forest.aggregate == "sum" and forest.criterion in _OF_RESIDUALS
    if forest.output_names != ("output",) and (of_residuals or forest.criterion == LEAF_VARIANCE):
        what = library.called(inner) if library.has_units else str(forest)
        raise ValueError(
            f"{_NEEDED}, and {what} gives raw scores of {list(forest.output_names)[:5]}: pass a "
            "fitted model whose softmax of the scores is its probabilities, or a forest that "
            "averages class fractions"
        )
    if forest.output_names == ("output",) and library.has_link(inner):
        raise ValueError(
            f"{_NEEDED}, and this {library.called(inner)} predicts a function of the sum of its "
            "trees: fit it with the squared error, or measure it with "
            'method="tree_shap_interventional", '
            "which divides the sum"
        )
    if forest.output_names == ("output",) and (why := library.no_mean(inner)):
        raise ValueError(f"{_NEEDED}, and {why}")


def link_of(model, forest) -> str:
    """Return which output is compared with y: the ``"raw"`` one, or the ``"probability"``."""
    inner, _ = unwrap(model)
    has_classes = forest.other_class is not None or forest.n_outputs > 1
    scores = "log_odds" if forest.n_outputs == 1 else "class_scores"
    tree_output = format_of(inner).units(inner).tree_output
    return "probability" if has_classes and tree_output == scores else "raw"


def _check_probabilities(forest, X):
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
