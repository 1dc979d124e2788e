"""Claims: the pure verdict, the rules, and the claims of the committed reference run."""

import argparse
import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from reproduction import claims, claims_summary, papers, storage
from reproduction.__main__ import main
from reproduction.claims import Basis, judge, parse_cell, rules_for, tolerance, verdict
from reproduction.planning import configuration
from reproduction.planning.places import PAPERS, ROOT
from reproduction.planning.workflow import Workflow
from reproduction.report import page, texts
from reproduction.stages import artefacts
from scripts import script

REFERENCE = ROOT / "docs" / "reference"
CLAIMS_FILES = ("claims.csv", "claims_timing.csv")
NAN = math.nan
ROUNDING = Basis()
MONTE_CARLO = Basis("monte-carlo", k=3, standard_error=0.1)
SEEDS = Basis("seeds", low=0.962, high=0.987)
# In halves and eighths, which binary numbers hold exactly.
HALVES = Basis("monte-carlo", k=2, standard_error=0.5)
RANGE = Basis("seeds", low=2.5, high=3.5)


@pytest.mark.parametrize(
    ("basis", "printed", "ours", "expected"),
    [
        (ROUNDING, "0.906", 0.9064, "equal"),
        (ROUNDING, "0.906", 0.9066, "differs"),
        (ROUNDING, "72.47", 72.4719, "equal"),
        (ROUNDING, "0.000", -0.0001, "equal"),
        (ROUNDING, "100.00", 99.9949, "differs"),
        (ROUNDING, "Binary", "Binary", "equal"),
        (ROUNDING, "Integer, Real", "Real", "differs"),
        (ROUNDING, "10", None, "not comparable"),
        (ROUNDING, "0.5", NAN, "differs"),
        (ROUNDING, "1e3", 1000.2, "equal"),
        (ROUNDING, "3.346e+08", 334_562_000.0, "equal"),
        (ROUNDING, "3.346e+08", 334_651_000.0, "differs"),
        (ROUNDING, "1.3e+05", 125_000.0, "differs"),
        # So many standard errors, and half a printed unit.
        (MONTE_CARLO, "1.00", 1.304, "within"),
        (MONTE_CARLO, "1.00", 1.306, "differs"),
        # Draws that scatter more than the ceiling compare nothing.
        (Basis("monte-carlo", k=3, standard_error=0.6, ceiling=0.5), "1.00", 1.1, "differs"),
        (Basis("monte-carlo", k=3, standard_error=0.5, ceiling=0.5), "1.00", 1.1, "within"),
        # Print and ours lie in the range of other seeds.
        (SEEDS, "0.970", 0.974, "within"),
        (SEEDS, "0.970", 0.5, "differs"),
        (SEEDS, "0.970", 0.97, "equal"),
        (SEEDS, "0.95", 0.974, "differs"),
        # The ends belong to it.
        (HALVES, "2", 3.5, "within"),
        (HALVES, "2", 0.5, "within"),
        (RANGE, "2", 3.0, "within"),
        (RANGE, "4", 3.0, "within"),
        (RANGE, "1", 3.0, "differs"),
        (RANGE, "5", 3.0, "differs"),
    ],
)
def test_a_printed_value_is_judged_by_its_basis(basis, printed, ours, expected):
    assert verdict(printed, ours, basis) == expected


def test_tolerances_are_shown_with_half_a_printed_unit():
    assert float(tolerance("1.00", MONTE_CARLO)) == pytest.approx(0.305)
    assert tolerance("0.970", SEEDS) == "0.9615..0.9875"


def test_rules_belong_to_cells_and_later_ones_go_over_earlier_ones():
    # Values of cells may hold semicolons and equal signs.
    cell = "dataset=wine;statistic=frac>=0.9;quantity=I(Y1;X1|X2)"
    keys = {"dataset": "wine", "statistic": "frac>=0.9", "quantity": "I(Y1;X1|X2)"}
    assert parse_cell(cell) == keys
    rules = [
        {"variant": "described", "cause": "a"},
        {"where": {"dataset": "led"}, "basis": "seeds", "cause": "b"},
    ]
    assert rules_for(rules, "published", "dataset=iris") == {}
    assert rules_for(rules, "described", "dataset=iris") == {"cause": "a"}
    assert rules_for(rules, "described", "dataset=led") == {"basis": "seeds", "cause": "b"}


EXPLAINED = {"cause": "why", "test": "tests/x.py::y", "expected": [0.6, 0.8]}


def judged(ours, *rules, printed="0.5", columns=(), **options):
    """The claim of a cell that prints 0.5."""
    table = [{"name": "a", "value": ours, **dict(columns)}]
    (claim,) = judge("p", "t", [{"cell": "name=a", "printed": printed}], table, rules, **options)
    return claim


def test_a_difference_needs_cause_test_and_range_and_a_cause_stands_only_where_one_is_needed():
    for left in EXPLAINED:
        rule = {key: value for key, value in EXPLAINED.items() if key != left}
        assert judged("0.7", rule)["verdict"] == "unexplained"
    everywhere = EXPLAINED | {"expected": [0, 1]}
    for ours, rule, expected in (
        ("0.7", EXPLAINED, ("differs", "why", "tests/x.py::y")),
        ("0.7", everywhere, ("differs", "why", "tests/x.py::y")),
        (None, everywhere, ("not comparable", "why", "tests/x.py::y")),
        ("0.5", everywhere, ("equal", "", "")),
    ):
        claim = judged(ours, rule)
        assert (claim["verdict"], claim["cause"], claim["test"]) == expected


@pytest.mark.parametrize(
    ("ends", "ours", "outcome"),
    [
        ([0.6, 0.8], "0.7", "differs"),
        ([0.6, 0.8], "0.9", "unexplained"),
        ([0.6, 0.8], "-0.7", "unexplained"),
        (["printed", 1], "0.7", "differs"),
        (["printed", 1], "0.3", "unexplained"),
        ([None, "printed"], "0.3", "differs"),
        (["low", "high"], "0.2", "differs"),
        (["low", "high"], "0.4", "unexplained"),
        (["low", "no_end"], "0.2", "unexplained"),
        # A cause that is there is held against values that agree, too.
        ([0.6, 0.8], "0.5", "unexplained"),
        ([0.6, 0.8], "nan", "unexplained"),
    ],
)
def test_a_cause_explains_only_the_values_that_it_expects(ends, ours, outcome):
    columns = {"low": "0.1", "high": "0.3", "no_end": ""}
    assert judged(ours, EXPLAINED | {"expected": ends}, columns=columns)["verdict"] == outcome
    # The range is that of its cause, and goes with it.
    claim = judged(ours, EXPLAINED, {"cause": "another"})
    assert claim["verdict"] == ("equal" if ours == "0.5" else "unexplained")


def test_what_cannot_be_compared_says_why():
    """Then columns that its basis needs may be empty, and ours is shown all the same."""
    empty = {"standard_error": ""}
    drawn = {"basis": "monte-carlo", "k": 3}
    by_rule = judged("0.7", drawn, {"where": {"name": "a"}, "incomparable": "x"}, columns=empty)
    by_run = judged("0.7", drawn, columns=empty, incomparable="preset tiny")
    for claim, cause in ((by_rule, "x"), (by_run, "preset tiny")):
        shown = [claim[key] for key in ("verdict", "cause", "ours", "printed")]
        assert shown == ["not comparable", cause, "0.7", "0.5"]
    assert judged("0.7", drawn, columns=empty)["verdict"] == "unexplained"


def test_a_misprint_is_judged_as_it_is_read_and_shown_as_printed():
    """A zero without decimals has the tolerance of its neighbors, and not half a unit of 1."""
    rule = {"read": "0.00", "reason": "printed without decimals"}
    claim = judged("0.004", rule, printed="0")
    shown = [claim[key] for key in ("verdict", "printed", "tolerance", "reason")]
    assert shown == ["equal", "0", "0.005", rule["reason"]]
    assert judged("0.006", rule, printed="0")["verdict"] == "unexplained"


@pytest.mark.parametrize(
    ("value", "limit", "kind", "interval", "expected"),
    [
        (2.0, 2.0, "at most", None, "holds"),
        (3.0, 2.0, "at most", None, "differs"),
        (2.0, 2.0, "at least", None, "holds"),
        (1.0, 2.0, "at most", (0.5, 2.0), "holds"),
        (3.0, 2.0, "at least", (2.0, 4.0), "holds"),
        (1.0, 2.0, "at least", None, "differs"),
        (1.0, 2.0, "at most", (0.5, 2.1), "undecided"),
        (3.0, 2.0, "at most", (1.9, 4.0), "undecided"),
        (3.0, 2.0, "at most", (2.1, 4.0), "differs"),
        (3.0, 2.0, "at least", (1.9, 4.0), "undecided"),
        (NAN, 2.0, "at most", None, "differs"),
        (NAN, 2.0, "at least", None, "differs"),
        (None, 2.0, "at most", None, "not comparable"),
    ],
)
def test_a_finding_is_judged_by_its_interval(value, limit, kind, interval, expected):
    assert claims.statement_verdict(value, limit, kind, interval) == expected


RULES = {"s01": {"test": "tests/x.py::y", "cause": "why"}}


def stated(value, limit=1e-12, rules=RULES, **options):
    """The row of one check of statement s01, variant "v"."""
    check = papers.finding("s01", "v", "error", value, limit, **options)
    (row,) = claims.judge_statements("p", "t", [check], {"s01": "It is so"}, rules)
    return row


def test_statements_are_judged_by_the_number_that_decides_them():
    interval = {"interval": (1.0, 4.0), "basis": "monte-carlo"}
    variants = {"v": {"cause": "its own", "test": "tests/x.py::z"}}
    without_cause = {"s01": {"test": "tests/x.py::y"}}
    for row, expected in (
        (stated(1e-15), ("holds", "error: 1e-15", "", "")),
        (stated(1.0, expected=(0, 1)), ("differs", "error: 1", "why", "")),
        (stated(3.0, 2.0, kind="at least"), ("holds", "error: 3", "", "")),
        (stated(None), ("not comparable", "error", "why", "")),
        (stated(3.0, 2.0, **interval), ("undecided", "error: 3", "why", "1..4")),
        # Of a run too small for an error the report had "nan..nan".
        (stated(0.0, interval=(NAN, NAN)), ("unexplained", "error: 0", "why", "")),
        (stated(1.0, rules=without_cause), ("unexplained", "error: 1", "", "")),
        (
            stated(1.0, rules={"s01": RULES["s01"] | {"variants": variants}}),
            ("unexplained", "error: 1", "its own", ""),
        ),
    ):
        assert tuple(row[key] for key in ("verdict", "ours", "cause", "interval")) == expected


@pytest.mark.parametrize(
    ("value", "options", "outcome"),
    [
        (1.0, {}, "unexplained"),
        (1.0, {"possible": (0, None)}, "unexplained"),
        (1.0, {"expected": (0.5, None)}, "differs"),
        (0.1, {"expected": (0.5, None)}, "unexplained"),
        (0.0, {"expected": (0.5, None)}, "unexplained"),
        (0.0, {"possible": (0, 1)}, "holds"),
        (-1.0, {"possible": (0, 1)}, "unexplained"),
        (2.0, {"possible": (0, 1), "expected": (0.5, 3)}, "unexplained"),
        (NAN, {"expected": (0.5, 3)}, "unexplained"),
        # A cause that predicts all that is possible explains nothing.
        (70.0, {"possible": (0, 72), "expected": (0, 72)}, "unexplained"),
        (70.0, {"possible": (0, 72), "expected": (-1, 100)}, "unexplained"),
        (70.0, {"possible": (0, 72), "expected": (0, None)}, "unexplained"),
        (70.0, {"possible": (0, 72), "expected": (60, 72)}, "differs"),
    ],
)
def test_a_finding_is_explained_only_where_its_cause_expects_it(value, options, outcome):
    assert stated(value, **options)["verdict"] == outcome
    assert stated(0.0, possible=(0, 72))["expected"] == "any of 0..72"


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda: Basis("luck"), "basis 'luck': expected one of rounding"),
        (lambda: stated(1.0, basis="luck"), "basis 'luck': expected one of rounding"),
        (
            lambda: stated(1.0, basis="our reading"),
            "p/t, s01, v: a limit that was chosen needs a reason",
        ),
        (
            lambda: stated(3.0, interval=(0.0, 1.0)),
            r"the value 3 is not in its interval 0\.\.1",
        ),
        (
            lambda: judged("0.7", EXPLAINED | {"expected": [0, "hihg"]}),
            "'hihg' is expected by a rule, and is no column",
        ),
        # A cell must be in the table exactly once.
        (lambda: judge("p", "t", CELL, [{"other": "a", "value": "1"}], []), "no column 'name'"),
        (lambda: judge("p", "t", CELL, [{"name": "b", "value": "1"}], []), "0 rows of the table"),
        (lambda: judge("p", "t", CELL, [{"name": "a", "value": "1"}] * 2, []), "2 rows of the ta"),
    ],
)
def test_what_cannot_be_judged_is_refused(refused, message):
    with pytest.raises(ValueError, match=message):
        refused()


CELL = [{"cell": "name=a", "printed": "0.5"}]
OURS = {"basis": "our reading"}
STAND_IN = {"data": "stand-in"}
TIMED = {"counts": claims.BY_CLOCK}
IDENTITY = {"counts": "identity"}


@pytest.mark.parametrize(
    ("checks", "outcome"),
    [
        ([("holds", {}), ("holds", {})], ("holds", "the paper's")),
        ([("holds", {}), ("differs", {})], ("holds in part", "the paper's")),
        ([("holds", {}), ("undecided", {})], ("undecided in part", "the paper's")),
        ([("holds", {}), ("undecided", {}), ("differs", {})], ("holds in part", "the paper's")),
        ([("differs", {}), ("undecided", {})], ("does not hold", "the paper's")),
        ([("unexplained", {})], ("does not hold", "the paper's")),
        ([("undecided", {}), ("undecided", {})], ("undecided", "the paper's")),
        ([("not comparable", {})], ("not judged", "the paper's")),
        ([("holds", {}), ("not comparable", {})], ("holds", "the paper's")),
        # A reading of ours alone says of no statement that it does not hold.
        ([("differs", OURS), ("undecided", OURS)], ("not by our reading", "the paper's")),
        ([("differs", OURS), ("differs", {})], ("does not hold", "the paper's")),
        # A check that can come out in one way only refutes and confirms nothing.
        ([("differs", IDENTITY), ("holds", {})], ("holds", "the paper's")),
        ([("differs", IDENTITY)], ("not judged", "the paper's")),
        # Stand-in data, and the clock, decide only where there is nothing else.
        ([("holds", STAND_IN)], ("holds", "stand-in")),
        ([("holds", STAND_IN), ("differs", {})], ("does not hold", "the paper's")),
        ([("not comparable", STAND_IN)], ("not judged", "stand-in")),
        ([("not comparable", STAND_IN), ("not comparable", {})], ("not judged", "the paper's")),
        ([("differs", TIMED)], ("does not hold", claims.CLOCK)),
        ([("holds", {}), ("differs", TIMED)], ("holds", "the paper's")),
    ],
)
def test_a_statement_counts_once_however_many_checks_it_has(checks, outcome):
    rows = [stated(0.0) | {"verdict": verdict} | fields for verdict, fields in checks]
    assert claims.outcomes(rows) == {("p", "s01"): outcome}
    (line,) = claims_summary.statement_counts(rows).values()
    assert sum(line.values()) == line[outcome[0]] == 1


def test_a_time_outside_its_band_fails_no_run_and_is_counted_apart():
    """On a busy machine one stood in the red box, as unexplained."""
    timed = claims.by_the_clock([stated(1.0), stated(0.0)])
    assert [row["verdict"] for row in timed] == [claims.OUTSIDE, "holds"]
    assert claims.unexplained(timed) == [] != claims.unexplained([stated(1.0)])
    assert claims_summary.lines(timed)[-1] == "checks by the clock outside their band: 1"


@pytest.mark.parametrize(
    ("found", "mark"),
    [
        (["equal", "holds"], "reproduced"),
        (["equal", "differs"], "reproduced in part"),
        (["unexplained", "not comparable"], "not reproduced"),
        (["not comparable"], "open"),
        ([], ""),
    ],
)
def test_the_mark_of_a_paper_is_of_all_that_counts(found, mark):
    rows = [
        stated(0.0) if v == "holds" else judged("0.5") | {"variant": "published", "verdict": v}
        for v in found
    ]
    assert claims_summary.standing(rows)["mark"] == mark


def test_printed_values_are_counted_by_artefact_and_stand_ins_apart():
    assert "| p/t | published | 1 | 1 |" in claims_summary.summary([judged("0.5")])
    (counted,) = claims_summary.counts([judged("0.5", data="stand-in")]).items()
    assert counted[0] == ("p/t (stand-in)", "published")
    assert counted[1]["equal"] == sum(counted[1].values()) == 1


def of_reference():
    return [row for name in CLAIMS_FILES for row in storage.read_rows(REFERENCE / name)]


def test_the_check_ends_with_status_1_and_names_what_is_unexplained(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for rules, passes in (([], False), ([EXPLAINED], True)):
        storage.write_rows("claims.csv", [judged("0.7", *rules)], claims.COLUMNS)
        files = ["--claims", "claims.csv", "--report", "report.html", "--log", "check.log"]
        words = ["check", *files, "--out", "verdict.txt"]
        if passes:
            assert main(words) == 0
        else:
            with pytest.raises(SystemExit, match=r"p/t, .*name=a: printed '0.5', ours 0.7"):
                main(words)
        assert ("printed '0.5', ours 0.7" in Path("check.log").read_text()) != passes
        assert Path("verdict.txt").exists() == passes


def test_summary_verdict_and_report_of_a_run_count_alike(tmp_path):
    """They gave 120, 129 and 1672, without saying of what."""
    names = ("claims.csv", "claims.md", "timing.csv", "verdict.txt")
    table, summary, timings, verdict = (tmp_path / name for name in names)
    for name in CLAIMS_FILES:
        storage.write_json(tmp_path / f"{name}.json", storage.read_rows(REFERENCE / name))
    judgments, of_times = (tmp_path / f"{name}.json" for name in CLAIMS_FILES)
    words = ["claims", "--judged", judgments, "--timed", of_times, "--table", table]
    words += ["--summary", summary, "--timings", timings]
    assert main([str(word) for word in words]) == 0
    words = ["check", "--claims", table, timings, "--report", "r", "--log", tmp_path / "l"]
    assert main([str(word) for word in (*words, "--out", verdict)]) == 0
    passed, *lines = verdict.read_text().splitlines()
    assert re.fullmatch(r"passed: .*; judged \d+ of \d+ printed values and \d+ of \d+ .*", passed)
    alike = [line for line in lines if not line.startswith(claims_summary.TIMED)]
    assert len(alike) == len(lines) - 1 == 3
    assert all(f"- {line}\n" in summary.read_text() for line in alike)
    html = page.render(of_reference(), Workflow({}).config, [], [])
    shown = " ".join(re.sub("<[^>]*>", " ", html).split())
    for line in lines:
        kind, total, counted = re.fullmatch(r"(.+) \((\d+)\): (.+)", line).groups()
        assert f"{total} {kind} {counted.replace(',', '')}" in shown


def test_every_statement_that_holds_in_part_says_which_part():
    decided = claims.outcomes(storage.read_rows(REFERENCE / "claims.csv"))
    in_part = {key for key, (outcome, _) in decided.items() if outcome.endswith("in part")}
    by_paper = {paper for paper, _ in decided}
    assert in_part == {(paper, cell) for paper in by_paper for cell in texts.parts(paper)}


def test_every_printed_value_has_a_cell_once():
    for path in sorted(PAPERS.glob("*/claims/*.csv")):
        if path.stem != "statements":
            cells = [row["cell"] for row in storage.read_rows(path)]
            assert len(set(cells)) == len(cells), path
            assert storage.read_header(path) == ["cell", "printed"], path


def test_every_statement_has_a_test_and_tests_named_as_evidence_exist():
    decided = {
        (name.partition("/")[0], statement)
        for name, artefact in configuration.artefacts().items()
        for statement in artefact.get("statements", [])
    }
    assert all(artefacts.rules_of(paper)["statements"][s]["test"] for paper, s in decided)
    for path in sorted(PAPERS.glob("*/claims/rules.yaml")):
        for file, name in re.findall(r"(tests/\S+)::(\w+)", path.read_text()):
            assert f"\ndef {name}(" in (ROOT / file).read_text(), f"{path}: {name}"


def judge_file(name, table, out, *judging):
    """Judge an artefact by its table, as its job does."""
    parser = argparse.ArgumentParser()
    artefacts.add_arguments(parser)
    files = ["--table", str(table), "--kept", "", "--out", str(out)]
    artefacts.judgment(parser.parse_args(["--artefact", name, *files, *judging]))
    return storage.read_json(out)


@pytest.mark.parametrize(("file", "folder"), [("claims.csv", ""), ("claims_timing.csv", "timing")])
def test_the_claims_of_the_reference_follow_from_its_own_tables(file, folder, tmp_path):
    """Red if a table was taken over without the claims that are made from it, or a rule was edited.

    Judged anew, with the arguments that a full run has. Of two tables only the digest is kept.
    """
    flow, by_name = Workflow({}), {}
    for path in flow.judgments(timed=bool(folder)):
        name = path.split("judgments/")[1].removesuffix(".json")
        table = REFERENCE / folder / "tables" / f"{name}.csv"
        if table.exists():
            judging = flow.judging(SimpleNamespace(artefact=name))
            by_name[name] = judge_file(name, table, tmp_path / "judged", *judging)
    rows = [row for name in sorted(by_name) for row in by_name[name]]
    storage.write_rows(tmp_path / "claims.csv", rows, claims.COLUMNS)
    stored = storage.read_rows(REFERENCE / file)
    stored = [row for row in stored if f"{row['paper']}/{row['artefact']}" in by_name]
    stored.sort(key=lambda row: f"{row['paper']}/{row['artefact']}")
    assert stored and storage.read_rows(tmp_path / "claims.csv") == stored


def test_wrong_numbers_in_the_reference_come_out_unexplained(capsys):
    """Red if causes explain whatever stands in a cell: 95 % of each kind are to be seen."""
    assert script("tools/claims_mutated.py").main([str(REFERENCE)]) == 0
    *_, all_papers, left_out = capsys.readouterr().out.splitlines()
    seen, made = re.search(r"(\d+) of (\d+)", all_papers).groups()
    assert int(made) > 1000 and int(seen) > 0.95 * int(made)
    assert left_out.endswith(": 0")


def test_an_artefact_decides_the_statements_that_it_is_listed_with(tmp_path):
    """Red if a statement that the code no longer judges goes by unseen."""
    place = "sutera2021/table4", REFERENCE / "tables" / "sutera2021" / "table4.csv"
    out = tmp_path / "judged.json"
    for decided in (["s20", "s21"], ["s21"]):
        with pytest.raises(ValueError, match=re.escape(f"decides ['s20'], not {decided}")):
            judge_file(*place, out, "--decided", *decided)
        assert not out.exists()
    assert "s20" in {row["cell"] for row in judge_file(*place, out, "--decided", "s20")}


def test_the_page_of_results_shows_the_summary_of_the_reference_run():
    text = (ROOT / "docs" / "results.md").read_text()
    shown = re.search(r"<!-- claims -->\n(.*?)<!-- /claims -->", text, re.S)[1]
    assert shown == claims_summary.summary(of_reference())
