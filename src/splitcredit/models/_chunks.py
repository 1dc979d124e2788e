"""Split rows into chunks, which bounds memory and moves the progress bar.

What a row gets is the same bytes in any chunk; the tests of every method hold them to that.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from splitcredit.models.formats.containers import rows_in, with_offset
from splitcredit.results import progress_bar
from splitcredit.results.attribution import Attribution
from splitcredit.rows.tables import refuse_categories, refuse_container, refuse_times, rows_at

# The parameter that is not the same for all chunks.
ERROR = "largest_standard_error"
# Numbers of a result in one chunk: 64 MB.
_NUMBERS = 1 << 23
# Most rows in a chunk, and (rows, nodes) pairs: seconds of work at some nanoseconds each.
_ROWS, _PAIRS = 1 << 16, 1 << 31
# Rows of which games are played, some tenths of a second each.
_PLAYED = 16
# A chunk has work for several threads.
_FEWEST = 1 << 10


def chunk_rows(forest, parameters=MappingProxyType({})) -> int:
    """Return the rows in a chunk, from the sizes of the forest and what is explained."""
    if parameters.get("model_output", "raw") != "raw" and forest.n_outputs > 1:
        return _PLAYED  # by sampling
    rows = min(_ROWS, max(_FEWEST, _PAIRS // forest.n_nodes))
    if parameters.get("algorithm") == "tables":
        rows = _ROWS  # tables of large forests are made for each chunk
    return max(1, min(rows, _NUMBERS // (forest.n_features * forest.n_outputs)))


def attributions(
    function, forest, X, rows: int, dtype, progress, parameters, *, y=None, result=None, offset=None
):
    """Check all rows, and yield the attributions of `rows` at a time; one piece if X has none."""
    n = X.shape[0]
    if y is not None and np.shape(y) != (n,):
        raise ValueError(f"y has shape {np.shape(y)}, expected {(n,)}: one target for each row")
    y = None if y is None else np.asanyarray(y)  # A mask stays, to be refused.
    for start in range(0, n, rows) if n > rows else ():
        forest.prepare(rows_at(X, slice(start, start + rows)))
    with progress_bar.bar(n, progress, remedy="fewer rows or trees take less") as done:
        for start in range(0, max(n, 1), rows):
            chunk = X if n <= rows else rows_at(X, slice(start, start + rows))
            targets = {} if y is None else {"y": y[start : start + rows]}
            with nullcontext() if result is None else result.chunk(start, chunk.shape[0]):
                piece = function(forest, chunk, **targets, **parameters)
            if offset is not None:
                own = offset[start : start + rows]
                piece = replace(piece, baseline=with_offset(piece, forest, own))
            if dtype != np.float64:
                piece = replace(piece, values=piece.values.astype(dtype))
            # Before the rows are handed over: nothing here runs once the caller has the last ones.
            done(min(rows, n - start))
            yield piece


def as_table(forest, X):
    """Return X as a table whose rows can be taken; ValueError if it is none."""
    X = rows_in(X)
    refuse_container(X)
    is_table = hasattr(X, "columns") or hasattr(X, "column_names")
    if not hasattr(X, "shape") or (is_table and not hasattr(X, "iloc")):
        # Tables of libraries other than pandas take rows in ways of their own.
        refuse_times(X)
        if forest.categories is not None and not forest.categories.always:
            refuse_categories(X)
        try:
            X = np.asarray(forest.in_order(X))
        except ValueError as error:
            if is_table:
                raise
            raise ValueError(f"X has rows of different lengths: {error}") from None
        if is_table and X.dtype.kind in "iu" and forest.rounds_whole_numbers:
            # Whole numbers of tables are read in double precision.
            X = X.astype(np.float64)
    if hasattr(X, "tocsr"):
        return X.tocsr()  # which has rows to take
    if np.ndim(X) != 2:
        forest.prepare(X)  # raises the error
    return X


def joined(pieces, n: int, result) -> Attribution:
    """Join the attributions of chunks to those of n rows."""
    first = next(pieces)
    if len(first.values) == n:
        return first
    baselines, indices, start, piece, parameters = [], [], 0, first, dict(first.parameters)
    while piece is not None:
        if ERROR in parameters:
            parameters[ERROR] = max(parameters[ERROR], piece.parameters[ERROR])
        result.put(start, piece.values)
        start += len(piece.values)
        baselines.append(piece.baseline)
        indices.append(piece.output_index)
        piece = next(pieces, None)
    return replace(
        first,
        values=result.values,
        parameters=parameters,
        baseline=first.baseline if first.baseline.ndim == 1 else np.concatenate(baselines),
        output_index=None if first.output_index is None else np.concatenate(indices),
    )
