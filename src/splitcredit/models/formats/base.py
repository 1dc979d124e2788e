"""Define `Format`: the knowledge of one library's models, a subclass and a file for each.

A method that a subclass leaves out has the answer for a `Forest`, of which no more is known than
its arrays. `FORMATS` of the package lists the subclasses, and `format_of` finds the one of a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from splitcredit.models.forest import Forest
from splitcredit.models.formats import _nodes
from splitcredit.models.formats.units import Units

if TYPE_CHECKING:
    from collections.abc import Callable

_SCORE = "give a score that does to method='permutation' (scoring=)"


class Format:
    """Knowledge of one library's fitted models, without pipelines around them."""

    # What the library is called, and the top-level packages of the classes of its models.
    title = ""
    packages: tuple[str, ...] = ()
    # A key that only its JSON documents have, and how files begin that only itself can read.
    json_key, own_mark = "", b""
    # Whether a model states its units, and whether it is in memory and can predict.
    has_units = predicts = False
    # What it takes an entry for that a sparse matrix does not store.
    absent = 0.0
    # Whether the mean of the trees of an averaging model is its prediction, without a link.
    mean_is_prediction = False
    # Whether shap gives the expected value of one output as an array.
    keeps_axis = False
    # The parameter for the number of trees that an estimator does not show, and those that make
    # the training silent.
    tree_count = ""
    quiet: ClassVar[dict] = {}
    # Class of a container of rows -> its name for the offset of each row, or "".
    containers: ClassVar[dict] = {}
    # Types that may be read from files of skops.
    trusted: tuple[str, ...] = ()

    def recognizes(self, model) -> bool:
        """Return whether the class of a model, or one of its bases, is of the library."""
        return not self.packages_of(model).isdisjoint(self.packages)

    @staticmethod
    def packages_of(model) -> set[str]:
        """Return the top-level packages of the class of a model and its bases."""
        return {base.__module__.partition(".")[0] for base in type(model).__mro__}

    def decoded(self, raw: bytes, name: str):
        """Decode a file that is not JSON; None if it belongs to another library."""
        return None

    def of_document(self, document: dict):
        """Return the content of a JSON document that has `json_key`."""
        return document

    def loaded(self, path):
        """Load the model in a file that begins with `own_mark`."""
        raise NotImplementedError(f"{type(self).__name__} has an own_mark, and must define loaded")

    def forest_of_content(self, content, name: str) -> Forest:
        """Build the Forest of `decoded` or `of_document` content, or raise a ValueError."""
        raise NotImplementedError(
            f"{type(self).__name__} reads files, and must define forest_of_content"
        )

    def forest(self, model) -> Forest:
        """Convert a model to a Forest; see `splitcredit.to_forest` for errors."""
        if isinstance(model, Forest):
            return model
        raise _nodes.unknown_model(model)

    def called(self, model) -> str:
        """Return the name of a model in messages."""
        return type(model).__name__

    def units(self, model) -> Units:
        """Return the units of the raw prediction of a model."""
        return Units()

    def has_link(self, model) -> bool:
        """Return whether a model predicts a function of the sum of its trees."""
        return False

    def predicts_raw(self, model) -> bool:
        """Return whether a model predicts the raw sum even if its objective has a link."""
        return False

    def no_mean(self, model) -> str:
        """Say why a regressor does not predict a mean of y; empty if it does, or unknown."""
        objective = self.objective_of_no_mean(model)
        if objective is None:
            return ""
        what, remedy = repr(objective), _SCORE
        if not objective:
            what = "its user's own"
            remedy += ", or pass splitcredit.to_forest(model) if it predicts means of y"
        return (
            f"the objective of this {self.called(model)} is {what}, and no squared error judges "
            f"what it predicts: {remedy}"
        )

    def objective_of_no_mean(self, model) -> str | None:
        """Return an objective that gives no means, "" for a custom one; else None."""
        return None

    def predicts_otherwise(self, model) -> str:
        """Say what a regressor predicts, if it is not the sum of its trees."""
        return "a function of the sum of its trees" if self.has_link(model) else ""

    def from_zero(self, model) -> tuple[Any, Callable] | None:
        """Return a model that starts from 0, and what to add to prepared rows; else None."""
        return None

    def own_prediction(self, model, forest, X) -> Any:
        """Predict raw scores by the library, or return None; any error may be raised."""
        return None

    def replaced_method(self, model, name: str) -> Any:
        """Return the library's class whose method a model overrides, or None."""
        owners = [base for base in type(model).__mro__ if name in vars(base)]
        packages = [base.__module__.partition(".")[0] for base in owners]
        own = [base for base, of in zip(owners, packages, strict=True) if of in self.packages]
        is_replaced = name in getattr(model, "__dict__", ()) or owners[:1] != own[:1]
        return own[0] if own and is_replaced else None

    def is_slow(self, model) -> bool:
        """Return whether a model takes longer to predict a row than to explain it."""
        return False

    def first_trees(self, model, forest, n_trees: int) -> int:
        """Return the trees that shap takes for the first `n_trees`, or a ValueError."""
        return n_trees

    def gains(self, model, forest) -> np.ndarray | None:
        """Return the library's sums of the gains of splits, (n_features,), or None."""
        return None

    def rows(self, X):
        """Return the rows of a container, as a matrix or table; ValueError if it has none."""
        return X

    def offsets(self, X, forest) -> np.ndarray | None:
        """Return a container's addition to each prediction, (n_samples, n_outputs), or None."""
        return None

    def first_rows(self, X, n: int):
        """Return a container of its first rows with offsets; all if it cannot be cut."""
        return X.slice(list(range(min(n, X.num_row()))))

    def own_features(self, model) -> dict[str, list[int]]:
        """Return positions of features that only the library can encode, by their kind."""
        return {}

    def own_shap_values(self, model) -> Any:
        """Return the library's values of `own_features`; see `catboost.ShapValues`."""
        raise NotImplementedError(
            f"{type(self).__name__} has own_features, and must define own_shap_values"
        )


class Boosted(Format):
    """A library of boosted trees: the objective's name decides what a model predicts."""

    has_units = predicts = True
    units_by_objective: ClassVar[dict] = {}
    # Where a document has the name of the objective.
    objective_keys: tuple[str, ...] = ()
    # Objectives whose prediction is not the sum of the trees, and those whose prediction is a
    # quantile of the target, or a risk.
    linked: tuple[str, ...] = ()
    no_means: tuple[str, ...] = ()

    def objective(self, model) -> str:
        """Return the objective's name, followed by a parameter that units depend on."""
        raise NotImplementedError(f"{type(self).__name__} is boosted, and must define objective")

    def objective_of_content(self, content) -> str:
        """Return the objective in the content of a file; "" if it has none."""
        for key in self.objective_keys:
            content = content.get(key, "") if isinstance(content, dict) else ""
        return content if isinstance(content, str) else ""

    def units(self, model) -> Units:
        found = self.units_of(self.objective(model))
        if _is_users_own(model):  # a link that is the library's default stays
            return Units(None if found.tree_output == "raw_value" else found.tree_output)
        return found

    def units_of(self, objective) -> Units:
        """Return the units by the objective."""
        return self.units_by_objective.get(objective, Units())

    def has_link(self, model) -> bool:
        return self.is_linked(self.objective(model))

    def is_linked(self, objective) -> bool:
        """Return whether an objective has a link."""
        name, _, parameter = objective.partition(" ")
        return name in self.linked or parameter == "sqrt"

    def objective_of_no_mean(self, model) -> str | None:
        return self.unless_mean("" if _is_users_own(model) else self.objective(model))

    def unless_mean(self, objective) -> str | None:
        """Return the name of an objective, or None if it predicts a mean."""
        name = objective.partition(" ")[0]
        known = {*self.units_by_objective, *self.linked}
        return None if name in known and name not in self.no_means else name


def _is_users_own(model):
    """Return whether a wrapper has a custom objective; its configuration may name another."""
    return callable(getattr(model, "objective", None))
