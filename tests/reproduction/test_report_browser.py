"""The report as a browser shows it: whole, readable and as wide as the window, light and dark."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imsave

from reproduction import storage
from reproduction.planning import configuration
from reproduction.planning.workflow import Workflow
from reproduction.report import manifest, page

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
TABLE = "sutera2021/table4"
CLAIMS = storage.read_rows(REFERENCE / "claims.csv")
# Enough to see every kind of row; all of them take a browser seconds.
ODD = [{**CLAIMS[0], "verdict": verdict} for verdict in ("unexplained", "outside its band")]
# Of each artefact one at least: the table of one without any is shown, however wide it is.
OF_EACH = {(row["paper"], row["artefact"]): row for row in CLAIMS}
SOME_CLAIMS = [*CLAIMS[::7], *OF_EACH.values(), *ODD]
# Before anything else, errors are collected; at the end everything is opened, used and measured.
COLLECT = """<script>window.errors = [];
window.addEventListener("error", (event) => errors.push(event.message));
console.error = (...words) => errors.push(words.join(" "));</script>"""
MEASURE = """<script>window.addEventListener("load", async () => {
for (const details of document.querySelectorAll("main details")) details.open = true;
await Promise.all(Array.from(document.images, (image) => image.decode().catch(() => {})));
const luminance = (color) => { const parts = color.map((part) => { part /= 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]; };
const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
const grounds = new Map([[null, [255, 255, 255]]]);
const ground = (node) => { if (!grounds.has(node)) {
  const color = numbers(getComputedStyle(node).backgroundColor);
  const own = color.length < 4 || color[3] > 0;
  grounds.set(node, own ? color.slice(0, 3) : ground(node.parentElement)); }
  return grounds.get(node); };
const pale = new Set();
for (const node of document.querySelectorAll("body *")) {
  if (!Array.from(node.childNodes).some((own) => own.nodeType === 3 && own.data.trim())) continue;
  if (["SCRIPT", "STYLE"].includes(node.tagName)) continue;
  const lights = [numbers(getComputedStyle(node).color).slice(0, 3), ground(node)].map(luminance);
  const ratio = (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05);
  if (ratio < 4.5) pale.add(node.tagName + "." + node.className + " " + ratio.toFixed(2)); }
const result = { errors, pale: Array.from(pale), inner: window.innerWidth,
  width: document.documentElement.scrollWidth,
  dark: matchMedia("(prefers-color-scheme: dark)").matches,
  missing: Array.from(document.images).filter((image) => !image.naturalWidth).length,
  cut: Array.from(document.querySelectorAll(".card .scroll, #verdicts .scroll"))
    .filter((box) => box.scrollWidth > box.clientWidth + 1)
    .map((box) => box.getAttribute("aria-label")),
  images: document.images.length };
const rows = () => Array.from(document.querySelectorAll(".verdicts tbody tr"))
  .filter((row) => row.checkVisibility());
result.rows = rows().length;
const words = document.getElementById("filter-words");
words.value = "spearman TABLE4"; words.dispatchEvent(new Event("input"));
result.fitting = rows().map((row) => row.textContent.toLowerCase());
words.value = ""; words.dispatchEvent(new Event("input"));
result.folded = rows().length;
document.querySelector("button.zoom").click();
result.enlarged = document.getElementById("viewer").open
  && document.querySelector("#viewer img").src === document.querySelector("button.zoom img").src;
parent.postMessage(result, "*");
});</script>"""
# A window is at least 500 pixels wide, a frame in it is not. Its report comes as a message.
FRAMES = """<!doctype html><meta name="color-scheme" content="light dark"><pre></pre><script>
const results = [];
window.addEventListener("message", (event) => { results.push(event.data);
  document.querySelector("pre").textContent = JSON.stringify(results); });
</script>"""
WIDTHS = (400, 1280)


def written(page, profile, *options):
    """Text of the first ``pre`` of a page after its scripts have run."""
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--user-data-dir={profile}", *options, page.as_uri()]
    process = subprocess.run(command, text=True, capture_output=True, timeout=120)
    match = re.search(r"<pre>(.+?)</pre>", process.stdout, re.S)
    assert match, process.stderr[-2000:]
    return html.unescape(match[1])


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A page that shows the report of the reference run, with white figures, in two widths."""
    folder, config = tmp_path_factory.mktemp("browser"), configuration.load({})
    figures = []
    for name in Workflow({}).figures:
        figures.append(folder / "figures" / f"{name}.png")
        figures[-1].parent.mkdir(parents=True, exist_ok=True)
        imsave(figures[-1], np.ones((90, 1600, 3)))
    tables = [p for place in ("", "timing/") for p in REFERENCE.glob(f"{place}tables/*/*.csv")]
    seconds = [{"rule": "tables", "jobs": 2, "wall": 2.5, "cpu": 1.5, "megabytes": 120}]
    names = ["benchmark", "scope", "peer", "peer_version", "mode", "threads", "clock"]
    bench = dict.fromkeys([*names, "ours_s", "peer_s", "ratio", "note"], "a long text of a row")
    unmade = [{"artefact": TABLE, "log": "results/logs/" + 30 * "long/", "reason": 30 * "long_"}]
    text = page.render(
        SOME_CLAIMS,
        config,
        figures,
        tables,
        manifest=manifest.of_run(config, 2),
        versions=manifest.versions(),
        seconds=seconds,
        bench=[bench],
        incomplete=unmade,
    )
    text = text.replace("<head>", f"<head>{COLLECT}").replace("</body>", f"{MEASURE}</body>")
    (folder / "report.html").write_text(text, encoding="utf-8")
    frame = '<iframe src="report.html" style="border: 0; height: 2000px; width: {}px"></iframe>'
    frames = "".join(frame.format(width) for width in WIDTHS)
    (folder / "frames.html").write_text(FRAMES + frames, encoding="utf-8")
    return folder / "frames.html"


@pytest.mark.skipif(
    BROWSER is None,
    reason="Neither Chromium nor Chrome is installed; put one of them on the PATH.",
)
@pytest.mark.parametrize(
    "dark", [False, pytest.param(True, marks=pytest.mark.long)], ids=["light", "dark"]
)
def test_the_report_is_whole_in_a_browser(opened, tmp_path, dark):
    """Red at a missing figure, an error, text that is wider than the window, or too pale."""
    options = ["--hide-scrollbars", "--window-size=1500,2000", "--virtual-time-budget=20000"]
    options += ["--blink-settings=preferredColorScheme=" + ("0" if dark else "1")]
    results = json.loads(written(opened, tmp_path, *options))
    assert sorted(result["inner"] for result in results) == list(WIDTHS)
    for result in results:
        assert result["errors"] == [] and result["missing"] == 0
        assert result["images"] == len(Workflow({}).figures) + 1
        assert result["dark"] is dark
        assert result["width"] <= result["inner"], "the page is wider than its window"
        assert result["cut"] == [] or result["inner"] < 1000, "a table lost its last column"
        assert result["pale"] == [], "contrast below 4.5, the least of WCAG's level AA"
        assert result["rows"] == len(SOME_CLAIMS)
        assert 0 < len(result["fitting"]) < len(SOME_CLAIMS) and result["folded"] == 0
        assert all("spearman" in text and "table4" in text for text in result["fitting"])
        assert result["enlarged"] is True
