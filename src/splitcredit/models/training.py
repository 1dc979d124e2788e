"""Check the training rows and targets, for measures that need what each tree was grown on.

Rows are compared by their hash, where the forest knows it, by their number and by the covers of the
nodes; targets by the means of the roots. Covers count rows, and values are means, in fits without
weights and with a criterion of class fractions or of means. Elsewhere, as with weights of classes
or with ``criterion="absolute_error"``, all that is seen is whether in-bag rows come to every node:
targets in another order are not noticed, and rows in another order not always.
"""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.walks import oob
from splitcredit.models.formats import CLASS_CRITERIA, are_targets
from splitcredit.rows.tables import numbers, refuse_masked

ROWS = ("inbag", "oob")
# Criteria whose node values are class fractions, and those with means besides.
_OF_MEANS = (*CLASS_CRITERIA, "squared_error", "friedman_mse", "poisson")
# Largest distance of a node's value from the mean of y, as a share of the largest value: far above
# the rounding of sums of float64, far below the effect of one wrong row.
_SAME_MEAN = 1e-9


def training_rows(forest, X) -> np.ndarray:
    """Prepare the training rows of a bagged forest; ValueError if it was grown on others."""
    refuse_unbagged(forest)
    rows = forest.prepare(X)
    n_train = forest.inbag.shape[1]
    if len(rows) != n_train:
        raise ValueError(
            f"X has {len(rows)} rows, the forest was grown on {n_train}: pass the training rows, "
            "all of them in their order"
        )
    if forest.training_hash is not None and forest.hash_of(X) != forest.training_hash:
        raise ValueError(
            "X is not what the forest was grown on (its hash differs): pass the training rows "
            "unchanged and in their order"
        )
    return rows


def refuse_unbagged(forest) -> None:
    """Raise a ValueError if nothing says which rows each tree was grown on."""
    if forest.inbag is None:
        raise ValueError(
            "this model does not say which rows each tree was grown on, as boosted trees and "
            "balanced forests do not: fit a forest of scikit-learn with bootstrap=True in one call "
            "of fit, or give Forest(inbag=...)"
        )


def refuse_without_oob(forest) -> None:
    """Raise a ValueError if no tree has out-of-bag rows: such a measure would be 0."""
    if not (forest.inbag == 0).any():
        raise ValueError(
            "no tree has an out-of-bag row: fit with bootstrap=True, and draw fewer rows for each "
            "tree or grow more trees"
        )


def refuse_untrained(forest) -> None:
    """Raise a ValueError if a model does not fit measures by out-of-bag rows and targets."""
    refuse_unbagged(forest)
    refuse_targets_of_several(forest)
    refuse_without_oob(forest)


def sums_of_nodes(forest, X, y):
    """Sum in-bag and out-of-bag rows at all nodes; see `kernels.walks.oob.NodeSums`."""
    return _checked(forest, X, y)[2]


def checked_training_data(forest, X, y) -> tuple[np.ndarray, np.ndarray]:
    """Return the prepared training rows, and their classes by index or targets."""
    return _checked(forest, X, y)[:2]


def checked_training_rows(forest, X) -> np.ndarray:
    """Return `training_rows` after a comparison with the covers, which needs no y."""
    rows = training_rows(forest, X)
    if len(rows):
        kind = np.int64 if forest.n_outputs > 1 else np.float64
        sums = oob.node_sums(forest, rows, np.zeros(len(rows), kind))
        _check_counts(forest, rows, sums.rows[oob.INBAG])
    return rows


def _checked(forest, X, y):
    """Return training rows, targets and sums of nodes that agree with the forest."""
    rows = training_rows(forest, X)
    targets = targets_of(forest, y, len(rows))
    sums = oob.node_sums(forest, rows, targets)
    if (sums.rows[oob.INBAG] == 0).any():
        _refuse_rows(rows, "no in-bag row comes to some node")
    counts, totals = sums.rows[oob.INBAG], sums.targets[oob.INBAG]
    _check_counts(forest, rows, counts)
    _check_means(forest, totals, counts, sums.center)
    return rows, targets, sums


def _check_counts(forest, rows, counts):
    """Compare covers with in-bag rows, where fits without weights count these."""
    roots, cover = forest.tree_offsets[:-1], forest.cover
    counted = np.array_equal(cover[roots], counts[roots]) and not (cover % 1).any()
    counted = counted and not _may_balance_classes(forest, counts)
    if counted and not np.array_equal(cover, counts):
        _refuse_rows(rows, "other numbers of in-bag rows come to its nodes")


def _refuse_rows(rows, why):
    remedy = "pass the training rows unchanged and in their order"
    if np.isnan(rows).any():
        # Those versions send rows with NaN to other nodes in training than in predictions.
        remedy += "; if scikit-learn before 1.8 grew the forest, fit it anew with a later version"
    raise ValueError(f"X is not what the forest was grown on ({why}): {remedy}")


def _check_means(forest, totals, counts, center):
    """Compare values of roots with means of y; monotonic constraints change other nodes."""
    if forest.criterion not in _OF_MEANS or not np.array_equal(forest.cover, counts):
        return
    roots = forest.tree_offsets[:-1]
    means = totals[roots] / counts[roots, None] + center
    if (np.abs(means - forest.value[roots]) > _SAME_MEAN * np.abs(forest.value).max()).any():
        raise ValueError(
            "y is not what the forest was grown on (its means differ from the values of the "
            "roots): pass the training targets unchanged and in their order"
        )


def _may_balance_classes(forest, counts):
    """Return whether weights may come from ``class_weight="balanced_subsample"``."""
    if forest.criterion not in CLASS_CRITERIA or forest.n_outputs == 1:
        return False
    roots = forest.tree_offsets[:-1]
    share, cover = forest.value[roots], forest.cover[roots]
    known = share > 0
    equal_share = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
    are_equal = known.any(axis=1).all() and np.abs(share - equal_share).max() <= _SAME_MEAN
    return are_equal and (np.abs(cover - counts[roots]) <= _SAME_MEAN * cover).all()


def _distinct(y):
    """Return the different labels of y, and each row's place among them."""
    try:
        return np.unique(y, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in y})
        raise ValueError(
            f"y holds labels of the types {', '.join(kinds)}, which cannot be told apart by their "
            "order: leave rows without a label out, and pass labels of one type"
        ) from None


def _classes_of(names, labels):
    """Return the class that each label names, or equals as a number; -1 if there is none."""
    by_name = {name: c for c, name in enumerate(names)}
    numbers = [number_of(name) for name in names]
    distinct = None not in numbers and len(set(numbers)) == len(numbers)
    by_number = {number: c for c, number in enumerate(numbers)} if distinct else {}
    return [
        by_name.get(str(label), -1 if isinstance(label, str) else by_number.get(label, -1))
        for label in labels
    ]


def number_of(name):
    """Return the number in a class's name, 0 and 1 for False and True; None if it is none."""
    if name in ("False", "True"):
        return float(name == "True")
    try:
        return float(name)
    except ValueError:
        return None


def knows_one_class(forest) -> bool:
    """Return whether a classifier knows one class only, which has fraction 1 everywhere."""
    of_classes = forest.criterion in CLASS_CRITERIA and forest.output_names != ("output",)
    return of_classes and forest.n_outputs == 1 and bool((forest.value == 1.0).all())


def refuse_targets_of_several(forest) -> None:
    """Raise a ValueError if a model has several targets: y can be only one of them."""
    if are_targets(forest):
        raise ValueError(
            f"the model has several targets, {list(forest.output_names)[:5]}, and this measure "
            "takes models of one: fit a model for each target"
        )


def targets_of(forest, y, n, classes=()) -> np.ndarray:
    """Return the class of each of n rows by index, int64, or a regressor's targets, float64."""
    refuse_targets_of_several(forest)
    refuse_masked(y, "y")
    try:
        given, y = y, np.asarray(y)
    except ValueError as error:
        raise ValueError(f"y has entries of different lengths: {error}") from None
    if np.iscomplexobj(y):
        raise ValueError("y is complex: pass real numbers or labels")
    y = y[:, 0] if y.shape == (n, 1) else y
    if y.shape != (n,):
        raise ValueError(f"y has shape {y.shape}, expected ({n},): one target for each row of X")
    one_class = knows_one_class(forest)
    if forest.n_outputs > 1 or one_class or classes:
        labels, position = _distinct(y)
        names = classes or forest.output_names
        indices = _classes_of(names, labels)
        unknown = [str(label) for label, c in zip(labels, indices, strict=True) if c < 0]
        if unknown:
            raise ValueError(
                f"y holds {unknown[:5]}, which are not classes of the model: pass labels among "
                f"{list(names)[:10]}"
            )
        return np.ones(n) if one_class else np.array(indices, np.int64)[position]
    y = numbers(given, "y")
    if not np.isfinite(y).all():
        raise ValueError("y holds NaN or infinities: leave those rows out")
    return y
