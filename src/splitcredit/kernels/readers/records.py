"""Find the arrays, texts and numbers of UBJSON objects that have the same keys.

``formats/_ubjson.py`` says which part of the format XGBoost writes. An object with an array whose
numbers have no common type, or with anything else that is not read here, is left to that file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import readonly
from splitcredit.kernels.readers.lines import table_of

OPEN, CLOSE, ARRAY, TYPE, COUNT, TEXT, LENGTH, NULL, TRUE, FALSE = map(ord, "{}[$#SLZTF")
# Bytes of a number by its marker, 0 for what is no marker of a number.
WIDTHS = np.zeros(256, np.int64)
for _marker, _width in zip("iUIlLdD", (1, 1, 2, 4, 8, 4, 8), strict=True):
    WIDTHS[ord(_marker)] = _width
# What stands before the numbers of an array, and before a text.
HEAD_OF_ARRAY, HEAD_OF_TEXT, HEAD_OF_KEY = len("[$l#L") + 8, len("SL") + 8, len("L") + 8


class Places(NamedTuple):
    """Places of objects, and of the values of some keys, in a document."""

    starts: np.ndarray  # int64 (n_objects,): where each object begins
    # int64 (n_keys, n_objects): where numbers of an array, or a text, begin, and how many there are
    begins: np.ndarray
    lengths: np.ndarray  # int64 (n_keys, n_objects)
    # int64 (n_keys, n_objects): marker of the type of an array, the same in all objects; 0 for
    # texts and single numbers
    markers: np.ndarray

    def of(self, objects: slice) -> Places:
        """Select the places of some objects."""
        return Places(*(array[..., objects] for array in self))


def find(content, at, n_objects, keys) -> tuple[Places | None, int]:
    """Find the values of some keys in objects that follow each other.

    Returns the places, and where the last object ends. The places are None if an object lacks a
    key, has an array of another type than the first object, or is not read here.
    """
    table, lengths = table_of([key.encode() for key in keys])
    # A damaged number of objects would take memory for as many; each has all keys.
    if n_objects * (lengths + HEAD_OF_KEY).sum() > len(content):
        return None, -1
    starts, found = np.zeros(n_objects, np.int64), np.full((3, len(keys), n_objects), -1)
    document = readonly(np.frombuffer(content, np.uint8))
    stop = _find(document, at, table, lengths, WIDTHS, starts, *found)
    places = Places(starts, *found)
    if stop < 0 or (places.begins < 0).any() or (places.markers != places.markers[:, :1]).any():
        return None, -1
    return places, stop


def joined(content, begins, sizes) -> np.ndarray:
    """Join parts of a document, one after the other, uint8 (n,)."""
    out = np.empty(sizes.sum(), np.uint8)
    _join(readonly(np.frombuffer(content, np.uint8)), begins, sizes, out)
    return out


@kernel()
def _find(document, at, keys, key_lengths, widths, starts, begins, lengths, markers):
    """Write the places of the objects and their parts; return the end of the last one, or -1."""
    end = len(document)
    for i in range(len(starts)):
        if at >= end or document[at] != OPEN:
            return -1
        starts[i] = at
        at, depth, key = at + 1, 1, -1
        while depth > 0:
            if at >= end:
                return -1
            if document[at] == CLOSE:
                at, depth = at + 1, depth - 1
                continue
            key, at = _key(document, at, keys, key_lengths, key + 1)
            if at < 0:
                return -1
            if document[at] == OPEN:
                at, depth = at + 1, depth + 1
                continue
            begin, length, width, marker = _value(document, at, widths)
            if length < 0 or length > end or begin + length * width > end:
                return -1
            if key >= 0:
                begins[key, i], lengths[key, i], markers[key, i] = begin, length, marker
            at = begin + length * width
    return at


@kernel(inner=True)
def _key(document, at, keys, key_lengths, likely):
    """Return the number of a key, or -1, and where its value begins; -1 if it is no key."""
    end = len(document)
    if document[at] != LENGTH or at + HEAD_OF_KEY > end:
        return -1, -1
    length = _number_at(document, at + 1)
    begin = at + HEAD_OF_KEY
    if length < 0 or length > end or begin + length >= end:
        return -1, -1
    # Most objects have their keys in the order of the first object's.
    for k in range(len(keys)):
        key = likely + k
        if key >= len(keys):
            key -= len(keys)
        if key_lengths[key] == length:
            same = True
            for i in range(np.uint64(length)):
                same &= document[np.uint64(begin) + i] == keys[key, i]
            if same:
                return key, begin + length
    return -1, begin + length


@kernel(inner=True)
def _value(document, at, widths):
    """Return where a value begins, its parts and their bytes (-1: not read here), and its type."""
    end, marker = len(document), document[at]
    if marker == ARRAY and at + HEAD_OF_ARRAY <= end:
        kind = document[at + 2]
        is_typed = document[at + 1] == TYPE and widths[kind] > 0
        if is_typed and document[at + 3] == COUNT and document[at + 4] == LENGTH:
            return at + HEAD_OF_ARRAY, _number_at(document, at + 5), widths[kind], np.int64(kind)
    if marker == TEXT and at + HEAD_OF_TEXT <= end and document[at + 1] == LENGTH:
        return at + HEAD_OF_TEXT, _number_at(document, at + 2), np.int64(1), np.int64(0)
    if widths[marker] > 0:
        return at + 1, np.int64(1), widths[marker], np.int64(0)
    if marker == NULL or marker == TRUE or marker == FALSE:
        return at + 1, np.int64(0), np.int64(1), np.int64(0)
    return at, np.int64(-1), np.int64(0), np.int64(0)


@kernel(inner=True)
def _number_at(document, at):
    """Read the number of 64 bits, the highest byte first."""
    number, place = np.uint64(0), np.uint64(at)
    for i in range(np.uint64(8)):
        number = (number << np.uint64(8)) | np.uint64(document[place + i])
    return np.int64(number)


@kernel()
def _join(document, begins, sizes, out):
    """Write parts of the document to `out`, one after the other."""
    place = np.uint64(0)
    for i in range(len(begins)):
        begin = np.uint64(begins[i])
        for k in range(np.uint64(sizes[i])):
            out[place + k] = document[begin + k]
        place += np.uint64(sizes[i])
