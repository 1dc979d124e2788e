"""Benchmarks: peers have the parts that the worker calls, and the table says what was not timed.

No test depends on a time.
"""

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from reproduction import marked
from scripts import script

ROOT = Path(__file__).resolve().parents[2]
BENCHMARKS = ROOT / "benchmarks"
PEERS = sorted((BENCHMARKS / "peers").glob("*.py"))
PINS = sorted((BENCHMARKS / "peers").glob("*.txt"))


@pytest.fixture(scope="module")
def bench():
    """Import one module of benchmarks/, which is no package."""
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(BENCHMARKS)):
            del sys.modules[name]


@pytest.fixture
def take_reference():
    return script("docs/take_reference.py")


def test_every_entrant_is_installed_by_its_environment(bench):
    environments, races = bench("environments"), bench("tree_shap").RACES
    workloads = bench("workloads").WORKLOADS
    assert sorted(environments.PYTHONS) == [path.stem for path in PINS]
    entered = set()
    for race in races.values():
        assert race.workload in workloads
        for entrant in getattr(race, "entrants", ()):
            peer = (BENCHMARKS / "peers" / f"{entrant.peer}.py").read_text()
            package = re.search(r'PACKAGE = "(.+)"', peer)[1]
            pins = (BENCHMARKS / "peers" / f"{entrant.environment}.txt").read_text()
            assert f"\n{package}==" in pins, entrant
            assert (entrant.rows or 1) <= workloads[race.workload].rows
            entered.add(entrant.peer)
    assert entered == {path.stem for path in PEERS}


def test_an_interpreter_that_is_missing_or_another_is_refused(bench, monkeypatch, tmp_path):
    environments = bench("environments")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(environments.NotInstalledError, match="name one with PEER_PYTHON_999"):
        environments.find_interpreter("9.99")
    monkeypatch.setenv("PEER_PYTHON_999", sys.executable)
    with pytest.raises(environments.NotInstalledError, match=r"is no Python 9\.99"):
        environments.find_interpreter("9.99")


def test_only_the_kernel_is_scaled_to_all_rows(bench):
    rounds = [{"construct": [c, c], "explain": [e, 2 * e]} for c, e in [(90, 90), (3, 1), (3, 1)]]
    milliseconds = bench("race").medians(rounds, scale=10)
    assert milliseconds == {"kernel": [10, 20], "end to end": [13, 23]}


@pytest.fixture(scope="module")
def peers(bench, tmp_path_factory):
    """Processes of peers, which go on to the next race as in a run of all benchmarks."""
    sides = bench("sides")
    with pytest.MonkeyPatch.context() as patch, sides.Peers() as started:
        patch.setattr(sides, "LOGS", tmp_path_factory.mktemp("logs"))
        yield started


@pytest.fixture
def small(bench, peers, monkeypatch):
    """A race on few rows and trees, with the peers of our own environment."""
    race, workloads, environments = bench("race"), bench("workloads"), bench("environments")

    def run(library, parameters, names, measure="tree_shap", **options):
        workload = workloads.Workload("small", library, parameters, small_data, rows=30)
        monkeypatch.setitem(workloads.WORKLOADS, "small", workload)
        entrants = tuple(race.Entrant(peer, environment, rows=20) for peer, environment in names)
        return race.Race("small", entrants, {}, measure, rounds=1, **options).run(peers)

    def python_of(name):
        if name == "ours":
            return sys.executable
        raise environments.NotInstalledError("no such thing")

    monkeypatch.setattr(environments, "python_of", python_of)
    return run


def small_data():
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 5)).astype(np.float32)
    return X, np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5])


SOFTMAX = {"objective": "multi:softprob", "num_class": 3}
MULTICLASS = {"objective": "multiclass", "num_class": 3, "num_leaves": 7}


# XGBoost computes in single precision: some 300 sums of float32 (eps 6e-8) are within 2e-5.
@pytest.mark.long
@pytest.mark.parametrize(
    ("library", "parameters", "peer", "measure", "background", "tolerance"),
    [
        ("sklearn", {"n_estimators": 5, "max_depth": 5}, "shap", "tree_shap", 0, 1e-10),
        ("sklearn", {"n_estimators": 5}, "treeinterpreter", "saabas", 0, 1e-12),
        ("xgboost", {"n_trees": 5}, "xgboost", "tree_shap", 0, 2e-5),
        ("xgboost", {"n_trees": 5}, "xgboost", "saabas", 0, 2e-5),
        ("xgboost", {"n_trees": 5}, "shap", "tree_shap_interventional", 10, 2e-5),
        ("lightgbm", {"n_trees": 5, "num_leaves": 7}, "lightgbm", "tree_shap", 0, 1e-10),
        ("xgboost", {"n_trees": 5, **SOFTMAX}, "xgboost", "explainer", 0, 2e-5),
        ("lightgbm", {"n_trees": 5, **MULTICLASS}, "lightgbm", "explainer", 0, 1e-10),
        ("xgboost", {"n_trees": 5}, "shap", "explainer", 0, 2e-5),
    ],
)
def test_both_sides_explain_the_same(
    small, library, parameters, peer, measure, background, tolerance
):
    if library == "sklearn":
        parameters = {"estimator": "ExtraTreesClassifier", **parameters}
    rows = small(library, parameters, [(peer, "ours")], measure, background=background)
    assert {(r["threads"], r["mode"], r["clock"]) for r in rows} == {
        (n, mode, clock)
        for n in (1, 2)
        for mode in ("kernel", "end to end")
        for clock in ("cpu", "wall")
    }
    for row in rows:
        assert float(row["difference"]) < tolerance and row["note"] == ""
        assert float(row["ours_s"]) > 0 and float(row["peer_s"]) > 0


@pytest.mark.long
def test_peers_that_are_missing_or_fail_are_said(small, bench, take_reference, tmp_path):
    parameters = {"estimator": "ExtraTreesClassifier", "n_estimators": 2}
    # lightgbm's file cannot explain a forest of scikit-learn.
    peers = [("lightgbm", "ours"), ("woodelf", "nowhere"), ("shap", "ours")]
    rows = small("sklearn", parameters, peers, threads=(1,))
    notes = {row["peer"]: row["note"] for row in rows}
    assert notes["woodelf"] == "not installed here: no such thing"
    assert notes["lightgbm"].startswith("failed: ") and notes["shap"] == ""
    from reproduction import storage

    storage.write_rows(tmp_path / "bench.csv", rows, bench("pairs").COLUMNS)
    stored = storage.read_rows(tmp_path / "bench.csv")
    summary = take_reference.bench_summary(stored)
    assert "woodelf: not installed here: no such thing" in summary
    assert len({line.count("|") for line in summary.splitlines() if "|" in line}) == 1
    assert "x shap |" in summary
    assert all(bench("run").line(row) for row in rows)


def test_a_target_and_a_recorded_time_are_no_peers(bench, take_reference):
    """A summary in which a time that we set ourselves stands among other packages."""
    row = dict.fromkeys(bench("pairs").COLUMNS, "") | {"mode": "kernel", "threads": "1"}
    row |= {"benchmark": "SAGE", "clock": "cpu", "ours_s": "0.5", "ratio": "1234.5"}
    rows = [
        row | {"scope": "both", "peer": "fast", "ratio": "2345.6"},
        row | {"scope": "both", "peer": "our target"},
        row | {"scope": "elsewhere", "peer": "slow", "note": "seconds; recorded"},
    ]
    one_thread = take_reference.bench_summary(rows).partition("\nOn two threads")[0]
    assert one_thread.splitlines()[2:] == ["| SAGE | both | 2350x fast |  |"]


def first_cells(bench, page, mark):
    """First cells of the rows of a table on a page."""
    text = marked.between((ROOT / "docs" / page).read_text(), mark)
    return [line.split("|")[1].strip() for line in text.splitlines()[2:]]


@pytest.mark.long
def test_every_first_call_on_the_page_runs(bench, tmp_path):
    """All of them in one process, which prints the seconds that they take."""
    first_call = bench("first_call")
    first_call.write_forests(tmp_path)
    calls = [call for call in first_call.CALLS if call != "warm_up()"]
    no_warnings = "import warnings; warnings.simplefilter('error', UserWarning)"
    code = first_call.CALL % "\n".join([no_warnings, *calls])
    assert first_call.seconds(code, tmp_path, os.environ["NUMBA_CACHE_DIR"]) > 0
    imports = ["`import splitcredit`", "`import numpy, numba`"]
    names = [*imports, *(f"`{call}`" for call in first_call.CALLS)]
    assert names == first_cells(bench, "first_call.md", "costs")


def test_a_table_is_written_between_its_marks(tmp_path):
    page = "before\n<!-- a -->\nold\n<!-- /a -->\nafter\n"
    expected = "before\n<!-- a -->\n| x |\n|---|\n<!-- /a -->\nafter\n"
    (tmp_path / "page.md").write_text(page)
    marked.write(tmp_path / "page.md", "a", "| x |\n|---|\n")
    assert (tmp_path / "page.md").read_text() == expected
    assert marked.between(expected, "a") == "| x |\n|---|"
    with pytest.raises(ValueError, match="no text between <!-- b --> and <!-- /b -->"):
        marked.replaced(page, "b", "| x |")


def test_worker_answers_errors_and_ends_with_its_input():
    command = [sys.executable, str(BENCHMARKS / "worker.py"), "no_such_peer"]
    process = subprocess.run(
        command, input='{"do": "run"}\n', capture_output=True, text=True, check=True, cwd=os.sep
    )
    assert "ModuleNotFoundError" in process.stdout and process.stdout.count("\n") == 1


def test_a_family_is_drawn_by_its_seed_within_its_bounds(bench):
    family = bench("family")
    members = family.members(3)
    assert [str(m) for m in members] != [str(m) for m in family.members(4)]
    for member, same_member in zip(members, family.members(3), strict=True):
        assert (member.title, member.rows, member.parameters) == (
            same_member.title,
            same_member.rows,
            same_member.parameters,
        )
        assert 100 <= member.rows <= 100_000 and 1 <= member.n_classes <= 20
        assert 2 <= member.deep <= 16 and member.leaves * member.rows <= 2 * family.WORK
    assert len({m.library for m in members}) == 3


def test_every_entrant_of_a_family_is_installed_and_given_rows_that_there_are(bench):
    family, environments = bench("family"), bench("environments")
    for member in family.members(3):
        for entrant in family.entrants(member):
            assert (BENCHMARKS / "peers" / f"{entrant.peer}.py").exists()
            assert entrant.environment in environments.PYTHONS
            assert (entrant.rows or 1) <= member.rows


def test_a_peer_that_is_not_right_is_marked_and_does_not_count(bench, peers, monkeypatch):
    family, workloads = bench("family"), bench("workloads")
    environments, race = bench("environments"), bench("race")
    parameters = {"estimator": "ExtraTreesClassifier", "n_estimators": 3}
    member = family.Member("small", "sklearn", parameters, small_data, 30)
    monkeypatch.setitem(workloads.WORKLOADS, "small", member)
    monkeypatch.setattr(environments, "python_of", lambda name: sys.executable)
    entrants = (race.Entrant("shap", "ours", rows=20),)
    small = family.FamilyRace("small", entrants, {}, rounds=1, threads=(1,), seed="3")
    rows = small.run(peers)
    assert {row["family"] for row in rows} == {"3"} and not any(row["note"] for row in rows)
    (slowest,) = family.worst(rows)
    assert slowest["mode"] == "end to end" and slowest["clock"] == "cpu"
    monkeypatch.setattr(race, "difference", lambda ours, theirs: 2 * family.RIGHT)
    rows = small.run(peers)
    assert all("not right" in row["note"] for row in rows) and family.worst(rows) == []


def test_a_family_replaces_its_own_rows_of_the_table_only(bench, monkeypatch, tmp_path, capsys):
    run, storage = bench("run"), importlib.import_module("reproduction.storage")
    monkeypatch.setattr(run, "TABLE", tmp_path / "bench.csv")
    shared = {"benchmark": "b", "mode": "end to end", "clock": "cpu", "threads": 1, "target": ""}

    class Timed:
        def run(self, peers):
            return [shared | {"scope": "drawn", "ratio": "2", "family": "3", "note": ""}]

    monkeypatch.setattr(run.family, "benchmarks", lambda seed, *numbers: [Timed()])
    monkeypatch.setattr(run, "warm_up", lambda: None)
    old_rows = [
        {"scope": name, "family": seed} for name, seed in (("W1", ""), ("old", "3"), ("x", "4"))
    ]
    storage.write_rows(run.TABLE, old_rows, run.COLUMNS)
    run.main("family", "3", "0")
    assert [row["scope"] for row in run.stored()] == ["W1", "old", "x", "drawn"]
    run.main("family", "3")
    assert [row["scope"] for row in run.stored()] == ["W1", "x", "drawn"]
    assert "The lowest ratios of family 3" in capsys.readouterr().out


def test_a_module_replaces_the_rows_of_its_own_works_only(bench, monkeypatch, tmp_path):
    run, storage = bench("run"), importlib.import_module("reproduction.storage")
    monkeypatch.setattr(run, "TABLE", tmp_path / "bench.csv")
    monkeypatch.setattr(run, "warm_up", lambda: None)
    shared = {"mode": "kernel", "clock": "cpu", "threads": "1", "family": ""}
    works = [("SAGE", "led"), ("TreeSHAP", "W1"), ("TreeSHAP", "W1"), ("TreeSHAP", "W2")]
    old_rows = [shared | {"benchmark": name, "scope": scope, "ratio": "1"} for name, scope in works]
    storage.write_rows(run.TABLE, old_rows, run.COLUMNS)

    class Timed:
        def run(self):
            return [old_rows[1] | {"ratio": "2", "target": "", "note": ""}]

    monkeypatch.setattr(bench("tree_shap"), "benchmarks", lambda *names: [Timed()])
    run.main("tree_shap", "W1")
    assert [(row["scope"], row["ratio"]) for row in run.stored()] == [
        ("led", "1"),
        ("W1", "2"),
        ("W2", "1"),
    ]


def test_the_page_names_models_that_were_drawn_with_their_lowest_ratio(take_reference):
    shared = {"clock": "cpu", "scope": "a model, depth 2, 100 rows", "ours_s": "0.5"}
    peers = (("fast", "9", ""), ("slow", "20", ""), ("wrong", "1", "not right"))
    rows = [
        shared | {"mode": mode, "peer": peer, "ratio": ratio, "note": note}
        for mode in ("kernel", "end to end")
        for peer, ratio, note in peers
    ]
    line = take_reference.family_table(rows).splitlines()[-1]
    assert line == "| a model, depth 2 | 100 | 0.5 s | 9x | 9x | fast |"


def test_pages_show_the_times_of_the_reference(take_reference):
    """A page that keeps the ratios of an earlier benchmark."""
    rows = take_reference.storage.read_rows(take_reference.REFERENCE / "bench.csv")
    timed = [row for row in rows if not row["family"]]
    tables = {
        ("docs/benchmarks.md", "summary"): take_reference.bench_summary(timed),
        ("docs/benchmarks.md", "first"): take_reference.first_table(timed),
        ("docs/benchmarks.md", "xeon"): take_reference.on_xeon(),
        ("docs/benchmarks.md", "family"): take_reference.family_table(
            [row for row in rows if row["family"]]
        ),
    }
    xeon = [
        row for row in take_reference.storage.read_rows(take_reference.XEON) if not row["family"]
    ]
    columns = take_reference.ONE_THREAD
    tables["docs/benchmarks.md", "xeon"] = take_reference.least_ratios(xeon, columns)
    for (page, mark), table in tables.items():
        assert marked.between((ROOT / page).read_text(), mark) == table.rstrip(), (page, mark)


def test_guides_of_kernels_give_the_ratios_of_the_reference(take_reference):
    """A gain that was measured once, on other code, and that no page shows."""
    rows = take_reference.storage.read_rows(take_reference.REFERENCE / "bench.csv")

    def ratios(benchmark, peer):
        of_pair = [r for r in rows if (r["benchmark"], r["peer"]) == (benchmark, peer)]
        return sorted(f"{float(r['ratio']):.1f}" for r in of_pair if r["clock"] == "cpu")

    walks = ratios("local MDI", "scikit-learn forest.apply")
    (sampled,) = ratios("sampled PG2, one pair, all features", "xgboost inplace_predict")
    guides = ROOT / "src" / "splitcredit" / "kernels"
    assert f"{walks[0]} to {walks[-1]} times" in (guides / "walks" / "__init__.py").read_text()
    assert f"{sampled} times" in (guides / "prediction_gap" / "__init__.py").read_text()


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/shap_users.md"])
def test_the_tenth_of_the_time_that_first_screens_speak_of_is_what_most_races_give(
    page, take_reference
):
    """With the conversion of the model, on one thread."""
    text = " ".join((ROOT / page).read_text().split())
    assert re.search(r"For many rows TreeSHAP usually takes less than \[?a tenth of the time", text)
    least = {}
    for row in take_reference.storage.read_rows(take_reference.REFERENCE / "bench.csv"):
        kind = row["benchmark"], row["mode"], row["clock"]
        if kind == ("TreeSHAP", "end to end", "cpu") and row["ratio"]:
            ratio = float(row["ratio"])
            least[row["scope"]] = min(ratio, least.get(row["scope"], ratio))
    many_rows = [ratio for scope, ratio in least.items() if not scope.endswith(" 1 row")]
    assert len(many_rows) > 20
    assert sum(ratio > 10 for ratio in many_rows) >= 0.8 * len(many_rows)


def test_the_seconds_on_the_first_screen_are_those_of_the_reference(take_reference):
    """Red if they are of an earlier run or a slower peer. `make bench` measures; no test does."""
    rows = [
        (float(row["peer_s"]), float(row["ours_s"]))
        for row in take_reference.storage.read_rows(take_reference.REFERENCE / "bench.csv")
        if (row["benchmark"], row["mode"], row["clock"], row["threads"])
        == ("TreeSHAP", "end to end", "cpu", "1")
        and row["scope"].startswith("W4: random forest, 100 trees")
        and row["peer_s"]
    ]
    peer_s, ours_s = min(rows)
    text = " ".join((ROOT / "README.md").read_text().split())
    assert f"took {ours_s:.2g} s, and {peer_s:.2g} s there" in text
