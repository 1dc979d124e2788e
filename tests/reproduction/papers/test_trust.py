"""The study trust: its yardsticks against hand-made cases, and the matrix that they fill."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

import splitcredit
from batches import Batch
from forests import grow, leaf, split
from reproduction import datasets, metrics
from reproduction.datasets import Dataset
from reproduction.papers.trust import _cells, _consistency
from reproduction.peers import random_order
from splitcredit.prediction_gap.randomizing import randomized_rmse
from splitcredit.results.attribution import Importance

SPLIT = {"dataset": "standardized_split", "test_share": 0.4}


def scores(values, **columns):
    rows = [(i, f"x{j}", v) for i, row in values.items() for j, v in enumerate(row)]
    table = pd.DataFrame(rows, columns=["importance", "feature", "value"])
    return table.assign(**{"data": "trust_d", "repeat": 1, "model": "m"} | columns)


def inputs(**more):
    """Tables of one data set: `a` keeps its order with another seed, and the halves turn it."""
    order = {"a": [1.0, 2.0, 3.0], "equal": [1.0, 1.0, 1.0]}
    again = [scores(order, variant=v) for v in ("other_seed", "first_half")]
    again.append(scores({"a": [3.0, 2.0, 1.0], "equal": [1.0, 1.0, 1.0]}, variant="second_half"))
    tables = {"trust_bagged/scores": scores(order), "trust_bagged_again/scores": pd.concat(again)}
    return tables | {f"trust_{name.replace('__', '/')}": table for name, table in more.items()}


def yardstick(values, name=None, **columns):
    """A table of a metric, one value for each of the repeats 1, 2, ..."""
    rows = [(i, r, v) for i, of in values.items() for r, v in enumerate(of, 1)]
    table = pd.DataFrame(rows, columns=["importance", "repeat", "value"])
    named = {} if name is None else {"yardstick": name}
    return table.assign(**{"data": "trust_d", "model": "m", "why_empty": ""} | named | columns)


def test_agreement_is_one_for_the_same_order_and_minus_one_for_the_reverse():
    """Red if halves were compared with the whole, or equal scores counted as an order."""
    cells = _cells.by_seed(inputs(bagged__y=yardstick({"a": [0.0]})))
    found = cells.set_index(["measure", "yardstick"])["value"]
    assert found["a", "agreement_seeds"] == 1.0
    assert found["a", "agreement_halves"] == -1.0
    assert found["equal", "agreement_seeds"] == 0.0


def test_a_new_measure_or_yardstick_has_its_row_and_every_empty_cell_its_reason():
    tables = inputs(
        bagged__noise=yardstick({"a": [1.0, 2.0, 3.0], "new": [2.0, 2.0, 2.0]}, "error"),
        boosted__noise=yardstick({"new": [np.nan]}, "error", why_empty="it is no number"),
        boosted__other=yardstick({"new": [-0.5]}),
    )
    cells = _cells.by_seed(tables)
    table = _cells.matrix(cells, {"a": "ufi"}, ["error"], ["other"], {"boosted": {"equal": "no"}})
    found = table.set_index(["model", "measure", "yardstick"])
    assert found.index.is_unique
    assert (found["value"].isna() == found["why_empty"].notna()).all()
    assert found.loc[("bagged", "a", "error"), ["value", "score", "n_seeds"]].tolist() == [2, -2, 3]
    half_width = 4.302652729911275 / np.sqrt(3)  # t of 2 degrees of freedom
    assert found.loc[("bagged", "a", "error"), "low"] == pytest.approx(2 - half_width)
    assert found.loc[("boosted", "new", "other"), "score"] == -0.5
    assert found.loc[("boosted", "new", "error"), "why_empty"] == "it is no number"
    assert found.loc[("boosted", "equal", "other"), "why_empty"] == "no"
    assert "grown without" in found.loc[("boosted", "a", "other"), "why_empty"]
    assert (table["data"] == "d").all()


def marginal_contributions(f, is_global):
    """What feature 0 adds to every set of the others, from the definition."""
    values = {}
    for S in [S for k in range(4) for S in combinations(range(3), k)]:
        unknown = tuple(j for j in range(3) if j not in S)
        mean = f.mean(axis=unknown, keepdims=True)
        values[S] = mean.var() if is_global else mean[tuple(1 if j in S else 0 for j in range(3))]
    return np.array([values[0, *S] - values[S] for S in values if 0 not in S])


def test_feature_0_matters_more_in_the_second_tree_of_every_pair():
    """Red if a pair violated the premise: then a fall of the credit would be no violation."""
    pairs = _consistency.drawn(20, seed=1)
    for is_global, of_game in pairs.items():
        for first, second in of_game:
            before, after = (
                marginal_contributions(y[:8].reshape(2, 2, 2), is_global)
                for _, y in (first, second)
            )
            assert (after >= before - 1e-12).all()
            assert (
                np.abs(first[0].predict(np.indices([2] * 3).reshape(3, -1).T)[:, 0] - first[1][:8])
                < 1e-12
            ).all()


def test_shapley_values_are_consistent_and_path_methods_are_not():
    pairs = _consistency.drawn(30, seed=0)

    def falls(method, is_global, **parameters):
        return _consistency.share_of_falls(method, parameters, is_global, pairs)[0]

    assert falls("tree_shap", False, output="predicted") == 0
    assert falls("tree_shap_interventional", False, output="predicted") == 0
    assert falls("sage", True, algorithm="exact", loss="mse") == 0
    assert 0 < falls("saabas", False, output="predicted") < 0.5
    assert 0 < falls("mdi", True) < 0.5
    assert 0 < falls("random_order", True) < 0.7
    assert 0 <= falls("ufi", True) < 0.5  # it takes rows that are in no bag
    assert np.isnan(falls("air", True)) and np.isnan(falls("rank", False))


def test_a_random_order_scores_what_chance_says():
    """Red if it were the same for every forest, or knew the features' places."""
    data = Dataset(np.zeros((2, 8)), np.zeros(2), tuple("abcdefgh"), relevant=(0, 1))
    X, y = np.random.default_rng(0).random((30, 8)), np.arange(30.0)
    forest = splitcredit.to_forest(RandomForestRegressor(1, random_state=0).fit(X, y))
    forests = [replace(forest, value=forest.value + k) for k in range(400)]
    orders = {str(k): random_order.importance(f) for k, f in enumerate(forests)}
    table = metrics.metric("known_truth")(orders, data, data)
    area = table[table["yardstick"] == "auc"]["value"]
    power = table[table["yardstick"] == "power"]["value"]
    for values, chance in ((area, 0.5), (power, 2 / 8)):
        assert abs(values.mean() - chance) < 4 * values.sem()
    assert table[table["yardstick"] == "bias"]["why_empty"].ne("").all()


def test_bias_is_the_correlation_with_the_numbers_of_values():
    X = np.column_stack([np.arange(12) % k for k in (2, 3, 4)])
    data = Dataset(X, np.zeros(12), ("a", "b", "c"))
    orders = {"many": Importance(np.array([1.0, 2, 3]), list("abc"), "m", {})}
    orders |= {"equal": Importance(np.ones(3), list("abc"), "m", {})}
    table = metrics.metric("known_truth")(orders, data, data, null=True)
    found = table.set_index(["importance", "yardstick"])
    assert found.loc[("many", "bias"), "value"] == 1.0
    assert found.loc[("equal", "bias"), "value"] == 0.0
    assert found.loc[("many", "auc"), "why_empty"] != ""


@pytest.fixture(scope="module")
def three_classes():
    """A forest of iris that knows no fourth feature, its rows, and two measures."""
    X, y = load_iris(return_X_y=True)
    X = X[:, [0, 2, 3]]
    model = RandomForestClassifier(10, min_samples_leaf=5, random_state=0).fit(X, y)
    forest = splitcredit.to_forest(model)
    data = Dataset(X[::10], y[::10], tuple("abc"), ("0", "1", "2"))
    computed = {"mdi": splitcredit.importance(forest, method="mdi")}
    computed |= {"tree_shap": splitcredit.tree_shap(forest, data.X, output="predicted")}
    return forest, data, Dataset(X, y, tuple("abc"), ("0", "1", "2")), computed


def test_gaps_of_classes_are_those_of_the_predicted_one(three_classes):
    """Red if all rows were measured by one class."""
    forest, data, _, computed = three_classes
    table = metrics.metric("order_gaps")(computed, forest, data, n_rows=9, searched=3)
    found = table.set_index(["importance", "yardstick"])["value"]
    best = splitcredit.rank(forest, data.X[:9], by="pgi2_optimum", scale=0.3)
    largest = splitcredit.faithfulness(forest, data.X[:9], best, scale=0.3).mean()
    for name in computed:
        ranking = splitcredit.rank(forest, data.X[:9], by=name)
        for metric in ("pgi2", "pgu2"):
            of_library = splitcredit.faithfulness(forest, data.X[:9], ranking, metric, scale=0.3)
            assert found[name, metric] == pytest.approx(of_library.mean(), rel=1e-12)
        assert found[name, "pgi2_share"] == pytest.approx(found[name, "pgi2"] / largest, rel=1e-9)


def test_errors_of_classes_are_those_of_the_true_one(three_classes):
    forest, data, training, _ = three_classes
    true = forest.predict(data.X)[np.arange(len(data.X)), data.y]
    # As if a feature without effect came first.
    forest = replace(forest, feature_names=(*"abc", "d"))
    data, training = (
        replace(d, X=np.column_stack([d.X, np.zeros(len(d.X))]), feature_names=tuple("abcd"))
        for d in (data, training)
    )
    first = {"d": Importance(np.array([0.0, 0, 0, 1]), list("abcd"), "m", {})}
    table = metrics.metric("randomized_first")(first, forest, data, training, n_rows=99)
    assert table["value"][0] == pytest.approx(np.sqrt(((1 - true) ** 2).mean()), rel=1e-12)
    known = []

    def refit(X, y):
        known.append(X.shape)
        return RandomForestClassifier(10, min_samples_leaf=5, random_state=0).fit(X, y)

    table = metrics.metric("removed_first")(first, data, training, refit)
    assert known == [(150, 3)]
    assert table["value"][0] == pytest.approx(np.sqrt(((1 - true) ** 2).mean()), rel=1e-12)


def test_errors_of_numbers_are_those_of_the_library():
    X = np.random.default_rng(0).random((60, 4))
    y = X[:, 0] + X[:, 1]
    data, training = (Dataset(X[a:b], y[a:b], tuple("abcd")) for a, b in ((0, 20), (20, 60)))
    forest = splitcredit.to_forest(RandomForestRegressor(5, random_state=0).fit(X[20:], y[20:]))
    shap = splitcredit.tree_shap(forest, data.X)
    how = {"n_draws": 7, "random_state": 3}
    table = metrics.metric("randomized_first")(
        {"s": shap}, forest, data, training, n_rows=20, **how
    )
    ranking = splitcredit.rank(forest, data.X, by="tree_shap").rankings
    of_library = randomized_rmse(forest, data.X, data.y, ranking, [1], training.X, **how)
    assert table["value"][0] == pytest.approx(of_library.rmse[0], rel=1e-12)
    added = metrics.metric("additivity")(
        {"s": shap, "m": splitcredit.importance(forest)}, forest, data
    )
    assert added["value"][0] < 1e-12
    assert added["why_empty"][1].startswith("one number a feature")


def test_the_first_of_two_classes_is_compared_with_its_own_score():
    """The forest has the score of the second."""
    X = np.arange(30.0)[:, None]
    model = GradientBoostingClassifier(n_estimators=3).fit(X, np.repeat([0, 1], [20, 10]))
    forest, data = splitcredit.to_forest(model), Dataset(X, np.zeros(30), ("a",))
    of_predicted = {"s": splitcredit.saabas(forest, X, output="predicted")}
    assert metrics.metric("additivity")(of_predicted, forest, data)["value"][0] < 1e-12


def test_steps_of_a_row_are_those_of_the_table_of_measures():
    """T = 2 trees of L = 4 leaves of depth D = 2, d = 3 features, n = 4 rows and b = 5 others."""
    half = [split(1, 0.5, leaf(0.0), leaf(1.0)) for _ in range(4)]
    forest = grow([split(0, 0.5, *half[:2]), split(0, 0.5, *half[2:])], 3)
    data, training = (Dataset(np.zeros((n, 3)), np.zeros(n), tuple("abc")) for n in (4, 5))
    expected = {"splits": 4, "ufi": 4, "air": 24, "tree_shap_interventional": 40, "sage": 105}
    given = {"n_permutations": 7}
    scores = {m: Importance(np.ones(3), data.feature_names, m, given) for m in expected}
    table = metrics.metric("measures")(scores, forest, data, training)
    assert dict(zip(table["importance"], table["steps"], strict=True)) == expected
    assert table["is_global"].all()


def test_measures_of_bags_take_the_rows_that_the_trees_were_grown_on(tmp_path):
    """Red if they were given the rows of the test, which they refuse."""
    data = datasets.load(SPLIT | {"of": "iris"})
    model = {"estimator": "RandomForestClassifier", "n_estimators": 5}
    batch = Batch(tmp_path, data, model).fit()
    found = batch.explained(importance="ufi")
    forest = RandomForestClassifier(5, random_state=batch_seed(model)).fit(
        data.training.X, data.training.y
    )
    expected = splitcredit.ufi(forest, data.training.X, data.training.y)
    assert np.array_equal(found.values, expected.values)
    assert batch.explained(importance="permutation").values.max() > 0.1
    ranked = batch.explained(importance="rank", scale=0.3, n_rows=2)
    by_shap = splitcredit.rank(forest, data.explained.X[:2], scale=0.3).rankings
    assert np.array_equal(ranked.values[:, :, 0].argsort(axis=1)[:, ::-1], by_shap)


def batch_seed(model):
    from reproduction import seeds

    return seeds.derive(model, 0, "model")


def test_halves_are_of_one_split_and_share_no_row():
    """Red if the half were part of the seed: then the two would be of different splits."""
    recipe = SPLIT | {"of": "noisy_features", "options": {"n_samples": 50, "n_features": 20}}
    whole = datasets.load(recipe | {"n_training": 21}, 3)
    halves = [datasets.load(recipe | {"n_training": 21, "half": h}, 3) for h in ("first", "second")]
    assert [len(half.training.X) for half in halves] == [11, 10]
    together = np.concatenate([half.training.X for half in halves])
    assert sorted(map(tuple, together)) == sorted(map(tuple, whole.training.X))
    for half in halves:
        assert np.array_equal(half.explained.X, whole.explained.X)
    with pytest.raises(ValueError, match=r"^options: noisy_features has no parameter rows"):
        datasets.load(recipe | {"options": {"rows": 3}})
