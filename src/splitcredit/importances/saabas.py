"""Saabas' method: changes of the prediction along each row's path."""

from __future__ import annotations

from splitcredit.attribution import Attribution
from splitcredit.convert import forest_and_rows
from splitcredit.importances._prediction import explain_prediction


def explain(forest, X, output="all") -> Attribution:
    """Saabas attributions: each split on the row's path gets the change of the node's prediction.

    Parameters
    ----------
    forest : Forest or fitted model
    X : array-like or DataFrame (n_samples, n_features)
    output : "all", "predicted", or the name or index of one output
        ``"predicted"`` explains, for each row, its own predicted class.

    Returns
    -------
    Attribution
        In units of the prediction. The baseline is the value at the roots.

    Raises
    ------
    ValueError
        If X does not fit the forest, or there is no such output.
    """
    from splitcredit.kernels.walks import saabas

    forest, X = forest_and_rows(forest, X)
    return explain_prediction(
        forest, X, output, "saabas", saabas.saabas, saabas.saabas_one, saabas.baseline(forest)
    )
