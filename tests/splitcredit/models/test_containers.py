"""Rows in the containers of libraries, with offsets and without, and sparse rows."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor

import splitcredit
import twins
from splitcredit import TreeExplainer, explain, explain_chunks, importance, interactions, to_forest

FLOAT32 = 1e-5  # relative; XGBoost adds up in float32
OPTIONS = {"max_depth": 3, "nthread": 1}


def drawn(n=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + X[:, 1] * X[:, 2], 3 * rng.normal(size=n)


def with_margin(n_classes=1, quantized=False):
    """A Booster, and a matrix of rows with a base margin each."""
    X, y, margin = drawn()
    options = OPTIONS
    if n_classes == 3:
        y, margin = np.digitize(y, [-0.5, 0.5]), np.column_stack([margin, -margin, 0 * margin])
        options = {**OPTIONS, "objective": "multi:softprob", "num_class": 3}
    kind = xgboost.QuantileDMatrix if quantized else xgboost.DMatrix
    rows = kind(X, y, base_margin=margin)
    return xgboost.train(options, rows, 9), rows


@pytest.mark.parametrize(("n_classes", "quantized"), [(1, False), (3, False), (1, True)])
def test_totals_are_the_predictions_of_rows_with_a_base_margin(n_classes, quantized):
    """The margin was dropped, and the check of additivity predicted bare rows."""
    model, rows = with_margin(n_classes, quantized)
    theirs = model.predict(rows, output_margin=True).reshape(200, -1)
    own = model.predict(rows, pred_contribs=True).reshape(200, n_classes, 4).transpose(0, 2, 1)
    attribution = explain(model, rows)
    assert twins.largest_error(attribution.totals(), theirs) <= FLOAT32
    assert twins.largest_error(attribution.values, own[:, :3]) <= FLOAT32
    assert twins.largest_error(attribution.baseline, own[:, 3]) <= FLOAT32
    parts = list(explain_chunks(model, rows, chunk_rows=70))
    joined = np.concatenate([part.baseline for part in parts])
    assert joined.tobytes() == attribution.baseline.tobytes()
    for more, axes in (({}, 1), ({"interactions": True}, (1, 2))):
        explanation = TreeExplainer(model)(rows, **more)
        totals = explanation.base_values + explanation.values.sum(axes)
        assert twins.largest_error(totals.reshape(200, -1), theirs) <= FLOAT32
    assert importance(model, rows, method="tree_shap").values.shape == (3,)


def test_the_margin_of_one_class_is_in_its_baseline():
    model, rows = with_margin(3)
    every, second = explain(model, rows), explain(model, rows, output=1)
    assert second.totals().tobytes() == every.totals()[:, [1]].tobytes()
    X, y, margin = drawn()
    rows = xgboost.DMatrix(X, y > 0, base_margin=margin)
    model = xgboost.train({**OPTIONS, "objective": "binary:logistic"}, rows, 5)
    raw = model.predict(rows, output_margin=True)
    assert twins.largest_error(explain(model, rows, output=0).totals()[:, 0], -raw) <= FLOAT32
    assert twins.largest_error(explain(model, rows, "saabas").totals()[:, 0], raw) <= FLOAT32


def test_offsets_are_refused_where_there_is_no_place_for_them():
    model, rows = with_margin()
    classes, of_classes = with_margin(3)
    X, y, margin = drawn()
    binary = xgboost.train({**OPTIONS, "objective": "binary:logistic"}, xgboost.DMatrix(X, y > 0))
    moved = xgboost.DMatrix(X, base_margin=margin)
    options = {"background": X, "model_output": "probability"}
    on_curve = TreeExplainer(binary, X, model_output="probability")
    for call, message in (
        (
            lambda: TreeExplainer(model).shap_values(rows),
            "base_margin of this DMatrix adds to each",
        ),
        (
            lambda: TreeExplainer(model).shap_interaction_values(rows),
            "the base_margin of this DMatrix adds to each row",
        ),
        (lambda: explain(classes, of_classes, output="predicted"), "changes which class"),
        (
            lambda: splitcredit.tree_shap_interventional(binary, moved, **options),
            "shifts the raw score of rows",
        ),
        (lambda: on_curve(moved), "shifts the raw score of rows"),
        (lambda: interactions(model, rows), "X is a DMatrix: pass the table"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_the_baseline_of_a_pool_is_in_that_of_its_rows():
    catboost = pytest.importorskip("catboost")
    X, y, offset = drawn()
    for target, baseline in (
        (y, offset),
        (np.digitize(y, [-0.5, 0.5]), np.outer(offset, [1, 2, 0])),
    ):
        pool = catboost.Pool(X, target, baseline=baseline)
        loss = "RMSE" if baseline.ndim == 1 else "MultiClass"
        options = {"iterations": 5, "verbose": 0, "loss_function": loss}
        model = catboost.CatBoost({**options, "allow_writing_files": False}).fit(pool)
        raw = model.predict(pool, prediction_type="RawFormulaVal").reshape(200, -1)
        assert twins.largest_error(explain(model, pool).totals(), raw) <= FLOAT32
        explanation = TreeExplainer(model)(pool)
        totals = explanation.base_values + explanation.values.sum(1)
        assert twins.largest_error(totals.reshape(200, -1), raw) <= FLOAT32
        with pytest.raises(ValueError, match="the baseline of this Pool adds to each row"):
            TreeExplainer(model).shap_values(pool)


def sparse_rows():
    X, y, _ = drawn()
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0
    return sparse.csr_array(X), y


@pytest.mark.parametrize(
    "model",
    [
        xgboost.XGBRegressor(n_estimators=5, max_depth=3),
        lightgbm.LGBMRegressor(n_estimators=5, n_jobs=1, verbose=-1),
        RandomForestRegressor(5, random_state=0),
    ],
)
def test_sparse_rows_are_what_the_library_takes_them_for(model):
    """XGBoost takes what is not stored for missing, the others for 0."""
    X, y = sparse_rows()
    predicted, dense = model.fit(X, y).predict(X), X.toarray()
    if isinstance(model, xgboost.XGBModel):
        dense = np.where(dense == 0, np.nan, dense)
    for rows in (X, X.tocsc(), X.tocoo(), sparse.csr_matrix(X)):
        attribution = explain(model, rows)
        assert attribution.values.tobytes() == explain(model, dense).values.tobytes()
        assert twins.largest_error(attribution.totals()[:, 0], predicted) <= FLOAT32
    parts = [part.values for part in explain_chunks(model, X, chunk_rows=70)]
    assert np.concatenate(parts).tobytes() == attribution.values.tobytes()
    assert TreeExplainer(model).shap_values(X).tobytes() == attribution.values.tobytes()
    assert to_forest(model).hash_of(X) == to_forest(model).hash_of(dense)


def test_rows_in_containers_are_those_that_were_put_in():
    X, y = sparse_rows()
    booster = xgboost.train(OPTIONS, xgboost.DMatrix(X, y), 5)
    attribution = explain(booster, X)
    assert explain(booster, xgboost.DMatrix(X)).values.tobytes() == attribution.values.tobytes()
    data = lightgbm.Dataset(X, y, free_raw_data=False)
    model = lightgbm.train({"verbose": -1}, data, 5)
    assert explain(model, data).values.tobytes() == explain(model, X).values.tobytes()
    frame = pd.DataFrame(X.toarray(), columns=list("abc"))
    named = xgboost.train(OPTIONS, xgboost.DMatrix(frame, y), 5)
    assert np.array_equal(
        explain(named, xgboost.DMatrix(frame)).values, explain(named, frame).values
    )


def test_a_dataset_without_its_rows_or_with_more_is_refused():
    X, y, offset = drawn()
    data = lightgbm.Dataset(X, y)
    model = lightgbm.train({"verbose": -1}, data, 2)
    with pytest.raises(ValueError, match="has not kept its rows: pass them, or make it with free"):
        explain(model, data)
    with pytest.raises(ValueError, match="has an init_score, which LightGBM leaves out"):
        explain(model, lightgbm.Dataset(X, y, init_score=offset))
