"""Saabas' method: changes of the prediction along each row's path."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from splitcredit.kernels.walks import saabas as kernel
from splitcredit.measures._attributed import explained
from splitcredit.measures._calls import checked
from splitcredit.models.prediction import explain_prediction
from splitcredit.results.attribution import Attribution

# Whether the values and the baseline of a row add up to its prediction.
ADDS_UP = True


@checked
def saabas(
    model: object,
    X: ArrayLike,
    *,
    output: str | int = "all",
    dtype: str | type = "float64",
    features: Literal["columns", "transformed"] = "columns",
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Attribution:
    """Attribute predictions by Saabas' method: a split gets the change of the prediction at it.

    Parameters
    ----------
    model, X, output, dtype, features, check_additivity, progress
        See `splitcredit.tree_shap`.

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
    >>> attribution = splitcredit.saabas(model, X[:1], output="predicted")
    >>> attribution.values[0, :, 0].round(2)
    array([0.14, 0.01, 0.17, 0.34])
    >>> attribution.totals().round(6)  # the fraction of the predicted class
    array([[1.]])
    """
    parameters = {"output": output, "features": features}
    return explained("saabas", model, X, parameters, dtype, check_additivity, progress)


def attribute(forest, X, output="all") -> Attribution:
    """Attribute some rows, as the trees see them."""
    return explain_prediction(
        forest, X, output, "saabas", kernel.saabas, kernel.saabas_one, kernel.baseline(forest)
    )
