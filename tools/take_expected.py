"""Write how long the jobs of a run took: tools/take_expected.py PRESET, into workflow/expected.

The line that a run shows on a terminal takes them for what jobs of the next run are going to take.
The processor time is taken, from the logs in results, as it depends least on what else was running.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import defaultdict
from pathlib import Path

LOGS = Path("results/logs")


def main(preset):
    """Read what the jobs used, and write the table."""
    seconds = defaultdict(list)
    for file in sorted(LOGS.rglob("*.log")):
        stage, *parts = [part for part in file.relative_to(LOGS).parts if part != "timing"]
        if stage in ("data_and_models", "importances", "metrics"):
            parts = parts[:-1]  # without the batch
        name = "/".join(parts).removesuffix(".log")
        used = re.search(r"^used ([\d.]+) s of processor time", file.read_text(), re.MULTILINE)
        if used:
            seconds[stage.removesuffix(".log"), name].append(float(used[1]))
    with open(f"workflow/expected/{preset}.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["stage", "name", "jobs", "seconds"])
        for (stage, name), each in sorted(seconds.items()):
            writer.writerow([stage, name, len(each), round(sum(each) / len(each), 1)])


if __name__ == "__main__":
    main(*sys.argv[1:])
