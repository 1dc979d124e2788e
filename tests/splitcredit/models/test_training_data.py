"""Training rows and targets are accepted where weights hide counts, and values are no means."""

import numpy as np
import pytest
from sklearn.ensemble import (
    RandomForestClassifier,
    RandomForestRegressor,
)

import splitcredit
import twins
import twins_oob
from forests import whole_numbers
from splitcredit import to_forest

MEASURES = [splitcredit.ufi, splitcredit.mda, splitcredit.oob_importance]
BALANCED = {"class_weight": "balanced_subsample", "bootstrap": True, "random_state": 0}


def test_weights_of_classes_may_be_whole_numbers():
    """They were taken for counts, and the training rows for others."""
    X = np.repeat([0.0, 1.0], [4, 8])[:, None]
    y = np.repeat(["a", "b"], [4, 8])
    for seed in range(40):
        model = RandomForestClassifier(1, **BALANCED | {"random_state": seed}).fit(X, y)
        forest = to_forest(model)
        whole = not (forest.cover % 1).any() and forest.cover[0] == 12
        drawn = forest.inbag[0, :4].sum()
        if whole and forest.n_nodes == 3 and drawn != 6 and (forest.inbag == 0).any():
            values = splitcredit.ufi(forest, X, y).values
            assert twins.largest_error(values, twins_oob.ufi(forest, X, y)) <= twins.ROUNDING
            assert splitcredit.oob_attributions(forest, X).values.any()
            return
    pytest.fail("no tree has whole weights that are no counts")


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, **BALANCED),
        RandomForestClassifier(5, **BALANCED, max_samples=0.3, criterion="entropy"),
        RandomForestClassifier(5, **BALANCED, monotonic_cst=[1, -1, 1, 0, 0]),
        RandomForestRegressor(5, criterion="absolute_error", max_samples=0.5, random_state=0),
        RandomForestRegressor(
            5, criterion="absolute_error", monotonic_cst=[1, -1, 1, 0, 0], random_state=0
        ),
    ],
    ids=str,
)
def test_training_rows_and_targets_are_accepted(model):
    """Also ties of targets, whose median lies between two of them, and values set by bounds."""
    for seed in range(5):
        X, y = whole_numbers("values", 60, 5, seed)
        y = np.round(y) if isinstance(model, RandomForestRegressor) else y > 0
        for measure in MEASURES:
            assert np.isfinite(measure(model.fit(X, y), X, y).values).all()
