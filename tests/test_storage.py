"""Files of a run: what is said of damaged ones."""

import pytest

from reproduction import storage
from splitcredit.forest import Forest


@pytest.mark.parametrize("content", [b"", b"{", b"PK\x03\x04 and no more"])
def test_damaged_files_of_a_run_are_named_with_the_remedy(tmp_path, content):
    file = tmp_path / "batch"
    file.write_bytes(content)
    message = r"batch is damaged \(.*\): delete it, and the same command makes it anew"
    with pytest.raises(ValueError, match=message):
        storage.read_json(file)
    with pytest.raises(ValueError, match=message):
        storage.read_bundle(file, Forest)
