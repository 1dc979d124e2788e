"""Baselines of the study trust: rankings without a model, and permutation by the loss."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import f_classif
from sklearn.inspection import permutation_importance
from xgboost import XGBClassifier

from reproduction.peers import permutation_loss, univariate_f
from splitcredit.models.formats import to_forest


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :6].copy(), y.astype(np.int64)


def test_univariate_f_has_the_p_values_of_scikit_learn(data):
    X, y = data
    expected = f_classif(X, y)
    found = univariate_f.importance(None, X, y)
    assert found.values.tolist() == expected[0].tolist()
    assert found.parameters["p_values"] == expected[1].tolist()


@pytest.mark.parametrize("kind", ["classes", "boosted", "numbers"])
def test_losses_are_those_of_the_model_itself(data, kind):
    X, y = data
    if kind == "numbers":
        y = X[:, 0] + y
        model = RandomForestRegressor(5, random_state=0).fit(X, y)
        expected = (model.predict(X) - y) ** 2
    else:
        boosted = XGBClassifier(n_estimators=5, max_depth=2)
        model = (boosted if kind == "boosted" else RandomForestClassifier(5, random_state=0)).fit(
            X, y
        )
        share = model.predict_proba(X)[np.arange(len(y)), y]
        expected = -np.log(share if kind == "boosted" else np.clip(share, 0.01, 0.99))
    assert permutation_loss.losses(to_forest(model), X, y) == pytest.approx(expected, rel=1e-4)


def test_permutation_by_squared_error_is_that_of_scikit_learn(data):
    """Within four standard errors: the permutations are others."""
    X, y = data
    model = RandomForestRegressor(20, random_state=0, min_samples_leaf=5).fit(X, X[:, 0] + y)
    ours = permutation_loss.importance(
        to_forest(model), X, X[:, 0] + y, X, n_repeats=20, random_state=1
    )
    theirs = permutation_importance(
        model, X, X[:, 0] + y, scoring="neg_mean_squared_error", n_repeats=20, random_state=0
    )
    error = theirs.importances_std * np.sqrt(2 / 20)
    assert (np.abs(ours.values - theirs.importances_mean) <= 4 * error + 1e-12).all()


def test_groups_are_permuted_together(data):
    """A feature and its copy: alone each loses a part, together all."""
    X, y = data
    X = np.column_stack([X[:, :1], X[:, :1], X[:, 4:5]])
    assert permutation_loss.groups(X, 0.5).tolist()[:2] == [permutation_loss.groups(X, 0.5)[0]] * 2
    model = RandomForestClassifier(40, random_state=0, max_features=1).fit(X, y)
    forest = to_forest(model)
    alone = permutation_loss.importance(forest, X, y, X)
    together = permutation_loss.importance(forest, X, y, X, groups_above=0.5)
    assert together.values[0] == together.values[1] > alone.values[:2].max()
