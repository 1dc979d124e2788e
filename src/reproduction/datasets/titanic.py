"""Titanic: the 714 passengers of Kaggle's train.csv whose age is known, 4 features, 2 classes.

The features are those of loecher2022: Age, Sex, Pclass and PassengerId, which says nothing.
"""

from typing import Literal

import numpy as np

from reproduction.datasets import Dataset, from_table
from reproduction.datasets._tables import Table, sample
from reproduction.parameters import Seed, Share

TABLE = Table(
    "titanic",
    sha256="4a437fde05fe5264e1701a7387ac6fb75393772ba38bb2c9c566405af5af4bd7",
    shape=(891, 12),
)
FEATURES = ("Age", "Sex", "Pclass", "PassengerId")
SEXES = ("female", "male")


def load(
    share: Share = 1.0,
    shuffled: Literal["", "Age", "Sex", "Pclass", "PassengerId"] = "",
    random_state: Seed = 0,
) -> Dataset:
    """Load the data set; Sex is 0 for female and 1 for male, Pclass 1 to 3.

    Parameters
    ----------
    share : float in (0, 1]
        Share of the rows, drawn without replacement and kept in order.
    shuffled : str
        A feature whose values are shuffled among the rows; none if empty.
    random_state : int
        Seed of both draws.
    """
    random = np.random.default_rng(random_state)
    table = sample(TABLE.read().dropna(subset="Age"), share, random)
    features = table[list(FEATURES)].assign(Sex=table["Sex"].map(SEXES.index))
    if shuffled:
        features[shuffled] = random.permutation(features[shuffled].to_numpy())
    return from_table(features, table["Survived"], ("died", "survived"))
