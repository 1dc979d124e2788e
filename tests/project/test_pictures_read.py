"""Pictures of the papers, drawn from the reference's tables and read by their labels alone."""

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from reproduction import papers, storage
from reproduction.figures import style
from reproduction.planning.places import ROOT

# In points. A thinner band hides behind a line and its marks.
THIN = 3.0
TABLES = {
    f"{path.parent.name}/{path.stem}": path
    for path in sorted((ROOT / "docs" / "reference").glob("**/tables/*/*.csv"))
}
# One table for each drawing.
DRAWN = {
    artefact.draw: name for name in TABLES if hasattr(artefact := papers.artefact(name), "draw")
}


@pytest.fixture(scope="module", params=DRAWN, ids=DRAWN.get)
def figure(request):
    from matplotlib import pyplot

    with style():
        yield request.param(storage.read_table(TABLES[DRAWN[request.param]]))
    pyplot.close("all")


def test_a_figure_says_what_it_shows_and_along_which_axes(figure):
    """That of packages had no title, and units stood in captions only."""
    scaled = [axis for axis in figure.axes if axis.axison and axis.lines + axis.patches]
    figures = [figure, *figure.subfigs]
    titles = ["".join(axis.get_title(loc) for loc in ("left", "center")) for axis in scaled]
    assert any(part.texts for part in figures) or any(titles)
    for axis, title in zip(scaled, titles, strict=True):
        for name, elsewhere in (("x", ""), ("y", title + axis.figure.get_supylabel())):
            alike = getattr(axis, f"get_shared_{name}_axes")().get_siblings(axis)
            labels = {getattr(other, f"get_{name}label")() for other in alike} | {elsewhere}
            ticks = [text.get_text() for text in getattr(axis, f"get_{name}ticklabels")()]
            words = [text for text in ticks if text[:1] != "$" and any(map(str.isalpha, text))]
            assert any(labels) or words or not ticks, f"{name} of {title}"


def test_a_band_in_a_legend_can_be_seen(figure):
    """Bands of standard errors were thinner than the lines on them."""
    fills = [
        (axis, fill)
        for axis in figure.axes
        for fill in axis.collections
        if isinstance(fill, PolyCollection)
    ]
    if fills and handles(figure, Patch):
        assert max(thickness(*fill) for fill in fills) > THIN


def test_a_gray_line_has_a_name_in_a_legend(figure):
    """Means of other pairs were gray lines that only a sentence above the panels named."""
    lines = [line for axis in figure.axes for line in axis.lines if len(set(line.get_ydata())) > 2]
    gray = {rgb for line in lines if 0 < (rgb := to_rgb(line.get_color()))[0] == rgb[1] == rgb[2]}
    assert gray <= {to_rgb(handle.get_color()) for handle in handles(figure, Line2D)}


def handles(figure, kind):
    entries = [handle for legend in figure.findobj(Legend) for handle in legend.legend_handles]
    return [handle for handle in entries if isinstance(handle, kind)]


def thickness(axis, fill):
    """Mean height of the thickest part of a fill, in points."""
    axis.get_xlim(), axis.get_ylim()  # They are up to date only when asked for.
    heights = [0.0]
    for path in fill.get_paths():
        x, y = fill.get_transform().transform(path.vertices).T
        area = abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1))) / 2
        heights.append(area / max(np.ptp(x), 1e-9))
    return max(heights) * 72 / axis.figure.get_dpi()
