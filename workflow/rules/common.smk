# The checked configuration and what the rules ask of it: splitcredit.pipeline.workflow.
from snakemake.exceptions import WorkflowError

from splitcredit.pipeline.config import ConfigError
from splitcredit.pipeline.workflow import Workflow

try:
    W = Workflow(config, files=workflow.configfiles)
except ConfigError as error:
    raise WorkflowError(f"configuration: {error}") from None


wildcard_constraints:
    experiment="[^/]+",
    batch="[0-9a-f]+",
    clock="(timing/)?",
    paper="[^/]+",
    artefact="[^/]+",
    importance="[^/]+",
    metric="[^/]+",
    part="[a-z]+",
