"""Few rows on the short way of `TreeExplainer`: the same bytes, and which rows may not take it."""

import numpy as np
import pytest

import splitcredit
from forests import DRAWN, FITTED, fitted, random_forest, rows_on_thresholds
from splitcredit import Forest, TreeExplainer, to_forest
from splitcredit.categories import Categories
from splitcredit.kernels import kept
from splitcredit.kernels.tree_shap import explain, layout, outcome_tables
from splitcredit.kernels.tree_shap.explain import few_rows, tree_shap

STUMP = {
    "feature": [0, -1, -1],
    "threshold": [0.1, 0, 0],
    "left": [1, -1, -1],
    "right": [2, -1, -1],
    "value": [[1.0], [0.0], [4.0]],
    "cover": [4, 3, 1],
    "tree_offsets": [0, 3],
    "feature_names": ["dose"],
    "output_names": ["response"],
}


@pytest.mark.parametrize("name", [*DRAWN, *FITTED])
def test_the_short_way_gives_the_bytes_of_the_long_one(name):
    forest = DRAWN[name]() if name in DRAWN else to_forest(fitted(name)[0])
    X = rows_on_thresholds(forest, 40)
    X = X[(abs(X) < 1e29).all(axis=1)]  # and no NaN
    small_tables = X[:1], X[1:4], np.asfortranarray(X[:2]), X[:2].astype(np.float32)
    for rows in (*small_tables, X[:7]) if outcome_tables.pays(forest) else small_tables:
        if len(rows):
            values = few_rows(forest, rows)
            assert values.tobytes() == tree_shap(forest, forest.prepare(rows)).tobytes()


@pytest.mark.parametrize("name", DRAWN)
def test_a_forest_too_large_for_what_is_kept_gives_the_same_bytes(name, monkeypatch):
    small_forest, large_forest = (DRAWN[name]() for _ in range(2))
    X = rows_on_thresholds(small_forest, 40)
    rows = X[(abs(X) < 1e29).all(axis=1)][:2]
    values = [few_rows(small_forest, rows) for _ in range(2)]
    monkeypatch.setattr(explain, "_SMALL", 0)
    values += [few_rows(large_forest, rows) for _ in range(2)]
    values.append(tree_shap(small_forest, small_forest.prepare(rows)))
    assert len({of_call.tobytes() for of_call in values}) == 1


@pytest.mark.parametrize("size", [1, layout.SMALL_CHUNK])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_first_call_keeps_no_layouts_and_gives_the_bytes_of_the_next_ones(
    monkeypatch, size, n_outputs
):
    store = kept.Kept(1 << 20)
    monkeypatch.setattr(kept, "ARRAYS", store)
    monkeypatch.setattr(layout, "SMALL_CHUNK", size)
    forest = random_forest(0, n_trees=4, depth=9, n_outputs=n_outputs)
    X = forest.prepare(rows_on_thresholds(forest, 2))
    values = []
    for n_kept in (0, 1, 1):
        values.append(tree_shap(forest, X, algorithm="rows"))
        assert len(store._lists.get(forest, {})) == n_kept
    blocks = tree_shap(forest, X, algorithm="blocks")
    assert len({of_call.tobytes() for of_call in (*values, blocks)}) == 1


def test_rows_are_cast_as_the_model_casts_them():
    """The number is above the threshold, and equal to it in single precision."""
    threshold = float(np.float32(0.1))
    rows = np.array([[np.nextafter(threshold, 1)]])
    stump = {**STUMP, "threshold": [threshold, 0, 0]}
    assert few_rows(Forest(**stump, x_dtype="float64"), rows)[0, 0, 0] > 0
    assert few_rows(Forest(**stump, x_dtype="float32"), rows)[0, 0, 0] < 0


@pytest.mark.parametrize("dtype", [">f8", ">f4", np.float16, np.longdouble])
def test_rows_of_other_types_than_two_of_floats_are_read_as_LightGBM_reads_them(dtype):
    """It compares numbers in another order of bytes in single precision, too."""
    threshold = float(np.float32(0.1))
    stump = {**STUMP, "threshold": [threshold, 0, 0]}
    forest = Forest(**stump, x_dtype="float64", cover_kind="leaf_count")
    rows = np.array([[np.nextafter(threshold, 1)]], dtype)
    assert few_rows(forest, rows) is None
    short_way = TreeExplainer(forest).shap_values(rows, check_additivity=False)
    assert short_way.tobytes() == splitcredit.explain(forest, rows).values[:, :, 0].tobytes()


def test_zeros_that_count_as_missing_and_categories_go_the_long_way():
    rows = np.ones((1, 1))
    assert few_rows(Forest(**STUMP, missing_left=[True] * 3, missing_value=0.0), rows) is None
    subset = Categories([0], [[1]], [True])
    split_fields = {"column": [1, 0, 0], "categories": subset, "threshold": [0.5, 0, 0]}
    assert few_rows(Forest(**{**STUMP, **split_fields}), rows) is None


@pytest.mark.parametrize(
    "rows",
    [
        np.full((1, 99), np.nan),
        [[np.nan]],
        [[np.inf]],
        [[-np.inf]],
        [[1e39]],
        np.array([[1e30]], np.float32),
        [[1e200]],
        np.zeros((0, 1)),
        np.zeros((65, 1)),
        np.zeros(1),
        np.zeros((1, 2)),
        np.zeros((1, 1), int),
        np.zeros((1, 1), object),
    ],
    ids=repr,
)
def test_rows_that_may_need_more_go_the_long_way(rows):
    forest = Forest(**STUMP, x_dtype="float32")
    rows = np.array(rows, float) if isinstance(rows, list) else rows
    assert few_rows(forest, rows) is None
    assert few_rows(forest, rows.tolist()) is None


def test_rows_that_do_not_fit_are_refused_without_the_check_as_well():
    explainer = TreeExplainer(Forest(**STUMP, x_dtype="float32"))
    with pytest.raises(ValueError, match="X has 2 features"):
        explainer.shap_values(np.zeros((1, 2)), check_additivity=False)
    with pytest.raises(ValueError, match="X holds NaN"):
        explainer.shap_values(np.full((1, 1), np.nan), check_additivity=False)
    too_large, infinite = (
        explainer.shap_values(np.full((1, 1), value), check_additivity=False)
        for value in (1e39, np.inf)
    )
    assert too_large.tolist() == infinite.tolist()
