"""Compare all measures of one model side by side, with intervals, and why others do not apply."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from splitcredit.api import explain, explain_chunks, importance
from splitcredit.measures import _methods
from splitcredit.measures._attributed import mean_of_rows
from splitcredit.measures._calls import checked, needs
from splitcredit.models.forest import part
from splitcredit.results import progress_bar
from splitcredit.results.attribution import Importance
from splitcredit.views.auditing import plots
from splitcredit.views.auditing.subject import EXPLAINED, Subject, Z, unfitted_copy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Groups of trees whose spread gives a standard error, and permutations of SAGE.
GROUPS, PERMUTATIONS = 10, 512
# Rows of a background, rows for SAGE and permutations, and rows that a copy is fitted on.
BACKGROUND, SCORED, FITTED = 50, 500, 2_000
# (row, tree) pairs of SHAP of training rows, (row, tree, feature) triples of MDA, and numbers of
# attributions that are kept.
SHAP_PAIRS, TRIPLES, KEPT = 200_000, 20_000_000, 50_000_000

# Measures of test rows, if there are any, and their parameters.
OF_SCORES = {"permutation": {"n_repeats": 5}, "sage": {"n_permutations": PERMUTATIONS}}


# What the standard error of a measure varies over; empty for its own, or none. One line a measure:
# a new one appears in every table and plot. `importance` takes the names.
MEASURES = {
    "mdi": "trees",
    "mdi_oob": "trees",
    "ufi": "trees",
    "pg_hat_10": "trees",
    "air": "",
    "mda": "",
    "permutation": "",
    "sage": "",
    "local_mdi": "rows",
    "saabas": "rows",
    "tree_shap": "rows",
    "tree_shap_interventional": "rows",
    "inbag_shap": "rows",
    "oob_shap": "rows",
    "oob_shap_centered": "trees",
    "split_count": "",
    "split_gain": "",
}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Importances of one model by every measure that applies.

    Parameters
    ----------
    importances : dict of str to Importance
        By measure. A standard error is NaN where none can be had.
    not_applicable : dict of str to str
        By measure: why it does not apply.
    feature_names : tuple of str
    notes : tuple of str
        What was cut down.
    """

    importances: dict[str, Importance]
    not_applicable: dict[str, str]
    feature_names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self):
        n, p = len(self.importances), len(self.feature_names)
        return f"Comparison({n} measures, {p} features, {len(self.not_applicable)} not applicable)"

    def to_frame(self) -> pd.DataFrame:
        """Convert to a DataFrame with a row for each measure and feature.

        Returns
        -------
        DataFrame
            ``measure, feature, value, standard_error, low, high, place, why_empty``; `low` and
            `high` are the ends of the 95 % interval, `place` is 1 for the largest value. A measure
            that does not apply has one row, with the reason in `why_empty`.
        """
        columns = "measure feature value standard_error low high place why_empty".split()
        rows: list[Any] = []
        for name, found in self.importances.items():
            values, error = found.values, np.asarray(found.standard_error)
            place = pd.Series(-values).rank(method="min").astype(int)
            parts = zip(self.feature_names, values, error, place, strict=True)
            rows += [(name, f, v, e, v - Z * e, v + Z * e, int(k), "") for f, v, e, k in parts]
        nan = [np.nan] * 5
        rows += [(name, "", *nan, why) for name, why in self.not_applicable.items()]
        return pd.DataFrame(rows, columns=columns)

    def agreement(self) -> pd.DataFrame:
        """Give the rank correlations of the rankings, by pairs of measures.

        Returns
        -------
        DataFrame
            Spearman's coefficient; NaN where a measure gives all features the same value.
        """
        values = {name: found.values for name, found in self.importances.items()}
        return pd.DataFrame(values).rank().corr(method="pearson")

    def plot(self, top: int = 15) -> Any:
        """Draw all measures side by side, each on the scale of its largest value.

        Needs matplotlib.

        Parameters
        ----------
        top : int
            Most features that are drawn: those with the best mean place.

        Returns
        -------
        matplotlib Figure
        """
        return plots.side_by_side(self, top)


@checked
def compare(
    model: object,
    X: ArrayLike,
    y: ArrayLike | None = None,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    *,
    features: Literal["columns", "transformed"] = "columns",
    sample_weight: ArrayLike | None = None,
    sample_weight_test: ArrayLike | None = None,
    progress: bool | None = None,
    random_state: int = 0,
) -> Comparison:
    """Compare the importances of a fitted model by every measure that applies.

    Parameters
    ----------
    model : fitted model, Forest or path
        See `splitcredit.explain`.
    X, y : array-like or DataFrame (n_samples, n_features), and (n_samples,)
        The training rows in their order, for measures by out-of-bag rows. Any other rows will do
        for the rest.
    X_test, y_test : as X and y, optional
        Rows that the model has not seen, for permutation and SAGE; without them X is taken.
    sample_weight, sample_weight_test : (n_samples,), optional
        Weights of the rows of X and of X_test, see `splitcredit.importance`. They count in means of
        attributions, with their standard errors, in permutation and in SAGE. Measures of the
        fitted model and of what its trees drew take no weights, and are as without them.
    features, progress
        See `splitcredit.explain`.
    random_state : int
        Seed of all draws of rows and permutations.

    Returns
    -------
    Comparison

    Raises
    ------
    TypeError, ValueError
        If the model cannot be converted, X or y does not fit it, or it has several targets.

    Notes
    -----
    Attributions are means of their absolute values over 500 rows. Standard errors are over these
    rows; over ten groups of trees, for measures that are means over trees; or the measure's own.
    Large models and tables are cut down to some trees or rows, and `Comparison.notes` says which.

    Examples
    --------
    >>> from xgboost import XGBClassifier
    >>> model = XGBClassifier(n_estimators=5).fit(X, y)
    >>> comparison = splitcredit.compare(model, X, y)
    >>> comparison.not_applicable["ufi"][:58]
    'this model does not say which rows each tree was grown on,'
    >>> comparison.agreement().loc["mdi", "saabas"].round(1)
    np.float64(1.0)
    """
    weights = sample_weight, sample_weight_test
    subject = Subject(model, X, y, X_test, y_test, random_state, features, weights)
    with progress_bar.bar(len(MEASURES), progress, "measures") as done:
        return compared(subject, done=done)


def compared(subject: Subject, names=tuple(MEASURES), done=lambda n: None) -> Comparison:
    """Do the work of `compare` for an opened subject, by the measures of these names."""
    importances, reasons = {}, {}
    for name in names:
        try:
            found = measured(subject, name)
            if np.isfinite(found.values).all():
                importances[name] = found
            else:
                reasons[name] = "it gives values that are not numbers"
        except (TypeError, ValueError, ModuleNotFoundError) as error:
            reasons[name] = str(error).partition("\n")[0]
        done(1)
    for method in _methods.methods() if len(names) == len(MEASURES) else ():
        if "importance" not in method.functions:
            takers = ", ".join(method.functions)
            reasons[method.name] = f"it ranks the features of single rows, for {takers}"
    return Comparison(importances, reasons, subject.measured_names, tuple(subject.notes))


def measured(subject: Subject, name: str) -> Importance:
    """Compute the importance by one measure, with its standard error or NaN."""
    method, over = _methods.look_up(name, "importance"), MEASURES[name]
    if "y" in method.needs and subject.y is None:
        raise TypeError(needs(f"method {method.name!r}", "y"))
    if "bootstrap" in method.needs:
        if subject.why_not_bagged:
            raise ValueError(subject.why_not_bagged)
        found = _of_training_rows(subject, name, method)
    elif over == "rows":
        found = _of_rows(subject, name, "background" in method.needs)
    elif name in OF_SCORES:
        found = _of_scores(subject, name)
    elif name == "air":
        found = _air(subject)
    elif over == "trees" and subject.is_averaged:
        found = _by_trees(subject, subject.forest, name, {})
    else:
        model = subject.inner if name == "split_gain" else subject.forest
        found = importance(subject.by_columns(model), method=name)
    error = np.where(found.standard_error > 0, found.standard_error, np.nan)
    return Importance(found.values, subject.measured_names, name, found.parameters, error)


def _of_rows(subject, name, needs_background):
    """Average the absolute attributions of some rows."""
    (rows, *_, weights), trees = subject.sample(EXPLAINED, 2), subject.some_trees()
    more = {"background": subject.background(BACKGROUND)} if needs_background else {}
    of_method, trees = _methods.call(name, "explain", **more), subject.by_columns(trees)
    pieces = explain_chunks(trees, rows, of_method, progress=False)
    sums = np.concatenate([np.abs(piece.values).sum(axis=2) for piece in pieces])
    return _made(subject, name, *mean_of_rows(sums, weights))


def _made(subject, name, values, error):
    """Make an importance with the parameters that the name stands for."""
    return Importance(values, subject.measured_names, name, {**_methods.resolve(name)[1]}, error)


def _of_training_rows(subject, name, method):
    n, p = subject.table.shape[0], subject.forest.n_features
    data = {"X": subject.table, "y": subject.y}
    if name == "mda":
        trees = subject.training_trees(TRIPLES // p, 4)
        more = {"random_state": subject.seed, "progress": False}
        return importance(subject.by_columns(trees), method="mda", **data, **more)
    if method.name != "oob_attributions":
        return _by_trees(subject, subject.training_trees(), name, data)
    size = n * p * subject.forest.n_outputs
    if size > KEPT:
        raise ValueError(
            f"the attributions of all {n} training rows are {size} numbers, more than an audit "
            "holds: call splitcredit.importance"
        )
    trees = subject.training_trees(SHAP_PAIRS, 4)
    if MEASURES[name] == "trees":
        return _by_trees(subject, trees, name, data | {"sample_weight": subject.weights})
    trees = subject.by_columns(trees)
    values = explain(trees, subject.table, name, progress=False).values
    return _made(subject, name, *mean_of_rows(np.abs(values).sum(axis=2), subject.weights))


def _by_trees(subject, forest, name, data):
    """Average over trees, with the standard error over groups of them."""
    n_groups = min(GROUPS, forest.n_trees) if forest.n_trees > 3 else 1
    ends = np.linspace(0, forest.n_trees, n_groups + 1).astype(int)
    groups = [subject.by_columns(part(forest, a, b)) for a, b in pairwise(ends)]
    values = np.array([importance(group, method=name, **data).values for group in groups])
    mean = np.average(values, axis=0, weights=np.diff(ends))
    error = values.std(axis=0, ddof=1) / np.sqrt(n_groups) if n_groups > 1 else None
    return _made(subject, name, mean, error)


def _of_scores(subject, name):
    """Measure the loss of the score, on rows that the model has not seen, if there are any."""
    if not subject.has_test:
        subject.note(
            "Permutation and SAGE use rows that the model may have been fitted on: pass X_test "
            "and y_test."
        )
    table, y, _, weights = subject.sample(SCORED, 4, of_test=True)
    # A Booster that averages trees knows what their mean means, and its Forest does not.
    is_own = subject.inner is subject.forest or subject.format.mean_is_prediction
    model = subject.some_trees() if subject.is_averaged and is_own else subject.inner
    more = {"random_state": subject.seed, **OF_SCORES[name]}
    if name == "sage":
        more |= {"background": subject.background(BACKGROUND), "progress": False}
    rows = subject.forest.in_order(table)
    of_method = _methods.call(name, "importance", **more)
    return importance(subject.by_columns(model), rows, y, of_method, sample_weight=weights)


def _air(subject):
    inner = subject.inner
    if not hasattr(inner, "get_params"):
        return importance(inner, subject.table, subject.y, "air")  # says why
    table, y, *_ = subject.sample(FITTED, 5)
    if len(y) < len(subject.y):
        subject.note(f"AIR and copies of the model are fitted on {len(y)} rows.")
    _, y = np.unique(y, return_inverse=True) if subject.classes else (None, y)
    copy, numbers = unfitted_copy(inner, subject.seed), subject.numbers(table)
    return importance(subject.by_columns(copy), numbers, y, "air", random_state=subject.seed)
