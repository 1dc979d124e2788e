"""Forests with splits by subsets of categories, against a search of every subset."""

from fractions import Fraction

import numpy as np
import pytest

import splitcredit
import twins_oob
import twins_subset_forest as twin
from batches import Batch
from reproduction import datasets, models, seeds
from reproduction.datasets import Dataset
from reproduction.metrics import _subset_forest, metric, trees
from splitcredit.models.forest import LEAF

MIXED = {"dataset": "mixed_categories", "n_samples": 60, "effect": 0.15}


def drawn():
    """Sixty rows with a number, 2, 4 and 10 categories: as many as can be enumerated."""
    data = datasets.load(MIXED)
    return data.X[:, :4], data.y


def rows_of(grown, rows):
    """For every node: its in-bag rows, repeated as often as drawn."""
    return twins_oob.rows_at_nodes(grown.forest, rows)[0]


def test_every_split_is_the_best_of_all_subsets():
    """With all features drawn: of all; with fewer: of the feature that was taken."""
    X, y = drawn()
    for mtry in (4, 2):
        grown = _subset_forest.grow(X, y, n_trees=3, mtry=mtry, seed=1)
        forest, n_splits = grown.forest, 0
        for k, rows in enumerate(rows_of(grown, grown.rows)):
            labels = [int(y[i]) for i in rows]
            if forest.feature[k] == LEAF:
                continue
            column = forest.feature[k]
            left = [int(grown.rows[i, column] <= forest.threshold[k]) for i in rows]
            decreases = [
                twin.largest_decrease([X[i, j] for i in rows], labels, j > 0)
                for j in (range(4) if mtry == 4 else [grown.feature_of[column]])
            ]
            assert twin.decrease(labels, left) == max(b for b in decreases if b is not None)
            n_splits += 1
        assert n_splits > 30


def test_nodes_are_split_until_one_class_is_left_or_no_drawn_feature_has_two_values():
    X, y = drawn()
    grown = _subset_forest.grow(X, y, n_trees=5, mtry=4, seed=1)
    for k, rows in enumerate(rows_of(grown, grown.rows)):
        can_be_split = len({tuple(X[i]) for i in rows}) > 1 and len({int(y[i]) for i in rows}) > 1
        assert can_be_split == (grown.forest.feature[k] != LEAF)
    # As in R and not in scikit-learn: a node that draws a feature of one value is not split.
    with_constant = np.column_stack([np.ones(60), X[:, 0]])
    roots = _subset_forest.grow(with_constant, y, n_trees=400, mtry=1, seed=0)
    share_unsplit = (np.diff(roots.forest.tree_offsets) == 1).mean()
    assert abs(share_unsplit - 0.5) < 4 * 0.5 / np.sqrt(400)


def test_nodes_hold_what_the_bootstrap_sample_puts_there():
    X, y = drawn()
    grown = _subset_forest.grow(X, y, n_trees=4, mtry=2, seed=3)
    forest = grown.forest
    assert (forest.inbag.sum(axis=1) == len(X)).all()
    for k, rows in enumerate(rows_of(grown, grown.rows)):
        share = Fraction(int(sum(y[i] for i in rows)), len(rows))
        assert forest.cover[k] == len(rows)
        assert forest.value[k, 1] == pytest.approx(float(share), abs=1e-15)
        assert forest.impurity[k] == pytest.approx(float(2 * share * (1 - share)), abs=1e-15)


def test_a_category_without_rows_goes_either_way():
    """Out-of-bag rows of such categories would all be on one side otherwise."""
    X, y = drawn()
    grown = _subset_forest.grow(X, y, n_trees=60, mtry=4, seed=5)
    forest, sides = grown.forest, []
    inbag, oob = twins_oob.rows_at_nodes(forest, grown.rows)
    for k in np.flatnonzero(forest.feature != LEAF):
        column = forest.feature[k]
        if grown.feature_of[column] == 3:
            in_bag = {X[i, 3] for i in inbag[k]}
            sides_of_new = {X[i, 3]: grown.rows[i, column] for i in oob[k] if X[i, 3] not in in_bag}
            sides += sides_of_new.values()
    assert len(sides) > 100
    assert abs(np.mean(sides) - 0.5) < 4 * 0.5 / np.sqrt(len(sides))


def test_features_are_drawn_alike():
    X, y = drawn()
    grown = _subset_forest.grow(X, y, n_trees=800, mtry=1, seed=2)
    roots = grown.forest.feature[grown.forest.tree_offsets[:-1]]
    shares = np.bincount(grown.feature_of[roots], minlength=4) / 800
    assert np.abs(shares - 0.25).max() < 4 * np.sqrt(0.25 * 0.75 / 800)


def test_same_seed_same_forest():
    X, y = drawn()
    first, same, other = (_subset_forest.grow(X, y, 5, 2, seed).forest for seed in (0, 0, 1))
    assert np.array_equal(first.threshold, same.threshold)
    assert np.array_equal(first.inbag, same.inbag) and not np.array_equal(first.inbag, other.inbag)


def test_impossible_forests_are_refused():
    X, y = drawn()
    for arguments, message in (
        ((X, y + 1, 2, 2, 0), "y must be 0 and 1"),
        ((X, np.zeros(60), 2, 2, 0), "y must be 0 and 1"),
        ((X, y, 2, 5, 0), r"mtry=5 is not in 1\.\.4"),
        ((np.arange(64.0)[:, None], np.arange(64) % 2, 2, 1, 0), "64 categories"),
    ):
        with pytest.raises(ValueError, match=message):
            _subset_forest.grow(*arguments)


def test_scores_are_sums_over_the_columns_of_a_feature():
    data = datasets.load(MIXED, 1)
    recipe = {"estimator": "RandomForestClassifier", "n_estimators": 8, "max_features": 2}
    estimator = models.unfitted(recipe, 3)
    table = metric("subset_scores")({}, data, estimator, random_state=4)
    values = table.pivot(index="importance", columns="feature", values="value")
    values = values[list(data.feature_names)]
    grown = _subset_forest.grow(data.X, data.y, 8, 2, [estimator.random_state, *b"forest"])
    forest, rows = grown.forest, (grown.rows, data.y)

    def penalized(**options):
        return splitcredit.penalized_gini(forest, *rows, **options).values

    every_split = {"weights": "oob", "min_child_oob": 0, "correction": "own"}
    by_column = {
        "mdi_rows": len(data.y) * splitcredit.mdi(forest).values,
        "pg_051_inbag": penalized(preset="ufi", per_row=False),
        "pg_hat_10_all_splits": penalized(preset="pg_hat_10", **every_split),
        "pg_051_all_splits": penalized(preset="pg_051", min_child_oob=0),
        "single_children": trees.single_children_in_a_tree(forest, *rows),
    }
    for name, of_columns in by_column.items():
        by_hand = [of_columns[grown.feature_of == j].sum() for j in range(5)]
        assert values.loc[name].to_numpy() == pytest.approx(by_hand) and max(by_hand) > 0
    assert set(values.index) == {"pg_hat_10", "pg_hat_051", "air", *by_column}


def test_a_feature_that_tells_all_has_no_shadow():
    """AIR: of a copy of y everything is gained, and of its shadow next to nothing."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 80)
    X = np.column_stack([y + 0.0, random.integers(1, 9, 80)])
    data = Dataset(X, y, ("x1", "x2"), ("0", "1"))
    recipe = {"estimator": "RandomForestClassifier", "n_estimators": 40, "max_features": 4}
    air = models.unfitted(recipe, 0)
    with pytest.raises(ValueError, match="mtry=4"):
        metric("subset_scores")({}, data, air)
    table = metric("subset_scores")({}, data, air.set_params(max_features=2))
    scores = table[table["importance"] == "air"]["value"].to_numpy()
    assert scores[0] > 10 and abs(scores[1]) < scores[0] / 10


def test_the_job_gives_the_estimator_of_the_run(tmp_path):
    """Not fitted, with the seed of the repeat: forests of other repeats are others."""
    data = datasets.load(MIXED, 1)
    model = {"estimator": "RandomForestClassifier", "n_estimators": 4, "max_features": 2}
    recipe = {"metric": "subset_scores"}
    found = Batch(tmp_path, data, model, repeat=5).measured(**recipe)
    seed = seeds.derive(recipe, 5, "metric")
    expected = metric("subset_scores")({}, data, models.unfitted(model, 5), seed)
    assert np.array_equal(found["value"], expected["value"])
    of_other_repeat = metric("subset_scores")({}, data, models.unfitted(model, 6), seed)
    assert not np.array_equal(of_other_repeat["value"], expected["value"])
