"""Real tables of features: the files, and what is listed of them."""

import numpy as np
import pytest

from reproduction.datasets import _real_features


@pytest.mark.parametrize(("name", "row"), _real_features.LISTED.items())
def test_a_table_holds_usable_features_and_what_is_listed_of_it(name, row):
    X = _real_features.real_features(name)  # refuses another shape or checksum than is listed
    assert 400 <= len(X) <= 1000 and 6 <= X.shape[1] <= 20 and np.isfinite(X).all(axis=None)
    # Draws of 100 rows have more than one value of a feature, and none copies another's order.
    assert all(X[feature].value_counts().max() <= 0.95 * len(X) for feature in X)
    correlations = X.corr("spearman").abs().to_numpy()[np.triu_indices(X.shape[1], 1)]
    assert 0.5 <= correlations.max() <= 0.999
    assert f"{correlations.max():.3f}" == row["largest_correlation"]
    assert f"{(correlations > 0.5).mean():.3f}" == row["share_above_half"]
    counts = [float(row[f"{which}_distinct"]) for which in ("least", "median", "most")]
    assert X.nunique().quantile([0, 0.5, 1]).tolist() == counts


def test_the_sets_share_no_table_and_no_field():
    sets = [_real_features.names(of) for of in ("study", "test")]
    study, test = ({_real_features.LISTED[name]["field"] for name in names} for names in sets)
    assert [len(names) for names in sets] == [35, 18] and not study & test
    with pytest.raises(ValueError, match="unknown table 'wine': available are abalone, "):
        _real_features.table("wine")
