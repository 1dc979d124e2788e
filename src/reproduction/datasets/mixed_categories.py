"""Five features with 2 to 20 categories or none, of which one at most tells y (Strobl et al. 2007).

The null and power simulations of loecher2022, section 4.1.
"""

from typing import Annotated

import numpy as np

from reproduction.datasets import Dataset
from reproduction.parameters import Count, Seed

# Numbers of categories of x2 to x5; x1 is continuous.
CATEGORIES = (2, 4, 10, 20)
FEATURES = ("x1", "x2", "x3", "x4", "x5")


def load(
    n_samples: Count = 120, effect: Annotated[float, ">= 0, <= 0.5"] = 0.0, random_state: Seed = 0
) -> Dataset:
    """Draw independent features and a binary y.

    x1 is standard normal, x2 to x5 are uniform over their categories, coded 1, 2, ... and so taken
    as ordered. P(y = 1) is 0.5 - `effect` where x2 is 1 and 0.5 + `effect` where it is 2; an effect
    of 0 is the null case, of 0.15 the power case.
    """
    random = np.random.default_rng(random_state)
    columns = [random.integers(1, k + 1, n_samples) for k in CATEGORIES]
    X = np.column_stack([random.standard_normal(n_samples), *columns]).astype(np.float64)
    probability = np.where(X[:, 1] == 1, 0.5 - effect, 0.5 + effect)
    return Dataset(
        X=X,
        y=(random.random(n_samples) < probability).astype(np.int64),
        feature_names=FEATURES,
        class_names=("0", "1"),
        relevant=(1,) if effect else (),
    )
