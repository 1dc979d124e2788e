"""Files of figures: what is in them, and that they do not depend on when they are drawn."""

import pytest
from matplotlib.figure import Figure

from reproduction.figures import panels, save, style
from reproduction.planning.places import FIGURE_KINDS


def drawn():
    figure = Figure(figsize=(3, 2))
    axis = figure.subplots()
    axis.plot([1, 2], [3, 4], label="curve")
    axis.set(title=r"Title with $\sigma^2$", xlabel="letters")
    axis.legend()
    return figure


@pytest.mark.parametrize("kind", FIGURE_KINDS)
def test_a_figure_is_the_same_bytes_whenever_it_is_drawn(kind, tmp_path, monkeypatch):
    for copy, moment in (("a", "0"), ("b", "1000000000")):
        # Matplotlib takes the date from here, if a format has one that was not taken out.
        monkeypatch.setenv("SOURCE_DATE_EPOCH", moment)
        with style():
            save(drawn(), tmp_path / f"{copy}.{kind}")
    content = (tmp_path / f"a.{kind}").read_bytes()
    assert content == (tmp_path / f"b.{kind}").read_bytes()
    assert b"matplotlib.org" not in content, "the release of matplotlib stands in the file"


def test_no_reader_needs_our_fonts(tmp_path):
    with style():
        for kind in ("svg", "pdf"):
            save(drawn(), tmp_path / f"a.{kind}")
    assert "<text" not in (tmp_path / "a.svg").read_text()
    content = (tmp_path / "a.pdf").read_bytes()
    # The program of a TrueType font; Type 3 fonts are refused by journals.
    assert b"/FontFile2" in content and b"/Type3" not in content


def test_panels_are_named_in_the_order_in_which_one_reads():
    axes = Figure().subplots(2, 2)
    panels.letter(axes)
    names = [[axis.texts[0].get_text() for axis in row] for row in axes]
    assert names == [["A", "B"], ["C", "D"]]


def test_names_at_line_ends_stay_apart_and_in_order():
    heights = panels.apart({"high": 0.3, "low": 0.1, "close": 0.11}, 0.05)
    assert heights == pytest.approx({"low": 0.1, "close": 0.15, "high": 0.3})


@pytest.mark.parametrize(
    ("value", "text"),
    [(78.2, "78 s"), (3.04, "3 s"), (0.957, "960 ms"), (0.0012, "1.2 ms"), (1.62e-5, "16 µs")],
)
def test_a_time_has_two_digits_and_no_power_of_ten(value, text):
    assert panels.seconds(value) == text
