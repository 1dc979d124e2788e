"""How near each kernel comes to what one core of this processor does at best.

    python benchmarks/limits.py [--write]

Counts the operations, bytes and random reads that the algorithm of each kernel needs
(`kernel_work`), measures what the processor does of each a second (`processor`), and times the
kernel. The least time is the longest of the three; the share is the least time over that measured.
With ``--write`` the tables go to docs/benchmarks.md. No test depends on a time.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numba

import kernel_work
from processor import Processor
from reproduction import marked

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
REPEATS = 9
HEADS = (
    "kernel",
    "work",
    "operations",
    "bytes",
    "random reads",
    "least, arithmetic",
    "least, bytes",
    "least, reads",
    "measured",
    "share reached",
)


def main(*options):
    """Measure, print and, if asked, write the page."""
    numba.set_num_threads(1)
    processor = Processor.measured()
    print(rates(processor))
    lines = [f"| {' | '.join(HEADS)} |", "|---|---|" + "--:|" * (len(HEADS) - 2)]
    print("\n".join(lines))
    for work in kernel_work.works():
        lines.append(line(work, processor.least(work), seconds(work.run)))
        print(lines[-1], flush=True)
    if "--write" in options:
        marked.write(PAGE, "processor", rates(processor))
        marked.write(PAGE, "limits", "\n".join(lines))


def rates(processor) -> str:
    """Markdown table of what the processor does a second."""
    rows = [
        ("float64 operations, fused multiply-adds", processor.operations, ""),
        ("float64 additions alone", processor.additions, ""),
        ("float64 divisions", processor.divisions, ""),
        *(("bytes read from", rate, place) for place, rate in processor.bytes.items()),
        *(("random reads from", rate, place) for place, rate in processor.reads.items()),
    ]
    lines = [f"| {name} {place} | {number(rate)} |" for name, rate, place in rows]
    return "\n".join(["| one core does at best | a second |", "|---|--:|", *lines]).replace(
        "  ", " "
    )


def line(work, least, measured) -> str:
    """One row of the table of kernels."""
    counts = (
        number(count) for count in (work.operations, work.bytes, sum(n for n, _ in work.reads))
    )
    times = (f"{number(t)} s" if t else "" for t in least.values())
    share = max(least.values()) / measured
    cells = (work.kernel, work.workload, *counts, *times, f"{number(measured)} s", f"{share:.0%}")
    return f"| {' | '.join(cells)} |"


def number(value) -> str:
    """A number to three digits; nothing for 0."""
    return f"{value:.3g}" if value else ""


def seconds(run) -> float:
    """Least CPU seconds of some calls, as the processor is measured; the first is not counted."""
    run()
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    main(*sys.argv[1:])
