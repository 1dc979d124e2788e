"""Reader of UBJSON, the binary form of JSON in which XGBoost keeps a model.

It reads what XGBoost writes, which is less than the format allows: objects have no count, arrays
have one, and keys, strings and arrays give their length in 8 bytes. All numbers are big-endian.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import starmap
from struct import Struct
from typing import NamedTuple

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
    return _decoded(b"".join([content for _, content in arrays]), dtype)


def _decoded(content, dtype):
    return np.frombuffer(content, dtype).astype(dtype.newbyteorder("="))


class Columns(Sequence):
    """Objects of one form, such as trees, of which little is decoded before it is needed.

    Parameters
    ----------
    content : bytes or bytearray
        The whole document.
    starts : int64 (n_objects,)
        Where each object begins.
    arrays : dict
        By key the dtype of an array of each object, where its numbers begin, int64 (n_objects,),
        and how many there are, int64 (n_objects,).
    rests : list of dict
        What stands behind the last array of each object, decoded.
    """

    def __init__(self, content, starts, arrays, rests):
        self._content, self._starts, self._arrays, self._rests = content, starts, arrays, rests

    def __len__(self):
        return len(self._starts)

    def __getitem__(self, index):
        if not isinstance(index, slice):
            return _object(self._content, int(self._starts[index]))[0]
        arrays = {
            key: (dtype, begin[index], length[index])
            for key, (dtype, begin, length) in self._arrays.items()
        }
        return Columns(self._content, self._starts[index], arrays, self._rests[index])

    def joined(self, key) -> np.ndarray:
        """One array of all objects, decoded and one after the other."""
        dtype, begin, length = self._arrays[key]
        stop = begin + length * dtype.itemsize
        slices = starmap(slice, zip(begin.tolist(), stop.tolist(), strict=True))
        return _decoded(b"".join(map(self._content.__getitem__, slices)), dtype)

    def is_empty(self, key) -> bool:
        """Whether an array is empty in all objects."""
        return not self._arrays[key][2].any()

    def rests(self, key) -> list:
        """What each object has for a key that stands behind its arrays."""
        return [rest[key] for rest in self._rests]


def read(content: bytes | bytearray):
    """Decode a document; arrays with a type become `Typed`, objects of one form `Columns`.

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
        return _columns(b, at, n, False) or _columns(b, at, n, True) or _items(b, at, n)
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
    """Numbers that have the type of the first; each has its marker."""
    dtype = _DTYPES[b[at]]
    size = 1 + dtype.itemsize
    most = max(1, min(most, (len(b) - at) // size))
    raw = np.ndarray((most, size), np.uint8, b, at)
    of_other_type = np.flatnonzero(raw[:, 0] != b[at])
    n = int(of_other_type[0]) if len(of_other_type) else most
    return _decoded(raw[:n, 1:].tobytes(), dtype).tolist(), at + n * size


class _Field(NamedTuple):
    """An array or a number of an object, and where it stands.

    Fields whose length does not follow from that of the first array divide an object into
    stretches. A field begins as many bytes behind the beginning of its stretch as `constant` and
    `each` times the length of the first array say.
    """

    key: str
    head: bytes  # What stands before it, or before its length.
    dtype: np.dtype | None  # None for a number.
    length: int | None  # None if it is that of the first array, -1 if each object has its own.
    stretch: int
    constant: int
    each: int


def _columns(b, at, n, vary):
    """Objects as `Columns`, and where they end; None if one has not the form of the first.

    Arrays are as long as the first array of their object, or else as long as in the first object,
    unless they may `vary`. So their lengths say where all fields must begin. What stands there is
    compared with what stands there in the first object, for all objects at once.
    """
    fields, sizes = _form(_object(b, at)[0], vary)
    if not fields:
        return None
    try:
        stretches, usual, rests, stop = _walk(b, at, n, fields[0].constant - 8, sizes)
        stretch, constant, each = np.array([field[-3:] for field in fields]).T
        begins = np.array(stretches)[stretch] + constant[:, None] + np.outer(each, usual)
        is_array = np.array([field.dtype is not None for field in fields])
        before = begins - 8 * is_array[:, None]
        lengths = _at(b, before[is_array], np.dtype(">i8")).astype(np.int64)
        if not _are_alike(b, before, lengths, usual, fields):
            return None
    except (IndexError, KeyError, OverflowError, ValueError, struct.error):
        return None
    places = zip(_arrays(fields), begins[is_array], lengths, strict=True)
    arrays = {field.key: (field.dtype, begin, length) for field, begin, length in places}
    return Columns(b, stretches[0], arrays, rests), stop


def _arrays(fields):
    return [field for field in fields if field.dtype is not None]


def _are_alike(b, before, lengths, usual, fields):
    """Whether arrays are as long as they should be, and keys stand where they should.

    Parameters
    ----------
    before : int64 (n_fields, n_objects)
        Where the numbers of each field begin, or the length of an array.
    lengths : int64 (n_arrays, n_objects)
    usual : int64 (n_objects,)
        Length of the first array of each object.
    """
    fixed_lengths = [field.length for field in _arrays(fields)]
    fixed = np.array([-1 if length is None else length for length in fixed_lengths])[:, None]
    expected = np.where(
        np.array([length is None for length in fixed_lengths])[:, None], usual, fixed
    )
    if ((lengths != expected) & (expected >= 0)).any():
        return False
    width = max(len(field.head) for field in fields)
    heads = _at(b, before - width, np.dtype((np.void, width)))
    heads = heads.view(np.uint8).reshape(*before.shape, width)
    padded = b"".join(field.head.rjust(width, b"\0") for field in fields)
    usual_heads = np.frombuffer(padded, np.uint8).reshape(len(fields), 1, width)
    size = np.array([len(field.head) for field in fields])[:, None, None]
    return not ((heads != usual_heads) & (np.arange(width) >= width - size)).any()


def _form(first, vary):
    """Fields of an object up to its last array, and the size of each stretch.

    A size is (constant, each, width): at the end of a stretch the numbers of an array of that width
    are left, whose length stands before them; or with a width of 0 a number, and with -1 nothing.
    """
    kinds = [type(value) for value in first.values()]
    n_fields = len(kinds) - kinds[::-1].index(Typed) if Typed in kinds else 0
    if kinds[:1] != [Typed] or not set(kinds[:n_fields]) <= {Typed, int}:
        return [], []
    usual = len(joined([next(iter(first.values()))]))
    fields, sizes, constant, each = [], [], 0, 0
    for key, value in list(first.items())[:n_fields]:
        head = b"L" + _LENGTH.pack(len(key.encode())) + key.encode()
        head = head if fields else b"{" + head
        dtype, length, width = None, None, 0
        if isinstance(value, Typed):
            dtype, width = value[0], value[0].itemsize
            head += b"[$" + _MARKERS[dtype] + b"#L"
            constant += 8
            length = len(value[1]) // width
            length = None if length == usual else -1 if vary else length
        constant += len(head)
        fields.append(_Field(key, head, dtype, length, len(sizes), constant, each))
        if dtype is None or length == -1:
            sizes.append((constant, each, width))
            constant = each = 0
        elif length is None:
            each += width
        else:
            constant += length * width
    return fields, [*sizes, (constant, each, -1)]


def _walk(b, at, n, first, sizes):
    """Where the stretches of each object begin, the length of its first array, and its rest.

    `first` is where this length stands in an object. At the end is where the last object ends.
    """
    stretches, lengths, rests, known = [[] for _ in sizes], [], [], {}
    steps = [
        (constant, each, width, begins.append)
        for (constant, each, width), begins in zip(sizes, stretches, strict=True)
    ]
    for _ in range(n):
        (length,) = _length(b, at + first)
        for constant, each, width, begin in steps:
            begin(at)
            at += constant + each * length
            if width == 0:
                at += 1 + _NUMBERS[b[at]].size
            elif width > 0:
                at += width * _length(b, at - 8)[0]
        if length not in known and known:
            known[length] = _for_length(*next(iter(known.items())), length)
        content, rest = known.get(length, (b"-", None))
        if not b.startswith(content, at):
            rest, stop = _rest(b, at, {})
            content = b[at:stop]
            known[length] = content, rest
        at += len(content)
        lengths.append(length)
        rests.append(rest)
    return [np.array(begins) for begins in stretches], np.array(lengths), rests, at


def _for_length(usual, of_usual, length):
    """What the rest of an object is if it differs from another in one text: the array's length.

    Parameters
    ----------
    usual : int
        Length of the first array of the other object.
    of_usual : tuple
        Content of its rest, and the same decoded.
    length : int

    Returns
    -------
    tuple
        Like `of_usual`; its content is compared with the document before it is used.
    """
    content, rest = of_usual
    old, new = (b"S" + _LENGTH.pack(len(text)) + text for text in (b"%d" % usual, b"%d" % length))
    if content.count(old) != 1:
        return of_usual
    return content.replace(old, new), _replaced(rest, str(usual), str(length))


def _replaced(value, old, new):
    """An object with another text in place of one text."""
    if isinstance(value, dict):
        return {key: _replaced(own, old, new) for key, own in value.items()}
    return new if value == old else value


def _at(b, places, dtype):
    """What stands at some places, read as a type; IndexError if one lies outside."""
    if places.min() < 0:
        raise IndexError("a place before the beginning")
    return np.ndarray(len(b) - dtype.itemsize + 1, dtype, b, strides=1)[places]


def _object(b, at):
    """``{``, pairs of a key and a value, ``}``."""
    return _rest(b, at + 1, {})


def _rest(b, at, members):
    """The pairs that are left of an object, added to its members."""
    while b[at] != _END:
        key, at = _text(b, at)
        members[key], at = _value(b, at)
    return members, at + 1
