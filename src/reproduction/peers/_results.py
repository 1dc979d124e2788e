"""Results of other packages, as `Attribution` and `Importance`."""

from importlib.metadata import PackageNotFoundError, version

import numpy as np

from splitcredit.results.attribution import Attribution, Importance


def attribution(values, forest, method, output, package, arithmetic, model=None, X=None):
    """An `Attribution` of the chosen output, whose baseline, which packages define otherwise, is 0.

    Parameters
    ----------
    values : (n_samples, n_features, n_outputs)
    forest : Forest
        Only its names of features are taken.
    method : str
        Name of the file of the measure.
    output : "predicted" or int
        Of the classes that ``model.predict_proba`` finds most likely, or the same for all rows.
    package : str
        Name of the distribution.
    arithmetic : {"float64", "float32"}
        In which the package adds up.
    model : fitted classifier, optional
    X : array (n_samples, n_features), optional
        Both are only needed for ``"predicted"``.
    """
    index = None
    if output == "predicted" and values.shape[2] > 1:
        index = model.predict_proba(X).argmax(axis=1)
        of_output = np.take_along_axis(values, index[:, None, None], axis=2)
    else:
        column = 0 if output == "predicted" else output
        of_output = values[:, :, [column]]
    return Attribution(
        values=of_output,
        baseline=np.zeros(1),
        feature_names=forest.feature_names,
        output_names=("predicted" if output == "predicted" else forest.output_names[output],),
        method=method,
        parameters=about(package, arithmetic) | {"output": output},
        output_index=index,
    )


def importance(values, forest, method, package, standard_error=None) -> Importance:
    """An `Importance` that a package computed in float64."""
    parameters = about(package, "float64")
    return Importance(values, forest.feature_names, method, parameters, standard_error)


def about(package: str, arithmetic: str) -> dict:
    """Package, release and arithmetic, as ``parameters`` of a result."""
    return {"package": package, "version": _release(package), "arithmetic": arithmetic}


def _release(package):
    """XGBoost is also distributed as xgboost-cpu."""
    try:
        return version(package)
    except PackageNotFoundError:
        return version(f"{package}-cpu")
