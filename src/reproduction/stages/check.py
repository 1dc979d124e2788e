"""End the run with status 1 if a value differs without a known cause, or a text counts nothing.

A check by the clock never does that: see `reproduction.claims.by_the_clock`.
"""

from __future__ import annotations

import os
import sys

from reproduction import claims, claims_summary, storage
from reproduction.report import numbers

_RED, _PLAIN = "\033[31m", "\033[0m"


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--claims", nargs="+", required=True, help="claims tables")
    parser.add_argument("--report", required=True, help="the report to look at")
    parser.add_argument("--whole", nargs="*", default=[], help="papers with all their artefacts")
    parser.add_argument("--log", required=True)
    parser.add_argument("--out", required=True, help="the totals, see claims_summary")


def run(arguments):
    """Do the job."""
    rows = [row for path in arguments.claims for row in storage.read_rows(path)]
    lines = claims.unexplained(rows)
    if lines:
        lines.append(
            f"failed: {len(lines)} of {len(rows)} values differ from print without a known cause: "
            f"see {arguments.report}, find out why, and add cause and test to claims/rules.yaml"
        )
    lines += numbers.uncounted(rows, arguments.whole)
    storage.write_text(arguments.log, "".join(f"{line}\n" for line in lines))
    if lines:
        red, reset = (_RED, _PLAIN) if _colored(sys.stderr) else ("", "")
        sys.exit("\n".join(f"{red}{line}{reset}" for line in lines))
    passed = [claims_summary.outcome(rows), *claims_summary.lines(rows)]
    storage.write_text(arguments.out, "".join(f"{line}\n" for line in passed))


def _colored(stream):
    return stream.isatty() and "NO_COLOR" not in os.environ
