"""Model files that contradict themselves or are damaged: the reader's own error, with the file."""

import io
import json
import zipfile

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.ensemble import RandomForestClassifier

import forests
import splitcredit
from splitcredit.models.formats.catboost import from_content
from splitcredit.views import command_files as _command_files

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = RNG.integers(0, 3, 200)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Text of a model of three classes, by library."""
    path = tmp_path_factory.mktemp("models") / "model.json"
    xgboost.XGBClassifier(n_estimators=3, max_depth=3, n_jobs=1).fit(X, Y).save_model(path)
    options = {"n_estimators": 3, "num_leaves": 7, "verbose": -1, "n_jobs": 1}
    booster = lightgbm.LGBMClassifier(**options).fit(X, Y).booster_
    return {"xgboost": path.read_text(), "lightgbm": booster.model_to_string()}


def refusal(tmp_path, content, name="model.txt"):
    """What the reader says of a file."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=name) as caught:
        splitcredit.to_forest(path)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


TREE = ("gradient_booster", "model", "trees", 0)
PARAMETERS = ("learner_model_param",)
BITSETS = ("categories", "categories_nodes", "categories_sizes")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("gradient_booster", "model", "tree_info"), [0, 1, 2]),
        (("gradient_booster", "model", "tree_info", 0), 7),
        (("gradient_booster", "model", "tree_info", 0), -1),
        (("gradient_booster", "model", "trees"), []),
        ((*PARAMETERS, "num_class"), "1"),
        ((*PARAMETERS, "num_class"), "2000000000"),
        ((*PARAMETERS, "base_score"), "[1E0,2E0]"),
        ((*PARAMETERS, "base_score"), "[]"),
        ((*PARAMETERS, "num_feature"), "3000000"),
        ((*TREE, "split_indices", 0), 1.7),
        ((*TREE, "split_indices"), None),
        ((*TREE, "left_children", 0), 2**31),
        ((*TREE, "left_children", 0), -5),
        ((*TREE, "split_conditions"), [0.5]),
        ((*TREE, "split_type", 0), 1),
        ((*TREE, "categories_nodes"), [99]),
        (("objective",), 3),
    ],
)
def test_a_model_of_xgboost_that_contradicts_itself_is_refused(documents, tmp_path, place, value):
    """Red if it is taken, as trees of a class too few, or ends in an error from inside."""
    content = json.loads(documents["xgboost"])
    *way, last = place
    inside = content["learner"]
    for key in way:
        inside = inside[key]
    inside[last] = value
    refusal(tmp_path, json.dumps(content).encode(), "model.json")


@pytest.mark.parametrize("lists", [None, ([1], [99], [1]), ([-1], [0], [1]), ([1], [0], [2])])
def test_splits_by_categories_without_their_lists_are_refused(documents, tmp_path, lists):
    """Red if they are read as splits at a number, or by other categories."""
    content = json.loads(documents["xgboost"])
    for tree in content["learner"]["gradient_booster"]["model"]["trees"]:
        tree["split_type"][0] = 1
        for key, own in zip(BITSETS, lists or BITSETS, strict=True):
            tree[key] = own
            if lists is None:
                del tree[key]
    refusal(tmp_path, json.dumps(content).encode(), "model.json")


@pytest.mark.parametrize("said", ["x", "0", "2"])
def test_a_model_of_lightgbm_with_another_number_of_splits_by_categories_is_refused(tmp_path, said):
    """Red if they are read: LightGBM goes by num_cat, and takes a text for 0."""
    options = {"verbose": -1, "min_data_per_group": 5, "cat_smooth": 1, "num_threads": 1}
    codes = X.round().clip(-2) + 2
    data = lightgbm.Dataset(codes, codes[:, 0] == 1, categorical_feature=[0])
    text = lightgbm.train(options, data, 1).model_to_string()
    assert "\nnum_cat=1\n" in text
    refusal(tmp_path, text.replace("num_cat=1", f"num_cat={said}").encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("num_tree_per_iteration=3", "num_tree_per_iteration=2"),
        ("num_tree_per_iteration=3\n", ""),
        ("num_tree_per_iteration=3", "num_tree_per_iteration=0"),
        ("num_tree_per_iteration=3", "num_tree_per_iteration=x"),
        ("tree_sizes=", "tree_sizes=1"),
        ("num_leaves=7", "num_leaves=100000000"),
        ("pandas_categorical:", "pandas_categorical:[["),
        ("shrinkage=1\n\n", "shrinkage=1\nJ"),
        ("label_index=0\n", "label_index=0"),
        ("objective=", "objective=average_output"),
        ("max_feature_idx=3", "max_feature_idx=2"),
        ("Column_0 ", "Column_0_"),
        ("Tree=0", "Tr\udcffe=0"),
    ],
)
def test_a_model_of_lightgbm_that_contradicts_itself_is_refused(documents, tmp_path, old, new):
    text = documents["lightgbm"]
    assert old in text
    refusal(tmp_path, text.replace(old, new, 1).encode(errors="surrogateescape"))


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 20000 + b"]" * 20000,
        b"{" + b'"a":{' * 20000,
        # A text of the length -20, which a reader without a check reads again and again.
        b"{L" + bytes(7) + b"\x01aSL" + (2**64 - 20).to_bytes(8, "big") + b"}" * 30,
        b"{L" + bytes(7) + b"\x01a[#L" + (2**62).to_bytes(8, "big") + b"i\x01",
    ],
)
def test_documents_that_are_deep_or_lie_about_lengths_are_refused(tmp_path, content):
    """Red if the reader never ends, or Python's own limit stops it."""
    refusal(tmp_path, content)


BORDERS = [{"borders": [0.5, 1.5], "feature_id": "a", "flat_feature_index": 0}]
BOOLEAN = [BORDERS[0] | {"flat_feature_index": False}]
SPLIT = {"float_feature_index": 0, "border": 0.5, "split_index": 0}


def catboost(**over):
    """A document of CatBoost with one tree of one split."""
    tree = {"splits": [SPLIT], "leaf_values": [1, 2], "leaf_weights": [1, 1]}
    content = {"features_info": {"float_features": BORDERS}, "scale_and_bias": [1, [0]]}
    return content | {"model_info": {}, "oblivious_trees": [tree | over]}


@pytest.mark.parametrize(
    "content",
    [
        catboost(splits=[SPLIT | {"split_index": 7}]),
        catboost(splits=[SPLIT | {"split_index": -1}]),
        catboost(leaf_weights=[1, -1]),
        catboost(leaf_weights=[1, float("nan")]),
        catboost(leaf_values=["1", 2]),
        catboost(leaf_values=[1, 2**63]),
        catboost(leaf_values=[1, 2, 3]),
        catboost(splits=[SPLIT] * 40),
        catboost() | {"scale_and_bias": [1, 0.5]},
        catboost() | {"scale_and_bias": [True, [0]]},
        catboost() | {"features_info": {"float_features": BOOLEAN}},
        catboost() | {"features_info": {"float_features": BORDERS * 2}},
        catboost() | {"model_info": {"class_params": {"class_to_label": [0, 2]}}},
    ],
)
def test_a_model_of_catboost_that_contradicts_itself_is_refused(tmp_path, content):
    """Red if 2**40 leaves are made, or a number is read that CatBoost takes for 0."""
    refusal(tmp_path, json.dumps(content).encode(), "model.json")


def test_scores_of_classes_that_training_lacked_are_no_targets():
    """CatBoost gives three names and two scores then: they were taken for two targets."""
    classes = {"class_params": {"class_names": [0, 1, 2], "class_to_label": [0, 1]}}
    content = catboost(leaf_values=[1, 2, 3, 4]) | {"model_info": classes}
    with pytest.raises(ValueError, match="2 outputs, the classes"):
        from_content(content | {"scale_and_bias": [1, [0, 0]]}, "model")


def test_an_array_that_says_to_be_larger_than_its_file_is_refused(tmp_path):
    """Red if memory is taken for it, or the error names no file."""
    splitcredit.Importance([1.0], ["a"], "mdi").save(tmp_path / "one.npz")
    raw = (tmp_path / "one.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "big.npz", "w") as big:
        for name, array in np.load(io.BytesIO(raw)).items():
            file = io.BytesIO()
            np.save(file, array)
            content = file.getvalue().replace(b"(1,), }        ", b"(1000000000,), }")
            big.writestr(f"{name}.npy", content)
    with pytest.raises(ValueError, match=r"big.npz holds no Importance: values.npy ends before"):
        splitcredit.Importance.load(tmp_path / "big.npz")


def test_a_part_that_says_to_be_larger_than_its_file_is_refused(tmp_path, grown):
    """Red if memory is taken for it: the directory of the archive says 1 GiB."""
    path = tmp_path / "bad.npz"
    np.savez(path, **splitcredit.to_forest(grown).to_arrays())
    raw = bytearray(path.read_bytes())
    place = raw.index(b"PK\x01\x02") + 20
    raw[place : place + 4] = (2**30).to_bytes(4, "little")
    path.write_bytes(raw)
    with pytest.raises(ValueError, match=r"bad.npz is damaged: .*npy says that it is larger"):
        _command_files.model_of(str(path))


def test_an_array_of_a_type_that_does_not_parse_is_refused_by_the_name_of_the_file(tmp_path, grown):
    """Red if NumPy's SyntaxError, which has a file name of its own, passes for the system's."""
    np.savez(tmp_path / "one.npz", **splitcredit.to_forest(grown).to_arrays())
    one, path = zipfile.ZipFile(tmp_path / "one.npz"), tmp_path / "bad.npz"
    with one, zipfile.ZipFile(path, "w") as bad:
        for part in one.namelist():
            bad.writestr(part, one.read(part).replace(b"'descr': '<", b"'descr': ',"))
    with pytest.raises(ValueError, match=r"bad.npz is damaged: invalid syntax"):
        _command_files.model_of(str(path))


@pytest.mark.parametrize(
    ("over", "reason"),
    [
        ({"feature": np.array([0.7, -1, -1], object)}, "feature must hold whole numbers"),
        ({"cover": np.ma.masked_array([4.0, 3, 1], [0, 1, 0])}, "cover has masked values"),
        ({"missing_left": ["False", "", ""]}, "missing_left holds <U5"),
        ({"missing_left": [2, 0, 0]}, "missing_left must hold True and False"),
        ({"threshold": [0.5 + 1j, 0, 0]}, "threshold holds complex128"),
        ({"strict": "no"}, "strict is 'no', expected True or False"),
    ],
)
def test_fields_of_a_forest_are_not_read_as_something_else(over, reason):
    """Red if 0.7 becomes feature 0, or the text "False" true."""
    fields = {"left": [1, -1, -1], "right": [2, -1, -1], "value": [[1.0], [0.0], [4.0]]}
    fields |= {"feature": [0, -1, -1], "threshold": [0.5, 0, 0], "tree_offsets": [0, 3]}
    fields |= {"feature_names": ["dose"], "output_names": ["response"], "missing_left": [1, 0, 0]}
    fields |= {"cover": np.array([4, 3, 1], object)}
    splitcredit.Forest(**fields)
    with pytest.raises(ValueError, match=reason):
        splitcredit.Forest(**fields | over)


@pytest.fixture(scope="module")
def grown():
    return RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("n_features_in_", None, "RandomForestClassifier is damaged, it lacks n_features_"),
        ("n_classes_", 2, "n_classes_ is 2, and classes_ has 3"),
    ],
)
def test_a_fitted_model_that_contradicts_itself_is_refused(attribute, value, message):
    """Its predict_proba has as many columns as n_classes_ says."""
    model = RandomForestClassifier(1, max_depth=2, random_state=0).fit(X, Y)
    delattr(model, attribute)
    if value is not None:
        setattr(model, attribute, value)
    with pytest.raises(ValueError, match=message):
        splitcredit.to_forest(model)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda m: splitcredit.explain(m, X, np.array(["a", "b"])), "unknown method array"),
        (lambda m: splitcredit.tree_shap(m, X, dtype=np.array([1, 2])), r"dtype=array\(\[1, 2\]\)"),
        (lambda m: splitcredit.explain(m, [[1, 2, 3, 4], [1]]), "X has rows of different lengths"),
        (lambda m: splitcredit.explain(m, [[10**400, 2, 3, 4]]), "X is not numeric"),
        (lambda m: splitcredit.rank(m, X, scale=10**400), "scale is not numeric"),
        (lambda m: splitcredit.rank(m, X, scale=1 + 1j), "scale is not numeric .it is complex"),
        (lambda m: splitcredit.importance(m, X, Y + 0j, "ufi"), "y is complex"),
        (lambda m: splitcredit.importance(m, X, [[1], [2, 3]], "ufi"), "y has entries of diff"),
        (lambda m: splitcredit.interactions(m, X, order=2**40), "order is 1099511627776, and"),
        (lambda m: splitcredit.Attribution("a", [0], ["a"], ["o"], "m"), "values is not numeric"),
        (lambda m: splitcredit.Attribution(X[:, :, None], [0], 3, ["o"], "m"), "3 is no list of"),
        (lambda m: splitcredit.Importance([1, 2j], ["a", "b"], "m"), "values is not numeric"),
        (lambda m: splitcredit.Importance([1], ["a"], 3), "method is 3, expected a str"),
        (lambda m: splitcredit.TreeExplainer(m, model_output=X), "expected the name of an output"),
    ],
)
def test_arguments_of_another_kind_are_refused_by_their_name(call, reason, grown):
    """Red if the error comes from inside, or an imaginary part is dropped."""
    with pytest.raises(ValueError, match=reason):
        call(grown)


def test_a_folder_is_named_and_a_matrix_that_no_memory_holds_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder: pass the file"):
        splitcredit.to_forest(tmp_path)
    names = [f"x{j}" for j in range(2**17)]
    wide = forests.single_leaf(feature_names=names)
    with pytest.raises(ValueError, match=r"take \d+.0 GiB, and this machine has"):
        splitcredit.interactions(wide, np.zeros((8, 2**17)))


def test_a_split_of_catboost_is_read_by_its_number(tmp_path):
    """As by CatBoost itself, which goes by no other part of a split."""
    (tmp_path / "model.json").write_text(json.dumps(catboost()))
    forest = splitcredit.to_forest(tmp_path / "model.json")
    assert forest.predict([[0.0], [1.0]]).ravel().tolist() == [1.0, 2.0]
    (threshold, *_) = from_content(catboost(splits=[SPLIT | {"split_index": 1}]), "model").threshold
    assert threshold == 1.5
