"""Pipelines: all methods speak of the columns of X, and add up what is made of each of them."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures

import splitcredit
from splitcredit.measures.mda import permutations
from splitcredit.models.opened import Opened
from twins_oob import loss_increases, orders_within_cells
from twins_sage import sage_of

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.normal(size=(60, 3)), [f"r{i}" for i in range(60)], ["none", "age", "size"])
X["city"] = RANDOM.choice(["Ulm", "Rome", "Oslo"], 60)
X["text"] = RANDOM.choice(["old red", "new red", "old car", "new car"], 60)
X.loc["r3":"r9", "age"] = np.nan
y = np.nan_to_num(X["age"]) + (X["city"] == "Ulm") + X["text"].str.contains("car") * X["size"]
POWERS = make_pipeline(SimpleImputer(), make_union(PolynomialFeatures(2), "passthrough"))
MADE = make_column_transformer(
    (TfidfVectorizer(), "text"),
    (OneHotEncoder(sparse_output=False), ["city"]),
    (SimpleImputer(add_indicator=True), ["size", "age"]),
    (POWERS, ["age", "size"]),
)
PLAIN = make_column_transformer(
    (OrdinalEncoder(), ["city"]), ("drop", ["none", "text"]), remainder="passthrough"
).set_output(transform="pandas")
STEPS = {("age", "size", "city"): PLAIN, ("age", "size", "city", "text", "1", "age size"): MADE}


@pytest.fixture(scope="module", params=STEPS, ids=len)
def pipeline(request):
    """A pipeline, its columns, and by parts of their names which features are of which column."""
    model = make_pipeline(STEPS[request.param], RandomForestRegressor(4, max_depth=4))
    model.set_params(randomforestregressor__random_state=0).fit(X, y)
    parts = ("age size", "age", "size", "city", "1", "")
    features = splitcredit.to_forest(model).feature_names
    columns = [next(part for part in parts if part in name) or "text" for name in features]
    return model, request.param, np.array(columns)[:, None] == np.array(request.param)


def test_columns_have_the_sums_over_their_features_by_all_methods(pipeline):
    """Red if a method names other columns, or credits features to another column."""
    model, names, of_column = pipeline
    for method in (m for m in splitcredit.methods(model) if "importance" in m.functions):
        more = {"background": X[:20]} if "background" in method.needs else {}
        more |= {"n_permutations": 64} if method.name == "sage" else {}
        of_method = partial(method.function("importance"), **more)
        found = splitcredit.importance(model, X, y, of_method)
        if method.name != "permutation" or len(names) == 3:
            assert found.feature_names == names, method
            assert found.parameters.get("of_no_single_column", []) == [*names[4:]], method
        if method.name in ("mdi", "mdi_oob", "ufi", "air", "penalized_gini", "splits"):
            features = splitcredit.importance(model, X, y, of_method, features="transformed")
            np.testing.assert_allclose(found.values, features.values @ of_column, atol=1e-12)
    compared = splitcredit.compare(model, X, y, progress=False)
    assert compared.feature_names == names and len(compared.importances) >= 15
    if len(names) == 3:
        permuted = splitcredit.permutation(model, X, y).values
        np.testing.assert_allclose(compared.importances["permutation"].values, permuted)
    a, b = (splitcredit.explain(model, X, features=of) for of in ("columns", "transformed"))
    np.testing.assert_allclose(a.values[:, :, 0], b.values[:, :, 0] @ of_column, atol=1e-12)
    assert a.grouped("columns") is a and b.grouped("columns").values.tobytes() == a.values.tobytes()
    assert a.data["age"].tolist()[10:] == X["age"].tolist()[10:] and a.index[0] == "r0"
    pairs = splitcredit.interactions(model, X[:5])
    assert pairs.feature_names == names == splitcredit.rank(model, X[:2]).feature_names
    np.testing.assert_allclose(pairs.values.sum(axis=2), a.values[:5], atol=1e-12)
    players = splitcredit.explain(model, X[:5], groups="columns")
    np.testing.assert_allclose(players.totals(), a.totals()[:5], atol=1e-12)


def test_measures_that_perturb_take_all_features_of_a_column_together(pipeline):
    """Red if codes of a column are drawn, or known, one without the others. Twins by definition."""
    model, names, of_column = pipeline
    forest, (n_features, p) = splitcredit.to_forest(model), of_column.shape
    table, target = forest.prepare(Opened(model, X).rows), y.to_numpy()

    def predicted(numbers):
        """Predictions for rows that have each column from the row of that number."""
        return forest.predict(table[numbers[:, of_column.argmax(axis=1)], np.arange(n_features)])

    own = np.tile(np.arange(60)[:, None], p)
    drawn = np.c_[np.arange(60), np.zeros((60, p - 1), int)]
    gap = splitcredit.faithfulness(model, X[:1], [names[0]], "pg2", background=X)
    twin = ((predicted(drawn) - predicted(own[:1])) ** 2).mean()
    np.testing.assert_allclose(gap, twin, rtol=1e-9, atol=1e-14)
    gap_of = partial(splitcredit.faithfulness, model, X[:2], metric="pg2", scale=2.0)
    exact, features = gap_of([names[0]]), np.flatnonzero(of_column[:, 0])
    assert exact.tobytes() == gap_of(features, features="transformed").tobytes()
    np.testing.assert_allclose(gap_of([names[0]], samples=20_000), exact, rtol=0.05)
    sage = splitcredit.sage(model, X[:8], y[:8], algorithm="exact").values
    twin = sage_of(predicted, own[:8], target[:8], own[:8], "mse")
    np.testing.assert_allclose(sage, twin, atol=1e-12)
    features = [np.flatnonzero(own) for own in of_column.T]
    twin = loss_increases(forest, table, target, permutations(p, 0), features).mean(axis=0)
    np.testing.assert_allclose(splitcredit.mda(model, X, y).values, twin, atol=1e-12)
    orders = orders_within_cells(forest, table, permutations(p, 0), 0.2, features)
    twin = loss_increases(forest, table, target, orders, features).mean(axis=0)
    found = splitcredit.conditional_permutation(model, X, y).values
    np.testing.assert_allclose(found, twin, atol=1e-12)


@pytest.mark.parametrize("features", ["columns", "transformed"])
def test_weights_repeat_rows_and_go_by_their_labels(pipeline, features):
    """Red if permuted numbers of rows, which have no labels, take weights in their order."""
    weights = pd.Series(np.arange(60) % 3, X.index)
    call = partial(splitcredit.importance, pipeline[0], features=features)
    found = call(X, y, "tree_shap", sample_weight=weights[::-1]).values
    repeated = call(X.loc[X.index.repeat(weights)], y, "tree_shap").values
    np.testing.assert_allclose(found, repeated, atol=1e-12)
    permuted = partial(call, X, y, "permutation")
    by_label, in_order = (permuted(sample_weight=w).values for w in (weights[::-1], weights.array))
    assert by_label.tobytes() == in_order.tobytes()
