"""Scores drawn where they belong: on the segments of a display, or on the pixels of an image."""

import numpy as np

# Lower left corner, width and height of the seven segments (top, upper left, upper right, middle,
# lower left, lower right, bottom) on a display 1 wide and 2 high.
_SEGMENTS = (
    (0.15, 1.87, 0.7, 0.26),
    (-0.13, 1.15, 0.26, 0.7),
    (0.87, 1.15, 0.26, 0.7),
    (0.15, 0.87, 0.7, 0.26),
    (-0.13, 0.15, 0.26, 0.7),
    (0.87, 0.15, 0.26, 0.7),
    (0.15, -0.13, 0.7, 0.26),
)
MAP = "RdBu_r"


def blank(axis):
    """An axis without frame, ticks and grid."""
    axis.set(xticks=[], yticks=[])
    axis.grid(False)
    for spine in axis.spines.values():
        spine.set_visible(False)


def display(axis, lit) -> None:
    """Draw a display: segments that are on dark, the others empty."""
    _seven(axis, ["0.15" if on else "white" for on in lit], ["0.15" if on else "0.8" for on in lit])


def segments(axis, scores, norm, lit) -> None:
    """Draw seven scores on the segments, from blue to red; those that are on get a dark edge."""
    from matplotlib import colormaps

    fills = colormaps[MAP](norm(np.asarray(scores)))
    _seven(axis, fills, ["0.15" if on else "0.8" for on in lit])


def legend(axis, colors) -> None:
    """A display whose segments have the given colors, and their numbers beside them."""
    _seven(axis, colors, colors)
    for j, (x, y, width, height) in enumerate(_SEGMENTS):
        is_horizontal = width > height
        # Numbers of the outer segments stand outside, of the middle one above it.
        y_middle = y + height / 2
        if is_horizontal:
            place = 0.5, y_middle + (-0.3 if y < 0 else 0.3)
        else:
            place = (-0.35 if x < 0 else 1.35), y_middle
        axis.text(*place, str(j), ha="center", va="center", fontsize=7)
    axis.set(xlim=(-0.6, 1.6), ylim=(-0.5, 2.5))


def _seven(axis, fills, edges):
    from matplotlib.patches import Rectangle

    for (x, y, width, height), fill, edge in zip(_SEGMENTS, fills, edges, strict=True):
        axis.add_patch(Rectangle((x, y), width, height, fc=fill, ec=edge, lw=0.8))
    axis.set(xlim=(-0.4, 1.4), ylim=(-0.3, 2.3), aspect="equal")
    blank(axis)


def pixels(axis, scores, norm) -> None:
    """Draw 64 scores as 8 x 8 pixels, from blue to red, as `segments` does."""
    _image(axis, scores, cmap=MAP, norm=norm)


def gray(axis, intensities) -> None:
    """Draw an 8 x 8 image itself, dark ink on white."""
    _image(axis, intensities, cmap="Greys")


def _image(axis, values, **options):
    axis.imshow(np.asarray(values).reshape(8, 8), interpolation="nearest", **options)
    blank(axis)
    # A thin frame, so that white pixels at the rim can be seen.
    for spine in axis.spines.values():
        spine.set(visible=True, linewidth=0.4, color="0.7")
