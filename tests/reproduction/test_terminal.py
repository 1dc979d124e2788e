"""The line that a run shows on a terminal, from records as Snakemake's log has them."""

from logging import Formatter, makeLogRecord
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_splitcredit import LogHandler, LogHandlerSettings, Work

EXPECTED = "stage,name,jobs,seconds\nartefacts,p/long,1,90\nartefacts,p/short,1,10\n"


@pytest.fixture
def handler(tmp_path):
    table = tmp_path / "expected.csv"
    table.write_text(EXPECTED)
    common = SimpleNamespace(
        stdout=False, nocolor=True, dryrun=False, verbose=False, show_failed_logs=False
    )
    handler = LogHandler(common, LogHandlerSettings(expected=table))
    handler.setFormatter(Formatter("%(message)s"))
    yield handler
    handler.close()


def send(handler, level="INFO", **fields):
    handler.emit(makeLogRecord({"levelname": level, **fields}))


def begin(handler, job, artefact):
    fields = {"rule_name": "artefacts", "rule_msg": artefact, "wildcards": {"artefact": artefact}}
    send(handler, event=LogEvent.JOB_INFO, jobid=job, **fields)


def test_share_is_of_expected_work_and_not_of_jobs(handler, capsys):
    send(handler, event=LogEvent.RUN_INFO, stats={"artefacts_without_figure": 2, "total": 2})
    send(handler, msg="Removing temporary output results/models/x.npz.")
    begin(handler, 1, "p/short")
    begin(handler, 2, "p/long")
    send(handler, event=LogEvent.JOB_FINISHED, job_id=1)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("10%")
    assert line.endswith("p/long")


def test_a_failed_job_is_one_line_with_the_reason_and_the_log(handler, capsys, tmp_path):
    log = tmp_path / "job.log"
    log.write_text("Traceback\nartefacts: ValueError: no such column\n\n")
    send(handler, event=LogEvent.RUN_INFO, stats={"artefacts": 2, "total": 2})
    begin(handler, 1, "p/long")
    send(handler, "ERROR", event=LogEvent.ERROR, exception="RuleException", msg="Command ...")
    send(handler, "ERROR", event=LogEvent.JOB_ERROR, jobid=1, rule_name="artefacts", log=[str(log)])
    send(handler, "ERROR", msg="Exiting because a job execution failed.")
    handler.close()
    printed = capsys.readouterr().err
    assert printed == f"failed: p/long: artefacts: ValueError: no such column ({log})\n"


def test_a_job_that_was_ended_is_not_said_to_have_finished(handler, capsys, tmp_path):
    """Its log may be of an earlier run. With --show-failed-logs, Snakemake's text is printed."""
    log = tmp_path / "job.log"
    log.write_text("finished\n")
    begin(handler, 1, "p/long")
    failed = {"event": LogEvent.JOB_ERROR, "jobid": 1, "rule_name": "artefacts", "log": [str(log)]}
    send(handler, "ERROR", **failed)
    handler.common_settings.show_failed_logs = True
    send(handler, "ERROR", msg="with its logs", **failed)
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"failed: p/long: it was ended before it said why ({log})"
    assert second == "with its logs"


def test_what_is_said_instead_of_a_run_is_shown(handler, capsys):
    send(handler, msg="Building DAG of jobs...")
    send(handler, msg="Nothing to be done.")
    handler.close()
    assert capsys.readouterr().err == "Nothing to be done.\n"


def test_time_left_follows_the_share():
    clock = iter([0.0, 100.0, 100.0, 100.0])
    work = Work([{"stage": "s", "name": "n", "jobs": "4", "seconds": "50"}], lambda: next(clock))
    work.expect({"s": 4})
    work.done = 100.0
    assert work.left() == "2 min left"
