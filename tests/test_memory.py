"""Arrays in large pages: shapes, types and numbers are those of NumPy's own."""

import numpy as np
import pytest

from splitcredit import _memory

SHAPES = [(0, 3), (5,), (70_000,), (300, 7, 100), (1 << 19,), (3, 1 << 20)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_zeros_are_zero_and_may_be_written_to(shape):
    """Red if an array is cut from a piece at the wrong place, or shares it with another."""
    one, two = _memory.zeros(shape), _memory.zeros(shape)
    assert one.dtype == np.float64 and one.shape == shape and one.flags.c_contiguous
    assert not one.any()
    one[...] = 1
    assert not two.any()


@pytest.mark.parametrize("size", [1 << 19, (1 << 20) + 8, (1 << 22) - 8])
def test_an_array_of_medium_size_begins_with_a_large_page(size):
    """Otherwise its first part lies in small pages."""
    array = _memory.empty((size // 8,))
    assert array.ctypes.data % (1 << 21) == 0 and array.nbytes == size


@pytest.mark.parametrize("shape", [(), *SHAPES[:4]], ids=str)
@pytest.mark.parametrize("order", "CF")
def test_numbers_are_cast_as_numpy_casts_them(shape, order):
    given = np.asarray(np.random.default_rng(0).normal(size=shape), order=order)
    for dtype in (np.float32, np.float64):
        cast = _memory.cast(given, dtype)
        assert cast.flags.c_contiguous and cast.shape == shape
        assert cast.tobytes() == given.astype(dtype).tobytes()


def test_an_array_of_the_type_is_not_copied():
    given = np.ones((4, 3))
    assert _memory.cast(given, np.float64) is given
