"""Files of pictures: what is in them, and that they do not depend on when they are drawn."""

import pytest
from matplotlib.figure import Figure

from reproduction.figures import save, style
from reproduction.planning.places import PICTURES


def drawn():
    figure = Figure(figsize=(3, 2))
    axis = figure.subplots()
    axis.plot([1, 2], [3, 4], label="curve")
    axis.set(title=r"Title with $\sigma^2$", xlabel="letters")
    axis.legend()
    return figure


@pytest.mark.parametrize("kind", PICTURES)
def test_a_picture_is_the_same_bytes_whenever_it_is_drawn(kind, tmp_path, monkeypatch):
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
        figure = drawn()
        save(figure, tmp_path / "a.svg")
        save(figure, tmp_path / "a.pdf")
    assert "<text" not in (tmp_path / "a.svg").read_text()
    content = (tmp_path / "a.pdf").read_bytes()
    # The program of a TrueType font; Type 3 fonts are refused by journals.
    assert b"/FontFile2" in content and b"/Type3" not in content
