"""Attributions of rows by trees they were in or out of the bag of, permutations; and AIR."""

import warnings
from dataclasses import replace

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from scipy import sparse
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import splitcredit
import twins
import twins_oob
from forests import fitted, grow, leaf, split, whole_numbers
from splitcredit import air, explain, mda, mdi_oob, oob_importance, penalized_gini, to_forest, ufi
from splitcredit.measures.conditional_permutation import orders_within_cells
from splitcredit.measures.mda import permutations
from twins_oob import case
from twins_tree_shap import tree_shap_by_sizes

conditional_permutation = splitcredit.conditional_permutation
METHODS = {"saabas": twins.saabas, "tree_shap": tree_shap_by_sizes}


CASES = ["two classes", "three names", "values", "a tree without out-of-bag rows"]


@pytest.mark.parametrize("rows", ["inbag", "oob"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CASES)
def test_oob_attributions_equal_the_twin(name, method, rows):
    forest, X, _ = case(name)
    twin = twins_oob.oob_attributions(forest, X, rows, METHODS[method])
    outputs = {"all": slice(None), 0: [0], forest.output_names[-1]: [-1]}
    for output, columns in outputs.items():
        found = splitcredit.oob_attributions(
            forest, X, attribution=method, rows=rows, output=output
        )
        assert twins.largest_error(found.values, twin[:, :, columns]) <= twins.ROUNDING
        assert found.output_names == tuple(np.array(forest.output_names)[columns])
        assert not found.baseline.any()


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


@pytest.mark.parametrize("weigh_by", ["absolute", "y", "centered_y"])
@pytest.mark.parametrize("output", ["all", 0])
@pytest.mark.parametrize("name", CASES)
def test_importances_are_means_over_rows(name, output, weigh_by):
    """A covariance has the error of pairs of rows, whose trees know each other."""
    forest, X, y = case(name)
    targets = np.array(twins_oob.one_hot(forest, y), float)
    targets = targets if output == "all" else targets[:, :1]
    if weigh_by == "centered_y":
        targets = targets - targets.mean(axis=0)
    for method in METHODS:
        options = {"attribution": method, "output": output}
        phi = splitcredit.oob_attributions(forest, X, **options).values
        weights = np.sign(phi) if weigh_by == "absolute" else targets[:, None]
        found = oob_importance(forest, X, y, weigh_by=weigh_by, **options)
        expected = (phi * weights).sum(axis=2).mean(axis=0)
        assert twins.largest_error(found.values, expected) <= twins.ROUNDING
        centered = phi - phi.mean(axis=0) if weigh_by == "centered_y" else phi
        error = (centered * weights).sum(axis=2).std(axis=0) / len(X) ** 0.5
        error *= 2**0.5 if weigh_by == "centered_y" else 1
        assert twins.largest_error(found.standard_error, error) <= twins.ROUNDING
        assert found.parameters == {**options, "rows": "oob", "weigh_by": weigh_by}


@pytest.mark.parametrize("name", [*CASES, "NaN"])
def test_mda_equals_the_twin(name):
    model, X, y = fitted("forest, NaN")
    forest, X, y = case(name) if name in CASES else (to_forest(model, X), X, y)
    by_tree = twins_oob.loss_increases(forest, X, y, permutations(forest.n_features, 3))
    by_tree = by_tree[~np.isnan(by_tree).any(axis=1)]
    raw = mda(forest, X, y, random_state=3)
    assert twins.largest_error(raw.values, by_tree.mean(axis=0)) <= twins.ROUNDING
    error = by_tree.std(axis=0) / len(by_tree) ** 0.5
    assert twins.largest_error(raw.standard_error, error) <= twins.ROUNDING
    scaled = mda(forest, X, y, scaled=True, random_state=3)
    expected = [v / e if e else v for v, e in zip(by_tree.mean(axis=0), error, strict=True)]
    assert twins.largest_error(scaled.values, expected) <= 1e3 * twins.ROUNDING
    assert np.isnan(scaled.standard_error).all()


def test_mda_has_other_orders_for_another_seed_and_for_another_tree():
    """The twin takes its orders from the measure, so it would agree with any."""
    seed_0, seed_1 = (mda(*case("values"), random_state=seed).values for seed in (0, 1))
    assert not np.array_equal(seed_0, seed_1)
    orders = permutations(4, 3)
    assert not np.array_equal(orders(0, 50), orders(1, 50))
    assert (np.sort(orders(0, 50), axis=1) == np.arange(50)).all()
    assert (orders(0, 50) != np.arange(50)).any(axis=1).all()


@pytest.mark.parametrize("name", [*CASES, "NaN"])
def test_conditional_orders_and_values_equal_the_twin(name):
    """Red if a value on a split point, or a missing one, is in another cell."""
    model, X, y = fitted("forest, NaN")
    forest, X, y = case(name) if name in CASES else (to_forest(model, X), X, y)
    rows, drawn = forest.prepare(X), permutations(forest.n_features, 3)
    twin = twins_oob.orders_within_cells(forest, rows, drawn, 0.1)
    orders = orders_within_cells(forest, rows, drawn, 0.1, {})
    for t, n in enumerate((forest.inbag == 0).sum(axis=1)):
        assert np.array_equal(orders(t, n), twin(t, n))
        assert n == 0 or (orders(t, n) != drawn(t, n)).any()
    expected = np.nanmean(twins_oob.loss_increases(forest, X, y, twin), axis=0)
    found = conditional_permutation(forest, X, y, threshold=0.1, random_state=3)
    assert twins.largest_error(found.values, expected) <= twins.ROUNDING


def test_conditional_permutation_by_hand(monkeypatch):
    """Out-of-bag rows are (0, 0), (1, 0), (0, 1), (1, 1), predicted without error as 0, 1, 0, 3.

    All orders are 3, 2, 0, 1. The cells of x0 are rows 0, 1 and 2, 3. The first two are drawn in
    their order and stay; the last two swap: 3 for 0 and 0 for 3, errors 0, 0, 9, 9, mean 4.5. The
    cells of x1 are rows 0, 2 and 1, 3, and both swap: errors 0, 4, 0, 4, mean 2. Without cells x0
    becomes 1, 0, 0, 1: errors 1, 1, 0, 0. The correlation of all rows is 4 / sqrt(240) = .258.
    """
    tree = split(0, 0.5, leaf(0.0, 2), split(1, 0.5, leaf(1.0), leaf(3.0)))
    forest = grow([tree], 2, criterion="squared_error", inbag=[[0, 0, 0, 0, 1, 1, 1, 1]])
    X = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0, 0], [0, 0], [1, 0], [1, 1]], float)
    y, orders = [0, 1, 0, 3, 0, 0, 1, 3], np.array([[3, 2, 0, 1]] * 2)
    monkeypatch.setattr("splitcredit.measures.mda.permutations", lambda *_: lambda *_: orders + 0)
    assert conditional_permutation(forest, X, y, threshold=0.25).values.tolist() == [4.5, 2.0]
    assert conditional_permutation(forest, X, y, threshold=0.26).values.tolist() == [0.5, 2.0]


def test_a_feature_that_only_copies_another_one_loses_its_credit():
    """Red if cells are not by the other feature. Where nothing is correlated, MDA is the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    X[:, 1] = X[:, 0] + 0.5 * X[:, 1]
    y = X[:, 0] + 0.3 * rng.normal(size=1000)
    model = RandomForestRegressor(50, min_samples_leaf=10, max_features=1, random_state=0).fit(X, y)
    with warnings.catch_warnings(action="error"):
        cause, copy, noise = conditional_permutation(model, X, y).values
    marginal = mda(model, X, y).values
    assert marginal[1] > 0.35 * marginal[0]  # over seeds .45 to .55, below .03 to .05, .06 to .08
    assert copy < 0.15 * marginal[1] and copy < 0.2 * cause and abs(noise) < 0.1 * cause
    X = np.c_[X, X[:, 0], np.exp(X[:, 1])]
    model = RandomForestRegressor(20, max_features=1, random_state=0).fit(X, y)
    found = conditional_permutation(model, X, y, threshold=1)
    assert found.values.tobytes() == mda(model, X, y).values.tobytes()
    with pytest.warns(UserWarning, match=r"cells for features such as 'x0' \(4 in all\)"):
        conditional_permutation(model, X, y)
    with pytest.raises(ValueError, match=r"threshold=1\.5: expected a number from 0 to 1"):
        conditional_permutation(model, X, y, threshold=1.5)


def test_without_any_out_of_bag_row_only_in_bag_rows_are_measured():
    """Red if zeros read as if every feature were noise."""
    _, X, y = case("two classes")
    model = BaggingClassifier(n_estimators=3, bootstrap=False, random_state=0).fit(X, y)
    for measure in (mda, ufi, mdi_oob, penalized_gini, oob_importance):
        with pytest.raises(ValueError, match="no tree has an out-of-bag row: fit with bootstrap"):
            measure(model, X, y)
    assert mdi_oob(model, X, y, rows="inbag").values.any()
    assert splitcredit.oob_attributions(model, X, rows="inbag").values.any()
    assert penalized_gini(model, X, y, preset="mdi_inbag").values.any()


@pytest.mark.parametrize("explain_rows", [True, False])
def test_forests_that_predict_otherwise_than_they_grew_are_refused_with_the_cause(explain_rows):
    """As those that scikit-learn before 1.8 grew on NaN; without NaN that is not the cause."""
    model, X, y = fitted("forest, NaN")
    forest = to_forest(model)
    other = replace(forest, missing_left=~forest.missing_left)
    for rows, cause in ((X, "scikit-learn before 1.8"), (np.nan_to_num(X), "their order$")):
        with pytest.raises(ValueError, match=rf"not what the forest was grown on .*{cause}"):
            explain(other, rows, "oob_attributions") if explain_rows else ufi(other, rows, y)


# AIR.

X, VALUES = whole_numbers("values", 80, 3)
CLASSES = whole_numbers("classes", 80, 3)[1]
IS_MASKED, DAYS = np.arange(80) % 7 == 0, np.arange(80).astype("m8[D]").astype("m8[ns]")


@pytest.mark.parametrize("kind", ["classes", "values"])
def test_air_is_mdi_minus_that_of_the_shadows(kind):
    X, y = whole_numbers(kind, 80, 4)
    model = RandomForestClassifier if kind == "classes" else RandomForestRegressor
    model = model(5, max_features=3, random_state=1)
    importance = air(model, X, y, random_state=2)
    order = np.random.default_rng(2).permutation(80)
    assert not hasattr(model, "estimators_")
    with_shadows = model.fit(np.hstack([X, X[order]]), y)
    trees = [e.tree_.compute_feature_importances(normalize=False) for e in with_shadows.estimators_]
    mean = 80 * np.mean(trees, axis=0)
    assert twins.largest_error(importance.values, mean[:4] - mean[4:]) <= twins.ROUNDING
    assert importance.values[-1] == 0.0 and importance.feature_names == ("x0", "x1", "x2", "x3")
    assert importance.parameters == {"random_state": 2} and importance.method == "air"


def test_air_takes_order_and_names_of_the_features_from_a_fitted_model():
    """Importances of a model fitted on columns in the order of a table that is given."""
    table, unfitted = pd.DataFrame(X, columns=list("abc")), RandomForestClassifier(4)
    unfitted.set_params(random_state=0)
    model = RandomForestClassifier(4, random_state=0).fit(table, CLASSES)
    expected = air(unfitted, X, CLASSES).values.tobytes()
    for one, given in ((model, table[list("cab")]), (model, X), (unfitted, table)):
        importance = air(one, given, CLASSES)
        assert importance.feature_names == tuple("abc")
        assert importance.values.tobytes() == expected
    with pytest.raises(ValueError, match="X has 2 features, the model was fitted on 3"):
        air(model, X[:, :2], CLASSES)


def test_air_takes_missing_values_of_pandas_and_constraints_of_all_features():
    with_gaps, model = X.copy(), RandomForestRegressor(3, random_state=0)
    with_gaps[::7, 0] = np.nan
    importance = air(model, pd.DataFrame(with_gaps).astype("Float64"), VALUES)
    assert importance.values.tobytes() == air(model, with_gaps, VALUES).values.tobytes()
    constrained = HistGradientBoostingRegressor(interaction_cst="no_interactions", max_iter=2)
    assert len(air(constrained, X, VALUES).values) == 3


FOREST, OF_CLASSES = RandomForestRegressor(3), RandomForestClassifier(3)
ROWS_BELOW_A_MASK = np.ma.masked_array(X, np.repeat(IS_MASKED[:, None], 3, axis=1))
TABLE_OF_DAYS = pd.DataFrame(X, columns=list("abc")).assign(b=DAYS)


@pytest.mark.parametrize(
    ("model", "rows", "targets", "message"),
    [
        (OF_CLASSES, X[:, 0], CLASSES, r"X has 1 dimension\(s\), expected 2"),
        (FOREST, sparse.csr_matrix(X), VALUES, r"X is sparse: pass X\.toarray\(\)"),
        # It was fitted on what lies below the mask, and on numbers of nanoseconds.
        (FOREST, ROWS_BELOW_A_MASK, VALUES, r"X has masked values, .*filled\(np.nan\)"),
        (FOREST, TABLE_OF_DAYS, VALUES, "column 'b' holds timedelta64"),
        (FOREST, X, np.ma.masked_array(VALUES, IS_MASKED), "y has masked values: leave them out"),
        (OF_CLASSES, X, np.ma.masked_array(CLASSES, IS_MASKED), "y has masked values: leave them"),
        (FOREST, X, DAYS, "y has dates or times: pass numbers"),
        (FOREST, X, pd.Series(pd.Timestamp("2020") + DAYS), "y has dates or times: pass numbers"),
    ],
)
def test_air_refuses_rows_and_targets_that_do_not_fit(model, rows, targets, message):
    with pytest.raises(ValueError, match=message):
        air(model, rows, targets)


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
    with pytest.raises(ValueError, match=f"{name}=.* is for single features, and AIR adds a shad"):
        air(model, X, VALUES)


def test_air_refuses_what_it_cannot_fit():
    forest, rows, y = case("two classes")
    with pytest.raises(TypeError, match="Forest cannot be fitted: pass an unfitted estimator"):
        air(forest, rows, y)
    with pytest.raises(TypeError, match="the class RandomForestClassifier cannot be fitted"):
        air(RandomForestClassifier, rows, y)


@pytest.mark.parametrize("seed", [None, -1, 0.5])
def test_a_seed_is_a_whole_number_from_0(seed):
    model = RandomForestRegressor(2, random_state=0).fit(X, VALUES)
    for method in (mda, air):
        with pytest.raises(ValueError, match=r"random_state=.*whole number"):
            method(model, X, VALUES, random_state=seed)
