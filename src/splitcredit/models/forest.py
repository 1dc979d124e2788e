"""Store any tree ensemble as frozen flat arrays: `Forest`."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from splitcredit.kernels.walks import predict
from splitcredit.models.categories import Categories
from splitcredit.models.forest_checks import LEAF, check, check_inbag, is_prepared
from splitcredit.results.stored import check_fields
from splitcredit.rows.names import as_known, as_names, labels_of_columns, with_columns
from splitcredit.rows.tables import check_shape, dense, numeric

__all__ = ["LEAF", "Forest", "array_hash"]

# Numbers that count as 0 where 0 is missing, a number of single precision.
CLOSE_TO_MISSING = float(np.float32(1e-35))

_DTYPES = {
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "right": np.int32,
    "missing_left": np.bool_,
    "value": np.float64,
    "cover": np.float64,
    "impurity": np.float64,
    "tree_offsets": np.int64,
    "base": np.float64,
    "column": np.int32,
}


class _Inbag:
    """The field `inbag`, drawn when first used: that takes long, and few uses need it."""

    def __get__(self, forest, cls):
        if forest is None:
            return None  # the default
        counts = vars(forest)["inbag"]
        if callable(counts):
            self.__set__(forest, counts())
        return vars(forest)["inbag"]

    def __set__(self, forest, counts):
        if counts is not None and not callable(counts):
            given = np.asarray(counts)
            counts = _frozen(given, given.dtype if given.dtype.kind in "iu" else np.int64, "inbag")
            check_inbag(forest, counts)
        vars(forest)["inbag"] = counts


@dataclass(frozen=True, eq=False, repr=False)
class Forest:
    """A tree ensemble as flat arrays, independent of the library that grew it.

    Node ``k`` of the ensemble sends a row to ``left[k]`` when its value of ``feature[k]`` is at
    most ``threshold[k]`` (below it, if `strict`), and to ``right[k]`` otherwise. Nodes of one tree
    are contiguous and every child comes after its parent. `splitcredit.to_forest` makes one from
    a fitted model.

    Parameters
    ----------
    feature : int32 (n_nodes,)
        Feature tested, -1 at a leaf.
    threshold : float64 (n_nodes,)
        As the library stores it; ignored at a leaf.
    left, right : int32 (n_nodes,)
        Children, as indices into these same arrays; -1 at a leaf.
    value : float64 (n_nodes, n_outputs)
        Prediction of every node, inner nodes included: class fractions of a classifier whose
        trees are averaged, raw scores of a boosted one, or values of a regressor.
    cover : float64 (n_nodes,)
        Weight of the training rows in the node; see `cover_kind`. Children add up to their parent
        (within a relative 1e-4; measures take a child's share of the sum of both).
    tree_offsets : int64 (n_trees + 1,)
        Nodes of tree ``t`` are ``tree_offsets[t]:tree_offsets[t + 1]``; the first is its root.
    feature_names : tuple of str
    output_names : tuple of str
        Class labels of a classifier, ``("output",)`` for a regressor.
    impurity : float64 (n_nodes,), optional
        Impurity of every node under `criterion`: bits for entropy, squared units of the target
        for the variance.
    criterion : str, optional
        Name of the impurity, as the library calls it.
    missing_left : bool (n_nodes,), optional
        Where a row goes whose value is NaN. None if the model has no rule for NaN.
    strict : bool
        True if a row goes left on ``<``, False if on ``<=``.
    x_dtype : {"float32", "float64"}
        Type in which the library compares; `prepare` casts X to it once.
    aggregate : {"mean", "sum"}
        How the trees make up the prediction.
    base : float64 (n_outputs,), optional
        Added to the aggregate; zeros if not given.
    cover_kind : str
        What `cover` counts, e.g. ``"weighted_n_node_samples"``.
    names_given : bool
        Whether the model itself knew its feature names (only then are they compared with X's).
    inbag : unsigned int (n_trees, n_train), or a function that makes it, optional
        How often each training row was drawn for each tree; None without bagging. A function,
        which takes no arguments, is called when the counts are first read.
    training_hash : str, optional
        `hash_of` the training X, if it was given at conversion.
    column : int32 (n_nodes,), optional
        Column of the prepared rows that a node tests; `feature` if not given. A split by
        categories tests whether column ``n_features + s``, of subset s of `categories`, is at most
        0.5, and counts as a split on `feature`.
    categories : Categories, optional
        The subsets of categories that the model splits by, and the labels of the categories.
    missing_value : float, optional
        A number that counts as missing, as NaN does: `prepare` puts NaN in its place. Where x_dtype
        is float64, numbers up to 1e-35 from it are taken for it, as LightGBM takes them for 0.
    other_class : str, optional
        The first class of a boosted model of two classes. Its one output is the score of the
        second class; the score of the first is its negative.
    full_names : tuple of str, optional
        Names with the prefixes of a pipeline's steps, which columns of X may have as well.
    several_targets : bool, optional
        Whether the outputs are several targets, or classes of them. If not given, names such as
        "y0" and "y1", or "y0=red" and "y1=long", say that.

    Raises
    ------
    ValueError
        If the arrays contradict each other; the message names the array.

    Examples
    --------
    >>> from splitcredit import Forest
    >>> stump = Forest(
    ...     feature=[0, -1, -1],
    ...     threshold=[0.5, 0, 0],
    ...     left=[1, -1, -1],
    ...     right=[2, -1, -1],
    ...     value=[[1.0], [0.0], [4.0]],
    ...     cover=[4, 3, 1],
    ...     tree_offsets=[0, 3],
    ...     feature_names=["dose"],
    ...     output_names=["response"],
    ... )
    >>> stump.predict([[0.0], [1.0]])
    array([[0.],
           [4.]])
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    cover: np.ndarray
    tree_offsets: np.ndarray
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...]
    impurity: np.ndarray | None = None
    criterion: str | None = None
    missing_left: np.ndarray | None = None
    strict: bool = False
    x_dtype: str = "float64"
    aggregate: str = "mean"
    base: np.ndarray | None = None
    cover_kind: str = "weighted_n_node_samples"
    names_given: bool = False
    inbag: np.ndarray | None = _Inbag()  # type: ignore[assignment]
    training_hash: str | None = None
    column: np.ndarray | None = None
    categories: Categories | None = None
    missing_value: float | None = None
    several_targets: bool | None = None
    other_class: str | None = None
    full_names: tuple[str, ...] | None = None

    def __post_init__(self):
        set_ = object.__setattr__
        set_(self, "feature_names", as_names(self.feature_names, "feature_names"))
        set_(self, "output_names", as_names(self.output_names, "output_names"))
        if self.base is None:
            set_(self, "base", np.zeros(len(self.output_names)))
        for name, dtype in _DTYPES.items():
            array = getattr(self, name)
            if array is not None:
                set_(self, name, _frozen(array, dtype, name))
        check(self)

    def __setstate__(self, state):
        vars(self).update(state)
        for array in state.values():
            if isinstance(array, np.ndarray):  # pickles and deep copies of arrays can be written to
                array.flags.writeable = False

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree_offsets) - 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included, over all trees."""
        return len(self.feature)

    @property
    def n_features(self) -> int:
        """Number of features the model was fitted on."""
        return len(self.feature_names)

    @property
    def n_outputs(self) -> int:
        """Number of outputs: one a class or target; one in all if two classes are boosted."""
        return len(self.output_names)

    def __repr__(self):
        return (
            f"Forest({self.n_trees} trees, {self.n_nodes} nodes, {self.n_features} features, "
            f"{self.n_outputs} outputs, criterion={self.criterion!r})"
        )

    def in_order(self, X):
        """Return X with columns in the order of the features, if both X and the model have names.

        Parameters
        ----------
        X : array-like or DataFrame (n_samples, n_features)

        Returns
        -------
        X itself, or a table of the same type; ValueError if it has other columns
        """
        names = labels_of_columns(X)
        if names is None or not self.names_given:
            return X
        return with_columns(X, self.known(names), self.feature_names)

    def known(self, names) -> list[str]:
        """Return names as text, in the form of `feature_names` where they name features.

        Parameters
        ----------
        names : sequence

        Returns
        -------
        list of str
        """
        if self.full_names is not None:
            short = dict(zip(self.full_names, self.feature_names, strict=True))
            names = [short.get(name, name) for name in as_known(names, self.full_names)]
        return as_known(names, self.feature_names)

    def hash_of(self, X) -> str:
        """Hash X by SHA-256, in the order of the features, with codes in place of categories.

        Parameters
        ----------
        X : array-like or DataFrame (n_samples, n_features)

        Returns
        -------
        str
            64 hexadecimal digits; see `array_hash`. ValueError as `prepare`.
        """
        X = dense(self.in_order(X), self.absent)
        array = numeric(X if self.categories is None else self.categories.coded(X), np.float64)
        self._check_shape(array, X)
        return array_hash(array)

    @property
    def absent(self) -> float:
        """Value of entries that sparse rows do not store: NaN for XGBoost, else 0."""
        return np.nan if self.cover_kind == "sum_hessian" else 0.0

    @property
    def rounds_whole_numbers(self) -> bool:
        """Whether arrays are compared in single precision unless they are of the two floats."""
        return self.cover_kind == "leaf_count"

    def _check_shape(self, array, X):
        check_shape(array, X, self.n_features, self.categories is not None)

    def prepare(self, X) -> np.ndarray:
        """Check X against the forest and cast it once, as the library does.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame (n_samples, n_features)
            Columns with names may come in any order. What a sparse matrix does not store is missing
            for a model of XGBoost, and 0 for others, as for their libraries. Infinities are ordered
            as any number.

        Returns
        -------
        C-contiguous, read-only array (n_samples, n_features) of dtype `x_dtype`
            For a model that splits by categories: their codes, and behind the features one column
            for each subset. ValueError on a wrong shape, other names, text, or NaN where the model
            has no rule for it.
        """
        if is_prepared(self, X):
            return X
        if hasattr(X, "to_frame") and not hasattr(X, "columns"):
            self._check_shape(X, X)  # before its text is called no number
        X = dense(self.in_order(X), self.absent)
        if self.categories is not None:
            X = self.categories.coded(X)
        if self.rounds_whole_numbers and _is_array_of_other_numbers(X):
            X = numeric(X, np.float32)
        array = numeric(X, self.x_dtype)
        if self.missing_value is not None:
            array = with_missing(array, self.missing_value)
        self._check_shape(array, X)
        if self.missing_left is None and np.isnan(array).any():
            column = self.feature_names[int(np.isnan(array).any(axis=0).argmax())]
            raise ValueError(
                f"X holds NaN (first in feature {column!r}), and this model has no rule for "
                "missing values: impute them, or fit a model that has one"
            )
        if self.categories is not None:
            array = self.categories.appended(array)
        array = array.view()
        array.flags.writeable = False  # one type for the compiled code, for any X
        return array

    def predict(self, X) -> np.ndarray:
        """Predict with the ensemble: class fractions, raw scores or values.

        Parameters
        ----------
        X : array-like or DataFrame (n_samples, n_features)

        Returns
        -------
        float64 array (n_samples, n_outputs); ValueError as `prepare`
        """
        return predict.predict(self, self.prepare(X))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Convert every field to an array that `numpy.savez` can store; None is left out."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        if self.categories is not None:
            values["categories"] = self.categories.to_json()
        return {name: np.asarray(v) for name, v in values.items() if v is not None}

    @classmethod
    def from_arrays(cls, arrays) -> Forest:
        """Restore the forest that `to_arrays` took apart.

        Parameters
        ----------
        arrays : dict of str to array, or an open ``.npz`` file

        Returns
        -------
        Forest; ValueError if arrays are missing, or contradict each other
        """
        check_fields(cls, arrays)
        scalar_fields = {"strict", "x_dtype", "aggregate", "criterion", "cover_kind"}
        scalar_fields |= {"names_given", "training_hash", "missing_value", "several_targets"}
        scalar_fields |= {"other_class"}
        name_fields = {"feature_names", "output_names", "full_names"}
        values: dict[str, Any] = {
            k: v.item() if k in scalar_fields else tuple(v.tolist()) if k in name_fields else v
            for k, v in arrays.items()
        }
        if "categories" in values:
            values["categories"] = Categories.from_json(values["categories"].item())
        return cls(**values)


def _is_array_of_other_numbers(X):
    """Return whether X is an array or lists of numbers, but not of float32 or float64."""
    if isinstance(X, (list, tuple)):
        try:
            X = np.asarray(X)
        except ValueError:  # lists of different lengths, which are refused
            return False
    is_array = isinstance(X, np.ndarray) and X.dtype.kind in "iuf"
    return is_array and X.dtype not in (np.float32, np.float64)


def part(forest: Forest, first: int, last: int) -> Forest:
    """Return consecutive trees of a forest."""
    a, b = forest.tree_offsets[first], forest.tree_offsets[last]
    names = "feature threshold left right value cover impurity missing_left column".split()
    nodes = {name: getattr(forest, name) for name in names}
    cut: dict[str, Any] = {k: None if nodes[k] is None else nodes[k][a:b] for k in names}
    for side in ("left", "right"):
        cut[side] = np.where(cut[side] < 0, -1, cut[side] - a)
    cut["tree_offsets"] = forest.tree_offsets[first : last + 1] - a
    cut["inbag"] = None if forest.inbag is None else forest.inbag[first:last]
    return replace(forest, **cut)


def array_hash(X) -> str:
    """Hash shape and float64 bytes of X by SHA-256: equal for equal values of any dtype."""
    import hashlib

    X = numeric(X, np.float64) + 0.0  # of the two zeros, it leaves one
    return hashlib.sha256(repr(X.shape).encode() + X.tobytes()).hexdigest()


def _frozen(array, dtype, name):
    """Return a read-only array of the dtype; copied if the caller could still write to it."""
    given = _plain(array, name)
    if given.dtype == dtype:
        frozen = np.ascontiguousarray(given)
    else:
        with np.errstate(invalid="ignore"):
            frozen = np.ascontiguousarray(given, dtype=dtype)
    is_cast = given.dtype != frozen.dtype
    if is_cast and frozen.dtype.kind in "biu" and (frozen != given).any():
        kind = "whole numbers" if frozen.dtype.kind != "b" else "True and False, or numbers"
        raise ValueError(f"{name} must hold {kind} that {frozen.dtype} can hold")
    if given.flags.writeable and np.shares_memory(frozen, given):
        frozen = frozen.copy()
    frozen = frozen.view()
    frozen.flags.writeable = False
    return frozen


def _plain(array, name):
    """Convert the value of a field to an array of numbers; refuse masked and other values."""
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        raise ValueError(f"{name} has masked values: leave them out")
    given = np.asarray(array)
    if given.dtype == object:  # numbers of Python
        given = np.array(given.tolist())
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{name} holds {given.dtype}, expected numbers")
    return given


def with_missing(X, missing_value):
    """Copy X with NaN in place of a value that counts as missing."""
    missing = X.dtype.type(missing_value)
    is_missing = missing == X
    if X.dtype == np.float64 and np.isfinite(missing):
        is_missing |= np.abs(X - missing) <= CLOSE_TO_MISSING
    return np.where(is_missing, X.dtype.type(np.nan), X)
