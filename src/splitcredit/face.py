"""The functions that users meet first."""

from __future__ import annotations

from splitcredit import importances
from splitcredit.attribution import Attribution
from splitcredit.convert import to_forest


def explain(model, X, method: str = "tree_shap", **parameters) -> Attribution:
    """Attribute the predictions (or impurity decreases) of a fitted forest to its features.

    Parameters
    ----------
    model : fitted model or Forest
        Anything `splitcredit.to_forest` accepts.
    X : array-like or DataFrame (n_samples, n_features)
    method : str
        ``"tree_shap"``, ``"saabas"`` or ``"local_mdi"``.
    **parameters
        Passed to the method; see its module in `splitcredit.importances`.

    Returns
    -------
    Attribution
        ``values`` is (n_samples, n_features, n_outputs).

    Raises
    ------
    TypeError, ValueError
        See `to_forest`, `Forest.prepare` and the method.
    """
    return importances.get_method(method)(to_forest(model), X, **parameters)
