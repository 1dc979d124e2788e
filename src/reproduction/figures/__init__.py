"""Drawing: one style for all figures, and files without dates or random ids."""

import contextlib
from pathlib import Path

from reproduction import storage

# Okabe and Ito's colors, which stay apart for color-blind readers.
COLORS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "vermilion": "#D55E00",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "black": "#000000",
}
# By format, the metadata with date and release, by which files of equal figures would differ.
_CHANGING = {
    ".svg": ("Date", "Creator"),
    ".png": ("Software",),
    ".pdf": ("CreationDate", "Creator", "Producer"),
}
# Dots an inch.
_PRINT = 300


@contextlib.contextmanager
def style():
    """Draw without a screen, in the project's style, within the block."""
    import matplotlib

    matplotlib.use("agg")
    with matplotlib.rc_context(fname=Path(__file__).with_name("splitcredit.mplstyle")):
        yield


def save(figure, path) -> None:
    """Write a figure; the suffix of the path says in which format: SVG, PNG or PDF.

    The first call works out the layout, and further calls take it: that is most of their time, and
    all formats show the same figure.
    """
    import matplotlib

    path = Path(path)
    # After it has saved a figure without a layout engine, matplotlib gives it the style's, and the
    # next file would be another figure.
    as_drawn = matplotlib.rc_context({"figure.constrained_layout.use": False})
    with as_drawn, storage.atomic(path) as temporary:
        # Clouds of points are pixels within a PDF, which is for print.
        resolution = {"dpi": _PRINT} if path.suffix == ".pdf" else {}
        kind, metadata = path.suffix[1:], dict.fromkeys(_CHANGING[path.suffix])
        figure.savefig(temporary, format=kind, **resolution, metadata=metadata)
    figure.set_layout_engine("none")
