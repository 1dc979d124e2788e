"""California housing, block groups of 1990: 20433 x 8, target the median house value in dollars.

Pace & Barry 1997, in the form of A. Géron's book: 20640 rows, of which 207 have no total_bedrooms
and are left out, and the column ocean_proximity, which is no feature.
"""

from reproduction.datasets import Dataset, _tables, from_table

TABLE = _tables.listed("california_housing")
NO_FEATURES = ["median_house_value", "ocean_proximity"]


def load() -> Dataset:
    """Load the data set, for regression."""
    table = TABLE.read().dropna(subset="total_bedrooms")
    return from_table(table.drop(columns=NO_FEATURES), table["median_house_value"])
