"""Build nodes for converters, mostly of boosted trees, whose files have values at leaves only."""

from __future__ import annotations

import numpy as np

from splitcredit.kernels import leaf_means
from splitcredit.models.categories import Categories


class UnsupportedModelError(TypeError, ValueError):
    """No converter recognizes a model; a ValueError, as code written for shap expects."""


def full_name(model) -> str:
    """Return the name of a model's class with the package to import it from."""
    kind = type(model)
    parts = [part for part in kind.__module__.split(".") if not part.startswith("_")]
    return ".".join([*parts, kind.__qualname__])


class NoTreesError(UnsupportedModelError):
    """A model has no trees, or no known ones; see `splitcredit.to_forest`."""

    def __init__(self, model, reason=""):
        super().__init__(f"cannot convert {full_name(model)} to a Forest{reason}")


def refuse_damaged(is_damaged, what) -> None:
    """Raise a ValueError if a model contradicts itself; `named_if_damaged` adds the file."""
    if is_damaged:
        raise ValueError(f"{what}: save it again")


# Where models of other packages keep the one that they are made around.
INNER = ("detector_", "model_", "booster_", "boosters[i]")


def inner_model(model) -> str | None:
    """Return where a model of another package keeps its inner model, as an expression."""
    own = getattr(model, "__dict__", {})
    of_class = type(model)
    return next((n for n in INNER if n.partition("[")[0] in own or hasattr(of_class, n)), None)


def unknown_model(model, reason="") -> UnsupportedModelError:
    """Return the error that a model cannot be converted, with the inner model if any."""
    held = inner_model(model)
    if held is None:
        return NoTreesError(model, reason)
    return UnsupportedModelError(
        f"cannot convert {full_name(model)} to a Forest: explain model.{held}, if that is a model "
        "of trees"
    )


def not_fitted(model) -> Exception:
    """Return the error that a model is not fitted."""
    from sklearn.exceptions import NotFittedError

    return NotFittedError(f"this {type(model).__name__} is not fitted: call fit(X, y) first")


def no_booster(model, name) -> UnsupportedModelError:
    """Return the error that an object of a library is not a model."""
    held = inner_model(model)
    remedy = "give the Booster or the fitted model" if held is None else f"explain model.{held}"
    return UnsupportedModelError(f"cannot convert {name} to a Forest: {remedy}")


# Name of the impurity that `summarized` computes, where the library stores none.
LEAF_VARIANCE = "leaf variance"


def summarized(arrays, leaf_value, offsets, model, column=None, n_outputs=1) -> dict:
    """Return node arrays with mean and variance of the leaves below each node, by cover.

    The mean is the prediction of a row that stops at the node (Saabas' method needs it). The
    variance is an impurity where a library keeps none: its decrease at a split is the decrease of
    the squared error if the targets were the tree's own predictions, as in figure 1 of
    lundberg2017. Both are built up from the leaves, without a difference of near-equal sums:
    ``mean = s m_L + (1 - s) m_R`` and ``variance = s v_L + (1 - s) v_R + s (1 - s) (m_L - m_R)^2``
    with s the left child's share of the cover, which must not be 0 of 0.

    Variances of several values in a leaf are added. With one value in each, `column` is the output
    of each tree, and the other columns of ``value`` are 0.
    """
    of_nodes = arrays["left"], arrays["right"], arrays["cover"]
    values = leaf_value.T if leaf_value.ndim == 2 else [leaf_value]
    summaries = []
    for own in values:
        mean, variance, uncovered = leaf_means.summaries(*of_nodes, np.ascontiguousarray(own))
        if uncovered >= 0:
            tree = np.searchsorted(offsets[:-1], uncovered, side="right") - 1
            raise ValueError(
                f"tree {tree} of this {model} has a split that no training row reached with a "
                "weight above 0, so that its node has no mean: fit without rows of weight 0"
            )
        summaries.append((mean, variance))
    value = np.column_stack([mean for mean, _ in summaries])
    if n_outputs > 1:
        value = np.zeros((len(leaf_value), n_outputs))
        value[np.arange(len(value)), np.repeat(column, np.diff(offsets))] = summaries[0][0]
    impurity = sum(variance for _, variance in summaries)
    return {**arrays, "value": value, "impurity": impurity, "tree_offsets": offsets}


def target_names(n_targets) -> tuple[str, ...]:
    """Name the outputs of a model with several targets."""
    return tuple(f"y{k}" for k in range(n_targets))


def of_two_classes(classes) -> dict:
    """Return fields of a Forest with one score for two classes, which belongs to the second.

    Where training had one class, the score belongs to all other classes; without labels, and
    beside a class 0, it is called 1.
    """
    other, *scored = (0, 1) if classes is None or len(classes) == 0 else classes
    if not scored:
        scored = ["1" if other == 0 else f"not {other}"]
    return {"output_names": (scored[0],), "other_class": str(other)}


def class_names(classes, n_outputs) -> tuple:
    """Name outputs, one a class; declared classes that training lacked have their numbers."""
    labels = () if classes is None else tuple(classes)
    return (*labels, *range(len(labels), n_outputs))


def frozen(arrays: dict, but: str = "") -> dict:
    """Mark arrays read-only, so that Forest need not copy them; `but` is no array."""
    for name, array in arrays.items():
        if name != but:
            array.flags.writeable = False
    return arrays


def members_of(words) -> np.ndarray:
    """List the bits that are set in a bitset: numbers of 32 bits, the lowest first."""
    words = np.asarray(words, np.uint32)
    return np.flatnonzero(words[:, None] >> np.arange(32, dtype=np.uint32) & 1)


def subset_fields(arrays, n_features, nodes, members, left, labels=(), **coding) -> dict:
    """Return Forest fields for splits of `nodes` by the codes of categories in `members`."""
    if not len(nodes) and not len(labels):
        return {}
    number_of: dict[tuple, int] = {}
    column = arrays["feature"].copy()
    for k, codes in zip(np.asarray(nodes).tolist(), members, strict=True):
        key = int(arrays["feature"][k]), tuple(int(c) for c in codes)
        column[k] = n_features + number_of.setdefault(key, len(number_of))
    categories = Categories(
        feature=tuple(j for j, _ in number_of),
        members=tuple(codes for _, codes in number_of),
        members_left=(left,) * len(number_of),
        labels=labels,
        **coding,
    )
    if not len(nodes):
        return {"categories": categories}
    threshold = arrays["threshold"].copy()
    threshold[nodes] = 0.5
    return {"column": column, "threshold": threshold, "categories": categories}
