"""The tables of the real data, which are part of the project: ``data/NAME.csv.gz``.

``data/README.md`` says where each comes from, its license, and how it was made.
"""

import gzip
import hashlib
import io
import zlib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "data"


@dataclass(frozen=True)
class Table:
    """One table: its name, the SHA-256 of its text, and its numbers of rows and columns."""

    name: str
    sha256: str
    shape: tuple[int, int]

    @property
    def path(self) -> Path:
        """The file."""
        return FOLDER / f"{self.name}.csv.gz"

    def read(self):
        """The table as a DataFrame, rows in the order of the original.

        Raises
        ------
        ValueError
            If the file is missing or damaged, or is another table.
        """
        import pandas as pd

        try:
            content = gzip.decompress(self.path.read_bytes())
        except (OSError, EOFError, zlib.error) as error:
            raise self._damaged(f"cannot be read ({error})") from None
        if (actual := hashlib.sha256(content).hexdigest()) != self.sha256:
            raise self._damaged(f"has the SHA-256 {actual}, not {self.sha256}")
        table = pd.read_csv(io.BytesIO(content))
        if table.shape != self.shape:
            raise self._damaged(f"has the shape {table.shape}, not {self.shape}")
        return table

    def _damaged(self, problem):
        return ValueError(f"table {self.path} {problem}: restore the file from the project")


def sample(table, share: float, random):
    """A share of the rows of a table, drawn without replacement and kept in order.

    Raises
    ------
    ValueError
        If the share is not above 0 and at most 1.
    """
    if not 0 < share <= 1:
        raise ValueError(f"share is {share}: expected a number above 0 and at most 1")
    if share == 1:
        return table
    rows = random.choice(len(table), size=max(1, round(share * len(table))), replace=False)
    return table.iloc[sorted(rows)]
