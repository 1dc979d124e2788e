"""Saabas and TreeSHAP of training rows, by their out-of-bag or in-bag trees (loecher2022)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from splitcredit.kernels.tree_shap.oob import oob_tree_shap
from splitcredit.kernels.walks.saabas import oob_saabas
from splitcredit.measures._attributed import explained, mean_of_rows
from splitcredit.measures._calls import checked
from splitcredit.models.opened import Opened
from splitcredit.models.prediction import chosen_outputs
from splitcredit.models.training import (
    ROWS,
    checked_training_data,
    checked_training_rows,
    refuse_unbagged,
    refuse_without_oob,
)
from splitcredit.results.attribution import Attribution, Importance
from splitcredit.rows.tables import check_choice, row_weights

REQUIRES = ("bootstrap",)
# The function of `splitcredit.importance`, and whether values are in units of the prediction.
IMPORTANCE, IN_UNITS = "oob_importance", True

ATTRIBUTIONS = {"saabas": oob_saabas, "tree_shap": oob_tree_shap}
WEIGHTS = ("absolute", "y", "centered_y")


@checked
def oob_attributions(
    model: object,
    X: ArrayLike,
    *,
    attribution: Literal["saabas", "tree_shap"] = "tree_shap",
    rows: Literal["inbag", "oob"] = "oob",
    output: str | int = "all",
    dtype: str | type = "float64",
    features: Literal["columns", "transformed"] = "columns",
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Attribution:
    """Attribute every training row by its out-of-bag or in-bag trees.

    In-bag rows count once, however often they were drawn. The sum over these trees is divided by
    the number of all trees, as in the paper, so in-bag and out-of-bag values add up to the
    attributions of the forest.

    Parameters
    ----------
    model : fitted model, Forest or path
        Bagged.
    X : array-like or DataFrame (n_train, n_features)
        The training rows, in their order.
    attribution : {"saabas", "tree_shap"}
        CFC_in and CFC_oob of loecher2022, section 3, or SHAP_in and SHAP_oob of section 4.
    rows : {"oob", "inbag"}
    output, dtype, features, check_additivity, progress
        See `splitcredit.tree_shap`; there is no ``"predicted"``.

    Returns
    -------
    Attribution
        In units of the prediction. The baseline is 0: the values do not add up to a prediction.

    Raises
    ------
    ValueError
        If the forest is not bagged, X is not its training data, or there is no such output.

    Examples
    --------
    >>> outside = splitcredit.oob_attributions(model, X, rows="oob")
    >>> inside = splitcredit.oob_attributions(model, X, rows="inbag")
    >>> together = outside.values + inside.values
    >>> bool(abs(together - splitcredit.tree_shap(model, X).values).max() < 1e-12)
    True
    """
    parameters = {"attribution": attribution, "rows": rows, "output": output, "features": features}
    return explained("oob_attributions", model, X, parameters, dtype, check_additivity, progress)


def attribute(
    forest,
    X,
    attribution: Literal["saabas", "tree_shap"] = "tree_shap",
    rows: Literal["inbag", "oob"] = "oob",
    output="all",
) -> Attribution:
    """Attribute the training rows, as the trees saw them."""
    check_choice("attribution", attribution, tuple(ATTRIBUTIONS))
    check_choice("rows", rows, ROWS)
    outputs = chosen_outputs(forest, output)
    X = checked_training_rows(forest, X)
    if rows == "oob":
        refuse_without_oob(forest)
    return Attribution(
        values=ATTRIBUTIONS[attribution](forest, X, outputs, rows == "inbag"),
        baseline=np.zeros(len(outputs)),
        feature_names=forest.feature_names,
        output_names=tuple(forest.output_names[c] for c in outputs),
        method="oob_attributions",
        parameters={
            "attribution": attribution,
            "rows": rows,
            "output": output if isinstance(output, str) else int(output),
        },
    )


@checked
def oob_importance(
    model: object,
    X: ArrayLike,
    y: ArrayLike,
    *,
    attribution: Literal["saabas", "tree_shap"] = "tree_shap",
    rows: Literal["inbag", "oob"] = "oob",
    output: str | int = "all",
    weigh_by: Literal["absolute", "y", "centered_y"] = "absolute",
    sample_weight: ArrayLike | None = None,
    features: Literal["columns", "transformed"] = "columns",
    check_additivity: bool = True,
) -> Importance:
    """Average ``|phi_i|`` or ``y_i phi_i`` over the training rows, by `oob_attributions`.

    Parameters
    ----------
    model, X, attribution, rows, features, check_additivity
        See `oob_attributions`.
    y : (n_train,)
        Class labels, one-hot below, or numbers for a regressor.
    output : "all", or the name or index of one output
        Added over the outputs; for two classes, both have the same absolute values.
    weigh_by : {"absolute", "y", "centered_y"}
        ``"y"``: weighted CFC or SHAP, whose values may be negative. ``"centered_y"``: y minus its
        mean.
    sample_weight : (n_train,), optional
        Weights of the rows in all means, see `splitcredit.importance`.

    Returns
    -------
    Importance
        In units of the prediction; with weights, of the prediction times the target. Standard
        errors are by rows, see Notes.

    Raises
    ------
    ValueError
        If the forest is not bagged, or X and y are not its training data.

    Notes
    -----
    loecher2022, sections 3 (CFC) and 4 (SHAP), and Figure 5 for SHAP weighted by the outcome.

    The standard error of this mean over rows is the standard deviation over the rows divided by the
    root of their number; for a weighted mean see `splitcredit.importance`. It takes the trees as
    given, and ignores that they are grown on the same rows.
    With ``"centered_y"`` the value is a covariance, and the deviation is root 2 times that of
    ``(y_i - mean y) (phi_i - mean phi)``: without signal, two rows have similar products
    if each is explained by trees that were grown on the other.

    Examples
    --------
    >>> scores = splitcredit.oob_importance(model, X, y, output=0, weigh_by="centered_y")
    >>> scores.values.round(3)
    array([0.013, 0.001, 0.023, 0.044])
    """
    check_choice("weigh_by", weigh_by, WEIGHTS)
    opened = Opened(model, X, of_training=True, features=features).checked(check_additivity)
    forest, X = opened.forest, opened.rows
    attributed = attribute(forest, X, attribution, rows, output)
    _, y = checked_training_data(forest, X, y)
    attributed = opened.by_columns(attributed)
    values = attributed.values
    weights = row_weights(sample_weight, len(values), opened.index)
    weighed = np.abs(values)
    if weigh_by != "absolute":
        targets = np.eye(forest.n_outputs)[y] if forest.n_outputs > 1 else y[:, None]
        if weigh_by == "centered_y":
            targets = targets - np.average(targets, axis=0, weights=weights)
        outputs = [forest.output_names.index(name) for name in attributed.output_names]
        targets = targets[:, None, outputs]
        weighed = values * targets
    scores = np.average(weighed, axis=0, weights=weights).sum(axis=1)
    if weigh_by == "centered_y":
        # The mean attribution adds nothing to a covariance, nor to its error. The factor is due to
        # pairs of rows, each of which is explained by trees grown on the other.
        weighed = 2**0.5 * (weighed - np.average(values, axis=0, weights=weights) * targets)
    _, error = mean_of_rows(weighed.sum(axis=2), weights)
    parameters = attributed.parameters | {"weigh_by": weigh_by}
    parameters |= {} if weights is None else {"weighted": True}
    names = attributed.feature_names
    return opened.by_columns(Importance(scores, names, attributed.method, parameters, error))


def refuse(model, forest) -> None:
    """Raise a ValueError if no rows are out of bag."""
    refuse_unbagged(forest)
    refuse_without_oob(forest)
