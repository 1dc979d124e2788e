"""LightGBM models to `Forest`, by a reader of their text format that needs no LightGBM.

The output is the raw score, before the objective's link; what the training started from is in the
leaves of the first trees. LightGBM goes left on ``x <= threshold`` in float64 and counts rows. Of
its random forests the output is the mean of the trees, which ``predict`` puts into the link;
``raw_score=True`` gives their sum.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise

import numpy as np

from splitcredit.convert import _nodes
from splitcredit.convert._subsets import members_of, subset_fields
from splitcredit.forest import CLOSE_TO_MISSING, Forest

# Keys of a tree -> type of the numbers. The first group has one number a leaf.
_LEAVES = {"leaf_value": np.float64, "leaf_count": np.int64}
_SPLITS = {
    "split_feature": np.int32,
    "threshold": np.float64,
    "decision_type": np.int32,
    "left_child": np.int32,
    "right_child": np.int32,
    "internal_count": np.int64,
}
# Of trees that split by categories: where the bitset of each split begins, and the bitsets.
_BITSETS = ("cat_boundaries", "cat_threshold")
# Bits of decision_type; where NaN goes, and what counts as missing besides.
_BY_CATEGORY, _DEFAULT_LEFT, _ZERO, _NAN = 1, 2, 4, 8
# Longer texts LightGBM writes twice, the first time to learn their length.
_BUFFER = 1 << 20


def convert(model) -> Forest:
    """Convert a Booster or a fitted wrapper; see `splitcredit.to_forest`.

    Notes
    -----
    The trees are those that ``predict`` uses: up to ``best_iteration``, if early stopping has set
    it, or all.
    """
    from lightgbm import Booster, LGBMModel

    name, classes = type(model).__name__, None
    if isinstance(model, LGBMModel):
        model, classes = _booster(model, name), getattr(model, "classes_", None)
    if not isinstance(model, Booster):
        raise TypeError(f"cannot convert {name} to a Forest: give the Booster or the fitted model")
    return from_pieces(_pieces(model), name, classes)


def _booster(model, name):
    if not model.__sklearn_is_fitted__():
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {name} is not fitted: call fit(X, y) first")
    return model.booster_


def _pieces(booster):
    """The text of the model in pieces that fit LightGBM's buffer, which takes half the time."""
    stop = booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration()
    at, step, pieces = 0, 64, []
    while at < stop:
        step = min(step, stop - at)
        pieces.append(booster.model_to_string(num_iteration=step, start_iteration=at))
        at += step
        step = max(step * _BUFFER * 7 // (len(pieces[-1]) * 8), 1)
    return pieces


def check_whole(text, name) -> None:
    """Raise a ValueError if a model's text ends before its last tree."""
    head, *trees = text.split("\nTree=")
    sizes = re.search(r"^tree_sizes=(.*)$", head, re.M)
    expected = len(trees) if sizes is None else len(sizes[1].split())
    if "\nend of trees" not in text or "\nfeature_names=" not in head or len(trees) != expected:
        raise ValueError(
            f"the {name} is incomplete, it ends after {len(trees)} of {expected} trees: save it "
            "again with save_model"
        )


def from_pieces(pieces, name, classes=None) -> Forest:
    """The Forest of a model of the given name, from texts that hold its trees in turn."""
    if not pieces:
        raise ValueError(f"this {name} has no trees: fit at least one iteration")
    head = dict(re.findall(r"^(\w+)(?:=(.*))?$", pieces[0].partition("\nTree=")[0], re.M))
    trees = _trees(pieces, name)
    # Of all blanks LightGBM replaces only this one in names.
    features = tuple(head["feature_names"].split(" "))
    n_outputs = int(head["num_tree_per_iteration"])
    averaged = "average_output" in head
    if averaged:  # each class has only one of n_outputs trees, and a Forest averages over all
        trees["leaf_value"] *= n_outputs
    arrays, by_category = _flat(trees, n_outputs, name)
    arrays |= subset_fields(
        arrays, len(features), by_category, _members(trees), True, labels=_labels(pieces[-1])
    )
    return Forest(
        **_nodes.frozen(arrays, but="categories"),
        feature_names=features,
        output_names=_output_names(head, n_outputs, classes),
        criterion=_nodes.LEAF_VARIANCE,
        strict=False,
        x_dtype="float64",
        aggregate="mean" if averaged else "sum",
        cover_kind="leaf_count",
        names_given=_names_given(features, pieces[-1]),
        missing_value=_missing_value(trees, features, name),
        several_targets=False,
    )


def _names_given(features, text):
    """Whether the names are the user's, and not made up.

    Models that were fitted on a DataFrame keep a list of its categories, if an empty one.
    """
    made_up = [f"Column_{j}" for j in range(len(features))]
    return list(features) != made_up or _categories_line(text).startswith("[")


def _trees(pieces, name):
    """Numbers of all trees, one array a key, and the number of leaves of each tree."""
    texts = {key: [] for key in ("num_leaves", "is_linear", *_LEAVES, *_SPLITS, *_BITSETS)}
    for piece in pieces:
        start, stop = piece.find("\nTree="), piece.rfind("\nend of trees")
        trees = piece[start + 1 : stop if stop > 0 else None] if start >= 0 else ""
        lines = trees.rstrip("\n").split("\n")
        if not _read_alike(lines, texts):
            for line in lines:
                key, _, content = line.partition("=")
                if key in texts:
                    texts[key].append(content)
    linear = _numbers(texts["is_linear"], np.int64)
    if linear.any():
        raise ValueError(
            f"tree {int(linear.argmax())} of this {name} has linear functions in its leaves: fit "
            "with linear_tree=False"
        )
    leaves = _numbers(texts["num_leaves"], np.int64)
    numbers = {"num_leaves": leaves, **{key: texts[key] for key in _BITSETS}}
    for keys, total in ((_LEAVES, leaves.sum()), (_SPLITS, (leaves - 1).sum())):
        for key, dtype in keys.items():
            numbers[key] = _numbers(texts[key], dtype)
            if key == "leaf_count":
                numbers[key] = _with_single_leaves(numbers[key], leaves)
            if len(numbers[key]) != total:
                raise ValueError(f"this {name} has {len(numbers[key])} {key}, expected {total}")
    return numbers


def _with_single_leaves(counts, leaves):
    """Counts of leaves, with 1 for trees of one leaf where they have none: before LightGBM 4.6."""
    single = leaves == 1
    if len(counts) != leaves[~single].sum():
        return counts
    before = np.cumsum(np.where(single, 0, leaves))
    return np.insert(counts, before[single], 1)


def _read_alike(lines, texts):
    """Add what the keys of trees have, if all trees have the same keys; whether they have.

    Trees that split by categories have keys of their own.
    """
    starts = (i for i, line in enumerate(lines) if i and line.startswith("Tree="))
    n_lines = next(starts, max(len(lines), 1))
    read = {}
    for i, line in enumerate(lines[:n_lines]):
        key = line.partition("=")[0]
        if key in _BITSETS:
            return False
        if key in texts:
            prefix, own = f"{key}=", lines[i::n_lines]
            content = " ".join(own)
            numbers = content.replace(prefix, "")
            if len(content) - len(numbers) != len(prefix) * len(own):
                return False
            read[key] = numbers
    for key, content in read.items():
        texts[key].append(content)
    return True


def _numbers(texts, dtype):
    """The numbers of some texts, one after the other."""
    # Trees of one leaf have empty lists, and NumPy takes text of nothing but blanks for a number.
    return np.fromstring(" ".join(text for text in texts if text.strip()), dtype, sep=" ")


def _missing_value(trees, features, name):
    """0 if the model was fitted with zero_as_missing, else None."""
    by_number = trees["decision_type"] & _BY_CATEGORY == 0
    zero = trees["decision_type"] & _ZERO != 0
    if not zero.any():
        return None
    without_zero = np.flatnonzero(by_number & ~zero)
    if without_zero.size or not by_number.all():
        others = without_zero if without_zero.size else np.flatnonzero(~by_number)
        feature = features[trees["split_feature"][others[0]]]
        raise ValueError(
            f"this {name} takes 0 for a missing value in some splits and not in others, such as "
            f"of feature {feature!r}: put NaN into X in its place, and fit with "
            "zero_as_missing=False"
        )
    return 0.0


def _members(trees):
    """The categories that go left at each split by categories, in the order of the trees."""
    members = []
    for bounds, words in zip(*(trees[key] for key in _BITSETS), strict=True):
        words = np.array(words.split(), np.uint32)
        bounds = [int(at) for at in bounds.split()]
        members += [members_of(words[a:b]) for a, b in pairwise(bounds)]
    if not members:
        return []
    order = []
    start = 0
    for n_splits in trees["num_leaves"] - 1:
        of_tree = slice(start, start + n_splits)
        by_category = trees["decision_type"][of_tree] & _BY_CATEGORY != 0
        # A split keeps the number of its bitset within the tree as its threshold.
        order += (trees["threshold"][of_tree][by_category].astype(int) + len(order)).tolist()
        start += n_splits
    return [members[i] for i in order]


def _labels(text):
    """Labels of the categories of each column of type ``category``, in their order."""
    line = _categories_line(text)
    return tuple(tuple(own) for own in json.loads(line)) if line.startswith("[") else ()


def _categories_line(text):
    return text.rpartition("\npandas_categorical:")[2].partition("\n")[0]


def _flat(trees, n_outputs, name):
    """Node arrays of a Forest, and the nodes that split by categories.

    Of each tree first come the inner nodes, then the leaves.
    """
    n_leaves = trees["num_leaves"]
    n_splits, counts = n_leaves - 1, 2 * n_leaves - 1
    offsets = np.concatenate([[0], np.cumsum(counts)])
    is_leaf = np.repeat(np.tile([False, True], len(counts)), np.c_[n_splits, n_leaves].ravel())
    inner, leaf = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)

    def spread(at_inner, at_leaf, dtype):
        out = np.empty(offsets[-1], dtype)
        out[inner], out[leaf] = at_inner, at_leaf
        return out

    start, splits = np.repeat(offsets[:-1], n_splits), np.repeat(n_splits, n_splits)
    children = {
        side: np.where(child < 0, start + splits + ~child, start + child)  # ~child is a leaf
        for side, child in (("left", trees["left_child"]), ("right", trees["right_child"]))
    }
    threshold, decision = trees["threshold"], trees["decision_type"]
    # Without missing values in training a NaN counts as 0, which is no category of any subset.
    missing_left = np.where(
        decision & (_NAN | _ZERO), decision & _DEFAULT_LEFT != 0, threshold >= 0
    )
    missing_left &= decision & _BY_CATEGORY == 0
    arrays = {
        "feature": spread(trees["split_feature"], -1, np.int32),
        "threshold": spread(_below_zero(threshold), 0.0, np.float64),
        "left": spread(children["left"], -1, np.int32),
        "right": spread(children["right"], -1, np.int32),
        "missing_left": spread(missing_left, False, np.bool_),
        "cover": spread(trees["internal_count"], trees["leaf_count"], np.float64),
    }
    mean, variance = _nodes.summaries(
        arrays["left"],
        arrays["right"],
        arrays["cover"],
        spread(0.0, trees["leaf_value"], np.float64),
        offsets[:-1],
        name,
    )
    column = np.arange(len(counts)) % n_outputs
    value = _nodes.in_columns(mean, column, counts, n_outputs)
    arrays |= {"value": value, "impurity": variance, "tree_offsets": offsets}
    return arrays, inner[decision & _BY_CATEGORY != 0]


def _below_zero(threshold):
    """The thresholds, with the one between 0 and negative numbers a step lower.

    LightGBM takes that number itself for 0 before it compares.
    """
    step_lower = np.nextafter(-CLOSE_TO_MISSING, -1.0)
    return np.where(threshold == -CLOSE_TO_MISSING, step_lower, threshold)


def _output_names(head, n_outputs, classes):
    """Labels of the classes; the one output of a binary classifier is the score of class 1."""
    if n_outputs > 1:
        return tuple(range(n_outputs) if classes is None else classes)
    if head.get("objective", "").startswith("binary"):
        return (_nodes.scored_class(classes),)
    return ("output",)
