"""Files that the command line reads and writes: models, tables, results."""

from __future__ import annotations

import importlib
import json
import sys
import zipfile
from pathlib import Path

import numpy as np

from splitcredit._names import as_known
from splitcredit._stored import arrays_of, named_if_damaged, refuse_false_sizes, replacing
from splitcredit.convert import to_forest, unwrap
from splitcredit.forest import Forest

# Rows of a table that are in memory at a time.
PART = 65_536
# By the ending of a file.
FORMATS = {f".{name}": name for name in ("csv", "html", "json", "parquet", "png")}
_PARQUET = (".parquet", ".pq")
# Types that skops asks about, and that take nothing but arrays or the text of a model from a file.
_TRUSTED = (
    "collections.OrderedDict",
    "lightgbm.basic.Booster",
    *(f"lightgbm.sklearn.LGBM{kind}" for kind in ("Classifier", "Ranker", "Regressor")),
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.tree._tree.Tree",
    "xgboost.core.Booster",
    *(f"xgboost.sklearn.XGB{kind}" for kind in ("Classifier", "Ranker", "Regressor")),
)


def model_of(path: str, trusted=()):
    """The model in a file; the path itself, if `splitcredit.to_forest` reads it.

    ValueError if it is a pickle, or of skops with types that are not known to be harmless.
    ModuleNotFoundError if the package that reads it is not installed.
    """
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
        io = _imported("skops.io", path)
        with zipfile.ZipFile(path) as archive:
            refuse_false_sizes(archive)
        unknown = set(io.get_untrusted_types(file=path)) - {*_TRUSTED, *trusted}
        if unknown:
            raise ValueError(
                f"{path} holds {', '.join(sorted(unknown))}, which may run code when it is read: "
                "if you trust who wrote the file, name each type by --trust TYPE"
            )
        return io.load(path, trusted=[*_TRUSTED, *trusted])
    if start == b"CBM1":
        return _imported("catboost", path).CatBoost().load_model(path)
    if start == b"PK\x03\x04":
        return Forest.from_arrays(arrays_of(file))
    return path


def _imported(name, path):
    """A module that some files need."""
    package = name.partition(".")[0]
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        message = f"{path} needs {package}, which is not installed: pip install {package}"
        raise ModuleNotFoundError(message) from None


def splitter(model, target: str | None):
    """A function that makes of a table the rows as the model takes them, and their targets or None.

    Columns that the model does not know are left out if the table has all that it knows, by name.
    Texts become categories, unless there are steps of a pipeline to read them.

    Parameters
    ----------
    model : anything that `model_of` gives
    target : str, optional
        The column that is taken out first; ValueError if there is none, but in a background.
    """
    import pandas as pd

    inner, steps = unwrap(model)
    known = getattr(model, "feature_names_in_", None)
    if known is None:
        known = getattr(inner, "feature_names_", None)  # of CatBoost, where not all converts
    if known is None and not steps.pipelines:
        forest = to_forest(inner)
        known = forest.feature_names if forest.names_given else None

    def split(table, is_background=False):
        y = None
        if target is not None and not (is_background and target not in table):
            if target not in table:
                columns = list(table.columns)[:10]
                raise ValueError(f"--target: no column is called {target!r}, but {columns}")
            y, table = table[target], table.drop(columns=target)
        if known is not None:
            names = dict(zip(as_known(table.columns, known), table.columns, strict=True))
            if all(name in names for name in known):
                table = table[[names[name] for name in known]]
        if not steps.pipelines:
            kinds = {name: pd.api.types.infer_dtype(table[name]) for name in table.columns}
            texts = [name for name, kind in kinds.items() if kind == "string"]
            table = table.astype(dict.fromkeys(texts, "category"))
        return table, y

    return split


def parts(path: str, n_rows: int | None = None):
    """The rows of a table, at most `PART` of them at a time, as DataFrames.

    ValueError if there are none.

    Parameters
    ----------
    path : str
        A file of CSV or parquet, or ``"-"`` for CSV from standard input.
    n_rows : int, optional
        The first rows, or all.
    """
    start = 0
    for part in _all_parts(path):
        part = part.iloc[: None if n_rows is None else n_rows - start].reset_index(drop=True)
        start += len(part)
        if len(part):
            yield part
        if n_rows is not None and start >= n_rows:
            break
    if start == 0:
        raise ValueError(f"{path} has no rows")


def _all_parts(path):
    import pandas as pd

    if path.endswith(_PARQUET):
        parquet = _imported("pyarrow.parquet", path)
        with parquet.ParquetFile(path, pre_buffer=False) as file:  # a buffer keeps the whole file
            for batch in file.iter_batches(batch_size=PART):
                yield batch.to_pandas()
        return
    separator = "\t" if ".tsv" in Path(path).suffixes else ","
    source = sys.stdin if path == "-" else path
    with pd.read_csv(source, sep=separator, chunksize=PART) as chunks:
        yield from chunks


def table_of(path: str, n_rows: int | None = None):
    """All rows of a table at once; see `parts`."""
    import pandas as pd

    return pd.concat(list(parts(path, n_rows)), ignore_index=True)


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
        records += frame.astype(object).where(frame.notna(), None).to_dict("records")
    json.dump(records, file, indent=1)
    file.write("\n")


def _write_parquet(frames, path):
    pyarrow, writer = _imported("pyarrow", "parquet"), None
    for frame in frames:
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
        writer = writer or _imported("pyarrow.parquet", path).ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def show(frame, note: str = "", n_rows: int = 20) -> None:
    """Print the first rows and columns of a frame as a table, as many as fit."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

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
