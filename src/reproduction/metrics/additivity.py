"""Whether the attributions of a row add up to its prediction."""

import numpy as np
import pandas as pd

from reproduction.metrics import _yardsticks
from splitcredit.results.attribution import Importance

KEYS = ("importance",)
VALUES = ("value",)
IMPORTANCES = 1

GLOBAL = "one number a feature: there is no row whose prediction it could add up to"


def compute(attributions, forest, data) -> pd.DataFrame:
    """Mean distance of baseline and attributions from the prediction.

    Parameters
    ----------
    attributions : dict of str to Attribution, with one output, or Importance
    forest : Forest
    data : Dataset
        The rows that are explained.

    Returns
    -------
    DataFrame
        One row a measure, in standard deviations of the predictions. For a measure that is not of
        the prediction the value is NaN, and ``why_empty`` says why.
    """
    predicted = forest.predict(data.X)
    errors, reasons = {}, []
    for name, computed in attributions.items():
        reasons.append(_why_empty(computed, forest))
        errors[name] = np.nan if reasons[-1] else _error(computed, predicted, forest)
    return _yardsticks.table(errors, why_empty=reasons)


def _why_empty(computed, forest):
    if isinstance(computed, Importance):
        return GLOBAL
    if computed.output_names[0] in ("predicted", *forest.output_names):
        return ""
    return f"it is about {computed.output_names[0]}, not about the prediction"


def _error(computed, predicted, forest):
    index = computed.output_index
    if index is not None and forest.other_class is not None:
        # The only output is the score of the second class, and the first has its opposite.
        of_rows = predicted[:, 0] * np.where(index == 0, -1.0, 1.0)
    else:
        of_rows = predicted[np.arange(len(computed.values)), 0 if index is None else index]
    return float(np.abs(computed.totals()[:, 0] - of_rows).mean() / (of_rows.std() or 1.0))
