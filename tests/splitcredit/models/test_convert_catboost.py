"""CatBoost models to `Forest`, from stored files; and what a path may lead to."""

import copy
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from test_forest import assert_equal_forests

import twins
from forests import STORED, conversion_error
from splitcredit import Forest, explain, to_forest
from splitcredit.models.forest import array_hash
from splitcredit.models.formats import are_targets
from splitcredit.models.formats.catboost import EMPTY, from_content
from splitcredit.rows.names import as_known

DOCUMENTS = {
    name.removeprefix("catboost-1.2.10, "): json.loads(stored.files["model"])
    for name, stored in STORED.items()
    if name.startswith("catboost-1.2.10")
}
OUTPUTS = {"regression": ("output",), "binary": ("yes",), "two targets": ("y0", "y1")}
OUTPUTS |= {"classes": ("0", "1", "2"), "several labels": ("0", "1")}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_predicted_output_is_one_of_the_classes_whatever_they_are_called(name):
    """Classes may be called "y0", as targets are. Several labels of a row are targets."""
    content = copy.deepcopy(DOCUMENTS[name])
    forest = from_content(content, "model")
    assert forest.output_names == OUTPUTS.get(name, forest.output_names)
    if name.startswith("classes"):
        content["model_info"]["class_params"]["class_names"] = ["y0", "y1", "y2"]
        forest = from_content(content, "model")
    rows = STORED[f"catboost-1.2.10, {name}"].explained
    several = name in ("two targets", "several labels")
    for read in (forest, Forest.from_arrays(forest.to_arrays())):
        assert are_targets(read) is several
        if several:
            with pytest.raises(ValueError, match="several targets: choose one"):
                explain(read, rows, output="predicted")
        else:
            assert explain(read, rows, output="predicted").output_names == ("predicted",)


@pytest.mark.parametrize(("name", "several"), [("two targets", True), ("classes", False)])
def test_names_tell_targets_of_a_forest_that_an_earlier_version_wrote(name, several):
    arrays = from_content(DOCUMENTS[name], "model").to_arrays()
    del arrays["several_targets"]
    assert are_targets(Forest.from_arrays(arrays)) is several


def one_tree(weights, splits=2, names=("", "")):
    """A tree by hand: x0 > 0 is the lower bit of a leaf's number, x1 > 0 the higher."""
    features = [
        {"feature_id": name, "flat_feature_index": j, "borders": [0.0]}
        for j, name in enumerate(names)
    ]
    conditions = [{"split_index": j} for j in range(splits)]
    leaves = {"leaf_values": [1.0, 2.0, 4.0, 8.0][: 2**splits], "leaf_weights": weights}
    return {
        "features_info": {"float_features": features},
        "oblivious_trees": [{"splits": conditions, **leaves}],
        "scale_and_bias": [10.0, [0.5]],
        "model_info": {},
    }


def test_leaves_of_an_oblivious_tree_are_numbered_by_bits():
    """By hand, with scale and bias; the border itself goes left."""
    forest = from_content(one_tree([1, 1, 1, 1]), "model")
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert forest.predict(X)[:, 0].tolist() == [10.5, 20.5, 40.5, 80.5]
    leaf = from_content(one_tree([3], splits=0), "model")
    assert leaf.n_nodes == 1 and leaf.predict(X)[0, 0] == 10.5


def test_leaves_without_rows_have_no_part_in_expectations():
    """No training row had x1 > 0. There unknown features average over both leaves alike.

    v({}) = (1 + 3 * 2) / 4 = 1.75, v({x0 = 0}) = 1, v({x1 = 1}) = 6, v(both) = 4.
    """
    forest = from_content(one_tree([1, 3, 0, 0]), "model")
    ours = explain(forest, np.array([[0.0, 1.0]]))
    x0 = ((1 - 1.75) + (4 - 6)) / 2
    x1 = ((6 - 1.75) + (4 - 1)) / 2
    np.testing.assert_allclose(ours.values[0, :, 0], [10 * x0, 10 * x1], rtol=1e-14)
    assert forest.cover.min() == EMPTY


def test_what_a_Forest_cannot_hold_is_refused():
    for key, kind in (("categorical_features", "categorical f"), ("text_features", "text feat")):
        model = copy.deepcopy(DOCUMENTS["regression"])
        model["features_info"][key] = [{"feature_index": 0}]
        with pytest.raises(ValueError, match=f"this model has {kind}.*encode them as numbers"):
            from_content(model, "model")
    no_trees = {**one_tree([1]), "oblivious_trees": []}
    with pytest.raises(ValueError, match="this model has no trees: fit at least one iteration"):
        from_content(no_trees, "model")


def test_a_fitted_model_is_converted():
    catboost = pytest.importorskip("catboost", reason="The package catboost is not installed.")
    X = np.random.default_rng(0).normal(size=(50, 2)).astype(np.float32)
    options = {"verbose": 0, "thread_count": 1, "allow_writing_files": False}
    model = catboost.CatBoostRegressor(iterations=3, depth=2, **options)
    with pytest.raises(NotFittedError, match="this CatBoostRegressor is not fitted: call fit"):
        to_forest(model)
    model.fit(X, X[:, 0])
    assert conversion_error(model, X) <= twins.ROUNDING


def test_a_path_may_be_a_string_and_training_rows_leave_their_hash(tmp_path):
    path, X = tmp_path / "file", np.ones((100, 3))
    path.write_text(json.dumps(DOCUMENTS["classes"]))
    forest = to_forest(str(path), X)
    assert forest.training_hash == array_hash(X)
    assert_equal_forests(replace(forest, training_hash=None), to_forest(path))


@pytest.mark.parametrize("content", [b"else", b"{}", b"[1]", b"\xff\xfe", b""])
def test_other_files_are_refused(content, tmp_path):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.txt is not a known model file: save an XGBoost"):
        to_forest(tmp_path / "a.txt")


def test_a_path_that_leads_to_no_file_is_named():
    with pytest.raises(FileNotFoundError, match="nothing"):
        to_forest("nothing")


def test_names_that_are_numbers_are_names_and_missing_ones_are_positions():
    """CatBoost finds columns by such names, in any order; it calls those of arrays by ""."""
    table = pd.DataFrame([[-1.0, 1.0], [1.0, -1.0]])
    forest = from_content(one_tree([1, 1], 1, ["0", "1"]), "model")
    assert forest.predict(table[[1, 0]]).tobytes() == forest.predict(table).tobytes()
    forest = from_content(one_tree([1, 1], 1, ["", "b"]), "model")
    assert forest.feature_names == ("0", "b")
    for names in (["", "b"], ["0", "b"]):
        assert forest.predict(table.set_axis(names, axis=1))[:, 0].tolist() == [10.5, 20.5]
    assert as_known(["b", ""], ("b", "c")) == ["b", ""]


def test_classes_of_a_given_number_have_their_numbers_for_names():
    """A classifier that was taken for a model of several targets."""
    model = copy.deepcopy(DOCUMENTS["classes"])
    parameters = {"class_names": [], "class_to_label": [0, 1, 2], "classes_count": 3}
    model["model_info"]["class_params"] = parameters
    forest = from_content(model, "model")
    assert forest.output_names == ("0", "1", "2") and not are_targets(forest)
    parameters["classes_count"] = 4
    with pytest.raises(ValueError, match="classes_count=4, and on rows of 3 classes"):
        from_content(model, "model")
