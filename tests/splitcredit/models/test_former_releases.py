"""Files of releases of XGBoost, LightGBM and CatBoost, and what these gave for them."""

import json
import re

import lightgbm
import numpy as np
import pytest
import xgboost
from test_forest import assert_equal_forests

import twins
from forests import STORED, conversion_error
from splitcredit import explain, to_forest

FILES = [(name, form) for name, stored in STORED.items() for form in stored.files]
# Of some trees of CatBoost its own values do not add up to its prediction: they are off by up to 2.
NOT_ADDITIVE = "catboost-1.2.10, leaf by leaf"
KINDS = {
    "xgboost": ("sum_hessian", "float32", True),
    "lightgbm": ("leaf_count", "float64", False),
    "catboost": ("leaf_weights", "float32", False),
}


def saved(name, form, folder):
    """The model as a file without an ending: only its content tells the library and format."""
    path = folder / "model"
    path.write_bytes(STORED[name].files[form])
    return path


@pytest.mark.parametrize(("name", "form"), FILES)
def test_scores_and_contributions_are_those_of_the_release(name, form, tmp_path):
    """Also of rows on borders, a step beside them, and with NaN.

    Leaves of one value had size 0 before XGBoost 2.0, which was taken for vectors.
    """
    stored, library = STORED[name], name.removeprefix("former/").partition("-")[0]
    forest = to_forest(saved(name, form, tmp_path))
    assert (forest.cover_kind, forest.x_dtype, forest.strict) == KINDS[library]
    # Red if a node that pruning has cut off, or none, is made the child of a leaf.
    leaves = forest.feature < 0
    assert set(forest.left[leaves]) == {-1} == set(forest.right[leaves])
    # Of its random forests LightGBM gives the sum of the trees, two here.
    times = 2 if name.endswith(", forest") else 1
    is_single = library == "xgboost"  # which adds up in float32
    if times == 1:
        off = twins.largest_error(forest.predict(stored.rows), stored.raw)
        assert off <= (1e-5 if is_single else twins.ROUNDING)
    if stored.contributions is not None and name != NOT_ADDITIVE:
        attribution, own = explain(forest, stored.explained), stored.contributions
        tolerance = 1e-5 if is_single else 1e-12
        assert twins.largest_error(times * attribution.values, own[:, :-1]) <= tolerance
        assert twins.largest_error(times * attribution.totals(), own.sum(1)) <= tolerance


@pytest.mark.parametrize("name", [n for n in STORED if re.match(r"former/xgboost-(1.[3-7]|2)", n)])
def test_a_model_that_a_newer_XGBoost_has_read_and_saved_is_the_same(name, tmp_path):
    """It keeps the sizes of leaves as they were."""
    booster = xgboost.Booster()
    booster.load_model(bytearray(STORED[name].files["json"]))
    booster.save_model(tmp_path / "saved.json")
    for model in (booster, tmp_path / "saved.json"):
        assert_equal_forests(to_forest(model), to_forest(saved(name, "json", tmp_path)))


@pytest.mark.parametrize("mark", [b"", b"binf"])
def test_a_binary_file_of_XGBoost_is_refused_with_the_remedy(mark, tmp_path):
    """The head of such a file: 136 bytes of numbers, and two names with their lengths."""
    names = (b"reg:squarederror", b"dart")
    head = b"".join(len(name).to_bytes(8, "little") + name for name in names)
    (tmp_path / "old.model").write_bytes(mark + bytes(136) + head + bytes(400))
    with pytest.raises(ValueError, match=r"old.model is a binary file of XGBoost before 3.1: load"):
        to_forest(tmp_path / "old.model")


@pytest.mark.parametrize("title", ["feature importances:", "feature_importances:"])
def test_a_text_of_LightGBM_need_not_say_where_its_trees_end(title, tmp_path):
    """Before 2.2 none did; a feature with the name of a key stands among the importances then."""
    names = ["leaf_value", "Tree", "num_leaves"]
    text = STORED["former/lightgbm-2.2.0, regression"].files["text"].decode()
    text = text.replace("Column_0 Column_1 Column_2", " ".join(names)).replace("Column_", "a")
    trees, _, _ = text.partition("end of trees\n")
    path, whole = tmp_path / "old", tmp_path / "whole"
    whole.write_text(text)
    importances = "\n".join([title, *(f"{name}=3" for name in names)])
    path.write_text(re.sub("tree_sizes=.*\n", "", trees) + f"\n{importances}")
    assert_equal_forests(to_forest(path), to_forest(whole))
    path.write_text(trees)
    with pytest.raises(ValueError, match="is incomplete"):
        to_forest(path)


def test_categories_of_nodes_that_pruning_has_cut_off_are_left_out(tmp_path):
    """Before XGBoost 1.6 such nodes stayed in the file; red if others get their categories."""
    X = np.random.default_rng(0).integers(0, 5, (200, 2))
    y = 3 * (X[:, 0] % 2) + X[:, 1] % 2
    data = xgboost.DMatrix(X, y, feature_types=["c", "c"], enable_categorical=True)
    content = json.loads(xgboost.train({"max_depth": 2, "nthread": 1}, data, 1).save_raw("json"))
    (tree,) = content["learner"]["gradient_booster"]["model"]["trees"]
    assert tree["categories_nodes"] == [0, 1, 2]
    left, right = tree["left_children"], tree["right_children"]
    # The root has the children of node 2 in place of its own, which are cut off as nodes 3 and 4.
    left[0], right[0] = left[2], right[2]
    left[1] = right[1] = left[2] = right[2] = -1
    tree["sum_hessian"][0] = tree["sum_hessian"][2]
    (tmp_path / "model.json").write_text(json.dumps(content))
    forest = to_forest(tmp_path / "model.json")
    assert forest.n_nodes == 3 and len(forest.categories.members) == 1


def test_bits_of_missing_zeros_at_splits_by_categories_have_no_meaning():
    """Former releases wrote them for sparse rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (400, 4)).astype(float)
    options = {"verbose": -1, "min_data_per_group": 5, "cat_smooth": 1, "num_threads": 1}
    data = lightgbm.Dataset(X, (X[:, 0] == 2) * 3 + X[:, 3], categorical_feature=[0, 1])
    model = lightgbm.train(options, data, 5)
    text = re.sub(r"tree_sizes=.*\n", "", model.model_to_string())
    # Of the numbers of a line those of splits by categories are odd.
    text = re.sub(
        r"(?<=decision_type=).*", lambda line: re.sub(r"\d*[13579]\b", "5", line[0]), text
    )
    old = lightgbm.Booster(model_str=text)
    X[::5] = np.nan
    assert np.array_equal(explain(old, X).values, explain(model, X).values)
    assert conversion_error(old, X) <= 1e-12


def test_zeros_are_missing_beside_categories_without_the_category_0():
    """A NaN goes right at a split by categories, and so does 0 where it is none of them."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=800), rng.integers(1, 9, 800)])
    X[rng.random(800) < 0.2] = 0
    y = X[:, 0] + 5 * np.isin(X[:, 1], [2, 5]) - 9 * (X[:, 1] == 0)
    model = lightgbm.LGBMRegressor(
        n_estimators=9, n_jobs=1, verbose=-1, zero_as_missing=True, cat_smooth=1
    )
    model.fit(X, y, categorical_feature=[1])
    forest = to_forest(model)
    assert forest.missing_value == 0 and len(forest.categories) > 0
    assert conversion_error(model, X) <= 1e-12
