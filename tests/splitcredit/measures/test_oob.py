"""Node scores by in-bag and out-of-bag rows: penalized Gini, UFI, MDI-oob."""

from dataclasses import replace
from itertools import product
from math import comb

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
from forests import fitted, grow, leaf, split, whole_numbers
from splitcredit import Forest, to_forest
from splitcredit.measures import penalized_gini
from splitcredit.results.attribution import from_arrays
from twins_oob import CASES, case

PRESETS = penalized_gini.PRESETS
NEED_TRAINING_DATA = [
    splitcredit.penalized_gini,
    splitcredit.ufi,
    splitcredit.mdi_oob,
    splitcredit.mda,
    splitcredit.conditional_permutation,
    splitcredit.oob_importance,
]


SETTINGS = [
    {"alpha": 0.25, "penalty": 3.0, "correction": "own", "min_child_oob": 1},
    {"weights": "inbag", "min_child_oob": 1, "min_child_inbag": 2, "correction": "oob"},
    {"weights": "inbag", "min_child_oob": 3, "per_row": True, "alpha": 0.5, "penalty": 1.0},
]


@pytest.mark.parametrize("name", CASES)
def test_penalized_gini_equals_the_twin(name):
    forest, X, y = case(name)
    at_once = penalized_gini.importances(forest, X, y)
    assert list(at_once) == list(PRESETS)
    for preset, given in [*((preset, {}) for preset in PRESETS), *(("pg_10", g) for g in SETTINGS)]:
        settings = PRESETS[preset] | given
        found = splitcredit.penalized_gini(forest, X, y, preset=preset, **given)
        twin = twins_oob.penalized_gini(forest, X, y, **settings)
        assert twins.largest_error(found.values, twin) <= twins.ROUNDING, (preset, given)
        assert found.parameters == {"preset": preset, **settings}
        assert given or found.values.tobytes() == at_once[preset].values.tobytes()


@pytest.mark.parametrize("name", CASES)
def test_ufi_equals_its_twin(name):
    forest, X, y = case(name)
    values = splitcredit.ufi(forest, X, y).values
    assert twins.largest_error(values, twins_oob.ufi(forest, X, y)) <= twins.ROUNDING


@pytest.mark.parametrize("name", ["two classes", "three names", "trees of one class"])
def test_presets_of_penalized_gini_are_the_measures_that_they_are_named_after(name):
    forest, X, y = case(name)
    for preset in ("mdi_oob", "mdi_inbag", "ufi"):
        found = splitcredit.penalized_gini(forest, X, y, preset=preset)
        if preset == "ufi":
            expected = splitcredit.ufi(forest, X, y)
        else:
            expected = splitcredit.mdi_oob(forest, X, y, rows=preset.removeprefix("mdi_"))
        assert twins.largest_error(found.values, expected.values) <= twins.ROUNDING, preset


@pytest.mark.parametrize("divide_by", ["rows", "targets"])
@pytest.mark.parametrize("rows", ["oob", "inbag"])
@pytest.mark.parametrize("name", CASES)
def test_mdi_oob_equals_its_twin(name, rows, divide_by):
    forest, X, y = case(name)
    options = {"rows": rows, "divide_by": divide_by}
    columns_of = {"all": None, forest.n_outputs - 1: [-1], forest.output_names[0]: [0]}
    for output, columns in columns_of.items():
        importance = splitcredit.mdi_oob(forest, X, y, output=output, **options)
        twin = twins_oob.restricted_products(forest, X, y, columns=columns, **options)
        assert twins.largest_error(importance.values, twin) <= twins.ROUNDING


@pytest.mark.parametrize("name", ["forest, gini, cancer", "forest, NaN", "forest, entropy, digits"])
def test_eq_10_over_in_bag_rows_is_mdi(name):
    """Gini MDI for all classes, half of it for one of two; whatever the criterion of the fit."""
    model, X, y = fitted(name)
    forest = to_forest(model, X)
    values = splitcredit.mdi_oob(forest, X, y, rows="inbag").values
    gini = splitcredit.penalized_gini(forest, X, y, preset="mdi_inbag").values
    np.testing.assert_allclose(values, gini, rtol=0, atol=1e-12)
    if forest.criterion == "gini":
        np.testing.assert_allclose(values, splitcredit.mdi(forest).values, rtol=0, atol=1e-12)
    if forest.n_outputs == 2:
        of_one_class = splitcredit.mdi_oob(forest, X, y, rows="inbag", output=1).values
        np.testing.assert_allclose(2 * of_one_class, values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("weights", [None, np.random.default_rng(0).uniform(0.1, 2, 60)])
@pytest.mark.parametrize("kind", ["two classes", "values"])
def test_rows_that_weights_draw_more_often_are_in_bag_more_often(kind, weights):
    """Red if in-bag rows are drawn anew without the weights of the fit: MDI is a sum over them."""
    _, X, y = case(kind)
    model = RandomForestRegressor if kind == "values" else RandomForestClassifier
    model = model(5, random_state=0, max_depth=4).fit(X, y, sample_weight=weights)
    in_bag = splitcredit.mdi_oob(model, X, y, rows="inbag").values
    assert twins.largest_error(in_bag, splitcredit.mdi(model).values) <= twins.ROUNDING


def test_fits_with_weights_count_rows_without_them():
    """Their node values are no means of y, which is not held against y."""
    model, X, y = fitted("extra-trees, bagged, cancer")  # with class weights
    forest = to_forest(model, X)
    no_values = replace(forest, value=np.zeros_like(forest.value), cover=2 * forest.cover)
    with_values, without = (
        splitcredit.penalized_gini(f, X, y, preset="ufi").values for f in (forest, no_values)
    )
    assert with_values.tobytes() == without.tobytes()


@pytest.mark.parametrize("function", NEED_TRAINING_DATA)
def test_what_is_not_the_training_data_is_refused(function):
    forest, X, y = case("two classes")
    unknown = replace(forest, training_hash=None)
    for given, rows, targets, message in (
        (replace(forest, inbag=None), X, y, "does not say which rows.*with bootstrap=True"),
        (forest, X[1:], y[1:], "X has 59 rows, the forest was grown on 60"),
        (forest, X[::-1], y, r"not what the forest was grown on \(its hash differs\)"),
        (unknown, 0 * X, y, r"(no|other numbers of) in-bag rows? comes? to (some|its) node"),
        (forest, X, y[::-1], "y is not what the forest was grown on"),
        (forest, X, y[1:], r"y has shape \(59,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            function(given, rows, targets)


@pytest.mark.parametrize("name", ["values", "two classes"])
def test_targets_may_be_off_by_1e_9_of_the_largest_value(name):
    """Rounding is far below, one wrong row far above."""
    forest, X, y = case(name)
    unit = 1e-9 * np.abs(forest.value).max()
    for shift in (0.9 * unit, -0.9 * unit):
        splitcredit.ufi(replace(forest, value=forest.value + shift), X, y)
    for shift in (1.1 * unit, -1.1 * unit):
        with pytest.raises(ValueError, match="y is not what the forest was grown on"):
            splitcredit.ufi(replace(forest, value=forest.value + shift), X, y)


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_forests_with_monotonic_constraints_know_their_training_rows(kind):
    """Scikit-learn sets values between those of the children of a node above."""
    X, y = whole_numbers("values", 90, 4, 6)
    y = y > np.median(y) if kind is RandomForestClassifier else y
    model = kind(6, monotonic_cst=[1, -1, 0, 0], random_state=0).fit(X, y)
    assert np.isfinite(splitcredit.ufi(model, X, y).values).all()
    with pytest.raises(ValueError, match="y is not what the forest was grown on"):
        splitcredit.ufi(model, X, y[::-1])


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        ("penalized_gini", {"preset": "pg"}, "preset='pg': available are 'pg_10'"),
        ("penalized_gini", {"weights": "all"}, "weights='all': available are 'inbag', 'oob'"),
        ("penalized_gini", {"correction": "both"}, "correction='both': available are 'none', 'own"),
        ("penalized_gini", {"weights": "inbag", "min_child_oob": 0}, "min_child_oob=0 with in-bag"),
        ("penalized_gini", {"alpha": np.nan}, "alpha="),
        ("penalized_gini", {"penalty": "a"}, "penalty="),
        ("penalized_gini", {"per_row": "no"}, "per_row="),
        ("penalized_gini", {"min_child_oob": 1.5}, "min_child_oob="),
        ("mdi_oob", {"rows": "all"}, "rows"),
        ("mdi_oob", {"divide_by": "n"}, "divide_by"),
        ("mdi_oob", {"output": 2}, "output"),
        ("mdi_oob", {"output": True}, "output"),
        ("oob_importance", {"attribution": "sage"}, "attribution="),
        ("oob_importance", {"rows": "all"}, "rows="),
        ("oob_importance", {"weigh_by": "x"}, "weigh_by="),
        ("oob_importance", {"output": "d"}, "output="),
    ],
)
def test_settings_that_there_are_not_are_refused(function, given, message):
    with pytest.raises(ValueError, match=message):
        getattr(splitcredit, function)(*case("two classes"), **given)


@pytest.mark.parametrize("kind", [float, object, np.int16, bool])
def test_counts_of_draws_may_be_of_any_type(kind):
    """Objects and masks were a TypingError of the compiler."""
    X, y = whole_numbers("values", 60, 5, 0)
    model = BaggingRegressor(bootstrap=False, max_samples=0.5, random_state=0).fit(X, y)
    forest = to_forest(model)
    importance = splitcredit.ufi(replace(forest, inbag=np.array(forest.inbag).astype(kind)), X, y)
    assert importance.values.tobytes() == splitcredit.ufi(forest, X, y).values.tobytes()


def test_settings_and_names_of_scores_are_complete_plain_and_known():
    """Types of NumPy were an error of JSON; a misspelled setting beside all others was no error."""
    small = case("two classes")
    plain = {"alpha": 0.5, "penalty": 1.0, "min_child_oob": 1, "per_row": True}
    kinds = np.float32, np.int32, np.int64, np.bool_
    given = {name: kind(plain[name]) for name, kind in zip(plain, kinds, strict=True)}
    expected = splitcredit.penalized_gini(*small, **plain)
    stored = from_arrays(splitcredit.penalized_gini(*small, **given).to_arrays())
    assert stored.parameters == expected.parameters
    assert stored.values.tobytes() == expected.values.tobytes()
    for settings in ({"alpha": 1.0}, {**PRESETS["ufi"], "lambda": 2.0}):
        with pytest.raises(ValueError, match=r"settings of a score lack \[.*are unknown: give"):
            penalized_gini.importances(*small, {"mine": settings})
    # A check read the iterator, and there was no score left.
    assert list(penalized_gini.importances(*small, iter(["ufi"]))) == ["ufi"]


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
    with pytest.raises(ValueError, match=r"y holds \['b'\], which are not classes of the model"):
        splitcredit.ufi(model, X, np.full(12, "b"))


@pytest.mark.parametrize("label", [None, 0])
def test_labels_that_have_no_order_are_named(label):
    """NumPy's own message names two types, and neither y nor the remedy."""
    forest, X, y = case("three names")
    y = y.astype(object)
    y[3] = label
    with pytest.raises(ValueError, match=r"y holds labels of the types \w+, str, which cannot"):
        splitcredit.ufi(forest, X, y)


# Penalized Gini on examples small enough for paper, and on one scored by the author's package.


def one_split(inbag, oob):
    """A split of one feature with (rows, ones) in-bag and out-of-bag on the left and the right."""
    X, y, counts = [], [], []
    for side, times_drawn in ((inbag, 1), (oob, 0)):
        for place, (n, ones) in enumerate(side):
            X += n * [[float(place)]]
            y += ones * [1] + (n - ones) * [0]
            counts += n * [times_drawn]
    tree = split(0, 0.5, *(leaf([1 - s / n, s / n], float(n)) for n, s in inbag))
    forest = grow([tree], 1, inbag=np.array([counts], np.uint8), output_names=("0", "1"))
    return forest, np.array(X), np.array(y)


@pytest.mark.parametrize(
    ("preset", "given", "expected"),
    [
        ("mdi_inbag", {"per_row": False}, 10 / 3),
        ("pg_10", {}, 27 / 14),
        ("pg_hat_10", {}, 2.0),
        ("ufi", {"per_row": False}, 3.0),
        ("pg_051", {}, 2.0),
        ("pg_hat_051", {}, 2.146825396825),
        ("pg_hat_051", {"weights": "inbag"}, 3.269274376417),
        ("pg_12", {}, 4 / 3),
    ],
)
def test_one_split_by_hand(preset, given, expected):
    forest, X, y = one_split([(6, 5), (4, 0)], [(3, 3), (4, 1)])
    values = splitcredit.penalized_gini(forest, X, y, preset=preset, **given).values
    assert values[0] == pytest.approx(expected, abs=1e-11)
    assert 7 * splitcredit.mdi_oob(forest, X, y, output=1).values[0] == pytest.approx(0.5)


@pytest.mark.parametrize(("n_left", "n_right"), [(2, 2), (3, 5), (1, 1), (1, 6)])
@pytest.mark.parametrize("p", [0.3, 0.5])
def test_pg_hat_10_of_a_useless_split_is_0_on_average_if_children_have_two_rows(n_left, n_right, p):
    """All outcomes of independent labels. A child of one row leaves a bias of 2 p (1 - p) n / N."""
    mean = 0.0
    for a, b in product(range(n_left + 1), range(n_right + 1)):
        chance = comb(n_left, a) * comb(n_right, b) * p ** (a + b)
        chance *= (1 - p) ** (n_left + n_right - a - b)
        forest, X, y = one_split([(1, 1), (1, 0)], [(n_left, a), (n_right, b)])
        found = splitcredit.penalized_gini(forest, X, y, preset="pg_hat_10", min_child_oob=1)
        mean += chance * found.values[0]
    bias = 2 * p * (1 - p) * (n_left, n_right).count(1)
    assert mean == pytest.approx(bias, abs=1e-12)


def two_trees() -> tuple[Forest, np.ndarray, np.ndarray]:
    """The forest of two trees that the R package rfVarImpOOB was run on."""
    digits = """a 9 2 6 1 9 5 7 7 2 7 7 5 7 9 2 3 7 1 5 5 4 3 5 9
b 0 1 1 1 1 0 1 1 0 0 1 1 0 0 0 0 1 0 0 1 1 0 0 0
c 1 3 4 1 1 1 2 1 4 2 4 0 3 1 1 4 1 4 0 0 3 3 0 2
y 0 1 1 0 1 0 1 0 0 1 1 1 0 0 0 0 0 0 0 1 0 1 1 0
1 1 0 1 1 1 2 3 1 0 1 2 1 1 1 1 2 0 1 1 1 0 0 2 0
2 0 0 0 1 0 2 3 0 3 0 1 2 0 1 3 1 0 2 1 1 2 1 0 0"""
    table = {line[0]: np.array(line.split()[1:], float) for line in digits.splitlines()}
    left = [[2, 4, 6, 0, 8, 0, 10, 0, 12, 14, 0, 0, 0, 0, 16, 0, 0]]
    right = [[3, 5, 7, 0, 9, 0, 11, 0, 13, 15, 0, 0, 0, 0, 17, 0, 0]]
    variable = [[2, 3, 1, 0, 3, 0, 3, 0, 3, 1, 0, 0, 0, 0, 1, 0, 0]]
    at = [[0.5, 0.5, 3, 0, 1.5, 0, 1.5, 0, 2.5, 6, 0, 0, 0, 0, 8, 0, 0]]
    left.append([2, 4, 6, 0, 8, 0, 0, 10, 0, 0, 0])
    right.append([3, 5, 7, 0, 9, 0, 0, 11, 0, 0, 0])
    variable.append([2, 1, 1, 0, 1, 0, 0, 3, 0, 0, 0])
    at.append([0.5, 2.5, 4.5, 0, 4, 0, 0, 3.5, 0, 0, 0])

    X, y = np.stack([table[k] for k in "abc"], axis=1), table["y"].astype(int)

    def node(t, k, rows):
        if variable[t][k] == 0:
            ones = np.average(y[rows], weights=inbag[t, rows])
            return leaf([1 - ones, ones], inbag[t, rows].sum())
        feature, threshold = variable[t][k] - 1, at[t][k]
        low = X[rows, feature] <= threshold
        children = (left[t][k] - 1, rows[low]), (right[t][k] - 1, rows[~low])
        return split(feature, threshold, *(node(t, *child) for child in children))

    inbag = np.stack([table["1"], table["2"]]).astype(np.uint8)
    trees = [node(t, 0, np.arange(24)) for t in range(2)]
    return grow(trees, 3, inbag=inbag, output_names=("0", "1")), X, y


ON, OFF = {"min_child_oob": 2}, {"min_child_oob": 1}
IN, IN_ON = {"weights": "inbag", **OFF}, {"weights": "inbag", **OFF, "min_child_inbag": 2}


@pytest.mark.parametrize(
    ("preset", "given", "expected", "times"),
    [
        ("pg_hat_10", ON, (0, -0.622, 0), 1),
        ("pg_hat_10", OFF, (1.1665, -0.622, 0), 1),
        ("pg_hat_11", ON, (0, -1.063, 0), 1),
        ("pg_hat_11", OFF, (-0.766, -1.063, -0.6945), 1),
        ("pg_hat_051", IN_ON, (-0.825, -0.4705, -0.075), 1),
        ("pg_hat_051", IN, (-1.8485, -0.4705, -0.697), 1),
        ("pg_10", ON, (0, 0.1, 0), 1),
        ("pg_10", OFF, (0.8665, 0.1, 0.1665), 1),
        ("pg_051", IN_ON, (-0.95, 0.8, 0), 1),
        ("pg_051", IN, (-2.6165, 0.8, -0.5), 1),
        # p_oob (1 - 2 p_in) + p_in^2, the package's fifth score, is half of PG(1, 2).
        ("pg_12", IN_ON, (-2, -1.3805, -0.075), 0.5),
        ("pg_12", IN, (-4.035, -1.3805, -0.975), 0.5),
    ],
)
def test_two_trees_as_in_r(preset, given, expected, times):
    """Scores of the author's package, which rounds the gain of every node to three decimals."""
    forest, X, y = two_trees()
    values = times * splitcredit.penalized_gini(forest, X, y, preset=preset, **given).values
    splits = np.bincount(forest.feature[forest.feature >= 0], minlength=3)
    rounding = 0.0005 * splits / forest.n_trees + 1e-12
    assert (np.abs(values - expected) <= rounding).all()


def test_two_trees_as_in_r_mdi():
    forest, X, y = two_trees()
    values = splitcredit.penalized_gini(forest, X, y, preset="mdi_inbag", per_row=False).values
    np.testing.assert_allclose(values, [4.0149351, 4.3607060, 2.2910256], rtol=0, atol=5e-8)
