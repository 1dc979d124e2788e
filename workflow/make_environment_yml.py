"""Write environment.yml from the lock and pyproject.toml; `make lock` calls this.

Names and versions stand in the file itself: Snakemake copies it to a folder of its own before an
environment is made of it, where no path to the lock leads anywhere.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = """\
# The packages of `make reproduce` for users of conda. From the top of a checkout:
#
#   conda env create -f environment.yml
#   conda activate splitcredit
#   snakemake --workflow-profile workflow/profiles/default --configfile config/presets/quick.yaml
#
# Snakemake makes the same environment by itself for every job with `--sdm conda`.
# splitcredit itself is not in it: the workflow finds its own src folder. To use the library
# elsewhere, install it into the environment: pip install --no-deps .
#
# Written by workflow/make_environment_yml.py from requirements.lock (`make lock`); do not edit.
"""


def pins(lock):
    """All lines ``name==version`` of a lock, with their markers, without hashes."""
    return [line.rstrip(" \\") for line in lock.splitlines() if re.match(r"[A-Za-z0-9]", line)]


def environment(lock, python):
    """Return the text of environment.yml."""
    dependencies = [f"  - python={python}", "  - pip", "  - pip:"]
    for pin in pins(lock):
        # Only a marker has characters that YAML would take for its own.
        text = "'" + pin.replace("'", '"') + "'" if ";" in pin else pin
        dependencies.append(f"      - {text}")
    head = ["name: splitcredit", "channels:", "  - conda-forge", "  - nodefaults", "dependencies:"]
    return HEADER + "\n".join([*head, *dependencies]) + "\n"


if __name__ == "__main__":
    project = (ROOT / "pyproject.toml").read_text()
    lowest = re.search(r'^requires-python = ">=(\d+\.\d+)', project, re.M)[1]
    text = environment((ROOT / "requirements.lock").read_text(), lowest)
    (ROOT / "environment.yml").write_text(text)
