"""What a `TreeExplainer` gives for a model whose library computes the values itself."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from splitcredit.models.formats import format_of
from splitcredit.models.formats._unwrap import unfrozen
from splitcredit.models.formats.containers import offsets
from splitcredit.views.explainer.model import refuse_wrapped
from splitcredit.views.explainer.rows import as_rows, refuse_offset


class LibraryValues:
    """Values by the library of a model in the shapes of shap, each with `expected_value`."""

    def __init__(self, model):
        refuse_wrapped(unfrozen(model))
        self.model = unfrozen(model)
        self._library = format_of(self.model)
        self._own = self._library.own_shap_values(self.model)

    def shap_values(self, X, tree_limit, approximate):
        """Attributions; see `TreeExplainer.shap_values`."""
        self._refuse(tree_limit, approximate)
        container, _, n_samples, is_single = self._rows(X)
        refuse_offset(container, self._own.outputs)
        values, mean = self._shown(*self._own.values(container))
        return (values[0] if is_single else values[:n_samples]), mean

    def interaction_values(self, X):
        """Interaction values; see `TreeExplainer.shap_interaction_values`."""
        container, _, n_samples, is_single = self._rows(X)
        values, mean = self._shown(*self._own.interactions(container))
        return (values[0] if is_single else values[:n_samples]), mean

    def explained(self, X, interactions, approximate):
        """Values, base values, rows and names of features of a ``shap.Explanation``."""
        container, table, n_samples, is_single = self._rows(X)
        self._refuse(None, approximate and not interactions)
        computed = self._own.interactions if interactions else self._own.values
        values, mean = self._shown(*computed(container))
        values, offset = values[:n_samples], offsets(container, self._own.outputs)
        base = np.tile(mean, (len(values), 1)) + (0 if offset is None else offset)
        base = base[:, 0] if base.shape[1] == 1 else base
        data = None if table is None else np.asarray(table)
        if is_single:
            values, base, data = values[0], base if interactions else base[0], data[0]
        return values, base, data, list(self._own.feature_names), mean

    def _refuse(self, tree_limit, approximate):
        if approximate or tree_limit not in (None, -1):
            raise ValueError(
                f"{self._library.title} computes the values of this model from all its trees: "
                "leave approximate and tree_limit out"
            )

    def _rows(self, X):
        """The rows as a container, as a table, their number, and whether they were a single one."""
        is_single = False
        if type(X).__name__ not in self._library.containers:
            forest = SimpleNamespace(absent=0.0, feature_names=self._own.feature_names)
            X, is_single = as_rows(X, forest)
        return *self._own.container(X), is_single

    @staticmethod
    def _shown(values, mean):
        """Values without the axis of outputs if there is one, and the mean as a number then."""
        return (values[..., 0], float(mean[0])) if len(mean) == 1 else (values, mean)
