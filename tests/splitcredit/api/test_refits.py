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
OF_TRAINING = ("ufi", "mda", "oob_shap_centered", "air")
SAGE = partial(splitcredit.sage, n_permutations=64)


def drawn(method, n_refits=3, seed=5):
    """The rows of each refit and those it has not seen, as the docstring says."""
    for k in range(n_refits):
        rows = np.random.default_rng([seed, k]).integers(90, size=90)
        apart = np.setdiff1d(np.arange(90), rows)
        yield np.unique(rows) if method in OF_TRAINING else rows, apart


@pytest.mark.parametrize(
    "method", [*OF_TRAINING, "mdi", "permutation", "tree_shap", "saabas", SAGE]
)
def test_each_refit_is_the_importance_of_a_copy_on_its_own_rows(method):
    options = {"random_state": 5} if method in ("mda", "air", "permutation", SAGE) else {}
    expected = []
    for rows, apart in drawn(method):
        copy = clone(MODEL).fit(X.iloc[rows], Y.iloc[rows])
        own = rows if method in OF_TRAINING else apart
        of_copy = importance(copy, X.iloc[own], Y.iloc[own], method, **options)
        expected.append(of_copy.values)
    found = importance(MODEL, X, Y, method, refits=3, random_state=5)
    assert found.refits.tobytes() == np.array(expected).tobytes()
    plain = importance(MODEL, X, Y, method, **options)
    assert found.values.tobytes() == plain.values.tobytes()
    assert found.standard_error.tobytes() == plain.standard_error.tobytes()


def test_the_same_seed_gives_the_same_bytes_and_open_seeds_are_drawn():
    """Whatever the threads, and of a model that draws another forest at each fit."""
    open_model = make_pipeline(StandardScaler(), RandomForestClassifier(3)).fit(X, Y)
    method = partial(splitcredit.permutation, n_repeats=1)
    call = partial(importance, open_model, X.to_numpy(), list(Y), method)
    with threads(1):
        one = call(refits=4, random_state=2).refits
    with threads(2):
        assert call(refits=4, random_state=2).refits.tobytes() == one.tobytes()
    assert call(refits=2, random_state=2).refits.tobytes() == one[:2].tobytes()
    assert call(refits=4, random_state=3).refits.tobytes() != one.tobytes()
    assert len(np.unique(one, axis=0)) > 1


@pytest.mark.parametrize("as_pairs", [True, False])
def test_splits_are_those_that_are_given(as_pairs):
    folds = KFold(3, shuffle=True, random_state=1)
    search = GridSearchCV(MODEL, {"max_depth": [1, 3]}, cv=2).fit(X, Y)
    splits = [*folds.split(X)]
    found = importance(search, X, Y, "tree_shap", refits=iter(splits) if as_pairs else folds)
    for own, (rows, apart) in zip(found.refits, splits, strict=True):
        copy = clone(search).fit(X.iloc[rows], Y.iloc[rows])
        assert own.tobytes() == importance(copy, X.iloc[apart], None, "tree_shap").values.tobytes()
    masks = [(np.isin(range(90), rows), apart) for rows, apart in splits]
    again = importance(search, X, Y, "tree_shap", refits=masks)
    assert again.refits.tobytes() == found.refits.tobytes()


def test_a_category_that_a_resample_lacks_counts_0_there():
    table = X.assign(city=["Rome"] * 45 + ["Paris"] * 44 + ["Bonn"])
    steps = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["city"]), ("passthrough", ["a"])
    )
    model = make_pipeline(steps, RandomForestRegressor(9, random_state=0)).fit(table, X["a"])
    found = importance(model, table, X["a"], "mdi", refits=6)
    assert found.feature_names == ("city_Bonn", "city_Paris", "city_Rome", "a")
    lacks = [89 not in rows for rows, _ in drawn("mdi", 6, seed=0)]
    assert 0 < sum(lacks) < 6 and (found.refits[lacks, 0] == 0).all()
    assert (found.refits[:, 3] > 0).all()


def test_noise_is_not_called_important_by_rows_that_were_drawn_twice():
    """Red if measures of training rows get repeated ones: then c is far above its interval."""
    found = importance(MODEL, X[["a", "b", "c"]], Y, "ufi", refits=10)
    repeated = [(rows, apart) for rows, apart in drawn("mdi", 10, seed=0)]
    biased = importance(MODEL, X, Y, "ufi", refits=repeated)
    assert biased.refits[:, 2].mean() > found.refits[:, 2].mean() + found.refits[:, 2].std()


def test_intervals_are_shown_saved_grouped_and_drawn(tmp_path):
    refits = RANDOM.normal([3, 2, 1], size=(40, 3))
    result = Importance([3.5, 2.0, 1.0], ["a", "b", "c"], "mdi", refits=refits)
    low, high = result.interval()
    frame = result.to_frame().set_index("feature")
    assert frame.loc["b", "refits_std"] == refits[:, 1].std(ddof=1)
    assert frame["refits_low"].tolist() == low.tolist()
    assert (low, high)[1].tobytes() == np.quantile(refits, 0.975, axis=0).tobytes()
    result.save(tmp_path / "own.npz")
    loaded = Importance.load(tmp_path / "own.npz")
    assert loaded.refits.tobytes() == refits.tobytes()
    assert "refits" not in Importance([1.0], ["a"], "mdi").to_arrays()
    grouped = result.grouped({"both": ["a", "c"]})
    np.testing.assert_allclose(grouped.refits, refits @ [[1, 0], [0, 1], [1, 0]])
    assert "refits_low" in str(result) and "standard_error" not in str(result)
    ax = result.plot()
    segments = [s[:, 0].tolist() for c in ax.collections for s in c.get_segments()]
    np.testing.assert_allclose(sorted(segments), sorted(np.transpose([low, high]).tolist()))
    assert "95 % of 40 refits" in ax.get_xlabel()
    with pytest.raises(ValueError, match="there are no refits"):
        Importance([1.0], ["a"], "mdi").interval()
    with pytest.raises(ValueError, match=r"refits has shape \(40, 3\), expected \(40, 1\)"):
        Importance([1.0], ["a"], "mdi", refits=refits)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (to_forest(MODEL), {}, "a Forest cannot be fitted anew: pass the fitted estimator"),
        ("model.json", {}, "a str cannot be fitted anew"),
        (FrozenEstimator(MODEL), {}, "a FrozenEstimator cannot be fitted anew"),
        (MODEL, {"refits": 1}, "refits=1: expected a whole number, at least 2"),
        (MODEL, {"refits": [(range(50), range(50, 99))]}, "no pairs of rows"),
        (MODEL, {"refits": [(range(50), range(9))]}, "at least two pairs"),
        (MODEL, {"refits": [(range(9), range(9), range(9))] * 2}, "at least two pairs"),
        (MODEL, {"random_state": -1}, "random_state=-1"),
        (MODEL, {"sample_weight": np.ones(90)}, "leave sample_weight or refits out"),
        (MODEL, {"X": None}, "refits needs X"),
        (MODEL, {"y": None}, "refit 1 of 2: .* requires y"),
    ],
)
def test_what_cannot_be_fitted_anew_is_refused(model, options, message):
    given = {"X": X, "y": Y, "method": "tree_shap", "refits": 2} | options
    with pytest.raises((TypeError, ValueError), match=message):
        importance(model, **given)
