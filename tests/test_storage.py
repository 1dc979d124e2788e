"""Files of a run: what is said of damaged ones."""

import pytest

from reproduction import storage
from reproduction.stages import experiments
from splitcredit.forest import Forest


@pytest.mark.parametrize("content", [b"", b"{", b"PK\x03\x04 and no more"])
def test_damaged_files_of_a_run_are_named_with_the_remedy(tmp_path, content):
    file = tmp_path / "batch"
    file.write_bytes(content)
    message = r"batch is damaged \(.*\): delete it, and the same command makes it anew"
    with pytest.raises(ValueError, match=message):
        storage.read_json(file)
    with pytest.raises(ValueError, match=message):
        storage.read_bundle(file, Forest)


@pytest.mark.parametrize(
    ("content", "reason"),
    [("", "it is empty"), ("a,b\n1\n", "2 cells"), ("a,b\n1,2,3\n", "2 cells")],
)
def test_a_damaged_table_of_text_is_named_with_the_remedy(tmp_path, content, reason):
    """Red if half a table is read as a whole one."""
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(ValueError, match=rf"t\.csv is damaged \(.*{reason}\): delete it"):
        storage.read_rows(tmp_path / "t.csv")


def test_a_table_of_a_metric_that_lacks_a_run_is_named(tmp_path):
    (tmp_path / "batch.csv").write_text("run,value\nr1,1\n")
    points = [{"run": run, "axes": {}} for run in ("r1", "r2")]
    with pytest.raises(ValueError, match=r"batch\.csv lacks rows: delete it, and"):
        list(experiments._rows(points, [tmp_path / "batch.csv"] * 2))
