"""Show a run on one line that moves: share done, time left, and what runs now.

A logger plugin of Snakemake, by its public interface (snakemake-interface-logger-plugins); the
Makefile chooses it with ``--logger splitcredit``. A job that fails gets a line of its own, with the
last line of its log and the place of it; with ``--show-failed-logs``, whole logs. In a dry run and
with ``--verbose``, everything appears as Snakemake writes it; the whole log of a run lies in
.snakemake/log either way.
"""

import csv
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from rich.console import Console
from rich.live import Live
from rich.text import Text
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Options of the command line, as ``--logger-splitcredit-expected``."""

    # Optional, and no annotation as text: Snakemake reads the type for its argument parser.
    expected: Optional[Path] = field(  # noqa: UP045
        default=None,
        metadata={
            "help": "CSV of the seconds that jobs take: stage, name (of artefact or experiment), "
            "jobs, seconds of one; without it, all jobs count alike"
        },
    )


class Work:
    """Expected seconds of the jobs of a run, those that are done, and those that run.

    Parameters
    ----------
    rows : list of dict
        Of the table that `LogHandlerSettings` describes.
    now : callable
        Clock, in seconds.
    """

    def __init__(self, rows=(), now=time.monotonic):
        self.now, self.start, self.total, self.done = now, now(), 0.0, 0.0
        self.seconds = {(row["stage"], row["name"]): float(row["seconds"]) for row in rows}
        self.of_stage = {}
        for stage in {row["stage"] for row in rows}:
            own = [(int(r["jobs"]), float(r["seconds"])) for r in rows if r["stage"] == stage]
            self.of_stage[stage] = sum(n * s for n, s in own) / sum(n for n, _ in own)
        self.running = {}

    def expect(self, counts):
        """Take the numbers of jobs by rule."""
        self.total = sum(n * self.of_stage.get(_stage(rule), 1.0) for rule, n in counts.items())

    def begin(self, job, rule, name):
        """Note that a job runs."""
        stage = _stage(rule)
        seconds = self.seconds.get((stage, name), self.of_stage.get(stage, 1.0))
        self.running[job] = seconds, self.now()

    def end(self, job, is_done):
        """Note that a job has ended."""
        seconds, _ = self.running.pop(job, (0.0, 0.0))
        self.done += seconds * is_done

    def share(self):
        """Share of the work that is done, below 1; a job that runs counts by its time."""
        now = self.now()
        begun = sum(min(seconds, now - start) for seconds, start in self.running.values())
        return min((self.done + begun) / self.total, 0.99) if self.total else 0.0

    def left(self):
        """What is left, in words; nothing before a fortieth is done."""
        share = self.share()
        if share < 0.025:
            return ""
        seconds = (self.now() - self.start) * (1 - share) / share
        return f"{seconds / 60:.0f} min left" if seconds >= 90 else f"{seconds:.0f} s left"


def _stage(rule):
    """The stage of a rule, which may stand twice: for outputs with a figure, and without."""
    return rule.removesuffix("_without_figure")


class LogHandler(LogHandlerBase):
    """Write the moving line, or on what is no terminal a line for each tenth."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = False
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self):
        self.console = Console(
            stderr=not self.common_settings.stdout,
            no_color=self.common_settings.nocolor,
            highlight=False,
        )
        expected = self.settings and self.settings.expected
        rows = []
        if expected and Path(expected).exists():
            with open(expected, encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
        self.work, self.names = Work(rows), {}
        self.last, self.has_failed, self.tenths = "", False, 0
        self.live = Live(
            console=self.console, get_renderable=self._line, refresh_per_second=2, transient=True
        )

    def emit(self, record):
        """Take one record of Snakemake's log."""
        event = getattr(record, "event", None)
        if self.common_settings.dryrun or self.common_settings.verbose:
            self._print(self.format(record))
        elif event == LogEvent.RUN_INFO:
            self._begin(record.stats)
        elif event == LogEvent.JOB_INFO:
            name = next(iter(record.wildcards.values()), "")
            for key in ("artefact", "experiment"):
                name = record.wildcards.get(key, name)
            self.names[record.jobid] = record.rule_msg or record.rule_name
            self.work.begin(record.jobid, record.rule_name, name)
        elif event == LogEvent.JOB_FINISHED:
            self.work.end(record.job_id, True)
        elif event == LogEvent.JOB_ERROR:
            self._fail(record)
        elif event == LogEvent.SHELLCMD or self._is_news(record):
            self._print(self.format(record))
            self.last = ""
        elif event is None and not self.work.total:
            self.last = self.format(record)
        self._tell()

    def close(self):
        """End the line; print the last that Snakemake said, if it had nothing to run."""
        self.live.stop()
        if self.last and not self.work.total:
            self._print(self.last)
        self.last = ""
        super().close()

    def _is_news(self, record):
        """Whether it is a warning, or an error that does not only repeat that a job failed."""
        if record.levelname == "ERROR":
            is_of_job = getattr(record, "exception", None) == "RuleException"
            return not (self.has_failed or is_of_job)
        return record.levelname in ("WARNING", "CRITICAL")

    def _begin(self, counts):
        self.work.expect({rule: n for rule, n in counts.items() if rule != "total"})
        if self.console.is_terminal:
            self.live.start()

    def _fail(self, record):
        self.has_failed = True
        self.work.end(record.jobid, False)
        if self.common_settings.show_failed_logs:
            self._print(self.format(record))
            return
        log = next(iter(record.log), "")
        lines = Path(log).read_text(errors="replace").split("\n") if Path(log).is_file() else []
        reason = next((line for line in reversed(lines) if line.strip()), "")
        if reason in ("", "finished"):
            reason = "it was ended before it said why"
        self._print(f"failed: {self.names.get(record.jobid, record.rule_name)}: {reason} ({log})")

    def _line(self):
        running = "; ".join(self.names[job] for job in list(self.work.running))
        parts = [f"{self.work.share():.0%}", self.work.left(), running]
        return Text("  ".join(filter(None, parts)), no_wrap=True, overflow="ellipsis")

    def _tell(self):
        if not self.console.is_terminal and self.work.share() * 10 >= self.tenths + 1:
            self.tenths = int(self.work.share() * 10)
            self._print(self._line().plain)

    def _print(self, text):
        self.console.print(text, markup=False, soft_wrap=True)
