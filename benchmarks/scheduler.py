"""What Snakemake itself costs for each job: processor time and memory of its own process.

    python benchmarks/scheduler.py plan 1000 10000 100000
    python benchmarks/scheduler.py run 1000 10000

``plan`` is a dry run of a sweep of this project with one run a job; ``run`` runs jobs that only
create a file, with a log and a benchmark each, on two cores. Prints one line for each number of
jobs. Rows of docs/planning.md and the numbers in workflow/plan.py come from here.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Jobs of a run of the sweep below: plan, data, models, three importances and two metrics.
JOBS = 8
SWEEP = """
experiments:
  scheduler:
    importances: [local_mdi, saabas, tree_shap]
    metrics: [row_correlation_summary, global_scores]
    sweep:
      - grid: {{data: led_sampled, model: extra_trees, repeat: {{first: 1, last: {runs}}}}}
        batch_size: 1
"""
TRIVIAL = """
onstart:
    workflow.scheduler.job_rate_limiter = None

rule all:
    input:
        expand("out/{{i}}.txt", i=range({jobs})),

rule one:
    output:
        "out/{{i}}.txt",
    log:
        "log/{{i}}.log",
    benchmark:
        "benchmark/{{i}}.tsv"
    shell:
        "true > {{output}} 2> {{log}}"
"""
# Snakemake in a process that reports its own use of the processor, without that of the jobs.
REPORTING = """
import resource, sys
from snakemake.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    status = end.code
used = resource.getrusage(resource.RUSAGE_SELF)
print(f"{used.ru_utime + used.ru_stime} {used.ru_maxrss} {status}", file=sys.stderr)
"""


def main(way, *numbers) -> None:
    """Measure for each number of jobs."""
    for number in map(int, numbers):
        with tempfile.TemporaryDirectory() as folder:
            seconds, megabytes = {"plan": plan, "run": run}[way](number, Path(folder))
        per_job = 1000 * seconds / number
        print(f"{way} {number} jobs: {seconds:.1f} s, {per_job:.2f} ms a job, {megabytes:.0f} MB")


def plan(number, folder):
    """Seconds and megabytes of a dry run of so many jobs."""
    config = folder / "sweep.yaml"
    config.write_text(SWEEP.format(runs=number // JOBS))
    profile = ROOT / "workflow" / "profiles" / "default"
    options = ["--snakefile", str(ROOT / "Snakefile"), "--dry-run", "--configfile", str(config)]
    options += ["--workflow-profile", str(profile), "--", "experiment_scheduler"]
    return _measured(options, folder)


def run(number, folder):
    """Seconds and megabytes of a run of so many jobs that do nothing."""
    (folder / "Snakefile").write_text(TRIVIAL.format(jobs=number))
    profile = ROOT / "workflow" / "profiles" / "default"
    return _measured(["--workflow-profile", str(profile), "--cores", "2"], folder)


def _measured(options, folder):
    command = [sys.executable, "-c", REPORTING, "--quiet", "all", *options]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    ended = subprocess.run(command, cwd=folder, text=True, check=True, **pipes)
    seconds, kilobytes, status = ended.stderr.splitlines()[-1].split()
    if json.loads(status):
        sys.exit(ended.stderr)
    return float(seconds), float(kilobytes) / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    main(*sys.argv[1:])
