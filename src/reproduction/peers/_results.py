"""Results of other packages as `Attribution`."""

from importlib.metadata import PackageNotFoundError, version

import numpy as np

from splitcredit.results.attribution import Attribution


def attribution(values, forest, method, output, package, arithmetic, model=None, X=None):
    """An `Attribution` of the chosen output, whose baseline, which packages define otherwise, is 0.

    `values` are (n_samples, n_features, n_outputs), and `arithmetic` the type in which the package
    adds up. The output ``"predicted"`` is the class that `model` finds most likely for each row of
    `X`; only then these two are needed.
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
