"""Costs, schedules and keys of planning on cases small enough for paper."""

import csv
import shutil
from types import SimpleNamespace

import pytest

from reproduction.planning import costs, schedule, sources
from reproduction.planning.configuration import read_yaml
from reproduction.planning.jobs import Job
from reproduction.planning.places import CONFIG, SRC
from reproduction.planning.workflow import Workflow


def rates(rule, kind="", data="", **quantities):
    """Rows of a table of costs; two underscores stand for a blank."""
    return [
        {"rule": rule, "kind": kind, "data": data, "quantity": q.replace("__", " "), "value": v}
        for q, v in quantities.items()
    ]


TABLE = [
    *rates("r", start=1, run=0.5, per__rows=0.25, megabytes=10, megabytes__per__rows=2),
    *rates("r", "k", start=2, run=1, per__rows=3, megabytes=20),
    *rates("r", "k", "data+model", factor=4),
]


def test_costs_are_start_and_runs_and_rates_times_work():
    table, work = costs.Costs(TABLE), {"rows": 5.0, "unit without a rate": 7.0}
    job, new_kind = (Job("r", "1", kind, [], [], work, {"rows": 6.0}) for kind in ("k", "new"))
    assert table.start(job) == 2
    assert table.run(job, "", work) == 1 + 3 * 5
    assert table.run(job, "data+model", work) == 1 + 4 * (3 * 5)
    assert table.seconds(job) == 2 + 1 + 3 * 5
    assert table.megabytes(job) == 20
    # A kind that was never measured is as the typical one of its rule.
    assert table.seconds(new_kind) == 1 + 0.5 + 0.25 * 5
    assert table.megabytes(new_kind) == 10 + 2 * 6
    unknown = Job("another rule", "1", "k", [], [], work)
    assert (table.seconds(unknown), table.megabytes(unknown)) == (costs.START, costs.SIZE)


def test_a_job_is_measured_if_its_kind_was_or_its_rule_has_none():
    table = costs.Costs(TABLE)
    kinds = {kind: Job("r", "1", kind, [], []) for kind in ("", "k", "new")}
    assert {kind: table.measured(job) for kind, job in kinds.items()} == {
        "": True,
        "k": True,
        "new": False,
    }
    assert table.measured(Job("another rule", "1", "", [], []))


def test_own_rates_take_the_place_of_those_of_the_project_kind_by_kind(tmp_path, monkeypatch):
    files = {
        "own": rates("data", start=99),
        "project": [*rates("data", start=1), *rates("k", start=2)],
    }
    for name, rows in files.items():
        with open(tmp_path / f"{name}.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, costs.COLUMNS, restval="1")
            writer.writeheader()
            writer.writerows(rows)
    monkeypatch.setattr(costs, "REFERENCE", tmp_path / "project.csv")
    assert costs.read(tmp_path / "own.csv").table == {
        ("data", "", ""): {"start": 99.0},
        ("k", "", ""): {"start": 2.0},
    }


def test_the_jobs_that_most_work_waits_for_run_first():
    """Three jobs on two cores: the long one beside the two short ones."""
    three_jobs = [Job("data", str(i), "", [], [f"f{i}"]) for i in range(3)]
    assert schedule.simulate(three_jobs, [1.0, 1.0, 2.0], [1.0] * 3, 2).wall == 2.0


def test_the_chain_goes_by_the_longest_of_the_jobs_that_wait():
    four_jobs = [
        Job("data", "1", "", [], ["a"]),
        Job("data", "2", "", ["a"], ["b"]),
        Job("data", "3", "", ["a"], ["c"]),
        Job("data", "4", "", [], ["d"]),
    ]
    plan = schedule.simulate(four_jobs, [1.0, 1.0, 3.0, 3.5], [1.0] * 4, 2)
    assert (plan.chain, plan.wall) == (4.0, 4.5)
    assert schedule.simulate(four_jobs, [1.0, 1.0, 3.0, 3.5], [1.0] * 4, 9).wall == 4.0
    empty = schedule.simulate([], [], [], 2)
    assert (empty.wall, empty.chain, empty.megabytes, empty.looks) == (0, 0, 0, 0)


def test_a_job_that_takes_all_cores_runs_by_itself():
    """It is ready at once, and waits for what runs, also where a core is free."""
    three_jobs = [
        Job("tables", "1", "", [], ["a"], timed=True),
        Job("data", "2", "", [], ["b"]),
        Job("data", "3", "", [], ["c"]),
    ]
    plan = schedule.simulate(three_jobs, [4.0, 2.0, 1.0], [100.0, 10.0, 10.0], 2)
    assert (plan.wall, plan.megabytes, plan.looks) == (6.0, 100.0, 2 + 1 + 1)


def test_sources_are_a_module_its_packages_and_what_they_import():
    files = {p.relative_to(SRC).as_posix() for p in sources.sources("reproduction.seeds")}
    assert {"reproduction/__init__.py", "reproduction/seeds.py"} <= files
    assert "reproduction/storage.py" in files  # imported by seeds
    assert "splitcredit/convert/xgboost.py" not in files
    converters = sources.sources("splitcredit.convert")
    assert SRC / "splitcredit" / "convert" / "xgboost.py" in converters


def test_recipes_name_modules_at_any_depth():
    recipe = {"of": [{"dataset": "led"}, ("saabas",)], "iris": "no name", "n": 3}
    expected = ["reproduction.datasets.led", "splitcredit.importances.saabas"]
    assert sorted(sources.named(recipe)) == expected


def test_a_key_has_sixteen_hexadecimal_digits():
    key = sources.digest("reproduction.seeds")
    assert len(key) == 16 and set(key) <= set("0123456789abcdef")


@pytest.mark.parametrize("name", ["beside.csv", "claims/named.yaml", "claims/deeper/named.csv"])
def test_a_file_that_a_module_names_is_part_of_its_key(name, tmp_path, monkeypatch):
    """It stands beside the module or among the claims of its paper."""
    monkeypatch.setattr(sources, "CONFIG", tmp_path / "config")
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("1\n")
    module = tmp_path / "module.py"
    module.write_text(f'TABLE = "{name.removeprefix("claims/")}"\n')
    before = sources._digest_of.__wrapped__(module)
    file.write_text("2\n")
    assert sources._digest_of.__wrapped__(module) != before


def test_a_file_of_the_configuration_is_part_of_the_key_that_names_it(tmp_path, monkeypatch):
    shutil.copytree(CONFIG, tmp_path / "config")
    monkeypatch.setattr(sources, "CONFIG", tmp_path / "config")
    module = tmp_path / "module.py"
    module.write_text('PRESET = "presets/tiny.yaml"\n')
    before = sources._digest_of.__wrapped__(module)
    with open(tmp_path / "config" / "presets" / "tiny.yaml", "a") as file:
        file.write("# changed\n")
    assert sources._digest_of.__wrapped__(module) != before


def _tiny():
    workflow = Workflow(read_yaml(CONFIG / "presets" / "tiny.yaml"))
    places = {
        name: SimpleNamespace(**dict(zip(("paper", "artefact"), name.split("/"), strict=True)))
        for name in workflow.artefacts
    }
    return workflow, places


def test_small_presets_compare_all_artefacts_but_those_that_they_scale():
    workflow, places = _tiny()
    left_out = {name for name, place in places.items() if workflow.incomparable(place)}
    assert left_out == {name for name, keys in workflow.artefacts.items() if keys.get("scaled")}


def test_recorded_tables_are_inputs_of_the_artefacts_that_read_them():
    workflow, places = _tiny()
    recorded = {n: a["recorded"] for n, a in workflow.artefacts.items() if a.get("recorded")}
    assert recorded
    for name, file in recorded.items():
        assert any(path.endswith(file) for path in workflow.table_files(places[name]))
