"""`Attribution`, and what every measure must keep, also those that are added later."""

import inspect
import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

import splitcredit
from forests import DRAWN, fitted, random_forest, rows_on_thresholds, stump, whole_numbers
from reproduction.storage import read_bundle, write_bundle
from splitcredit import Attribution, Forest, Importance, explain, to_forest
from splitcredit.kernels.compiled import threads
from splitcredit.measures import function_of, kind_of, names
from splitcredit.results.attribution import from_arrays


def assert_same(ours, expected, name):
    """Bytes; but TreeSHAP takes all outputs through a tree together, and rounds otherwise then."""
    if name == "tree_shap":
        rounding = 1e-14 * np.abs(expected).max()
        np.testing.assert_allclose(ours, expected, rtol=0, atol=rounding)
    else:
        assert ours.tobytes() == expected.tobytes()


LOCAL = [name for name in names() if kind_of(name) == "explain"]
GLOBAL = [name for name in names() if kind_of(name) == "importance"]
# Measures that divide the prediction among the features.
OF_PREDICTION = [n for n in LOCAL if "output" in inspect.signature(function_of(n)).parameters]


def unfitted(forest):
    """An estimator of the kind that a forest of `case`, or one without a split, comes from."""
    model = RandomForestClassifier if forest.n_outputs > 1 else RandomForestRegressor
    splits = forest.n_nodes > forest.n_trees
    return model(forest.n_trees, min_samples_split=2 if splits else 1000, random_state=0)


def call(name, forest, X, y, *rows):
    """Call a measure with what it requires beyond the forest (and rows): training data, by name.

    A measure that fits a model of its own is given one like that of the forest.
    """
    f = function_of(name)
    inputs = {"X": X, "X_train": X, "y_train": y, "y": y, "background": X[:20], "random_state": 0}
    parameters = list(inspect.signature(f).parameters.values())[1 + len(rows) :]
    required = [p.name for p in parameters if p.default is inspect.Parameter.empty]
    assert set(required) <= set(inputs), f"{name}: tell this test what to give for {required}"
    forest = unfitted(forest) if name == "air" else forest
    return f(forest, *rows, **{p: inputs[p] for p in required})


def explained(forest, X, method, **parameters):
    """`explain`, against the first rows of X themselves where a measure asks for a background."""
    if "background" in inspect.signature(function_of(method)).parameters:
        parameters["background"] = np.asarray(X)[:20]
    return getattr(splitcredit, method)(forest, X, **parameters)


@pytest.fixture(scope="module", params=["classes", "values"])
def case(request):
    """Forest, training X and y, of whole numbers: a bagged classifier and a regressor."""
    X, y = whole_numbers(request.param, 120, 5)
    model = RandomForestClassifier if request.param == "classes" else RandomForestRegressor
    return to_forest(model(12, random_state=0).fit(X, y), X), X, y


@pytest.mark.parametrize("name", LOCAL)
class TestEveryLocalMeasure:
    """The contract of `splitcredit.measures` for `explain`."""

    def test_has_shape_and_labels_which_survive_a_bundle(self, name, case, tmp_path):
        """Features that no tree uses have exactly zero, and X is left alone."""
        forest, X, y = case
        before = X.copy()
        a = call(name, forest, X, y, X)
        np.testing.assert_array_equal(X, before)
        assert isinstance(a, Attribution) and a.method == name
        assert a.values.shape == (len(X), forest.n_features, len(a.output_names))
        assert a.values.dtype == a.baseline.dtype == np.float64
        assert a.feature_names == forest.feature_names
        assert np.isfinite(a.values).all() and a.values.any() and not a.values[:, -1].any()
        assert json.loads(json.dumps(a.parameters)) == a.parameters
        assert name not in OF_PREDICTION or a.output_names == forest.output_names
        for file in ("a.npz", "b.npz"):
            write_bundle(tmp_path / file, {"one": a})
        assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
        assert_equal_attributions(read_bundle(tmp_path / "a.npz", Attribution)["one"], a)

    @pytest.mark.parametrize("strict", [False, True])
    def test_sends_rows_on_thresholds_the_way_of_the_model(self, name, case, strict):
        forest, X, y = case
        forest = replace(forest, strict=strict)
        inner, rows = forest.feature >= 0, X.copy()
        rng = np.random.default_rng(1)
        for j in set(forest.feature[inner].tolist()):
            rows[:, j] = rng.choice(forest.threshold[inner & (forest.feature == j)], len(rows))
        shifted = rows + (0.125 if strict else -0.125)
        on_thresholds, same_way, other_way = (
            call(name, forest, X, y, r).values.tobytes()
            for r in (rows, shifted, 2 * rows - shifted)
        )
        assert on_thresholds == same_way != other_way

    def test_has_the_same_bytes_in_threads_in_batches_and_in_any_order(self, name, case):
        forest, X, y = case
        rows = np.tile(X, (4, 1))
        with threads(1):
            by_one_thread = call(name, forest, X, y, rows).values
        assert call(name, forest, X, y, rows).values.tobytes() == by_one_thread.tobytes()
        values = call(name, forest, X, y, X).values
        parts = [call(name, forest, X, y, X[a:b]).values for a, b in ((0, 1), (1, 70), (70, 120))]
        assert np.concatenate(parts).tobytes() == values.tobytes()
        order = np.random.default_rng(0).permutation(len(X))
        assert call(name, forest, X, y, X[order]).values.tobytes() == values[order].tobytes()

    def test_takes_no_rows_at_all_and_refuses_those_of_another_width(self, name, case):
        forest, X, y = case
        assert call(name, forest, X, y, X[:0]).values.shape[:2] == (0, forest.n_features)
        with pytest.raises(ValueError, match="X has 4 features, the model was fitted on 5"):
            call(name, forest, X, y, X[:, :4])


@pytest.mark.parametrize("name", GLOBAL)
class TestEveryGlobalMeasure:
    """The contract of `splitcredit.measures` for `importance`."""

    def test_gives_the_same_numbers_again_and_zero_to_unused_features(self, name, case):
        forest, X, y = case
        values = call(name, forest, X, y).values
        assert values.shape == (forest.n_features,) and values.dtype == np.float64
        assert np.isfinite(values).all() and values[0] > 0 and values[-1] == 0.0
        with threads(1):
            assert call(name, forest, X, y).values.tobytes() == values.tobytes()


@pytest.mark.parametrize("name", LOCAL + GLOBAL)
def test_nothing_is_given_where_no_tree_splits(name, case):
    _, X, y = case
    model = RandomForestRegressor(4, min_samples_split=1000, random_state=0).fit(X, y)
    rows = (X,) if name in LOCAL else ()
    values = call(name, to_forest(model, X), X, y, *rows).values
    assert values.shape[: 1 + len(rows)] == (*map(len, rows), X.shape[1]) and not values.any()


@pytest.mark.parametrize("name", OF_PREDICTION)
class TestChoiceOfOutputs:
    """The choice of outputs, of every measure that divides the prediction."""

    @pytest.mark.parametrize(
        "forest",
        [
            random_forest(0, n_outputs=3, leaves="pure", missing=True),
            random_forest(1, n_outputs=10, leaves="fractions", x_dtype="float32"),
            random_forest(2, n_outputs=2, aggregate="sum", base=[0.3, -0.1]),
            DRAWN["depth 45, five features"](),
        ],
        ids=["pure", "ten classes", "sum", "deep regression"],
    )
    def test_one_output_is_its_column_of_all(self, name, forest):
        X = rows_on_thresholds(forest, 150)
        all_outputs = explained(forest, X, name)
        for c, label in enumerate(forest.output_names):
            for output in (c, np.int64(c), label):
                one_output = explained(forest, X, name, output=output)
                assert_same(one_output.values[:, :, 0], all_outputs.values[:, :, c], name)
                assert one_output.baseline.tobytes() == all_outputs.baseline[c].tobytes()
                assert one_output.output_names == (label,) and one_output.output_index is None

    @pytest.mark.parametrize("leaves", ["pure", "fractions"])
    def test_predicted_is_the_column_of_the_largest_prediction(self, name, leaves):
        forest = random_forest(3, n_trees=5, n_outputs=4, leaves=leaves)
        X = rows_on_thresholds(forest, 150)
        a, all_outputs = explained(forest, X, name, output="predicted"), explained(forest, X, name)
        index = forest.predict(X).argmax(axis=1)
        assert len(set(index)) > 1
        np.testing.assert_array_equal(a.output_index, index)
        expected = all_outputs.values[np.arange(len(X)), :, index]
        assert_same(a.values[:, :, 0], expected, name)
        np.testing.assert_array_equal(a.baseline[:, 0], all_outputs.baseline[index])
        assert a.output_names == ("predicted",) and a.parameters == {"output": "predicted"}
        largest = forest.predict(X).max(axis=1)
        np.testing.assert_allclose(a.totals()[:, 0], largest, rtol=1e-12)

    @pytest.mark.parametrize("output", ["z", -1, 2, 1.0, None])
    def test_unknown_outputs_are_refused(self, name, output):
        with pytest.raises(ValueError, match=r"output=.* is not one of 'all', .*'class 0'"):
            explained(stump(), np.zeros((1, 3)), name, output=output)


def test_the_first_of_two_classes_has_the_score_with_the_other_sign():
    X = np.arange(20.0)[:, None]
    model = GradientBoostingClassifier(n_estimators=3).fit(X, np.repeat(["no", "yes"], [15, 5]))
    a = explain(model, X, "saabas", output="no")
    assert a.output_names == ("no",)
    np.testing.assert_allclose(a.totals()[:, 0], -model.decision_function(X), rtol=1e-12)


def assert_equal_attributions(a, b):
    """Labels equal, arrays equal in bytes."""
    assert a.values.tobytes() == b.values.tobytes() and a.values.shape == b.values.shape
    assert a.baseline.tobytes() == b.baseline.tobytes() and a.baseline.shape == b.baseline.shape
    assert (a.feature_names, a.output_names) == (b.feature_names, b.output_names)
    assert (a.method, a.parameters) == (b.method, b.parameters)
    np.testing.assert_array_equal(a.output_index, b.output_index)


def attribution(**changes):
    """Two rows, three features, two outputs, numbered in the order of memory."""
    return Attribution(
        **{
            "values": np.arange(12.0).reshape(2, 3, 2),
            "baseline": [100.0, 200.0],
            "feature_names": ("a", "b", "c"),
            "output_names": ("no", "yes"),
            "method": "saabas",
            **changes,
        }
    )


def test_the_frame_has_a_row_for_each_row_and_output():
    assert repr(attribution()) == "Attribution('saabas', 2 samples, 3 features, 2 outputs)"
    frame = attribution().to_frame()
    assert list(frame.columns) == ["sample", "output", "a", "b", "c"]
    assert frame["sample"].tolist() == [0, 0, 1, 1]
    assert frame["output"].tolist() == ["no", "yes", "no", "yes"]
    np.testing.assert_array_equal(frame[["a", "b", "c"]].to_numpy()[1], [1.0, 3.0, 5.0])
    np.testing.assert_array_equal(frame[["a", "b", "c"]].to_numpy()[2], [6.0, 8.0, 10.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": np.zeros((2, 3))}, r"values has shape \(2, 3\), expected \(n_samples, n_f"),
        ({"feature_names": ("a", "b")}, r"2 feature_names, but values has 3 on axis 1"),
        ({"output_names": ("a",)}, r"1 output_names, but values has 2 on axis 2"),
        ({"baseline": [0.0]}, r"baseline has shape \(1,\), expected \(2,\) or \(2, 2\)"),
        ({"baseline": np.zeros((3, 2))}, r"baseline has shape \(3, 2\), expected"),
        ({"output_index": [0]}, r"output_index has shape \(1,\), expected \(2,\)"),
    ],
)
def test_contradictory_labels_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        attribution(**change)


def test_explain_converts_models_and_rows_itself():
    model, X, _ = fitted("tree, gini, iris")
    expected = explain(to_forest(model), X).values.tobytes()
    contents = {explain(model, x).values.tobytes() for x in (X, X.tolist(), X.astype(np.float32))}
    assert contents == {expected}
    with pytest.raises(TypeError, match=r"cannot convert builtins\.object to a Forest"):
        explain(object(), X)


@pytest.mark.parametrize("kind", [Attribution, Importance, Forest])
def test_arrays_of_something_else_or_with_parts_missing_are_named(kind):
    forest = stump()
    examples = [explain(forest, [[0.0] * 3]), Importance([1.0], ["x0"], "mdi"), forest]
    for example in examples:
        arrays, is_own = example.to_arrays(), isinstance(example, kind)
        del arrays["feature_names"]
        missing = r"\['feature_names'\], not expected \[\]" if is_own else r".*, not expected \['"
        with pytest.raises(ValueError, match=rf"those of {kind.__name__}: missing {missing}"):
            kind.from_arrays(arrays)


def test_results_that_are_none_or_damaged_are_named():
    arrays = Importance([1.0], ["x0"], "mdi").to_arrays()
    with pytest.raises(ValueError, match=r"parameters is damaged \(.*\): save the result again"):
        from_arrays(arrays | {"parameters": np.array("{")})
    with pytest.raises(ValueError, match="these arrays are not those of Attribution: missing"):
        from_arrays(stump().to_arrays())
