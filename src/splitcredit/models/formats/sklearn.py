"""Recognize and describe models of scikit-learn, and of packages that use its estimators."""

from __future__ import annotations

from functools import partial

from splitcredit.models.formats.base import Format
from splitcredit.models.formats.units import BINARY, CLASS_FRACTIONS, SOFTMAX, SQUARED, VALUE, Units

# Criteria or losses of regressors that are the squared error.
_SQUARED_ERRORS = ("squared_error", "friedman_mse")
# Losses of boosted regressors that predict the raw value itself.
_IDENTITY = (*_SQUARED_ERRORS, "absolute_error", "huber", "quantile")
# Classes that call every tree from Python.
_SLOW = ("AdaBoostClassifier", "IsolationForest")


class Sklearn(Format):
    """Format of every model that is a plain mean or sum of trees."""

    title = "scikit-learn"
    packages: tuple[str, ...] = ("sklearn", "imblearn", "pyod", "quantile_forest", "sksurv")
    has_units = True
    predicts = True
    mean_is_prediction = True
    keeps_axis = True
    trusted: tuple[str, ...] = (
        "sklearn.compose._column_transformer.make_column_selector",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.tree._tree.Tree",
        "sklearn.utils._bunch.Bunch",
        "sklearn.utils.validation.check_array",
    )

    def forest(self, model):
        from splitcredit.models.formats import _sklearn_models

        return _sklearn_models.convert(model)

    def units(self, model):
        from sklearn.base import is_classifier
        from sklearn.ensemble import AdaBoostClassifier, IsolationForest

        loss = getattr(model, "loss", None)
        if isinstance(model, IsolationForest):
            return VALUE
        if isinstance(model, AdaBoostClassifier):
            return Units()
        if is_classifier(model):
            if loss is None:
                return CLASS_FRACTIONS
            if loss != "log_loss":
                return Units()
            return BINARY if len(model.classes_) == 2 else SOFTMAX
        if loss is not None and loss not in _IDENTITY:
            return Units()
        measure = loss if loss is not None else getattr(model, "criterion", None)
        return SQUARED if measure in _SQUARED_ERRORS else VALUE

    def has_link(self, model):
        return getattr(model, "loss", None) not in (None, *_IDENTITY)

    def objective_of_no_mean(self, model):
        if "sksurv" in self.packages_of(model):
            return "a risk"
        return "quantile" if getattr(model, "loss", None) == "quantile" else None

    def predicts_otherwise(self, model):
        if type(model).__module__.startswith("quantile_forest."):
            return "quantiles, which are not the mean of its trees"
        return super().predicts_otherwise(model)

    def from_zero(self, model):
        """Return it for gradient boosting that starts from a model's predictions (init)."""
        if not type(model).__name__.startswith("GradientBoosting"):
            return None
        from splitcredit.models.formats import _sklearn_sums

        if not _sklearn_sums.starts_from_model(model) or hasattr(model.init_, "strategy"):
            return None
        return _sklearn_sums.from_zero(model), partial(_sklearn_sums.start_of, model)

    def own_prediction(self, model, forest, X):
        from splitcredit.models.formats import _sklearn_models

        return _sklearn_models.raw(model, forest, X)

    def is_slow(self, model):
        return any(base.__name__ in _SLOW for base in type(model).__mro__)
