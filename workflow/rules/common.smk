# The checked configuration and what the rules ask of it: reproduction.planning.workflow.
import os
import sys

from reproduction import launcher, run_lock
from reproduction.planning.configuration import ConfigError
from reproduction.planning.priorities import Priorities
from reproduction.planning.workflow import Workflow

try:
    jobs = Workflow(config, files=workflow.configfiles)
except ConfigError as error:
    # One line: an exception would be wrapped in the lines of this file.
    sys.exit(f"configuration: {error}")


# The jobs of the longest chains come first.
priorities = Priorities(None if workflow.remote_exec else jobs)


# Memory and minutes of the rules: the largest process of a full run needed 1.9 GB, which with half as
# much again is 3000 MB; the least is 1000 MB, as Snakemake takes 200 of them. workflow/compare_resources.py
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
