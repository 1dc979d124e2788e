"""SAGE by the package of its authors, sage-importance, from sampled permutations."""

from typing import Literal

import numpy as np

from reproduction.parameters import Count, Seed
from reproduction.peers import _results

REQUIRES = ("model", "classifier")


def importance(
    model,
    forest,
    X,
    y,
    loss: Literal["cross_entropy", "mse"] = "cross_entropy",
    n_permutations: Count = 20_000,
    random_state: Seed = 0,
):
    """SAGE values with the marginal imputer; the rows are the background too.

    Parameters
    ----------
    model : fitted classifier of scikit-learn
        Predicts every row that the imputer comes across once.
    forest : Forest
        The same, converted; only its names are taken.
    X : array (n_samples, n_features)
    y : int (n_samples,)
    loss : {"cross_entropy", "mse"}
        In nats; or the Brier score, summed over the classes.
    n_permutations : int
    random_state : int
    """
    import sage

    rows = np.asarray(X, np.float64)
    imputer = sage.MarginalImputer(_remembered(model), rows)
    estimator = sage.PermutationEstimator(
        imputer, loss.replace("_", " "), random_state=random_state
    )
    target = np.eye(len(model.classes_))[y] if loss == "mse" else np.asarray(y)
    # Its rule for stopping would end earlier.
    options = {"n_permutations": n_permutations, "detect_convergence": False}
    sampled = estimator(rows, target, bar=False, **options)
    return _results.importance(
        sampled.values, forest, "sage_importance", "sage-importance", sampled.std
    )


def _remembered(model):
    """A function that predicts with the model, each distinct row once."""
    prediction_of = {}

    def predict(X):
        keys = [row.tobytes() for row in np.ascontiguousarray(X)]
        unseen = {key: row for key, row in zip(keys, X, strict=True) if key not in prediction_of}
        if unseen:
            predictions = model.predict_proba(np.array(list(unseen.values())))
            prediction_of.update(zip(unseen, predictions, strict=True))
        return np.array([prediction_of[key] for key in keys])

    return predict
