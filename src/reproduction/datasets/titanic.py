"""Titanic: the 714 passengers of Kaggle's train.csv whose age is known, 4 features, 2 classes.

The features are those of loecher2022: Age, Sex, Pclass and PassengerId, which says nothing.
"""

from typing import Literal

import numpy as np

from reproduction.datasets import Dataset, _tables, from_table
from reproduction.parameters import Seed, Share

TABLE = _tables.listed("titanic")
FEATURES = ("Age", "Sex", "Pclass", "PassengerId")
SEXES = ("female", "male")


def load(
    share: Share = 1.0,
    shuffled: Literal["", "Age", "Sex", "Pclass", "PassengerId"] = "",
    random_state: Seed = 0,
) -> Dataset:
    """Load the data set; Sex is 0 for female and 1 for male, Pclass 1 to 3.

    A `share` of the rows is drawn without replacement and kept in order; then the values of the
    feature `shuffled`, if there is one, are shuffled among the rows.
    """
    random = np.random.default_rng(random_state)
    table = _tables.sample(TABLE.read().dropna(subset="Age"), share, random)
    features = table[list(FEATURES)].assign(Sex=table["Sex"].map(SEXES.index))
    if shuffled:
        features[shuffled] = random.permutation(features[shuffled].to_numpy())
    return from_table(features, table["Survived"], ("died", "survived"))
