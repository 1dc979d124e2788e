"""Read and write the files of the command line: models, tables, results."""

from __future__ import annotations

import contextlib
import csv
import json
import re
import shutil
import sys
import tempfile
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from splitcredit.models.forest import Forest
from splitcredit.models.formats import FORMATS as FORMATS_OF_MODELS
from splitcredit.models.formats import format_of, to_forest, unwrap
from splitcredit.models.training import number_of
from splitcredit.results.plots.drawing import imported
from splitcredit.results.stored import arrays_of, named_if_damaged, refuse_false_sizes, replacing
from splitcredit.rows.names import as_known

# Rows of a table that are in memory at a time.
PART = 65_536
# By the ending of a file.
FORMATS = {f".{name}": name for name in ("csv", "html", "json", "parquet", "png")}
_PARQUET = (".parquet", ".pq")
# Labels that a model does not name: texts, and those that it stores as whole numbers.
_TEXT, _WHOLE = ("text",), ("whole",)
# First bytes of spreadsheets: zip archives, and the format before 2007.
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
# Types that skops asks about, and that take nothing but arrays, plain values or the text of a model
# from a file, or call only functions that skops asks about by itself.
_TRUSTED = (
    *("collections.OrderedDict", "functools.partial", "numpy.dtype"),
    *(name for one in FORMATS_OF_MODELS for name in one.trusted),
)


def model_of(path: str, trusted=()):
    """Load the model in a file; return the path if `splitcredit.to_forest` reads it."""
    file = Path(path)
    with open(file, "rb") as opened:
        start = opened.read(4)
    if file.suffix in (".pkl", ".pickle", ".joblib") or start.startswith(b"\x80"):
        raise ValueError(
            f"{path} is a pickle, which may run any code when it is read: write the model with "
            f'skops, in Python `import skops.io` and `skops.io.dump(model, "{file.stem}.skops")`'
        )
    with named_if_damaged(file.name):
        return _opened(path, file, start, trusted)


def _opened(path, file, start, trusted):
    if file.suffix == ".skops":
        io = imported("skops.io", f"{path} needs")
        with zipfile.ZipFile(path) as archive:
            refuse_false_sizes(archive)
        unknown = set(io.get_untrusted_types(file=path)) - {*_TRUSTED, *trusted}
        if unknown:
            raise ValueError(
                f"{path} holds {', '.join(sorted(unknown))}, which may run code when it is read: "
                "if you trust who wrote the file, name each type by --trust TYPE"
            )
        return io.load(path, trusted=[*_TRUSTED, *trusted])
    for one in FORMATS_OF_MODELS:
        if one.own_mark and start.startswith(one.own_mark):
            imported(one.packages[0], f"{path} needs")
            return one.loaded(path)
    if start == b"PK\x03\x04":
        return Forest.from_arrays(arrays_of(file))
    return path


class Tables:
    """Reader of tables as the rows that a model takes, their targets or None, and `row_weights`.

    Columns that the model does not know are left out if the table has all that it knows, by name.
    Of categories the model knows the labels, which stand in place of texts and of equal numbers.
    """

    def __init__(self, model, target: str | None = None, weights: str | None = None):
        inner, steps = unwrap(model)
        self.weights, self.row_weights = weights, None
        own, forest = format_of(inner).own_features(inner), None
        if not steps.pipelines and not own:
            with contextlib.suppress(TypeError, ValueError):  # who needs trees says it better
                forest = to_forest(inner)
        known = getattr(model, "feature_names_in_", None)
        if known is None:
            known = getattr(inner, "feature_names_", None)  # of one that does not convert
        classes = getattr(model, "classes_", ())
        # Labels by the place of a column, or by its name before steps; _TEXT where text stays.
        self._labels: dict = {j: _TEXT for places in own.values() for j in places}
        self._own_labels = inner if own and not steps.pipelines else None
        self._unplaced: tuple = ()
        if steps.pipelines:
            self._labels = dict(_labels_of_steps(steps.pipelines[0]))
        elif forest is not None:
            known = forest.feature_names if known is None and forest.names_given else known
            classes = forest.output_names if forest.n_outputs > 1 else classes
            if forest.categories is not None:
                self._split, places = {*forest.categories.feature}, forest.categories.labeled
                self._labels = dict(zip(places or (), forest.categories.labels, strict=False))
                self._unplaced = forest.categories.labels if places is None else ()
        self.target, self.known, self._in_steps = target, known, bool(steps.pipelines)
        self._target_is_text = any(number_of(str(name)) is None for name in classes)

    def whole(self, path: str, n_rows: int | None = None, is_background=False) -> tuple:
        """Return all rows of a table at once, and their targets; see `parts`."""
        whole = pd.concat(list(self._frames(path, n_rows)), ignore_index=True)
        return self._rows_and_targets(whole, is_background)

    def parts(self, path: str, n_rows: int | None = None):
        """Yield the rows of a table, at most `PART` of them at a time, and their targets."""
        return map(self._rows_and_targets, self._frames(path, n_rows))

    def _frames(self, path, n_rows):
        start = 0
        for part in _all_parts(path, self):
            part = part.iloc[: None if n_rows is None else n_rows - start].reset_index(drop=True)
            start += len(part)
            if len(part):
                yield part
            if n_rows is not None and start >= n_rows:
                break
        if start == 0:
            raise ValueError(f"{path} has no rows")

    def _rows_and_targets(self, table, is_background=False):
        taken: dict = {"--target": None, "--weights": None}
        for option, name in zip(taken, (self.target, self.weights), strict=True):
            if name is not None and not (is_background and name not in table):
                if name not in table:
                    columns = list(table.columns)[:10]
                    raise ValueError(f"{option}: no column is called {name!r}, but {columns}")
                taken[option], table = table[name], table.drop(columns=name)
        y, self.row_weights = taken.values()
        rows = table[self._columns(table.columns)]
        self._place(rows)
        self._ask_model(rows)
        labels = self._labels_by_name(rows.columns)
        made = {name: _labeled(rows[name], own, self._in_steps) for name, own in labels.items()}
        return rows.assign(**made), y

    def texts(self, header, first) -> list:
        """Return the columns that are read as text: those with labels that are text."""
        columns = self._columns(header)
        if self._unplaced:
            self._place(first()[columns])
        labels = self._labels_by_name(columns).items()
        texts = [name for name, own in labels if any(isinstance(label, str) for label in own)]
        is_text = self._target_is_text and self.target in [*header]
        return [*texts, self.target] if is_text else texts

    def _columns(self, header) -> list:
        """Return the columns that the model takes, in its order."""
        columns = [name for name in header if name not in (self.target, self.weights)]
        if self.known is None:
            return columns
        names = dict(zip(as_known(columns, self.known), columns, strict=True))
        is_complete = all(name in names for name in self.known)
        return [names[name] for name in self.known] if is_complete else columns

    def _labels_by_name(self, columns) -> dict:
        """Return the labels of the columns that have some."""
        keyed = zip(columns if self._in_steps else range(len(columns)), columns, strict=True)
        return {name: self._labels[key] for key, name in keyed if key in self._labels}

    def _place(self, rows):
        """Find the columns of labels where the model stores only their order."""
        if not self._unplaced or not len(rows):
            return
        labels, self._unplaced = self._unplaced, ()
        values = {number_of(str(label)) for own in labels for label in own}
        numeric = [getattr(kind, "kind", "O") in "biuf" for kind in rows.dtypes]
        texts = self._split | {j for j, is_numeric in enumerate(numeric) if not is_numeric}
        others = {j for j in range(len(numeric)) if {*rows.iloc[:, j].dropna().unique()} <= values}
        for places in (self._split, texts, texts | others):
            if len(places) == len(labels):
                self._labels = dict(zip(sorted(places), labels, strict=True))
                return
        raise ValueError(
            f"the model has {len(labels)} columns of categories but does not say which, and the "
            "table does not show it: pass a parquet file, in which they have the type category"
        )

    def _ask_model(self, rows):
        """Find the columns whose True or 01 the model stores as a number: not as text.

        What it does not know has the same prediction as any other text.
        """
        model, self._own_labels = self._own_labels, None
        for j in self._labels if model else ():
            if None not in map(number_of, rows.iloc[:, j].dropna().unique()):
                unknown = rows.copy()
                unknown.isetitem(j, ["unknown"] * len(rows))
                if np.array_equal(model.predict(rows), model.predict(unknown)):
                    self._labels[j] = _WHOLE


def _labels_of_steps(step, names=None):
    """Yield pairs of a column and its labels, as an encoder in a pipeline knows them."""
    names = getattr(step, "feature_names_in_", None) if names is None else names
    for _, inner, *_ in (
        *getattr(step, "transformers_", ()),
        *getattr(step, "transformer_list", ()),
    ):
        yield from _labels_of_steps(inner)
    for _, inner in getattr(step, "steps", ()):
        yield from _labels_of_steps(inner, names)
        if not type(inner).__name__.endswith("Imputer"):  # it leaves columns where they are
            break
    if names is not None and len(getattr(step, "categories_", ())) == len(names):
        yield from zip(names, step.categories_, strict=True)


def _labeled(column, labels, in_steps):
    """Return a column with labels of a model for the texts and numbers that mean them.

    Other values stay: the model does with them what it does with what it does not know. Empty text
    is missing, if it is no label.
    """
    if isinstance(column.dtype, pd.CategoricalDtype) or labels is _TEXT:
        return column
    if labels is _WHOLE:
        return column.map(lambda v: v if number_of(v) is None else f"{number_of(v):.0f}")
    every = pd.Index(labels, dtype=object)
    label_of = {str(label).removesuffix(" 00:00:00"): label for label in every.dropna()}
    label_of |= {label: label for label in every.dropna()}
    are_text = all(isinstance(label, str) for label in label_of.values())

    def meant(value):
        number = None if are_text or not isinstance(value, str) else number_of(value.capitalize())
        return label_of.get(value, label_of.get(number, None if value == "" else value))

    distinct = {value: meant(value) for value in column.dropna().unique()}
    values = column.map(distinct).astype(object)
    if in_steps and pd.api.types.is_object_dtype(labels):
        return values.where(values.notna(), None if None in [*every] else np.nan)
    known = [*label_of.values(), *(value for value in distinct.values() if value is not None)]
    return values.infer_objects() if in_steps else pd.Categorical(values, pd.Index(known).unique())


def _all_parts(path, tables):
    if path == "-":  # a stream is read once only
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "rows.csv"
            with copy.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
            yield from _csv_parts(copy, path, tables)
        return
    start = b""
    if Path(path).is_file():
        with open(path, "rb") as file:
            start = file.read(4)
    if path.endswith(_PARQUET) or start == b"PAR1":
        parquet = imported("pyarrow.parquet", f"{path} needs")
        with parquet.ParquetFile(path, pre_buffer=False) as file:  # a buffer keeps the whole file
            for batch in file.iter_batches(batch_size=PART):
                yield batch.to_pandas()
        return
    if start in _WORKBOOKS and not path.endswith(".zip"):
        raise ValueError(f"{path} is a workbook: save its sheet as CSV in UTF-8")
    yield from _csv_parts(path, path, tables)


def _csv_parts(source, path, tables):
    """Yield parts of a file, which messages call `path`."""
    try:
        read = partial(pd.read_csv, source, **_form(source, path, tables))
        head = read(nrows=100)
        if not isinstance(head.index, pd.RangeIndex) and head.iloc[:, -1].isna().all():
            raise ValueError(f"{path} has a separator at the end of each row: remove it")
        texts = tables.texts(head.columns, lambda: read(nrows=PART))
        # With a sign before it no text is one that pandas takes for a missing value.
        with read(chunksize=PART, converters=dict.fromkeys(texts, "=".__add__)) as chunks:
            for part in chunks:
                yield part.assign(**{name: part[name].str[1:] for name in texts})
    except pd.errors.EmptyDataError:
        raise ValueError(f"{path} is empty") from None
    except pd.errors.ParserError as error:
        raise ValueError(f"{path}: {error}") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        remedy = f"save it so, or by iconv -f {'UTF-16' if byte >= 0xFE else 'LATIN1'} -t UTF-8"
        raise ValueError(f"{path} is not text in UTF-8 (byte 0x{byte:02x}): {remedy}") from None


def _form(source, path, tables):
    """Detect how a CSV file separates its fields, and its decimal point."""
    lines = {"sep": "\x1f", "quoting": csv.QUOTE_NONE, "header": None, "dtype": str}
    head, *rows = pd.read_csv(source, **lines, keep_default_na=False, nrows=1000)[0]
    known = [] if tables.known is None else list(tables.known)
    names = {mark: as_known(next(csv.reader([head], delimiter=mark)), known) for mark in ",;\t|"}
    plain = "\t" if ".tsv" in Path(path).suffixes else next((m for m in names if m in head), ",")
    mark = next((mark for mark in names if known and {*known} <= {*names[mark]}), plain)
    twice = {name for name in names[mark] if names[mark].count(name) > 1}
    twice = sorted(n for n in twice & {*known, tables.target} if f"{n}.1" not in known)
    if twice:
        raise ValueError(f"{path} has several columns of the same name, {twice}: keep one of each")
    if tables.known is None and all(number_of(name) is not None for name in names[mark]):
        if names[mark] != [str(j) for j in range(len(names[mark]))]:
            raise ValueError(f"{path} begins with numbers: write names of columns above them")
    fields = [] if mark == "," else [field.strip(' "') for row in rows for field in row.split(mark)]
    commas = [field for field in fields if re.fullmatch(r"[+-]?\d[\d.]*(,\d+)+", field)]
    by_thousands = [one for one in commas if re.fullmatch(r"[+-]?[1-9]\d{0,2}(,\d{3})+", one)]
    points = [one for one in fields if re.fullmatch(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?", one)]
    if commas and (len(by_thousands) == len(commas) or points):
        one = points[0] if len(by_thousands) < len(commas) else commas[0]
        raise ValueError(f"{path} has {one}: write numbers without separators of thousands")
    return {"sep": mark, "decimal": "," if commas else "."}


def write(frames, out: str | None, form: str) -> None:
    """Write frames with the same columns one below the other; to standard output without a file.

    CSV and parquet have one of them in memory at a time.
    """
    if out is None:
        _write_text(frames, sys.stdout, form)
        return
    with replacing(out) as partial:
        if form == "parquet":
            _write_parquet(frames, partial)
        else:
            with open(partial, "w", newline="", encoding="utf-8") as file:
                _write_text(frames, file, form)


def _write_text(frames, file, form):
    if form == "csv":
        for k, frame in enumerate(frames):
            frame.to_csv(file, index=False, header=k == 0)
        return
    records = []
    for frame in frames:
        if not frame.columns.is_unique:  # such as a feature that is called as a pair
            twice = sorted(frame.columns[frame.columns.duplicated()])[:5]
            raise ValueError(f"several columns are called {twice}: --format csv keeps them")
        records += frame.astype(object).where(frame.notna(), None).to_dict("records")
    json.dump(records, file, indent=1)
    file.write("\n")


def _write_parquet(frames, path):
    pyarrow, writer = imported("pyarrow", "parquet needs"), None
    parquet = imported("pyarrow.parquet", "parquet needs")
    for frame in frames:
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def show(frame, note: str = "", n_rows: int = 20) -> None:
    """Print the first rows and columns of a frame as a table, as many as fit."""
    console, table, shown = Console(), Table(), frame.iloc[:n_rows]
    cells = [[_cell(value) for value in shown.iloc[:, j]] for j in range(frame.shape[1])]
    names = [str(name) for name in frame.columns]
    widths = [3 + max(map(len, [n, *c])) for n, c in zip(names, cells, strict=True)]
    columns = max(int((np.cumsum(widths) < console.width).sum()), 2)
    for name, dtype in zip(names[:columns], frame.dtypes.iloc[:columns], strict=True):
        table.add_column(Text(name), justify="right" if dtype.kind in "fiu" else "left")
    for row in zip(*cells[:columns], strict=True):
        table.add_row(*map(Text, row))
    console.print(table)
    if len(shown) < len(frame) or columns < len(names):
        note = f"{len(frame)} rows, {len(names)} columns: --out FILE writes all. {note}"
    if note:
        console.print(note, highlight=False, markup=False)


def _cell(value):
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
