"""Measures as other packages compute them, a function each, which has the name of the measure.

``parameters`` of the results name the package, its release and the type in which it adds up. The
baseline, which packages define otherwise, is 0.
"""

import copy
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

import numpy as np

from reproduction.parameters import Natural
from reproduction.registry import declared
from splitcredit.results.attribution import Attribution

Output = Literal["predicted"] | Natural


@declared(REQUIRES=("model", "scikit-learn", "classifier"))
def saabas_treeinterpreter(model, forest, X, output: Output = "predicted"):
    """Saabas' contributions to the fraction of a class, by treeinterpreter, which he wrote."""
    from treeinterpreter import treeinterpreter

    rows = np.asarray(X, np.float32)
    # treeinterpreter divides the values of the nodes in place.
    _, _, values = treeinterpreter.predict(copy.deepcopy(model), rows)
    by = "saabas_treeinterpreter", "treeinterpreter", "float64"
    return attribution(values, forest, *by, output, model, rows)


@declared(REQUIRES=("model", "forest", "classifier"))
def local_mdi_treeinterpreter(model, forest, X):
    """Local MDI by treeinterpreter: the method of Saabas, on impurities in place of predictions.

    Local MDI adds up the decreases of the impurity along the path of a row (sutera2021, Eq. 8),
    Saabas the changes of the prediction.
    """
    from treeinterpreter import treeinterpreter

    copied = copy.deepcopy(model)
    largest = max(tree.tree_.impurity.max() for tree in copied.estimators_)
    for tree in copied.estimators_:
        # treeinterpreter divides the values of a node by their sum, so they must add up to 1.
        share = tree.tree_.impurity / largest
        tree.tree_.value[...] = 0
        tree.tree_.value[:, 0, 0] = share
        tree.tree_.value[:, 0, 1] = 1 - share
    _, _, values = treeinterpreter.predict(copied, np.asarray(X, np.float32))
    by = "local_mdi_treeinterpreter", "treeinterpreter", "float64"
    return attribution(-largest * values[:, :, :1], forest, *by, output=0)


@declared(REQUIRES=("model", "xgboost"))
def saabas_xgboost(model, forest, X):
    """Saabas attributions of a regressor by XGBoost, which calls them approximate contributions."""
    import xgboost

    rows = xgboost.DMatrix(X, missing=model.missing, nthread=1)
    with_bias = model.get_booster().predict(rows, pred_contribs=True, approx_contribs=True)
    # The last column is the bias.
    values = with_bias[:, :-1, None].astype(float)
    return attribution(values, forest, "saabas_xgboost", "xgboost", "float32", output=0)


@declared(REQUIRES=("model", "scikit-learn"))
def tree_shap_interventional_shap(model, forest, X, background, output: Output = "predicted"):
    """Interventional TreeSHAP by the C extension of shap, which keeps its weights in float32."""
    import shap

    rows = np.asarray(X, np.float64)
    # From an array, shap would draw 100 of the rows at random.
    masker = shap.maskers.Independent(np.asarray(background, np.float64), len(background))
    explainer = shap.TreeExplainer(model, masker, feature_perturbation="interventional")
    values = np.reshape(explainer.shap_values(rows, check_additivity=False), (*rows.shape, -1))
    by = "tree_shap_interventional_shap", "shap", "float32"
    return attribution(values, forest, *by, output, model, rows)


def attribution(values, forest, method, package, arithmetic, output, model=None, X=None):
    """The `Attribution` of an output of a package, (n_samples, n_features, n_outputs).

    The output ``"predicted"`` is the class that `model` finds most likely for each row of `X`.
    """
    index, is_predicted = None, output == "predicted"
    if is_predicted and values.shape[2] > 1:
        index = model.predict_proba(X).argmax(axis=1)
        of_output = np.take_along_axis(values, index[:, None, None], axis=2)
    else:
        of_output = values[:, :, [0 if is_predicted else output]]
    return Attribution(
        values=of_output,
        baseline=np.zeros(1),
        feature_names=forest.feature_names,
        output_names=("predicted" if is_predicted else forest.output_names[output],),
        method=method,
        parameters={
            "package": package,
            "version": _release(package),
            "arithmetic": arithmetic,
            "output": output,
        },
        output_index=index,
    )


def _release(package):
    """Give the version; XGBoost is also distributed as xgboost-cpu."""
    try:
        return version(package)
    except PackageNotFoundError:
        return version(f"{package}-cpu")
