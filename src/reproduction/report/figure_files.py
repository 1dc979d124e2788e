"""Embed the figures of a report as data URIs: of the files of one, the smallest."""

from __future__ import annotations

import base64
import re
import struct
from pathlib import Path

# Pixels of CSS.
_INCH = 96
_KINDS = {".svg": "image/svg+xml", ".png": "image/png"}


def by_artefact(files) -> dict[str, list[Path]]:
    """Files ``.../PAPER/ARTEFACT.svg`` and ``.png``, by PAPER/ARTEFACT."""
    figures: dict[str, list[Path]] = {}
    for path in map(Path, files):
        figures.setdefault(f"{path.parent.name}/{path.stem}", []).append(path)
    return figures


def embed(paths) -> dict:
    """The smallest of the files as a data URI, with its width and height in pixels of CSS.

    A file that says how large it is in inches or points is shown at that size, so that letters of
    9 points have 9 points on the page; of others a pixel is a pixel. ValueError if a file is
    neither SVG nor PNG.
    """
    paths = [Path(path) for path in paths]
    for path in paths:
        if path.suffix not in _KINDS:
            raise ValueError(f"{path.name}: a figure of the report is SVG or PNG")
    path = min(paths, key=lambda path: path.stat().st_size)
    content = path.read_bytes()
    width, height = (_size_of_svg if path.suffix == ".svg" else _size_of_png)(content)
    text = base64.b64encode(content).decode("ascii")
    return {
        "uri": f"data:{_KINDS[path.suffix]};base64,{text}",
        "width": round(width),
        "height": round(height),
    }


def _size_of_png(content):
    # The header of the first chunk holds the width and the height.
    size = struct.unpack(">II", content[16:24])
    place = content.find(b"pHYs", 24, content.find(b"IDAT"))
    if place < 0:
        return size
    *per_meter, unit = struct.unpack(">IIB", content[place + 4 : place + 13])
    if unit != 1:
        return size
    # Pixels a meter are whole numbers, so an inch is off by less than one pixel in a thousand.
    return tuple(_INCH * n / (0.0254 * k) for n, k in zip(size, per_meter, strict=True))


def _size_of_svg(content):
    box = re.search(rb'viewBox="([^"]+)"', content)
    if box is None:
        raise ValueError("an SVG of the report needs a viewBox, from which its size is read")
    in_points = re.search(rb'<svg [^>]*width="[0-9.]+pt"', content)
    scale = _INCH / 72 if in_points else 1
    return tuple(scale * float(number) for number in box[1].split()[2:])
