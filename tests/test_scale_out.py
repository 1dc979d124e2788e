"""The page for many rows: its parts give the values of the whole."""

import re
from pathlib import Path

import numpy as np
import pytest

import splitcredit

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale_out.md"
CODE = dict(
    re.findall(r"^## ([^\n]+)\n(?:(?!^## ).)*?^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M)
)
START = re.search(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M)[1]


def run(title, tmp_path, monkeypatch):
    """The names that the code under a title leaves, and the values of all rows at once."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(START, names)
    exec(CODE[title].replace("65_536", "300"), names)
    return names, splitcredit.explain(names["forest"], names["X"]).values[:, :, 0]


def test_batches_of_a_file_have_the_values_of_the_whole(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    _, whole = run("One machine, from file to file", tmp_path, monkeypatch)
    values = parquet.read_table(tmp_path / "values.parquet").to_pandas()
    assert np.array_equal(values[["a", "b", "c", "d"]], whole)


def test_partitions_of_dask_have_the_values_of_the_whole(tmp_path, monkeypatch):
    pytest.importorskip("dask.dataframe")
    names, whole = run("Dask", tmp_path, monkeypatch)
    assert np.array_equal(names["values"], whole)


def test_batches_of_spark_have_the_values_of_the_whole(tmp_path, monkeypatch):
    pytest.importorskip("pyspark")
    pytest.importorskip("pyarrow")
    names, whole = run("Spark", tmp_path, monkeypatch)
    assert np.array_equal(names["of_spark"], whole)
