"""Attributions of rows by trees they were in or out of the bag of (CFC, SHAP), MDA; and AIR."""

from dataclasses import replace
from functools import cache, partial

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from scipy import sparse, stats
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import splitcredit
import twins
import twins_oob
from forests import fitted, whole_numbers
from splitcredit import air, explain, mda, mdi_oob, oob_importance, penalized_gini, to_forest, ufi
from splitcredit.measures.mda import permutations
from twins_tree_shap import tree_shap_by_sizes

METHODS = {"saabas": twins.saabas, "tree_shap": tree_shap_by_sizes}


@cache
def case(name):
    """Forest, training rows and targets."""
    X, y = whole_numbers("values" if name == "values" else "classes", 60, 5, 4)
    y = (y > 0).astype(int) if name == "two classes" else y
    model = RandomForestRegressor if name == "values" else RandomForestClassifier
    model = model(4, random_state=0, max_depth=5).fit(X, y)
    forest = to_forest(model, X)
    if name == "a tree without out-of-bag rows":
        counts = np.array(forest.inbag)
        counts[1] += 1
        forest = replace(forest, inbag=counts)
    return forest, X, y


CASES = ["two classes", "three classes", "values", "a tree without out-of-bag rows"]


@pytest.mark.parametrize("rows", ["inbag", "oob"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CASES)
def test_oob_attributions_equal_the_twin(name, method, rows):
    forest, X, _ = case(name)
    attribution = splitcredit.oob_attributions(forest, X, attribution=method, rows=rows)
    twin = twins_oob.oob_attributions(forest, X, rows, METHODS[method])
    assert twins.largest_error(attribution.values, twin) <= twins.ROUNDING
    assert attribution.method == "oob_attributions" and not attribution.baseline.any()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["forest, gini, cancer", "forest, NaN", "forest, NaN, regression"])
def test_in_bag_and_out_of_bag_add_up_to_the_forest(name, method):
    """With more rows than a span, NaN, and trees without a split."""
    model, X, _ = fitted(name)
    forest = to_forest(model, X)
    parts = [
        splitcredit.oob_attributions(forest, X, attribution=method, rows=rows).values
        for rows in ("inbag", "oob")
    ]
    assert all(part.any() for part in parts)
    assert twins.largest_error(sum(parts), explain(forest, X, method).values) <= twins.ROUNDING


@pytest.mark.parametrize("method", METHODS)
def test_one_output_is_its_column_of_all(method):
    forest, X, _ = case("three classes")
    all_outputs = splitcredit.oob_attributions(forest, X, attribution=method)
    for c, label in enumerate(forest.output_names):
        for output in (c, label):
            one_output = splitcredit.oob_attributions(forest, X, attribution=method, output=output)
            assert one_output.output_names == (label,)
            error = twins.largest_error(one_output.values[:, :, 0], all_outputs.values[:, :, c])
            assert error <= twins.ROUNDING


@pytest.mark.parametrize("weigh_by", ["absolute", "y", "centered_y"])
@pytest.mark.parametrize("output", ["all", 0])
@pytest.mark.parametrize("name", CASES)
def test_importances_are_means_over_rows(name, output, weigh_by):
    forest, X, y = case(name)
    for method in METHODS:
        values = splitcredit.oob_attributions(forest, X, attribution=method, output=output).values
        targets = np.array(twins_oob.one_hot(forest, y), float)
        targets = targets if output == "all" else targets[:, :1]
        expected, of_rows = np.zeros(forest.n_features), np.zeros((len(X), forest.n_features))
        for c in range(values.shape[2]):
            for k in range(forest.n_features):
                phi, target = values[:, k, c], targets[:, c]
                weight = {"absolute": np.sign(phi), "y": target}.get(
                    weigh_by, target - target.mean()
                )
                expected[k] += (phi * weight).sum() / len(X)
                is_centered = weigh_by == "centered_y"
                of_rows[:, k] += (phi - phi.mean() if is_centered else phi) * weight
        importance = splitcredit.oob_importance(
            forest, X, y, attribution=method, output=output, weigh_by=weigh_by
        )
        assert twins.largest_error(importance.values, expected) <= twins.ROUNDING
        squares = ((of_rows - of_rows.mean(axis=0)) ** 2).sum(axis=0) / len(X) ** 2
        error = np.sqrt((1 + is_centered) * squares)
        assert twins.largest_error(importance.standard_error, error) <= twins.ROUNDING
        parameters = {"attribution": method, "rows": "oob", "output": output, "weigh_by": weigh_by}
        assert importance.parameters == parameters


def test_intervals_of_the_covariance_with_the_outcome_include_zero_if_outcomes_are_permuted():
    """Spread over rows alone covers 85 to 90 % in place of 95: trees of a pair know each other."""
    rng, covered = np.random.default_rng(0), []
    X = np.stack([rng.integers(0, 2, 60), rng.integers(0, 10, 60), rng.random(60)], axis=1)
    y = rng.normal(size=60)
    for seed in range(120):
        permuted = rng.permutation(y)
        model = RandomForestRegressor(15, random_state=seed, max_depth=4).fit(X, permuted)
        debiased = splitcredit.oob_importance(model, X, permuted, weigh_by="centered_y")
        covered.append(np.abs(debiased.values) <= 1.96 * debiased.standard_error)
    # Trees that are not linear in the outcomes need less than the factor for pairs.
    low = stats.binom.ppf(0.001, 120 * 3, 0.95) / (120 * 3)
    assert low <= np.mean(covered) < 1


def test_weighted_contributions_tell_a_useless_feature_from_a_useful_one():
    """loecher2022, Fig. 5: in-bag a number of the row looks useful, out-of-bag and weighted not."""
    rng = np.random.default_rng(0)
    X = np.stack([rng.integers(0, 2, 400), rng.permutation(400)], axis=1).astype(float)
    y = X[:, 0] * 0.4 + 0.3 > rng.random(400)
    model = RandomForestRegressor(50, random_state=0, max_features=1).fit(X, y.astype(float))
    forest = to_forest(model, X)
    score = partial(splitcredit.oob_importance, forest, X, y.astype(float), weigh_by="y")
    in_bag, out_of_bag = score(rows="inbag").values, score(rows="oob").values
    assert in_bag[1] > in_bag[0]
    assert abs(out_of_bag[1]) < 0.2 * out_of_bag[0]


@pytest.mark.parametrize("name", CASES)
def test_mda_equals_the_twin(name):
    forest, X, y = case(name)
    orders = permutations(forest.n_features, 3)
    by_tree = twins_oob.loss_increases(forest, X, y, orders)
    by_tree = by_tree[~np.isnan(by_tree).any(axis=1)]
    raw = splitcredit.mda(forest, X, y, random_state=3)
    assert twins.largest_error(raw.values, by_tree.mean(axis=0)) <= twins.ROUNDING
    error = by_tree.std(axis=0) / len(by_tree) ** 0.5
    assert twins.largest_error(raw.standard_error, error) <= twins.ROUNDING
    scaled = splitcredit.mda(forest, X, y, scaled=True, random_state=3)
    expected = [v / e if e else v for v, e in zip(by_tree.mean(axis=0), error, strict=True)]
    assert twins.largest_error(scaled.values, expected) <= 1e3 * twins.ROUNDING
    assert np.isnan(scaled.standard_error).all() and scaled.values[-1] == 0.0


def test_mda_with_nan_equals_the_twin():
    model, X, y = fitted("forest, NaN")
    forest = to_forest(model, X)
    by_tree = twins_oob.loss_increases(forest, X, y, permutations(forest.n_features, 0))
    values = splitcredit.mda(forest, X, y).values
    assert twins.largest_error(values, by_tree.mean(axis=0)) <= twins.ROUNDING


@pytest.mark.parametrize("measure", [mda, ufi, mdi_oob, penalized_gini, oob_importance])
def test_without_any_out_of_bag_row_a_measure_of_them_is_refused(measure):
    """Zeros that read as if every feature were noise."""
    _, X, y = case("two classes")
    model = BaggingClassifier(n_estimators=3, bootstrap=False, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"no tree has an out-of-bag row: fit with bootstrap=True"):
        measure(model, X, y)


def test_in_bag_rows_are_measured_without_any_out_of_bag_row():
    _, X, y = case("two classes")
    model = BaggingClassifier(n_estimators=3, bootstrap=False, random_state=0).fit(X, y)
    assert splitcredit.mdi_oob(model, X, y, rows="inbag").values.any()
    assert splitcredit.oob_attributions(model, X, rows="inbag").values.any()
    assert splitcredit.penalized_gini(model, X, y, preset="mdi_inbag").values.any()


def test_air_takes_order_and_names_of_the_features_from_a_fitted_model():
    """Importances of a model fitted on columns in the order of a table that is given."""
    X, y = whole_numbers("classes", 60, 5, 4)
    table = pd.DataFrame(X, columns=list("abcde"))
    model = RandomForestClassifier(4, random_state=0, max_depth=5).fit(table, y)
    expected = splitcredit.air(model, table, y)
    for given in (table[list("debca")], X):
        importance = splitcredit.air(model, given, y)
        assert importance.feature_names == tuple("abcde")
        assert importance.values.tobytes() == expected.values.tobytes()
    unfitted = splitcredit.air(RandomForestClassifier(4, random_state=0, max_depth=5), table, y)
    assert unfitted.values.tobytes() == expected.values.tobytes()
    with pytest.raises(ValueError, match="X has 3 features, the model was fitted on 5"):
        splitcredit.air(model, X[:, :3], y)
    with pytest.raises(TypeError, match="the class RandomForestClassifier cannot be fitted"):
        splitcredit.air(RandomForestClassifier, X, y)


@pytest.mark.parametrize("kind", ["classes", "values"])
def test_air_is_mdi_minus_that_of_the_shadows(kind):
    X, y = whole_numbers(kind, 80, 4)
    model = RandomForestClassifier if kind == "classes" else RandomForestRegressor
    model = model(5, max_features=3, random_state=1)
    importance = splitcredit.air(model, X, y, random_state=2)
    order = np.random.default_rng(2).permutation(80)
    with_shadows = model.fit(np.hstack([X, X[order]]), y)
    trees = [e.tree_.compute_feature_importances(normalize=False) for e in with_shadows.estimators_]
    mean = 80 * np.mean(trees, axis=0)
    assert twins.largest_error(importance.values, mean[:4] - mean[4:]) <= twins.ROUNDING
    assert importance.values[-1] == 0.0 and importance.feature_names == ("x0", "x1", "x2", "x3")


def test_air_leaves_the_estimator_alone_and_takes_names():
    X, y = whole_numbers("classes", 80, 3)
    model = RandomForestClassifier(3, random_state=0)
    importance = splitcredit.air(model, pd.DataFrame(X, columns=list("abc")), y)
    assert not hasattr(model, "estimators_") and importance.feature_names == ("a", "b", "c")
    assert importance.values.tobytes() == splitcredit.air(model, X, y).values.tobytes()
    assert importance.parameters == {"random_state": 0} and importance.method == "air"


def test_air_refuses_what_it_cannot_fit():
    forest, X, y = case("two classes")
    with pytest.raises(TypeError, match="Forest cannot be fitted: pass an unfitted estimator"):
        splitcredit.air(forest, X, y)
    with pytest.raises(ValueError, match=r"X has 1 dimension\(s\), expected 2"):
        splitcredit.air(RandomForestClassifier(), X[:, 0], y)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (RandomForestRegressor(3, monotonic_cst=[1, 0, 0]), "monotonic_cst"),
        (RandomForestRegressor(3, monotonic_cst=np.array([1, 0, 0])), "monotonic_cst"),
        (HistGradientBoostingRegressor(interaction_cst=[[0, 1]]), "interaction_cst"),
        (xgboost.XGBRegressor(monotone_constraints=(1, 0, 0)), "monotone_constraints"),
        (lightgbm.LGBMRegressor(monotone_constraints=[1, 0, 0]), "monotone_constraints"),
        # A feature that is never split by its categories had a shadow that was split as a number.
        (lightgbm.LGBMRegressor(categorical_feature=[0]), "categorical_feature"),
    ],
)
def test_air_refuses_settings_for_single_features(model, name):
    """Shadows did not have them: the fit failed, or compared features with what is unlike them."""
    X, y = whole_numbers("values", 80, 3)
    with pytest.raises(ValueError, match=f"{name}=.* is for single features, and AIR adds a shad"):
        splitcredit.air(model, X, y)
    for_all_features = HistGradientBoostingRegressor(interaction_cst="no_interactions", max_iter=2)
    assert len(splitcredit.air(for_all_features, X, y).values) == 3


def test_air_takes_missing_values_of_pandas_and_names_sparse_rows():
    X, y = whole_numbers("values", 80, 3)
    with pytest.raises(ValueError, match=r"X is sparse: pass X\.toarray\(\)"):
        splitcredit.air(RandomForestRegressor(3), sparse.csr_matrix(X), y)
    X[::7, 0] = np.nan
    model = RandomForestRegressor(3, random_state=0)
    importance = splitcredit.air(model, pd.DataFrame(X).astype("Float64"), y)
    assert importance.values.tobytes() == splitcredit.air(model, X, y).values.tobytes()


def test_air_refuses_masked_values_and_times():
    """It was fitted on what lies below the mask, and on numbers of nanoseconds."""
    X, y = whole_numbers("values", 80, 3)
    is_masked, days = np.arange(80) % 7 == 0, np.arange(80).astype("m8[D]").astype("m8[ns]")
    rows = np.ma.masked_array(X, np.repeat(is_masked[:, None], 3, axis=1))
    table = pd.DataFrame(X, columns=list("abc")).assign(b=days)
    for given, targets, message in (
        (rows, y, r"X has masked values, .*filled\(np.nan\)"),
        (X, np.ma.masked_array(y, is_masked), "y has masked values: leave them out"),
        (X, days, "y has dates or times: pass numbers"),
        (X, pd.Series(pd.Timestamp("2020-01-01") + days), "y has dates or times: pass numbers"),
        (table, y, "column 'b' holds timedelta64"),
    ):
        with pytest.raises(ValueError, match=message):
            splitcredit.air(RandomForestRegressor(3), given, targets)
    with pytest.raises(ValueError, match="y has masked values: leave them out"):
        classes = np.ma.masked_array(np.arange(80) % 2, is_masked)
        splitcredit.air(RandomForestClassifier(3), X, classes)


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_forests_with_monotonic_constraints_know_their_training_rows(kind):
    """Scikit-learn sets values between those of the children of a node above."""
    X, y = whole_numbers("values", 90, 4, 6)
    y = y > np.median(y) if kind is RandomForestClassifier else y
    model = kind(6, monotonic_cst=[1, -1, 0, 0], random_state=0).fit(X, y)
    assert np.isfinite(splitcredit.ufi(model, X, y).values).all()
    with pytest.raises(ValueError, match="y is not what the forest was grown on"):
        splitcredit.ufi(model, X, y[::-1])


@pytest.mark.parametrize("explain_rows", [True, False])
def test_forests_that_predict_otherwise_than_they_grew_are_refused_with_the_cause(explain_rows):
    """As those that scikit-learn before 1.8 grew on NaN; without NaN that is not the cause."""
    model, X, y = fitted("forest, NaN")
    forest = to_forest(model)
    other = replace(forest, missing_left=~forest.missing_left)
    for rows, cause in ((X, "scikit-learn before 1.8"), (np.nan_to_num(X), "their order$")):
        with pytest.raises(ValueError, match=rf"not what the forest was grown on .*{cause}"):
            if explain_rows:
                explain(other, rows, "oob_attributions")
            else:
                splitcredit.ufi(other, rows, y)


def test_attributions_of_rows_that_the_forest_did_not_see_are_refused():
    X, y = whole_numbers("values", 90, 4, 6)
    model = RandomForestRegressor(6, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="X is not what the forest was grown on"):
        explain(model, X[::-1], "oob_attributions")


@pytest.mark.parametrize("method", [mda, air])
@pytest.mark.parametrize("seed", [None, -1, 0.5])
def test_a_seed_is_a_whole_number_from_0(method, seed):
    X, y = whole_numbers("values", 30, 4, 6)
    model = RandomForestRegressor(2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"random_state=.*whole number"):
        method(model, X, y, random_state=seed)


def test_mda_has_other_orders_for_another_seed_and_for_another_tree():
    """The twin takes its orders from the measure, so it would agree with any."""
    forest, X, y = case("values")
    seed_0, seed_1 = (splitcredit.mda(forest, X, y, random_state=seed).values for seed in (0, 1))
    assert not np.array_equal(seed_0, seed_1)
    orders = permutations(4, 3)
    assert not np.array_equal(orders(0, 50), orders(1, 50))
    assert (np.sort(orders(0, 50), axis=1) == np.arange(50)).all()
    assert (orders(0, 50) != np.arange(50)).any(axis=1).all()
