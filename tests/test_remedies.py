"""Remedies that messages name, for what was passed."""

import logging

import lightgbm
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor

from splitcredit import TreeExplainer, explain, to_forest
from splitcredit._names import as_known
from splitcredit.convert.catboost import from_content
from splitcredit.kernels import compiled

X = pd.DataFrame(np.random.default_rng(0).normal(size=(90, 3)), columns=list("abc"))
MODEL = RandomForestRegressor(3, random_state=0).fit(X, X.a)


def test_the_error_for_a_Series_shows_how_to_pass_a_single_row():
    row = X.iloc[0]
    with pytest.raises(ValueError, match=r"pass a single row as X\.to_frame\(\)\.T"):
        explain(MODEL, row)
    assert explain(MODEL, row.to_frame().T).values.shape == (1, 3, 1)
    with pytest.raises(ValueError, match=r"pass a single row as np\.reshape\(X, \(1, -1\)\)"):
        explain(MODEL, list(row))


def test_the_error_for_columns_of_other_names_says_that_an_array_may_be_passed():
    other = X.set_axis(["a", "b", "d"], axis=1)
    with pytest.raises(ValueError, match="or an array of them in that order"):
        explain(MODEL, other)
    assert explain(MODEL, other.to_numpy()).values.shape == (90, 3, 1)


def test_a_column_without_a_name_is_known_by_its_position():
    """CatBoost calls it so, where other columns have names."""
    feature = {"flat_feature_index": 0, "has_nans": False, "nan_value_treatment": "AsIs"}
    features = [
        {**feature, "flat_feature_index": j, "feature_id": n} for j, n in enumerate(["", "b"])
    ]
    split = {"float_feature_index": 0, "border": 0.5}
    tree = {"splits": [split], "leaf_values": [1, 2], "leaf_weights": [1, 1]}
    content = {"features_info": {"float_features": features}, "oblivious_trees": [tree]}
    content |= {"scale_and_bias": [1, [0.0]], "model_info": {}}
    forest = from_content(content, "model")
    assert forest.feature_names == ("0", "b")
    for names in (["", "b"], ["0", "b"]):
        frame = pd.DataFrame([[0.0, 1.0], [1.0, 1.0]], columns=names)
        assert forest.predict(frame)[:, 0].tolist() == [1, 2]
    assert as_known(["b", ""], ("b", "c")) == ["b", ""]


class Detector:
    """A model of another package around one of ours."""

    detector_ = MODEL


def test_the_error_for_a_model_around_another_names_the_part_to_explain():
    with pytest.raises(TypeError, match=r"explain model\.detector_, if that is a model of trees"):
        to_forest(Detector())


def test_the_boosters_of_a_cross_validation_are_named():
    """It says that it has any attribute, and was taken for a search."""
    folds = lightgbm.cv(
        {"verbose": -1}, lightgbm.Dataset(X, X.a), 2, stratified=False, return_cvbooster=True
    )
    with pytest.raises(TypeError, match=r"explain model\.boosters\[i\]"):
        to_forest(folds["cvbooster"])


@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_code_that_catches_the_error_of_shap_catches_ours(kind):
    with pytest.raises(kind, match="cannot convert"):
        TreeExplainer(object())


def test_the_bar_ends_at_all_rows_where_they_fit_one_chunk(capsys):
    explain(MODEL, X, progress=True)
    assert "90/90" in capsys.readouterr().err


@pytest.mark.parametrize("is_kept", [True, False])
def test_the_notice_says_that_code_is_kept_only_where_it_is(is_kept, caplog, monkeypatch):
    def njit(**options):
        if options.get("cache") and not is_kept:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(compiled, "_is_kept", [True])
    monkeypatch.setattr(compiled, "_seconds_left", [compiled.LONG])
    monkeypatch.setattr(compiled.numba, "njit", njit)
    compiled._Kernel(len, parallel=False)
    with caplog.at_level(logging.WARNING, "splitcredit"):
        compiled._say()
    assert ("later processes load it" in caplog.text) == is_kept
