"""The page for many rows: its parts give the values of the whole."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import splitcredit

PAGE = Path(__file__).resolve().parents[3] / "docs" / "scale_out.md"
SECTIONS = re.split(r"^## ", PAGE.read_text(), flags=re.M)
START, *CODES = ("".join(re.findall(r"```python\n(.*?)```", part, re.S)) for part in SECTIONS)
CODE = dict(zip((part.split("\n", 1)[0] for part in SECTIONS[1:]), CODES, strict=True))


@pytest.mark.parametrize(
    ("title", "package", "results"),
    [
        ("One machine, from file to file", "pyarrow", ["values.parquet", "chunks.parquet"]),
        ("Dask", "dask.dataframe", ["values"]),
        ("Spark", "pyspark", ["of_spark"]),
    ],
)
def test_parts_have_the_values_of_the_whole(tmp_path, monkeypatch, title, package, results):
    pytest.importorskip(package)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # it takes another python from the path
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(START, names)
    code = CODE[title].replace("65_536", "300").replace("forest, X)", "forest, X, chunk_rows=300)")
    exec(code, names)
    whole = splitcredit.explain(names["forest"], names["X"]).values[:, :, 0]
    for name in results:
        found = pd.read_parquet(name) if name.endswith(".parquet") else names[name]
        assert np.array_equal(found[["a", "b", "c", "d"]], whole)
