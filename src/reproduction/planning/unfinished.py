"""List what a run that failed or was stopped has not made, for its report."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import SimpleNamespace

from reproduction.__main__ import FINISHED, KEY
from reproduction.planning.places import ON_PAGES
from reproduction.planning.workflow import Workflow


def report_is_older(flow: Workflow) -> bool:
    """Whether there is a report from before this run made one of its artefacts."""
    report = Path("results/report.html")
    tables = [Path(flow.path("tables", name, "csv")) for name in flow.asked]
    return report.exists() and any(
        table.stat().st_mtime > report.stat().st_mtime for table in tables if table.exists()
    )


def report_is_of_a_failed_run() -> bool:
    """Return whether there is a report without a verdict: the run's check failed."""
    return Path("results/report.html").exists() and not Path("results/verdict.txt").exists()


def report_command(flow: Workflow, cores) -> str:
    """Return the command that writes the report of a partial run, for Snakemake to format."""
    words = ["python", "-m", "reproduction", "unfinished", "--cores", str(cores)]
    command = shlex.join([*words, "--configuration", *flow.packed()])
    return f"{command} > results/logs/unfinished.log 2>&1".replace("{", "{{").replace("}", "}}")


def artefacts(flow: Workflow) -> list[dict]:
    """Artefacts that are not made, each with the log of the job that failed and its reason."""
    found = []
    for name in flow.required:
        steps = [step for e in flow.experiments_of(name) for step in _steps_of_experiment(flow, e)]
        timing = "timing/" if flow.artefacts[name].get("timed") else ""
        log = f"results/logs/{timing}artefacts/{name}.log"
        steps.append((flow.outputs(name), log, "artefacts", SimpleNamespace(artefact=name)))
        if reason := _unfinished(flow, steps):
            found.append({"artefact": name, **reason})
    return found


def sweeps(flow: Workflow) -> list[dict]:
    """Sweeps of the report that are not made, as `artefacts` has artefacts."""
    found = []
    for name in flow.config["sweeps"]:
        outputs = flow.sweep_files(("csv", *ON_PAGES), [name])
        own = outputs, f"results/logs/sweeps/{name}.log", "sweeps", SimpleNamespace(experiment=name)
        if reason := _unfinished(flow, [*_steps_of_experiment(flow, name), own]):
            found.append({"sweep": name, **reason})
    return found


def _steps_of_experiment(flow, name):
    """Outputs, log, stage and wildcards of the jobs of an experiment, in the order of the flow."""
    # They need no stage, whose key is looked for: the job that reads their tables covers theirs.
    for batch in flow.plan(name).batches:
        for stage in ("data_and_models", "importances", "metrics"):
            yield [], f"results/logs/{stage}/{name}/{batch}.log", "", None


def _unfinished(flow, steps):
    """Log and reason of the first of these jobs that failed; None if all is made, of these keys."""
    is_made = True
    for outputs, log, stage, wildcards in steps:
        lines = _lines(log)
        if lines and lines[-1] != FINISHED:
            return {"log": log, "reason": lines[-1]}
        is_made &= all(Path(output).exists() for output in outputs)
        # An earlier run may have left outputs of other sources or settings.
        is_made &= not stage or KEY.format(flow.key(stage)(wildcards)) in lines[-3:]
    return None if is_made else {"log": "", "reason": "none of its jobs failed, but not all ran"}


def _lines(log):
    """Lines of the log of a job; none if it never started."""
    path = Path(log)
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines or ["the job was stopped before it printed anything"]
