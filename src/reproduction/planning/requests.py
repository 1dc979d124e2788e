"""What jobs request of a cluster: memory that does not run out where a prediction is too low.

Predictions (`reproduction.planning.costs`) are fitted by relative errors to jobs of which most are
small, and come out too low for the largest. A cluster kills a job that needs more than it requests.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

from reproduction.planning import costs, jobs

# In a full run the largest job of a rule needed at most 2.8 times what was predicted of the largest
# (docs/planning.md: metrics, 1.1 GB and 391 MB).
MARGIN = 3.0


class Requests:
    """Memory of the jobs of experiments, as functions that rules take.

    Parameters
    ----------
    flow : reproduction.planning.workflow.Workflow, or None
        None in the process of a submitted job, which has its memory already.
    """

    def __init__(self, flow):
        self._flow = flow
        self._megabytes = cache(self._planned)

    def _planned(self, experiment):
        """Predicted megabytes of the jobs of an experiment, by their logs."""
        measured = costs.MEASURED.is_file()
        rates = costs.read(costs.MEASURED) if measured else costs.reference()
        planned = jobs.of_workflow(self._flow, experiment)
        return {job.log: rates.megabytes(job) for job in planned}

    def memory(self, least: int, log: str):
        """Megabytes that jobs of a rule request, given the pattern of their logs.

        At the first attempt `least`, or `MARGIN` times what is predicted if that is more; twice and
        three times as much at the next two.
        """

        def megabytes(wildcards, attempt):
            predicted = 0.0
            if self._flow is not None:
                by_log = self._megabytes(wildcards.experiment)
                predicted = by_log.get(Path(log.format(**dict(wildcards.items()))), 0.0)
            return max(least, math.ceil(MARGIN * predicted)) * attempt

        return megabytes
