"""Red wine quality: 1599 x 11, target the quality, 3 to 8 (Cortez et al. 2009, CC BY 4.0).

doi 10.24432/C56S3T. Not the wine recognition data of scikit-learn, which are `wine` here.
"""

from reproduction.datasets import Dataset, from_table
from reproduction.datasets._tables import Table

TABLE = Table(
    "red_wine",
    sha256="d22f4f11db0456ff21745d2fa96d26fa348a8cdb889efda65bde802085be45fd",
    shape=(1599, 12),
)
TARGET = "quality"


def load() -> Dataset:
    """Load the data set, for regression."""
    table = TABLE.read()
    features = table.drop(columns=TARGET)
    return from_table(features, table[TARGET])
