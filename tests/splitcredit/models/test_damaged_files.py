"""Some of the damaged files of `damaged.py`, which runs as many as are wanted."""

import pytest

import damaged

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
# Files that are taken and that the library reads, too.
COMPARED = 2


@pytest.mark.parametrize("number", [40, pytest.param(145, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", damaged.ENDINGS)
def test_damaged_files_are_refused_by_name_or_read_as_their_library_reads_them(
    kind, number, tmp_path
):
    """Red if a file ends in an error from inside, takes much memory, or predicts otherwise."""
    is_here = damaged.library_is_here(kind)
    counts, alike, _, _ = damaged.run(kind, number, COMPARED if is_here else 0, tmp_path)
    assert set(counts) == {"taken", "refused"} and sum(counts.values()) == number
    assert set(alike) <= set(damaged.FINE) and bool(alike) == is_here
