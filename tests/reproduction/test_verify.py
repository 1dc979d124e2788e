"""`make verify`: differences between a run and the reference run are found and named."""

import shutil

import pytest

from reproduction import storage
from scripts import ROOT, script

REFERENCE = ROOT / "docs" / "reference"
TABLE = "tables/sutera2021/table4.csv"
verify = script("tools/verify.py")


@pytest.fixture
def results(tmp_path):
    """A run that is equal to the reference; of the tables without cells it has none."""
    shutil.copytree(REFERENCE, tmp_path / "reference")
    (tmp_path / "reference" / "tables.sha256").write_text("")
    return shutil.copytree(tmp_path / "reference", tmp_path / "results")


def compared(results):
    """The status of the comparison, and the differences that were written."""
    status = verify.main(results, results.parent / "reference")
    listing = results / "differences.csv"
    return status, storage.read_rows(listing) if listing.exists() else []


def test_the_reference_equals_itself(results, capsys):
    assert compared(results) == (0, [])
    assert "files are as in the reference run, cell by cell" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "column", "change", "status"),
    [
        (TABLE, "value", lambda text: repr(float(text) * (1 + 1e-12)), 0),
        (TABLE, "value", lambda text: repr(float(text) * (1 + 1e-8)), 1),
        (TABLE, "value", lambda text: "nan", 1),
        ("claims.csv", "verdict", lambda text: "unexplained", 1),
    ],
)
def test_one_changed_cell_is_named_and_only_last_digits_pass(results, file, column, change, status):
    rows = storage.read_rows(results / file)
    before = rows[3][column]
    rows[3][column] = change(before)
    storage.write_rows(results / file, rows, rows[0])
    found, (difference,) = compared(results)
    assert found == status and difference["row"]
    named = [difference[key] for key in ("file", "column", "reference", "own")]
    assert named == [file, column, before, rows[3][column]]


def test_rows_that_are_missing_or_moved_and_files_that_are_gone_or_damaged_are_differences(results):
    rows = storage.read_rows(results / TABLE)
    for changed, words in (
        (rows[1:], "this row is missing"),
        ([*rows, rows[0]], "the reference has no such row"),
        (rows[::-1], "the rows are in another order"),
    ):
        storage.write_rows(results / TABLE, changed, rows[0])
        status, (difference,) = compared(results)
        assert (status, difference["own"]) == (1, words)
    (results / TABLE).write_bytes((results / TABLE).read_bytes()[:-20])
    assert compared(results)[1][0]["own"].startswith("damaged: delete it")
    (results / TABLE).unlink()
    assert compared(results)[1][0]["own"].startswith("missing")
    # Of a large table the reference has the digest alone.
    digests = results.parent / "reference" / "tables.sha256"
    digests.write_text(f"{'0' * 64}  claims.csv\n")
    assert "its SHA-256 is another" in compared(results)[1][1]["own"]


def test_a_run_that_is_reduced_or_not_finished_cannot_be_compared(results):
    rows = storage.read_rows(results / "claims.csv")
    rows[0]["cause"] = "preset quick: sizes are not those of the paper"
    storage.write_rows(results / "claims.csv", rows, rows[0])
    with pytest.raises(SystemExit, match=r"of the preset quick, .* Run make reproduce"):
        compared(results)
    (results / "claims.csv").unlink()
    with pytest.raises(SystemExit, match=r"claims\.csv is missing: the run is not finished"):
        compared(results)
