"""Whether a measure can take a model, from their recipes: nothing is imported.

The module of a measure says what it needs in ``REQUIRES``, a tuple of words. Those of the library
are in `splitcredit.importances`, those of other packages in `reproduction.peers`. What a recipe
does not show, such as the rows of the data set, is left to the job.
"""

from __future__ import annotations

from reproduction.planning import signatures
from reproduction.planning.errors import ConfigError

# Forests that draw the rows of each tree, unless `bootstrap` says otherwise; those of scikit-learn
# are the only models that say which rows they drew.
BAGGED = ("RandomForestClassifier", "RandomForestRegressor")
# Word -> what a model must be.
_WORDS = {
    "bootstrap": "a forest with bootstrap: true, without folds, whose rows are drawn for each tree",
    "model": "a model of its library, fitted once: without folds, and not recorded",
    "classifier": "a classifier",
    "forest": "a forest of scikit-learn",
    "scikit-learn": "a model of scikit-learn",
    "xgboost": "a model of XGBoost",
}
# Parameters of a model that decide what it offers.
DECISIVE = ("estimator", "bootstrap", "folds", "recorded")


def check(importance: dict, model: dict, place: str) -> None:
    """Check that a measure can take a model.

    Parameters
    ----------
    importance, model : dict
        Complete recipes.
    place : str

    Raises
    ------
    ConfigError
        Naming the place, the measure, and what it needs.
    """
    name = importance["importance"]
    required = signatures.constants(signatures.path_of("importance", name)).get("REQUIRES", ())
    for word in required:
        if word in _WORDS and word not in _offered(model):
            raise ConfigError(
                f"{place}: {name} needs {_WORDS[word]}; this {model['estimator']} is none"
            )
    if importance.get("n_rows") is not None and model.get("folds"):
        raise ConfigError(
            f"{place}: n_rows takes the first rows, and folds explain each row by a model of its "
            "own: leave one of them out"
        )


def _offered(model):
    """The words that a model meets."""
    name, is_one_model = model["estimator"], not model.get("folds")
    boosted = name.startswith(("XGB", "LGBM"))
    offered = {
        "bootstrap": is_one_model and model.get("bootstrap", name in BAGGED),
        "model": is_one_model and not model.get("recorded"),
        "classifier": name.endswith("Classifier"),
        "forest": not boosted and not name.startswith("DecisionTree"),
        "scikit-learn": not boosted,
        "xgboost": name.startswith("XGB"),
    }
    return {word for word, is_met in offered.items() if is_met}
