"""Which jobs come first, and what they request: what rules give to Snakemake."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from reproduction.planning import costs, jobs, priorities, requests, schedule

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
    planned_jobs, seconds = [], {}
    for batch, importance in (("short", 2.0), ("long", 9.0)):
        before: list[str] = []
        for rule in chain:
            name = f"e/{batch}" + {"importances": "/i", "metrics": "/m"}.get(rule, "")
            output = f"{rule}/{name}"
            planned_jobs.append(jobs.Job(rule, name, "", before, [output]))
            seconds[planned_jobs[-1].log] = importance if rule == "importances" else 1.0
            before = [output]
    planned_jobs.append(jobs.Job("importances", "e/long/quick", "", ["models/e/long"], ["quick"]))
    seconds[planned_jobs[-1].log] = 0.5
    monkeypatch.setattr(jobs, "of_workflow", lambda flow: planned_jobs)
    predicted = SimpleNamespace(seconds=lambda job: seconds.get(job.log, 1.0))
    monkeypatch.setattr(costs, "reference", lambda: predicted)
    monkeypatch.setattr(costs, "read", lambda path: predicted)
    return planned_jobs


def priority(rule, flow="a workflow", **wildcards):
    of = priorities.Priorities(flow).of(f"results/logs/{rule}/{PLACES[rule]}.log")
    return of(Wildcards(wildcards))


def test_jobs_of_the_longest_chain_come_first_and_keep_its_priority_to_its_end(planned):
    names = {"experiment": "e", "importance": "i", "metric": "m"}
    of_long = [priority(rule, batch="long", **names) for rule in PLACES]
    of_short = [priority(rule, batch="short", **names) for rule in PLACES]
    assert of_long == [13.0] * 5 and of_short == [6.0] * 5


def test_a_short_job_beside_the_chain_waits_until_the_chain_has_ended(planned):
    quick = priority("importances", experiment="e", batch="long", importance="quick")
    assert quick == 3.5
    assert schedule.chains(planned[-1:], [0.5]) == [0.5]


def test_a_job_that_takes_all_cores_starts_before_the_others(planned):
    planned.append(jobs.Job("tables", "p/a", "", [], ["table"], timed=True))
    priority_of_timed = priorities.Priorities("a workflow").of("results/logs/timing/tables/p/a.log")
    assert priority_of_timed(Wildcards()) > priority("models", experiment="e", batch="long")


def test_a_job_that_a_run_of_everything_does_not_have_comes_last(planned):
    assert priority("models", experiment="other", batch="long") == 0.0


def test_the_process_of_a_submitted_job_plans_nothing(monkeypatch):
    monkeypatch.setattr(jobs, "of_workflow", None)
    assert priority("models", flow=None, experiment="e", batch="long") == 0.0


# Memory.

RULES = Path(__file__).resolve().parents[1] / "workflow" / "rules"
# What a full run predicted and needed of the largest job, docs/planning.md.
LARGEST = {"models": (1200, 2100), "importances": (790, 1300), "metrics": (391, 1100)}


def request(monkeypatch, predicted, attempt=1, flow="a workflow", batch="b"):
    only_job = jobs.Job("models", "e/b", "", [], [])
    monkeypatch.setattr(jobs, "of_workflow", lambda flow, experiment: [only_job])
    monkeypatch.setattr(costs.Costs, "megabytes", lambda self, job: predicted)
    pattern = "results/logs/models/{experiment}/{batch}.log"
    wildcards = Named(experiment="e", batch=batch)
    return requests.Requests(flow).memory(3000, pattern)(wildcards, attempt)


class Named(SimpleNamespace):
    """As Snakemake has wildcards: attributes, and `items`."""

    def items(self):
        return vars(self).items()


def test_a_job_requests_three_times_what_is_predicted_and_no_less_than_its_rule_has(monkeypatch):
    assert [request(monkeypatch, mb) for mb in (0.0, 999.0, 1000.1, 5000.0)] == [
        3000,
        3000,
        3001,
        15000,
    ]
    # At each further attempt as much again.
    assert [request(monkeypatch, 5000.0, attempt) for attempt in (1, 2, 3)] == [15000, 30000, 45000]


def test_a_job_that_is_not_planned_or_runs_already_requests_what_its_rule_has(monkeypatch):
    assert request(monkeypatch, 5000.0, batch="other") == 3000
    assert request(monkeypatch, 5000.0, flow=None) == 3000


@pytest.mark.parametrize("rule", LARGEST)
def test_the_margin_covers_what_the_largest_jobs_of_a_full_run_needed(rule):
    predicted, needed = LARGEST[rule]
    assert requests.MARGIN * predicted > needed
    page = (RULES.parents[1] / "docs" / "planning.md").read_text()
    (row,) = re.findall(rf"^\| {rule} \| .*\| (.* [GM]B) \| (.* [GM]B) \|$", page, re.MULTILINE)
    sizes = [float(text.split()[0]) * (1000 if "GB" in text else 1) for text in row]
    assert sizes == [predicted, needed]


@pytest.mark.parametrize("rule", ["data", "models", "importances", "metrics", "experiments"])
def test_rules_of_sweeps_request_memory_by_the_logs_of_their_jobs(rule):
    text = (RULES / f"{rule}.smk").read_text()
    (log,) = re.findall(r'log:\n        ("results/logs/.*")', text)
    assert re.search(rf"mem_mb=requests.memory\(\s*\d000,\s*{re.escape(log)},?\s*\)", text)
