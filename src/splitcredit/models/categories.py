"""Represent splits by subsets of categories as columns behind the features in prepared rows."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import numpy as np

from splitcredit.rows.tables import refuse_categories, refuse_container, refuse_times


@dataclass(frozen=True, eq=False, repr=False)
class Categories:
    """The subsets of categories that a model splits by, and the codes of the categories.

    A library numbers the categories of a feature; these codes are what the splits know. Each
    distinct split becomes one column that `Forest.prepare` appends to the features: 0 for a row
    that goes left, 1 for one that goes right, NaN where the code is NaN.

    Entries of other lengths raise a ValueError.

    Parameters
    ----------
    feature : int (n_subsets,)
        The feature that each subset is of.
    members : sequence of sequences of int
        The codes in each subset. Fractions of a code are cut off, as libraries do.
    members_left : bool (n_subsets,)
        Whether members go left and all other codes right, or the other way round.
    labels : sequence of sequences of str, int, float or bool
        Labels of the categories of some features, in the order of their codes.
    labeled : sequence of int, optional
        The feature that each entry of `labels` is of; if empty, no column of X may be of type
        ``category``. If not given, entries are for such columns in their order (LightGBM); without
        entries, these give their own codes.
    always : bool
        Whether values of labeled features are labels in any X (scikit-learn), or in columns of type
        ``category`` only.
    unknown_is_missing : bool
        Whether a label that was not there in training counts as missing, or is refused.

    Examples
    --------
    >>> from splitcredit.models.categories import Categories
    >>> import pandas as pd
    >>> labels = [["a", "b", "c"]]
    >>> categories = Categories([0], [[0, 2]], [True], labels=labels, labeled=[0])
    >>> categories.coded(pd.DataFrame({"blood": pd.Categorical(["c", "a"])}))
       blood
    0    2.0
    1    0.0
    """

    feature: tuple[int, ...] = ()
    members: tuple[tuple[int, ...], ...] = ()
    members_left: tuple[bool, ...] = ()
    labels: tuple[tuple, ...] = field(default=())
    labeled: tuple[int, ...] | None = None
    always: bool = False
    unknown_is_missing: bool = True

    def __post_init__(self):
        set_ = object.__setattr__
        set_(self, "feature", tuple(int(j) for j in self.feature))
        set_(self, "members", tuple(tuple(int(c) for c in codes) for codes in self.members))
        set_(self, "members_left", tuple(bool(left) for left in self.members_left))
        set_(self, "labels", tuple(tuple(_plain(label) for label in own) for own in self.labels))
        if self.labeled is not None:
            set_(self, "labeled", tuple(int(j) for j in self.labeled))
        lengths = {len(self.feature), len(self.members), len(self.members_left)}
        if len(lengths) > 1:
            raise ValueError("feature, members and members_left must have an entry for each subset")
        if self.labeled is not None and len(self.labeled) != len(self.labels):
            raise ValueError("labeled must name one feature for each entry of labels")

    def __len__(self):
        """Return the number of subsets."""
        return len(self.feature)

    def to_json(self) -> str:
        """Write as text that `from_json` reads; ValueError for labels such as dates."""
        for label in (label for own in self.labels for label in own):
            if not isinstance(label, (str, int, float)):
                raise ValueError(
                    f"the label {label!r} of a category is neither text nor a number, which arrays "
                    "cannot keep: pickle the forest, or fit the model on labels that are text"
                )
        names = ("feature", "members", "members_left", "labels", "labeled")
        return json.dumps(
            {name: getattr(self, name) for name in (*names, "always", "unknown_is_missing")}
        )

    @classmethod
    def from_json(cls, text: str) -> Categories:
        """Restore the categories that `to_json` wrote.

        Parameters
        ----------
        text : str

        Returns
        -------
        Categories
        """
        return cls(**json.loads(text))

    def coded(self, X):
        """Return X with codes in place of labels.

        Parameters
        ----------
        X : array-like or DataFrame (n_samples, n_features)

        Returns
        -------
        X itself, if it has no labels, else a DataFrame or array of the same shape; ValueError if
        labels or columns with categories differ from training, or are not of pandas
        """
        refuse_container(X)
        if hasattr(X, "columns") and hasattr(X, "iloc"):
            return self._coded_frame(X)
        if not self.always:
            refuse_categories(X)
            return X
        refuse_times(X)
        array = np.array(X)
        if array.dtype.kind in "iub":  # which cannot hold the NaN of an unknown category
            array = array.astype(np.float64)
        if array.ndim == 2:
            for j, labels in zip(self.labeled, self.labels, strict=True):
                if j < array.shape[1]:
                    array[:, j] = self._codes(array[:, j], labels, j)
        return array

    def _coded_frame(self, X):
        import pandas as pd

        by_type = [j for j, t in enumerate(X.dtypes) if isinstance(t, pd.CategoricalDtype)]
        if (self.labels or self.labeled is not None) and not self.always:
            self._check_types(X, by_type)
        labeled = by_type if self.labeled is None else self.labeled
        labels_of = dict(zip(labeled, self.labels, strict=False))
        if not by_type and not self.always:
            return X
        columns = {}
        for j in range(X.shape[1]):
            column = X.iloc[:, j]
            # LightGBM compares lists, in which True equals 1, before it looks for labels.
            is_known = self.labeled is None and j in labels_of
            is_known = is_known and list(column.cat.categories) == list(labels_of[j])
            if j in labels_of and (self.always or j in by_type) and not is_known:
                columns[j] = self._codes(column, labels_of[j], X.columns[j])
            elif j in by_type and not self.always:  # the codes of X itself
                codes = column.cat.codes.to_numpy()
                columns[j] = np.where(codes < 0, np.nan, codes)
            else:  # scikit-learn reads other columns of any type as numbers
                columns[j] = column
        coded = pd.DataFrame(columns, index=X.index)
        coded.columns = X.columns
        return coded

    def _check_types(self, X, by_type):
        """Refuse columns of other types than in training, whose values would count as codes."""
        if self.labeled is None:
            if len(by_type) != len(self.labels):
                raise ValueError(
                    f"X has {len(by_type)} columns of type category, the training rows had "
                    f"{len(self.labels)}: give the same columns that type, such as by "
                    "X.astype(X_train.dtypes)"
                )
            return
        for j in self.labeled:
            if j < X.shape[1] and j not in by_type:
                raise ValueError(
                    f"column {X.columns[j]!r} of X is of type {X.dtypes.iloc[j]}, in the training "
                    "rows it was of type category: give it that type, or pass an array of codes"
                )
        for j in by_type:
            if j not in self.labeled and X.iloc[:, j].notna().any():
                raise ValueError(
                    f"column {X.columns[j]!r} of X is of type category, in the training rows it "
                    "was not: give it the type that it had"
                )

    def _codes(self, column, labels, name):
        """Return codes of labels, float64; NaN where there is none."""
        import pandas as pd

        if hasattr(column, "cat"):  # as an array, whole numbers beside NaN would lose digits
            own = column.cat.codes.to_numpy()
            used = np.unique(own[own >= 0])
            codes = np.full(len(column.cat.categories) + 1, np.nan)  # of -1, which is no category
            codes[used] = self._codes(column.cat.categories[used].to_numpy(), labels, name)
            return codes[own]
        values = np.asarray(column, dtype=None if hasattr(column, "dtype") else object)
        if values.dtype.kind == "f":  # of which pandas looks up one type
            values = values.astype(np.float64)
        if self.always:  # scikit-learn compares them as numbers, pandas tells True from 1
            values, labels = _without_booleans(values), _without_booleans(labels)
        values = values.astype(object) if any(isinstance(v, str) for v in labels) else values
        codes = pd.Index(list(labels)).get_indexer(pd.Index(values)).astype(np.float64)
        unknown = codes < 0
        codes[unknown] = np.nan
        if not self.unknown_is_missing:
            unknown &= ~np.asarray(pd.isna(values))
            if unknown.any():
                label = values[int(unknown.argmax())]
                raise ValueError(
                    f"column {name!r} of X holds {label!r}, which is not a category of the "
                    "training rows: replace it by one of them or by NaN"
                )
        return codes

    def appended(self, X) -> np.ndarray:
        """Return coded rows with the column of each subset behind the features.

        Parameters
        ----------
        X : float array (n_samples, n_features)

        Returns
        -------
        C-contiguous array (n_samples, n_features + n_subsets) of X's dtype
        """
        out = np.empty((len(X), X.shape[1] + len(self)), X.dtype)
        out[:, : X.shape[1]] = X
        for s, (j, members) in enumerate(zip(self.feature, self.members, strict=True)):
            # To XGBoost, whose members go right, codes between -1 and 0 are unknown as well.
            whole = np.trunc if self.members_left[s] else np.floor
            inside = np.isin(whole(X[:, j]), members)
            goes_right = (inside != self.members_left[s]).astype(X.dtype)
            out[:, X.shape[1] + s] = np.where(np.isnan(X[:, j]), np.nan, goes_right)
        return out


def _without_booleans(values):
    """Return numbers 0 and 1 in place of False and True, an array if it was one."""
    if getattr(values, "dtype", None) == np.bool_:
        return values.astype(np.float64)
    if not isinstance(values, (list, tuple)) and values.dtype != object:
        return values
    numbers = [float(v) if isinstance(v, (bool, np.bool_)) else v for v in values]
    if isinstance(values, (list, tuple)):
        return numbers
    out = np.empty(len(numbers), object)
    out[:] = numbers
    return out


def _plain(label):
    """Convert a label to its plain Python type."""
    return label.item() if isinstance(label, np.generic) else label
