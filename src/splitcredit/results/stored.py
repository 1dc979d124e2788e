"""Show results, save and load them, and check the arrays that they are made of."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import MISSING, fields
from pathlib import Path

import numpy as np

from splitcredit.rows.tables import column_of, places_of

# Rows of a result that are shown.
SHOWN = 10


@contextmanager
def replacing(path):
    """Yield a path to write to, which replaces a file once all is written."""
    path = _path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _path(given):
    """Return a path; TypeError if it is none."""
    try:
        return Path(given)
    except TypeError:
        raise TypeError(f"path={given!r}: expected the name of a file") from None


def arrays_of(path) -> dict:
    """Read the arrays of an ``.npz`` file without pickle, in no more memory than its size."""
    with np.load(path, allow_pickle=False) as archive:
        refuse_false_sizes(archive.zip)
        return dict(archive)


def refuse_false_sizes(archive) -> None:
    """Raise a ValueError if a part of a ``zipfile.ZipFile`` claims to be larger than it is."""
    size = os.stat(archive.filename).st_size
    for part in archive.infolist():
        if part.compress_size > size:
            raise ValueError(f"{part.filename} says that it is larger than the file")
        if not part.filename.endswith(".npy"):
            continue
        with archive.open(part) as file:
            np.lib.format.read_magic(file)
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if math.prod(shape) * dtype.itemsize > part.file_size:
            raise ValueError(f"{part.filename} ends before the {shape} numbers that it names")


@contextmanager
def named_if_damaged(name):
    """Turn any error of a reader into a ValueError of a damaged file, but not system errors."""
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            yield
    except Exception as error:
        of_the_system = isinstance(error, OSError) and error.filename is not None
        if name in str(error) or of_the_system:
            raise
        found = " ".join(str(error).split())
        text = f"the model in {name} is damaged: {found or type(error).__name__}"
        if isinstance(error, KeyError):
            text = f"the model in {name} is incomplete, it lacks {found}: save the model itself, "
            text += "and not its configuration"
        raise ValueError(text) from None


class Shown:
    """A result that shows itself: `_summary` gives a frame of first rows, and what is left."""

    _summary: Callable

    def __str__(self):
        frame, rest = self._summary()
        if frame.empty:
            return repr(self)
        text = f"{self!r}\n{frame.to_string(index=False, float_format='{:.4g}'.format, na_rep='')}"
        return f"{text}\n... and {rest}" if rest else text

    def _repr_html_(self):
        from html import escape

        frame, rest = self._summary()
        table = frame.to_html(index=False, float_format="{:.4g}".format, na_rep="", border=0)
        return f"<p>{escape(repr(self))}</p>{table}" + (f"<p>and {rest}</p>" if rest else "")


def more(n: int, what: str) -> str:
    """Say how many things are not shown; empty if all are."""
    return f"{n - SHOWN} more {what}" if n > SHOWN else ""


class Result(Shown):
    """Shared code of all results by feature."""

    feature_names: tuple[str, ...]
    to_arrays: Callable
    from_arrays: Callable

    def save(self, path) -> None:
        """Write the result into an ``.npz`` file, which `load` reads; it appears whole or not.

        Labels of rows are left out, as not all can be stored without pickling.

        Parameters
        ----------
        path : str or path
        """
        with replacing(path) as partial, open(partial, "wb") as file:
            np.savez_compressed(file, **self.to_arrays())

    @classmethod
    def load(cls, path):
        """Read a result that `save` has written; no pickle is read.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        result of the class

        Raises
        ------
        FileNotFoundError, ValueError
            If there is no such file, or it is damaged or holds something else.
        """
        path = _path(path)
        try:
            arrays = arrays_of(path)
            with np.errstate(invalid="ignore"):
                return cls.from_arrays(arrays)
        except Exception as error:
            if getattr(error, "filename", None) is not None:  # of the system
                raise
            found = " ".join(str(error).split())
            raise ValueError(f"{path} holds no {cls.__name__}: {found}") from None


def check_fields(kind, arrays) -> None:
    """Refuse arrays whose names are not the fields of a dataclass."""
    all_fields = fields(kind)
    needed = [f.name for f in all_fields if f.default is MISSING and f.default_factory is MISSING]
    missing = [name for name in needed if name not in arrays]
    extra = [name for name in arrays if name not in {f.name for f in all_fields}]
    if missing or extra:
        raise ValueError(
            f"these arrays are not those of {kind.__name__}: missing {missing[:5]}, not expected "
            f"{extra[:5]}; pass all that to_arrays has returned"
        )


def arrays_of_rows(data) -> dict:
    """Convert rows to arrays without pickle: numbers, codes, and the labels by column."""
    if isinstance(data, np.ndarray) and data.dtype.kind in "biuf":
        return {"data": data}
    columns = [places_of(column_of(data, j)) for j in range(data.shape[1])]
    labels = {j: own for j, (_, own) in enumerate(columns) if own is not None}
    places = np.column_stack([place for place, _ in columns])
    return {"data": places} | ({"data_labels": np.array(json.dumps(labels))} if labels else {})


def rows_of_arrays(data, labels, names):
    """Restore the rows with labels that `arrays_of_rows` took apart, as a DataFrame."""
    import pandas as pd

    of_column, columns = json.loads(labels.item()), {}
    for j, place in enumerate(data.T):
        columns[j] = place
        if str(j) in of_column:
            codes = np.where(np.isnan(place), -1, place).astype(int)
            columns[j] = pd.Categorical.from_codes(codes, of_column[str(j)])
    return pd.DataFrame(columns).set_axis(list(names), axis=1)


def parameters_of(text: str) -> dict:
    """Return the parameters that a text holds; ValueError if it is damaged."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"parameters is damaged ({error}): save the result again, or pass the text '{{}}'"
        ) from None
