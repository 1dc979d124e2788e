"""Red wine quality: 1599 x 11, target the quality, 3 to 8 (Cortez et al. 2009, CC BY 4.0).

doi 10.24432/C56S3T. Not the wine recognition data of scikit-learn, which are `wine` here.
"""

from reproduction.datasets import Dataset, _tables, from_table

TABLE = _tables.listed("red_wine")


def load() -> Dataset:
    """Load the data set, for regression."""
    table = TABLE.read()
    return from_table(table.drop(columns="quality"), table["quality"])
