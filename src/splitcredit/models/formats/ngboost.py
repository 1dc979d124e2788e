"""Convert NGBoost's models: a sum of scikit-learn's trees for each distribution parameter."""

from __future__ import annotations

import numpy as np

from splitcredit.models.forest import Forest
from splitcredit.models.formats import _nodes
from splitcredit.models.formats.sklearn import Sklearn
from splitcredit.models.formats.units import Units


class NGBoost(Sklearn):
    """Format of models over scikit-learn's decision trees."""

    title = "NGBoost"
    packages = ("ngboost",)
    trusted = ()

    def forest(self, model):
        from sklearn.tree import BaseDecisionTree

        from splitcredit.models.formats._sklearn_means import KIND, stacked
        from splitcredit.models.formats._sklearn_sums import of_leaves

        rounds = getattr(model, "base_models", [])
        if not rounds:
            raise _nodes.not_fitted(model)
        estimators = [one for of_round in rounds for one in of_round]
        if not all(isinstance(one, BaseDecisionTree) for one in estimators):
            raise _nodes.UnsupportedModelError(
                f"this {type(model).__name__} boosts other models than decision trees: boost these"
            )
        base = np.array(model.init_params, float)
        scales = np.repeat(-model.learning_rate * np.array(model.scalings), len(base))
        trees = [one.tree_ for one in estimators]
        values = [scale * tree.value[:, 0] for scale, tree in zip(scales, trees, strict=True)]
        column = np.tile(np.arange(len(base)), len(rounds))[:, None]
        features = [np.asarray(own) for own in model.col_idxs for _ in base]
        arrays = stacked(trees, values, False, len(base), features, list(column))
        labels = {
            "feature_names": tuple(f"x{j}" for j in range(model.n_features)),
            "output_names": _nodes.target_names(len(base)),
            "several_targets": True,
        }
        return Forest(**{**of_leaves(model, arrays, labels, "sum"), **KIND, "base": base})

    def units(self, model):
        """Return no units for the base class of its models, which may be fitted, too."""
        return super().units(model) if "sklearn" in self.packages_of(model) else Units()

    def own_prediction(self, model, forest, X):
        return model.pred_param(np.asarray(X))

    def is_slow(self, model):
        """Return True: it calls every tree from Python."""
        return True

    def predicts_otherwise(self, model):
        return "the mean of a distribution whose parameters its trees give"
