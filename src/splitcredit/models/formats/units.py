"""State what the raw prediction of a fitted model means.

The words are those of shap: the output of the trees is a ``"raw_value"``, ``"log_odds"`` or a
``"probability"``, and the objective ``"squared_error"`` or ``"binary_crossentropy"``. Shap has none
for several classes, whose probabilities are the softmax of ``"class_scores"``, fitted by the
``"cross_entropy"``. None stands for anything else, which can be explained as ``"raw"`` only.
"""

from __future__ import annotations

from typing import NamedTuple


class Units(NamedTuple):
    """Units of a model's raw prediction; see the module."""

    tree_output: str | None = None
    objective: str | None = None


# Impurities of trees that were grown on classes.
CLASS_CRITERIA = ("gini", "entropy", "log_loss")

CLASS_FRACTIONS = Units("probability", None)
BINARY = Units("log_odds", "binary_crossentropy")
SOFTMAX = Units("class_scores", "cross_entropy")
SQUARED = Units("raw_value", "squared_error")
VALUE = Units("raw_value", None)

_WORDS = {
    "log_odds": "log-odds",
    "class_scores": "raw score",
    "probability": "probability",
    "raw_value": "prediction in units of the target",
}


def in_words(units: Units, forest) -> str:
    """Say what the raw prediction of a model is, for an axis; a Forest says less."""
    if forest.output_names == ("path length",):
        return "path length"
    if units.tree_output is not None:
        return _WORDS[units.tree_output]
    if forest.aggregate == "sum":
        return "raw score"
    return _WORDS["probability"] if forest.criterion in CLASS_CRITERIA else "prediction"


def refusal(model_output, kind, needed, units, name) -> ValueError:
    """Return the error that `kind` of `units` is not the `needed` one to explain an output."""
    quantity = "objective" if kind == "objective" else "raw output"
    own_unit = getattr(units, kind) or "another one"
    return ValueError(
        f"model_output={model_output!r} needs a model whose {quantity} is {needed}, and for "
        f"this {name} it is {own_unit}: explain model_output='raw'"
    )
