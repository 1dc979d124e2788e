"""`TreeExplainer` of CatBoost models that no Forest can hold; see `splitcredit._handed_over`."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np

from splitcredit import _handed_over
from splitcredit._containers import name_of_offset, offsets
from splitcredit._plots import imported_shap
from splitcredit.convert._unwrap import thawed
from splitcredit.explainer.model import refuse_wrapped
from splitcredit.explainer.rows import as_rows
from splitcredit.explainer.tree_explainer import TreeExplainer


class CatBoostExplainer(TreeExplainer):
    """Gives the SHAP values that CatBoost computes; see `TreeExplainer` for the arguments."""

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
        if data is not None or model_output != "raw":
            raise ValueError(
                f"CatBoost computes the SHAP values of this {type(model).__name__}, of "
                "the raw prediction and without data: leave data and model_output out"
            )
        refuse_wrapped(thawed(model))
        self.model, self.original_model = thawed(model), model
        self.model_output, self.feature_perturbation = "raw", "tree_path_dependent"
        self.data = self.data_missing = None
        self.feature_names = feature_names
        self.expected_value = None  # as in shap until the first call

    def shap_values(
        self,
        X,
        y=None,
        tree_limit=None,
        approximate=False,
        check_additivity=True,
        from_call=False,
    ):
        """SHAP values as CatBoost computes them, by row; see `TreeExplainer.shap_values`."""
        if approximate or tree_limit not in (None, -1):
            raise ValueError(
                "CatBoost computes the values of this model from all its trees: leave approximate "
                "and tree_limit out"
            )
        pool, _, n_samples, is_single = self._pool(X)
        if offsets(pool, self._outputs) is not None and not from_call:
            raise ValueError(
                f"{name_of_offset(pool)} adds to each row what expected_value cannot hold: call "
                "explainer(X), whose base_values do, or explain rows without it"
            )
        values, mean, _ = _handed_over.computed(self.model, pool)
        self.expected_value = float(mean[0]) if len(mean) == 1 else mean
        values = values[:n_samples, ..., 0] if len(mean) == 1 else values[:n_samples]
        return values[0] if is_single else values

    def shap_interaction_values(self, X, y=None, tree_limit=None):
        """Interaction values as CatBoost computes them, by row and pair of features."""
        pool, _, n_samples, is_single = self._pool(X)
        pairs = _handed_over.asked(self.model, pool, "ShapInteractionValues")
        if pairs.ndim == 3:
            self.expected_value = float(pairs[0, -1, -1])
            values = pairs[:n_samples, :-1, :-1]
        else:
            self.expected_value = pairs[0, :, -1, -1]
            values = pairs[:n_samples, :, :-1, :-1].transpose(0, 2, 3, 1)
        return values[0] if is_single else values

    def __call__(self, X, y=None, interactions=False, check_additivity=True, approximate=False):
        """A ``shap.Explanation`` of them; see `TreeExplainer.__call__`."""
        shap, start = imported_shap(), time.time()
        pool, table, n_samples, is_single = self._pool(X)
        if interactions:
            values = self.shap_interaction_values(pool)[:n_samples]
        else:
            values = self.shap_values(pool, approximate=approximate, from_call=True)[:n_samples]
        base = np.tile(self.expected_value, (len(values), 1))
        own = offsets(pool, self._outputs)
        base = base if own is None else base + own
        base = base[:, 0] if base.shape[1] == 1 else base
        data = None if table is None else np.asarray(table)
        if is_single:
            values, base, data = values[0], base if interactions else base[0], data[0]
        return shap.Explanation(
            values,
            base_values=base,
            data=data,
            feature_names=self.feature_names or list(self.model.feature_names_),
            compute_time=time.time() - start,
        )

    def _pool(self, X):
        """The rows as a Pool, as a table, their number, and whether they were a single one."""
        is_single, names = False, tuple(self.model.feature_names_)
        if type(X).__name__ != "Pool":
            X, is_single = as_rows(X, SimpleNamespace(absent=0.0, feature_names=names))
        pool, table, n_samples = _handed_over.as_pool(self.model, X)
        n_outputs = np.atleast_1d(self.model.get_scale_and_bias()[1]).size
        self._outputs = _handed_over.outputs_of(self.model, n_outputs)
        return pool, table, n_samples, is_single
