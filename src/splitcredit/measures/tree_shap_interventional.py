"""Interventional TreeSHAP: Shapley values against a background (Lundberg et al. 2020)."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from splitcredit.kernels.interventional import explain as kernel
from splitcredit.kernels.walks import predict
from splitcredit.measures import _coalitions
from splitcredit.measures._attributed import explained
from splitcredit.measures._calls import checked
from splitcredit.models import rescaling
from splitcredit.models.prediction import (
    chosen_outputs,
    explain_prediction,
    is_other_class,
    largest,
    of_predicted,
    prepared_background,
)
from splitcredit.results.attribution import Attribution

# Numbers of one array of slopes, for any number of rows: 16 MiB.
_CHUNK = 1 << 21

# Whether the values and the baseline of a row add up to its prediction.
ADDS_UP = True


@checked
def tree_shap_interventional(
    model: object,
    X: ArrayLike,
    background: ArrayLike,
    *,
    output: str | int = "all",
    model_output: Literal["raw", "probability", "log_loss", "squared_error"] = "raw",
    y: ArrayLike | None = None,
    n_permutations: Annotated[int, ">= 4"] | None = None,
    random_state: Annotated[int, ">= 0"] = 0,
    dtype: str | type = "float64",
    features: Literal["columns", "transformed"] = "columns",
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Attribution:
    """Attribute by interventional TreeSHAP: v(S) is the mean over z of ``f(x_S, z_-S)``.

    Parameters
    ----------
    model, X, output, dtype, features, check_additivity, progress
        See `splitcredit.tree_shap`.
    background : array-like or DataFrame (n_background, n_features)
        The rows z that unknown features are taken from. The time grows more slowly than their
        number.
    model_output : {"raw", "probability", "log_loss", "squared_error"}
        What is explained. ``"raw"`` is the prediction of the forest. ``"probability"`` and
        ``"log_loss"`` (in nats) take it for the log-odds of a class, or for scores of several
        classes whose softmax is their probabilities; ``"squared_error"`` for the prediction of a
        regressor.
    y : array-like (n_samples,), optional
        Targets, for the two losses; for the log loss labels of classes, 0 or 1 if there are two.
    n_permutations : int, optional
        For probabilities or the log loss of several classes: permutations of the features, drawn
        for each row, half of them the reverse of the others. By default 128; or none, and exact
        values, if splits test at most 10 features.
    random_state : int
        Seed of the permutations, which are the same for all rows.

    Returns
    -------
    Attribution
        In units of what is explained. The baseline is its mean over the background; of a loss it
        has one row for each row of X, as it depends on y. Of several classes with another model
        output than ``"raw"``, ``parameters`` hold `n_permutations`, 0 if the values are exact, and
        the `largest_standard_error` of all values, from the sampling.

    Raises
    ------
    ValueError
        If X or the background does not fit the forest, there is no such output, or the model
        output does not fit the forest or y.

    Notes
    -----
    Lundberg et al., "From local explanations to global understanding with explainable AI for
    trees", Nature Machine Intelligence 2 (2020): their "interventional" feature perturbation.

    With another model output than ``"raw"``, of a forest with one output, the values are not the
    Shapley values of this output: for each background row the values of the raw prediction are
    scaled by the chord of the curve between the two predictions, and by 1 where these are equal, as
    shap does. Scores of several classes cannot be rescaled so. There the values are the Shapley
    values, exact or sampled (`splitcredit.measures._coalitions`); shap has none.

    Examples
    --------
    >>> attribution = splitcredit.tree_shap_interventional(model, X[:1], X[50:], output=0)
    >>> attribution.values[0, :, 0].round(2)  # against the rows of the two other classes
    array([0.09, 0.01, 0.33, 0.57])
    >>> bool(abs(attribution.totals()[0, 0] - model.predict_proba(X[:1])[0, 0]) < 1e-12)
    True
    """
    parameters = {
        "background": background,
        "output": output,
        "model_output": model_output,
        "y": y,
        "n_permutations": n_permutations,
        "random_state": random_state,
        "features": features,
    }
    method = "tree_shap_interventional"
    return explained(method, model, X, parameters, dtype, check_additivity, progress)


def attribute(
    forest,
    X,
    background,
    output="all",
    model_output: Literal["raw", "probability", "log_loss", "squared_error"] = "raw",
    y=None,
    n_permutations: Annotated[int, ">= 4"] | None = None,
    random_state: Annotated[int, ">= 0"] = 0,
) -> Attribution:
    """Attribute some rows, as the trees see them."""
    background = prepared_background(forest, background)
    if model_output != "raw" and forest.n_outputs > 1:
        sampling = n_permutations, random_state
        return _explain_classes(forest, X, background, output, model_output, y, *sampling)
    if model_output != "raw":
        return _explain_curve(forest, X, background, output, model_output, y)
    return explain_prediction(
        forest,
        X,
        output,
        "tree_shap_interventional",
        partial(kernel.tree_shap_interventional, background=background),
        partial(kernel.tree_shap_interventional_one, background=background),
        predict.predict(forest, background).mean(axis=0),
    )


def _explain_classes(
    forest, X, background, output, curve, y, n_permutations, random_state
) -> Attribution:
    """Attribute probabilities of several classes, or their log loss."""
    X = forest.prepare(X)
    y = rescaling.check(forest, curve, y, len(X))
    index = None
    if output != "predicted":
        chosen = chosen_outputs(forest, output, "'all', 'predicted'")
    values, error, baseline, n_played = _coalitions.explain_scores(
        forest, X, background, curve, y, n_permutations, random_state
    )
    if curve == "log_loss":
        names: tuple[str, ...] = ("log loss",)
    elif output == "predicted":
        names, index = ("predicted",), largest(forest, predict.predict(forest, X))
        values, error = (np.take_along_axis(a, index[:, None, None], 2) for a in (values, error))
        baseline = baseline[index][:, None]
    else:
        names = tuple(forest.output_names[c] for c in chosen)
        values, error, baseline = values[:, :, chosen], error[:, :, chosen], baseline[chosen]
    sampling = {
        "n_permutations": n_played,
        "random_state": int(random_state),
        "largest_standard_error": float(error.max(initial=0.0)),
    }
    return _of_curve(forest, values, baseline, names, index, output, curve, sampling)


def _explain_curve(forest, X, background, output, curve, y):
    """Attribute a transform, such as the probability, of the only output."""
    X = forest.prepare(X)
    y = rescaling.check(forest, curve, y, len(X))
    if output != "predicted":
        chosen_outputs(forest, output, "'all', 'predicted'")
    margin, of_background = (predict.predict(forest, rows)[:, 0] for rows in (X, background))
    values, baseline = np.empty((len(X), forest.n_features)), np.empty((len(X), 1))
    step = max(1, _CHUNK // len(background))
    for start in range(0, len(X), step):
        chunk = slice(start, start + step)
        targets = None if y is None else y[chunk]
        slopes = rescaling.slopes(curve, margin[chunk], of_background, targets)
        values[chunk] = kernel.tree_shap_rescaled(forest, X[chunk], background, slopes)
        column = None if y is None else targets[:, None]
        baseline[chunk, 0] = rescaling.transformed(curve, of_background, column).mean(axis=-1)
    names, index = forest.output_names, None
    if curve == "probability" and output == "predicted" and forest.other_class is not None:
        names, index = ("predicted",), largest(forest, margin[:, None])
        values = of_predicted(index, values)
        baseline = np.where(index[:, None] == 1, baseline, 1.0 - baseline)
    elif curve == "probability" and is_other_class(forest, output):
        values, baseline, names = 0.0 - values, 1.0 - baseline, (forest.other_class,)
    baseline = baseline[0] if y is None and index is None and len(X) else baseline
    return _of_curve(forest, values[:, :, None], baseline, names, index, output, curve, {})


def _of_curve(forest, values, baseline, names, index, output, curve, sampling) -> Attribution:
    """Return the attribution of a transformed output, with the parameters of the call."""
    chosen = {"output": output if isinstance(output, str) else int(output), "model_output": curve}
    return Attribution(
        values=values,
        baseline=baseline,
        feature_names=forest.feature_names,
        output_names=names,
        method="tree_shap_interventional",
        parameters=chosen | sampling,
        output_index=index,
    )
