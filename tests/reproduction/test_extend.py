"""The example paper on the page docs/extend.md works, and mistakes in its texts are named."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extend.md").read_text()
FILES = dict(re.findall(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)^```", PAGE, re.M | re.S))
JOBS = """
import sys
sys.path[:0] = ["src", sys.argv[1]]
from types import SimpleNamespace
from reproduction import storage
from reproduction.__main__ import main
from reproduction.planning.workflow import Workflow
from reproduction.report.numbers import Numbers
from reproduction.report.texts import spoken

flow, job = Workflow({}), SimpleNamespace(artefact="fisher1936/table2")
table, judgment = flow.outputs(job.artefact)
words = ["artefacts", "--artefact", job.artefact, "--parameters", flow.artefact_parameters(job)]
assert not main([*words, "--table", table, "--kept", "k/t", *flow.judging(job), "--out", judgment])
rows = storage.read_json(judgment)
storage.write_rows("claims.csv", rows, rows[0])
files = ["--claims", "claims.csv", "--report", "", "--log", "log", "--out", "verdict.txt"]
main(["check", "--whole", "fisher1936", *files])
numbers = Numbers({job.artefact: table}, rows, flow.config)
print(*(row["verdict"] for row in rows), rows[-1]["test"])
print(*(numbers.fill(text) for _, text in spoken("fisher1936")))
"""


WRONG = [
    ("account", "published", "publishd", "account.yaml: found: no printed .*: name artefacts"),
    ("account", '"equal"', '"equals"', "account.yaml: found: no verdict is equals: name"),
    ("account", "found:", "fuond:", r"account.yaml: unknown key fuond \(did you mean found\?"),
    ("artefacts", "  statements: [s01]\n", "", "statements.csv: s01: no artefact decides it: "),
]
# Each of them takes seconds.
WRONG[1:] = [pytest.param(*case, marks=pytest.mark.long) for case in WRONG[1:]]


@pytest.mark.parametrize(
    ("file", "text", "wrong", "printed"),
    [("account", "", "", "equal equal holds .*2 are equal to ours.* 1.46 cm long"), *WRONG],
)
def test_the_paper_of_the_page_is_judged_and_a_wrong_account_is_one_line(
    tmp_path, file, text, wrong, printed
):
    for name in ("config", "workflow", "data"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "src" / "reproduction", tmp_path / "src" / "reproduction")
    path = f"src/reproduction/papers/fisher1936/{file}.yaml"
    for name, content in (FILES | {path: FILES[path].replace(text, wrong)}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    command = [sys.executable, "-c", JOBS, str(ROOT / "src")]
    process = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True)
    assert process.returncode == (1 if text else 0), process.stderr
    output = process.stderr.splitlines()[-1] if text else process.stdout
    assert re.search(printed, output, re.S), process.stderr
    name, function = "tests/reproduction/papers/test_fisher1936.py", "test_s01_setosa_is_wider"
    assert text or f"{name}::{function}" in output
    exec(FILES[name] + f"\n{function}()", {})
