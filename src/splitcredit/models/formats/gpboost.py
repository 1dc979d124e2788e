"""Convert GPBoost's models: LightGBM's trees, beside which there may be random effects."""

from __future__ import annotations

import json

from splitcredit.models.formats import _nodes
from splitcredit.models.formats.base import Format
from splitcredit.models.formats.lightgbm import LightGBM, from_pieces


class GPBoost(Format):
    """Format of Boosters; `LightGBM` reads the files."""

    title = "GPBoost"
    packages = ("gpboost",)

    def forest(self, model):
        """Convert the fixed effects."""
        name = type(model).__name__
        if not hasattr(model, "model_to_string"):
            raise _nodes.no_booster(model, name)
        text = model.model_to_string()
        if text.startswith("{"):
            text = LightGBM().of_document(json.loads(text))
        return from_pieces([text], name)
