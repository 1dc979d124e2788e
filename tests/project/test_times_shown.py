"""Times on pages are those of the reference. `make bench` measures them; no test does."""

import re
from pathlib import Path

import pytest

from reproduction import marked, storage
from scripts import script

ROOT = Path(__file__).resolve().parents[2]
PAGES = script("tools/take_reference.py")
ROWS = storage.read_rows(PAGES.REFERENCE / "bench.csv")


def test_pages_show_the_times_of_the_reference():
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    for mark, table in PAGES.bench_tables(ROWS).items():
        assert marked.between(page, mark) == table.rstrip(), mark


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/shap_users.md"])
def test_first_screens_speak_of_a_tenth_of_the_time_as_most_races_give_it(page):
    """With the conversion of the model, on one thread; the README also has the seconds of W4."""
    text = " ".join((ROOT / page).read_text().split())
    assert re.search(r"For many rows TreeSHAP usually takes less than \[?a tenth of the time", text)
    least = {}
    for row in ROWS:
        kind = row["benchmark"], row["mode"], row["clock"], row["threads"]
        if kind == ("TreeSHAP", "end to end", "cpu", "1") and row["ratio"]:
            times = float(row["ratio"]), float(row["ours_s"]), float(row["peer_s"])
            least[row["scope"]] = min(times, least.get(row["scope"], times))
    many_rows = [ratio for scope, (ratio, *_) in least.items() if not scope.endswith(" 1 row")]
    assert len(many_rows) > 20 and sum(r > 10 for r in many_rows) >= 0.8 * len(many_rows)
    _, ours_s, peer_s = next(times for scope, times in least.items() if scope.startswith("W4: "))
    assert page != "README.md" or f"took {ours_s:.2g} s, and {peer_s:.2g} s there" in text


def test_a_summary_names_what_could_not_be_timed_and_no_times_that_were_recorded():
    row = {**dict.fromkeys(ROWS[0], ""), "mode": "kernel", "threads": "1", "clock": "cpu"}
    row |= {"benchmark": "SAGE", "scope": "both", "ratio": "1234.5"}
    rows = [
        {**row, "peer": "fast", "ratio": "2345.6"},
        {**row, "peer": "our target"},
        {**row, "scope": "elsewhere", "peer": "slow", "note": "seconds; recorded"},
        {**row, "peer": "woodelf", "ratio": "", "note": "not installed here"},
    ]
    one_thread, _, rest = PAGES.bench_summary(rows).partition("\nOn two threads")
    assert one_thread.splitlines()[2:] == ["| SAGE | both | 2350x fast |  |"]
    assert rest.endswith("Not timed:\n\n- SAGE, both: woodelf: not installed here\n")


def test_guides_of_kernels_give_the_ratios_of_the_reference():
    """A gain that was measured once, on other code, and that no page shows."""

    def ratios(benchmark, peer):
        of_pair = [r for r in ROWS if (r["benchmark"], r["peer"]) == (benchmark, peer)]
        return sorted(f"{float(r['ratio']):.1f}" for r in of_pair if r["clock"] == "cpu")

    walks = ratios("local MDI", "scikit-learn forest.apply")
    (sampled,) = ratios("sampled PG2, one pair, all features", "xgboost inplace_predict")
    guides = ROOT / "src" / "splitcredit" / "kernels"
    assert f"{walks[0]} to {walks[-1]} times" in (guides / "walks" / "__init__.py").read_text()
    assert f"{sampled} times" in (guides / "prediction_gap" / "__init__.py").read_text()
