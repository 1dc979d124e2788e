"""Figure 4: SAGE (mse) and mean absolute TreeSHAP of the predicted class on led against K."""

from __future__ import annotations

import pandas as pd

from reproduction.papers.sutera2021 import _led

_MEASURES = {
    "sage_mse": {"forest": "sage_mse_exact", "sampled": "sage_mse"},
    "tree_shap_interventional": {"forest": "tree_shap_interventional"},
    "tree_shap": {"forest": "tree_shap"},
}
_TITLES = {
    "sage_mse": "SAGE (mse)",
    "tree_shap_interventional": "mean |TreeSHAP|, interventional",
    "tree_shap": "mean |TreeSHAP|, path-dependent",
}


def compute(inputs) -> pd.DataFrame:
    """Shares of the segments; see `_led.compute`.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``sutera2021_k_led/global_scores``.
    """
    return _led.compute(inputs["sutera2021_k_led/global_scores"], _MEASURES)


def draw(table):
    """Three panels."""
    return _led.draw(table, _TITLES)


def statements(table) -> list[dict]:
    """s16 for the three measures."""
    return _led.masking(table)
