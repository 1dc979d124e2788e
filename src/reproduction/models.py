"""Fit the models of the experiments from their recipes."""

import importlib
import typing
from functools import cache

import numpy as np

from reproduction import recorded, seeds

# Estimator -> its module. Imported when a recipe names it: the libraries take a while to load.
ESTIMATORS = {
    "DecisionTreeClassifier": "sklearn.tree",
    "DecisionTreeRegressor": "sklearn.tree",
    "ExtraTreesClassifier": "sklearn.ensemble",
    "ExtraTreesRegressor": "sklearn.ensemble",
    "HistGradientBoostingClassifier": "sklearn.ensemble",
    "HistGradientBoostingRegressor": "sklearn.ensemble",
    "RandomForestClassifier": "sklearn.ensemble",
    "RandomForestRegressor": "sklearn.ensemble",
    "XGBClassifier": "xgboost",
    "XGBRegressor": "xgboost",
    "LGBMClassifier": "lightgbm",
    "LGBMRegressor": "lightgbm",
}
# Parameters of every fit, by library: one thread, and the same trees each time.
_FIXED = {
    "xgboost": {"n_jobs": 1},
    "lightgbm": {"n_jobs": 1, "deterministic": True, "force_row_wise": True, "verbosity": -1},
}
_NOT_GIVEN = {"n_jobs", "verbose", "verbosity", "warm_start", "deterministic", "force_row_wise"}
# These change no tree, or need what no recipe can hold.
_NOT_GIVEN |= {"callbacks", "importance_type", "validate_parameters", "early_stopping_rounds"}


def parameters(name: str) -> set[str]:
    """Names of the parameters that a recipe with this estimator may give, ours included."""
    our_keys = {"folds", "recorded"} if ESTIMATORS.get(name) == "xgboost" else {"folds"}
    return set(_estimator(name)().get_params()) - _NOT_GIVEN | our_keys


def fit(recipe: dict, X, y, repeat: int = 0):
    """Fit the model of a recipe, on one thread: the job is the unit of parallel work.

    ``estimator`` names the class; the rest are its parameters, except ``folds``, which says how the
    rows are given to fits, see `folds`, and ``recorded``, which names a model of that class, a
    Forest, that is read and not fitted, see `reproduction.recorded.forest`.
    """
    if recipe.get("recorded") is None:
        return unfitted(recipe, repeat).fit(X, y)
    forest = recorded.forest(recipe["recorded"])
    if np.shape(X)[1] != forest.n_features:
        raise ValueError(
            f"recorded: {recipe['recorded']} has {forest.n_features} features, X {np.shape(X)[1]}"
        )
    return forest


def unfitted(recipe: dict, repeat: int = 0):
    """The estimator that `fit` fits, before it is fitted: the same seed, on one thread."""
    options = {k: v for k, v in recipe.items() if k not in ("estimator", "folds", "recorded")}
    library = ESTIMATORS[recipe["estimator"]]
    # LightGBM keeps its seed in 31 bits.
    bits = 31 if library == "lightgbm" else 32
    options["random_state"] = seeds.derive(recipe, repeat, "model") % 2**bits
    return _estimator(recipe["estimator"])(**options, **_FIXED.get(library, {}))


def folds(recipe: dict, n_samples: int, repeat: int = 0) -> np.ndarray | None:
    """Fold of each row for a recipe with ``folds``, the number of parts; None for one without.

    Folds are drawn at random and of equal sizes up to one row; a fit leaves each of them out.
    """
    k = recipe.get("folds")
    if k is None:
        return None
    if not 2 <= k <= n_samples:
        raise ValueError(f"folds: {k} is not in 2..{n_samples}, the number of rows")
    random = np.random.default_rng(seeds.derive(recipe, repeat, "folds"))
    return random.permutation(np.arange(n_samples) % k)


def _estimator(name):
    if name not in ESTIMATORS:
        raise ValueError(f"unknown estimator {name!r}: available are {', '.join(ESTIMATORS)}")
    return getattr(importlib.import_module(ESTIMATORS[name]), name)


def annotations(name: str) -> dict:
    """Return the annotations of an estimator's parameters, which limit a value."""
    hints: dict = {}
    for kind in reversed(_estimator(name).__mro__[:-1]):
        hints |= typing.get_type_hints(kind.__init__)
    plain = {int, float, bool, str, type(None)}
    return {n: hint for n, hint in hints.items() if {*(typing.get_args(hint) or [hint])} <= plain}


# With the type: 1 is equal to true.
@cache
def refusal(name: str, parameter: str, value, kind: type) -> str:
    """Return scikit-learn's objection to one value, in one line; empty if it has none.

    It looks at parameters before it looks at the rows. Other libraries find out when they fit.
    """
    if not ESTIMATORS[name].startswith("sklearn"):
        return ""
    try:
        _estimator(name)(**{parameter: value}).fit([], [])
    except Exception as error:
        # Both, as no error of the missing rows is.
        of_parameters = isinstance(error, TypeError) and isinstance(error, ValueError)
        return str(error).split("\n")[0] if of_parameters else ""
    return ""


# Word of ``REQUIRES`` of a measure -> what a model must be.
REQUIREMENTS = {
    "bootstrap": "a forest with bootstrap: true, without folds, whose rows are drawn for each tree",
    "model": "a model of its library, fitted once: without folds, and not recorded",
    "classifier": "a classifier",
    "forest": "a forest of scikit-learn",
    "scikit-learn": "a model of scikit-learn",
    "xgboost": "a model of XGBoost",
}


def offers(model: dict) -> set[str]:
    """Words of `REQUIREMENTS` that the recipe of a model meets."""
    name, is_one_model = model["estimator"], not model.get("folds")
    boosted = name.startswith(("XGB", "LGBM", "Hist"))
    is_bagged = model.get("bootstrap", name.startswith("RandomForest"))
    meets = {
        "bootstrap": is_one_model and is_bagged,
        "model": is_one_model and not model.get("recorded"),
        "classifier": name.endswith("Classifier"),
        "forest": not boosted and not name.startswith("DecisionTree"),
        "scikit-learn": not boosted,
        "xgboost": name.startswith("XGB"),
    }
    return {word for word, is_met in meets.items() if is_met}
