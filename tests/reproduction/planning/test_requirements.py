"""What measures need of a model, compared with recipes before the first job."""

import numpy as np
import pytest

from reproduction import models, peers
from reproduction.planning import recipes
from splitcredit import measures
from splitcredit.models.formats import to_forest

RECIPES = [
    {"estimator": name, **given}
    for name in models.ESTIMATORS
    for given in ({}, {"bootstrap": True}, {"bootstrap": False})
    if given.keys() <= models.parameters(name)
]


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
def test_models_that_are_offered_as_bagged_know_their_bags(recipe):
    """The converter's answer is the one that measures get."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    forest = to_forest(models.fit(recipe, X, y), X_train=X)
    assert ("bootstrap" in models.offers(recipe)) == (forest.inbag is not None)


def test_every_word_that_a_measure_requires_is_known():
    """Every model of a recipe meets the words that are for the library's users."""
    words = set(models.REQUIREMENTS) | {"impurity", "refit", "score", "gains", "prediction"}
    for name in [*measures.names(), *peers.available()]:
        assert set(recipes.constant("importance", name, "REQUIRES")) <= words, name
