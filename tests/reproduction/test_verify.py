"""`make verify`: every difference between a run and the reference run is found and named."""

import hashlib
from pathlib import Path

import pytest

from reproduction import storage
from scripts import script

ROOT = Path(__file__).resolve().parents[2]
CLAIM = {"paper": "p", "artefact": "t", "variant": "v", "cell": "n=1", "printed": ".5"}
CLAIMS = [
    CLAIM | {"ours": "0.51", "verdict": "within", "cause": ""},
    CLAIM | {"cell": "n=2", "ours": "0.7", "verdict": "differs", "cause": "other seeds"},
]
TABLE = [
    {"dataset": "wine", "k": "1", "value": "0.25", "low": "0.2"},
    {"dataset": "wine", "k": "2", "value": "0.5", "low": "0.4"},
    {"dataset": "iris", "k": "1", "value": "-3", "low": ""},
]


@pytest.fixture(scope="module")
def verify():
    return script("tools/verify.py")


def write(folder, claims=CLAIMS, table=TABLE):
    """A folder of results with claims and one table."""
    storage.write_rows(folder / "claims.csv", claims, CLAIMS[0])
    storage.write_rows(folder / "tables" / "p" / "t.csv", table, table[0])
    storage.write_text(folder / "tables.sha256", "")


@pytest.fixture
def folders(tmp_path):
    """Results and reference, which are equal."""
    results, reference = tmp_path / "results", tmp_path / "reference"
    for folder in (results, reference):
        write(folder)
    return results, reference


def listed(results):
    """The differences that were written, without the names of their columns."""
    return [tuple(row.values()) for row in storage.read_rows(results / "differences.csv")]


def test_equal_runs_have_status_0_and_leave_no_list(verify, folders, capsys):
    (folders[0] / "differences.csv").write_text("of an earlier run")
    assert verify.main(*folders) == 0
    assert capsys.readouterr().out == "2 files are as in the reference run, cell by cell\n"
    assert not (folders[0] / "differences.csv").exists()


@pytest.mark.parametrize(
    ("table", "differences"),
    [
        (
            [TABLE[0], TABLE[1] | {"low": "0.5"}, TABLE[2]],
            [("dataset=wine, k=2", "low", "0.4", "0.5")],
        ),
        (
            [*TABLE[1:], TABLE[2] | {"k": "4"}],
            [
                ("dataset=wine, k=1", "", "", "this row is missing"),
                ("dataset=iris, k=4", "", "", "the reference has no such row"),
            ],
        ),
        (
            [*TABLE, TABLE[0]],
            [("dataset=wine, k=1 (row 2 of these)", "", "", "the reference has no such row")],
        ),
        (TABLE[::-1], [("", "", "", "the rows are in another order")]),
        ([row | {"high": "1"} for row in TABLE], [("", "", "", "the columns differ: high")]),
    ],
)
def test_a_difference_is_named_by_row_and_column_with_both_values(
    verify, folders, table, differences
):
    write(folders[0], table=table)
    assert verify.main(*folders) == 1
    assert listed(folders[0]) == [("tables/p/t.csv", *difference) for difference in differences]


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("0.25000000000000006", 0),
        ("0.2500000002", 0),
        ("0.2500000004", 1),
        ("1e-13", 1),
        ("nan", 1),
        ("", 1),
    ],
)
def test_last_digits_are_listed_and_have_status_0(verify, folders, capsys, value, status):
    """Red if another processor fails the comparison, or if more than its rounding passes."""
    write(folders[0], table=[TABLE[0] | {"value": value}, *TABLE[1:]])
    assert verify.main(*folders) == status and len(listed(folders[0])) == 1
    assert ("All of them are rounding" in capsys.readouterr().out) == (status == 0)


@pytest.mark.parametrize(
    ("reference", "own", "is_rounding"),
    [
        ("error of Eq. 11: 5.551e-16", "error of Eq. 11: 4.441e-16", True),
        ("0.3, of 12 rows", "0.30000000000000004, of 12 rows", True),
        ("error of Eq. 11: 5.551e-16", "error of Eq. 12: 5.551e-16", False),
        ("0.3, of 12 rows", "0.3, of 13 rows", False),
        ("x2 is first", "x3 is first", False),
        ("0", "3e-13", True),
    ],
)
def test_numbers_within_a_text_are_compared_like_others(verify, reference, own, is_rounding):
    assert verify.Difference("t", "r", "c", reference, own).is_rounding == is_rounding


def test_a_verdict_that_differs_is_never_rounding(verify):
    assert not verify.Difference(
        "claims.csv", "r", "verdict", "1.0", "1.0000000000000002"
    ).is_rounding
    assert not verify.Difference("t", "", "", "", "the rows are in another order").is_rounding


def test_a_missing_table_means_that_the_run_is_not_finished(verify, folders, capsys):
    (folders[0] / "tables" / "p" / "t.csv").unlink()
    assert verify.main(*folders) == 1
    assert "The run is not finished: 1 tables are missing" in capsys.readouterr().out


def test_times_are_not_compared(verify, folders):
    storage.write_rows(folders[0] / "claims_timing.csv", CLAIMS[:1], CLAIMS[0])
    storage.write_rows(folders[0] / "timing" / "tables" / "p" / "speed.csv", TABLE, TABLE[0])
    storage.write_rows(folders[1] / "claims_timing.csv", CLAIMS, CLAIMS[0])
    storage.write_rows(folders[1] / "timing" / "tables" / "p" / "speed.csv", TABLE[:1], TABLE[0])
    assert verify.main(*folders) == 0


def test_a_large_table_is_compared_by_its_digest(verify, folders):
    results, reference = folders
    large = results / "tables" / "p" / "large.csv"
    storage.write_rows(large, TABLE, TABLE[0])
    digest = hashlib.sha256(large.read_bytes()).hexdigest()
    (reference / "tables.sha256").write_text(f"{digest}  tables/p/large.csv\n")
    assert verify.main(*folders) == 0
    storage.write_rows(large, TABLE[1:], TABLE[0])
    assert verify.main(*folders) == 1
    assert listed(results)[0][:2] == ("tables/p/large.csv", "")
    large.unlink()
    assert verify.main(*folders) == 1
    assert listed(results)[0][4].startswith("missing")


def test_a_run_that_is_not_finished_or_reduced_cannot_be_compared(verify, folders):
    write(folders[0], [CLAIMS[0] | {"cause": "preset quick: sizes are not those of the paper"}])
    with pytest.raises(SystemExit, match=r"of the preset quick, .* Run make reproduce"):
        verify.main(*folders)
    (folders[0] / "claims.csv").unlink()
    with pytest.raises(SystemExit, match=r"claims\.csv is missing: the run is not finished"):
        verify.main(*folders)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("claims.csv", None, "claims.csv is missing: the reference is not"),
        ("tables.sha256", None, "tables.sha256 is missing: the reference is not"),
        ("tables.sha256", "05483ecf tables/p/t.csv", "tables.sha256 is damaged: git restores it"),
    ],
)
def test_a_reference_that_is_not_whole_is_named(verify, folders, name, content, message):
    """Red if the tables that only have a digest count as equal when their digests are missing."""
    (folders[1] / name).unlink()
    if content:
        (folders[1] / name).write_text(content)
    with pytest.raises(SystemExit, match=message):
        verify.main(*folders)


@pytest.mark.parametrize("damage", [lambda content: b"\xe9\xff", lambda content: content[:-20]])
@pytest.mark.parametrize("name", ["claims.csv", "tables/p/t.csv"])
def test_a_damaged_table_is_a_difference(verify, folders, capsys, name, damage):
    path = folders[0] / name
    path.write_bytes(damage(path.read_bytes()))
    assert verify.main(*folders) == 1
    assert f"{name}: damaged: delete it" in capsys.readouterr().out


def test_measured_columns_never_name_a_row(verify):
    """A changed value would otherwise look like one row missing and one too many."""
    columns = ["case", "value", "sample", "x"]
    rows = [dict(zip(columns, ("a", "1", str(k), "0"), strict=True)) for k in range(3)]
    assert verify.key_columns(columns, rows) == ["case"]


def test_the_reference_equals_itself(verify, tmp_path):
    """Its tables have rows of equal keys, too, which must not get lost."""
    reference = ROOT / "docs" / "reference"
    for path in verify.tables(reference):
        rows = storage.read_rows(path)
        keys = verify.key_columns(storage.read_header(path), rows)
        assert len(verify.by_key(rows, keys)) == len(rows), path
        assert not verify.of_file(path.relative_to(reference).as_posix(), reference, reference)
