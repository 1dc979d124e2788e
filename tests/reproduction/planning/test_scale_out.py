"""The page for many rows: its parts give the values of the whole."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import splitcredit

PAGE = Path(__file__).resolve().parents[3] / "docs" / "scale_out.md"
SECTIONS = re.split(r"^## ", PAGE.read_text(), flags=re.M)
START, *CODES = ("".join(re.findall(r"```python\n(.*?)```", part, re.S)) for part in SECTIONS)
CODE = dict(zip((part.split("\n", 1)[0] for part in SECTIONS[1:]), CODES, strict=True))


def run(title, tmp_path, monkeypatch):
    """The names that the code under a title leaves, and the values of all rows at once."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(START, names)
    code = CODE[title].replace("65_536", "300").replace("forest, X)", "forest, X, chunk_rows=300)")
    exec(code, names)
    return names, splitcredit.explain(names["forest"], names["X"]).values[:, :, 0]


def test_batches_of_a_file_have_the_values_of_the_whole(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    _, whole = run("One machine, from file to file", tmp_path, monkeypatch)
    for name in ("values", "chunks"):
        values = parquet.read_table(tmp_path / f"{name}.parquet").to_pandas()
        assert np.array_equal(values[["a", "b", "c", "d"]], whole)


def test_partitions_of_dask_have_the_values_of_the_whole(tmp_path, monkeypatch):
    pytest.importorskip("dask.dataframe")
    names, whole = run("Dask", tmp_path, monkeypatch)
    assert np.array_equal(names["values"], whole)


def test_batches_of_spark_have_the_values_of_the_whole(tmp_path, monkeypatch):
    pytest.importorskip("pyspark")
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # it takes another python from the path
    names, whole = run("Spark", tmp_path, monkeypatch)
    assert np.array_equal(names["of_spark"], whole)
