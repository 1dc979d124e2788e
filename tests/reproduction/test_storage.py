"""Files of a run: what is said of damaged ones."""

from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from reproduction import storage
from reproduction.planning.sweep import Point
from reproduction.stages import _gathered as gathering
from reproduction.stages import artefacts
from splitcredit.models.forest import Forest
from splitcredit.results.attribution import Importance


@pytest.mark.parametrize("content", [b"", b"{", b"PK\x03\x04 and no more"])
def test_damaged_files_of_a_run_are_named_with_the_remedy(tmp_path, content):
    file = tmp_path / "batch"
    file.write_bytes(content)
    message = r"batch is damaged \(.*\): delete it, and the same command makes it anew"
    with pytest.raises(ValueError, match=message):
        storage.read_json(file)
    with pytest.raises(ValueError, match=message):
        storage.read_bundle(file, Forest)


@pytest.mark.parametrize("content", ["", "a,b\n1\n", "a,b\n1,2,3\n"])
def test_a_damaged_table_of_text_is_named_with_the_remedy(tmp_path, content):
    """Red if half a table is read as a whole one."""
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(ValueError, match=r"t\.csv is damaged \(.*\): delete it"):
        storage.read_rows(tmp_path / "t.csv")


# Gathering the results of a sweep, and tables that an artefact does not find.


def gathered(tmp_path, points, tables):
    """Gather points (axes, batch, run) over tables {batch: rows}; the rows of the result."""
    for batch, rows in tables.items():
        columns = list(dict.fromkeys(c for row in rows for c in row))
        storage.write_rows(tmp_path / batch / "auc-1.csv", rows, columns)
    files = [tmp_path / batch / "auc-1.csv" for _, batch, _ in points]
    points = [Point(axes, SimpleNamespace(key=run), {}, {}) for axes, _, run in points]
    gathering.write(tmp_path / "out.csv", "auc", points, files)
    return storage.read_rows(tmp_path / "out.csv")


def test_rows_keep_the_order_of_the_points_where_batches_alternate(tmp_path):
    """A table that is dropped at another batch's point, or read twice, loses rows or fails."""
    tables = {
        "a": [{"run": "r1", "value": "0.10"}, {"run": "r3", "value": "3"}],
        "b": [{"run": "r2", "value": "2", "lower": "1"}, {"run": "r2", "value": "2.5"}],
    }
    points = [({"K": "1"}, "a", "r1"), ({"K": "2"}, "b", "r2"), ({"depth": "9"}, "a", "r3")]
    rows = gathered(tmp_path, points, tables)
    assert [row["value"] for row in rows] == ["0.10", "2", "2.5", "3"]
    assert list(rows[0]) == ["K", "value", "lower", "depth"]
    assert [row["K"] for row in rows] == ["1", "2", "2", ""]


def test_a_table_of_a_metric_that_lacks_a_run_is_named(tmp_path):
    points = [({}, "a", "r1"), ({}, "a", "r2")]
    with pytest.raises(ValueError, match=r"auc-1\.csv lacks rows: delete it, and"):
        gathered(tmp_path, points, {"a": [{"run": "r1", "value": "1"}]})


def test_a_column_of_the_metric_that_the_sweep_has_too_is_refused(tmp_path):
    """Its numbers would stand under the name of the swept parameter."""
    tables = {"a": [{"run": "r1", "value": "1", "K": "7"}]}
    with pytest.raises(ValueError, match=r"metric auc: its column 'K' is one of the sweep, too"):
        gathered(tmp_path, [({"K": "1"}, "a", "r1")], tables)


def test_an_artefact_without_an_input_that_it_is_made_from_names_it(tmp_path, monkeypatch):
    """As in a configuration of the user's that gives it other ones."""
    name, input_name = "gajewski2025/table5", "gajewski2025_bigger/randomized_error"
    arguments = {"artefact": name, "names": [input_name], "gathered": []}

    def write_tables(packed, folder, names):
        storage.write_rows(Path(folder, f"{input_name}.csv"), [{"value": "1"}], ["value"])

    monkeypatch.setattr(gathering, "write_tables", write_tables)
    with pytest.raises(ValueError, match=r"^artefacts\.gajewski2025/table5\.inputs: ") as caught:
        files = {"table": tmp_path / "out.csv", "kept": tmp_path / "kept.csv"}
        artefacts.table(Namespace(**arguments, parameters={"recipes": {}}, **files))
    assert "'gajewski2025_bigger/removed_error', which is not among them" in str(caught.value)


@pytest.mark.parametrize("read", [storage.read_rows, storage.read_table])
def test_a_table_that_was_cut_or_changed_is_refused(tmp_path, read):
    """Red if a table with a row less, or another digit, goes into the results without a word."""
    table, rows = tmp_path / "t.csv", [{"data": "titanic", "value": v} for v in (0.125, 1.5)]
    storage.write_rows(table, rows, ["data", "value"])
    content = table.read_bytes()
    assert len(read(table)) == 2
    for damaged in (content[: len(content) * 6 // 10], content.replace(b"1", b"7", 1)):
        table.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"t\.csv is damaged \(its SHA-256 is not the one"):
            read(table)


def test_a_damaged_item_of_a_bundle_is_named_when_it_is_read(tmp_path):
    """Red if the error comes from inside, without the file."""
    path = tmp_path / "b.npz"
    storage.write_bundle(path, {"r": Importance([1.0, 2.0], ["a", "b"], "mdi")})
    raw = path.read_bytes()
    at = raw.index(np.array([1.0, 2.0]).tobytes())
    path.write_bytes(raw[:at] + b"\x07" + raw[at + 1 :])
    with (
        storage.open_bundle(path, Importance) as item,
        pytest.raises(ValueError, match=r"b\.npz is damaged \(Bad CRC"),
    ):
        item("r")
