"""Compute a sum, difference or product without error: the rounded result and what is lost.

The results are exact without overflow (Knuth; Dekker 1971). Kernels call them with single numbers;
plain Python takes the function before compilation, ``two_sum.py_func``, with arrays.
"""

from __future__ import annotations

from splitcredit.kernels.compiled import kernel

# 2**27 + 1: splits a float64 into two halves of its digits (Veltkamp).
SPLITTER = 134217729.0


@kernel(inner=True)
def two_sum(a, b):
    """Return a + b, rounded, and the rounding error (Knuth)."""
    high = a + b
    rest = high - a
    return high, (a - (high - rest)) + (b - rest)


@kernel(inner=True)
def two_difference(a, b):
    """Return a - b, rounded, and the rounding error (Knuth)."""
    high = a - b
    rest = high - a
    return high, (a - (high - rest)) - (b + rest)


@kernel(inner=True)
def two_product(a, b):
    """Return a * b, rounded, and the rounding error (Dekker)."""
    high = a * b
    wide_a, wide_b = SPLITTER * a, SPLITTER * b
    a_high, b_high = wide_a - (wide_a - a), wide_b - (wide_b - b)
    a_low, b_low = a - a_high, b - b_high
    return high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low
