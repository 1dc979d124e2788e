"""Compare printed values with ours: a verdict, and the source of its tolerance."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

COLUMNS = (
    "paper",
    "artefact",
    "variant",
    "cell",
    "printed",
    "ours",
    "interval",
    "tolerance",
    "expected",
    "basis",
    "reason",
    "verdict",
    "cause",
    "test",
    "data",
    "counts",
)
OUR_READING = "our reading"
BASES = ("rounding", "printed", "monte-carlo", "seeds", OUR_READING)
# What a check by the clock is where it would be unexplained: in another hour it may say otherwise.
OUTSIDE = "outside its band"
VERDICTS = ("equal", "within", "holds", "undecided", "differs", "unexplained", OUTSIDE)
VERDICTS += ("not comparable",)
OUTCOMES = ("holds", "holds in part", "undecided in part", "does not hold", "not by our reading")
OUTCOMES += ("undecided", "not judged")
PAPERS_DATA, STAND_IN, CLOCK = "the paper's", "stand-in", "the clock"
# Whether a check counts for its statement: one of a premise or of a further measure does not, nor
# one that can come out in one way only, and one by the clock only where there is no other.
COUNTS, BESIDE, IDENTITY, BY_CLOCK = "yes", "no", "identity", "by the clock"
# Before a range that holds every value that such a number can have: no evidence.
ANY = "any of "
_VALUE_BASES = ("rounding", "monte-carlo", "seeds")


@dataclass(frozen=True)
class Basis:
    """The source of the tolerance of a printed value; half a unit of its last digit comes on top.

    ``rounding``: ours must round to the printed text. ``monte-carlo``: ours may differ by `k` times
    `standard_error`, unless this is more than `ceiling` times the printed value: draws that scatter
    so much compare nothing. ``seeds``: the printed value and ours must lie between `low` and
    `high`: the least and the largest of ours over n other seeds, a range that holds another draw
    with probability (n - 1) / (n + 1), or the ends of an interval that holds 95 % of ours.
    """

    kind: str = "rounding"
    k: float = math.nan
    standard_error: float = math.nan
    low: float = math.nan
    high: float = math.nan
    ceiling: float = math.inf

    def __post_init__(self):
        if self.kind not in _VALUE_BASES:
            raise ValueError(f"basis {self.kind!r}: expected one of {', '.join(_VALUE_BASES)}")


def number(printed: str) -> Decimal | None:
    """The printed text as an exact number, or None if it is not one."""
    try:
        value = Decimal(printed.strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def half_unit(printed: str) -> float:
    """Half a unit of the last printed digit."""
    exponent = number(printed).as_tuple().exponent
    return float(Decimal(5).scaleb(exponent - 1))


def tolerance(printed: str, basis: Basis) -> str:
    """The tolerance as the claims table shows it: a width, or ``low..high``."""
    if number(printed) is None:
        return ""
    half_digit = half_unit(printed)
    if basis.kind == "rounding":
        return f"{half_digit:g}"
    if basis.kind == "monte-carlo":
        return f"{basis.k * basis.standard_error + half_digit:.6g}"
    return f"{basis.low - half_digit:.6g}..{basis.high + half_digit:.6g}"


def verdict(printed: str, ours, basis: Basis) -> str:
    """Judge one value against print; None if there is nothing to compare.

    ``"equal"``: ours rounds to the printed text (or is that text), whose digits define what equal
    means. ``"within"``: inside the tolerance. ``"differs"``; ``"not comparable"``.
    """
    expected = number(printed)
    if ours is None:
        return "not comparable"
    if expected is None:
        return "equal" if str(ours).strip() == printed.strip() else "differs"
    ours = float(ours)
    if not math.isfinite(ours):
        return "differs"
    if _rounded(ours, expected.as_tuple().exponent) == expected:
        return "equal"
    half_digit = half_unit(printed)
    if basis.kind == "monte-carlo":
        is_within = (
            basis.standard_error <= basis.ceiling * abs(float(expected))
            and abs(ours - float(expected)) <= basis.k * basis.standard_error + half_digit
        )
    elif basis.kind == "seeds":
        low, high = basis.low - half_digit, basis.high + half_digit
        is_within = low <= float(expected) <= high and low <= ours <= high
    else:
        is_within = False
    return "within" if is_within else "differs"


def _rounded(value: float, exponent: int) -> Decimal:
    """A number rounded to so many digits, half to even: 1e`exponent` is the last unit."""
    if exponent <= 0:
        return Decimal(f"{value:.{-exponent}f}")
    return Decimal(f"{Decimal(value).scaleb(-exponent):.0f}").scaleb(exponent)


def parse_cell(cell: str) -> dict[str, str]:
    """``"dataset=iris;statistic=mean"`` as a mapping.

    A key ends at the first ``=``; a semicolon separates only before another ``key=``, so that
    values such as ``I(Y1;X1)`` may hold one.
    """
    return dict(pair.split("=", 1) for pair in re.split(r";(?=\w+=)", cell))


def rules_for(rules: list[dict], variant: str, cell: str) -> dict:
    """The judging rules that hold for a cell, later ones over earlier ones.

    Each rule may name a ``variant`` and ``where`` (values of the cell). Its other keys are those
    that it sets: see the section on claims of ``config/README.md``. There are also ``ceiling``, see
    `Basis`; and ``incomparable``, why the cells cannot be compared.
    """
    keys = parse_cell(cell)
    merged: dict = {}
    for rule in rules:
        if rule.get("variant", variant) != variant:
            continue
        if all(keys.get(k) == str(v) for k, v in rule.get("where", {}).items()):
            if "incomparable" in rule:  # the test of an earlier rule shows another cause
                merged.pop("test", None)
            if "cause" in rule:  # and its range is that of another cause
                merged.pop("expected", None)
            merged |= {k: v for k, v in rule.items() if k not in ("variant", "where")}
    return merged


def judge(
    paper, artefact, printed, table, rules, incomparable=None, data=PAPERS_DATA
) -> list[dict]:
    """Hold every printed value of an artefact against its table: a row of `COLUMNS` for each.

    `printed` has ``cell`` and ``printed``. `table` has tidy rows of text: the cells' keys,
    ``value``, and where the basis needs them ``low``, ``high`` or ``standard_error``; ``variant``
    if there are several, each of which is compared with print. For `rules` see `rules_for`.
    `incomparable` says why nothing of this artefact can be compared, e.g. a reduced scale.

    A value that differs is ``"unexplained"`` unless a rule gives the cause, the test that shows it,
    and the range in which the cause expects the value, and the value lies there. So is any value
    outside a range that a rule gives. ValueError if a cell is not in the table exactly once, or a
    rule expects a column that is not there.
    """
    claims = []
    for variant in dict.fromkeys(row.get("variant", "published") for row in table):
        rows = [row for row in table if row.get("variant", variant) == variant]
        for line in printed:
            cell, text = line["cell"], line["printed"]
            row = _row(rows, cell, f"{paper}/{artefact}, {variant}")
            rule = rules_for(rules, variant, cell)
            read = rule.get("read", text)
            claim = _claim(paper, artefact, variant, cell, printed=text, data=data)
            claim |= _judged(read, row, rule, incomparable)
            expected = _expected(rule.get("expected"), read, row)
            ours = _number(row["value"]) if expected else math.nan
            claims.append(_explained(claim, ours, expected, None))
    return claims


def _claim(paper, artefact, variant, cell, **values):
    """A row of the claims table, in which nothing else is said."""
    place = {"paper": paper, "artefact": artefact, "variant": variant, "cell": cell}
    return dict.fromkeys(COLUMNS, "") | place | {"counts": COUNTS} | values


def _expected(ends, printed, row):
    """Range of a cell that a rule expects; None if it names no ends, or columns empty there."""
    if ends is None:
        return None
    missing = [end for end in ends if isinstance(end, str) and end not in {"printed", *row}]
    if missing:
        raise ValueError(f"{missing[0]!r} is expected by a rule, and is no column of the table")
    texts = [printed if end == "printed" else row.get(end, end) for end in ends]
    if "" in texts:
        return None
    return tuple(
        infinite if text is None else float(text)
        for text, infinite in zip(texts, (-math.inf, math.inf), strict=True)
    )


def _is_between(value, ends):
    """Whether a value lies in a range, whose ends belong to it. NaN lies nowhere."""
    return ends is None or ends[0] <= value <= ends[1]


def _covers(ends, possible):
    """Whether a range holds all that is possible, so that no value can lie outside."""
    return possible is not None and ends[0] <= possible[0] and ends[1] >= possible[1]


def _interval(ends, digits=4):
    """An interval as text; empty if there is none, as where a run is too small for an error."""
    if ends is None or any(math.isnan(end) for end in ends):
        return ""
    return f"{ends[0]:.{digits}g}..{ends[1]:.{digits}g}"


def statement_verdict(value, limit: float, kind: str, interval=None) -> str:
    """Judge one stated finding by the number that decides it, or None if not measured.

    `kind`, ``"at most"`` or ``"at least"``, is the side of the limit on which the finding holds;
    the limit belongs to it. ``"undecided"`` if the limit lies inside the interval of an uncertain
    value; ``"not comparable"`` without a value. A value or an end that is NaN differs. ValueError
    if the kind is unknown or the value lies outside its interval.
    """
    if kind not in ("at most", "at least"):
        raise ValueError(f"kind {kind!r}: expected 'at most' or 'at least'")
    if value is None:
        return "not comparable"
    ends = (value, value) if interval is None else interval
    if not ends[0] <= value <= ends[1] and not any(map(math.isnan, (value, *ends))):
        raise ValueError(f"the value {value:g} is not in its interval {ends[0]:g}..{ends[1]:g}")
    holding = [end <= limit if kind == "at most" else end >= limit for end in ends]
    if all(holding):
        return "holds"
    return "undecided" if any(holding) else "differs"


def judge_statements(
    paper, artefact, findings, statements, rules, incomparable=None, data=PAPERS_DATA
) -> list[dict]:
    """Judge the findings that a paper states in words: a row of `COLUMNS` for each.

    `findings` are measurements of the artefact, see `reproduction.papers.finding`; a value of None
    is measured elsewhere, as the cause says. `statements` are the words by id, and so are `rules`:
    ``test``, which shows it, ``cause`` where it does not hold, and ``variants``, which lay other
    causes and tests over these by the name of the variant. For the others see `judge`.

    As a value that differs, a statement that does not hold is ``"unexplained"`` where no cause
    expects it; the range of the cause, and the possible one, are those of the finding. ValueError
    if a basis is unknown, or a limit was chosen without a reason.
    """
    claims = []
    for finding in findings:
        cell, kind, variant = finding["statement"], finding["kind"], finding["variant"]
        basis, reason = finding["basis"], finding["reason"]
        place = f"{paper}/{artefact}, {cell}, {variant}"
        if basis not in BASES:
            raise ValueError(f"{place}: basis {basis!r}: expected one of {', '.join(BASES)}")
        if basis == OUR_READING and not reason:
            raise ValueError(f"{place}: a limit that was chosen needs a reason")
        rule = rules.get(cell, {})
        rule = {**rule, **rule.get("variants", {}).get(variant, {})}
        value, interval = finding["value"], finding["interval"]
        judged = None if incomparable else value
        outcome = statement_verdict(judged, finding["limit"], kind, interval)
        explain = outcome in ("differs", "undecided") or value is None
        claim = _claim(
            paper,
            artefact,
            variant,
            cell,
            printed=statements[cell],
            ours=finding["measured"] + ("" if value is None else f": {value:.4g}"),
            interval=_interval(interval),
            tolerance=f"{kind} {finding['limit']:.10g}",
            basis=basis,
            reason=reason,
            verdict=outcome,
            cause=rule.get("cause", "") if explain else incomparable or "",
            test=rule.get("test", ""),
            data=data,
            counts=finding["counts"],
        )
        claims.append(_explained(claim, value, finding["expected"], finding["possible"]))
    return claims


def by_the_clock(claims) -> list[dict]:
    """The same rows as judgments of times: none is unexplained, and none decides beside others."""
    names = {COUNTS: BY_CLOCK, "unexplained": OUTSIDE}
    changed = ("counts", "verdict")
    return [row | {key: names.get(row[key], row[key]) for key in changed} for row in claims]


def outcomes(claims) -> dict[tuple[str, str], tuple[str, str]]:
    """Return each statement's outcome over its checks, by (paper, id), and whose data decided it.

    Checks that only say more do not count, nor identities. Those on the paper's data decide; where
    there is none, those on stand-ins do, or would if any were judged. Checks by ``"the clock"``
    decide where there is no other, so that all other outcomes are the same on every machine.

    ``"holds"`` if every check holds. Where some do, ``"holds in part"`` if another differs, and
    ``"undecided in part"`` if none does. Where none holds, ``"does not hold"`` if one differs,
    ``"not by our reading"`` if only limits or readings of ours are against it, and ``"undecided"``
    if none differs. ``"not judged"`` without a check.
    """
    statements: dict = {}
    for claim in claims:
        if is_statement(claim):
            statements.setdefault((claim["paper"], claim["cell"]), []).append(claim)
    return {key: _outcome(rows) for key, rows in statements.items()}


def deciding(rows) -> tuple[str, list[dict]]:
    """Return the data that decides a statement, see `outcomes`, and its checks that are judged."""
    counted = [row for row in rows if row["counts"] not in (BESIDE, IDENTITY)]
    others = [row for row in counted if row["counts"] != BY_CLOCK]
    by_clock, counted = counted and not others, others or counted
    judged = [row for row in counted if row["verdict"] not in ("not comparable", OUTSIDE)]
    on_papers_data = any(row["data"] == PAPERS_DATA for row in judged or counted or rows)
    data = PAPERS_DATA if on_papers_data else STAND_IN
    return CLOCK if by_clock else data, [row for row in judged if row["data"] == data]


def _outcome(rows):
    decided_by, checks = deciding(rows)
    verdicts = {row["verdict"] for row in checks}
    if not verdicts:
        return "not judged", decided_by
    differs = verdicts - {"holds", "undecided"}
    if "holds" in verdicts:
        part = "holds in part" if differs else "undecided in part"
        return ("holds" if verdicts == {"holds"} else part), decided_by
    against = [row for row in checks if row["verdict"] in differs]
    if not against:
        return "undecided", decided_by
    is_ours = all(row["basis"] == OUR_READING for row in against)
    return ("not by our reading" if is_ours else "does not hold"), decided_by


def unexplained(claims) -> list[str]:
    """One line for each claim that differs without a known cause: its place, print and ours."""
    return [
        f"{c['paper']}/{c['artefact']}, {c['variant']}, {c['cell']}: "
        f"printed {c['printed']!r}, ours {c['ours']}"
        + (f", expected {c['expected']}" if c["expected"] else "")
        for c in claims
        if c["verdict"] == "unexplained"
    ]


def is_statement(claim) -> bool:
    """Whether a row of the claims table judges a claim in words."""
    return re.fullmatch(r"s\d\d", claim["cell"]) is not None


def _explained(claim, value, expected, possible):
    """The claim with the range of its value, and unexplained where nothing predicts the value."""
    shown = possible if expected is None else expected
    predicts = expected is not None and not _covers(expected, possible)
    text = _interval(shown, digits=10)
    claim = {**claim, "expected": text if predicts or not text else ANY + text}
    if claim["verdict"] == "not comparable":
        return claim
    has_cause = claim["cause"] and claim["test"] and predicts
    is_odd = not (_is_between(value, expected) and _is_between(value, possible))
    if is_odd or (claim["verdict"] == "differs" and not has_cause):
        return {**claim, "verdict": "unexplained"}
    return claim


def _row(rows, cell, place):
    keys = parse_cell(cell)
    for key in keys:
        if rows and key not in rows[0]:
            raise ValueError(f"{place}: the table has no column {key!r}, which {cell!r} names")
    matching = [row for row in rows if all(row.get(k) == v for k, v in keys.items())]
    if len(matching) != 1:
        raise ValueError(f"{place}: {len(matching)} rows of the table are {cell!r}, expected one")
    return matching[0]


def _number(text):
    return math.nan if text in ("", None) else float(text)


def _judged(text, row, rule, incomparable):
    """Judge one printed value, which is read as a text."""
    found = {"ours": row["value"], "test": rule.get("test", "")}
    if "incomparable" in rule:
        cause = rule["incomparable"]
        return {**found, "basis": "rounding", "verdict": "not comparable", "cause": cause}
    kind = rule.get("basis", "rounding")
    needed = {"seeds": ("low", "high"), "monte-carlo": ("standard_error",)}.get(kind, ())
    of_rule = {name: rule[name] for name in ("k", "ceiling") if name in rule}
    basis = Basis(kind, **of_rule, **{n: _number(row[n]) for n in needed})
    outcome = verdict(text, None if incomparable else row["value"], basis)
    found |= {"basis": kind, "tolerance": tolerance(text, basis), "verdict": outcome}
    found["reason"] = rule.get("reason", "")
    if incomparable:
        return {**found, "cause": incomparable, "test": ""}
    if outcome in ("differs", "not comparable"):
        return {**found, "cause": rule.get("cause", "")}
    return {**found, "test": ""}
