"""California housing, block groups of 1990: 20433 x 8, target the median house value in dollars.

Pace & Barry 1997, in the form of A. Géron's book: 20640 rows, of which 207 have no total_bedrooms
and are left out, and the column ocean_proximity, which is no feature.
"""

from reproduction.datasets import Dataset, from_table
from reproduction.datasets._tables import Table

TABLE = Table(
    "california_housing",
    sha256="8a3727f4cf54ac1a327f69b1d5b4db54c5834ea81c6e4efc0d163300022a685e",
    shape=(20640, 10),
)
TARGET = "median_house_value"


def load() -> Dataset:
    """Load the data set, for regression."""
    table = TABLE.read().dropna(subset="total_bedrooms")
    features = table.drop(columns=[TARGET, "ocean_proximity"])
    return from_table(features, table[TARGET])
