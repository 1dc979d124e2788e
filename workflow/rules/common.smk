# The checked configuration and what the rules ask of it: splitcredit.pipeline.workflow.
import sys

from snakemake.exceptions import WorkflowError

from splitcredit.pipeline.config import ConfigError
from splitcredit.pipeline.workflow import Workflow

try:
    W = Workflow(config, files=workflow.configfiles)
except ConfigError as error:
    raise WorkflowError(f"configuration: {error}") from None

if workflow.is_main_process:
    for line in W.real.notices():
        print(line, file=sys.stderr)


wildcard_constraints:
    experiment="[^/]+",
    batch="[0-9a-f]+",
    clock="(timing/)?",
    paper="[^/]+",
    artefact="[^/]+",
    importance="[^/]+",
    metric="[^/]+",
    part="[a-z]+",
