"""Which of the jobs that are ready Snakemake starts first: those of the longest chains.

A chain is jobs that wait for each other, such as data, models, importances, metrics, table. With
the longest chains first, a run does not end with a long job on one core while the others idle. And
a chain that was begun goes on before a shorter one begins, so the models of few batches lie on the
disk at a time. Before them all come jobs that take all cores: they start when no other job runs,
and the jobs that wait for them can then run side by side. How long a job takes is predicted, see
`reproduction.planning.costs`; where the prediction is wrong, the order is not the best one, and the
results are the same.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from reproduction.planning import costs, jobs, schedule


class Priorities:
    """Priorities of the jobs of a workflow, as functions that rules take.

    Parameters
    ----------
    flow : reproduction.planning.workflow.Workflow, or None
        None if nothing is to be put in order, as in the process of a submitted job: all have
        priority 0 then.
    """

    def __init__(self, flow):
        self._flow = flow
        self._seconds = cache(self._planned)

    def _planned(self):
        """Predicted seconds of the longest chain that holds each job, by its log."""
        planned = list(jobs.of_workflow(self._flow))
        measured = costs.MEASURED.is_file()
        rates = costs.read(costs.MEASURED) if measured else costs.reference()
        chains = schedule.chains(planned, [rates.seconds(job) for job in planned])
        longest = max(chains, default=0.0)
        return {
            job.log: seconds + (longest if job.alone else 0.0)
            for job, seconds in zip(planned, chains, strict=True)
        }

    def of(self, log: str):
        """Priority of the jobs of a rule, by the pattern of their logs.

        A job that a run of everything does not have, such as one of `make sweep`, has priority 0.
        """

        def priority(wildcards):
            if self._flow is None:
                return 0.0
            return self._seconds().get(Path(log.format(**dict(wildcards.items()))), 0.0)

        return priority
