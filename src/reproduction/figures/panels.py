"""Figures of several panels: their axes, letters, places of labels, and times as text."""

import string

import numpy as np


def figure(**options):
    """`matplotlib.pyplot.figure`; matplotlib is loaded where something is drawn."""
    from matplotlib import pyplot

    return pyplot.figure(**options)


def subplots(*shape, **options):
    """`matplotlib.pyplot.subplots`; see `figure`."""
    from matplotlib import pyplot

    return pyplot.subplots(*shape, **options)


def letter(axes) -> None:
    """Name panels A, B, ... from left to right and from top to bottom, left of their titles."""
    for name, axis in zip(string.ascii_uppercase, np.ravel(axes), strict=False):
        axis.annotate(
            name,
            (0, 1),
            xycoords="axes fraction",
            xytext=(-8, 6),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=10,
            fontweight="bold",
            annotation_clip=False,
        )


def note(axis, text, place, offset, **style) -> None:
    """Write a text so many points away from a place."""
    axis.annotate(text, place, xytext=offset, textcoords="offset points", **style)


def apart(places: dict, least: float) -> dict:
    """Move labels up, from the lowest on, so that no two are closer than `least`."""
    heights, last = {}, -np.inf
    for name, place in sorted(places.items(), key=lambda item: item[1]):
        last = heights[name] = max(place, last + least)
    return heights


def seconds(value: float) -> str:
    """A time with two digits, in the unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{float(f'{value / size:.2g}'):g} {unit}"
    return f"{float(f'{value / 1e-6:.2g}'):g} µs"
