"""Node scores by in-bag and out-of-bag rows: penalized Gini, UFI, MDI-oob."""

from dataclasses import replace
from functools import cache
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

PRESETS = penalized_gini.PRESETS
NEED_TRAINING_DATA = [
    splitcredit.penalized_gini,
    splitcredit.ufi,
    splitcredit.mdi_oob,
    splitcredit.mda,
    splitcredit.oob_importance,
]


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
        importance = splitcredit.penalized_gini(forest, X, y, preset=preset)
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
    importance = splitcredit.penalized_gini(forest, X, y, preset="pg_10", **given)
    twin = twins_oob.penalized_gini(forest, X, y, **settings)
    assert twins.largest_error(importance.values, twin) <= twins.ROUNDING
    assert importance.parameters == {"preset": "pg_10", **settings}


@pytest.mark.parametrize("name", CASES)
def test_ufi_equals_its_twin(name):
    forest, X, y = case(name)
    values = splitcredit.ufi(forest, X, y).values
    assert twins.largest_error(values, twins_oob.ufi(forest, X, y)) <= twins.ROUNDING


@pytest.mark.parametrize("divide_by", ["rows", "targets"])
@pytest.mark.parametrize("rows", ["oob", "inbag"])
@pytest.mark.parametrize("name", CASES)
def test_mdi_oob_equals_its_twin(name, rows, divide_by):
    forest, X, y = case(name)
    options = {"rows": rows, "divide_by": divide_by}
    for output in ("all", forest.n_outputs - 1, forest.output_names[0]):
        columns = {"all": None, forest.output_names[0]: [0]}.get(output, [forest.n_outputs - 1])
        importance = splitcredit.mdi_oob(forest, X, y, output=output, **options)
        twin = twins_oob.restricted_products(forest, X, y, columns=columns, **options)
        assert twins.largest_error(importance.values, twin) <= twins.ROUNDING


BAGGED = ["forest, gini, cancer", "forest, NaN", "forest, entropy, digits"]


@cache
def bagged(name):
    """Forest and training data of a fitted model, with 2, 3 or 10 classes."""
    model, X, y = fitted(name)
    return to_forest(model, X), X, y


@pytest.mark.parametrize("name", BAGGED)
def test_eq_10_over_in_bag_rows_is_mdi(name):
    """Gini MDI for all classes, half of it for one of two; whatever the criterion of the fit."""
    forest, X, y = bagged(name)
    values = splitcredit.mdi_oob(forest, X, y, rows="inbag").values
    gini = splitcredit.penalized_gini(forest, X, y, preset="mdi_inbag").values
    np.testing.assert_allclose(values, gini, rtol=0, atol=1e-12)
    if forest.criterion == "gini":
        np.testing.assert_allclose(values, splitcredit.mdi(forest).values, rtol=0, atol=1e-12)
    if forest.n_outputs == 2:
        of_one_class = splitcredit.mdi_oob(forest, X, y, rows="inbag", output=1).values
        np.testing.assert_allclose(2 * of_one_class, values, rtol=0, atol=1e-12)


def test_eq_10_of_a_regressor_is_variance_mdi():
    forest, X, y = case("values")
    values = splitcredit.mdi_oob(forest, X, y, rows="inbag").values
    assert twins.largest_error(values, splitcredit.mdi(forest).values) <= twins.ROUNDING


@pytest.mark.parametrize("kind", ["two classes", "values"])
def test_rows_that_weights_draw_more_often_are_in_bag_more_often(kind):
    """Red if in-bag rows are drawn anew without the weights of the fit: MDI is a sum over them."""
    X, y = whole_numbers("values" if kind == "values" else "classes", 60, 5, 0)
    weights = np.random.default_rng(0).uniform(0.1, 2, 60)
    model = RandomForestRegressor if kind == "values" else RandomForestClassifier
    model = model(5, random_state=0, max_depth=4).fit(X, y, sample_weight=weights)
    in_bag = splitcredit.mdi_oob(model, X, y, rows="inbag").values
    assert twins.largest_error(in_bag, splitcredit.mdi(model).values) <= twins.ROUNDING


def test_fits_with_weights_count_rows_without_them():
    """Their node values are no means of y, which is not held against y."""
    model, X, y = fitted("extra-trees, bagged, cancer")  # with class weights
    forest = to_forest(model, X)
    values = splitcredit.penalized_gini(forest, X, y, preset="ufi").values
    no_values = replace(forest, value=np.zeros_like(forest.value), cover=2 * forest.cover)
    assert (
        values.tobytes()
        == splitcredit.penalized_gini(no_values, X, y, preset="ufi").values.tobytes()
    )


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
    with pytest.raises(
        ValueError, match=r"(no|other numbers of) in-bag rows? comes? to (some|its) node"
    ):
        function(unknown, np.zeros_like(X), y)
    with pytest.raises(ValueError, match=r"y is not what the forest was grown on"):
        function(forest, X, y[::-1])
    with pytest.raises(ValueError, match=r"y has shape \(59,\)"):
        function(forest, X, y[1:])


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        ("penalized_gini", {"preset": "pg"}, "preset='pg': available are 'pg_10'"),
        ("penalized_gini", {"weights": "all"}, "weights='all': available are 'inbag', 'oob'"),
        ("penalized_gini", {"correction": "both"}, "correction='both': available are 'none', 'own"),
        (
            "penalized_gini",
            {"weights": "inbag", "min_child_oob": 0},
            "min_child_oob=0 with in-bag weights",
        ),
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


@pytest.mark.parametrize("kind", [float, object, np.int16])
def test_counts_of_draws_may_be_of_any_type(kind):
    """Objects were a TypingError of the compiler."""
    forest, X, y = case("two classes")
    given = replace(forest, inbag=np.array(forest.inbag).astype(kind))
    importance = splitcredit.ufi(given, X, y)
    assert importance.values.tobytes() == splitcredit.ufi(forest, X, y).values.tobytes()


def test_a_mask_of_draws_counts_each_row_once():
    """It was a TypingError of the compiler."""
    X, y = whole_numbers("values", 60, 5, 0)
    model = BaggingRegressor(bootstrap=False, max_samples=0.5, random_state=0).fit(X, y)
    forest = to_forest(model)
    given = replace(forest, inbag=np.array(forest.inbag) > 0)
    importance = splitcredit.ufi(given, X, y)
    assert importance.values.tobytes() == splitcredit.ufi(forest, X, y).values.tobytes()


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
    expected = splitcredit.penalized_gini(*case("two classes"), **plain)
    stored = from_arrays(splitcredit.penalized_gini(*case("two classes"), **given).to_arrays())
    assert stored.parameters == expected.parameters
    assert stored.values.tobytes() == expected.values.tobytes()


def test_names_of_scores_may_come_from_an_iterator():
    """A check read it, and there was no score left."""
    assert list(penalized_gini.importances(*case("two classes"), iter(["ufi"]))) == ["ufi"]


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


def test_values_that_are_no_means_are_not_held_against_the_targets():
    """Nodes of a fit by absolute errors keep medians."""
    X, y = whole_numbers("values", 60, 5)
    model = RandomForestRegressor(2, criterion="absolute_error", max_depth=3, random_state=0)
    forest = to_forest(model.fit(X, y), X)
    values = splitcredit.ufi(forest, X, y).values
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
        splitcredit.ufi(model, X, np.full(12, "b"))


@pytest.mark.parametrize("label", [None, 0])
def test_labels_that_have_no_order_are_named(label):
    """NumPy's own message names two types, and neither y nor the remedy."""
    X = np.arange(20.0)[:, None]
    y = np.array(["a", "b"] * 10, dtype=object)
    model = RandomForestClassifier(3, random_state=0).fit(X, y)
    y[3] = label
    with pytest.raises(ValueError, match=r"y holds labels of the types \w+, str, which cannot"):
        splitcredit.ufi(model, X, y)


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
        gain = splitcredit.penalized_gini(forest, X, y, preset="pg_hat_10", min_child_oob=1).values[
            0
        ]
        mean += chance * gain
    small = [n for n in (n_left, n_right) if n == 1]
    bias = 2 * p * (1 - p) * len(small)
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
