"""What tells the training rows and targets of a forest from others, where weights hide counts."""

import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier

import splitcredit
import twins
import twins_oob
from forests import whole_numbers
from splitcredit import to_forest
from splitcredit.importances import _training

MEASURES = [splitcredit.ufi, splitcredit.mda, splitcredit.oob_importance]
BALANCED = {"class_weight": "balanced_subsample", "bootstrap": True, "random_state": 0}


def turned(X, y, wrong):
    """The data with the rows, the targets, or both in another order than in training."""
    return (X[::-1] if wrong != "y" else X), (y[::-1] if wrong != "X" else y)


@pytest.mark.parametrize("wrong", ["X", "y", "both"])
@pytest.mark.parametrize(
    "model",
    [
        # No weight is a count there, and values are no means of y: nothing was compared.
        RandomForestClassifier(5, max_depth=4, **BALANCED),
        ExtraTreesClassifier(5, max_depth=4, **BALANCED),
        # All trees have the weights of the whole data there.
        BaggingClassifier(
            DecisionTreeClassifier(max_depth=4, class_weight="balanced"), 6, random_state=0
        ),
        # Nodes keep medians and no means, so that targets were not compared.
        RandomForestRegressor(5, criterion="absolute_error", max_depth=4, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_rows_and_targets_in_another_order_are_refused(model, wrong):
    kind = "values" if isinstance(model, RandomForestRegressor) else "classes"
    X, y = whole_numbers(kind, 60, 5, 0)
    model.fit(X, y)
    for measure in MEASURES:
        assert np.isfinite(measure(model, X, y).values).all()
        with pytest.raises(ValueError, match="not what the forest was grown on"):
            measure(model, *turned(X, y, wrong))


@pytest.mark.parametrize("n_trees", [2, 3, 4, 9])
def test_weights_of_classes_are_known_by_more_trees_than_classes(n_trees):
    """Weights of rows make no such sums, and are not held against the covers."""
    rng = np.random.default_rng(n_trees)
    counts, weights = rng.integers(1, 20, (n_trees, 3)), np.array([0.5, 2.0, 3.25])
    n_rows = counts.sum(axis=1).astype(float)
    common = _training._common_weights(counts * weights, n_rows)
    if n_trees <= 3:
        assert common is None
    else:
        np.testing.assert_allclose(common, np.tile(weights, (n_trees, 1)), rtol=1e-12)
        assert _training._common_weights(counts * rng.uniform(1, 2, (n_trees, 3)), n_rows) is None


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


def test_weights_of_classes_are_found_again_among_many_rows():
    """Red if they are taken for none, since the rounding of their sums grows with the rows."""
    y, given = np.random.default_rng(0).integers(0, 3, 20000), np.array([0.37, 1 / 3, 1.7])
    weights = np.array([np.bincount(y[k:], minlength=3) for k in range(0, 6000, 1000)]) * given
    of_row = _training._common_weights(weights, 20000.0 - np.arange(0, 6000, 1000))
    assert twins.largest_error(of_row, np.tile(given, (6, 1))) <= _training._SAME_MEAN
