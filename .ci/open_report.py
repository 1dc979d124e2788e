"""Open Snakemake's own report in a browser, in two widths, light and dark.

    python .ci/open_report.py REPORT

The status is 1 if a script of the page fails, or if a paper is not among its categories. Without
Chromium or Chrome, a line says that nothing was opened.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PAPERS = [path.parent.name for path in Path("src/reproduction/papers").glob("*/artefacts.yaml")]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main(report: Path) -> None:
    """Open it; end with a line that names the first fault."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("no browser is installed: the report of Snakemake was not opened")
        return
    for width in (500, 1400):  # a window of this browser is not narrower
        for dark in (0, 1):
            page, errors = opened(browser, report, width, 1 - dark)
            lacking = [paper for paper in PAPERS if paper not in page]
            if errors or lacking or not PAPERS:
                sys.exit(f"{report}, width {width}: errors {errors}, without {lacking}")


def opened(browser: str, report: Path, width: int, scheme: int) -> tuple[str, list[str]]:
    """The text of the page once its scripts have run, and the errors of these."""
    with tempfile.TemporaryDirectory() as home:
        command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"]
        command += [f"--user-data-dir={home}", f"--window-size={width},1200"]
        command += ["--virtual-time-budget=10000", "--enable-logging=stderr"]
        command += [f"--blink-settings=preferredColorScheme={scheme}", report.resolve().as_uri()]
        done = subprocess.run(command, text=True, capture_output=True, timeout=120)
    text = re.sub(r"<(script|style)\b.*?</\1>", "", done.stdout, flags=re.DOTALL)
    return text, re.findall(r"CONSOLE.*?\"(Uncaught .*?)\", source", done.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
