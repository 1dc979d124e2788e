"""Compare the memory and time that rules request with what the jobs of a run needed.

    python workflow/compare_resources.py RESULTS

RESULTS is the folder of a full run. Prints the largest memory and the longest time of each rule,
and ends with status 1 if a job needed more than its rule requests at the first attempt.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reproduction import usage  # noqa: E402

RULES = ROOT / "workflow" / "rules"
# A rule, or one of its two resources.
_REQUEST = re.compile(
    r"^rule (\w+):|(mem_mb|runtime)=(?:jobs\.growing|requests\.memory)\(\s*(\d+)", re.MULTILINE
)


def requested() -> dict[str, dict[str, int]]:
    """Megabytes and minutes of the first attempt, by rule; those of large sweeps request more."""
    rules: dict = {}
    for file in sorted(RULES.glob("*.smk")):
        for rule, resource, amount in _REQUEST.findall(file.read_text()):
            if rule:
                name = rule
            else:
                rules.setdefault(name, {})[resource] = int(amount)
    return rules


def needed(results: Path) -> dict[str, list[tuple[float, float]]]:
    """Megabytes and seconds of every job, by rule.

    Snakemake has the seconds. It sees no memory of very short jobs, and none of those that the
    launcher has started; the logs have that of all.
    """
    jobs = defaultdict(list)
    folder = results / "timing" / "jobs"
    for file in sorted(folder.rglob("*.tsv")):
        name = file.relative_to(folder)
        rule = name.with_suffix("").parts[1 if name.parts[0] == "timing" else 0]
        logged = usage.read(results / "logs" / name.with_suffix(".log"))
        with open(file, encoding="utf-8", newline="") as text:
            for row in csv.DictReader(text, delimiter="\t"):
                memory = 0.0 if row["max_rss"] == "NA" else float(row["max_rss"])
                memory = max(memory, logged.megabytes if logged else 0)
                jobs[rule].append((memory, float(row["s"])))
    return jobs


def main(results: Path) -> int:
    """Print the table; returns the exit status."""
    measured, exceeded = needed(results), []
    if not measured:
        sys.exit(f"{results} holds no timing/jobs: name the folder of results of a run")
    print(f"{'rule':12} {'jobs':>5} {'MB':>7} {'request':>7} {'s':>7} {'request':>7}")
    for rule, resources in requested().items():
        if rule not in measured:
            continue
        memory, seconds = (max(column) for column in zip(*measured[rule], strict=True))
        limit, time = resources["mem_mb"], resources["runtime"] * 60
        row = f"{rule:12} {len(measured[rule]):5} {memory:7.0f} {limit:7} {seconds:7.0f} {time:7}"
        print(row)
        if memory > limit or seconds > time:
            exceeded.append(rule)
    if exceeded:
        print(f"too little: {', '.join(exceeded)}")
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
