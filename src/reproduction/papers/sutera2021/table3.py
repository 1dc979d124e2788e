"""Table 3: the data sets, their sizes and types of features."""

import numpy as np
import pandas as pd

from reproduction import datasets


def compute(inputs, recipes) -> pd.DataFrame:
    """Samples, features and types of features, counted on the data."""
    rows = []
    for name, recipe in recipes.items():
        X = datasets.load(recipe).X
        sizes = dict(zip(("samples", "features"), X.shape, strict=True))
        quantities = {**sizes, "feature_types": feature_types(X)}
        rows += [{"dataset": name, "quantity": q, "value": v} for q, v in quantities.items()]
    return pd.DataFrame(rows)


def feature_types(X) -> str:
    """Binary if X holds only 0 and 1, else the types of its columns: Integer, Real, or both."""
    if np.isin(X, (0, 1)).all():
        return "Binary"
    is_integer = (X == np.round(X)).all(axis=0)
    present = {"Integer": is_integer.any(), "Real": not is_integer.all()}
    return ", ".join(name for name, is_present in present.items() if is_present)
