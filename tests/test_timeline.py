"""The picture of a run: which jobs ran side by side, and what the rules took."""

import subprocess
import sys
from pathlib import Path

import pytest

from reproduction import storage, usage
from reproduction.figures import save, style
from reproduction.report import timeline

ROOT = Path(__file__).resolve().parents[1]
# Rule and name of each job, its start and end, and its processor time.
JOBS = {
    "kernels/tables": (100.0, 110.0, 9.0),
    "models/e/b": (100.5, 130.0, 29.0),
    "importances/e/b/i": (110.0, 120.0, 8.0),
    "timing/tables/p/a": (130.0, 140.0, 10.0),
}


@pytest.fixture
def results(tmp_path):
    for name, (began, ended, cpu) in JOBS.items():
        log = f"used {cpu:.3f} s of processor time, 200 MB of memory\n"
        log += f"ran from {began:.3f} to {ended:.3f}, in seconds since 1970\nfinished\n"
        storage.write_text(tmp_path / "logs" / f"{name}.log", log)
        job = f"s\tcpu_time\n{ended - began}\t0\n"
        storage.write_text(tmp_path / "timing" / "jobs" / f"{name}.tsv", job)
    # A job that did not finish has no such lines.
    storage.write_text(tmp_path / "logs" / "models" / "e" / "c.log", "killed\n")
    return tmp_path


def test_jobs_that_run_side_by_side_have_lanes_of_their_own(results):
    lanes = {(bar.rule, bar.name): bar.lane for bar in timeline.bars(results)}
    assert lanes == {
        ("kernels", "tables"): 0,
        ("models", "e/b"): 1,
        ("importances", "e/b/i"): 0,
        ("tables", "p/a"): 0,
    }


def test_times_count_from_the_first_job_and_shares_are_of_all_cores(results):
    bars = timeline.bars(results)
    assert [(bar.began, bar.ended) for bar in bars] == [(0, 10), (0.5, 30), (10, 20), (30, 40)]
    assert timeline.shares(bars, 2) == pytest.approx((59.5 / 80.0, 56.0 / 80.0))


def test_a_job_logs_when_it_ran_and_old_logs_are_read_without(tmp_path):
    path = tmp_path / "a.log"
    storage.write_text(path, f"{usage.spent()}\n")
    assert usage.read(path).began is None
    storage.write_text(path, f"{usage.spent()}\n{usage.clock(12.5)}\nfinished\n")
    logged = usage.read(path)
    assert logged.began == 12.5 and logged.ended > 1e9
    with pytest.raises(ValueError, match=r"no log below .* says when its job ran"):
        timeline.bars(tmp_path)


@pytest.mark.parametrize("script", ["timeline", "plan"])
@pytest.mark.parametrize("cores", ["0", "two", "1.5"])
def test_a_number_of_cores_that_is_none_is_one_line(script, cores):
    command = [sys.executable, ROOT / "workflow" / f"{script}.py", "--cores", cores]
    process = subprocess.run(command, text=True, capture_output=True)
    assert process.returncode == 1
    assert process.stderr == f"CORES={cores}: expected a number of cores, or all\n"


def test_the_script_writes_the_picture_and_the_seconds_of_every_rule(results):
    script = [sys.executable, ROOT / "workflow" / "timeline.py", "--cores", "2", results]
    subprocess.run(script, check=True, capture_output=True)
    rows = storage.read_rows(results / "timing" / "rules.csv")
    assert [row["rule"] for row in rows] == ["models", "tables", "kernels", "importances", "all"]
    assert rows[0] == {
        "rule": "models",
        "jobs": "1",
        "wall_seconds": "29.5",
        "cpu_seconds": "29.0",
        "megabytes": "200",
    }
    assert rows[-1]["jobs"] == "4" and rows[-1]["cpu_seconds"] == "56.0"
    picture = (results / "timing" / "timeline.svg").read_text()
    assert picture.count("<path") > 8


def test_the_jobs_of_one_core_stand_above_the_names_of_all_rules(tmp_path):
    """Such a picture was so low that its bars lay behind the names."""
    rules = [*timeline._RULES, "report"]
    jobs = [timeline.Bar(rule, "e", 9.0 * i, 9.0 * i + 8, 7.0, 0) for i, rule in enumerate(rules)]
    with style():
        figure = timeline.draw(jobs, 1)
        save(figure, tmp_path / "timeline.png")
    (axis,), (legend,) = figure.axes, figure.legends
    names = legend.get_window_extent().transformed(figure.transFigure.inverted())
    assert axis.get_position().y0 > names.y1
    assert "on one core: " in axis.get_title()
