"""Which jobs come first: order of the chains that rules give to Snakemake."""

from types import SimpleNamespace

import pytest

from reproduction.planning import costs, jobs, priorities, schedule

PLACES = {
    "plans": "{experiment}/{batch}",
    "data": "{experiment}/{batch}",
    "models": "{experiment}/{batch}",
    "importances": "{experiment}/{batch}/{importance}",
    "metrics": "{experiment}/{batch}/{metric}",
}


class Wildcards(dict):
    """As Snakemake has them: `items` are names and values."""


@pytest.fixture
def planned(monkeypatch):
    """Two batches, one of which has the longer chain, and how long each job takes."""
    chain = ("plans", "data", "models", "importances", "metrics")
    made, seconds = [], {}
    for batch, importance in (("short", 2.0), ("long", 9.0)):
        before: list[str] = []
        for rule in chain:
            name = f"e/{batch}" + {"importances": "/i", "metrics": "/m"}.get(rule, "")
            output = f"{rule}/{name}"
            made.append(jobs.Job(rule, name, "", before, [output]))
            seconds[made[-1].log] = importance if rule == "importances" else 1.0
            before = [output]
    made.append(jobs.Job("importances", "e/long/quick", "", ["models/e/long"], ["quick"]))
    seconds[made[-1].log] = 0.5
    monkeypatch.setattr(jobs, "of_workflow", lambda flow: made)
    known = SimpleNamespace(seconds=lambda job: seconds.get(job.log, 1.0))
    monkeypatch.setattr(costs, "reference", lambda: known)
    monkeypatch.setattr(costs, "read", lambda path: known)
    return made


def priority(rule, flow="a workflow", **wildcards):
    of = priorities.Priorities(flow).of(f"results/logs/{rule}/{PLACES[rule]}.log")
    return of(Wildcards(wildcards))


def test_jobs_of_the_longest_chain_come_first_and_keep_its_priority_to_its_end(planned):
    given = {"experiment": "e", "importance": "i", "metric": "m"}
    long = [priority(rule, batch="long", **given) for rule in PLACES]
    short = [priority(rule, batch="short", **given) for rule in PLACES]
    assert long == [13.0] * 5 and short == [6.0] * 5


def test_a_short_job_beside_the_chain_waits_until_the_chain_has_ended(planned):
    quick = priority("importances", experiment="e", batch="long", importance="quick")
    assert quick == 3.5
    assert schedule.chains(planned[-1:], [0.5]) == [0.5]


def test_a_job_that_takes_all_cores_starts_before_the_others(planned):
    planned.append(jobs.Job("tables", "p/a", "", [], ["table"], timed=True))
    alone = priorities.Priorities("a workflow").of("results/logs/timing/tables/p/a.log")
    assert alone(Wildcards()) > priority("models", experiment="e", batch="long")


def test_a_job_that_a_run_of_everything_does_not_have_comes_last(planned):
    assert priority("models", experiment="other", batch="long") == 0.0


def test_the_process_of_a_submitted_job_plans_nothing(monkeypatch):
    monkeypatch.setattr(jobs, "of_workflow", None)
    assert priority("models", flow=None, experiment="e", batch="long") == 0.0
