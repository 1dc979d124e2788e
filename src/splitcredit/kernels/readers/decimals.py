"""Read decimal numbers of a text as float64: the nearest ones, as Python's ``float`` does.

The digits of a number are a whole number w, and the number is w times a power of ten. Both are held
as sums of two float64, so their product is known to some thirty digits. It is rounded to the
nearest float64, unless it lies so close to the middle between two of them that the thirty digits do
not tell which is nearer. This happens to one number in 10**14 if the digits are random. Lists with
such a number, or with anything else that is not read here, such as ``nan``, are left to Python.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.error_free import two_product, two_sum

# Exponents of ten that are read: products of powers and digits stay within normal numbers, and so
# do the halves that the powers are split into.
LOWEST, HIGHEST = -280, 300
# As many digits are a whole number of 64 bits.
MOST_DIGITS = 19
# Bound on the error of `_times_power`, relative to the product. The two parts of a power leave
# 2**-107. The product of both second parts, which is left out, is 2**-106 at most. The roundings of
# the other two products and of their two sums take 2**-106, 2**-106, 2**-105 and 2**-104. In all
# this is less than 2**-102. Twice as much leaves room for the roundings of the comparison itself.
ERROR = 2.0**-101
BLANK, PLUS, MINUS, POINT, ZERO, NINE, SMALL_E, LARGE_E = (ord(c) for c in " +-.09eE")
INFINITY = np.frombuffer(b"inf", np.uint8)


@cache
def powers() -> np.ndarray:
    """Return the powers of ten from `LOWEST` to `HIGHEST` in two parts, float64 (n_powers, 2)."""
    parts = []
    for exponent in range(LOWEST, HIGHEST + 1):
        exact = Fraction(10) ** exponent
        parts.append((float(exact), float(exact - Fraction(float(exact)))))
    table = np.array(parts)
    table.flags.writeable = False
    return table


def read(text, begins, ends, places, lengths, out) -> np.ndarray:
    """Read lists of numbers into an array; return their lengths, int64 (n_lists,)."""
    counts, is_read = np.zeros(len(begins), np.int64), np.ones(len(begins), np.bool_)
    _read(text, begins, ends, places, lengths, powers(), counts, is_read, out)
    for i in np.flatnonzero(~is_read).tolist():
        numbers = [float(number) for number in text[begins[i] : ends[i]].tobytes().decode().split()]
        counts[i] = len(numbers)
        kept = numbers[: lengths[i]]
        out[places[i] : places[i] + len(kept)] = kept
    return counts


@kernel()
def _read(text, begins, ends, places, lengths, powers, counts, is_read, out):
    """Write `out` and `counts`; lists that are left to Python are not `is_read`."""
    for i in range(len(begins)):
        if begins[i] < 0:
            continue
        at, stop, place, length = begins[i], np.uint64(ends[i]), places[i], lengths[i]
        k, n, sure = np.uint64(at), 0, True
        while sure:
            while k < stop and text[k] == BLANK:
                k += np.uint64(1)
            if k >= stop:
                break
            number, k, sure = _number(text, k, stop, powers)
            if n < length:
                out[place + n] = number
            n += 1
        counts[i], is_read[i] = n, sure


@kernel(inner=True)
def _number(text, k, stop, powers):
    """Read the number at character k; return it, where it ends, and whether it could be read."""
    one = np.uint64(1)
    negative = text[k] == MINUS
    if negative or text[k] == PLUS:
        k += one
    if k + np.uint64(3) <= stop and text[k] == INFINITY[0]:
        return -np.inf if negative else np.inf, k + np.uint64(3), _is_infinity(text, k, stop)
    digits, n_digits, exponent, any_digit, behind_point = np.uint64(0), 0, 0, False, False
    while k < stop:
        c = text[k]
        if ZERO <= c <= NINE:
            digits = digits * np.uint64(10) + np.uint64(c - ZERO)
            n_digits += digits > 0
            exponent -= behind_point
            any_digit = True
        elif c == POINT and not behind_point:
            behind_point = True
        else:
            break
        k += one
    sure = any_digit and n_digits <= MOST_DIGITS
    if k < stop and (text[k] == SMALL_E or text[k] == LARGE_E):
        k += one
        below_zero = k < stop and text[k] == MINUS
        if k < stop and (below_zero or text[k] == PLUS):
            k += one
        power, any_digit = 0, False
        while k < stop and ZERO <= text[k] <= NINE:
            power = min(power * 10 + np.int64(text[k] - ZERO), 10000)
            any_digit = True
            k += one
        sure = sure and any_digit
        exponent += -power if below_zero else power
    sure = sure and (k >= stop or text[k] == BLANK) and LOWEST <= exponent <= HIGHEST
    if not sure:
        return 0.0, k, False
    number = 0.0
    if digits > 0:
        power = np.uint64(exponent - LOWEST)
        number, sure = _times_power(digits, powers[power, 0], powers[power, 1])
    return -number if negative else number, k, sure


@kernel(inner=True)
def _is_infinity(text, k, stop):
    """Return whether the word at character k is ``inf``, at least 3 characters before the end."""
    same = k + np.uint64(3) == stop or text[k + np.uint64(3)] == BLANK
    for i in range(3):
        same = same and text[k + np.uint64(i)] == INFINITY[i]
    return same


@kernel(inner=True)
def _times_power(digits, power, rest):
    """Multiply digits by a power of ten in two parts; return whether it is surely the nearest."""
    whole = np.float64(digits)
    # What rounding took of a number of 64 bits: it has ten bits, and a sign.
    lost = np.float64(np.int64(digits - np.uint64(whole)))
    high, low = two_product(whole, power)
    high, low = two_sum(high, low + (whole * rest + lost * power))
    error = high * ERROR
    return high, high + (low + error) == high and high + (low - error) == high
