# The checked configuration and what the rules ask of it: reproduction.planning.workflow.
import os
import sys

from reproduction.planning.configuration import ConfigError
from reproduction.planning.workflow import Workflow

try:
    jobs = Workflow(config, files=workflow.configfiles)
except ConfigError as error:
    # One line: an exception would be wrapped in the lines of this file.
    sys.exit(f"configuration: {error}")


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
