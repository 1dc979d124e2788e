"""What metrics of rankings share: sets that several rankings begin with, and who is first."""

from dataclasses import replace

import numpy as np
import pytest

from forests import grow, leaf, split
from reproduction.datasets import Dataset
from reproduction.metrics import _global, _rankings, metric, pgi_agreement
from splitcredit import Attribution
from splitcredit._ranks import by_values
from splitcredit.attribution import Importance
from splitcredit.gaps.rankings import first_of_same, of_attribution
from splitcredit.importances import pg2_greedy


@pytest.mark.parametrize("d", [1, 31, 32, 40, 62, 63, 70])
def test_sets_are_the_same_if_all_features_are(d):
    """Also the features behind the 31st and the 62nd, where integers of bits end."""
    rng = np.random.default_rng(d)
    ends = rng.random((3, 8, d)) < 0.5
    # Sets that differ in one feature only, and copies.
    for j in (0, d // 2, d - 1, max(0, d - 32)):
        changed_set = ends[:, -1:].copy()
        changed_set[:, :, j] ^= True
        ends = np.concatenate([ends, changed_set, ends[:, :1]], axis=1)
    first_equal = first_of_same(ends)
    for row, firsts in zip(ends, first_equal, strict=True):
        for a, first in zip(row, firsts, strict=True):
            assert (row[first] == a).all()
            if d <= 62:  # without sharing every set is its own first
                assert first == next(k for k, b in enumerate(row) if (a == b).all())


def test_exact_values_are_equal_that_differ_by_1e_12_at_most():
    ours = np.array([1.0, 1.0, 1.0 + 1.1e-12, 1.0, 0.0, 0.0, 1e-300])
    theirs = np.array([1.0, 1.0 + 0.9e-12, 1.0, 1.0 + 1.1e-12, 0.0, 1e-300, 0.0])
    assert pgi_agreement._order(ours, theirs).tolist() == [0, 0, 1, -1, 0, -1, 1]


def test_rankings_that_exact_values_hold_for_equal_are_left_out_of_the_unequal():
    """Steps up and down. A row as near to both, one nearer to the first, one out of reach."""
    rising, falling = split(0, 0.5, leaf(0.0), leaf(1.0)), split(1, -0.5, leaf(1.0), leaf(0.0))
    forest = grow([rising, falling], 2, aggregate="sum")
    X = np.array([[0.0, 0.0], [0.0, 5.0], [-99.0, 99.0]])
    orders = {"forth": [2.0, 1.0], "back": [1.0, 2.0]}
    attributions = {
        name: Attribution(np.tile(values, (3, 1))[:, :, None], [0.0], ["x0", "x1"], ["o"], name)
        for name, values in orders.items()
    }
    data = Dataset(X, np.zeros(3), ("x0", "x1"))
    table = metric("pgi_agreement")(attributions, forest, data, [1.0], 101)
    of_pair = table[table["other"] == "back"].set_index("quantity")[["value", "n_rows"]]
    # Of 101 samples not as many are above 1/2 as below -1/2: not alike in the first row.
    assert of_pair.loc["alike"].tolist() == [pytest.approx(2 / 3), 3]
    assert of_pair.loc["alike_unequal"].tolist() == [1.0, 1]
    assert of_pair.loc["swapped"].tolist() == [0.0, 3]


def test_rankings_of_other_noise_are_no_changes_by_arithmetic():
    """A ranking for Laplace noise was compared with that for normal noise of the same scale."""
    steps = [split(0, 1.5, leaf(0.0), leaf(1.0)), split(1, 6.0, leaf(0.0), leaf(12.0))]
    forest, X = grow(steps, 2, aggregate="sum"), np.zeros((1, 2))
    ranked = {
        noise: pg2_greedy.rank(forest, X, sigma=1.0, noise=noise)
        for noise in ("normal", "laplace", "uniform")
    }
    assert of_attribution(ranked["normal"]).tolist() != of_attribution(ranked["laplace"]).tolist()
    table = metric("ranking_changes")(ranked | {"again": ranked["laplace"]})
    assert not table.loc[table["quantity"] == "order", "value"].any()
    places = -ranked["laplace"].values + 3.0
    turned = {"again": replace(ranked["laplace"], values=places)}
    changed = metric("ranking_changes")(ranked | turned)
    changed = changed[changed["quantity"] == "order"].groupby("ranking")["value"].max()
    assert changed.to_dict() == {"normal": 0, "laplace": 0, "uniform": 0, "again": 1}


def test_a_global_ranking_goes_by_values_as_in_the_library():
    """By absolute values, the feature that is worse than noise would be the first."""
    scores = Importance([1.0, -3.0, 2.0], ("a", "b", "c"), "air")
    assert _rankings.rankings({"air": scores}, 2)["air"].tolist() == [[2, 0, 1]] * 2
    assert by_values(scores, 2).rankings.tolist() == [[2, 0, 1]] * 2


def test_two_importances_of_one_name_in_tables_are_refused():
    """One took the place of the other, and leads over it were 0."""
    scores = {name: Importance([1.0, 2.0], ("a", "b"), "mdi") for name in ("tree_shap", "shap")}
    with pytest.raises(ValueError, match="tree_shap and shap are both called shap in tables"):
        _rankings.rankings(scores, 2)


def test_a_global_score_is_the_mean_absolute_attribution():
    attribution = Attribution(np.array([[[1.0]], [[-3.0]]]), np.zeros(1), ("x",), ("y",), "m")
    assert _global.global_scores(attribution)[0].tolist() == [2.0]
