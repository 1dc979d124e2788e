"""What the pages say of the papers' results are numbers of the reference run."""

from scripts import script


def test_the_script_that_writes_numbers_into_pages_has_nothing_to_change():
    for page, text in script("tools/take_reference.py").pages_with_numbers().items():
        assert page.read_text(encoding="utf-8") == text, page
