"""CatBoost models to `Forest`, from stored files; and files of all libraries by their paths."""

import copy
import json

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.exceptions import NotFittedError
from test_forest import assert_equal_forests

import twins
from forests import STORED
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
# There CatBoost's own values do not add up to its prediction: they are off by up to 2.
NOT_ADDITIVE = "leaf by leaf"


def test_tree_shap_equals_the_twin_where_catboost_is_not_additive():
    stored = STORED[f"catboost-1.2.10, {NOT_ADDITIVE}"]
    rows, totals = stored.explained, stored.contributions.sum(axis=1)
    forest = from_content(DOCUMENTS[NOT_ADDITIVE], "model")
    assert np.abs(totals[:, 0] - forest.predict(rows)[:, 0]).max() > 0.1
    twin = twins.tree_shap_by_subsets(forest, rows).astype(float)
    assert twins.largest_error(explain(forest, rows).values, twin) <= twins.ROUNDING


def test_outputs_have_the_labels_of_the_model():
    names = {name: from_content(DOCUMENTS[name], "model").output_names for name in DOCUMENTS}
    assert names["regression"] == ("output",) and names["binary"] == ("yes",)
    assert names["classes"] == ("0", "1", "2") and names["two targets"] == ("y0", "y1")
    assert names["several labels"] == ("0", "1")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_predicted_output_is_one_of_the_classes_whatever_they_are_called(name):
    """Classes may be called "y0", as targets are. Several labels of a row are targets."""
    content = copy.deepcopy(DOCUMENTS[name])
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
    catboost = pytest.importorskip(
        "catboost", reason="The package catboost is not installed; pip install catboost."
    )
    X = np.random.default_rng(0).normal(size=(50, 2)).astype(np.float32)
    model = catboost.CatBoostRegressor(
        iterations=3, depth=2, verbose=0, thread_count=1, allow_writing_files=False
    )
    with pytest.raises(NotFittedError, match="this CatBoostRegressor is not fitted: call fit"):
        to_forest(model)
    model.fit(X, X[:, 0])
    assert (
        twins.largest_error(to_forest(model).predict(X)[:, 0], model.predict(X)) <= twins.ROUNDING
    )


def test_model_files_are_recognized_by_their_content(tmp_path):
    """The name of a file says nothing, and a path may be a string."""
    X = np.random.default_rng(0).normal(size=(100, 2))
    booster = xgboost.train({"nthread": 1}, xgboost.DMatrix(X, X[:, 0]), 2)
    for ending in ("json", "ubj"):
        booster.save_model(tmp_path / f"model.{ending}")
        (tmp_path / f"model.{ending}").rename(tmp_path / f"{ending}.model")
        assert_equal_forests(to_forest(tmp_path / f"{ending}.model"), to_forest(booster))
    booster = lightgbm.train({"num_threads": 1, "verbose": -1}, lightgbm.Dataset(X, X[:, 0]), 2)
    booster.save_model(tmp_path / "text")
    forest = to_forest(str(tmp_path / "text"), X)
    assert forest.training_hash == array_hash(X)
    assert_equal_forests(to_forest(tmp_path / "text"), to_forest(booster))
    model = DOCUMENTS["classes"]
    (tmp_path / "cat").write_text(json.dumps(model))
    assert_equal_forests(to_forest(tmp_path / "cat"), from_content(model, "model"))


@pytest.mark.parametrize("content", [b"else", b"{}", b"[1]", b"\xff\xfe", b""])
def test_other_files_are_refused(content, tmp_path):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(ValueError, match=r"a\.txt is no model file known here: save an XGBoost"):
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
