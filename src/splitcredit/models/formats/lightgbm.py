"""Convert LightGBM models, and read their text format without LightGBM.

The output is the raw score, before the objective's link; what the training started from is in the
leaves of the first trees. LightGBM goes left on ``x <= threshold`` in float64 and counts rows. Of
its random forests the output is the mean of the trees, which ``predict`` puts into the link;
``raw_score=True`` gives their sum.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import ClassVar

import numpy as np

from splitcredit.kernels.readers import decimals, lines
from splitcredit.models.forest import CLOSE_TO_MISSING, Forest
from splitcredit.models.formats import _nodes
from splitcredit.models.formats._nodes import members_of, refuse_damaged, subset_fields
from splitcredit.models.formats.base import Boosted
from splitcredit.models.formats.units import BINARY, SOFTMAX, SQUARED, VALUE

# Keys of a tree that have one number, or none in former releases; of lists with a number for each
# leaf and for each split; and of trees that split by categories: where the bitset of each split
# begins, and the bitsets.
_SINGLE = ("num_leaves", "is_linear", "num_cat")
_LEAVES = ("leaf_value", "leaf_count")
_SPLITS = "split_feature threshold decision_type left_child right_child internal_count".split()
_BITSETS = ("cat_boundaries", "cat_threshold")
# Bits of decision_type; where NaN goes, and what counts as missing besides.
_BY_CATEGORY, _DEFAULT_LEFT, _ZERO, _NAN = 1, 2, 4, 8
# Longer texts LightGBM writes twice, the first time to learn their length.
_BUFFER = 1 << 20


class LightGBM(Boosted):
    """Format of Boosters and wrappers (gbdt, goss, rf, dart), files, also of GPBoost, Dataset."""

    title = "LightGBM"
    packages = ("lightgbm",)
    json_key = "booster_str"
    quiet: ClassVar[dict] = {"verbosity": -1}
    trusted = (
        "lightgbm.basic.Booster",
        *(f"lightgbm.sklearn.LGBM{kind}" for kind in ("Classifier", "Ranker", "Regressor")),
    )
    containers: ClassVar[dict] = {"Dataset": ""}
    # The raw score may depend on a parameter.
    units_by_objective: ClassVar[dict] = {
        "binary sigmoid:1": BINARY,
        "multiclass": SOFTMAX,
        "regression": SQUARED,
        **dict.fromkeys(("regression_l1", "huber", "fair", "quantile", "mape"), VALUE),
    }
    linked = ("binary", "cross_entropy", "cross_entropy_lambda", "gamma", "poisson", "tweedie")
    no_means = ("quantile",)

    def decoded(self, raw, name):
        if not raw.replace(b"\r\n", b"\n", 1).startswith(b"tree\n"):
            return None
        return raw.decode().replace("\r\n", "\n")

    def of_document(self, document):
        """Return the text of a GPBoost model with random effects: the fixed effects' trees."""
        return document[self.json_key]

    def forest_of_content(self, content, name):
        check_whole(content, name)
        return from_pieces([content], name)

    def forest(self, model):
        """Convert the trees that ``predict`` uses: up to ``best_iteration``, or all."""
        from lightgbm import Booster, LGBMModel

        name, classes = type(model).__name__, None
        if isinstance(model, LGBMModel):
            model, classes = _booster(model, name), getattr(model, "classes_", None)
        if not isinstance(model, Booster):
            raise _nodes.no_booster(model, name)
        return from_pieces(_pieces(model), name, classes)

    def objective(self, model):
        booster = getattr(model, "booster_", model)
        return self.objective_of_content(booster.model_to_string(num_iteration=1))

    def objective_of_content(self, content):
        line = re.search(r"^objective=(.*)$", content, re.M)
        name, *parameters = (line[1].split() if line else []) or [""]
        # With "sqrt" the trees add up to the root of the prediction.
        return " ".join([name, *(p for p in parameters if p == "sqrt" or p.startswith("sigmoid:"))])

    def own_prediction(self, model, forest, X):
        raw = getattr(model, "booster_", model).predict(X, raw_score=True)
        # Of its random forests LightGBM gives the sum.
        rounds = forest.n_trees // forest.n_outputs
        return raw / rounds if forest.aggregate == "mean" else raw

    def first_trees(self, model, forest, n_trees):
        if forest.n_outputs > 1:
            raise ValueError(
                f"tree_limit={n_trees}: of a LightGBM model of several classes shap counts rounds "
                "without a background and trees with one: explain a model with fewer rounds"
            )
        return n_trees

    def gains(self, model, forest):
        return getattr(model, "booster_", model).feature_importance("gain").astype(float)

    def rows(self, X):
        if X.init_score is not None:
            raise ValueError(
                "this Dataset has an init_score, which LightGBM leaves out of predictions: pass "
                "the rows, and add it to the totals yourself"
            )
        if isinstance(X.data, list):
            raise ValueError("this Dataset holds a list: pass its rows as one table")
        if X.data is None or isinstance(X.data, str):
            raise ValueError(
                "this Dataset has not kept its rows: pass them, or make it with free_raw_data=False"
            )
        return X.data


def _booster(model, name):
    from lightgbm import LGBMRegressor

    if not model.__sklearn_is_fitted__():
        raise _nodes.not_fitted(model)
    # Objectives of regression take no notice of it.
    if model.get_params().get("pred_early_stop") and not isinstance(model, LGBMRegressor):
        raise ValueError(
            f"this {name} predicts with pred_early_stop, each row by as many trees as it seems to "
            "need: pass model.booster_, which predicts by all, or set pred_early_stop=False"
        )
    return model.booster_


def _pieces(booster):
    """Yield the text of the model in pieces of LightGBM's buffer, which takes half the time."""
    stop = booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration()
    at, step, pieces = 0, 64, []
    while at < stop:
        step = min(step, stop - at)
        pieces.append(booster.model_to_string(num_iteration=step, start_iteration=at))
        at += step
        step = max(step * _BUFFER * 7 // (len(pieces[-1]) * 8), 1)
    return pieces


def check_whole(text, name) -> None:
    """Raise a ValueError if a text ends early, or LightGBM reads other trees in it.

    LightGBM cuts the text by the sizes of the trees, and the head by its lines.
    """
    inside, is_whole = _inside(text)
    head, *trees = inside.split("\nTree=")
    values = dict(line.partition("=")[::2] for line in head.split("\n"))
    sizes = values.get("tree_sizes", "x " * len(trees)).split()  # there are none in former releases
    is_cut = not is_whole or "feature_names" not in values or len(trees) != len(sizes)
    refuse_damaged(is_cut, f"the {name} is incomplete, {len(trees)} of {len(sizes)} trees are left")
    n_names = len(values.pop("feature_names").split(" "))
    n_features = int(values.get("max_feature_idx", -1)) + 1
    are_joined = any("=" in value or "average_output" in value for value in values.values())
    are_joined |= not all(tree.endswith("\n") for tree in trees)  # an empty line ends each
    are_joined |= "\0" in text or "\r" in text
    is_cut = "tree_sizes" in values and sizes != [str(len(f"Tree={tree}\n")) for tree in trees]
    is_cut |= not len(values["feature_infos"].split()) == n_features == n_names
    refuse_damaged(are_joined or is_cut, f"the {name} is damaged, its header is for other trees")


def _inside(text):
    """Return the text up to the end of its trees, and whether there is one.

    Before LightGBM 2.2 no line said so, and the importances follow the trees.
    """
    for ending in ("end of trees", "feature importances:", "feature_importances:"):
        at = text.rfind(f"\n{ending}")
        if at >= 0:
            return text[:at], True
    return text, False


def from_pieces(pieces, name, classes=None) -> Forest:
    """Build the Forest of a model of the given name, from texts that hold its trees in turn."""
    if not pieces:
        raise ValueError(f"this {name} has no trees: fit at least one iteration")
    head = dict(re.findall(r"^(\w+)(?:=(.*))?$", pieces[0].partition("\nTree=")[0], re.M))
    trees = _Trees(pieces, name)
    # Of all blanks LightGBM replaces only this one in names.
    features = tuple(head["feature_names"].split(" "))
    n_outputs = _n_outputs(head, len(trees.n_leaves))
    averaged = "average_output" in head
    arrays, decision = _flat(trees, n_outputs, averaged, name)
    by_category = np.flatnonzero(decision & _BY_CATEGORY)
    members = _members(trees, arrays, by_category)
    missing_value = _missing_value(
        arrays["feature"], decision, features, by_category, members, name
    )
    labels = _labels(pieces[-1])
    arrays |= subset_fields(
        arrays,
        len(features),
        by_category,
        members,
        True,
        labels=labels or (),
        # Fitted on a DataFrame without columns of type category, it refuses others with them.
        labeled=() if labels == () else None,
    )
    return Forest(
        **_nodes.frozen(arrays, but="categories"),
        feature_names=features,
        **_labels_of_outputs(head, n_outputs, classes),
        criterion=_nodes.LEAF_VARIANCE,
        strict=False,
        x_dtype="float64",
        aggregate="mean" if averaged else "sum",
        cover_kind="leaf_count",
        names_given=_names_given(features, pieces[-1]),
        missing_value=missing_value,
        several_targets=False,
    )


def _n_outputs(head, n_trees):
    """Return the trees of a round, one for each class; refuse a contradictory header."""
    n_outputs = int(head["num_tree_per_iteration"])
    n_classes = int(head.get("num_class", n_outputs))
    found = f"there are {n_outputs} trees a round, {n_classes} classes and {n_trees} trees"
    refuse_damaged(n_outputs != n_classes or n_trees % n_outputs, found)
    return n_outputs


def _names_given(features, text):
    """Return whether the user gave the names; models of a DataFrame list its categories."""
    made_up = [f"Column_{j}" for j in range(len(features))]
    return list(features) != made_up or _categories_line(text).startswith("[")


class _Trees:
    """The trees of a model's text: places of their keys' contents, and numbers of leaves."""

    def __init__(self, pieces, name):
        self._text = "".join(map(_lines_of_trees, pieces)).encode()
        self._characters = np.frombuffer(self._text, np.uint8)
        keys = (*_SINGLE, *_LEAVES, *_SPLITS, *_BITSETS)
        begins, ends = lines.find(self._text, keys)
        self._places = dict(zip(keys, zip(begins, ends, strict=True), strict=True))
        n_trees = begins.shape[1]
        one, none = np.ones(n_trees, np.int64), np.zeros(n_trees, np.int64)
        linear, leaves, self.n_by_category = np.zeros((3, n_trees))
        self.read("is_linear", np.arange(n_trees), one, linear, also=none)
        self.read("num_cat", np.arange(n_trees), one, self.n_by_category, also=none)
        if linear.any():
            raise ValueError(
                f"tree {int(linear.argmax())} of this {name} has linear functions in its leaves: "
                "fit with linear_tree=False"
            )
        self.read("num_leaves", np.arange(n_trees), one, leaves)
        self.n_leaves = self.whole("num_leaves", leaves).astype(np.int64)
        # Each leaf has a value, of two characters at least with its separator.
        is_damaged = self.n_leaves.min(initial=1) < 1
        is_damaged |= 2 * self.n_leaves.sum() > len(self._text)
        refuse_damaged(is_damaged, "there are fewer values of leaves than num_leaves says")

    def read(self, key, places, lengths, out, also=None) -> np.ndarray:
        """Write the numbers of a key to the places of their trees, and return their counts."""
        begins, ends = self._places[key]
        counts = decimals.read(self._characters, begins, ends, places, lengths, out)
        is_damaged = (counts != lengths) & (counts != (lengths if also is None else also))
        found = f"it has {counts.sum()} {key}, expected {lengths.sum()}"
        refuse_damaged(is_damaged.any(), found)
        return counts

    def whole(self, key, numbers) -> np.ndarray:
        """Return a key's numbers as int32; ValueError if they are not integers of this type."""
        with np.errstate(invalid="ignore"):
            whole = numbers.astype(np.int32)
        refuse_damaged((whole != numbers).any(), f"it has {key} that are not whole numbers")
        return whole

    def texts(self, key) -> list[str]:
        """Return the text behind a key, for the trees that have it."""
        begins, ends = self._places[key]
        has_key = begins >= 0
        places = zip(begins[has_key].tolist(), ends[has_key].tolist(), strict=True)
        return [self._text[begin:end].decode() for begin, end in places]


def _lines_of_trees(piece):
    inside, _ = _inside(piece)
    start = inside.find("\nTree=")
    return "" if start < 0 else f"{inside[start + 1 :]}\n"


def _missing_value(features_of_nodes, decision, features, by_category, members, name):
    """Return 0 for a model with zero_as_missing, else None; category splits ignore it."""
    is_number = decision & _BY_CATEGORY == 0
    zero = is_number & (decision & _ZERO != 0)
    if not zero.any():
        return None
    # Where training had nothing missing, such as in a feature of two values, a NaN goes where 0
    # goes, and may take its place.
    others = np.flatnonzero(is_number & ~zero & (decision & _NAN != 0))
    if not others.size:
        # A NaN goes right, and so does 0 unless it is one of the categories.
        others = by_category[[bool((codes == 0).any()) for codes in members]]
    if others.size:
        feature = features[features_of_nodes[others[0]]]
        raise ValueError(
            f"this {name} takes 0 for a missing value in some splits and not in others, such as "
            f"of feature {feature!r}: put NaN into X in its place, and fit with "
            "zero_as_missing=False"
        )
    return 0.0


def _members(trees, arrays, by_category):
    """List the categories that go left at each of some nodes, which split by categories."""
    bitsets, n_bitsets = [], []
    for bounds, words in zip(*map(trees.texts, _BITSETS), strict=True):
        words = np.array(words.split(), np.uint32)
        bounds = [int(at) for at in bounds.split()]
        bitsets += [members_of(words[a:b]) for a, b in pairwise(bounds)]
        n_bitsets.append(len(bounds) - 1)
    # A split keeps the number of its bitset within the tree as its threshold.
    tree = np.searchsorted(arrays["tree_offsets"], by_category, side="right") - 1
    said, number = trees.n_by_category, arrays["threshold"][by_category].astype(np.int64)
    is_damaged = said[said > 0].tolist() != n_bitsets
    is_damaged |= not ((number >= 0) & (number < said[tree])).all()
    refuse_damaged(is_damaged, "there are other splits by categories than num_cat says")
    first = np.concatenate([[0], np.cumsum(said, dtype=np.int64)])
    return [bitsets[k] for k in first[tree] + number]


def _labels(text):
    """Return category labels of each ``category`` column; None without a DataFrame."""
    line = _categories_line(text)
    return tuple(tuple(own) for own in json.loads(line)) if line.startswith("[") else None


def _categories_line(text):
    return text.rpartition("\npandas_categorical:")[2].partition("\n")[0]


def _flat(trees, n_outputs, averaged, name):
    """Build node arrays, inner nodes of each tree first, and decision types, 0 at leaves."""
    n_leaves = trees.n_leaves
    n_splits, n_nodes = n_leaves - 1, 2 * n_leaves - 1
    offsets = np.concatenate([[0], np.cumsum(n_nodes)])
    first_split, first_leaf = offsets[:-1], offsets[:-1] + n_splits

    def of_splits(key, at_leaves=0.0):
        out = np.full(offsets[-1], at_leaves)
        trees.read(key, first_split, n_splits, out)
        return out

    def whole_of_splits(key, at_leaves=0.0):
        return trees.whole(key, of_splits(key, at_leaves))

    feature, threshold = whole_of_splits("split_feature", -1.0), of_splits("threshold")
    decision = whole_of_splits("decision_type")
    start = np.repeat(first_split, n_nodes)
    leaf_start = np.repeat(first_leaf, n_nodes)
    children = {}
    for side in ("left", "right"):
        child = whole_of_splits(f"{side}_child")
        below = np.where(child < 0, leaf_start + ~child, start + child)  # ~child is a leaf
        children[side] = np.where(feature < 0, -1, below).astype(np.int32)
    cover, value = of_splits("internal_count"), np.zeros(offsets[-1])
    trees.read("leaf_value", first_leaf, n_leaves, value)
    # Before LightGBM 4.6 trees of one leaf have no count.
    single = n_leaves == 1
    counted = trees.read(
        "leaf_count", first_leaf, n_leaves, cover, also=np.where(single, 0, n_leaves)
    )
    cover[first_leaf[single & (counted == 0)]] = 1.0
    if averaged:  # each class has only one of n_outputs trees, and a Forest averages over all
        value *= n_outputs
    # Without missing values in training a NaN counts as 0, which is no category of any subset.
    missing_left = np.where(
        decision & (_NAN | _ZERO), decision & _DEFAULT_LEFT != 0, threshold >= 0
    )
    missing_left &= (decision & _BY_CATEGORY == 0) & (feature >= 0)
    arrays = {
        "feature": feature,
        "threshold": _below_zero(threshold),
        **children,
        "missing_left": missing_left,
        "cover": cover,
    }
    column = np.arange(len(n_leaves)) % n_outputs
    return _nodes.summarized(arrays, value, offsets, name, column, n_outputs), decision


def _below_zero(threshold):
    """Return the thresholds, with the one between 0 and negative numbers a step lower.

    LightGBM takes that number itself for 0 before it compares.
    """
    step_lower = np.nextafter(-CLOSE_TO_MISSING, -1.0)
    return np.where(threshold == -CLOSE_TO_MISSING, step_lower, threshold)


def _labels_of_outputs(head, n_outputs, classes):
    """Return classes as fields; a single output is the score of class 1."""
    if n_outputs > 1:
        return {"output_names": _nodes.class_names(classes, n_outputs)}
    if head.get("objective", "").startswith("binary"):
        return _nodes.of_two_classes(classes)
    return {"output_names": ("output",)}
