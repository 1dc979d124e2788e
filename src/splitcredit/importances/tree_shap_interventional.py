"""Interventional TreeSHAP: Shapley values against a background (Lundberg et al. 2020)."""

from __future__ import annotations

from functools import partial

from splitcredit.attribution import Attribution
from splitcredit.convert import forest_and_rows
from splitcredit.importances._prediction import explain_prediction, prepared_background


def explain(forest, X, background, output="all") -> Attribution:
    """Interventional TreeSHAP: Shapley values of v(S) = mean over z of f(x_S, z_-S), exact.

    Parameters
    ----------
    forest : Forest or fitted model
    X : array-like or DataFrame (n_samples, n_features)
    background : array-like or DataFrame (n_background, n_features)
        The rows z that unknown features are taken from. Rows that are alike to a leaf are counted
        and treated as one there, so the time grows more slowly than their number.
    output : "all", "predicted", or the name or index of one output
        ``"predicted"`` explains, for each row, its own predicted class.

    Returns
    -------
    Attribution
        In units of the prediction. The baseline is the mean prediction over the background.

    Raises
    ------
    ValueError
        If X or the background does not fit the forest, or there is no such output.

    Notes
    -----
    Lundberg et al., "From local explanations to global understanding with explainable AI for
    trees", Nature Machine Intelligence 2 (2020): their "interventional" feature perturbation.
    """
    from splitcredit.kernels.interventional import explain as kernel
    from splitcredit.kernels.walks import predict

    forest, X, background = forest_and_rows(forest, X, background)
    background = prepared_background(forest, background)
    return explain_prediction(
        forest,
        X,
        output,
        "tree_shap_interventional",
        partial(kernel.tree_shap_interventional, background=background),
        partial(kernel.tree_shap_interventional_one, background=background),
        predict.predict(forest, background).mean(axis=0),
    )
