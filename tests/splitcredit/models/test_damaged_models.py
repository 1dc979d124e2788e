"""Model files that contradict themselves or are damaged: the reader's own error, with the file."""

import json
import zipfile

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

import damaged
import forests
import splitcredit
from forests import STORED
from splitcredit.models.formats.catboost import from_content
from splitcredit.views import command_files

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = RNG.integers(0, 3, 200)
GROWN = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, Y)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    ("number", "n_compared"), [(40, 0), pytest.param(145, 2, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("kind", damaged.FORMATS)
def test_damaged_files_are_refused_by_name_or_read_as_their_library_reads_them(
    kind, number, n_compared, tmp_path
):
    """Red if a file ends in an error from inside, takes much memory, or predicts otherwise."""
    n_compared = n_compared if damaged.library_is_here(kind) else 0
    counts, alike, _, _ = damaged.run(kind, number, n_compared, tmp_path)
    assert set(counts) == {"taken", "refused"} and sum(counts.values()) == number
    assert set(alike) <= set(damaged.FINE) and bool(alike) == bool(n_compared)


def refuse(tmp_path, content):
    """See that a file is refused in one line that names it."""
    path = tmp_path / "bad.model"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"bad\.model") as caught:
        splitcredit.to_forest(path)
    assert len(str(caught.value).splitlines()) == 1


TREE = ("gradient_booster", "model", "trees", 0)
PARAMETERS = ("learner_model_param",)
BITSETS = ("categories", "categories_nodes", "categories_sizes")


def of_xgboost(changes) -> bytes:
    """A stored model of three classes with other values at some places; None takes one out."""
    content = json.loads(STORED["xgboost-3.4.1, classes"].files["model"])
    for (*way, last), value in changes.items():
        inside = content["learner"]
        for key in way:
            inside = inside[key]
        inside[last] = value
        if value is None:
            del inside[last]
    return json.dumps(content).encode()


def by_categories(*lists):
    """The changes by which the first split is one by categories, with these lists."""
    return {
        (*TREE, "split_type", 0): 1,
        **{(*TREE, key): own for key, own in zip(BITSETS, lists, strict=True)},
    }


@pytest.mark.parametrize(
    "changes",
    [
        {("gradient_booster", "model", "tree_info"): [0, 1, 2]},
        {("gradient_booster", "model", "tree_info", 0): 7},
        {("gradient_booster", "model", "tree_info", 0): -1},
        {("gradient_booster", "model", "trees"): []},
        {(*PARAMETERS, "num_class"): "1"},
        {(*PARAMETERS, "num_class"): "2000000000"},
        {(*PARAMETERS, "base_score"): "[1E0,2E0]"},
        {(*PARAMETERS, "base_score"): "[]"},
        {(*PARAMETERS, "num_feature"): "3000000"},
        {(*TREE, "split_indices", 0): 1.7},
        {(*TREE, "split_indices"): None},
        {(*TREE, "left_children", 0): 2**31},
        {(*TREE, "left_children", 0): -5},
        {(*TREE, "split_conditions"): [0.5]},
        {(*TREE, "split_type", 0): 1},
        {(*TREE, "categories_nodes"): [99]},
        {("objective",): 3},
        by_categories(None, None, None),
        by_categories([1], [99], [1]),
        by_categories([-1], [0], [1]),
        by_categories([1], [0], [2]),
    ],
    ids=str,
)
def test_a_model_of_xgboost_that_contradicts_itself_is_refused(tmp_path, changes):
    """Red if it is taken, as trees of a class too few, or ends in an error from inside."""
    refuse(tmp_path, of_xgboost(changes))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("num_tree_per_iteration=3", "num_tree_per_iteration=2"),
        ("num_tree_per_iteration=3\n", ""),
        ("num_tree_per_iteration=3", "num_tree_per_iteration=0"),
        ("num_tree_per_iteration=3", "num_tree_per_iteration=x"),
        ("tree_sizes=", "tree_sizes=1"),
        ("num_leaves=4", "num_leaves=100000000"),
        ("pandas_categorical:", "pandas_categorical:[["),
        ("shrinkage=1\n\n", "shrinkage=1\nJ"),
        ("label_index=0\n", "label_index=0"),
        ("objective=", "objective=average_output"),
        ("max_feature_idx=2", "max_feature_idx=1"),
        ("Column_0 ", "Column_0_"),
        ("Tree=0", "Tr\udcffe=0"),
        # LightGBM goes by num_cat, and takes a text for 0.
        *(("num_cat=1", f"num_cat={said}") for said in ("x", "0", "2")),
    ],
)
def test_a_model_of_lightgbm_that_contradicts_itself_is_refused(tmp_path, old, new):
    task = "categories" if "num_cat" in old else "classes"
    text = STORED[f"former/lightgbm-4.7.0, {task}"].files["text"].decode()
    assert old in text
    refuse(tmp_path, text.replace(old, new, 1).encode(errors="surrogateescape"))


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
    refuse(tmp_path, content)


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
    refuse(tmp_path, json.dumps(content).encode())


def test_scores_of_classes_that_training_lacked_are_no_targets():
    """CatBoost gives three names and two scores then: they were taken for two targets."""
    classes = {"class_params": {"class_names": [0, 1, 2], "class_to_label": [0, 1]}}
    content = catboost(leaf_values=[1, 2, 3, 4]) | {"model_info": classes}
    with pytest.raises(ValueError, match="2 outputs, the classes"):
        from_content(content | {"scale_and_bias": [1, [0, 0]]}, "model")


def test_a_split_of_catboost_is_read_by_its_number():
    """As by CatBoost itself, which goes by no other part of a split."""
    assert from_content(catboost(), "model").predict([[0.0], [1.0]]).ravel().tolist() == [1, 2]
    (threshold, *_) = from_content(catboost(splits=[SPLIT | {"split_index": 1}]), "model").threshold
    assert threshold == 1.5


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"(4,), }" + b" " * 9, b"(1000000000,), }", r"tree_offsets\.npy ends before"),
        # Red if NumPy's SyntaxError, which has a file name of its own, passes for the system's.
        (b"'descr': '<", b"'descr': ',", "is damaged: invalid syntax"),
        # The directory of the archive says 1 GiB.
        (None, (2**30).to_bytes(4, "little"), r"is damaged: .*npy says that it is larger"),
    ],
)
def test_arrays_that_say_to_be_larger_or_other_than_they_are_are_refused(
    old, new, reason, tmp_path
):
    """Red if memory is taken for them, or the error names no file."""
    path = tmp_path / "bad.npz"
    np.savez(tmp_path / "one.npz", **splitcredit.to_forest(GROWN).to_arrays())
    with zipfile.ZipFile(tmp_path / "one.npz") as one, zipfile.ZipFile(path, "w") as bad:
        for part in one.namelist():
            content = one.read(part)
            bad.writestr(part, content if old is None else content.replace(old, new))
    if old is None:
        raw = path.read_bytes()
        place = raw.index(b"PK\x01\x02") + 20
        path.write_bytes(raw[:place] + new + raw[place + 4 :])
    with pytest.raises(ValueError, match=rf"bad\.npz .*{reason}"):
        command_files.model_of(str(path))


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
        (lambda m: splitcredit.explain(m, [[1, 2, 3, 4], [1]]), "X has rows of different lengths"),
        (lambda m: splitcredit.explain(m, [[10**400, 2, 3, 4]]), "X is not numeric"),
        (lambda m: splitcredit.rank(m, X, scale=10**400), "scale is not numeric"),
        (lambda m: splitcredit.rank(m, X, scale=1 + 1j), "scale is not numeric .it is complex"),
        (lambda m: splitcredit.importance(m, X, Y + 0j, "ufi"), "y is complex"),
        (lambda m: splitcredit.importance(m, X, [[1], [2, 3]], "ufi"), "y has entries of diff"),
        (lambda m: splitcredit.interactions(m, X, order=2**40), "order is 1099511627776, and"),
        (lambda m: splitcredit.Attribution("a", [0], ["a"], ["o"], "m"), "values is not numeric"),
        (lambda m: splitcredit.Attribution(X[:, :, None], [0], 3, ["o"], "m"), "3 is not a list"),
        (lambda m: splitcredit.Importance([1], ["a"], 3), "method is 3, expected a str"),
    ],
)
def test_arguments_of_another_kind_are_refused_by_their_name(call, reason):
    """Red if the error comes from inside, or an imaginary part is dropped."""
    with pytest.raises(ValueError, match=reason):
        call(GROWN)


def test_a_folder_is_named_and_a_matrix_that_no_memory_holds_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder: pass the file"):
        splitcredit.to_forest(tmp_path)
    wide = forests.single_leaf(feature_names=[f"x{j}" for j in range(2**17)])
    with pytest.raises(ValueError, match=r"take \d+.0 GiB, and this machine has"):
        splitcredit.interactions(wide, np.zeros((8, 2**17)))
