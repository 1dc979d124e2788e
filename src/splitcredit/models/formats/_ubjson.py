"""Read UBJSON, the binary form of JSON in which XGBoost saves a model.

It reads what XGBoost writes, which is less than the format allows: objects have no count, arrays
have one, and keys, strings and arrays give their length in 8 bytes. All numbers are big-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from struct import Struct

import numpy as np

from splitcredit.kernels.readers import records

# Marker -> code of a number, the same for `struct` and NumPy.
_CODES = {"i": ">b", "U": ">B", "I": ">h", "l": ">i", "L": ">q", "d": ">f", "D": ">d"}
_NUMBERS = {ord(marker): Struct(code) for marker, code in _CODES.items()}
_DTYPES = {ord(marker): np.dtype(code) for marker, code in _CODES.items()}
_WORDS = {ord("Z"): None, ord("T"): True, ord("F"): False}
_OBJECT, _END, _ARRAY, _STRING, _TYPE = b"{}[S$"
_LENGTH = Struct(">q")


class Typed(tuple):
    """An array of numbers of one type, not decoded yet: its dtype and its bytes."""

    __slots__ = ()


def joined(arrays) -> np.ndarray:
    """Decode typed arrays and join them, in the native order of bytes."""
    (dtype,) = {dtype for dtype, _ in arrays}
    return _decoded(b"".join([content for _, content in arrays]), dtype)


def length(array) -> int:
    """Return the length of an array, typed or not."""
    return len(array[1]) // array[0].itemsize if isinstance(array, Typed) else len(array)


def _decoded(content, dtype):
    return np.frombuffer(content, dtype).astype(dtype.newbyteorder("="))


class Columns(Sequence):
    """Objects with the same keys, such as trees, whose values are decoded on demand."""

    def __init__(self, content, keys, places):
        self._content, self._keys, self._places = content, keys, places

    def __len__(self):
        return len(self._places.starts)

    def __getitem__(self, index):
        if not isinstance(index, slice):
            return _object(self._content, int(self._places.starts[index]))[0]
        return Columns(self._content, self._keys, self._places.of(index))

    def joined(self, key) -> np.ndarray:
        """Decode the arrays of all objects for a key, one after the other."""
        begins, lengths, marker = self._of(key)
        dtype = _DTYPES[marker]
        return _decoded(records.joined(self._content, begins, lengths * dtype.itemsize), dtype)

    def lengths(self, key) -> np.ndarray:
        """Return the length of each object's array for a key, int64 (n_objects,)."""
        return self._of(key)[1]

    def texts(self, key) -> list[bytes]:
        """Return the text that each object has for a key."""
        begins, lengths, _ = self._of(key)
        places = zip(begins.tolist(), (begins + lengths).tolist(), strict=True)
        return [bytes(self._content[begin:end]) for begin, end in places]

    def _of(self, key):
        if key not in self._keys:
            raise KeyError(key)
        k, places = self._keys.index(key), self._places
        return places.begins[k], places.lengths[k], int(places.markers[k, 0])


def read(content: bytes | bytearray):
    """Decode a document; arrays with a type become `Typed`, objects of one form `Columns`."""
    try:
        return _value(content, 0)[0]
    except (IndexError, KeyError, struct.error) as error:
        raise ValueError(f"not a model in UBJSON: {error}") from None


def _length(b, at, size=1, before=b""):
    """Read a number of things of so many bytes, which must follow, and the marker before it."""
    if not b.startswith(before + b"L", at - 1 - len(before)):
        raise ValueError(f"byte {at} has no length, which stands behind an L")
    (n,) = _LENGTH.unpack_from(b, at)
    if not 0 <= n * size <= len(b) - at:
        raise ValueError(f"byte {at} gives the length {n}, and the document ends before")
    return n


def _value(b, at):
    """Read the value whose marker stands at `at`; return where it ends, too."""
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
    stop = at + 9 + _length(b, at + 1)
    return b[at + 9 : stop].decode(), stop


def _typed(b, at):
    """Read ``[$``, marker, ``#L``, length, numbers."""
    dtype = _DTYPES[b[at + 2]]
    stop = at + 13 + _length(b, at + 5, dtype.itemsize, b"#") * dtype.itemsize
    return Typed((dtype, b[at + 13 : stop])), stop


def _array(b, at):
    """Read ``[#L``, length, values."""
    n, at = _length(b, at + 3, before=b"#"), at + 11
    if n and b[at] == _OBJECT:
        return _columns(b, at, n) or _items(b, at, n)
    return _items(b, at, n)


def _items(b, at, n):
    items = []
    while len(items) < n:
        if b[at] in _NUMBERS:
            run, at = _run(b, at, n - len(items))
            items += run
        else:
            item, at = _value(b, at)
            items.append(item)
    return items, at


def _run(b, at, most):
    """Read numbers that have the type of the first; each has its marker."""
    dtype = _DTYPES[b[at]]
    size = 1 + dtype.itemsize
    most = max(1, min(most, (len(b) - at) // size))
    raw = np.ndarray((most, size), np.uint8, b, at)
    of_other_type = np.flatnonzero(raw[:, 0] != b[at])
    n = int(of_other_type[0]) if len(of_other_type) else most
    return _decoded(raw[:n, 1:].tobytes(), dtype).tolist(), at + n * size


def _columns(b, at, n):
    """Read objects as `Columns`; return their end, too; None if their keys differ."""
    keys = _keys(_object(b, at)[0])
    places, stop = records.find(b, at, n, keys)
    if places is None:
        return None
    return Columns(b, keys, places), stop


def _keys(members):
    """List keys of typed arrays, texts and numbers of an object, and of objects in it."""
    keys = []
    for key, value in members.items():
        keys += _keys(value) if isinstance(value, dict) else [key]
    return keys


def _object(b, at):
    """Read ``{``, pairs of a key and a value, ``}``."""
    members, at = {}, at + 1
    while b[at] != _END:
        key, at = _text(b, at)
        members[key], at = _value(b, at)
    return members, at + 1
