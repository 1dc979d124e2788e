"""Tables that stand between marks of a page."""

import pytest

from reproduction import marked


def test_a_table_is_written_between_its_marks(tmp_path):
    page = "before\n<!-- a -->\nold\n<!-- /a -->\nafter\n"
    expected = "before\n<!-- a -->\n| x |\n|---|\n<!-- /a -->\nafter\n"
    (tmp_path / "page.md").write_text(page)
    marked.write(tmp_path / "page.md", "a", "| x |\n|---|\n")
    assert (tmp_path / "page.md").read_text() == expected
    assert marked.between(expected, "a") == "| x |\n|---|"
    with pytest.raises(ValueError, match="no text between <!-- b --> and <!-- /b -->"):
        marked.replaced(page, "b", "| x |")
