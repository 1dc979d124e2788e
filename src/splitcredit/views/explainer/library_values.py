"""Give a `TreeExplainer` the values that the model's own library computes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from splitcredit.models.formats.containers import offsets
from splitcredit.views.explainer.model import refuse_wrapped
from splitcredit.views.explainer.rows import as_rows, refuse_offset


class LibraryValues:
    """Values by the library of an opened model in the shapes of shap."""

    def __init__(self, opened):
        refuse_wrapped(opened.model)
        self.model, self._library = opened.inner, opened.format
        self._own = self._library.own_shap_values(self.model)
        self.feature_names = list(self._own.feature_names)

    def refuse(self, tree_limit=None, approximate=False, X=None):
        """Refuse what the library does not compute, and rows with offsets."""
        if approximate or tree_limit not in (None, -1):
            raise ValueError(
                f"{self._library.title} computes the values of this model from all its trees: "
                "leave approximate and tree_limit out"
            )
        refuse_offset(X, self._own.outputs)

    def explained(self, X, interactions=False):
        """Return attributions or interactions, `expected_value`, base values and rows."""
        is_single = False
        if type(X).__name__ not in self._library.containers:
            forest = SimpleNamespace(absent=0.0, feature_names=self._own.feature_names)
            X, is_single = as_rows(X, forest)
        container, table, n_samples = self._own.container(X)
        values, mean = (self._own.interactions if interactions else self._own.values)(container)
        values, offset = values[:n_samples], offsets(container, self._own.outputs)
        base = np.tile(mean, (len(values), 1)) + (0 if offset is None else offset)
        data = None if table is None else np.asarray(table)
        if len(mean) == 1:
            values, mean, base = values[..., 0], float(mean[0]), base[:, 0]
        if is_single:
            values, base, data = values[0], base if interactions else base[0], data[0]
        return values, mean, base, data
