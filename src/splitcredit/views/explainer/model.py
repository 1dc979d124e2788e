"""Describe the explained model with the attributes of shap's ``TreeEnsemble``.

Also its raw prediction by its own library, and the curve from that to a ``model_output`` of shap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.models import rescaling
from splitcredit.models.forest import Forest, part
from splitcredit.models.formats._nodes import UnsupportedModelError
from splitcredit.models.formats._unwrap import is_pipeline, is_search, unfrozen
from splitcredit.models.formats.containers import first_rows, offsets
from splitcredit.models.formats.own import (
    as_the_model_takes_them,
    check_replaced,
    compare,
    own_prediction,
    rounding,
)
from splitcredit.models.formats.units import SOFTMAX, Units, refusal
from splitcredit.models.opened import Opened

# Rows of a call on which the converted trees are compared with the model's own prediction.
COMPARED = 100


class ExplainedModel(Opened):
    """A fitted model, no pipeline or search, its `Forest`, and its raw prediction's meaning.

    After early stopping the trees are those of the model's own ``predict``.
    """

    def __init__(self, model):
        refuse_wrapped(model)
        super().__init__(model)
        self.original_model, self.num_outputs = model, self.forest.n_outputs
        self._checked_calls = 0

    @property
    def tree_output(self) -> str | None:
        """Meaning of the raw prediction: "raw_value", "log_odds", "probability" or None."""
        return None if self.units == SOFTMAX else self.units.tree_output

    @property
    def objective(self) -> str | None:
        """Objective of the training: "squared_error", "binary_crossentropy" or None."""
        return None if self.units == SOFTMAX else self.units.objective

    def next_call_is_compared(self) -> bool:
        """Count a call; return whether to compare its rows with `own_prediction`.

        The 1st, 2nd, 4th, 8th call and so on are compared: for a single row a library takes up to a
        hundred times longer to predict than we do to explain.
        """
        self._checked_calls += 1
        return self._checked_calls & (self._checked_calls - 1) == 0

    def predict(self, X) -> np.ndarray:
        """Predict raw values, float64 (n_samples,), or (n_samples, num_outputs) of several."""
        raw = self.forest.predict(X)
        return raw[:, 0] if self.num_outputs == 1 else raw

    def own_prediction(self, X) -> np.ndarray | None:
        """Predict by the model's library; see `splitcredit.models.formats.own`."""
        return own_prediction(self.inner, self.forest, X)

    def check_totals(self, forest, curve, rows, y, attribution, container=None) -> None:
        """Check the attributions of some rows, and at some calls the conversion of the model.

        `container` holds the rows if it has an offset for each of them.
        """
        raw, allowed = forest.predict(rows), rounding(forest)
        if container is not None:
            raw = raw + offsets(container, forest)
            allowed += 2.0**-23 * np.abs(raw).max(initial=0.0)
        if len(rows) and forest is self.forest and self.next_call_is_compared():
            given = as_the_model_takes_them(forest, rows[:COMPARED])
            check_replaced(self.original_model, given)
            given = given if container is None else first_rows(container, COMPARED)
            predicted = self.own_prediction(given)
            if predicted is not None:
                names = "the converted trees predict", "the model"
                compare(raw[:COMPARED], predicted[:COMPARED], allowed, *names)
        if curve != "raw":
            y = None if y is None else np.asarray(y, np.float64)
            raw, below, above = (
                rescaling.transformed(curve, raw[:, 0] + shift, y)[:, None]
                for shift in (0.0, -allowed, allowed)
            )
            allowed = allowed + np.maximum(abs(above - raw), abs(below - raw))
        compare(attribution.totals(), raw, allowed, "the attributions add up to", "the trees")

    def limited(self, tree_limit) -> Forest:
        """Return the forest of the first trees; of all for None, -1, or a large number."""
        forest = self.forest
        if tree_limit is None:
            return forest
        if isinstance(tree_limit, bool) or not isinstance(tree_limit, (int, np.integer)):
            raise ValueError(f"tree_limit={tree_limit!r}: expected a whole number, -1 or None")
        if tree_limit == -1 or tree_limit >= forest.n_trees:
            return forest
        if forest.aggregate == "mean":
            raise ValueError(
                f"tree_limit={tree_limit} is for boosted models, and this one averages its trees: "
                "explain a model with fewer trees"
            )
        n_trees = self.format.first_trees(self.inner, forest, int(tree_limit))
        if n_trees < 1:
            raise ValueError(f"tree_limit={tree_limit} leaves no tree: pass None or -1 for all")
        return part(forest, 0, n_trees)


def refuse_wrapped(model):
    """Refuse pipelines: plots and backgrounds need the rows that the trees see."""
    model = unfrozen(model)
    name = type(model).__name__
    if is_search(model):
        raise UnsupportedModelError(
            f"this {name} is a search and not a model: pass its best_estimator_"
        )
    if is_pipeline(model):
        raise UnsupportedModelError(
            f"this {name} transforms rows before its trees see them: pass its last step, "
            "model[-1], and rows that model[:-1].transform gives"
        )


class Curve(NamedTuple):
    """Transform of the raw prediction that is explained."""

    name: str  # a `model_output` of `tree_shap_interventional`
    doubled: bool = False  # whether one output is shown as two, one for each class


def curve(model_output, units: Units, name: str) -> Curve:
    """Return the transform from the raw prediction to a ``model_output`` of shap."""
    if model_output == "raw":
        return Curve("raw")
    curves = {
        ("probability", "log_odds"): Curve("probability"),
        ("probability", "probability"): Curve("raw"),
        ("predict_proba", "log_odds"): Curve("probability", doubled=True),
        ("predict_proba", "probability"): Curve("raw"),
        ("predict", "raw_value"): Curve("raw"),
        ("log_loss", "squared_error"): Curve("squared_error"),
        ("log_loss", "binary_crossentropy"): Curve("log_loss"),
    }
    available = dict.fromkeys(["raw", *(output for output, _ in curves)])
    if model_output not in available:
        raise ValueError(
            f"unknown model_output {model_output!r}: available are {', '.join(available)}"
        )
    if units == SOFTMAX and model_output in ("probability", "predict_proba", "log_loss"):
        output = "log_loss" if model_output == "log_loss" else "probability"
        raise ValueError(
            f"model_output={model_output!r} of several classes is unknown to shap: call "
            'splitcredit.explain(model, X, "tree_shap_interventional", background=data, '
            f"model_output={output!r})"
        )
    kind = "objective" if model_output == "log_loss" else "tree_output"
    unit = getattr(units, kind) or ""
    if (model_output, unit) not in curves:
        needed = " or ".join(u for output, u in curves if output == model_output)
        raise refusal(model_output, kind, needed, units, name)
    return curves[model_output, unit]
