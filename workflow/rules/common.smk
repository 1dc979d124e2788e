# The checked configuration and what the rules ask of it: reproduction.planning.workflow.
import json
import os
import sys

from reproduction.planning import unfinished
from reproduction.planning.configuration import ConfigError
from reproduction.planning.places import ON_PAGES
from reproduction.planning.workflow import Workflow, growing, unwritable
from reproduction.storage import pack

if reason := unwritable():
    sys.exit(reason)
try:
    jobs = Workflow(config, files=workflow.configfiles)
except ConfigError as error:
    # One line: an exception would be wrapped in the lines of this file.
    sys.exit(f"configuration: {error}")


# Memory and minutes of the rules are for the largest jobs of a full run: the largest process needed
# 2.1 GB, which with nearly half as much again is 3000 MB; the least is 1000 MB, as Snakemake takes 200 of
# them. A second attempt has twice as much.


wildcard_constraints:
    experiment=jobs.one_of("experiments"),
    batch="[0-9a-f]+",
    timing="(timing/)?",
