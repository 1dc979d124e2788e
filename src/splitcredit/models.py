"""Models of the experiments: recipe in, fitted scikit-learn estimator out."""

from __future__ import annotations

from sklearn import ensemble, tree

from splitcredit import seeds

ESTIMATORS = {
    cls.__name__: cls
    for cls in (
        tree.DecisionTreeClassifier,
        tree.DecisionTreeRegressor,
        ensemble.ExtraTreesClassifier,
        ensemble.ExtraTreesRegressor,
        ensemble.RandomForestClassifier,
        ensemble.RandomForestRegressor,
    )
}


def parameters(name: str) -> set[str]:
    """Names of the parameters that a recipe with this estimator may give.

    Raises
    ------
    ValueError
        If there is no such estimator; the message lists what there is.
    """
    if name not in ESTIMATORS:
        raise ValueError(f"unknown estimator {name!r}: available are {', '.join(ESTIMATORS)}")
    return set(ESTIMATORS[name]().get_params()) - {"n_jobs", "verbose", "warm_start"}


def fit(recipe: dict, X, y, repeat: int = 0):
    """Fit the model of a recipe, on one thread: the job is the unit of parallel work.

    Parameters
    ----------
    recipe : dict
        ``estimator`` names the class; the rest are its parameters.
    X : float64 (n_samples, n_features)
    y : (n_samples,)
    repeat : int
        Number of the fit; see `splitcredit.seeds`.
    """
    given = {k: v for k, v in recipe.items() if k != "estimator"}
    given["random_state"] = seeds.derive(recipe, repeat, "model")
    return ESTIMATORS[recipe["estimator"]](**given).fit(X, y)
