"""What the exact prediction gap keeps of a forest, against its plain twin."""

from itertools import pairwise

import numpy as np
import pytest

import twins_gap_forest
from forests import DRAWN, FITTED, fitted, random_forest, single_leaf
from splitcredit import Forest, to_forest
from splitcredit.kernels.nodes import lowered
from splitcredit.kernels.prediction_gap.gap_forest import gap_forest


def as_lists(ours) -> twins_gap_forest.Twin:
    """A GapForest in the form of the twin."""
    ends_of_sides = [(threshold, 0) for threshold in ours.cuts.threshold.tolist()]
    ends_of_sides += [twins_gap_forest.NO_LOW, twins_gap_forest.NO_HIGH]
    n_splits = len(ours.splits)

    def named(child):
        return ("leaf", child - n_splits) if child >= n_splits else child

    splits = [
        (feature, ends_of_sides[cut][0], named(left), named(right))
        for _, feature, cut, left, right, _ in ours.splits.tolist()
    ]
    leaves = []
    for value, above, above_end, box, box_end in ours.leaves.tolist():
        own = ours.box[box:box_end].tolist()
        ends = [ours.sides[side].tolist() for _, side, _ in own]
        sides = [
            (j, ends_of_sides[low], ends_of_sides[high])
            for (j, *_), (low, high) in zip(own, ends, strict=True)
        ]
        turns = [own[turn][0] for *_, turn in own]
        leaves.append((value, ours.above[above:above_end].tolist(), sides, turns))
    return twins_gap_forest.Twin(splits, leaves, ours.trees["root"].tolist(), ours.depth)


def assert_equals_its_twin(forest):
    for output in range(forest.n_outputs):
        ours, twin = gap_forest(forest, output), twins_gap_forest.lists(forest, output)
        assert as_lists(ours) == twin
        # Each leaf, cut and side once, and where those of a tree or feature begin.
        first, last = ours.trees["leaf"].tolist(), ours.trees["leaf_end"].tolist()
        assert [0, *last] == [*first, len(ours.leaves)] == ours.first_leaf.tolist()
        cuts = list(zip(ours.cuts.feature, ours.cuts.threshold, strict=True))
        assert cuts == sorted({(j, threshold) for j, threshold, *_ in twin.splits})
        sides = {side for _, _, own, _ in twin.leaves for side in own}
        assert len(ours.sides) == len(sides)
        features = sorted(j for j, *_ in sides)
        n_features = np.arange(forest.n_features + 1)
        np.testing.assert_array_equal(ours.first["side"], np.searchsorted(features, n_features))
        np.testing.assert_array_equal(
            ours.first["cut"], np.searchsorted(ours.cuts.feature, n_features)
        )
        of_trees = pairwise([*twin.roots, len(twin.splits)])
        for tree, (start, stop) in zip(ours.trees, of_trees, strict=True):
            bits = {1 << (j % 64) for j, *_ in twin.splits[start:stop]}
            assert tree["tested"] == sum(bits)


# The twins of those fitted to digits take seconds each.
FITS = [pytest.param(n, marks=pytest.mark.long) if "digits" in n else n for n in FITTED]


@pytest.mark.parametrize("name", [*DRAWN, *FITS])
def test_forests_equal_their_twins(name):
    forest = DRAWN[name]() if name in DRAWN else to_forest(fitted(name)[0])
    assert_equals_its_twin(forest)


@pytest.mark.parametrize("seed", range(12))
def test_forests_of_few_and_of_many_features_equal_their_twins(seed):
    """Features that repeat on paths, and more of them than there are bits."""
    assert_equals_its_twin(
        random_forest(seed, n_trees=3, depth=seed % 7 + 1, n_features=(1, 2, 5, 150)[seed % 4])
    )


def test_trees_without_a_split_that_matters_are_left_out():
    forest = single_leaf(n_trees=2)
    ours = gap_forest(forest, 0)
    assert len(ours.trees) == len(ours.leaves) == len(ours.splits) == ours.depth == 0
    assert ours.first_leaf.tolist() == [0]


@pytest.mark.filterwarnings("error")
def test_infinite_thresholds_of_several_nodes_are_one_cut():
    """Scikit-learn parts NaN from all numbers that way."""
    forest = Forest(
        feature=[0, 0, -1, -1, -1],
        threshold=[np.inf, np.inf, 0, 0, 0],
        left=[1, 2, -1, -1, -1],
        right=[4, 3, -1, -1, -1],
        missing_left=[True, False, False, False, False],
        value=[[0.0], [0.0], [1.0], [2.0], [3.0]],
        cover=[4, 3, 2, 1, 1],
        tree_offsets=[0, 5],
        feature_names=["dose"],
        output_names=["response"],
    )
    ours = gap_forest(forest, 0)
    assert ours.cuts.threshold.tolist() == [np.inf]
    assert ours.splits["cut"].tolist() == [0, 0]
    assert ours.splits["missing_left"].tolist() == [True, False]


def test_splits_compare_what_the_forest_compares():
    forest = DRAWN[next(iter(DRAWN))]()
    ours, inner = gap_forest(forest, 0), forest.feature >= 0
    assert set(ours.splits["threshold"]) <= set(lowered(forest)[inner].astype(float))
