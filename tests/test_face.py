"""The library's face: models of every library, pandas and numpy in, shap's plots out."""

import numpy as np
import pandas as pd
import pytest

import splitcredit
from reproduction.figures import style

METHODS = ("tree_shap", "saabas", "local_mdi")


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(80, 4)), columns=["age", "dose", "height", "weight"])
    return X, (X["age"] + X["dose"] * X["height"] > 0).astype(int)


def models(X, y):
    from lightgbm import LGBMClassifier
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from xgboost import XGBClassifier

    yield RandomForestClassifier(10, random_state=0).fit(X, y)
    yield HistGradientBoostingClassifier(max_iter=5).fit(X, y)
    yield XGBClassifier(n_estimators=5, max_depth=3, n_jobs=1).fit(X, y)
    yield LGBMClassifier(n_estimators=5, n_jobs=1, verbosity=-1, min_child_samples=5).fit(X, y)


@pytest.mark.parametrize("method", METHODS)
def test_names_of_frames_are_kept_and_arrays_give_the_same(frame, method):
    X, y = frame
    for model in models(X, y):
        of_frame = splitcredit.explain(model, X, method=method)
        assert of_frame.feature_names == tuple(X.columns)
        of_array = splitcredit.explain(model, X.to_numpy(), method=method)
        assert of_array.values.tobytes() == of_frame.values.tobytes()
        tidy = of_frame.to_frame()
        assert list(tidy.columns[2:]) == list(X.columns)
        assert np.array_equal(tidy[X.columns[0]].to_numpy(), of_frame.values[:, 0].ravel())


def test_columns_in_another_order_are_put_in_order(frame):
    X, y = frame
    for model in models(X, y):
        reordered = splitcredit.explain(model, X[X.columns[::-1]])
        assert reordered.values.tobytes() == splitcredit.explain(model, X).values.tobytes()


def test_columns_that_are_missing_or_not_known_are_refused(frame):
    X, y = frame
    for model in models(X, y):
        with pytest.raises(ValueError, match=r"missing \['dose'\], not expected \[\]"):
            splitcredit.explain(model, X.drop(columns="dose"))
        with pytest.raises(ValueError, match=r"missing \[\], not expected \['more'\]"):
            splitcredit.explain(model, X.assign(more=1.0))


def test_explanations_of_shap_hold_the_same(frame):
    X, y = frame
    model = next(models(X, y))
    attribution = splitcredit.explain(model, X)
    several, one_output = attribution.to_shap(X), splitcredit.explain(model, X, output=1).to_shap(X)
    assert several.values.shape == (80, 4, 2) and several.output_names == ["0", "1"]
    # The first of two classes is explained, the other has its negative: they differ by rounding.
    assert np.allclose(several[:, :, 1].values, one_output.values, rtol=0, atol=1e-15)
    assert np.array_equal(one_output.data, X.to_numpy())
    assert one_output.feature_names == list(X.columns)
    totals = one_output.values.sum(axis=1) + one_output.base_values
    assert np.allclose(totals, model.predict_proba(X)[:, 1], rtol=0, atol=1e-12)
    predicted = splitcredit.explain(model, X, output="predicted").to_shap()
    assert predicted.base_values.shape == (80,)


@pytest.mark.parametrize("plot", ["bar", "beeswarm", "waterfall", "heatmap", "scatter"])
def test_plots_of_shap_work(frame, plot):
    from matplotlib import pyplot as plt

    X, y = frame
    with style():
        import shap

        explanation = splitcredit.explain(next(models(X, y)), X, output=1).to_shap(X)
        if plot == "waterfall":
            explanation = explanation[0]
        if plot == "scatter":
            explanation = explanation[:, "age"]
        getattr(shap.plots, plot)(explanation, show=False)
        assert plt.gcf().axes


def test_rows_that_were_not_explained_are_refused(frame):
    X, y = frame
    with pytest.raises(ValueError, match=r"X has shape \(3, 4\), and \(80, 4\) was explained"):
        splitcredit.explain(next(models(X, y)), X).to_shap(X[:3])
