"""Write how long the jobs of a run took: tools/take_expected.py PRESET, into workflow/expected.

The line that a run shows on a terminal takes them for what jobs of the next run are going to take.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

TIMES = Path("results/timing/jobs")


def main(preset):
    """Read what Snakemake measured of each job in results, and write the table."""
    seconds = defaultdict(list)
    for file in sorted(TIMES.rglob("*.tsv")):
        stage, *parts = [part for part in file.relative_to(TIMES).parts if part != "timing"]
        if stage in ("data_and_models", "importances", "metrics"):
            parts = parts[:-1]  # without the batch
        name = "/".join(parts).removesuffix(".tsv")
        (row,) = csv.DictReader(file.open(), delimiter="\t")
        seconds[stage.removesuffix(".tsv"), name].append(float(row["s"]))
    with open(f"workflow/expected/{preset}.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["stage", "name", "jobs", "seconds"])
        for (stage, name), each in sorted(seconds.items()):
            writer.writerow([stage, name, len(each), round(sum(each) / len(each), 1)])


if __name__ == "__main__":
    main(*sys.argv[1:])
