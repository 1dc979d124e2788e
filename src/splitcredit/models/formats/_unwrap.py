"""Find the tree model inside of pipelines and searches, and the steps before it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

from splitcredit.models.forest import Forest
from splitcredit.models.formats import _columns, _nodes
from splitcredit.rows.tables import dense, with_text


@dataclass(frozen=True)
class Steps:
    """The steps before the trees, and a step that changed the training rows."""

    pipelines: tuple = ()
    absent: float = 0.0
    row_changing: str = ""

    def rows(self, X):
        """Return rows as the trees see them: transformed, and sparse ones dense."""
        # Not by a Pipeline, which asks its last step whether it is fitted: many do not know.
        steps = [step for pipeline in self.pipelines for _, step in pipeline.steps]
        for step in (step for step in steps if step not in (None, "passthrough")):
            try:
                X = step.transform(X)
            except Exception as error:  # of steps that others wrote
                is_plain = isinstance(error, (TypeError, ValueError))
                text = str(error) if is_plain else f"{type(error).__name__}: {error}"
                text = f"X does not go through the steps before the trees: {text}"
                if hasattr(X, "to_frame") and not hasattr(X, "columns"):
                    text += "; X is a Series: pass a single row as a table, such as X.iloc[[0]]"
                raise with_text(error, text) from error
        return dense(X, self.absent) if self.pipelines else X

    def training_rows(self, X):
        """Return training rows as the trees saw them; ValueError if a step changed them."""
        if self.row_changing:
            raise ValueError(
                f"the step {self.row_changing} changed the training rows, and the changed ones "
                "are not stored: fit the last step by itself, on the rows and targets that the "
                "steps before it give in training, such as model[:-1].fit_transform(X, y), "
                "and pass it and them"
            )
        return self.rows(X)

    def named(self, forest: Forest) -> Forest:
        """Return the forest with the transformed features' names, without prefixes of steps."""
        if not self.pipelines:
            return forest
        names = forest.feature_names if forest.names_given else self.names_out()
        if names is None or len(names) != forest.n_features:
            return forest
        short = self.shortened(names)
        full = None if short == names else names
        return replace(forest, feature_names=short, full_names=full, names_given=True)

    def shortened(self, names) -> tuple[str, ...]:
        """Remove prefixes of the steps from names of features, where they stay distinct."""
        return _columns.shortened(names, self.pipelines)

    def names_out(self):
        """Return the names that the last step gives; None if it has none."""
        names = None
        try:
            for pipeline in self.pipelines:
                names = pipeline.get_feature_names_out(names)
            return None if names is None else tuple(str(name) for name in names)
        except Exception:  # of steps that others wrote: names are not worth a failure
            return None


def inside(model) -> tuple[object, tuple, str]:
    """Return the result of `unwrap`, the pipelines before the model, and `Steps.row_changing`."""
    pipelines, row_changing = [], ""
    while True:
        model = unfrozen(model)
        if is_search(model):
            model = _best_of(model)
        elif is_pipeline(model):
            pipelines += _transforming(model)
            row_changing = row_changing or _row_changing_step(model)
            name, model = model.steps[-1]
            if model is None or isinstance(model, str):
                raise ValueError(f"the last step {name!r} of the pipeline is not a model of trees")
        else:
            return model, tuple(pipelines), row_changing


def unfrozen(model):
    """Return the model in a FrozenEstimator, which passes rows on unchanged, or the model."""
    # It shows the attributes of its model, so only its class distinguishes it from a search.
    while any(base.__name__ == "FrozenEstimator" for base in type(model).__mro__):
        model = model.estimator
    # A detector of pyod is the isolation forest that it holds, with a threshold.
    if type(model).__module__ == "pyod.models.iforest" and hasattr(model, "detector_"):
        return model.detector_
    return model


def is_pipeline(model):
    """Return whether a model is a pipeline of scikit-learn."""
    # Whoever holds a pipeline has imported it, so nothing is imported here.
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and isinstance(model, module.Pipeline)


def _transforming(pipeline):
    """Return a pipeline of the steps before the last, without samplers of training rows."""
    from sklearn.pipeline import Pipeline

    steps = [step for step in pipeline.steps[:-1] if not hasattr(step[1], "fit_resample")]
    return [Pipeline(steps)] if steps else []


def _row_changing_step(pipeline):
    """Return name and kind of a step that treats training rows in another way."""
    for name, step in pipeline.steps[:-1]:
        if hasattr(step, "fit_resample"):
            return f"{name!r} ({type(step).__name__})"
        try:
            within = step.get_params()
        except Exception:  # of a step that others wrote, such as one that has no such method
            within = {}
        frozen = tuple(f"{key}__" for key, part in within.items() if unfrozen(part) is not part)
        if unfrozen(step) is not step:
            continue
        parts = [part for key, part in within.items() if not key.startswith(frozen)]
        for part in (step, *parts):
            if _is_cross_fitted(part):
                return f"{name!r} ({type(part).__name__})"
    return ""


def _is_cross_fitted(transformer):
    """Return whether fit_transform of scikit-learn's encoder uses other rows' targets."""
    return any(
        base.__name__ == "TargetEncoder" and base.__module__.startswith("sklearn.")
        for base in type(transformer).__mro__
    )


def is_search(model):
    """Return whether a model is a search, which holds its best estimator."""
    if isinstance(model, type):
        return False
    named = any(base.__name__ == "BaseSearchCV" for base in type(model).__mro__)
    # Not by hasattr, which is true of every name for a CVBooster of LightGBM.
    return named or "best_estimator_" in getattr(model, "__dict__", {})


def _best_of(search):
    if hasattr(search, "best_estimator_"):
        return search.best_estimator_
    name = type(search).__name__
    if hasattr(search, "cv_results_"):
        raise ValueError(
            f"this {name} was fitted with refit=False and has no best estimator: fit it with "
            "refit=True, or pass a fitted model"
        )
    raise _nodes.not_fitted(search)
