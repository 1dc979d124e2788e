"""Penalized Gini on examples small enough for paper, and on one scored by the author's package."""

from itertools import product
from math import comb

import numpy as np
import pytest

from forests import grow, leaf, split
from splitcredit import Forest
from splitcredit.importances import mdi_oob, penalized_gini


def one_split(inbag, oob):
    """A split of one feature with (rows, ones) in-bag and out-of-bag on the left and the right."""
    X, y, counts = [], [], []
    for side, times_drawn in ((inbag, 1), (oob, 0)):
        for place, (n, ones) in enumerate(side):
            X += n * [[float(place)]]
            y += ones * [1] + (n - ones) * [0]
            counts += n * [times_drawn]
    tree = split(0, 0.5, *(leaf([1 - s / n, s / n], float(n)) for n, s in inbag))
    forest = grow([tree], 1, inbag=np.array([counts], np.uint8), output_names=("0", "1"))
    return forest, np.array(X), np.array(y)


@pytest.mark.parametrize(
    ("preset", "given", "expected"),
    [
        ("mdi_inbag", {"per_row": False}, 10 / 3),
        ("pg_10", {}, 27 / 14),
        ("pg_hat_10", {}, 2.0),
        ("ufi", {"per_row": False}, 3.0),
        ("pg_051", {}, 2.0),
        ("pg_hat_051", {}, 2.146825396825),
        ("pg_hat_051", {"weights": "inbag"}, 3.269274376417),
        ("pg_12", {}, 4 / 3),
    ],
)
def test_one_split_by_hand(preset, given, expected):
    forest, X, y = one_split([(6, 5), (4, 0)], [(3, 3), (4, 1)])
    values = penalized_gini.importance(forest, X, y, preset, **given).values
    assert values[0] == pytest.approx(expected, abs=1e-11)
    assert 7 * mdi_oob.importance(forest, X, y, output=1).values[0] == pytest.approx(0.5)


@pytest.mark.parametrize(("n_left", "n_right"), [(2, 2), (3, 5), (1, 1), (1, 6)])
@pytest.mark.parametrize("p", [0.3, 0.5])
def test_pg_hat_10_of_a_useless_split_is_0_on_average_if_children_have_two_rows(n_left, n_right, p):
    """All outcomes of independent labels. A child of one row leaves a bias of 2 p (1 - p) n / N."""
    mean = 0.0
    for a, b in product(range(n_left + 1), range(n_right + 1)):
        chance = comb(n_left, a) * comb(n_right, b) * p ** (a + b)
        chance *= (1 - p) ** (n_left + n_right - a - b)
        forest, X, y = one_split([(1, 1), (1, 0)], [(n_left, a), (n_right, b)])
        gain = penalized_gini.importance(forest, X, y, "pg_hat_10", min_child_oob=1).values[0]
        mean += chance * gain
    small = [n for n in (n_left, n_right) if n == 1]
    bias = 2 * p * (1 - p) * len(small)
    assert mean == pytest.approx(bias, abs=1e-12)


def two_trees() -> tuple[Forest, np.ndarray, np.ndarray]:
    """The forest of two trees that the R package rfVarImpOOB was run on."""
    digits = """a 9 2 6 1 9 5 7 7 2 7 7 5 7 9 2 3 7 1 5 5 4 3 5 9
b 0 1 1 1 1 0 1 1 0 0 1 1 0 0 0 0 1 0 0 1 1 0 0 0
c 1 3 4 1 1 1 2 1 4 2 4 0 3 1 1 4 1 4 0 0 3 3 0 2
y 0 1 1 0 1 0 1 0 0 1 1 1 0 0 0 0 0 0 0 1 0 1 1 0
1 1 0 1 1 1 2 3 1 0 1 2 1 1 1 1 2 0 1 1 1 0 0 2 0
2 0 0 0 1 0 2 3 0 3 0 1 2 0 1 3 1 0 2 1 1 2 1 0 0"""
    table = {line[0]: np.array(line.split()[1:], float) for line in digits.splitlines()}
    left = [[2, 4, 6, 0, 8, 0, 10, 0, 12, 14, 0, 0, 0, 0, 16, 0, 0]]
    right = [[3, 5, 7, 0, 9, 0, 11, 0, 13, 15, 0, 0, 0, 0, 17, 0, 0]]
    variable = [[2, 3, 1, 0, 3, 0, 3, 0, 3, 1, 0, 0, 0, 0, 1, 0, 0]]
    at = [[0.5, 0.5, 3, 0, 1.5, 0, 1.5, 0, 2.5, 6, 0, 0, 0, 0, 8, 0, 0]]
    left.append([2, 4, 6, 0, 8, 0, 0, 10, 0, 0, 0])
    right.append([3, 5, 7, 0, 9, 0, 0, 11, 0, 0, 0])
    variable.append([2, 1, 1, 0, 1, 0, 0, 3, 0, 0, 0])
    at.append([0.5, 2.5, 4.5, 0, 4, 0, 0, 3.5, 0, 0, 0])

    X, y = np.stack([table[k] for k in "abc"], axis=1), table["y"].astype(int)

    def node(t, k, rows):
        if variable[t][k] == 0:
            ones = np.average(y[rows], weights=inbag[t, rows])
            return leaf([1 - ones, ones], inbag[t, rows].sum())
        feature, threshold = variable[t][k] - 1, at[t][k]
        low = X[rows, feature] <= threshold
        children = (left[t][k] - 1, rows[low]), (right[t][k] - 1, rows[~low])
        return split(feature, threshold, *(node(t, *child) for child in children))

    inbag = np.stack([table["1"], table["2"]]).astype(np.uint8)
    trees = [node(t, 0, np.arange(24)) for t in range(2)]
    return grow(trees, 3, inbag=inbag, output_names=("0", "1")), X, y


ON, OFF = {"min_child_oob": 2}, {"min_child_oob": 1}
IN, IN_ON = {"weights": "inbag", **OFF}, {"weights": "inbag", **OFF, "min_child_inbag": 2}


@pytest.mark.parametrize(
    ("preset", "given", "expected"),
    [
        ("pg_hat_10", ON, (0, -0.622, 0)),
        ("pg_hat_10", OFF, (1.1665, -0.622, 0)),
        ("pg_hat_11", ON, (0, -1.063, 0)),
        ("pg_hat_11", OFF, (-0.766, -1.063, -0.6945)),
        ("pg_hat_051", IN_ON, (-0.825, -0.4705, -0.075)),
        ("pg_hat_051", IN, (-1.8485, -0.4705, -0.697)),
        ("pg_10", ON, (0, 0.1, 0)),
        ("pg_10", OFF, (0.8665, 0.1, 0.1665)),
        ("pg_051", IN_ON, (-0.95, 0.8, 0)),
        ("pg_051", IN, (-2.6165, 0.8, -0.5)),
    ],
)
def test_two_trees_as_in_r(preset, given, expected):
    """Scores of the author's package, which rounds the gain of every node to three decimals."""
    forest, X, y = two_trees()
    values = penalized_gini.importance(forest, X, y, preset, **given).values
    splits = np.bincount(forest.feature[forest.feature >= 0], minlength=3)
    rounding = 0.0005 * splits / forest.n_trees + 1e-12
    assert (np.abs(values - expected) <= rounding).all()


@pytest.mark.parametrize(
    ("given", "expected"),
    [(IN_ON, (-2, -1.3805, -0.075)), (IN, (-4.035, -1.3805, -0.975))],
)
def test_two_trees_as_in_r_half_of_pg_12(given, expected):
    """p_oob (1 - 2 p_in) + p_in^2, the package's fifth score, is half of PG(1, 2)."""
    forest, X, y = two_trees()
    values = penalized_gini.importance(forest, X, y, "pg_12", **given).values / 2
    splits = np.bincount(forest.feature[forest.feature >= 0], minlength=3)
    assert (np.abs(values - expected) <= 0.0005 * splits / forest.n_trees + 1e-12).all()


def test_two_trees_as_in_r_mdi():
    forest, X, y = two_trees()
    values = penalized_gini.importance(forest, X, y, "mdi_inbag", per_row=False).values
    np.testing.assert_allclose(values, [4.0149351, 4.3607060, 2.2910256], rtol=0, atol=5e-8)
