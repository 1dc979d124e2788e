"""Few rows on the short way of `TreeExplainer`: the same bytes, and which rows may not take it."""

import numpy as np
import pytest

import splitcredit
from forests import DRAWN, FITTED, fitted, rows_on_thresholds
from splitcredit import Forest, TreeExplainer, to_forest
from splitcredit.categories import Categories
from splitcredit.kernels.tree_shap import explain, outcome_tables
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
