"""TreeSHAP: Shapley values of a tree ensemble's prediction (lundberg2017)."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from splitcredit.kernels.tree_shap import explain as kernel
from splitcredit.measures._attributed import explained
from splitcredit.measures._calls import checked
from splitcredit.models.prediction import explain_prediction
from splitcredit.results.attribution import Attribution
from splitcredit.rows import feature_groups
from splitcredit.rows.tables import check_choice

# Whether the values and the baseline of a row add up to its prediction.
ADDS_UP = True


@checked
def tree_shap(
    model: object,
    X: ArrayLike,
    *,
    output: str | int = "all",
    groups: dict | None = None,
    algorithm: Literal["auto", "blocks", "tables", "rows"] = "auto",
    dtype: str | type = "float64",
    features: Literal["columns", "transformed"] = "columns",
    check_additivity: bool = True,
    progress: bool | None = None,
) -> Attribution:
    """Attribute by path-dependent TreeSHAP: exact, lundberg2017, Eq. 2 with Algorithm 1.

    Parameters
    ----------
    model : fitted model, Forest or path
        Anything `splitcredit.to_forest` takes.
    X : array-like or DataFrame (n_samples, n_features)
    output : "all", "predicted", or the name or index of one output
        ``"predicted"`` explains, for each row, its own predicted class.
    algorithm : {"auto", "blocks", "tables", "rows"}
        All are exact; they differ in time, and "tables" in rounding. ``"auto"`` takes them for
        trees of depth at most 5, and up to 8 for so many rows that they cost less; else ``"rows"``
        for few rows and ``"blocks"`` for more.
    groups : dict of str to list of str or int, or "columns", optional
        Features that become known together, by name or index, such as the columns of a one-hot
        encoding: each group is one player of the Shapley value, and so is each feature in none.
        The sum over the features of a group, `Attribution.grouped`, has another value.
        ``"columns"``: those that the steps of a pipeline made of each column.
    dtype : {"float64", "float32"}
        Type of the values; all work is in float64.
    features : {"columns", "transformed"}
        What results of a pipeline are by: the columns of X, with the sum over the features that its
        steps made of each, or these transformed features. A feature of several columns, or of a
        step that does not name one, stays single; ``parameters["of_no_single_column"]`` names it.
    check_additivity : bool
        Whether a few rows are compared with what the model itself predicts.
    progress : bool, optional
        Whether a bar is shown; by default after two seconds, in a terminal or a notebook.

    Returns
    -------
    Attribution
        In units of the prediction. The baseline is the expected prediction when no feature is
        known.

    Raises
    ------
    ValueError
        If X does not fit the forest, there is no such output or algorithm, the trees are too
        deep for ``"tables"``, a feature is unknown or in two groups, or a name occurs twice.

    Examples
    --------
    >>> attribution = splitcredit.tree_shap(model, X[:1], output=0)
    >>> attribution.values[0, :, 0].round(2)
    array([0.12, 0.  , 0.19, 0.36])
    >>> bool(abs(attribution.totals()[0, 0] - model.predict_proba(X[:1])[0, 0]) < 1e-12)
    True
    """
    parameters = {"output": output, "algorithm": algorithm, "groups": groups, "features": features}
    return explained("tree_shap", model, X, parameters, dtype, check_additivity, progress)


def attribute(
    forest,
    X,
    output="all",
    algorithm: Literal["auto", "blocks", "tables", "rows"] = "auto",
    groups: dict | None = None,
) -> Attribution:
    """Attribute some rows, as the trees see them."""
    check_choice("algorithm", algorithm, tuple(kernel.ALGORITHMS))
    players = forest
    if groups is not None:
        groups = feature_groups.listed(groups)
        players = kernel.of_groups(forest, *feature_groups.players(forest.feature_names, groups))
    attribution = explain_prediction(
        forest,
        X,
        output,
        "tree_shap",
        lambda _, X, outputs: kernel.tree_shap(players, X, outputs, algorithm),
        lambda _, X, output: kernel.tree_shap_one(players, X, output, algorithm),
        kernel.expected_value(forest),
        players.feature_names,
    )
    if groups is not None:
        members = {str(group): [str(feature) for feature in groups[group]] for group in groups}
        attribution.parameters["groups"] = members
    return attribution
