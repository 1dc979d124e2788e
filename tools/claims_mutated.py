"""Put wrong numbers into every judged row, and count how many of them a run would call unexplained.

    python tools/claims_mutated.py [--list] [RESULTS]

Reads the tables of a run (default: ``results``), of any preset, or those of ``docs/reference``.
Rows that are unexplained as they stand, as many are in a scaled run, are left out. ``--list`` names
each wrong number that stays unseen, with what allows it. The exit status is 1 if less than 95 % of
the nonsense, of the wrong signs or of the wrong sides are seen.

The kinds: *nonsense*, -7 times our value plus a million; *sign*, its negative; *last digit*, one
unit of the last printed digit more; *neighbor*, our value of the next printed cell; *wrong side*,
of a statement, as far beyond its limit as our value is on this side. Numbers that print like ours
are no mistakes and left out.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from functools import partial
from pathlib import Path

from reproduction import claims, papers, storage
from reproduction.planning.workflow import Workflow
from reproduction.stages.artefacts import printed_values, rules_of, statements_of

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("nonsense", "sign", "wrong side", "last digit", "neighbor")
HELD, LEAST = KINDS[:3], 0.95


def main(argv=None):
    """Print the counts by kind and paper; the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="?", default=ROOT / "results", type=Path)
    parser.add_argument("--list", action="store_true", help="name what stays unseen")
    arguments = parser.parse_args(argv)
    rows = list(mutants(arguments.results))
    if not rows:
        sys.exit(f"{arguments.results} has no tables: run make quick or make reproduce first")
    made, seen = Counter(), Counter()
    left_out = sum(kind is None for kind, _ in rows)
    rows = [(kind, claim) for kind, claim in rows if kind]
    for kind, claim in rows:
        for paper in (claim["paper"], "all"):
            made[kind, paper] += 1
            seen[kind, paper] += claim["verdict"] == "unexplained"
    for line in _table(made, seen):
        print(line)
    print(f"left out, as they are unexplained without a change: {left_out}")
    if arguments.list:
        for kind, claim in rows:
            if claim["verdict"] != "unexplained":
                print(_unseen(kind, claim))
    shares = [seen[kind, "all"] / made[kind, "all"] for kind in HELD if made[kind, "all"]]
    return int(min(shares) < LEAST)


def mutants(results):
    """Kind of the mistake, and the claim with it, of every judged row of a run.

    Of rows that are left out, as they are unexplained already, the kind is None.
    """
    flow = Workflow({})
    for timed in (False, True):
        for path in flow.judgments(timed=timed):
            name = path.split("judgments/")[1].removesuffix(".json")
            table = results / ("timing" if timed else "") / "tables" / f"{name}.csv"
            if table.exists():
                yield from _of_values(name, table)
                if flow.artefacts[name].get("statements"):
                    yield from _of_statements(name, table)


def _of_values(name, table):
    """Printed values: the rows of the table that they name, with wrong numbers in them."""
    paper, _, artefact = name.partition("/")
    rules, rows = rules_of(paper).get(artefact, []), storage.read_rows(table)
    cells = [
        (line, {**row, "variant": row.get("variant", "published")})
        for variant in dict.fromkeys(row.get("variant", "published") for row in rows)
        for line in printed_values(name)
        for row in rows
        if row.get("variant", variant) == variant and _names(line["cell"], row)
        if row["value"] != ""  # a scaled run does not measure every cell
    ]
    for (line, row), (_, neighbor) in zip(cells, cells[1:] + cells[:1], strict=True):

        def judge(value, line=line, row=row):
            wrong = {**row, "value": value}
            (claim,) = claims.judge(paper, artefact, [line], [wrong], rules)
            return claim

        wrong = partial(_wrong_values, line["printed"], row["value"], neighbor["value"])
        yield from _judged_anew(judge, row["value"], wrong)


def _names(cell, row):
    return all(row.get(key) == value for key, value in claims.parse_cell(cell).items())


def _wrong_values(printed, ours, neighbor):
    """Wrong values of a printed cell, as text, by kind."""
    expected = claims.number(printed)
    if expected is None:
        return {"nonsense": "nonsense", "neighbor": neighbor}
    value = float(ours)
    wrong = {
        "nonsense": -7 * value + 1e6,
        "sign": -value,
        "last digit": value + 2 * claims.half_unit(printed),
    }
    if claims.number(neighbor) is not None:
        wrong["neighbor"] = float(neighbor)
    digits = max(0, -expected.as_tuple().exponent)
    printed_alike = f"{value:.{digits}f}"
    return {k: repr(x) for k, x in wrong.items() if f"{x:.{digits}f}" != printed_alike}


def _of_statements(name, table):
    """Claims in words: the measured number replaced, its interval moved along."""
    paper, _, artefact = name.partition("/")
    stated, evidence = statements_of(paper), rules_of(paper).get("statements", {})
    for check in papers.artefact(name).statements(storage.read_table(table)):
        if check["value"] is None:
            continue

        def judge(value, check=check):
            moved = [_moved(check, value)]
            (claim,) = claims.judge_statements(paper, artefact, moved, stated, evidence)
            return claim

        yield from _judged_anew(judge, check["value"], partial(_wrong_findings, check))


def _wrong_findings(check):
    """Wrong numbers of a finding, by kind."""
    value = check["value"]
    wrong = {"nonsense": -7 * value + 1e6, "sign": -value, "wrong side": _other_side(check)}
    return {kind: number for kind, number in wrong.items() if number != value}


def _other_side(check):
    """As far on the other side of the limit as the value is on this; wholly, with its interval."""
    value, limit = check["value"], check["limit"]
    width = max((abs(end - value) for end in check["interval"] or ()), default=0.0)
    distance = max(abs(value - limit), width) or 1.0
    is_below = value <= limit if check["kind"] == "at most" else value < limit
    return limit + 1.01 * distance if is_below else limit - 1.01 * distance


def _moved(check, number):
    ends = check["interval"] and tuple(number + (end - check["value"]) for end in check["interval"])
    return {**check, "value": number, "interval": ends}


def _judged_anew(judge, right, wrong):
    """The claims with wrong numbers, by kind, if the right one is judged and explained."""
    claim = judge(right)
    if claim["verdict"] == "unexplained":
        yield None, claim
    elif claim["verdict"] != "not comparable":
        for kind, number in wrong().items():
            yield kind, judge(number)


def _table(made, seen):
    names = [*dict.fromkeys(paper for _, paper in made if paper != "all"), "all"]
    yield f"{'seen as unexplained':<22}" + "".join(f"{kind:>22}" for kind in KINDS)
    for paper in names:
        texts = [
            f"{seen[kind, paper]} of {made[kind, paper]} ({seen[kind, paper] / n:.1%})"
            if (n := made[kind, paper])
            else ""
            for kind in KINDS
        ]
        yield f"{paper:<22}" + "".join(f"{text:>22}" for text in texts)


def _unseen(kind, claim):
    allowed = f"{claim['verdict']}: {claim['tolerance']} ({claim['basis']})"
    expected = f", expected {claim['expected']}" if claim["expected"] else ""
    place = f"{claim['paper']}/{claim['artefact']}, {claim['variant']}, {claim['cell']}"
    return f"{kind}: {place}: {claim['ours']}: {allowed}{expected}"


if __name__ == "__main__":
    sys.exit(main())
