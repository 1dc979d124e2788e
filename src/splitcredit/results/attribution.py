"""Define the results of measures: `Attribution` by row and feature, `Importance` by feature."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from splitcredit.results import sentences
from splitcredit.results.plots import results as plots
from splitcredit.results.stored import (
    SHOWN,
    Result,
    arrays_of_rows,
    check_fields,
    more,
    parameters_of,
    rows_of_arrays,
)
from splitcredit.rows import feature_groups
from splitcredit.rows.names import as_names, check_index, feature_index, indexed
from splitcredit.rows.tables import numbers, rows_at


class _OfFeatures(Result):
    """Shared code of attributions and importances."""

    values: np.ndarray
    method: str
    parameters: dict
    unit: str

    def __len__(self):
        """Return the number of rows of an Attribution, of features of an Importance."""
        return len(self.values)

    def _arrays(self, *names):
        """Return these fields as arrays, and the source of the values."""
        arrays = {name: np.asarray(getattr(self, name)) for name in (*names, "method")}
        arrays["parameters"] = np.array(json.dumps(self.parameters, sort_keys=True))
        return arrays | ({"unit": np.array(self.unit)} if self.unit else {})

    @classmethod
    def from_arrays(cls, arrays) -> Self:
        """Restore the result that `to_arrays` took apart.

        Parameters
        ----------
        arrays : dict of str to array, or an open ``.npz`` file

        Returns
        -------
        Attribution or Importance
            An object of the class on which this is called.

        Raises
        ------
        ValueError
            If arrays are missing, damaged, or of something else.
        """
        return cls(**_plain(cls, arrays))


@dataclass(frozen=True, eq=False, repr=False)
class Attribution(_OfFeatures):
    """Attributions of features, row by row and output by output, with their labels.

    ``baseline`` plus the sum of ``values`` over the features is the prediction, for measures that
    explain it. For local MDI it is the mean decrease of impurity on the paths of the row.

    Parameters
    ----------
    values : float64 or float32 (n_samples, n_features, n_outputs)
    baseline : float64 (n_outputs,) or (n_samples, 1)
        One for each row if each row has another output (``output="predicted"``).
    feature_names : tuple of str, n_features long
    output_names : tuple of str, n_outputs long
    method : str
        Name of the measure, and of its file in `splitcredit.measures`.
    parameters : dict
        What the measure was called with.
    output_index : int64 (n_samples,), optional
        The class that each row explains, where that differs from row to row.
    index : pandas.Index (n_samples,), optional
        Labels of the rows, where they came from a DataFrame.
    data : array or DataFrame (n_samples, n_features), optional
        The rows as the trees see them, for plots; of a pipeline, the columns that it was given.
        They are no copy, where `explain` needed none.
    source : Source, optional
        For a pipeline, the rows that were given, and the column that each feature was made of.
    unit : str
        What the raw prediction is, such as ``"log-odds"`` or ``"probability"``; "" if unknown.

    Raises
    ------
    ValueError
        If shapes and labels contradict each other.
    """

    values: np.ndarray
    baseline: np.ndarray
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...]
    method: str
    parameters: dict = field(default_factory=dict)
    output_index: np.ndarray | None = None
    index: Any = None
    data: Any = None
    source: Any = None
    unit: str = ""

    def __post_init__(self):
        set_ = object.__setattr__
        dtype = np.float32 if getattr(self.values, "dtype", None) == np.float32 else np.float64
        set_(self, "values", _array(self.values, "values", dtype))
        set_(self, "baseline", _array(self.baseline, "baseline"))
        _check_origin(self)
        set_(self, "feature_names", as_names(self.feature_names, "feature_names"))
        set_(self, "output_names", as_names(self.output_names, "output_names"))
        if self.output_index is not None:
            given = numbers(self.output_index, "output_index")
            with np.errstate(invalid="ignore"):
                set_(self, "output_index", given.astype(np.int64))
            if (self.output_index != given).any():
                raise ValueError("output_index must hold whole numbers")
        if self.values.ndim != 3:
            raise ValueError(
                f"values has shape {self.values.shape}, expected (n_samples, n_features, n_outputs)"
            )
        n, p, k = self.values.shape
        for name, axis in (("feature_names", 1), ("output_names", 2)):
            count, length = len(getattr(self, name)), self.values.shape[axis]
            if count != length:
                raise ValueError(f"{count} {name}, but values has {length} on axis {axis}")
        _check_shape(self, "baseline", (k,), (n, k))
        _check_shape(self, "output_index", (n,))
        set_(self, "index", check_index(self.index, n))
        _check_shape(self, "data", (n, p))

    def __repr__(self):
        n, p, k = self.values.shape
        return f"Attribution({self.method!r}, {n} samples, {p} features, {k} outputs)"

    def __getitem__(self, key):
        """Select rows by position, slice or mask; or the values of a feature.

        These are (n_samples,), or (n_samples, n_outputs) if there are several outputs.
        """
        if isinstance(key, str):
            values = self.values[:, feature_index(self.feature_names, key, "a feature")]
            return values[:, 0] if values.shape[1] == 1 else values
        rows = key
        if not isinstance(key, slice):
            rows = np.atleast_1d(np.arange(len(self.values))[key])
        names = ["values", "output_index", "index", "data"]
        names += ["baseline"] if self.baseline.ndim == 2 else []
        of_rows = {name: rows_at(getattr(self, name), rows) for name in names}
        if self.source is not None:
            of_rows["source"] = replace(self.source, rows=rows_at(self.source.rows, rows))
        return replace(self, **of_rows)

    def _summary(self):
        """Tabulate the largest mean absolute values, a column for each output."""
        mean = np.abs(self.values).mean(axis=0) if len(self.values) else 0.0 * self.values.sum(0)
        frame = largest("feature", mean, self.feature_names.__getitem__, self.output_names)
        return frame, more(len(self.feature_names), "features")

    def totals(self) -> np.ndarray:
        """Add baseline and the sum over features, (n_samples, n_outputs)."""
        return self.baseline + self.values.sum(axis=1, dtype=np.float64)

    def to_frame(self):
        """Convert to a DataFrame: sample, output, then one column for each feature.

        ``sample`` is the position of the row. The frame has the labels of the rows, each as often
        as there are outputs. Where a feature has one of these names, the column is called
        ``sample_`` or ``output_``.
        """
        return frame_of(self.values, self.feature_names, self.output_names, self.index)

    def grouped(self, groups) -> Attribution:
        """Sum the attributions of the features in each group.

        Sums are right where attributions add up to a total: the prediction for ``tree_shap``,
        ``tree_shap_interventional``, ``saabas`` and ``oob_attributions``, the decrease of impurity
        for ``local_mdi``. A sum of Shapley values is the share that the features of the group have
        together; it is not the Shapley value of a game in which the group joins as one player:
        for that, pass the groups to ``explain(..., method="tree_shap", groups=groups)``.
        The places of ``pg2_greedy`` cannot be added.

        Parameters
        ----------
        groups : dict of str to list of str or int, or "columns"
            Name of each group, and its features by name or index. A feature is in one group at
            most; those in none stay as they are, behind the groups. ``"columns"`` is for a
            pipeline: the features that its steps made of one column, such as one-hot codes, are a
            group of the name of that column, whose values and labels plots show.

        Returns
        -------
        Attribution
            Without `data`, except for ``"columns"``.

        Raises
        ------
        ValueError
            If a feature is unknown or in two groups, a name occurs twice, the values cannot be
            added, or no step names the columns.

        Examples
        --------
        >>> petals = {"petal": ["petal length (cm)", "petal width (cm)"]}
        >>> splitcredit.explain(model, X).grouped(petals).feature_names
        ('petal', 'sepal length (cm)', 'sepal width (cm)')
        """
        return feature_groups.of_attribution(self, groups)

    def plot(
        self, ax=None, output=None, top: int = 20, X=None, *, kind=None, row=None, feature=None
    ):
        """Draw the attributions, the features with the largest mean ``|value|`` on top.

        Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure if not given.
        output : str or int, optional
            Name or index of the output to draw.
        top : int
            Most features that are drawn.
        X : array-like or DataFrame (n_samples, n_features), optional
            The rows that were explained; by default `data`.
        kind : {"beeswarm", "bar", "waterfall", "force", "decision", "scatter", "heatmap"}, optional
            ``"beeswarm"``, the default for one output, is a dot for each row, colored by the value
            of the feature. ``"bar"``, the default for several, shows the mean ``|value|``, with one
            part for each output. ``"waterfall"`` goes from the baseline of one row to what it gets
            with all features. ``"force"`` has its bars on one line, and names those of at least 5 %
            of their total length, as shap does. ``"decision"`` has a line for each row from the
            baseline to the prediction, at most 200 of them, drawn with a fixed seed. ``"scatter"``
            shows the attributions of one feature against its values, colored by the feature that
            explains most of their variance among rows with similar values. ``"heatmap"`` has a
            color for each row and feature, by rising prediction.
        row : int, optional
            Position of the row of a waterfall or a force plot; not needed if there is one. In a
            decision plot, the row to highlight.
        feature : str or int, optional
            Name or index of the feature of a scatter; by default that with the largest mean
            ``|value|``.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ValueError
            If there is no such output, kind, row or feature, `top` is no whole number from 1, X are
            other rows, or the kind needs X or one output.
        """
        return plots.of_attribution(self, ax, output, top, X, kind, row, feature)

    def describe(self, row=None, output=None) -> str:
        """Describe a row in sentences: its total, and what raises and lowers it most.

        Parameters
        ----------
        row : int, optional
            Position of the row; not needed if there is one.
        output : str or int, optional
            Name or index of the output; needed if there are several.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If there is no such row or output, or several outputs and none is named.

        Examples
        --------
        >>> splitcredit.tree_shap(model, X[:1], output="0").describe()[:70]
        "Row 0: the probability of '0' is 1, 0.672 above the baseline of 0.328."
        """
        return sentences.of_row(self, row, output)

    def to_shap(self, X=None):
        """Convert to a ``shap.Explanation``, for shap's plots; needs shap.

        Parameters
        ----------
        X : array-like or DataFrame (n_samples, n_features), optional
            The rows that were explained, whose values plots show; by default `data`.

        Returns
        -------
        shap.Explanation
            Values are (n_samples, n_features), or (n_samples, n_features, n_outputs) if there are
            several outputs; then take one for plots that show one: ``explanation[:, :, 0]``.

        Raises
        ------
        ModuleNotFoundError, ValueError
            If shap is not installed, or X has not the shape and the columns of the rows.
        """
        return plots.explanation(self, X)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Convert all fields but `index` and `source` to arrays; None is left out."""
        arrays = self._arrays("values", "baseline", "feature_names", "output_names")
        if self.output_index is not None:
            arrays["output_index"] = self.output_index
        return arrays if self.data is None else arrays | arrays_of_rows(self.data)


@dataclass(frozen=True, eq=False, repr=False)
class Importance(_OfFeatures):
    """Global importances of the features, with their labels.

    Parameters
    ----------
    values : float64 (n_features,)
    feature_names : tuple of str, n_features long
    method : str
        Name of the measure, and of its file in `splitcredit.measures`.
    parameters : dict
        What the measure was called with, and what it counted, such as ``n_permutations``.
    standard_error : float64 (n_features,), optional
        Standard error of each value; NaN where the measure estimates none.
    unit : str
        Of mean attributions: what the raw prediction is; see `Attribution`.
    source : Source, optional
        For a pipeline, the column that each feature was made of; `to_arrays` leaves it out.
    refits : float64 (n_refits, n_features), optional
        The same importances of copies of the model, each fitted to a resample of its rows; see
        `splitcredit.importance`. Their spread is another thing than `standard_error`.

    Raises
    ------
    ValueError
        If shapes and labels contradict each other.
    """

    values: np.ndarray
    feature_names: tuple[str, ...]
    method: str
    parameters: dict = field(default_factory=dict)
    standard_error: np.ndarray | None = None
    unit: str = ""
    source: Any = None
    refits: np.ndarray | None = None

    def __post_init__(self):
        set_ = object.__setattr__
        set_(self, "values", _array(self.values, "values"))
        set_(self, "feature_names", as_names(self.feature_names, "feature_names"))
        _check_origin(self)
        error = self.standard_error
        error = np.full(self.values.shape, np.nan) if error is None else error
        set_(self, "standard_error", _array(error, "standard_error"))
        for name in ("values", "standard_error"):
            _check_shape(self, name, (len(self.feature_names),))
        if self.refits is not None:
            set_(self, "refits", _array(self.refits, "refits"))
            _check_shape(self, "refits", (*self.refits.shape[:1], len(self.feature_names)))

    def __repr__(self):
        return f"Importance({self.method!r}, {len(self.values)} features)"

    def __getitem__(self, key):
        """Return the value of a feature, by its name or index, or raise a ValueError."""
        return float(self.values[feature_index(self.feature_names, key, "a feature")])

    def to_frame(self):
        """Convert to a DataFrame, the largest first: feature, value, standard_error (or NaN).

        With `refits` also their standard deviation and the ends of `interval`: refits_std,
        refits_low, refits_high.
        """
        import pandas as pd

        order = np.argsort(-self.values, kind="stable")
        names = [self.feature_names[j] for j in order]
        columns = {"feature": names, "value": self.values[order]}
        columns["standard_error"] = self.standard_error[order]
        if self.refits is not None:
            columns["refits_std"] = self.refits.std(axis=0, ddof=1)[order]
            columns["refits_low"], columns["refits_high"] = self.interval()[:, order]
        return pd.DataFrame(columns)

    def interval(self) -> np.ndarray:
        """Return quantiles of 2.5 % and 97.5 % of `refits`, float64 (2, n_features).

        The value of the model itself may lie outside: copies know fewer different rows.
        """
        if self.refits is None:
            raise ValueError("there are no refits: call splitcredit.importance(..., refits=20)")
        return np.quantile(self.refits, [0.025, 0.975], axis=0)

    def _summary(self):
        """Return the first rows of `to_frame`, without errors if there are none."""
        frame = self.to_frame().head(SHOWN)
        if not np.isfinite(self.standard_error).any():
            frame = frame.drop(columns="standard_error")
        return frame, more(len(self.feature_names), "features")

    def grouped(self, groups) -> Importance:
        """Sum the importances of the features in each group.

        Sums are right for measures that add up what the splits on a feature do (``mdi``,
        ``mdi_oob``, ``ufi``, ``penalized_gini``, ``air``) or that divide a total (``sage``). They
        are refused for ``mda`` and ``conditional_permutation``, which permute one feature at a
        time, and for mean absolute attributions: group the `Attribution` instead.

        Parameters
        ----------
        groups : dict of str to list of str or int, or "columns"
            As for `Attribution.grouped`.

        Returns
        -------
        Importance
            The standard error of a sum is the sum of the standard errors, which it cannot exceed.

        Raises
        ------
        ValueError
            As `Attribution.grouped`.

        Examples
        --------
        >>> petals = {"petal": ["petal length (cm)", "petal width (cm)"]}
        >>> splitcredit.importance(model).grouped(petals).feature_names
        ('petal', 'sepal length (cm)', 'sepal width (cm)')
        """
        return feature_groups.of_importance(self, groups)

    def plot(self, ax=None, top: int = 20):
        """Draw the importances as bars, the largest on top, with standard errors if there are any.

        With `refits` the lines are the interval of 95 % of their values instead. Needs matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure if not given.
        top : int
            Most features that are drawn.

        Returns
        -------
        matplotlib Axes
        """
        return plots.of_importance(self, ax, top)

    @staticmethod
    def side_by_side(importances, top: int = 20, *, panels: bool = True):
        """Draw importances of several measures or models, a panel for each, in its own units.

        The features are those that all have, in the order of their mean place over the importances;
        a line says how many others there are. Needs matplotlib.

        Parameters
        ----------
        importances : list or dict of str to Importance or Attribution
            The names of a dict stand over the panels. An Attribution counts by the mean absolute
            values of its rows, added over the outputs.
        top : int
            Most features that are drawn.
        panels : bool
            False draws all on one axis: values as they are, if all are of one method and unit, and
            otherwise shares of the sum of the absolute values of all features of an importance.

        Returns
        -------
        array of matplotlib Axes (n_importances,), or the one Axes
        """
        return plots.side_by_side(importances, top, panels)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Convert all fields but `source` to arrays for `numpy.savez`; None is left out."""
        refits = () if self.refits is None else ("refits",)
        return self._arrays("values", "standard_error", "feature_names", *refits)


def from_arrays(arrays) -> Attribution | Importance:
    """Restore an attribution or importance, whichever the arrays hold.

    Examples
    --------
    >>> from splitcredit.results.attribution import Importance, from_arrays
    >>> from_arrays(Importance([1.0, 2.0], ["dose", "age"], "mdi").to_arrays())
    Importance('mdi', 2 features)
    """
    of_features = "values" in arrays and arrays["values"].ndim == 1
    kind = Importance if of_features else Attribution
    return kind.from_arrays(arrays)


def frame_of(values, names, output_names, index):
    """Convert values (n_samples, n_names, n_outputs) to a DataFrame: sample, output, names."""
    import pandas as pd

    n, p, k = values.shape
    frame = pd.DataFrame(values.transpose(0, 2, 1).reshape(n * k, p), columns=list(names))
    frame.insert(0, "sample", np.repeat(np.arange(n), k), allow_duplicates=True)
    frame.insert(1, "output", np.tile(np.array(output_names), n), allow_duplicates=True)
    return indexed(frame, index, k, own=2)


def largest(what, mean, name_of, output_names):
    """Tabulate the largest mean absolute values (n_names, n_outputs) with their names."""
    import pandas as pd

    order = np.argsort(-mean.sum(axis=1), kind="stable")[:SHOWN]
    one = len(output_names) == 1
    columns = ["mean |value|"] if one else [f"mean |value|, {n}" for n in output_names]
    frame = pd.DataFrame(mean[order], columns=columns)
    frame.insert(0, what, [name_of(i) for i in order])
    return frame


def _array(given, name, dtype=np.float64):
    """Return a field as an array; unchanged if it has the type."""
    return given if getattr(given, "dtype", None) == dtype else numbers(given, name).astype(dtype)


def _check_shape(result, name, *expected):
    """Refuse a field with another shape; None has none."""
    given = getattr(result, name)
    if given is not None and np.shape(given) not in expected:
        shapes = " or ".join(map(str, expected))
        raise ValueError(f"{name} has shape {np.shape(given)}, expected {shapes}")


def _check_origin(result):
    """Refuse a method that is not a name, and parameters that are not a dict of them."""
    for name, kind in (("method", str), ("parameters", dict)):
        if not isinstance(getattr(result, name), kind):
            raise ValueError(f"{name} is {getattr(result, name)!r}, expected a {kind.__name__}")


def _plain(kind, arrays):
    """Turn stored arrays back into the arguments that they came from."""
    fields = dict(arrays)
    labels = fields.pop("data_labels", None)
    check_fields(kind, fields)
    for name in {"method", "unit"} & set(fields):
        fields[name] = fields[name].item()
    if "parameters" in fields:
        fields["parameters"] = parameters_of(fields["parameters"].item())
    for name in {"feature_names", "output_names"} & set(fields):
        fields[name] = tuple(fields[name].tolist())
    if labels is not None:
        fields["data"] = rows_of_arrays(fields["data"], labels, fields["feature_names"])
    return fields
