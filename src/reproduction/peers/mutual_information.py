"""The mutual information of each feature alone with the outcome: a ranking without a model."""

from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from reproduction.parameters import Seed
from splitcredit.results.attribution import Importance

REQUIRES = ("refit",)


def importance(model, X, y, random_state: Seed = 0) -> Importance:
    """Estimate the mutual information in nats, by nearest neighbors (Ross 2014; scikit-learn)."""
    estimate = mutual_info_classif if y.dtype.kind == "i" else mutual_info_regression
    values = estimate(X, y, random_state=random_state)
    return Importance(values, tuple(f"x{j}" for j in range(X.shape[1])), "mutual_information")
