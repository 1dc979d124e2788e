"""Reader of UBJSON, the binary form of JSON in which XGBoost keeps a model.

It reads what XGBoost writes, which is less than the format allows: objects have no count, arrays
have one, and keys, strings and arrays give their length in 8 bytes. All numbers are big-endian.
"""

from __future__ import annotations

import struct
from struct import Struct

import numpy as np

# Marker -> code of a number, the same for `struct` and NumPy.
_CODES = {"i": ">b", "U": ">B", "I": ">h", "l": ">i", "L": ">q", "d": ">f", "D": ">d"}
_NUMBERS = {ord(marker): Struct(code) for marker, code in _CODES.items()}
_DTYPES = {ord(marker): np.dtype(code) for marker, code in _CODES.items()}
_MARKERS = {np.dtype(code): marker.encode() for marker, code in _CODES.items()}
_WORDS = {ord("Z"): None, ord("T"): True, ord("F"): False}
_OBJECT, _END, _ARRAY, _STRING, _TYPE = b"{}[S$"
_LENGTH = Struct(">q")
_length = _LENGTH.unpack_from


class Typed(tuple):
    """An array whose numbers are all of one type, not yet decoded: its dtype and its bytes."""

    __slots__ = ()


def joined(arrays) -> np.ndarray:
    """Typed arrays decoded and one after the other, in the native order of bytes."""
    (dtype,) = {dtype for dtype, _ in arrays}
    whole = np.frombuffer(b"".join([content for _, content in arrays]), dtype)
    return whole.astype(dtype.newbyteorder("="))


def read(content: bytes):
    """Decode a document; arrays with a type become `Typed`.

    Raises
    ------
    ValueError
        If the document ends early or has a marker that XGBoost does not write.
    """
    try:
        return _value(content, 0)[0]
    except (IndexError, KeyError, struct.error) as error:
        raise ValueError(f"not a model in UBJSON: {error}") from None


def _value(b, at):
    """The value whose marker stands at `at`, and where it ends."""
    marker = b[at]
    if marker == _OBJECT:
        return _object(b, at)
    if marker == _ARRAY:
        return _typed(b, at) if b[at + 1] == _TYPE else _array(b, at)
    if marker == _STRING:
        return _text(b, at + 1)
    if marker in _NUMBERS:
        number = _NUMBERS[marker]
        return number.unpack_from(b, at + 1)[0], at + 1 + number.size
    return _WORDS[marker], at + 1


def _text(b, at):
    stop = at + 9 + _length(b, at + 1)[0]
    return b[at + 9 : stop].decode(), stop


def _typed(b, at):
    """``[$``, marker, ``#L``, length, numbers."""
    dtype = _DTYPES[b[at + 2]]
    stop = at + 13 + _length(b, at + 5)[0] * dtype.itemsize
    return Typed((dtype, b[at + 13 : stop])), stop


def _array(b, at):
    """``[#L``, length, values."""
    n, at = _length(b, at + 3)[0], at + 11
    if n and b[at] == _OBJECT:
        return _objects(b, at, n)
    items = []
    for _ in range(n):
        item, at = _value(b, at)
        items.append(item)
    return items, at


def _objects(b, at, n):
    """Objects of which most have the keys and types of the first, such as trees.

    What stands before each value of the first is compared with the bytes at hand, which takes a
    third of the time of reading it.
    """
    first, at = _object(b, at)
    heads = [(key, *_head(key, value)) for key, value in first.items()]
    items, known = [first], {}
    for _ in range(n - 1):
        item, at = _like_the_first(b, at, heads, known)
        items.append(item)
    return items, at


def _head(key, value):
    """The bytes before the value, or before its length if it is typed; their number; its type."""
    name = b"L" + _LENGTH.pack(len(key.encode())) + key.encode()
    if not isinstance(value, Typed):
        return name, len(name), None
    head = name + b"[$" + _MARKERS[value[0]] + b"#L"
    return head, len(head), value[0]


def _like_the_first(b, at, heads, known):
    """An object whose first pairs are probably those of `heads`; `known` is for `_known_object`."""
    members, at = {}, at + 1
    for key, head, size, dtype in heads:
        if not b.startswith(head, at):
            break
        at += size
        if dtype is not None:
            start, at = at + 8, at + 8 + _length(b, at)[0] * dtype.itemsize
            members[key] = Typed((dtype, b[start:at]))
        elif b[at] == _OBJECT:
            members[key], at = _known_object(b, at, key, known)
        else:
            members[key], at = _value(b, at)
    return _rest(b, at, members)


def _known_object(b, at, key, known):
    """An object in an object; what was read before is looked up by its bytes.

    For each key `known` holds the length of the last object and all objects by their bytes.
    """
    length, objects = known.get(key, (0, {}))
    content = b[at : at + length]
    if content in objects:
        return objects[content], at + length
    members, stop = _object(b, at)
    objects[b[at:stop]] = members
    known[key] = stop - at, objects
    return members, stop


def _object(b, at):
    """``{``, pairs of a key and a value, ``}``."""
    return _rest(b, at + 1, {})


def _rest(b, at, members):
    """The pairs that are left of an object, added to its members."""
    while b[at] != _END:
        key, at = _text(b, at)
        members[key], at = _value(b, at)
    return members, at + 1
