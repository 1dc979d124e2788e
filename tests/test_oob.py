"""Node scores by in-bag and out-of-bag rows: penalized Gini, UFI, MDI-oob."""

from dataclasses import replace
from functools import cache

import numba
import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import splitcredit
import twins
import twins_oob
from forests import fitted, whole_numbers
from splitcredit import to_forest
from splitcredit.attribution import from_arrays
from splitcredit.importances import mdi, mdi_oob, penalized_gini, ufi

PRESETS = penalized_gini.PRESETS
NEED_TRAINING_DATA = [penalized_gini.importance, ufi.importance, mdi_oob.importance]


def _small(kind, seed=0, **parameters):
    """A small bagged forest, deep enough for nodes without out-of-bag rows."""
    X, y = whole_numbers("values" if kind == "values" else "classes", 60, 5, seed)
    y = (y > 0).astype(int) if kind == "two classes" else y
    y = np.where(y == 2, "c", np.where(y == 1, "b", "a")) if kind == "three names" else y
    model = RandomForestRegressor if kind == "values" else RandomForestClassifier
    model = model(4, random_state=seed, max_features=2, **parameters).fit(X, y)
    return to_forest(model, X), X, y


def _rare():
    """Trees that saw one class only, beside others."""
    X = np.arange(8.0)[:, None] * np.ones((1, 2))
    y = np.array([0, 0, 0, 0, 0, 0, 0, 1])
    model = RandomForestClassifier(12, random_state=0).fit(X, y)
    return to_forest(model, X), X, y


def _one_row_drawn_all():
    """A tree without out-of-bag rows beside one with them."""
    forest, X, y = _small("two classes")
    counts = np.array(forest.inbag)
    counts[0] += counts[0] == 0
    return replace(forest, inbag=counts), X, y


CASES = {
    "two classes": lambda: _small("two classes"),
    "three names": lambda: _small("three names", seed=1),
    "values": lambda: _small("values", seed=2),
    "few rows drawn": lambda: _small("two classes", seed=3, max_samples=0.3),
    "trees of one class": _rare,
    "a tree without out-of-bag rows": _one_row_drawn_all,
}


@cache
def case(name):
    """Forest, X and y of one case."""
    return CASES[name]()


@pytest.mark.parametrize("name", CASES)
def test_all_presets_at_once_equal_the_twin(name):
    forest, X, y = case(name)
    importances = penalized_gini.importances(forest, X, y)
    assert list(importances) == list(PRESETS)
    for preset, settings in PRESETS.items():
        twin = twins_oob.penalized_gini(forest, X, y, **settings)
        assert twins.largest_error(importances[preset].values, twin) <= twins.ROUNDING, preset
        importance = penalized_gini.importance(forest, X, y, preset)
        assert importance.values.tobytes() == importances[preset].values.tobytes()
        assert importance.parameters == {"preset": preset, **settings}


SETTINGS = [
    {"alpha": 0.25, "penalty": 3.0, "correction": "own", "min_child_oob": 1},
    {"weights": "inbag", "min_child_oob": 1, "min_child_inbag": 2, "correction": "oob"},
    {"weights": "inbag", "min_child_oob": 3, "per_row": True, "alpha": 0.5, "penalty": 1.0},
]


@pytest.mark.parametrize("given", SETTINGS)
@pytest.mark.parametrize("name", CASES)
def test_other_settings_equal_the_twin(name, given):
    forest, X, y = case(name)
    settings = PRESETS["pg_10"] | given
    importance = penalized_gini.importance(forest, X, y, "pg_10", **given)
    twin = twins_oob.penalized_gini(forest, X, y, **settings)
    assert twins.largest_error(importance.values, twin) <= twins.ROUNDING
    assert importance.parameters == {"preset": "pg_10", **settings}


@pytest.mark.parametrize("name", CASES)
def test_ufi_equals_its_twin(name):
    forest, X, y = case(name)
    values = ufi.importance(forest, X, y).values
    assert twins.largest_error(values, twins_oob.ufi(forest, X, y)) <= twins.ROUNDING


@pytest.mark.parametrize("divide_by", ["rows", "targets"])
@pytest.mark.parametrize("rows", ["oob", "inbag"])
@pytest.mark.parametrize("name", CASES)
def test_mdi_oob_equals_its_twin(name, rows, divide_by):
    forest, X, y = case(name)
    options = {"rows": rows, "divide_by": divide_by}
    for output in ("all", forest.n_outputs - 1, forest.output_names[0]):
        columns = {"all": None, forest.output_names[0]: [0]}.get(output, [forest.n_outputs - 1])
        importance = mdi_oob.importance(forest, X, y, output=output, **options)
        twin = twins_oob.restricted_products(forest, X, y, columns=columns, **options)
        assert twins.largest_error(importance.values, twin) <= twins.ROUNDING


BAGGED = ["forest, gini, cancer", "forest, NaN", "forest, entropy, digits"]


@cache
def bagged(name):
    """Forest and training data of a fitted model, with 2, 3 or 10 classes."""
    model, X, y = fitted(name)
    return to_forest(model, X), X, y


@pytest.mark.parametrize("name", BAGGED)
def test_pg_051_with_oob_weights_is_mdi_oob(name):
    """Not printed; loecher2022, contribution 1 says it of PG(1, 2)."""
    forest, X, y = bagged(name)
    pg = penalized_gini.importance(forest, X, y, "mdi_oob").values
    np.testing.assert_allclose(pg, mdi_oob.importance(forest, X, y).values, rtol=0, atol=1e-12)


def test_pg_12_is_not_mdi_oob():
    """The counter-example to loecher2022, section 6: another order of the features, other signs."""
    rng = np.random.default_rng(0)
    X = np.stack([rng.integers(0, j + 1, 300) for j in range(1, 11)], axis=1).astype(float)
    y = (rng.random(300) < 0.3 + 0.4 * X[:, 0]).astype(int)
    forest = to_forest(RandomForestClassifier(20, max_features=3, random_state=0).fit(X, y), X)
    claimed = penalized_gini.importance(forest, X, y, "pg_12", per_row=True).values
    theirs = mdi_oob.importance(forest, X, y).values
    for factor in (0.5, 1.0):
        assert twins.largest_error(factor * claimed, theirs) > 0.1
    assert np.argmin(claimed) != np.argmin(theirs) or claimed.sum() * theirs.sum() < 0


@pytest.mark.parametrize("name", CASES)
def test_pg_12_is_the_decrease_of_the_squared_error_about_in_bag_means(name):
    """loecher2022, Eq. 18 to 21, for one-hot y; for a single column of two classes it is half."""
    forest, X, y = case(name)
    values = penalized_gini.importance(forest, X, y, "pg_12", per_row=True).values
    assert twins.largest_error(values, twins_oob.squared_error(forest, X, y)) <= twins.ROUNDING


@pytest.mark.parametrize("name", BAGGED)
def test_eq_10_over_in_bag_rows_is_mdi(name):
    """Gini MDI for all classes, half of it for one of two; whatever the criterion of the fit."""
    forest, X, y = bagged(name)
    values = mdi_oob.importance(forest, X, y, rows="inbag").values
    gini = penalized_gini.importance(forest, X, y, "mdi_inbag").values
    np.testing.assert_allclose(values, gini, rtol=0, atol=1e-12)
    if forest.criterion == "gini":
        np.testing.assert_allclose(values, mdi.importance(forest).values, rtol=0, atol=1e-12)
    if forest.n_outputs == 2:
        of_one_class = mdi_oob.importance(forest, X, y, rows="inbag", output=1).values
        np.testing.assert_allclose(2 * of_one_class, values, rtol=0, atol=1e-12)


def test_eq_10_of_a_regressor_is_variance_mdi():
    forest, X, y = case("values")
    values = mdi_oob.importance(forest, X, y, rows="inbag").values
    assert twins.largest_error(values, mdi.importance(forest).values) <= twins.ROUNDING


def test_eq_11_is_eq_10_over_the_in_bag_share_of_the_class():
    forest, X, y = bagged("forest, gini, cancer")
    for tree in list(twins_oob.trees(forest))[:3]:
        share = np.average(y, weights=tree.inbag[0])
        ten, eleven = (
            mdi_oob.importance(tree, X, y, "inbag", 1, by).values for by in ("rows", "targets")
        )
        np.testing.assert_allclose(share * eleven, ten, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["two classes", "values"])
def test_rows_that_weights_draw_more_often_are_in_bag_more_often(kind):
    """Red if in-bag rows are drawn anew without the weights of the fit: MDI is a sum over them."""
    X, y = whole_numbers("values" if kind == "values" else "classes", 60, 5, 0)
    weights = np.random.default_rng(0).uniform(0.1, 2, 60)
    model = RandomForestRegressor if kind == "values" else RandomForestClassifier
    model = model(5, random_state=0, max_depth=4).fit(X, y, sample_weight=weights)
    in_bag = mdi_oob.importance(model, X, y, "inbag").values
    assert twins.largest_error(in_bag, mdi.importance(model).values) <= twins.ROUNDING


def test_fits_with_weights_count_rows_without_them():
    """Their node values are no means of y, which is not held against y."""
    model, X, y = fitted("extra-trees, bagged, cancer")  # with class weights
    forest = to_forest(model, X)
    values = penalized_gini.importance(forest, X, y, "ufi").values
    no_values = replace(forest, value=np.zeros_like(forest.value), cover=2 * forest.cover)
    assert values.tobytes() == penalized_gini.importance(no_values, X, y, "ufi").values.tobytes()


def test_one_thread_and_two_give_the_same_bytes():
    forest, X, y = bagged("forest, entropy, digits")
    contents, threads = set(), numba.get_num_threads()
    try:
        for n in (1, 2):
            numba.set_num_threads(n)
            scores = penalized_gini.importances(forest, X, y)
            contents.add(b"".join(s.values.tobytes() for s in scores.values()))
    finally:
        numba.set_num_threads(threads)
    assert len(contents) == 1


@pytest.mark.parametrize("function", NEED_TRAINING_DATA)
def test_what_is_not_the_training_data_is_refused(function):
    forest, X, y = case("two classes")
    with pytest.raises(ValueError, match=r"does not say which rows.*with bootstrap=True"):
        function(replace(forest, inbag=None), X, y)
    with pytest.raises(ValueError, match=r"X has 59 rows, the forest was grown on 60"):
        function(forest, X[1:], y[1:])
    with pytest.raises(ValueError, match=r"not what the forest was grown on \(its hash differs\)"):
        function(forest, X[::-1], y)
    unknown = replace(forest, training_hash=None)
    with pytest.raises(ValueError, match=r"no in-bag row comes to some node"):
        function(unknown, np.zeros_like(X), y)
    with pytest.raises(ValueError, match=r"y is not what the forest was grown on"):
        function(forest, X, y[::-1])
    with pytest.raises(ValueError, match=r"y has shape \(59,\)"):
        function(forest, X, y[1:])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"preset": "pg"}, "preset='pg': available are 'pg_10'"),
        ({"weights": "all"}, "weights='all': available are 'inbag', 'oob'"),
        ({"correction": "both"}, "correction='both': available are 'none', 'own', 'oob'"),
        ({"weights": "inbag", "min_child_oob": 0}, "min_child_oob=0 with in-bag weights"),
    ],
)
def test_settings_that_there_are_not_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        penalized_gini.importance(*case("two classes"), **given)


@pytest.mark.parametrize("kind", [float, object, np.int16])
def test_counts_of_draws_may_be_of_any_type(kind):
    """Objects were a TypingError of the compiler."""
    forest, X, y = case("two classes")
    given = replace(forest, inbag=np.array(forest.inbag).astype(kind))
    importance = ufi.importance(given, X, y)
    assert importance.values.tobytes() == ufi.importance(forest, X, y).values.tobytes()


def test_a_mask_of_draws_counts_each_row_once():
    """It was a TypingError of the compiler."""
    X, y = whole_numbers("values", 60, 5, 0)
    model = BaggingRegressor(bootstrap=False, max_samples=0.5, random_state=0).fit(X, y)
    forest = to_forest(model)
    given = replace(forest, inbag=np.array(forest.inbag) > 0)
    importance = ufi.importance(given, X, y)
    assert importance.values.tobytes() == ufi.importance(forest, X, y).values.tobytes()


def test_settings_of_a_score_are_complete_and_known():
    """A misspelled one beside all others was passed over."""
    forest, X, y = case("two classes")
    for settings in ({"alpha": 1.0}, {**PRESETS["ufi"], "lambda": 2.0}):
        with pytest.raises(ValueError, match=r"settings of a score lack \[.*are none: give all of"):
            penalized_gini.importances(forest, X, y, {"mine": settings})


def test_settings_of_numpy_are_stored_as_plain_ones():
    """Their types were an error of JSON when the result was to be saved."""
    plain = {"alpha": 0.5, "penalty": 1.0, "min_child_oob": 1, "per_row": True}
    kinds = np.float32, np.int32, np.int64, np.bool_
    given = {name: kind(plain[name]) for name, kind in zip(plain, kinds, strict=True)}
    expected = penalized_gini.importance(*case("two classes"), **plain)
    stored = from_arrays(penalized_gini.importance(*case("two classes"), **given).to_arrays())
    assert stored.parameters == expected.parameters
    assert stored.values.tobytes() == expected.values.tobytes()


def test_names_of_scores_may_come_from_an_iterator():
    """A check read it, and there was no score left."""
    assert list(penalized_gini.importances(*case("two classes"), iter(["ufi"]))) == ["ufi"]


def test_choices_of_mdi_oob_that_there_are_not_are_refused():
    for choice in ({"rows": "all"}, {"divide_by": "n"}, {"output": 2}, {"output": True}):
        with pytest.raises(ValueError, match=next(iter(choice))):
            mdi_oob.importance(*case("two classes"), **choice)


@pytest.mark.parametrize("name", ["values", "two classes"])
def test_targets_may_be_off_by_1e_9_of_the_largest_value(name):
    """Rounding is far below, one wrong row far above."""
    forest, X, y = case(name)
    unit = 1e-9 * np.abs(forest.value).max()
    for shift in (0.9 * unit, -0.9 * unit):
        ufi.importance(replace(forest, value=forest.value + shift), X, y)
    for shift in (1.1 * unit, -1.1 * unit):
        with pytest.raises(ValueError, match="y is not what the forest was grown on"):
            ufi.importance(replace(forest, value=forest.value + shift), X, y)


def test_values_that_are_no_means_are_not_held_against_the_targets():
    """Nodes of a fit by absolute errors keep medians."""
    X, y = whole_numbers("values", 60, 5)
    model = RandomForestRegressor(2, criterion="absolute_error", max_depth=3, random_state=0)
    forest = to_forest(model.fit(X, y), X)
    values = ufi.importance(forest, X, y).values
    assert twins.largest_error(values, twins_oob.ufi(forest, X, y)) <= twins.ROUNDING


@pytest.mark.parametrize("label", [0, 1, "a", True])
@pytest.mark.parametrize("model", [RandomForestClassifier, BaggingClassifier], ids=str)
def test_a_forest_that_knows_one_class_credits_nothing(model, label):
    """Its one output is a fraction of 1 everywhere, whatever the rows."""
    X, y = np.arange(24.0).reshape(12, 2), np.full(12, label)
    model = model(n_estimators=3, random_state=0).fit(X, y)
    assert to_forest(model).output_names == (str(label),)
    for method in ("ufi", "mdi_oob", "mda", "penalized_gini", "oob_attributions", "sage"):
        values = splitcredit.importance(model, X, y, method=method).values
        np.testing.assert_array_equal(values, np.zeros(2), method)
    attribution = splitcredit.explain(model, X)
    assert not attribution.values.any() and attribution.baseline.tolist() == [1.0]
    with pytest.raises(ValueError, match=r"y holds \['b'\], which are no classes of the model"):
        ufi.importance(model, X, np.full(12, "b"))


@pytest.mark.parametrize("label", [None, 0])
def test_labels_that_have_no_order_are_named(label):
    """NumPy's own message names two types, and neither y nor the remedy."""
    X = np.arange(20.0)[:, None]
    y = np.array(["a", "b"] * 10, dtype=object)
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    y[3] = label
    with pytest.raises(ValueError, match=r"y holds labels of the types \w+, str, which cannot"):
        ufi.importance(model, X, y)
