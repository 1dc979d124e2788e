"""Plots of attributions and of importances: what is drawn where, and what stands beside it."""

from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

import splitcredit
from splitcredit import Attribution, Importance
from splitcredit.results.plots.kinds import KINDS, partner

matplotlib.use("Agg")
NAMES = ("dose", "age", "color", "size")


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(60, 4)), columns=NAMES)
    X["color"] = pd.Categorical(["red", "blue", None] * 20)
    X.loc[:3, "dose"] = np.nan
    return X


@pytest.fixture
def explained(rows):
    values = np.random.default_rng(1).normal(size=(60, 4, 1)) * [[[4], [1], [2], [0.1]]]
    return Attribution(values, [0.5], NAMES, ["ill"], "tree_shap")


def texts(labels):
    return [text.get_text() for text in labels]


def test_a_waterfall_goes_from_the_baseline_to_the_prediction_of_its_row(explained, rows):
    """Bars that start at 0, or leave the features out that have no bar, do not add up."""
    ax = explained.plot(kind="waterfall", row=2, X=rows, top=3)
    values = explained.values[2, :, 0]
    order = np.argsort(-abs(values))
    starts = [bar.get_x() for bar in ax.patches]
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, values[order][::-1])
    np.testing.assert_allclose(starts, 0.5 + np.cumsum([0, *widths[:-1]]))
    np.testing.assert_allclose(starts[-1] + widths[-1], explained.totals()[2, 0])
    assert [bar.get_y() < -0.5 for bar in ax.patches] == [True, False, False, False]
    assert "and 1 more feature" in texts(ax.texts)
    assert {"dose = missing", "color = missing"} <= set(texts(ax.get_yticklabels()))
    assert f"from the baseline 0.5 to {explained.totals()[2, 0]:.4g}" in ax.get_xlabel()
    low, high = ax.get_xlim()
    assert low < min(starts) and high > max(starts)


def test_lines_of_a_decision_plot_are_cumulative_sums(explained, rows):
    """Red if features that are not drawn are left out of the sums, or a row has another's line."""
    ax = explained.plot(kind="decision", row=2, X=rows, top=2)
    values = explained.values[[0, 1, *range(3, 60), 2], :, 0]
    steps = np.c_[np.full(60, 0.5), values[:, [1, 3]].sum(axis=1), values[:, 2], values[:, 0]]
    np.testing.assert_allclose([x.get_xdata() for x in ax.lines], np.cumsum(steps, axis=1))
    assert ax.lines[-1].get_color() == "black" and "dose = missing" in texts(ax.get_yticklabels())
    many = replace(explained, values=np.random.default_rng(0).normal(size=(540, 4, 1)))
    axes = [many.plot(kind="decision", row=1) for _ in range(2)]
    one, again = ([tuple(line.get_xdata()) for line in ax.lines] for ax in axes)
    assert one == again and len(set(one)) == 200 and np.isclose(one[-1][-1], many.totals()[1, 0])


def test_bars_of_a_force_plot_meet_at_the_prediction():
    """Red if features without a name are lost, or their sum lies between the others."""
    values = np.array([[4, 0.1, -2, 1, 0.05, -0.06]])
    one = Attribution(values[..., None], [0.5], list("abcdef"), ["y"], "saabas")
    ax = one.plot(kind="force", X=np.arange(6)[None])
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [4, 1, 0.15, -2, -0.06])
    starts = one.totals()[0] - np.array([4, 5, 5.15, -2, -2.06])
    np.testing.assert_allclose([bar.get_x() for bar in ax.patches], starts)
    raised = ["a = 0: +4", "d = 3: +1", "2 more features: +0.15"]
    lowered = ["c = 2: \N{MINUS SIGN}2", "1 more feature: \N{MINUS SIGN}0.06"]
    assert texts(ax.get_yticklabels()) == raised + lowered


def test_a_scatter_has_a_dot_for_each_row_and_missing_values_beside_the_others(explained, rows):
    """Rows with a missing value were not drawn at all."""
    ax = explained.plot(kind="scatter", X=rows)
    offsets = np.concatenate([np.asarray(dots.get_offsets()) for dots in ax.collections])
    assert ax.get_xlabel() == "dose"
    np.testing.assert_allclose(np.sort(offsets[:, 1]), np.sort(explained.values[:, 0, 0]))
    beside = offsets[np.isin(offsets[:, 1], explained.values[:4, 0, 0]), 0]
    places = dict(zip(texts(ax.get_xticklabels()), ax.get_xticks(), strict=True))
    room = rows["dose"].min() - places["missing"]
    assert room > 0 and (abs(beside - places["missing"]) < 0.41 * room).all()


def test_dots_of_a_category_lie_beside_each_other_at_its_label(explained, rows):
    """The same dots each time; red if two of them are one, or may belong to the next label."""
    explained.values[:] = explained.values.round()
    ax = explained.plot(kind="scatter", X=rows, feature="color")
    places = dict(zip(texts(ax.get_xticklabels()), ax.get_xticks(), strict=True))
    assert places == {"missing": -1, "blue": 0, "red": 1}
    offsets = np.concatenate([np.asarray(dots.get_offsets()) for dots in ax.collections])
    for label, first in (("red", 0), ("blue", 1), ("missing", 2)):
        drawn = np.sort(offsets[abs(offsets[:, 0] - places[label]) <= 0.4, 1])
        np.testing.assert_allclose(drawn, np.sort(explained.values[first::3, 2, 0]))
    again = explained.plot(kind="scatter", X=rows, feature="color").collections[-1].get_offsets()
    assert ax.collections[-1].get_offsets().tobytes() == again.tobytes()
    assert len(np.unique(again, axis=0)) == len(again)


def test_the_color_of_a_scatter_is_the_feature_that_interacts_most():
    """The product of a and b has no linear trend in b over all rows, but within groups it has."""
    X = np.random.default_rng(0).normal(size=(500, 3))
    X[::7, 2] = np.nan
    values = np.c_[X[:, 0] * X[:, 1], X[:, 1], np.zeros(500)]
    assert partner(values[:, 0], X, 0) == 1
    assert partner(np.zeros(500), X, 0) is None
    assert partner(X[:, 0] ** 3, X, 0) in (1, 2)
    explained = Attribution(values[:, :, None], [0.0], list("abc"), ["y"], "tree_shap")
    colored = explained.plot(kind="scatter", X=X, feature="a")
    assert colored.figure.axes[-1].get_ylabel() == "value of b"
    assert len(explained.plot(kind="scatter", X=X, feature=2).figure.axes) == 1


def test_a_heatmap_has_the_rows_in_the_order_of_their_predictions(explained):
    ax = explained.plot(kind="heatmap", top=2)
    (image,) = ax.images
    order = np.argsort(explained.totals()[:, 0])
    np.testing.assert_array_equal(image.get_array(), explained.values[order][:, [2, 0], 0].T)
    assert texts(ax.get_yticklabels()) == ["color", "dose"]
    assert "and 2 more features" in texts(ax.texts)
    assert "60 rows, by rising prediction" in ax.get_xlabel()


@pytest.mark.parametrize(
    ("kind", "quantity"),
    [
        (RandomForestRegressor, "prediction in units of the target"),
        (RandomForestClassifier, "probability of 'True'"),
        (GradientBoostingClassifier, "log-odds of 'True'"),
    ],
)
def test_axes_say_what_is_divided_and_in_which_unit(rows, kind, quantity, tmp_path):
    """Also of a result that was stored."""
    X, is_regressor = rows[["age", "size"]], kind is RandomForestRegressor
    model = kind(n_estimators=3).fit(X, rows["age"] if is_regressor else rows["age"] > 0)
    splitcredit.explain(model, X, output="all" if is_regressor else "True").save(tmp_path / "a.npz")
    explained = Attribution.load(tmp_path / "a.npz")
    for options in ({}, {"kind": "waterfall", "row": 0}):
        assert quantity in explained.plot(**options).get_xlabel().replace("\n", " ")
    importance = splitcredit.importance(model, X, method="saabas").plot()
    assert quantity.partition(" of ")[0] in importance.get_xlabel().replace("\n", " ")


def test_a_matrix_of_interactions_has_pairs_below_main_effects(rows):
    """Red if a pair has one of its halves, or the features are not the largest."""
    X = rows[["age", "size", "dose"]].fillna(0.0)
    model = RandomForestRegressor(3, random_state=0).fit(X, X["age"] * X["dose"])
    pairs = splitcredit.interactions(model, X)
    ax = pairs.plot(top=2)
    assert texts(ax.get_yticklabels()) == texts(ax.get_xticklabels()) == ["dose", "age"]
    whole = pairs.to_frame()[["age", "age x dose", "dose"]].abs().mean()
    own, below = (np.ma.filled(image.get_array(), np.nan) for image in ax.images)
    np.testing.assert_allclose(own, [[whole["dose"], np.nan], [np.nan, whole["age"]]])
    np.testing.assert_allclose(below, [[np.nan, np.nan], [whole["age x dose"], np.nan]])
    assert "1 more feature not shown" in ax.get_xlabel()
    classes = RandomForestClassifier(3).fit(X, X["age"] > 0)
    for refused, message in (
        (splitcredit.interactions(model, X, sets=0), "without sets"),
        (splitcredit.interactions(model, X[:0]), "at least one row"),
        (splitcredit.interactions(classes, X), r"pass output=, one of \['False', 'True'\]"),
    ):
        with pytest.raises(ValueError, match=message):
            refused.plot()


def test_plots_that_cannot_be_drawn_are_refused_with_what_to_pass(explained, rows):
    several = Attribution(np.ones((2, 1, 2)), [0.0, 0.0], ["a"], ["no", "yes"], "saabas")
    for refused, options, message in (
        (explained, {"kind": "pie"}, "kind='pie': available are"),
        (explained, {"kind": "waterfall"}, "pass row=, a position below 60"),
        (explained, {"kind": "waterfall", "row": 60}, "row=60: 60 rows were explained"),
        (explained, {"kind": "scatter"}, "pass X="),
        (explained, {"kind": "scatter", "X": rows, "feature": "sex"}, "feature: 'sex' is neither"),
        (several, {"kind": "heatmap"}, r"pass output=, one of \['no', 'yes'\]"),
        (several, {"output": "so"}, "output: 'so' is neither an index below 2 nor a name"),
        (explained, {"X": np.zeros((3, 4))}, r"X has shape \(3, 4\), and \(60, 4\) was explained"),
        *((explained, {"top": top}, "expected a whole number, at least") for top in (0, -1, 2.5)),
        (Importance([1.0], ["a"], "mdi"), {"top": 0}, "expected a whole number, at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            refused.plot(**options)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_features", [1, 200])
def test_every_kind_draws_one_feature_and_many_and_cuts_long_names(kind, n_features):
    values = np.random.default_rng(0).normal(size=(5, n_features, 1))
    names = [f"{'long ' * 20}{j}" for j in range(n_features)]
    explained = Attribution(values, [0.0], names, ["y"], "local_mdi")
    ax = explained.plot(kind=kind, X=values[:, :, 0], row=1)
    ax.figure.canvas.draw()
    assert ax.get_window_extent().width / ax.figure.bbox.width > 0.4
    assert all(name.get_window_extent().x0 >= 0 for name in ax.get_yticklabels())
    ax.set_xlabel("word " * 20)
    ax.figure.canvas.draw()
    box = ax.figure.get_tightbbox()
    assert box.x0 >= 0 and box.x1 <= ax.figure.get_figwidth()
    if kind not in ("scatter", "force"):
        assert ("and 180 more features" in texts(ax.texts)) == (n_features == 200)


def test_importances_side_by_side_share_the_order_of_the_features_and_keep_their_units():
    """Values of another order of features were drawn under wrong names."""
    first = Importance([3.0, 1.0, 2.0], ["a", "b", "c"], "mdi")
    second = Importance([1e-3, 3e-3, -1e-3], ["b", "a", "c"], "sage", {}, [1e-4, 0, 0])
    axes = Importance.side_by_side([first, second, first])
    assert [ax.get_title() for ax in axes] == ["mdi", "sage", "mdi (2)"]
    assert [ax.get_xlabel() for ax in axes[:2]] == ["decrease of impurity", "decrease of the loss"]
    assert texts(axes[0].get_yticklabels()) == ["b", "c", "a"]
    widths = [[bar.get_width() for bar in ax.patches] for ax in axes]
    np.testing.assert_allclose(widths, [[1, 2, 3], [1e-3, -1e-3, 3e-3], [1, 2, 3]])
    cut = Importance.side_by_side({"ours": first}, top=1)
    assert cut[0].get_title() == "ours" and texts(cut[0].texts) == ["and 2 more features"]
    of_rows = Attribution([[[3], [-1], [1], [0]]], [0], ["b", "c", "a", "d"], ["y"], "saabas")
    both = Importance.side_by_side({"ours": first, "rows": of_rows}, panels=False)
    shares = [bar.get_width() for bar in both.patches]
    np.testing.assert_allclose(shares, [2 / 6, 1 / 6, 3 / 6, 1 / 5, 3 / 5, 1 / 5])
    assert both.get_xlabel() == "share of the sum of all absolute values"
    alike = Importance.side_by_side({"one": first, "other": first}, panels=False)
    assert alike.patches[4].get_width() == 2 and "decrease of imp" in alike.get_xlabel()
    with pytest.raises(ValueError, match=r"no feature is in all of \['mdi', 'sage'\]"):
        Importance.side_by_side([first, Importance([1.0], ["z"], "sage")])
    with pytest.raises(ValueError, match="no importances"):
        Importance.side_by_side([])


def test_a_dollar_in_a_name_is_no_mathematics():
    """Red if `$60K - $80K` is drawn without its dollars, or `A$$B` ends the drawing."""
    names, outputs = ["Income_$60K - $80K", "A$$B"], ["$a$", "b$"]
    attribution = Attribution(np.ones((3, 2, 2)), np.zeros(2), names, outputs, "tree_shap")
    for kind in ("bar", "waterfall"):
        ax = attribution.plot(kind=kind, row=0 if kind == "waterfall" else None, output="$a$")
        ax.figure.canvas.draw()
        shown = [text.get_text().replace("\\$", "$") for text in ax.get_yticklabels()]
        assert sorted(text for text in shown if text) == sorted(names)
        assert "'$a$'" in ax.get_xlabel().replace("\\$", "$")
