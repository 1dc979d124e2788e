"""Read rows in the containers of libraries, which may hold an offset for each row."""

from __future__ import annotations

import numpy as np

from splitcredit.models.formats import FORMATS
from splitcredit.rows.tables import records


def rows_in(X, model=None):
    """Return the rows of a container, or of dicts as a DataFrame; anything else unchanged."""
    X = records(X, model)
    library = _library_of_container(X)
    return X if library is None else library.rows(X)


def offsets(X, forest):
    """Return a container's addition to each row, (n_samples, n_outputs), or None for nothing."""
    library = _library_of_container(X)
    return None if library is None else library.offsets(X, forest)


def name_of_offset(X) -> str:
    """Return the container's name for its offset."""
    library, kind = _library_of_container(X), type(X).__name__
    return f"the {library.containers[kind]} of this {kind}"


def first_rows(X, n: int):
    """Return the first rows of a container with their offsets; all if it cannot be cut."""
    return _library_of_container(X).first_rows(X, n)


def with_offset(attribution, forest, offset):
    """Add the offsets of the rows to the baseline of an attribution."""
    names = attribution.output_names
    if attribution.output_index is not None and forest.other_class is not None:
        own = np.where(attribution.output_index[:, None] == 1, offset, -offset)
    elif attribution.output_index is not None:
        own = np.take_along_axis(offset, attribution.output_index[:, None], axis=1)
    elif forest.n_outputs == 1:
        own = -offset if names == (forest.other_class,) else offset
    else:
        own = offset[:, [forest.output_names.index(name) for name in names]]
    return attribution.baseline + own


def _library_of_container(X):
    """Return the format that rows are a container of, or None."""
    kind = type(X).__name__
    return next((one for one in FORMATS if kind in one.containers and one.recognizes(X)), None)
