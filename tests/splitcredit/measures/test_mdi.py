"""Global MDI against its twin, scikit-learn and a printed example."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

import splitcredit
import twins
from forests import (
    BOOSTED,
    FITTED,
    boosted,
    fitted,
    grow,
    leaf,
    split,
    stump,
)
from splitcredit import explain, to_forest


def importance(forest, normalize="none"):
    return splitcredit.mdi(forest, normalize=normalize).values


@pytest.mark.parametrize("name", [*FITTED, *(n for n in BOOSTED if n.startswith("gradient"))])
def test_mdi_by_trees_is_feature_importances_(name):
    model, _, _ = fitted(name) if name in FITTED else boosted(name)
    ours = importance(to_forest(model), normalize="trees")
    assert twins.largest_error(ours, model.feature_importances_) <= twins.ROUNDING


def test_example_2_of_sutera2021():
    """P(Y=1) = 1/4; Y is known for x = 1 and even for x = 0: I(Y; X) bits.

    The printed -0.19 and +0.81: a feature can make the output of a row less certain.
    """
    entropy = -(0.25 * math.log2(0.25) + 0.75 * math.log2(0.75))
    tree = split(0, 0.5, leaf(0.5, 2.0, 1.0), leaf(0.0, 2.0, 0.0), impurity=entropy)
    forest = grow([tree], 1)
    assert importance(forest)[0] == pytest.approx(entropy - 0.5, abs=twins.ROUNDING)
    values = explain(forest, [[0.0], [1.0]], "local_mdi").values[:, 0, 0]
    np.testing.assert_array_equal(values, [entropy - 1.0, entropy])
    assert [f"{v:.2f}" for v in values] == ["-0.19", "0.81"]


@pytest.mark.parametrize("normalize", ["none", "trees"])
def test_splits_without_a_decrease_have_no_importance(normalize):
    forest = replace(stump(), impurity=np.zeros(3))
    np.testing.assert_array_equal(importance(forest, normalize), np.zeros(3))


def test_a_tree_without_a_split_adds_nothing_whatever_its_impurity():
    """By the Poisson criterion it is infinite where all targets in the bag are 0."""
    X, y = np.random.default_rng(0).normal(size=(60, 4)), np.zeros(60)
    y[:2] = 1
    model = RandomForestRegressor(50, criterion="poisson", random_state=0).fit(X, y)
    assert not np.isfinite(to_forest(model).impurity).all()
    theirs = model.feature_importances_
    assert twins.largest_error(importance(model, "trees"), theirs) <= twins.ROUNDING
    assert np.isfinite(explain(model, X, "local_mdi").values).all()


def test_what_does_not_fit_is_refused():
    trees = [split(0, 0.5, leaf(0.0), leaf(1.0)) for _ in range(2)]
    for node in range(6):
        impurity = np.where(np.arange(6) == node, np.nan, 1.0)
        forest = replace(grow(trees, 1), impurity=impurity)
        with pytest.raises(ValueError, match=f"^MDI reads impurities, and tree {node // 3} has on"):
            importance(forest)
    forest = replace(stump(), impurity=None)
    with pytest.raises(ValueError, match=r"^MDI needs the impurity.*Forest\(impurity=\.\.\.\)"):
        splitcredit.mdi(forest)
    with pytest.raises(ValueError, match=r"local MDI needs the impurity.*Forest\(impurity=\.\.\."):
        explain(forest, np.zeros((1, 3)), "local_mdi")
    with pytest.raises(ValueError, match="normalize='sum': available are 'none', 'trees'"):
        splitcredit.mdi(stump(), normalize="sum")


# Local MDI, and what sutera2021 proves of it.

UNBAGGED = ["forest, unbagged, wine"]
UNBAGGED += [
    name
    for name in FITTED
    if name.startswith(("tree", "extra-trees"))
    and not any(word in name for word in ("weighted", "poisson", "bagged"))
]


@pytest.mark.parametrize("name", UNBAGGED)
def test_the_mean_over_the_training_rows_is_global_mdi(name):
    """Eq. 9 of sutera2021."""
    model, X, _ = fitted(name)
    attribution = explain(model, X, "local_mdi")
    mean = attribution.values[:, :, 0].mean(axis=0)
    assert twins.largest_error(mean, importance(model)) <= twins.ROUNDING
    assert attribution.output_names == (to_forest(model).criterion,)
    assert not attribution.baseline.any()
