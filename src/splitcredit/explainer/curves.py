"""Which curve leads from the raw prediction of a model to a ``model_output`` of shap."""

from __future__ import annotations

from typing import NamedTuple

from splitcredit.convert.units import Units, refusal


class Curve(NamedTuple):
    """What of the raw prediction is explained.

    Parameters
    ----------
    name : str
        A ``model_output`` of `splitcredit.importances.tree_shap_interventional`.
    doubled : bool
        Whether the output of a binary model is shown as two, one for each class.
    """

    name: str
    doubled: bool = False


def curve(model_output, units: Units, name: str) -> Curve:
    """The curve that leads from the raw prediction to a ``model_output`` of shap.

    ValueError if there is no such output, or the model has not the units for it.

    Parameters
    ----------
    model_output : {"raw", "probability", "predict_proba", "log_loss", "predict"}
    units : Units
    name : str
        What the model is called in the message.
    """
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
    kind = "objective" if model_output == "log_loss" else "tree_output"
    unit = getattr(units, kind) or ""
    if (model_output, unit) not in curves:
        needed = " or ".join(u for output, u in curves if output == model_output)
        raise refusal(model_output, kind, needed, units, name)
    return curves[model_output, unit]
