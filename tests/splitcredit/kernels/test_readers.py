"""Kernels that read what libraries write of their models: numbers, lines, and errors in them."""

import math
import re
from fractions import Fraction

import lightgbm
import numpy as np
import pytest

from splitcredit import to_forest
from splitcredit.kernels.readers import decimals, lines


def read(*texts, lengths=None):
    """Lists of numbers, one a text, and how many each has."""
    content = "|".join(texts).encode()
    ends = np.cumsum([len(text) + 1 for text in texts]) - 1
    begins = ends - [len(text) for text in texts]
    lengths = np.array([len(text.split()) for text in texts] if lengths is None else lengths)
    places = np.cumsum(lengths) - lengths
    out = np.full(lengths.sum(), -7.0)
    characters = np.frombuffer(content, np.uint8)
    return decimals.read(characters, begins, ends, places, lengths, out), out


def assert_as_python(numbers):
    """The bytes are those of Python's ``float``, so that -0 differs from 0.

    Each is a list of its own: one number that is left to Python takes those in its list with it.
    """
    counts, ours = read(*numbers)
    assert (counts == 1).all()
    theirs = np.array([float(number) for number in numbers])
    wrong = np.flatnonzero(ours.view(np.int64) != theirs.view(np.int64))
    assert not wrong.size, numbers[wrong[0]]


@pytest.mark.parametrize("form", ["%.17g", "%.16g", "%.19g", "%.6g", "%r", "%.25g", "%.12e", "%f"])
def test_numbers_of_all_magnitudes_are_the_nearest_ones(form):
    random = np.random.default_rng(0)
    numbers = random.integers(0, 2**64, 20000, dtype=np.uint64).view(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    usual = random.standard_normal(20000) * 10.0 ** random.integers(-9, 9, 20000)
    assert_as_python([form % number for number in [*numbers.tolist(), *usual.tolist()]])


def test_numbers_in_the_middle_between_two_floats_are_rounded_as_by_Python():
    """A middle is an odd number of halves of the last place; Python takes the even float."""
    random, numbers = np.random.default_rng(0), []
    for places in range(4):  # behind the point
        for halves in (2 * random.integers(2**52, 2**53, 100) + 1).tolist():
            digits = Fraction(halves, 2**places) * 10**places
            numbers += [f"{digits}e-{places}", f"-{digits}e-0{places}"]
            numbers += [f"{digits + step}e-{places}" for step in (-1, 1)]
    assert_as_python(numbers)


def test_numbers_next_to_the_middle_between_two_floats_are_not_rounded_the_wrong_way():
    """By continued fractions: of these, a product of thirty digits lies on either side."""
    numbers = []
    for exponent in range(decimals.LOWEST, decimals.HIGHEST - 20):
        power = Fraction(10) ** exponent
        last = math.floor(math.log2(power * 10**19)) - 53
        ratio = (power / Fraction(2) ** last).limit_denominator(10**19)
        if ratio.numerator % 2 and 2**53 < ratio.numerator < 2**54:
            numbers.append(f"{ratio.denominator}e{exponent}")
            error = ratio * Fraction(2) ** last / power - 1
            assert abs(error) < Fraction(1, 2**110)
    assert len(numbers) > 100
    assert_as_python(numbers)


def test_numbers_may_have_signs_exponents_leading_zeros_and_no_digits_on_one_side():
    numbers = (
        "0 -0 +1 00012 1. .5 -.5e1 1E5 1e+05 1e-05 0e999 0.000 1e22 1e23 123456789012345678901"
    )
    numbers += " 5e-324 2e-324 1.7976931348623157e+308 1e400 inf -inf nan infinity 1e-400 1_0"
    # Exponents that are 5 and -5 in 64 bits.
    numbers += " 1e18446744073709551621 1e-18446744073709551621"
    assert_as_python(numbers.split())


def test_lists_of_any_length_are_read_and_no_number_is_written_beyond_its_room():
    counts, out = read("1 2  3 ", "", "   ", "4 nan 6", "7", lengths=[2, 1, 1, 2, 2])
    np.testing.assert_array_equal(counts, [3, 0, 0, 3, 1])
    np.testing.assert_array_equal(out, [1, 2, -7, -7, 4, np.nan, 7, -7])


@pytest.mark.parametrize("text", ["1234", "1.25", "1e25", "1e-25", "inf5", "-7 8"])
def test_no_character_behind_the_end_of_a_list_is_read(text):
    characters = np.frombuffer(text.encode(), np.uint8)
    for end in range(1, len(text) + 1):
        try:
            expected = [float(number) for number in text[:end].split()]
        except ValueError:
            continue
        out, places = np.zeros(2), (np.array([n]) for n in (0, end, 0, 2))
        assert decimals.read(characters, *places, out) == len(expected)
        assert out[: len(expected)].tolist() == expected


@pytest.mark.parametrize(
    "text", ["1 x", "1,2", "1-2", "--1", "e5", ".", "1e", "1e+", "1 infx", "1 2 inf5", "-"]
)
def test_what_is_no_number_is_refused(text):
    with pytest.raises(ValueError, match="could not convert string to float"):
        read("3", text)


def test_lines_are_found_by_their_whole_key_in_the_tree_that_they_are_in():
    text = "a=0\nTree=0\na=1 2\nab=3\n\nTree=1\nab=\nTrees=9\nTree=2\n b=5\na=4\nc"
    begins, ends = lines.find(text.encode(), ["a", "ab", "b", "c"])
    contents = [
        [text[begin:end] if begin >= 0 else None for begin, end in zip(*of_key, strict=True)]
        for of_key in zip(begins.tolist(), ends.tolist(), strict=True)
    ]
    assert contents == [["1 2", None, "4"], ["3", "", None], [None] * 3, [None] * 3]


@pytest.mark.parametrize(
    ("line", "damaged", "message"),
    [
        ("threshold=", "threshold=x", "in model.txt is damaged: could not convert string"),
        ("left_child=", "left_child=0.5 ", "has 13 left_child, expected 12"),
        ("left_child=1 ", "left_child=1.5 ", "has left_child that are not whole numbers: save"),
        ("num_leaves=5", "num_leaves=5e-1", "has num_leaves that are not whole numbers: save"),
        ("leaf_count=", "leaf_counts=", "has 10 leaf_count, expected 15"),
    ],
)
def test_damaged_numbers_of_a_text_name_the_line(tmp_path, line, damaged, message):
    X = np.random.default_rng(0).normal(size=(200, 3))
    parameters = {"num_leaves": 5, "num_threads": 1, "verbose": -1}
    text = lightgbm.train(parameters, lightgbm.Dataset(X, X[:, 0]), 3).model_to_string()
    text = re.sub("^tree_sizes=.*\n", "", text, flags=re.M)
    assert line in text
    path = tmp_path / "model.txt"
    path.write_text(re.sub("^" + re.escape(line), damaged, text, count=1, flags=re.M))
    with pytest.raises(ValueError, match=message):
        to_forest(path)
