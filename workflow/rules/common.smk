# The checked configuration and what the rules ask of it: reproduction.planning.workflow.
import os
import sys

from reproduction import launcher, run_lock, storage
from reproduction.planning.configuration import ConfigError
from reproduction.planning.priorities import Priorities
from reproduction.planning.requests import Requests
from reproduction.planning.workflow import Workflow

try:
    jobs = Workflow(config, files=workflow.configfiles)
except ConfigError as error:
    # One line: an exception would be wrapped in the lines of this file.
    sys.exit(f"configuration: {error}")


# The jobs of the longest chains come first.
priorities = Priorities(None if workflow.remote_exec else jobs)
# Of jobs whose size a sweep decides.
requests = Requests(None if workflow.remote_exec else jobs)


# Memory and minutes of the rules: the largest process of a full run needed 2.1 GB, which with nearly half
# as much again is 3000 MB; the least is 1000 MB, as Snakemake takes 200 of them. Jobs of a sweep request
# more where more is predicted (reproduction.planning.requests). workflow/compare_resources.py
# compares rule by rule with the times and the memory that a run leaves in results/timing/jobs.


def in_checkout(files):
    """Input function whose files stay in the checkout where all others lie in a storage."""
    return lambda wildcards: local(files(wildcards))


wildcard_constraints:
    experiment="[^/]+",
    batch="[0-9a-f]+",
    timing="(timing/)?",
    paper="[^/]+",
    artefact="[^/]+",
    importance="[^/]+",
    metric="[^/]+",
    part="[a-z]+",
