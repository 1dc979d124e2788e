"""Claims: the pure verdict, the rules, and the tolerances of the committed reference run."""

import ast
import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from reproduction import claims, claims_page, storage
from reproduction.claims import Basis, judge, parse_cell, rules_for, tolerance, verdict
from reproduction.planning import configuration
from reproduction.planning.places import PAPERS

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.parametrize(
    ("printed", "ours", "expected"),
    [
        ("0.906", 0.9064, "equal"),
        ("0.906", 0.9066, "differs"),
        ("72.47", 72.4719, "equal"),
        ("1", 1.0, "equal"),
        ("-0.19", -0.1887, "equal"),
        ("0.000", -0.0001, "equal"),
        ("100.00", 99.9949, "differs"),
        ("Binary", "Binary", "equal"),
        ("Integer, Real", "Real", "differs"),
        ("10", None, "not comparable"),
        ("0.5", float("nan"), "differs"),
        ("1e3", 1000.2, "equal"),
        ("3.346e+08", 334_562_000.0, "equal"),
        ("3.346e+08", 334_651_000.0, "differs"),
        ("1.3e+05", 125_000.0, "differs"),
    ],
)
def test_rounding_means_that_ours_rounds_to_the_printed_text(printed, ours, expected):
    assert verdict(printed, ours, Basis()) == expected


def test_monte_carlo_allows_k_standard_errors_and_half_a_printed_unit():
    basis = Basis("monte-carlo", k=3, standard_error=0.1)
    assert verdict("1.00", 1.304, basis) == "within"
    assert verdict("1.00", 1.306, basis) == "differs"
    assert float(tolerance("1.00", basis)) == pytest.approx(0.305)


def test_seeds_asks_whether_print_lies_in_the_range_of_our_other_seeds():
    basis = Basis("seeds", low=0.962, high=0.987)
    assert verdict("0.970", 0.974, basis) == "within"
    assert verdict("0.970", 0.97, basis) == "equal"
    assert verdict("0.95", 0.974, basis) == "differs"
    assert tolerance("0.970", basis) == "0.9615..0.9875"


def test_sign_is_only_a_direction():
    assert verdict("-0.3", -9.0, Basis("sign")) == "direction"
    assert verdict("-0.3", 9.0, Basis("sign")) == "differs"


def test_unknown_basis_is_refused():
    with pytest.raises(ValueError, match="basis 'luck': expected one of rounding"):
        Basis("luck")


def test_cells_may_hold_semicolons_and_equal_signs():
    assert parse_cell("dataset=wine;statistic=frac>=0.9") == {
        "dataset": "wine",
        "statistic": "frac>=0.9",
    }
    assert parse_cell("quantity=I(Y1;X1|X2)") == {"quantity": "I(Y1;X1|X2)"}


def test_later_rules_go_over_earlier_ones():
    rules = [
        {"variant": "described", "cause": "a"},
        {"where": {"dataset": "led"}, "basis": "seeds", "cause": "b"},
    ]
    assert rules_for(rules, "published", "dataset=iris") == {}
    assert rules_for(rules, "described", "dataset=iris") == {"cause": "a"}
    assert rules_for(rules, "described", "dataset=led") == {"basis": "seeds", "cause": "b"}


PRINTED = [{"cell": "name=a", "printed": "0.5"}]


def test_a_difference_without_cause_and_test_is_unexplained():
    table = [{"name": "a", "value": "0.7"}]
    for rule in ({}, {"cause": "why"}, {"test": "tests/x.py::y"}):
        (claim,) = judge("p", "t", PRINTED, table, [rule])
        assert claim["verdict"] == "unexplained"
    (claim,) = judge("p", "t", PRINTED, table, [{"cause": "why", "test": "tests/x.py::y"}])
    assert (claim["verdict"], claim["cause"]) == ("differs", "why")
    assert claims.unexplained([claim]) == []


def test_the_check_ends_with_status_1_and_names_what_is_unexplained(tmp_path):
    table = [{"name": "a", "value": "0.7"}]
    for rule, status in (({}, 1), ({"cause": "why", "test": "tests/x.py::y"}, 0)):
        rows = judge("p", "t", PRINTED, table, [rule])
        storage.write_rows(tmp_path / "claims.csv", rows, claims.COLUMNS)
        command = ["check", "--claims", "claims.csv", "--page", "claims.html"]
        command += ["--log", "check.log", "--out", "verdict.txt"]
        done = subprocess.run(
            [sys.executable, "-m", "reproduction", *command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            text=True,
            capture_output=True,
        )
        assert done.returncode == status
        line = "p/t, published, name=a: printed '0.5', ours 0.7"
        assert (line in done.stderr) == (line in (tmp_path / "check.log").read_text()) == status
        assert (tmp_path / "verdict.txt").exists() == (status == 0)


def test_the_page_names_what_is_unexplained_and_what_was_not_made():
    judged = judge("p", "t", PRINTED, [{"name": "a", "value": "0.7"}], [])
    lost = [{"artefact": "p/f", "log": "results/logs/fit.log", "reason": "fit: ValueError: <no>"}]
    page = claims_page.page(judged, {"p/t": "title", "p/f": "other"}, [], "full", lost)
    assert "1 of the values differ without a known cause" in page
    assert "incomplete: 1 of 2 artefacts were not made" in page
    assert "fit: ValueError: &lt;no&gt;" in page and "results/logs/fit.log" in page
    assert "prints no numbers" not in page
    whole = claims_page.page(judged[:0], {"p/t": "title"}, [], "full")
    assert "incomplete" not in whole and "without a known cause" not in whole


def test_statements_are_judged_by_the_number_that_decides_them():
    finding = {"statement": "s01", "measured": "error", "value": 1e-15, "limit": 1e-12}
    finding["kind"] = "at most"
    evidence = {"s01": {"test": "tests/x.py::y", "cause": "why"}}

    def judged(**changes):
        (claim,) = claims.judge_statements(
            "p", "t", [{**finding, **changes}], {"s01": "It is so"}, changes.pop("rules", evidence)
        )
        return claim["verdict"], claim["ours"], claim["cause"]

    assert judged() == ("within", "error: 1e-15", "")
    assert judged(value=1.0) == ("differs", "error: 1", "why")
    assert judged(value=3.0, limit=2.0, kind="at least") == ("direction", "error: 3", "")
    assert judged(value=None) == ("not comparable", "error", "why")
    rules = {"s01": {"test": "tests/x.py::y"}}
    wrong = [{**finding, "value": 1.0}]
    (claim,) = claims.judge_statements("p", "t", wrong, {"s01": "It is so"}, rules)
    assert claim["verdict"] == "unexplained"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([{"other": "a", "value": "1"}], "no column 'name'"),
        ([{"name": "b", "value": "1"}], "0 rows of the table are 'name=a'"),
        ([{"name": "a", "value": "1"}] * 2, "2 rows of the table are 'name=a'"),
    ],
)
def test_a_cell_must_be_in_the_table_exactly_once(table, message):
    with pytest.raises(ValueError, match=message):
        judge("p", "t", PRINTED, table, [])


def test_a_reduced_scale_is_not_compared():
    table = [{"name": "a", "value": "0.5"}]
    (claim,) = judge("p", "t", PRINTED, table, [], incomparable="preset tiny")
    assert (claim["verdict"], claim["cause"]) == ("not comparable", "preset tiny")


def test_a_rule_can_say_that_a_cell_cannot_be_compared():
    """Then columns that its basis needs may be empty, and ours is shown all the same."""
    table = [{"name": "a", "value": "0.7", "standard_error": ""}]
    rules = [{"basis": "monte-carlo", "k": 3}, {"where": {"name": "a"}, "incomparable": "machine"}]
    (claim,) = judge("p", "t", PRINTED, table, rules)
    assert (claim["verdict"], claim["cause"]) == ("not comparable", "machine")
    assert (claim["ours"], claim["printed"]) == ("0.7", "0.5")
    (claim,) = judge("p", "t", PRINTED, table, rules[:1], incomparable="preset tiny")
    assert claim["cause"] == "preset tiny"
    (claim,) = judge("p", "t", PRINTED, table, rules[:1])
    assert claim["verdict"] == "unexplained"


def test_the_page_shows_every_claim_and_escapes_text():
    table = [{"name": "<b>", "value": "0.5"}]
    judged = judge("p", "t", [{"cell": "name=<b>", "printed": "0.5"}], table, [])
    page = claims_page.page(judged, {"p/t": "title", "p/f": "no numbers"}, [], "full")
    assert "&lt;b&gt;" in page
    assert "<b>" not in page.replace("<b>full</b>", "")
    assert "prints no numbers" in page
    assert "| p/t | published | 1 | 1 |" in claims_page.summary(judged)


def test_every_printed_value_has_a_cell_once():
    for path in sorted(PAPERS.glob("*/claims/*.csv")):
        if path.stem == "statements":
            continue
        rows = storage.read_rows(path)
        cells = [row["cell"] for row in rows]
        assert set(rows[0]) == {"cell", "printed"}, path
        assert len(set(cells)) == len(cells), path


def test_tests_named_as_evidence_exist():
    for path in sorted(PAPERS.glob("*/claims/rules.yaml")):
        for rules in yaml.safe_load(path.read_text()).values():
            for rule in rules.values() if isinstance(rules, dict) else rules:
                file, _, name = rule.get("test", "tests/test_claims.py::" + __name__).partition(
                    "::"
                )
                tree = ast.parse((ROOT / file).read_text())
                names = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
                assert name in names | {__name__}, f"{path}: {rule['test']}"


def test_every_statement_that_an_artefact_decides_has_a_test():
    for name, artefact in configuration.artefacts().items():
        paper = name.partition("/")[0]
        rules = yaml.safe_load((PAPERS / paper / "claims" / "rules.yaml").read_text())
        for statement in artefact.get("statements", []):
            assert rules["statements"][statement]["test"], f"{name}: {statement}"


def reference(statements=False):
    rows = storage.read_rows(REFERENCE / "claims.csv")
    assert tuple(rows[0]) == claims.COLUMNS
    return [row for row in rows if claims.is_statement(row) == statements]


def test_reference_has_every_statement_with_evidence():
    rows = reference(statements=True)
    assert {row["cell"] for row in rows} == {f"s{i:02}" for i in range(1, 25)}
    for row in rows:
        kind, limit = row["tolerance"].rsplit(" ", 1)
        value = None if row["verdict"] == "not comparable" else float(row["ours"].split(": ")[-1])
        assert claims.statement_verdict(value, float(limit), kind) == row["verdict"], row
        assert row["test"] and (row["verdict"] in ("within", "direction") or row["cause"])


def test_reference_tolerances_follow_from_their_basis():
    for row in reference():
        if row["verdict"] == "not comparable":
            continue
        if claims.number(row["printed"]) is None:
            assert row["tolerance"] == ""
            continue
        half = 0.5 * 10.0 ** Decimal(row["printed"]).as_tuple().exponent
        if row["basis"] == "rounding":
            assert float(row["tolerance"]) == pytest.approx(half)
        elif row["basis"] == "monte-carlo":
            basis = _basis(row)
            width = basis.k * basis.standard_error + half
            assert float(row["tolerance"]) == pytest.approx(width, rel=1e-5)
        else:
            assert row["basis"] == "seeds", "add the recomputation of this basis"
            low, high = map(float, row["tolerance"].split(".."))
            basis = _basis(row)
            assert low == pytest.approx(basis.low - half, rel=1e-5)
            assert high == pytest.approx(basis.high + half, rel=1e-5)


def test_reference_verdicts_follow_from_printed_and_ours():
    for row in reference():
        if row["verdict"] != "not comparable":
            assert verdict(row["printed"], row["ours"], _basis(row)) == row["verdict"], row
        assert row["verdict"] != "differs" or (row["cause"] and row["test"])


def test_readme_shows_the_summary_of_the_reference_run():
    summary = claims_page.summary(storage.read_rows(REFERENCE / "claims.csv"))
    readme = (ROOT / "README.md").read_text()
    assert re.search(r"<!-- claims -->\n(.*?)<!-- /claims -->", readme, re.S)[1] == summary


def _basis(claim):
    """The basis of a judgment, from the table of the artefact and the rules."""
    table = storage.read_rows(REFERENCE / "tables" / claim["paper"] / f"{claim['artefact']}.csv")
    keys = {"variant": claim["variant"], **parse_cell(claim["cell"])}
    (row,) = [r for r in table if all(r.get(k, v) == v for k, v in keys.items())]
    columns = {"seeds": ("low", "high"), "monte-carlo": ("standard_error",)}
    needed = {name: float(row[name]) for name in columns.get(claim["basis"], ())}
    if claim["basis"] == "monte-carlo":
        rules = yaml.safe_load((PAPERS / claim["paper"] / "claims" / "rules.yaml").read_text())
        rule = claims.rules_for(rules[claim["artefact"]], claim["variant"], claim["cell"])
        needed["k"] = rule["k"]
    return Basis(claim["basis"], **needed)
