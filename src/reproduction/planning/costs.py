"""What jobs cost: seconds of processor time and megabytes, from a table of measured rates.

    seconds = start + sum over runs (run + factor * sum over units (rate * work))

with the work of `reproduction.planning.work`. Rates belong to a rule and a kind, e.g. an
importance; the factor belongs to data and model too, where they were measured. A kind that was
never measured has the rates of a typical kind of its rule. The table is made by the rule `costs`
from the logs of small runs; `costs.csv` beside this file holds the one of the project.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from reproduction.planning.jobs import Job

REFERENCE = Path(__file__).with_name("costs.csv")
# The one that the rule `costs` makes.
MEASURED = Path("results/timing/costs.csv")
COLUMNS = ("rule", "kind", "data", "quantity", "value", "jobs")
# Of a rule that was never measured.
START, SIZE = 1.0, 200.0


class Costs:
    """A table of rates.

    Parameters
    ----------
    rows : list of dict
        With the keys `COLUMNS`. Quantities are ``start`` (seconds of a job), ``run`` (seconds of a
        run), ``per UNIT`` (seconds), ``factor``, ``megabytes`` (of a job), and ``megabytes per
        UNIT``. The kind ``""`` is the typical one.
    """

    def __init__(self, rows):
        self.table: dict[tuple[str, str, str], dict[str, float]] = {}
        for row in rows:
            key = row["rule"], row["kind"], row["data"]
            self.table.setdefault(key, {})[row["quantity"]] = float(row["value"])

    def measured(self, job: Job) -> bool:
        """Whether jobs of this kind were measured; rules without kinds are guessed well enough."""
        return not job.kind or (job.rule, job.kind, "") in self.table

    def _rates(self, job):
        typical = self.table.get((job.rule, "", ""), {"start": START, "megabytes": SIZE})
        return self.table.get((job.rule, job.kind, ""), typical)

    def start(self, job: Job) -> float:
        """Seconds of processor time before the first run of a job."""
        return self._rates(job)["start"]

    def run(self, job: Job, of: str, work: dict[str, float]) -> float:
        """Seconds of processor time of one run of a job.

        Parameters
        ----------
        job : Job
        of : str
            Names of data and model.
        work : dict of str to float
        """
        rates = self._rates(job)
        factor = self.table.get((job.rule, job.kind, of), {}).get("factor", 1.0)
        growing = sum(amount * rates.get(f"per {unit}", 0.0) for unit, amount in work.items())
        return rates.get("run", 0.0) + factor * growing

    def runs(self, job: Job) -> float:
        """Seconds of processor time of all runs of a job."""
        return sum(count * self.run(job, of, work) for count, of, work in job.parts)

    def seconds(self, job: Job) -> float:
        """Seconds of processor time of a job."""
        return self.start(job) + self.runs(job)

    def megabytes(self, job: Job) -> float:
        """Memory that a job needs at most."""
        rates = self._rates(job)
        return rates["megabytes"] + sum(
            amount * rates.get(f"megabytes per {unit}", 0.0) for unit, amount in job.memory.items()
        )


def read(path) -> Costs:
    """Read a table of rates; kinds that it does not have keep those of the project."""
    own_rows = _rows(path)
    measured = {(row["rule"], row["kind"]) for row in own_rows}
    other_rows = [row for row in _rows(REFERENCE) if (row["rule"], row["kind"]) not in measured]
    return Costs([*other_rows, *own_rows])


@cache
def reference() -> Costs:
    """The rates of the project."""
    return Costs(_rows(REFERENCE))


def _rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
