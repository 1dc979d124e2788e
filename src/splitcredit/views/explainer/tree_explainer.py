"""Define `TreeExplainer`: shap's class of this name on the kernels of this library."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace

import numpy as np

from splitcredit.api.interactions import interactions
from splitcredit.kernels import leaf_means
from splitcredit.kernels.tree_shap.explain import expected_value
from splitcredit.kernels.tree_shap.explain import tree_shap as values_by_covers
from splitcredit.measures import _library_values, saabas, tree_shap, tree_shap_interventional
from splitcredit.models.formats import format_of
from splitcredit.models.formats.containers import name_of_offset, offsets
from splitcredit.models.formats.units import Units
from splitcredit.models.opened import Opened
from splitcredit.models.prediction import prepared_background
from splitcredit.models.rescaling import transformed
from splitcredit.results.plots.results import imported_shap
from splitcredit.rows.tables import check_choice
from splitcredit.views.explainer.library_values import LibraryValues
from splitcredit.views.explainer.model import ExplainedModel, curve
from splitcredit.views.explainer.rows import (
    as_rows,
    background_rows,
    names_of,
    refuse_offset,
    with_covers_of,
)

_PERTURBATIONS = ("auto", "interventional", "tree_path_dependent")
# Rows of a background above which shap warns.
_MANY = 1000
_LOSSES = ("log_loss", "squared_error")


class TreeExplainer:
    """Explain tree ensembles as ``shap.TreeExplainer`` of shap 0.51 does, with exact values.

    Code that uses shap's class runs with this one: arguments, methods, attributes, shapes of
    values and of `expected_value` are the same. ``docs/shap_users.md`` lists what differs. Only
    calls, which return a ``shap.Explanation``, need shap.

    Parameters
    ----------
    model : fitted model
        Anything that `splitcredit.to_forest` accepts.
    data : array-like or DataFrame (n_background, n_features), or shap.maskers.Independent, optional
        The background, from which unknown features are taken. Of more than 100 rows 100 are drawn,
        the same as by shap; for more pass ``shap.maskers.Independent(data, max_samples=...)``.
    model_output : {"raw", "probability", "predict_proba", "predict", "log_loss"}
        What is explained: the raw prediction of the trees; the probability of the second class,
        or those of both; the prediction of a regressor; or the loss of a row, which is the log loss
        in nats for two classes and the squared error for a regressor. All except the raw prediction
        need a background, unless they are the raw prediction of this model.
    feature_perturbation : {"auto", "interventional", "tree_path_dependent"}
        Whether unknown features are drawn from the background, or follow the covers of the trees.
        ``"auto"`` is interventional if there is a background. With a background and
        ``"tree_path_dependent"`` the covers are the counts of its rows.
    feature_names : list of str, optional
        For rows without names.
    approximate, link, linearize_link
        Without effect, as in shap.

    Attributes
    ----------
    expected_value : float, float64 (1,), float64 (n_outputs,), or function of a target
        The mean of what is explained, over the background or by covers. As in shap it is an array
        of one number for models of scikit-learn explained by covers, and a function of the target
        for the log loss.
    model : ExplainedModel
    data : array (n_background, n_features), or None
        The background.
    feature_perturbation, model_output : str
    data_feature_names : list of str
        Names from `feature_names` or the background; not there if neither has any.

    Raises
    ------
    TypeError, ValueError
        If the model is not supported, see `splitcredit.to_forest`; the background does not fit it;
        or the model output is unknown or needs another model or a background.

    Examples
    --------
    >>> from splitcredit import TreeExplainer
    >>> explainer = TreeExplainer(model)
    >>> explainer.shap_values(X).shape
    (150, 4, 3)
    >>> explainer.expected_value.round(2)
    array([0.33, 0.33, 0.34])
    """

    def __init__(
        self,
        model,
        data=None,
        model_output="raw",
        feature_perturbation="auto",
        feature_names=None,
        approximate=None,
        link=None,
        linearize_link=None,
    ):
        self._by_library, opened = None, Opened(model)
        if _library_values.is_needed(opened):
            self._use_library(opened, data, model_output, feature_names)
            return
        self.model = ExplainedModel(model)
        rows = background_rows(data)
        if rows is not None:
            rows = self.model.forest.in_order(rows)
        names = names_of(rows) if feature_names is None else feature_names
        if names is not None:
            self.data_feature_names = list(names)
        self.feature_names = feature_names
        self.model_output = model_output
        self.feature_perturbation = _perturbation(feature_perturbation, rows is not None)
        if not isinstance(model_output, str):
            raise ValueError(f"model_output={model_output!r}: expected the name of an output")
        units = Units() if model_output == "raw" else self.model.units
        self._curve = curve(model_output, units, format_of(model).called(model))
        if self._curve.name != "raw" and self.feature_perturbation != "interventional":
            raise ValueError(
                f"model_output={model_output!r} is explained against a background only: pass data "
                "and leave feature_perturbation='auto'"
            )
        if self._curve.name != "raw" and self.model.num_outputs > 1:
            raise ValueError(
                f"model_output={model_output!r} is of one output, and this "
                f"{type(model).__name__} has {self.model.num_outputs}: explain model_output='raw'"
            )
        if self.feature_perturbation == "interventional" and len(rows) > _MANY:
            warnings.warn(
                f"the background has {len(rows)} rows, and the time grows with them: a hundred "
                "drawn ones often do",
                UserWarning,
                stacklevel=2,
            )
        # Rows as they are given: those that `Forest.prepare` gives may have more columns.
        self.data = self._background = None
        if rows is not None:
            prepared_background(self.model.forest, rows)
            self.data, self._background = np.asarray(rows), rows
        self._set_expected_value(self.model.forest)

    def _use_library(self, opened, data, model_output, feature_names):
        """Leave the values to the model's library; `expected_value` comes with a call."""
        if data is not None or model_output != "raw":
            raise ValueError(
                f"{opened.format.title} computes the SHAP values of this "
                f"{type(opened.model).__name__}, of the raw prediction and without data: leave "
                "data and model_output out"
            )
        self._by_library = LibraryValues(opened)
        self.model, self.expected_value = self._by_library.model, None
        self.model_output, self.feature_perturbation = "raw", "tree_path_dependent"
        self.data = self._background = None
        self.feature_names = feature_names

    def shap_values(
        self,
        X,
        y=None,
        tree_limit=None,
        approximate=False,
        check_additivity=True,
        from_call=False,
    ):
        """Attribute the explained output to features, by row.

        Parameters
        ----------
        X : array-like, DataFrame, Series, DMatrix or Pool (n_samples, n_features) or (n_features,)
        y : array-like (n_samples,), optional
            Targets, for ``model_output="log_loss"``; 0 or 1 for two classes.
        tree_limit : int, optional
            Explain the first trees of a boosted model only; all with None or -1.
        approximate : bool
            Whether to give Saabas' attributions, which follow the path of a row, in place of
            Shapley values. Without a background only.
        check_additivity : bool
            Whether to check that the attributions add up to the prediction of the converted trees,
            and, at the 1st, 2nd, 4th, 8th ... call, that these predict its first 100 rows as the
            model itself does.
        from_call : bool
            Without effect.

        Returns
        -------
        float64 (n_samples, n_features), or (n_samples, n_features, n_outputs) of several outputs
            Without the first axis, if X has none.

        Raises
        ------
        ValueError
            If X or y does not fit, the limit or approximation is not available, or attributions do
            not add up.
        """
        if self._by_library is not None:
            self._by_library.refuse(tree_limit, approximate, X)
            values, self.expected_value, *_ = self._by_library.explained(X)
            return values
        is_plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind == "f"
        if is_plain and not (check_additivity or approximate or self._background is not None):
            # A row of a small model takes a quarter of the time of the way with all checks.
            _, covered = self._limited(tree_limit)
            return self._shown(values_by_covers(covered, covered.prepare(X)))
        rows, is_single = as_rows(X, self.model.forest)
        refuse_offset(X, self.model.forest)
        attribution = self._attribution(rows, y, tree_limit, approximate, check_additivity)
        values = self._shown(attribution.values)
        return values[0] if is_single else values

    def shap_interaction_values(self, X, y=None, tree_limit=None):
        """Compute interaction values of pairs of features, by row, of the raw prediction.

        Parameters
        ----------
        X, tree_limit
            See `shap_values`.
        y : None
            Without effect, as in shap.

        Returns
        -------
        float64 (n_samples, n_features, n_features), with n_outputs behind it if there are several
            Each matrix is symmetric, its rows add up to the attributions, and the diagonal has the
            main effects. Without the first axis, if X has none.

        Raises
        ------
        ValueError
            As `shap_values`, and if another output than the raw one is explained.
        """
        if self._by_library is not None:
            values, self.expected_value, *_ = self._by_library.explained(X, interactions=True)
            return values
        rows, is_single = as_rows(X, self.model.forest)
        refuse_offset(X, self.model.forest)
        values = self._shown(self._interactions(rows, tree_limit).values)
        return values[0] if is_single else values

    def __call__(self, X, y=None, interactions=False, check_additivity=True, approximate=False):
        """Return attributions or interactions as a ``shap.Explanation``; needs shap."""
        shap, start = imported_shap(), time.time()
        if self._by_library is not None:
            self._by_library.refuse(approximate=approximate and not interactions)
            values, self.expected_value, base, data = self._by_library.explained(X, interactions)
            names = self.feature_names or self._by_library.feature_names
        else:
            values, base, data, names = self._explanation(
                X, y, interactions, check_additivity, approximate
            )
        seconds = time.time() - start
        return shap.Explanation(
            values, base_values=base, data=data, feature_names=names, compute_time=seconds
        )

    def _explanation(self, X, y, interactions, check_additivity, approximate):
        """Return values, base values, rows and names of features of a ``shap.Explanation``."""
        rows, is_single = as_rows(X, self.model.forest)
        rows = self.model.forest.in_order(rows)
        if interactions and approximate:
            raise ValueError("approximate=True gives no interactions: leave one of them out")
        if interactions:
            result = self._with_offset(self._interactions(rows, None), X)
        else:
            result = self._attribution(rows, y, None, approximate, check_additivity, X)
        base = np.broadcast_to(result.baseline, (len(rows), result.values.shape[-1])).copy()
        values, base, data = self._shown(result.values), self._shown_mean(base), np.asarray(rows)
        if is_single:
            # Of interactions shap keeps the axis of rows of the base values.
            values, base, data = values[0], base if interactions else base[0], data[0]
        return values, base, data, names_of(rows) or getattr(self, "data_feature_names", None)

    def assert_additivity(self, phi, model_output) -> None:
        """Check that attributions and `expected_value` add up to a prediction, within 1 %, as shap.

        Parameters
        ----------
        phi : float (n_samples, n_features), or with n_outputs behind it; or a list of these
        model_output : float (n_samples,), or (n_samples, n_outputs)

        Returns
        -------
        None
        """
        values = np.stack(phi, axis=-1) if isinstance(phi, list) else np.asarray(phi)
        totals = self.expected_value + values.sum(axis=1)
        if not np.allclose(totals, model_output, atol=1e-2, rtol=1e-2):
            raise ValueError(
                "additivity check: attributions and expected_value do not add up to the prediction"
            )

    def _with_offset(self, result, X):
        """Return the result with the offsets of the rows in its baseline."""
        own = offsets(X, self.model.forest)
        if own is not None and self._curve.name != "raw":
            raise ValueError(
                f"{name_of_offset(X)} shifts the raw score of rows: explain model_output='raw', "
                "or rows without it"
            )
        return result if own is None else replace(result, baseline=result.baseline + own)

    def _attribution(self, rows, y, tree_limit, approximate, check_additivity, X=None):
        forest, covered = self._limited(tree_limit)
        if approximate and self.data is not None:
            raise ValueError(
                "approximate=True follows the covers of the model: make the explainer without data"
            )
        if approximate:
            attribution = saabas.attribute(leaf_means.with_means(forest), rows)
        elif self.feature_perturbation == "interventional":
            attribution = tree_shap_interventional.attribute(
                forest, rows, self._background, model_output=self._curve.name, y=y
            )
        else:
            attribution = tree_shap.attribute(covered, rows)
        attribution = self._with_offset(attribution, X)
        if check_additivity:
            container = X if offsets(X, forest) is not None else None
            name = self._curve.name
            self.model.check_totals(forest, name, rows, y, attribution, container)
        return attribution

    def _interactions(self, rows, tree_limit):
        if self._curve.name != "raw":
            raise ValueError(
                f"interactions are of the raw prediction, not of {self.model_output!r}: make the "
                "explainer with model_output='raw'"
            )
        _, covered = self._limited(tree_limit)
        interventional = self.feature_perturbation == "interventional"
        return interactions(covered, rows, background=self._background if interventional else None)

    def _limited(self, tree_limit):
        """Return the forest that is explained now, once more with the covers that count.

        Other threads may set `expected_value` at the same time, so a call uses what it gets here.
        """
        forest, explained = self.model.limited(tree_limit), self._explained
        return explained if explained[0] is forest else self._set_expected_value(forest)

    def _set_expected_value(self, forest):
        """Set `expected_value` in the shapes of shap, see the class; returns as `_limited`."""
        covered = forest
        if self.data is not None and self.feature_perturbation != "interventional":
            covered = with_covers_of(forest, forest.prepare(self._background))
        self._explained = forest, covered
        if self._curve.name in _LOSSES:
            self.expected_value = self._expected_loss
            return forest, covered
        if self.feature_perturbation == "interventional":
            mean = self._on_background(forest).mean(axis=0)
        else:
            mean = expected_value(covered).copy()
        if self.data is None and self.model.format.keeps_axis and len(mean) == 1:
            self.expected_value = mean
        else:
            self.expected_value = self._shown_mean(mean)
        return forest, covered

    def _expected_loss(self, y):
        """Average the loss over the background for a row with target y."""
        return self._on_background(self._explained[0], y).mean()

    def _on_background(self, forest, y=None):
        """Compute the explained output for every background row, (n_background, n_outputs)."""
        raw = forest.predict(self._background)
        return raw if self._curve.name == "raw" else transformed(self._curve.name, raw, y)

    def _shown(self, values):
        """Return values without the axis of a single output, or with one of both classes."""
        if self._curve.doubled:
            return np.concatenate([-values, values], axis=-1)
        return values[..., 0] if values.shape[-1] == 1 else values

    def _shown_mean(self, mean):
        if self._curve.doubled:
            return np.concatenate([1 - mean, mean], axis=-1)
        if mean.shape == (1,):
            return float(mean[0])  # a number has no length, as plots of shap expect
        return mean[..., 0] if mean.shape[-1] == 1 else mean


def _perturbation(given, has_background):
    """Resolve ``"auto"``; without a background shap warns and uses the covers."""
    check_choice("feature_perturbation", given, _PERTURBATIONS)
    if given == "interventional" and not has_background:
        warnings.warn(
            "feature_perturbation='interventional' needs a background, and there is none: the "
            "covers of the trees are used, as by shap; pass data",
            FutureWarning,
            stacklevel=3,
        )
    if given == "tree_path_dependent" or not has_background:
        return "tree_path_dependent"
    return "interventional"
