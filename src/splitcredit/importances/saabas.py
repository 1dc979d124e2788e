"""Saabas' method: changes of the prediction along each row's path."""

from __future__ import annotations

from splitcredit.attribution import Attribution
from splitcredit.formats import forest_and_rows
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

    Notes
    -----
    Saabas, "Interpreting random forests", 2014; the "path" method of lundberg2017 and the
    conditional feature contributions (CFC) of loecher2022, Eq. 8.

    Examples
    --------
    >>> from splitcredit.importances import saabas
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> attribution = saabas.explain(model, X[:1], output="predicted")
    >>> attribution.values[0, :, 0].round(2)
    array([0.14, 0.01, 0.17, 0.34])
    >>> attribution.totals().round(6)  # the fraction of the predicted class
    array([[1.]])
    """
    from splitcredit.kernels.walks import saabas

    forest, X = forest_and_rows(forest, X)
    return explain_prediction(
        forest, X, output, "saabas", saabas.saabas, saabas.saabas_one, saabas.baseline(forest)
    )
