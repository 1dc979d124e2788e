"""Sums over groups of features, plots, and the examples in docstrings and on the user's page."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from scipy.sparse import csr_array
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import splitcredit
from splitcredit import Attribution, Importance

matplotlib.use("Agg")
ROOT = Path(__file__).resolve().parents[3]
NAMES = ("red", "green", "blue", "size")


def attribution(n_outputs=2, method="saabas", dtype=np.float64, n=30):
    values = np.random.default_rng(0).normal(size=(n, 4, n_outputs)) * [[[3], [0.1], [1], [2]]]
    names = [f"class {c}" for c in range(n_outputs)]
    return Attribution(values.astype(dtype), np.zeros(n_outputs), NAMES, names, method)


def importance(method="sage", **parameters):
    return Importance([0.5, -0.1, 0.2, 0.3], NAMES, method, parameters, [0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize("groups", [{"color": ["red", "blue"]}, {"color": [2, 0]}])
def test_a_group_has_the_sum_of_its_features_and_the_others_stay(groups):
    before = attribution()
    grouped = before.grouped(groups)
    assert grouped.feature_names == ("color", "green", "size")
    total = before.values[:, 0] + before.values[:, 2]
    np.testing.assert_allclose(grouped.values[:, 0], total, rtol=1e-15)
    assert grouped.values[:, 1:].tobytes() == before.values[:, [1, 3]].tobytes()
    np.testing.assert_allclose(grouped.totals(), before.totals(), rtol=0, atol=1e-14)
    importances = importance().grouped(groups)
    np.testing.assert_allclose(importances.values, [0.7, -0.1, 0.3])
    np.testing.assert_allclose(importances.standard_error, [0.4, 0.2, 0.4])
    assert attribution(dtype=np.float32).grouped(groups).values.dtype == np.float32


def test_values_that_cannot_be_added_are_not_grouped():
    for result, reason in (
        (attribution(method="pg2_greedy"), "pg2_greedy cannot be added"),
        (importance("mda"), "mda cannot be added"),
        (importance("saabas", summary="mean |attribution|"), "means of absolute values"),
        (importance("saabas", weigh_by="absolute"), "means of absolute values"),
    ):
        with pytest.raises(ValueError, match=reason):
            result.grouped({"color": ["red", "blue"]})


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"color": ["red", "pink"]}, r"group 'color': 'pink' is neither an index below 4 nor"),
        ({"color": [4]}, "group 'color': 4 is neither an index"),
        ({"one": ["red"], "two": ["red"]}, "feature 'red' is in 'one' and in 'two': put it into"),
        ({"one": ["red", 0]}, "feature 'red' is in 'one' and in 'one'"),
        ({"size": ["red"]}, r"\['size'\] would be the name of a group and of a feature"),
        ({"color": "red"}, "group 'color' is 'red': give a list of features"),
        ({"color": None}, "group 'color' is None: give a list of features"),
        ([[0, 1]], "group"),
        ({"a": np.int64(1)}, "group"),
        ("red", "group"),
    ],
)
def test_groups_that_cannot_be_are_refused(groups, message):
    for result in (attribution(), importance()):
        with pytest.raises(ValueError, match=message):
            result.grouped(groups)


def labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def test_bars_of_importances_are_sorted_and_have_their_errors_on_the_axes_that_are_given():
    given = pyplot.figure().subplots()
    ax = importance().plot(given)
    assert ax is given is attribution().plot(given)
    ax = importance().plot()
    assert labels(ax) == ["green", "blue", "size", "red"]
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, [-0.1, 0.2, 0.3, 0.5])
    (container,) = [c for c in ax.containers if hasattr(c, "errorbar")]
    ends = container.errorbar.lines[2][0].get_segments()
    np.testing.assert_allclose([b[0] - a[0] for a, b in ends], [0.4, 0.6, 0.8, 0.2])
    assert labels(importance().plot(top=2)) == ["size", "red"]
    assert Importance([1.0], ["x"], "mdi").plot().containers[0].errorbar is None


@pytest.mark.parametrize(("n_outputs", "kind"), [(1, "bar"), (2, None)])
def test_bars_of_outputs_are_stacked_means_of_absolute_values(n_outputs, kind):
    a = attribution(n_outputs)
    ax = a.plot(kind=kind)
    assert labels(ax) == ["green", "blue", "size", "red"]
    assert ax.get_xlabel().startswith("mean |contribution| to")
    means = np.abs(a.values).mean(axis=0)[[1, 2, 3, 0]]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], means.T.ravel())
    starts = [bar.get_x() for bar in ax.patches]
    np.testing.assert_allclose(starts, [*np.zeros(4), *means[:, 0]][: 4 * n_outputs])
    if n_outputs == 2:
        assert [t.get_text() for t in ax.get_legend().get_texts()] == ["class 0", "class 1"]


@pytest.mark.parametrize("output", [1, "class 1"])
def test_one_output_is_a_dot_for_each_row_and_feature_at_its_value(output):
    a = attribution()
    ax = a.plot(output=output, top=3)
    assert labels(ax) == ["blue", "size", "red"] and "class 1" in ax.get_xlabel()
    for k, j in enumerate((2, 3, 0)):
        dots = np.asarray(ax.collections[k].get_offsets())
        np.testing.assert_allclose(dots[:, 0], a.values[:, j, 1])
        assert (np.abs(dots[:, 1] - k) < 0.5).all() and len(np.unique(dots, axis=0)) == 30


def test_dots_are_colored_by_the_values_of_the_feature():
    a = attribution(n_outputs=1)
    X = np.random.default_rng(1).normal(size=(30, 4))
    X[3, 0] = np.nan
    ax = a.plot(X=X)
    nan_dots, known_dots = ax.collections[-2], ax.collections[-1]  # of "red", the feature on top
    assert len(nan_dots.get_offsets()) == 1 and len(known_dots.get_offsets()) == 29
    color = known_dots.get_array()
    order = np.argsort(np.delete(X[:, 0], 3))
    assert (np.diff(np.asarray(color)[order]) >= 0).all() and color.min() == 0 and color.max() == 1


def test_labels_of_categories_are_gray_beside_the_colors_of_numbers():
    """Models that split by categories take such columns; a plot of their rows failed."""
    X = pd.DataFrame(np.arange(120.0).reshape(30, 4), columns=NAMES)
    X["green"] = pd.Categorical(["a", "b", None] * 10)
    X["size"] = np.where(X["size"] > 9, X["size"].astype(object), pd.NA)
    ax = attribution(n_outputs=1).plot(X=X)
    n_gray = [len(dots.get_offsets()) for dots in ax.collections if dots.get_array() is None]
    assert sorted(n_gray) == [0, 0, 2, 30]
    assert "gray: categories, missing values" == ax.get_legend().get_texts()[0].get_text()
    ax = attribution(n_outputs=1).plot(X=X.assign(green=["a", "b"] * 15, size=1))
    assert "gray: categories" == ax.get_legend().get_texts()[0].get_text()
    of_no_rows = attribution(n_outputs=1, n=0).plot(X=np.empty((0, 4)))
    assert len(labels(of_no_rows)) == 4
    assert not any(len(dots.get_offsets()) for dots in of_no_rows.collections)


def test_what_needs_a_package_that_is_not_here_names_it(monkeypatch):
    """Values of explainers need no shap."""
    for package in ("matplotlib", "shap"):
        monkeypatch.setitem(sys.modules, package, None)
    rows = np.arange(12.0).reshape(6, 2)
    model = DecisionTreeRegressor(max_depth=2).fit(rows, rows[:, 0])
    assert splitcredit.TreeExplainer(model, rows).shap_values(rows).shape == (6, 2)
    for package, call in (
        ("matplotlib", importance().plot),
        ("shap", attribution().to_shap),
        ("shap", splitcredit.interactions(model, rows).to_shap),
        ("shap", lambda: splitcredit.TreeExplainer(model)(rows)),
    ):
        with pytest.raises(ModuleNotFoundError, match=f"pip install {package}") as error:
            call()
        assert error.value.name == package


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_snippet_of_a_first_page_runs(page):
    snippets = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    assert snippets
    for snippet in snippets:
        exec(snippet, {})


def test_rows_whose_columns_have_another_order_are_shown_by_name():
    ours = attribution(1, n=6)
    X = pd.DataFrame(np.arange(24.0).reshape(6, 4), columns=list(NAMES))
    reordered = X[list(NAMES[::-1])]
    np.testing.assert_array_equal(ours.to_shap(reordered).data, X.to_numpy())
    colors = [
        [dots.get_array() for dots in ours.plot(X=rows).collections] for rows in (X, reordered)
    ]
    np.testing.assert_array_equal(*([c for c in own if c is not None] for own in colors))
    # Made-up names say nothing: positions count.
    unnamed = replace(ours, feature_names=("x0", "x1", "x2", "x3"))
    np.testing.assert_array_equal(unnamed.to_shap(reordered).data, reordered.to_numpy())


def test_rows_of_other_columns_than_those_that_were_explained_are_not_shown():
    """A pipeline may put features in another order, so that values were shown under wrong names."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 3)), columns=["a", "b", "c"])
    steps = ColumnTransformer([("last", "passthrough", ["c", "a"])], remainder="passthrough")
    model = make_pipeline(steps, DecisionTreeRegressor(max_depth=3)).fit(X, X["c"])
    by = {"features": "transformed"}
    ours, pairs = splitcredit.explain(model, X, **by), splitcredit.interactions(model, X, **by)
    assert ours.feature_names == ("c", "a", "b")
    refusal = r"columns \['a', 'b', 'd'\], and \['c', .* pass"
    for show in (lambda rows: ours.plot(X=rows), ours.to_shap, pairs.to_shap):
        with pytest.raises(ValueError, match=refusal):
            show(X.rename(columns={"c": "d"}))
        with pytest.raises(ValueError, match=r"X is sparse: pass X.toarray\(\)"):
            show(csr_array(X))
        show(model[:-1].transform(X))
    for rows in (X, X[["c", "a", "b"]].to_numpy()):
        np.testing.assert_array_equal(ours.to_shap(rows).data[:, 0], X["c"])


def test_explanations_of_shap_hold_the_same():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 4)), columns=NAMES)
    y = (X["red"] + X["green"] * X["blue"] > 0).astype(int)
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    explained = splitcredit.explain(model, X)
    several, one_output = explained.to_shap(X), splitcredit.explain(model, X, output=1).to_shap(X)
    assert several.values.shape == (80, 4, 2) and several.output_names == ["0", "1"]
    # The first of two classes is explained, the other has its negative: they differ by rounding.
    assert np.allclose(several[:, :, 1].values, one_output.values, rtol=0, atol=1e-15)
    assert np.array_equal(one_output.data, X.to_numpy())
    assert one_output.feature_names == list(X.columns)
    totals = one_output.values.sum(axis=1) + one_output.base_values
    assert np.allclose(totals, model.predict_proba(X)[:, 1], rtol=0, atol=1e-12)
    predicted = splitcredit.explain(model, X, output="predicted").to_shap()
    assert predicted.base_values.shape == (80,)
    with pytest.raises(ValueError, match=r"X has shape \(3, 4\), and \(80, 4\) was explained"):
        explained.to_shap(X[:3])
