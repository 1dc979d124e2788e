"""TreeSHAP: Shapley values of a tree ensemble's prediction (lundberg2017)."""

from __future__ import annotations

from splitcredit.attribution import Attribution
from splitcredit.importances._prediction import explain_prediction


def explain(forest, X, output="all") -> Attribution:
    """Path-dependent TreeSHAP: the Shapley values of lundberg2017, Eq. 2 with Algorithm 1, exact.

    Parameters
    ----------
    forest : Forest
    X : array-like or DataFrame (n_samples, n_features)
    output : "all", "predicted", or the name or index of one output
        ``"predicted"`` explains, for each row, its own predicted class.

    Returns
    -------
    Attribution
        In units of the prediction. The baseline is the
        expected prediction when no feature is known.

    Raises
    ------
    ValueError
        If X does not fit the forest, or there is no such output.
    """
    from splitcredit.kernels import tree_shap

    return explain_prediction(
        forest,
        X,
        output,
        "tree_shap",
        tree_shap.tree_shap,
        tree_shap.tree_shap_one,
        tree_shap.expected_value(forest),
    )
