"""Open a fitted model and its rows once, for every measure, ranking and interaction."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from splitcredit.models import _chunks
from splitcredit.models.forest import Forest
from splitcredit.models.formats import format_of, own, to_forest, unwrap
from splitcredit.models.formats._columns import Source, source
from splitcredit.models.formats._unwrap import Steps
from splitcredit.models.formats.containers import name_of_offset, offsets, rows_in
from splitcredit.models.formats.units import in_words
from splitcredit.rows.feature_groups import Columns, columns_of
from splitcredit.rows.names import row_index
from splitcredit.rows.tables import check_choice, records, refuse_container


class Transformed(NamedTuple):
    """A model of rows that a pipeline has transformed, and the columns of its features."""

    model: object
    source: Source | None


class Opened:
    """A model inside its wrappers, its trees, and rows as these trees see them.

    With `takes_offset`, a container X may add an `offset` to each row beside the trees; with
    `takes_start`, so may a model that boosting started from. `of_training` means training rows.
    """

    def __init__(
        self,
        model,
        X=None,
        background=None,
        *,
        takes_offset=False,
        takes_start=False,
        of_training=False,
        features="columns",
    ):
        check_choice("features", features, ("columns", "transformed"))
        model, self._source = model if isinstance(model, Transformed) else (model, None)
        self.model, self.features = model, features
        self.given = None if X is None else records(X, model)
        self.index = row_index(self.given)
        self._background, self._of_training = background, of_training
        self.inner, self.steps = (model, Steps()) if isinstance(model, Forest) else unwrap(model)
        self.format, self._takes_offset = format_of(self.inner), takes_offset
        # The model without the one that it started from, and a function that predicts that one.
        self._started = self.format.from_zero(self.inner) if takes_start else None

    @cached_property
    def forest(self) -> Forest:
        """The trees, with the names of the features that a pipeline makes."""
        if isinstance(self.model, Forest):
            return self.model
        inner = self.inner if self._started is None else self._started[0]
        return self.steps.named(to_forest(inner))

    @cached_property
    def rows(self):
        """The rows as the trees see them, as a table."""
        forest = self.forest  # a model that is refused is refused first
        X = rows_in(self.given, self.model) if self._takes_offset else self.given
        refuse_container(X)
        X = self.steps.training_rows(X) if self._of_training else self.steps.rows(X)
        return _chunks.as_table(forest, X)

    @cached_property
    def background(self):
        """The background as the trees see it; None without one."""
        if self._background is None:
            return None
        return self.steps.rows(records(self._background, self.model))

    @cached_property
    def offset(self):
        """Additions to each row beside the trees, (n_samples, n_outputs), and their name."""
        offset = offsets(self.given, self.forest)
        if offset is not None:
            return offset, name_of_offset(self.given)
        if self._started is None:
            return None, ""
        start = self._started[1](self.forest.prepare(self.rows))
        return start, "the model that this one starts from (init)"

    @property
    def units(self):
        """Units of the raw prediction; see `splitcredit.models.formats.units`."""
        return self.format.units(self.inner)

    @property
    def unit(self) -> str:
        """Meaning of the raw prediction, in words."""
        return in_words(self.units, self.forest)

    @property
    def source(self) -> Source | None:
        """Columns of X of which a pipeline made the features, with the rows."""
        return self._source or source(self.steps.pipelines, self.given)

    @property
    def made_of(self) -> Source | None:
        """The same as `source`, without the rows."""
        return self._source or source(self.steps.pipelines, None)

    @cached_property
    def columns(self) -> Columns | None:
        """Columns of the results; None if they are by features."""
        columns = columns_of(self.forest.feature_names, self.made_of)
        return columns if self.features == "columns" else None

    def by_columns(self, result, source=None):
        """Sum a result over the features of each column, if asked and its source names it."""
        result = replace(result, source=source or self.made_of)
        is_by_columns = self.features == "columns" and columns_of(
            result.feature_names, result.source
        )
        return result.grouped("columns") if is_by_columns else result

    def checked(self, is_asked: bool = True) -> Opened:
        """Return the opened model, after `check` unless `is_asked` is False."""
        if is_asked:
            self.check()
        return self

    def check(self, piece=None, offset=None, of_class=False) -> None:
        """Compare a few rows with the model's own prediction; ValueError if they differ."""
        own.check(self, offset, piece, of_class)
