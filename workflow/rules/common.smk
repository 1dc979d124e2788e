# Configuration, plans, and the small functions that the rules share.
import json

from snakemake.exceptions import WorkflowError

from splitcredit.pipeline import config as configuration
from splitcredit.pipeline import plans
from splitcredit.pipeline.sources import sources

try:
    CONFIG = configuration.load(
        config,
        experiments="config/experiments",
        schema="workflow/schemas/config.schema.yaml",
        files=workflow.configfiles,
    )
    PLANS = plans.make(CONFIG, "results/plans")
except configuration.ConfigError as error:
    raise WorkflowError(f"configuration: {error}") from None

ARTEFACTS = CONFIG["artefacts"]
FIGURES = [name for name, a in ARTEFACTS.items() if a.get("figure")]


wildcard_constraints:
    experiment="[^/]+",
    batch="[0-9a-f]+",
    paper="[^/]+",
    artefact="[^/]+",
    importance="[^/]+",
    metric="[^/]+",


def runs_of(wildcards):
    return PLANS[wildcards.experiment].batches[wildcards.batch]


def job(*modules):
    """Source files of a job, as inputs of its rule: an edit then reruns it."""
    return sources("splitcredit.__main__", *(f"splitcredit.{m}" for m in modules))
