"""Importances of copies that are fitted to resamples: by hand, with splits, saved and drawn."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import splitcredit
from splitcredit import Importance, importance, to_forest
from splitcredit.kernels.compiled import threads

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.normal(size=(90, 3)), columns=["a", "b", "c"])
Y = X["a"] + X["b"] + RANDOM.normal(size=90) > 0
MODEL = RandomForestClassifier(20, random_state=0).fit(X, Y)
OF_TRAINING = ("ufi", "oob_shap_centered", "air")
SAGE = partial(splitcredit.sage, n_permutations=64)


def drawn(n_refits, seed):
    """The rows of each refit and those it has not seen, as the docstring says."""
    for k in range(n_refits):
        rows = np.random.default_rng([seed, k]).integers(90, size=90)
        yield rows, np.setdiff1d(np.arange(90), rows)


def of_copies(model, method, pairs, **options):
    """Values of copies, each on rows of its own, for pairs of the rows to fit and to measure."""
    values = []
    for fitted, own in pairs:
        copy = clone(model).fit(X.iloc[fitted], Y.iloc[fitted])
        values.append(importance(copy, X.iloc[own], Y.iloc[own], method, **options).values)
    return np.array(values).tobytes()


@pytest.mark.parametrize("method", [*OF_TRAINING, "mdi", "permutation", "tree_shap", SAGE])
def test_each_refit_is_the_importance_of_a_copy_on_its_own_rows(method):
    """Red for UFI if it gets rows twice."""
    options = {"random_state": 5} if method in ("air", "permutation", SAGE) else {}
    pairs = drawn(3, seed=5)
    if method in OF_TRAINING:
        pairs = [(np.unique(rows), np.unique(rows)) for rows, _ in pairs]
    found = importance(MODEL, X, Y, method, refits=3, random_state=5)
    assert found.refits.tobytes() == of_copies(MODEL, method, pairs, **options)
    plain = importance(MODEL, X, Y, method, **options)
    assert found.values.tobytes() == plain.values.tobytes()
    assert found.standard_error.tobytes() == plain.standard_error.tobytes()


def test_the_same_seed_gives_the_same_bytes_also_of_a_pipeline_without_a_seed():
    rows, method = X.to_numpy(), partial(splitcredit.permutation, n_repeats=1)
    model = make_pipeline(StandardScaler(), RandomForestClassifier(3)).fit(rows, Y)
    call = partial(importance, model, rows, list(Y), method)
    with threads(1):
        one = call(refits=4, random_state=2).refits
    assert call(refits=4, random_state=2).refits.tobytes() == one.tobytes()
    assert call(refits=4, random_state=3).refits.tobytes() != one.tobytes()


def test_splits_are_those_that_are_given():
    search = GridSearchCV(MODEL, {"max_depth": [1, 3]}, cv=2).fit(X, Y)
    folds = KFold(3, shuffle=True, random_state=1)
    expected = of_copies(search, "tree_shap", folds.split(X))
    for refits in (folds, folds.split(X)):
        assert importance(search, X, Y, "tree_shap", refits=refits).refits.tobytes() == expected


def test_a_category_that_a_resample_lacks_counts_0_there():
    table = X.assign(city=["Rome"] * 45 + ["Paris"] * 44 + ["Bonn"])
    encoder = OneHotEncoder(handle_unknown="ignore")
    steps = make_column_transformer((encoder, ["city"]), ("passthrough", ["a"]))
    model = make_pipeline(steps, RandomForestRegressor(9, random_state=0)).fit(table, X["a"])
    call = partial(importance, model, table, X["a"], "mdi", refits=6)
    found, by_columns = call(features="transformed"), call()
    lacks = [89 not in rows for rows, _ in drawn(6, seed=0)]
    assert found.feature_names[0] == "city_Bonn" and 0 < sum(lacks) < 6
    assert (found.refits[lacks, 0] == 0).all() and (found.refits[:, 3] > 0).all()
    assert by_columns.feature_names == ("a", "city")
    sums = found.refits @ [[0, 1], [0, 1], [0, 1], [1, 0]]
    np.testing.assert_allclose(by_columns.refits, sums, rtol=0, atol=1e-12)


def test_intervals_are_shown_saved_grouped_and_drawn(tmp_path):
    refits = RANDOM.normal([3, 2, 1], size=(40, 3))
    result = Importance([3.5, 2.0, 1.0], ["a", "b", "c"], "mdi", refits=refits)
    ends, frame = np.quantile(refits, [0.025, 0.975], axis=0), result.to_frame()
    assert frame.loc[1, "refits_std"] == refits[:, 1].std(ddof=1)
    assert frame[["refits_low", "refits_high"]].to_numpy().T.tolist() == ends.tolist()
    result.save(tmp_path / "own.npz")
    assert Importance.load(tmp_path / "own.npz").refits.tobytes() == refits.tobytes()
    grouped = result.grouped({"both": ["a", "c"]})
    np.testing.assert_allclose(grouped.refits, refits @ [[1, 0], [0, 1], [1, 0]])
    ax = result.plot()
    segments = [s[:, 0].tolist() for c in ax.collections for s in c.get_segments()]
    np.testing.assert_allclose(sorted(segments), sorted(ends.T.tolist()))
    with pytest.raises(ValueError, match="there are no refits"):
        Importance([1.0], ["a"], "mdi").interval()


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (to_forest(MODEL), {}, "a Forest cannot be fitted anew: pass the fitted estimator"),
        ("model.json", {}, "a str cannot be fitted anew"),
        (FrozenEstimator(MODEL), {}, "a FrozenEstimator cannot be fitted anew"),
        (MODEL, {"refits": 1}, "refits=1: expected a whole number, at least 2"),
        (MODEL, {"refits": [(range(50), range(50, 99))] * 2}, "must be pairs of rows"),
        (MODEL, {"refits": [(range(50), range(9))]}, "at least two pairs"),
        (MODEL, {"sample_weight": np.ones(90)}, "leave sample_weight or refits out"),
        (MODEL, {"y": None}, "refit 1 of 2: .* requires y"),
    ],
)
def test_what_cannot_be_fitted_anew_is_refused(model, options, message):
    given = {"X": X, "y": Y, "method": "tree_shap", "refits": 2} | options
    with pytest.raises((TypeError, ValueError), match=message):
        importance(model, **given)
