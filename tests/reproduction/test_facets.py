"""The figure of a sweep: what its defaults are, what is refused, and what is drawn."""

import numpy as np
import pandas as pd
import pytest
import yaml

from reproduction import metrics, storage
from reproduction.figures import facets as drawing
from reproduction.figures import style
from reproduction.planning import configuration as config
from reproduction.planning import facets
from reproduction.planning.places import ROOT

FULL = config.read_yaml(config.CONFIG / "config.yaml")
BASE = {"data": "noisy_features", "model": "random_forest"}


def planned(*blocks, **experiment):
    """Settings of the figure of an experiment."""
    defaults = {"importances": ["mdi", "air"], "metrics": ["relevance"], "sweep": list(blocks)}
    return facets.complete({**FULL, "experiments": {"e": {**defaults, **experiment}}}, "e")


def grid(**axes):
    return {"grid": {**BASE, **axes}}


DEPTHS, CRITERIA = {"model.max_depth": [2, 4]}, {"model.criterion": ["gini", "entropy"]}
SIZES, TWO = {"data.n_samples": [100, 300, 1000]}, {"data.n_features": [20, 50]}
LEAVES = {"model.min_samples_leaf": [1, 2]}
NORMALIZED = {"metric.scores.normalize": [True, False]}
BOTH = {"metrics": ["relevance", "scores"]}
DRAWN = {"random": {"draws": 5, "axes": {**BASE, "model.max_depth": {"integers": [1, 9]}}}}


@pytest.mark.parametrize(
    ("blocks", "more", "places"),
    [
        # The first numeric axis is x, and the importance the color.
        (
            [grid(**CRITERIA, **SIZES, **DEPTHS, repeat=[1, 2])],
            {},
            ([*SIZES], "importance", ["among"], [*CRITERIA, *DEPTHS]),
        ),
        ([grid(**CRITERIA)], {}, ([*CRITERIA], "importance", ["among"], [])),
        ([grid()], {"metrics": ["global_scores"]}, (["feature"], "importance", [], [])),
        # Blocks that vary one parameter each make a panel each.
        ([grid(**DEPTHS), grid(**LEAVES)], {}, ([*DEPTHS, *LEAVES], "importance", [], ["among"])),
        ([DRAWN], {}, ([*DEPTHS], "importance", ["among"], [])),
        # What the line says is kept, and the rest finds its place.
        (
            [grid(**SIZES, **DEPTHS, **TWO)],
            {"figure": {"x": "model.max_depth", "row": "importance"}},
            ([*DEPTHS], "among", [*SIZES], ["importance", *TWO]),
        ),
        (
            [grid(**SIZES, **TWO)],
            {"figure": {"where": {"data.n_features": 50, "among": 50}}},
            ([*SIZES], "importance", [], []),
        ),
        # An axis of another metric has no place.
        ([grid(**DEPTHS, **NORMALIZED)], BOTH, ([*DEPTHS], "importance", ["among"], [])),
        (
            [grid(**DEPTHS, **NORMALIZED)],
            BOTH | {"figure": {"metric": "scores"}},
            ([*DEPTHS], "importance", ["feature"], [*NORMALIZED]),
        ),
    ],
)
def test_everything_that_varies_has_a_place(blocks, more, places):
    spec = planned(*blocks, **more)
    assert tuple(spec[part] for part in ("x", "color", "column", "row")) == places
    assert spec["points"] == ("random" in blocks[0]) and spec["y"] == "value"


def test_no_figure_is_drawn_if_none_is_wanted_or_nobody_could_read_it():
    four_axes = grid(**SIZES, **DEPTHS, **TWO, **LEAVES)
    assert planned(grid(), figure=False) is None
    assert planned(four_axes) is None
    assert planned(four_axes, figure=True)["x"] == ["data.n_samples"]
    assert planned(grid(), metrics=["model_card"]) is None


def test_a_metric_does_not_take_a_column_of_the_sweep(monkeypatch):
    """The table had the metric's numbers of repeats in place of the sweep's."""
    declared = metrics.module_of("global_scores")
    monkeypatch.setattr(declared, "KEYS", (*declared.KEYS, "repeat"))
    with pytest.raises(config.ConfigError, match=r"has the column repeat, which is one of the sw"):
        config.load({})


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


# Drawing.


def spec_of(**changes):
    base = {"metric": "m", "x": ["n"], "y": "value", "color": "importance", "column": [], "row": []}
    return {**base, "log": [], "where": {}, "labels": {}, "points": False, **changes}


def table_of(**columns):
    """Every combination, and 3 repeats."""
    columns = {"importance": ["a", "b"], "n": [10, 20], **columns, "repeat": [1, 2, 3]}
    index = pd.MultiIndex.from_product(columns.values(), names=columns)
    table = index.to_frame(index=False).astype(object)
    is_b = table["importance"] == "b"
    numbers = pd.to_numeric(table["n"], errors="coerce").fillna(9)
    return table.assign(value=(numbers + 5.0 * table["repeat"] + is_b).astype(float))


@pytest.fixture
def drawn(tmp_path):
    """Draws a table as the job reads it: all columns but the numbers are text."""

    def draw(table, **changes):
        path = tmp_path / "table.csv"
        table = table.astype(object).where(table.notna(), None)
        storage.write_rows(path, table.to_dict("records"), list(table))
        texts = [column for column in table if column != "value"]
        with style():
            return drawing.draw(storage.read_table(path, texts), spec_of(**changes), "title")

    return draw


def ticks(axis):
    return [tick.get_text() for tick in axis.get_xticklabels()]


def titles(figure):
    return [axis.get_title() for axis in figure.axes]


def test_a_curve_is_the_mean_over_repeats_and_its_band_the_interval_by_students_t(drawn):
    figure = drawn(table_of())
    (axis,) = figure.axes
    first, second = axis.lines
    assert first.get_xdata().tolist() == [10, 20]
    assert first.get_ydata().tolist() == [20, 30] and second.get_ydata().tolist() == [21, 31]
    corners = axis.collections[0].get_paths()[0].vertices
    # Repeats are 5 apart: their standard deviation is 5, and t with two degrees of freedom 4.3027.
    half_width = 4.302653 * 5 / np.sqrt(3)
    assert corners[:, 1].max() == pytest.approx(30 + half_width)
    assert corners[:, 1].min() == pytest.approx(20 - half_width)
    # Samples of one model are no repeats.
    (axis,) = drawn(table_of(sample=list(range(50)))).axes
    assert np.allclose(axis.collections[0].get_paths()[0].vertices, corners)
    figure.draw_without_rendering()
    (title,), (legend,) = figure.texts, figure.legends
    assert not title.get_window_extent().overlaps(legend.get_window_extent())


def test_panels_stand_by_columns_and_rows_a_single_row_is_wrapped_and_many_are_cut(drawn):
    table = table_of(depth=[1, 2], kind=["p", "q", "r"])
    figure = drawn(table, column=["depth"], row=["kind"], labels={"q": "queue"})
    assert figure.axes[0].get_subplotspec().get_gridspec().nrows == 3
    assert titles(figure)[:3] == ["kind p, depth 1", "kind p, depth 2", "kind queue, depth 1"]
    panels = drawn(table, column=["kind", "depth"]).axes[0].get_subplotspec().get_gridspec()
    assert (panels.nrows, panels.ncols) == (2, 3)

    many = drawn(table_of(kind=list("abcdefghijk"), depth=[1, 2]), row=["kind"], column=["depth"])
    assert "the first 16 of 22 panels" in " ".join(many.get_suptitle().split())
    assert len(drawn(table_of(kind=list(range(60))), column=["kind"]).axes) == 48


@pytest.mark.parametrize(
    "names",
    [
        # Pandas reads these words as missing: one panel held the mean of all such features.
        ["NA", "None", "null", "age"],
        # These are equal as numbers, or up to the sixth digit.
        ["02", "1.1", "1.10"],
        ["0.12345678", "0.12345679"],
    ],
)
def test_features_have_panels_of_their_own_whatever_they_are_called(drawn, names):
    figure = drawn(table_of(feature=names), column=["feature"])
    assert sorted(titles(figure)) == sorted(f"feature {name}" for name in names)


def in_sight(axis):
    """Whether all points of the curves lie at a finite place inside the frame."""
    axis.figure.draw_without_rendering()
    points = np.vstack([axis.transData.transform(line.get_xydata()) for line in axis.lines])
    axis_points = axis.transAxes.inverted().transform(points)
    return np.isfinite(points).all() and (axis_points >= 0).all() and (axis_points <= 1).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("low", [[0], [-3, 0], []])
def test_a_logarithmic_axis_shows_zero_and_what_is_below_it(drawn, low):
    values = [*low, 0.001, 0.1, 10]
    # Only one of the panels has the low values.
    table = table_of(n=values, depth=[1, 2])
    table = table[(table["depth"] == 1) | (table["n"] > 0)]
    table = table.assign(value=table["n"].astype(float))
    for axis in drawn(table, column=["depth"], log=["x", "y"]).axes:
        assert axis.get_xscale() == axis.get_yscale() == ("symlog" if low else "log")
        assert in_sight(axis)
        places = axis.transScale.transform(axis.lines[0].get_xydata())[-3:]
        # From one value to the hundredfold it is the same way everywhere, as on any log axis.
        assert np.allclose(np.diff(places, axis=0), np.diff(places, axis=0)[0])


@pytest.mark.parametrize(
    ("values", "log", "scale"),
    [
        ([1, 10], None, "log"),
        ([1, 9], None, "linear"),
        ([1, 10], [], "linear"),
        ([0], ["n"], "linear"),
    ],
)
def test_an_axis_is_logarithmic_if_it_is_asked_or_its_values_are_wide(drawn, values, log, scale):
    assert drawn(table_of(n=values), log=log).axes[0].get_xscale() == scale


def test_a_panel_for_each_of_several_parameters_shows_the_rows_that_set_it(drawn):
    a = table_of().rename(columns={"n": "a"})
    b = table_of().rename(columns={"n": "b"}).assign(value=7.0)
    figure = drawn(pd.concat([a, b]), x=["a", "b"])
    assert [axis.get_xlabel() for axis in figure.axes] == ["a", "b"]
    assert figure.axes[0].lines[0].get_ydata().tolist() == [20, 30]
    assert figure.axes[1].lines[0].get_ydata().tolist() == [7, 7]


def test_a_value_of_where_that_no_row_has_is_named_with_those_that_there_are(drawn):
    """A misspelled one beside others was left out of the figure without a word."""
    table = table_of(kind=["p", "q"])
    with pytest.raises(ValueError, match=r"where.kind: no row has 'r'; there are p, q$"):
        drawn(table, where={"kind": ["q", "r"]})
    halves = table[(table["kind"] == "p") == (table["n"] == 10)]
    with pytest.raises(ValueError, match=r"where\.n: no row has 10; there are 20"):
        drawn(halves, where={"kind": ["q"], "n": [10]})


def test_text_stands_side_by_side(drawn):
    """No line leads from one text to the next, and two measures do not hide each other."""
    (axis,) = drawn(table_of(kind=["p", "q"]), where={"kind": ["q"], "n": [20]}, x=["kind"]).axes
    assert ticks(axis) == ["q"] and axis.lines[0].get_ydata().tolist() == [30]
    assert axis.lines[0].get_linestyle() == "None"
    places = [line.get_xdata().item() for line in axis.lines]
    assert -0.5 < places[0] < 0 < places[1] < 0.5
    # Panels share the ticks: in each a text has the place that it has in the others.
    table = table_of(kind=["p", "q"], depth=[1, 2])
    table = table[(table["depth"] == 1) | (table["kind"] == "q")]
    first, second = drawn(table, x=["kind"], column=["depth"], labels={"q": "queue"}).axes
    assert ticks(first) == ticks(second) == ["p", "queue"]
    assert [round(axis.lines[0].get_xdata()[-1]) for axis in (first, second)] == [1, 1]


def test_one_feature_and_all_of_them_are_two_values(drawn):
    """The figure showed the mean of both at 1, as if they were repeats, without a word."""
    table = table_of(n=["1", "1.0"])
    table["value"] = table["n"].map({"1": 10.0, "1.0": 20.0})
    for where, labels, values in (({}, ["1", "1.0"], [10, 20]), ({"n": [1.0]}, ["1.0"], [20])):
        (axis,) = drawn(table, where=where).axes
        assert ticks(axis) == labels and axis.lines[0].get_ydata().tolist() == values


@pytest.mark.parametrize("values", [[None], ["4", None, "2"]])
def test_null_has_its_place_along_x_and_can_be_chosen(drawn, values):
    """Trees of any depth, beside those of depth 2 and 4: the figure left them out in silence."""
    table = table_of(n=values)
    (axis,) = drawn(table).axes
    assert ticks(axis) == [*(["2", "4"] if values[1:] else []), "not set"]
    assert axis.lines[0].get_ydata()[-1] == 19
    (axis,) = drawn(table, x=["repeat"], where={"n": [None]}).axes
    assert axis.lines[0].get_ydata().tolist() == [14, 19, 24]
