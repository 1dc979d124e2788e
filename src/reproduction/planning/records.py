"""Which results are those of a configuration, as far as Snakemake's records of their jobs tell.

Snakemake keeps for each file the parameters of the job that made it, the key of its sources among
them. A result whose record has others is of another preset, of other settings or other sources. A
file without a record counts as a result of this configuration, as Snakemake has it.
"""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

RECORDS = Path(".snakemake/metadata")
# Names of the wildcards of a rule, in the order of a job's name, and what gives its parameters.
_PARAMETERS = {
    "points": ("experiment", ["points_key", "definition"]),
    "data": ("experiment/batch", ["data_key"]),
    "importances": ("experiment/batch/importance", ["importance_key", "importance_recipe"]),
    "metrics": ("experiment/batch/metric", ["metric_key", "metric_recipe"]),
    "experiments": ("experiment/metric", ["experiment_key"]),
    "tables": ("paper/artefact", ["table_key", "artefact_parameters"]),
    "figures": ("paper/artefact", ["figure_key"]),
    "judgments": (
        "paper/artefact",
        ["judgment_key", "claim_rules", "evidence", "incomparable", "stand_in"],
    ),
}


def finished(flow, planned) -> list[bool]:
    """Whether the results of each job are there and need not be made anew.

    Parameters
    ----------
    flow : reproduction.planning.workflow.Workflow
    planned : list of reproduction.planning.jobs.Job
        Each after those that it needs.

    Notes
    -----
    Models are deleted after their last use, so they are made again only where one of their readers
    is, and then all of these are.
    """
    are_made = [
        job.rule == "models" or (_exist(job) and not _was_made_otherwise(flow, job))
        for job in planned
    ]
    before = None
    while are_made != before:
        before = list(are_made)
        remaining = [job for job, is_made in zip(planned, are_made, strict=True) if not is_made]
        wanted = {file for job in remaining for file in job.inputs}
        unmade = {file for job in remaining for file in job.outputs}
        for number, job in enumerate(planned):
            is_wanted = not _exist(job) and not wanted.isdisjoint(job.outputs)
            if is_wanted or not unmade.isdisjoint(job.inputs):
                are_made[number] = False
                unmade.update(job.outputs)
    return are_made


def _exist(job):
    return all(Path(file).exists() for file in job.outputs)


def _was_made_otherwise(flow, job):
    """Whether the first result of a job was made with other parameters, or before its inputs."""
    record = _record(job.outputs[0])
    if not record:
        return False
    if not set(job.inputs) <= set(record.get("input", ())):
        return True
    if any(_is_newer(file, job.outputs[0], record) for file in job.inputs):
        return True
    if job.rule not in _PARAMETERS:
        return False
    names, functions = _PARAMETERS[job.rule]
    wildcards = SimpleNamespace(**dict(zip(names.split("/"), job.name.split("/"), strict=True)))
    expected = Counter(repr(getattr(flow, function)(wildcards)) for function in functions)
    return not expected <= Counter(record.get("params", ()))


def _is_newer(file, output, record):
    """Whether an input was written after an output, with another content if that is known."""
    path = Path(file)
    if not path.exists() or path.stat().st_mtime <= Path(output).stat().st_mtime:
        return False
    known = (record.get("input_checksums") or {}).get(file)
    return known != f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def _record(file):
    """What Snakemake has recorded of a file; nothing if it has not."""
    path = RECORDS / urlsafe_b64encode(file.encode()).decode()
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
