"""What the pages say of results and times are numbers of the reference run."""

from reproduction import marked, storage
from scripts import ROOT, script

PAGES = script("tools/take_reference.py")


def test_the_script_that_writes_numbers_into_pages_has_nothing_to_change():
    for page, text in PAGES.pages_with_numbers().items():
        assert page.read_text(encoding="utf-8") == text, page


def test_the_pages_of_benchmarks_show_the_times_of_the_reference():
    tables = PAGES.bench_tables(storage.read_rows(PAGES.REFERENCE / "bench.csv"))
    for mark, table in tables.items():
        page = (ROOT / PAGES.bench_page(mark)).read_text()
        assert marked.between(page, mark) == table.rstrip(), mark
