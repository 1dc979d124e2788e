"""TreeSHAP by bag: a tree speaks for its in-bag or its out-of-bag rows only (loecher2022)."""

from __future__ import annotations

from splitcredit.attribution import Attribution, Importance
from splitcredit.importances import _by_bag


def importance(
    forest, X, y, rows: str = "oob", output="all", weigh_by: str = "absolute"
) -> Importance:
    """Mean over the training rows of what `attribute` gives, absolute or times y.

    Parameters
    ----------
    forest : Forest
        Bagged.
    X : array-like or DataFrame (n_train, n_features)
        The training rows, in their order.
    y : (n_train,)
        Class labels, one-hot below, or numbers for a regressor.
    rows : {"oob", "inbag"}
    output : "all", or the name or index of one output
        Added over the outputs; for two classes, both have the same absolute values.
    weigh_by : {"absolute", "y", "centred_y"}
        ``"absolute"``: SHAP_in and SHAP_oob. ``"y"``: weighted SHAP, whose values may be
        negative. ``"centred_y"``: y minus its mean.

    Returns
    -------
    Importance

    Raises
    ------
    ValueError
        If the forest is not bagged, X and y are not its training data, or there is no such choice.
    """
    attribution = attribute(forest, X, rows, output)
    return _by_bag.total(forest, X, y, weigh_by, attribution)


def attribute(forest, X, rows: str = "oob", output="all") -> Attribution:
    """TreeSHAP for every training row, by the trees that it is in or out of the bag of.

    In-bag rows count once, however often they were drawn. The sum over these trees is divided by
    the number of all trees, as in the paper, so in-bag and out-of-bag values add up to the
    attributions of the forest.

    Parameters
    ----------
    forest : Forest
        Bagged.
    X : array-like or DataFrame (n_train, n_features)
        The training rows, in their order.
    rows : {"oob", "inbag"}
    output : "all", or the name or index of one output

    Returns
    -------
    Attribution
        The baseline is 0: the values do not add up to a prediction.

    Raises
    ------
    ValueError
        If the forest is not bagged, X is not its training data, or there is no such choice.
    """
    from splitcredit.kernels import tree_shap_by_bag

    kernel = tree_shap_by_bag.tree_shap_by_bag
    return _by_bag.attribute(forest, X, rows, output, "tree_shap_by_bag", kernel)
