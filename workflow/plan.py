"""Print what a run would take, before it runs: jobs, processor time, wall time, memory.

    python workflow/plan.py [--configfile FILE]... [--experiment NAME] [--cores N]

Nothing is written. Of the jobs that have run, what was predicted and measured stands at the right.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from reproduction import usage  # noqa: E402
from reproduction.planning import costs, jobs, records, schedule  # noqa: E402
from reproduction.planning.configuration import ConfigError, merge, read_yaml  # noqa: E402
from reproduction.planning.workflow import Workflow  # noqa: E402

# Seconds of Snakemake's own, by benchmarks/scheduler.py: once; for each job that it plans; for each
# that it starts; and then for each other job that is ready.
START, PLANNED, STARTED, LOOKED_AT = 2.5, 0.002, 0.005, 6.0e-6


def main(arguments) -> None:
    """Print the plan; end with one line if the configuration cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--configfile", action="append", default=[])
    parser.add_argument("--experiment", help="only this one; default everything")
    parser.add_argument("--cores", default="all", help="default all of this machine")
    options = parser.parse_args(arguments)
    cores = schedule.number_of_cores(options.cores)
    config: dict = {}
    try:
        for file in options.configfile:
            config = merge(config, read_yaml(file))
        flow = Workflow(config, options.configfile)
        if options.experiment and options.experiment not in flow.config["experiments"]:
            names = ", ".join(flow.config["experiments"])
            raise ConfigError(f"no experiment {options.experiment!r}; there are {names}")
    except ConfigError as error:
        sys.exit(f"configuration: {error}")
    planned = list(jobs.of_workflow(flow, options.experiment))
    measured = costs.MEASURED.is_file()
    rates = costs.read(costs.MEASURED) if measured else costs.reference()
    source = str(costs.MEASURED) if measured else "those of the project (make costs measures yours)"
    scope = options.experiment or "everything"
    print(f"{scope}, preset {flow.config['preset']}; costs: {source}\n")
    report(planned, rates, cores, records.finished(flow, planned))


def report(planned, known, cores, are_made) -> None:
    """Print the jobs by rule, and the totals of those that are left to do."""
    seconds = [known.seconds(job) for job in planned]
    memory = [known.megabytes(job) for job in planned]
    usages = [usage.read(job.log) for job in planned]
    left = [i for i, is_made in enumerate(are_made) if not is_made]
    compared = [i for i, usage_of_job in enumerate(usages) if usage_of_job is not None]
    left_set = set(left)
    head = f"{'rule':12}{'jobs':>7}{'to do':>7}{'CPU':>10}{'longest':>10}{'memory':>10}"
    print(head + (f"{'predicted':>11}{'measured':>10}{'ratio':>7}" if compared else ""))
    rules = dict.fromkeys(job.rule for job in planned)
    for rule in [*rules, "all"]:
        of_rule = [i for i, job in enumerate(planned) if rule in (job.rule, "all")]
        line = f"{rule:12}{len(of_rule):7}{len(left_set.intersection(of_rule)):7}"
        line += f"{duration(sum(seconds[i] for i in of_rule)):>10}"
        line += f"{duration(max(seconds[i] for i in of_rule)):>10}"
        line += f"{size(max(memory[i] for i in of_rule)):>10}"
        measured_jobs = [i for i in of_rule if usages[i] is not None]
        if measured_jobs:
            predicted = sum(seconds[i] for i in measured_jobs)
            measured = sum(usages[i].seconds for i in measured_jobs)
            line += f"{duration(predicted):>11}{duration(measured):>10}"
            line += f"{predicted / measured:7.2f}"
        print(line)
    if not left:
        print("\nnothing is left to do")
        return
    todo = [planned[i] for i in left]
    total = sum(seconds[i] for i in left)
    starts = sum(known.start(planned[i]) for i in left)
    simulated = schedule.simulate(
        todo, [seconds[i] for i in left], [memory[i] for i in left], cores
    )
    before = START + PLANNED * len(planned)
    scheduling = STARTED * len(left) + LOOKED_AT * simulated.looks
    extra = before + scheduling
    # The scheduler is one process: it starts no more jobs than it gets through.
    wall = before + max(simulated.wall, scheduling)
    print(f"\nto do       {len(left)} of {len(planned)} jobs")
    print(
        f"CPU         {duration(total + extra)}: {share(starts, total + extra)} starting jobs, "
        f"{share(extra, total + extra)} Snakemake"
    )
    print(
        f"wall        {duration(wall)} on {cores} cores, {share(total, wall * cores)} of them "
        f"busy; longest chain {duration(simulated.chain)}"
    )
    print(f"memory      {size(simulated.megabytes)} at most side by side")
    unknown = {f"{job.rule} {job.kind}".strip() for job in todo if not known.measured(job)}
    if unknown:
        print(f"guessed     as typical of their rule: {', '.join(sorted(unknown))}")


def duration(seconds: float) -> str:
    """Seconds in words of three digits."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def size(megabytes: float) -> str:
    """Megabytes in words."""
    return f"{megabytes / 1000:.1f} GB" if megabytes >= 1000 else f"{megabytes:.0f} MB"


def share(part: float, whole: float) -> str:
    """A part in percent."""
    percent = 100 * part / whole if whole else 0
    return f"{percent:.0f} %" if percent >= 1 else f"{percent:.1g} %"


if __name__ == "__main__":
    main(sys.argv[1:])
