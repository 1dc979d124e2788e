"""A headless browser, and what a script in a page writes into its element ``pre``."""

import html
import re
import shutil
import subprocess

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
needs_browser = pytest.mark.skipif(
    BROWSER is None,
    reason="Neither Chromium nor Chrome is installed; put one of them on the PATH.",
)


def written(page, profile, *options) -> str:
    """Text of the first ``pre`` of a page after its scripts have run.

    Parameters
    ----------
    page : Path
        Of the file that is opened.
    profile : Path
        A folder for what the browser keeps.
    options : str
        Further options of the browser.
    """
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--user-data-dir={profile}", *options, page.as_uri()]
    process = subprocess.run(command, text=True, capture_output=True, timeout=120)
    match = re.search(r"<pre>(.+?)</pre>", process.stdout, re.S)
    assert match, process.stderr[-2000:]
    return html.unescape(match[1])
