"""The figure of a sweep: what its defaults are, what is refused, and what is drawn."""

import inspect
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from reproduction import metrics, storage
from reproduction.figures import facets as drawing
from reproduction.figures import style
from reproduction.planning import configuration as config
from reproduction.planning import facets

ROOT = Path(__file__).resolve().parents[2]
FULL = config.read_yaml(ROOT / "config" / "config.yaml")
BASE = {"data": "noisy_features", "model": "random_forest"}


def planned(*blocks, **experiment):
    """Settings of the figure of an experiment."""
    defaults = {"importances": ["mdi", "air"], "metrics": ["relevance"], "sweep": list(blocks)}
    return facets.complete({**FULL, "experiments": {"e": {**defaults, **experiment}}}, "e")


def grid(**axes):
    return {"grid": {**BASE, **axes}}


def places(spec):
    return tuple(spec[part] for part in ("x", "color", "column", "row"))


def test_the_numeric_axis_with_the_most_values_is_x_and_the_measure_the_color():
    axes = {"model.criterion": ["gini", "entropy", "log_loss"], "model.max_depth": [2, 4]}
    spec = planned(grid(**axes, **{"data.n_samples": [100, 300, 1000], "repeat": [1, 2]}))
    assert (spec["metric"], spec["y"]) == ("relevance", "value")
    x, color, column, row = places(spec)
    assert (x, color, column) == (["data.n_samples"], "importance", ["model.criterion"])
    assert row == ["model.max_depth", "among"]
    assert spec["log"] == ["data.n_samples"] and not spec["points"]


def test_without_a_numeric_axis_x_is_what_is_swept_and_without_any_it_is_of_the_metric():
    spec = planned(grid(**{"model.criterion": ["gini", "entropy"]}))
    assert places(spec) == (["model.criterion"], "importance", ["among"], [])
    spec = planned(grid(), metrics=["global_scores"])
    assert places(spec) == (["feature"], "importance", [], [])


def test_blocks_that_vary_one_parameter_each_make_a_panel_each():
    blocks = [grid(**{axis: [1, 2, 4]}) for axis in ("model.max_depth", "model.min_samples_leaf")]
    spec = planned(*blocks)
    assert spec["x"] == ["model.max_depth", "model.min_samples_leaf"] and not spec["column"]


def test_drawn_values_are_points():
    axes = {**BASE, "model.max_depth": {"integers": [1, 9]}}
    spec = planned({"random": {"draws": 5, "axes": axes}})
    assert spec["x"] == ["model.max_depth"] and spec["points"]


def test_what_the_line_says_is_kept_and_the_rest_finds_its_place():
    axes = {"data.n_samples": [100, 200], "model.max_depth": [2, 4], "data.n_features": [20, 50]}
    line = {"x": "model.max_depth", "row": "importance", "log": ["x", "y"]}
    spec = planned(grid(**axes), figure=line)
    assert places(spec) == (
        ["model.max_depth"],
        "among",
        ["data.n_samples"],
        ["importance", "data.n_features"],
    )
    assert spec["log"] == ["model.max_depth", "y"]
    fixed = planned(grid(**axes), figure={"where": {"data.n_features": 50, "among": 50}})
    assert "among" not in fixed["row"] and "data.n_features" not in fixed["row"] + fixed["column"]
    assert fixed["where"] == {"data.n_features": [50], "among": [50]}


def test_axes_of_another_metric_have_no_place():
    axes = {"metric.scores.normalize": [True, False], "model.max_depth": [1, 2]}
    spec = planned(grid(**axes), metrics=["relevance", "scores"])
    assert "metric.scores.normalize" not in [*spec["column"], *spec["row"]]
    spec = planned(grid(**axes), metrics=["relevance", "scores"], figure={"metric": "scores"})
    assert "metric.scores.normalize" in [*spec["column"], *spec["row"]]


def test_no_figure_is_drawn_if_none_is_wanted_or_nobody_could_read_it():
    five_axes = {f"model.{p}": [1, 2] for p in ("max_depth", "min_samples_leaf", "max_features")}
    five_axes |= {"data.n_samples": [10, 20, 30], "data.n_features": [50, 51]}
    assert planned(grid(), figure=False) is None
    assert planned(grid(**five_axes)) is None
    assert planned(grid(**five_axes), figure=True)["x"] == ["data.n_samples"]
    assert planned(grid(), metrics=["model_card"]) is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"metric": "auc"}, r"figure.metric: 'auc' is not a metric of the experiment; there are r"),
        ({"x": "model.depth"}, r"figure.x: 'model.depth' is neither swept nor a column of releva"),
        ({"row": ["among", "k"]}, r"figure.row: 'k' is neither swept nor a column of relevance;"),
        ({"color": "repeat", "x": "repeat"}, r"figure.color: 'repeat' has a place already; give"),
        ({"y": "median"}, r"figure.y: 'median' is not a number of relevance; there are value$"),
        ({"where": {"repeat": 7}}, r"figure.where.repeat: 7 is not swept; there are 1, 2$"),
        ({"where": {"importance": []}}, r"figure.where.importance: \[\] leaves no row; name a va"),
        ({"where": {"importance": date(2026, 1, 1)}}, r"where.importance: datetime.* is not allow"),
        ({"where": {"importance": ["mdi", {"a": 1}]}}, r"{'a': 1} is not allowed; expected a text"),
        ({"log": ["importance"]}, r"figure.log: 'importance' is not allowed; expected x, y or"),
        ({"log": ["data.noise"]}, r"figure.log: 'data.noise' is not allowed"),
        (
            {"x": ["repeat", "model.max_depth"], "column": "among"},
            r"figure.column: the parameters of x take the columns; use row$",
        ),
        ({"log": ["model.criterion"]}, r"figure.log: model.criterion has values that are not num"),
    ],
)
def test_what_cannot_be_drawn_is_one_line_before_the_first_job(line, message):
    axes = {"model.max_depth": [1, 2], "model.criterion": ["gini", "entropy"], "repeat": [1, 2]}
    with pytest.raises(config.ConfigError, match=message):
        planned(grid(**axes), figure=line)


def test_a_label_of_nothing_is_one_line_before_the_first_job():
    """It had no effect, and no message said so."""
    axes = {"model.max_depth": [1, 2.5, None], "model.criterion": ["gini", "entropy"]}
    panels = {"x": "model.max_depth", "column": "model.criterion"}

    def labeled(name, **more):
        return planned(grid(**axes), figure={**panels, **more, "labels": {name: "text"}})

    message = (
        "^experiments.e.figure.labels: '{}' is neither a column nor a value of the figure; col"
    )
    for name in ("value", "model.max_depth", "max_depth", "data", "among", "30"):
        labeled(name)
    # The values of `among` are not known before the jobs: what is no name of an axis may be one.
    labeled("maxdepth")
    with pytest.raises(config.ConfigError, match=message.format("model.max_dept")):
        labeled("model.max_dept")
    # Everywhere else all values are known.
    scores = {"importances": ["mdi", "air"], "metrics": ["cross_validated_error"]}

    def of_models(name):
        by_depth = {"column": "model.max_depth", "x": "model.criterion", "labels": {name: "text"}}
        return planned(grid(**axes), **scores, figure=by_depth)

    for name in ("gini", "1", "2.5", "not set", "fold", "value"):
        of_models(name)
    for name in ("ginni", "3", "None"):
        with pytest.raises(config.ConfigError, match=message.format(name)):
            of_models(name)


def test_a_metric_without_numbers_is_refused_and_keys_are_checked_by_the_schema():
    with pytest.raises(config.ConfigError, match="model_card has no numbers to draw"):
        planned(grid(), metrics=["model_card"], figure={"metric": "model_card"})
    experiment = {"importances": ["mdi"], "metrics": ["relevance"], "sweep": [grid()]}
    content = {"experiments": {"e": {**experiment, "figure": {"colour": "importance"}}}}
    with pytest.raises(
        config.ConfigError, match=r"unknown key colour .*color.*; allowed are color, column"
    ):
        config.load(content)


@pytest.mark.parametrize("column", ["repeat", "data", "metric"])
def test_a_metric_does_not_take_a_column_of_the_sweep(monkeypatch, column):
    """The table had the metric's numbers of repeats in place of the sweep's."""
    declared = metrics.module_of("global_scores")
    monkeypatch.setattr(declared, "KEYS", (*declared.KEYS, column))
    with pytest.raises(
        config.ConfigError, match=rf"has the column {column}, which is one of the sw"
    ):
        config.load({})


def test_every_metric_declares_its_columns():
    for name in metrics.available():
        keys, values = (facets.columns(name, kind) for kind in ("KEYS", "VALUES"))
        assert keys, name
        text = Path(inspect.getfile(metrics.metric(name))).read_text()
        for column in (*keys, *values):
            assert f'"{column}"' in text or f"{column}=" in text, (name, column)


def test_every_experiment_of_the_project_has_a_figure_or_none():
    loaded = config.load({})
    for name in loaded["experiments"]:
        facets.complete(loaded, name)


# Drawing.


def spec_of(**changes):
    base = {"metric": "m", "x": ["n"], "y": "value", "color": "importance", "column": [], "row": []}
    base |= {"log": [], "where": {}, "labels": {}, "points": False, "own_rows": False, "texts": []}
    return {**base, **changes}


def table_of(**columns):
    """Every combination, and 3 repeats."""
    columns = {"importance": ["a", "b"], "n": [10, 20], **columns, "repeat": [1, 2, 3]}
    index = pd.MultiIndex.from_product(columns.values(), names=columns)
    table = index.to_frame(index=False)
    return table.assign(value=table["n"] + 5.0 * table["repeat"] + (table["importance"] == "b"))


def drawn(table, **changes):
    with style():
        return drawing.draw(table, spec_of(**changes), "title")


def test_a_curve_is_the_mean_over_repeats_and_its_band_the_interval_by_students_t():
    (axis,) = drawn(table_of()).axes
    first, second = axis.lines
    assert first.get_xdata().tolist() == [10, 20]
    assert first.get_ydata().tolist() == [20, 30] and second.get_ydata().tolist() == [21, 31]
    corners = axis.collections[0].get_paths()[0].vertices
    # Repeats are 5 apart: their standard deviation is 5, and t with two degrees of freedom 4.3027.
    half_width = 4.302653 * 5 / np.sqrt(3)
    assert corners[:, 1].max() == pytest.approx(30 + half_width)
    assert corners[:, 1].min() == pytest.approx(20 - half_width)


def test_samples_of_one_model_are_no_repeats():
    table = table_of(sample=list(range(50)))
    band, band_with_samples = (
        drawn(t).axes[0].collections[0].get_paths()[0].vertices for t in (table_of(), table)
    )
    assert np.allclose(band, band_with_samples)


def test_panels_stand_by_columns_and_rows_and_a_single_row_is_wrapped():
    table = table_of(depth=[1, 2], kind=["p", "q", "r"])
    figure = drawn(table, column=["depth"], row=["kind"])
    assert len(figure.axes) == 6 and figure.axes[0].get_subplotspec().get_gridspec().nrows == 3
    assert [axis.get_title() for axis in figure.axes[:3]] == ["depth 1", "depth 2", ""]
    figure = drawn(table, column=["kind", "depth"])
    grid = figure.axes[0].get_subplotspec().get_gridspec()
    assert (grid.nrows, grid.ncols) == (2, 3)


def test_features_called_na_and_none_have_panels_of_their_own(tmp_path):
    """Pandas reads these words as missing: one panel held the mean of all such features."""
    names = ["NA", "None", "null", "age"]
    storage.write_table(tmp_path / "table.csv", table_of(feature=names))
    figure = drawn(storage.read_table(tmp_path / "table.csv"), column=["feature"])
    assert [axis.get_title() for axis in figure.axes] == [f"feature {name}" for name in names]


def in_sight(axis):
    """Whether all points of the curves lie at a finite place inside the frame."""
    axis.figure.draw_without_rendering()
    points = np.vstack([axis.transData.transform(line.get_xydata()) for line in axis.lines])
    axis_points = axis.transAxes.inverted().transform(points)
    return np.isfinite(points).all() and (axis_points >= 0).all() and (axis_points <= 1).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("low", [[0], [-3, 0], []])
def test_a_logarithmic_axis_shows_zero_and_what_is_below_it(low):
    values = [*low, 0.001, 0.1, 10]
    # Only one of the panels has the low values.
    table = table_of(n=values, depth=[1, 2])
    table = table[(table["depth"] == 1) | (table["n"] > 0)].assign(value=lambda t: t["n"])
    for axis in drawn(table, column=["depth"], log=["n", "y"]).axes:
        assert axis.get_xscale() == axis.get_yscale() == ("symlog" if low else "log")
        assert in_sight(axis)
        places = axis.transScale.transform(axis.lines[0].get_xydata())[-3:]
        # From one value to the hundredfold it is the same way everywhere, as on any log axis.
        assert np.allclose(np.diff(places, axis=0), np.diff(places, axis=0)[0])


def test_a_logarithmic_axis_of_zeros_is_linear_and_rows_of_panels_are_logarithmic_alike():
    table = table_of(n=[0], depth=[1, 2])
    assert {axis.get_xscale() for axis in drawn(table, row=["depth"], log=["n"]).axes} == {"linear"}
    panels = {"column": ["k"], "row": ["depth"], "own_rows": True}
    figure = drawn(table_of(depth=[1, 2], k=[1, 2]), log=["y"], **panels)
    assert {axis.get_yscale() for axis in figure.axes} == {"log"}


def test_the_line_may_ask_for_a_logarithmic_axis_with_a_zero():
    for axis_name in ("x", "model.ccp_alpha"):
        line = {"x": "model.ccp_alpha", "log": [axis_name]}
        spec = planned(grid(**{"model.ccp_alpha": [0, 0.1]}), figure=line)
        assert spec["log"] == ["model.ccp_alpha"]


def test_numbers_that_differ_late_have_as_many_digits_as_tell_them_apart():
    table = table_of(depth=[0.12345678, 0.12345679], k=[1, 2.5])
    figure = drawn(table, column=["depth"], color="k")
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == ["depth 0.12345678", "depth 0.12345679"]
    assert all(line.get_xdata().size == 2 for axis in figure.axes for line in axis.lines)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["1", "2.5"]
    # Where six digits do, there are six; the last two are neighbors.
    thirds = [1 / 3, 2 / 3]
    titles = [axis.get_title() for axis in drawn(table_of(depth=thirds), column=["depth"]).axes]
    assert titles == ["depth 0.333333", "depth 0.666667"]
    neighbors = [1 / 3, float(np.nextafter(1 / 3, 1))]
    titles = [axis.get_title() for axis in drawn(table_of(depth=neighbors), column=["depth"]).axes]
    assert titles == [f"depth {value!r}" for value in neighbors]
    (axis,) = drawn(table_of(n=[0.12345678, 0.12345679])).axes
    ticks = [tick.get_text() for tick in axis.get_xticklabels()]
    assert ticks == ["0.12345678", "0.12345679"]


def test_a_panel_for_each_of_several_parameters_shows_the_rows_that_set_it():
    a = table_of().rename(columns={"n": "a"})
    b = table_of().rename(columns={"n": "b"}).assign(value=7.0)
    figure = drawn(pd.concat([a, b]), x=["a", "b"])
    assert [axis.get_xlabel() for axis in figure.axes] == ["a", "b"]
    assert figure.axes[0].lines[0].get_ydata().tolist() == [20, 30]
    assert figure.axes[1].lines[0].get_ydata().tolist() == [7, 7]


def test_a_value_of_where_that_no_row_has_is_named_with_those_that_there_are():
    """A misspelled one beside others was left out of the figure without a word."""
    table = table_of(kind=["p", "q"])
    with pytest.raises(ValueError, match=r"where.kind: no row has 'r'; there are p, q$"):
        drawn(table, where={"kind": ["q", "r"]})
    halves = table[(table["kind"] == "p") == (table["n"] == table["n"].min())]
    with pytest.raises(ValueError, match="no row has such values of kind and n together"):
        drawn(halves, where={"kind": ["q"], "n": [int(table["n"].min())]})


def test_only_chosen_rows_are_drawn_and_text_stands_side_by_side():
    table = table_of(kind=["p", "q"])
    (axis,) = drawn(table, where={"kind": ["q"], "n": [20]}, x=["kind"]).axes
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["q"]
    (labeled,) = drawn(table, x=["kind"], labels={"q": "queue"}).axes
    assert [tick.get_text() for tick in labeled.get_xticklabels()] == ["p", "queue"]
    assert axis.lines[0].get_ydata().tolist() == [30]
    # No line leads from one text to the next, and two measures do not hide each other.
    assert axis.lines[0].get_linestyle() == "None"
    places = [line.get_xdata().item() for line in axis.lines]
    assert -0.5 < places[0] < 0 < places[1] < 0.5
    with pytest.raises(ValueError, match="no row has 'z'; there are p, q"):
        drawn(table, where={"kind": ["z"]})


def from_file(tmp_path, table, spec):
    """The table as the job of the figure reads it."""
    storage.write_rows(tmp_path / "table.csv", table.to_dict("records"), list(table))
    return storage.read_table(tmp_path / "table.csv", texts=spec["texts"])


@pytest.mark.parametrize("apart", [True, False])
def test_one_feature_and_all_of_them_are_two_values(tmp_path, apart):
    """The figure showed the mean of both at 1, as if they were repeats, without a word."""
    axis = "model.max_features"
    blocks = [grid(**{axis: 1}), grid(**{axis: 1.0})] if apart else [grid(**{axis: [1, 0.5, 1.0]})]
    spec = planned(*blocks)
    assert spec["x"] == [axis] and axis in spec["texts"]
    table = table_of(n=[1, 1.0]).rename(columns={"n": axis})
    # As the job that gathers the points writes them.
    table[axis] = pd.Series([1] * 3 + [1.0] * 3 + [1] * 3 + [1.0] * 3, dtype=object)
    table["value"] = [10.0] * 3 + [20.0] * 3 + [10.0] * 3 + [20.0] * 3
    read = from_file(tmp_path, table, spec)
    (axes,) = drawn(read, x=[axis]).axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "1.0"]
    assert axes.lines[0].get_ydata().tolist() == [10, 20]
    (axes,) = drawn(read, x=[axis], where={axis: [1.0]}).axes
    assert axes.lines[0].get_ydata().tolist() == [20]


def test_features_that_are_equal_as_numbers_have_panels_of_their_own(tmp_path):
    spec = planned(grid(), metrics=["global_scores"])
    read = from_file(tmp_path, table_of(feature=["1.1", "1.10", "02"]), spec)
    figure = drawn(read, column=["feature"])
    assert [axis.get_title() for axis in figure.axes] == [
        f"feature {n}" for n in ("1.1", "1.10", "02")
    ]


@pytest.mark.parametrize(
    ("second", "shared"), [(["q", "r"], False), (["q", "p"], True), (["q"], False)]
)
def test_texts_along_x_are_named_in_every_panel(second, shared):
    """Panels shared the ticks of the last one: in the first, q stood for p."""
    parts = [table_of(kind=kinds, depth=[d]) for d, kinds in ((1, ["p", "q"]), (2, second))]
    parts = [part.assign(value=part["kind"].map({"p": 1.0, "q": 2.0, "r": 3.0})) for part in parts]
    axes = drawn(pd.concat(parts), x=["kind"], column=["depth"]).axes
    for axis, kinds in zip(axes, (["p", "q"], second), strict=True):
        ticks = zip(axis.get_xticks(), axis.get_xticklabels(), strict=True)
        names = {tick: text.get_text() for tick, text in ticks}
        shown = {names[round(x)]: y for x, y in axis.lines[0].get_xydata()}
        assert shown == {k: {"p": 1, "q": 2, "r": 3}[k] for k in kinds}
    assert axes[0].get_shared_x_axes().joined(*axes) == shared


@pytest.mark.parametrize("null_alone", [True, False])
def test_null_has_its_place_along_x(tmp_path, null_alone):
    """Trees of any depth, beside those of depth 2 and 4: the figure left them out in silence."""
    axis, values = "model.max_depth", [None] if null_alone else [4, None, 2]
    spec = planned(grid(**{axis: values}), figure={"x": axis})
    table = table_of(n=values).rename(columns={"n": axis})
    table["value"] = table[axis].fillna(9)
    read = from_file(tmp_path, table.astype(object).where(table.notna(), None), spec)
    (axes,) = drawn(read, x=[axis]).axes
    ticks = ["not set"] if null_alone else ["2", "4", "not set"]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ticks
    assert axes.lines[0].get_ydata().tolist() == [float(t) if t.isdigit() else 9 for t in ticks]


def test_rows_without_a_value_can_be_chosen_by_null(tmp_path):
    """It was refused by the last job of the sweep, as if no row had it."""
    axis = "model.max_depth"
    spec = planned(grid(**{axis: [None, 3]}), figure={"where": {axis: None}})
    table = table_of(n=[None, 3]).rename(columns={"n": axis}).assign(value=5.0)
    read = from_file(tmp_path, table.astype(object).where(table.notna(), None), spec)
    (axes,) = drawn(read, x=["repeat"], where=spec["where"]).axes
    assert axes.lines[0].get_ydata().tolist() == [5, 5, 5]


def test_too_many_panels_are_cut_and_the_title_says_so():
    figure = drawn(table_of(kind=list("abcdefghijk"), depth=[1, 2]), row=["kind"], column=["depth"])
    assert "the first 8 x 2 of 11 x 2 panels" in " ".join(figure.get_suptitle().split())


def test_the_title_of_one_panel_does_not_run_into_the_legend():
    with style():
        figure = drawing.draw(table_of(), spec_of(), "my_sweep: relevance")
        figure.draw_without_rendering()
    (title,), (legend,) = figure.texts, figure.legends
    assert not title.get_window_extent().overlaps(legend.get_window_extent())


def test_the_page_about_sweeps_plans_what_it_shows(tmp_path):
    """Every block of configuration on the page is a configuration that is accepted."""
    page = (ROOT / "docs" / "sweeps.md").read_text()
    blocks = [part.partition("```")[0] for part in page.split("```yaml\n")[1:]]
    assert blocks
    (tmp_path / "mine.csv").write_text("age,dose,sick\n1,2,0\n3,4,1\n")
    for block in blocks:
        text = block.replace("path: mine.csv", f"path: {tmp_path / 'mine.csv'}")
        content = yaml.safe_load(text)
        if "experiments" not in content:
            content = {"experiments": {"my_sweep": content}}
        loaded = config.load(content)
        assert facets.complete(loaded, next(iter(content["experiments"]))) is not None
