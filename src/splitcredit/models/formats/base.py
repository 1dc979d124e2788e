"""`Format`: what is known of the models of one library, a subclass and a file for each.

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
    """What is known of the models of one library; models are fitted, without pipelines around."""

    # What the library is called, and the top-level packages of the classes of its models.
    title = ""
    packages: tuple[str, ...] = ()
    # A key that only its JSON documents have, and how files begin that only itself can read.
    json_key, own_mark = "", b""
    # Whether a model says what it predicts, and whether it is at hand and can predict.
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
    # Class of rows in a form of its own -> what the offset of each row is called there, or "".
    containers: ClassVar[dict] = {}
    # Types that may be read from files of skops.
    trusted: tuple[str, ...] = ()

    def recognizes(self, model) -> bool:
        """Whether the class of a model, or one of its bases, is of the library."""
        return not self.packages_of(model).isdisjoint(self.packages)

    @staticmethod
    def packages_of(model) -> set[str]:
        """Top-level packages of the class of a model and its bases."""
        return {base.__module__.partition(".")[0] for base in type(model).__mro__}

    def decoded(self, raw: bytes, name: str):
        """The content of a file that is no JSON, or None if it is of another library."""
        return None

    def of_document(self, document: dict):
        """The content of a JSON document that has `json_key`."""
        return document

    def loaded(self, path):
        """The model in a file that begins with `own_mark`."""
        raise NotImplementedError(f"{type(self).__name__} has an own_mark, and must define loaded")

    def forest_of_content(self, content, name: str) -> Forest:
        """The Forest of what `decoded` or `of_document` gave; ValueError if it cannot be one."""
        raise NotImplementedError(
            f"{type(self).__name__} reads files, and must define forest_of_content"
        )

    def forest(self, model) -> Forest:
        """The Forest of a model; see `splitcredit.to_forest` for errors."""
        if isinstance(model, Forest):
            return model
        raise _nodes.unknown_model(model)

    def called(self, model) -> str:
        """What a model is called in messages."""
        return type(model).__name__

    def units(self, model) -> Units:
        """Units of the raw prediction of a model."""
        return Units()

    def has_link(self, model) -> bool:
        """Whether a model predicts a function of the sum of its trees."""
        return False

    def predicts_raw(self, model) -> bool:
        """Whether a model predicts the sum of its trees even if its objective has a link."""
        return False

    def no_mean(self, model) -> str:
        """Why the prediction of a regressor is no mean of y; empty if it is one, or not known."""
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
        """The objective of a model that predicts no means, "" for its user's own; else None."""
        return None

    def predicts_otherwise(self, model) -> str:
        """What a regressor predicts, in words, if it is not what its trees add up to."""
        return "a function of the sum of its trees" if self.has_link(model) else ""

    def from_zero(self, model) -> tuple[Any, Callable] | None:
        """A model as if it started from 0, and what it adds to prepared rows; None of most."""
        return None

    def own_prediction(self, model, forest, X) -> Any:
        """Raw prediction of rows or a container by the library, or None; it may raise any error."""
        return None

    def replaced_method(self, model, name: str) -> Any:
        """The class of the library whose method a model has replaced by another, or None."""
        owners = [base for base in type(model).__mro__ if name in vars(base)]
        packages = [base.__module__.partition(".")[0] for base in owners]
        own = [base for base, of in zip(owners, packages, strict=True) if of in self.packages]
        is_replaced = name in getattr(model, "__dict__", ()) or owners[:1] != own[:1]
        return own[0] if own and is_replaced else None

    def is_slow(self, model) -> bool:
        """Whether a model takes longer to predict a row than it takes to explain it."""
        return False

    def first_trees(self, model, forest, n_trees: int) -> int:
        """The number of trees that shap takes for the first `n_trees`; ValueError if none."""
        return n_trees

    def gains(self, model, forest) -> np.ndarray | None:
        """Sums of the gains of splits, (n_features,), as the library keeps them, or None."""
        return None

    def rows(self, X):
        """The rows of a container, as a matrix or table; ValueError if it does not hold them."""
        return X

    def offsets(self, X, forest) -> np.ndarray | None:
        """What a container adds to the prediction of each row, (n_samples, n_outputs), or None."""
        return None

    def first_rows(self, X, n: int):
        """A container of its first rows with their offsets; of all where it cannot be cut."""
        return X.slice(list(range(min(n, X.num_row()))))

    def own_features(self, model) -> dict[str, list[int]]:
        """Positions of features that only the library can turn into numbers, by their kind."""
        return {}

    def own_shap_values(self, model) -> Any:
        """What the library computes for a model with `own_features`; see `catboost.ShapValues`."""
        raise NotImplementedError(
            f"{type(self).__name__} has own_features, and must define own_shap_values"
        )


class Boosted(Format):
    """A library of boosted trees: what a model predicts depends on the name of its objective."""

    has_units = predicts = True
    units_by_objective: ClassVar[dict] = {}
    # Where a document has the name of the objective.
    objective_keys: tuple[str, ...] = ()
    # Objectives whose prediction is not the sum of the trees, and those whose prediction is a
    # quantile of the target, or a risk.
    linked: tuple[str, ...] = ()
    no_means: tuple[str, ...] = ()

    def objective(self, model) -> str:
        """Name of the objective of a model, behind a blank a parameter that units depend on."""
        raise NotImplementedError(f"{type(self).__name__} is boosted, and must define objective")

    def objective_of_content(self, content) -> str:
        """The same of what a file holds; "" if it has none."""
        for key in self.objective_keys:
            content = content.get(key, "") if isinstance(content, dict) else ""
        return content if isinstance(content, str) else ""

    def units(self, model) -> Units:
        found = self.units_of(self.objective(model))
        if _is_users_own(model):  # a link that is the library's default stays
            return Units(None if found.tree_output == "raw_value" else found.tree_output)
        return found

    def units_of(self, objective) -> Units:
        """Units by the objective."""
        return self.units_by_objective.get(objective, Units())

    def has_link(self, model) -> bool:
        return self.is_linked(self.objective(model))

    def is_linked(self, objective) -> bool:
        """Whether an objective has a link."""
        name, _, parameter = objective.partition(" ")
        return name in self.linked or parameter == "sqrt"

    def objective_of_no_mean(self, model) -> str | None:
        return self.unless_mean("" if _is_users_own(model) else self.objective(model))

    def unless_mean(self, objective) -> str | None:
        """Name of an objective, or None if a mean is predicted by it."""
        name = objective.partition(" ")[0]
        known = {*self.units_by_objective, *self.linked}
        return None if name in known and name not in self.no_means else name


def _is_users_own(model):
    """Whether the objective of a wrapper is a function; its configuration may have another one."""
    return callable(getattr(model, "objective", None))
