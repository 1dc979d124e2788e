"""Pipelines: all methods speak of the columns of X, and add up what is made of each of them."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

import splitcredit
from splitcredit.measures._coalitions import shapley_values
from splitcredit.measures.mda import permutations
from splitcredit.models.forest import part
from splitcredit.models.opened import Opened

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "unread": RANDOM.normal(size=60),
        "city": RANDOM.choice(["Ulm", "Rome", "Oslo"], 60),
        "age": RANDOM.normal(size=60),
        "text": RANDOM.choice(["old red", "new red", "old car", "new car"], 60),
        "size": RANDOM.normal(size=60),
    }
).set_axis([f"r{i}" for i in range(60)])
X.loc["r3":"r9", "age"] = np.nan
y = np.nan_to_num(X["age"]) + (X["city"] == "Ulm") + X["text"].str.contains("car") * X["size"]
CODED = ("city", OneHotEncoder(sparse_output=False), ["city"])
IMPUTED = ("impute", SimpleImputer(add_indicator=True), ["size", "age"])
SPLINES = ("spline", make_pipeline(SimpleImputer(), SplineTransformer(3)), ["age", "size"])
UNION = FeatureUnion([("v", StandardScaler()), ("b", KBinsDiscretizer(3)), ("p", "passthrough")])
NESTED = ColumnTransformer([CODED], remainder=make_pipeline(SimpleImputer(), UNION))
PLAIN = ColumnTransformer(
    [("code", OrdinalEncoder(), ["city"]), ("no", "drop", ["unread", "text"])],
    remainder="passthrough",
    verbose_feature_names_out=False,
).set_output(transform="pandas")
POWERS = ("p", make_pipeline(SimpleImputer(), PolynomialFeatures(2)), ["age", "size"])
BLOCKS = {
    "a column that two read": [CODED, IMPUTED, SPLINES, ("text", CountVectorizer(), "text")],
    "nested": [("text", TfidfVectorizer(), "text"), ("n", NESTED, ["city", "size", "age"])],
    "powers": [CODED, POWERS],
}
STEPS = {name: make_pipeline(ColumnTransformer(blocks)) for name, blocks in BLOCKS.items()}
STEPS["passed through"] = PLAIN
ALONE = ("1", "age size")
READ = {"powers": ("city", "age", "size", *ALONE), "passed through": ("city", "age", "size")}


@pytest.fixture(scope="module", params=STEPS)
def pipeline(request):
    names = READ.get(request.param, ("city", "age", "text", "size"))
    model = make_pipeline(STEPS[request.param], RandomForestRegressor(4, max_depth=4))
    model.set_params(randomforestregressor__random_state=0).fit(X, y)
    return model, names, *(measured(model, features) for features in ("columns", "transformed"))


def measured(model, features):
    """Importances by every method that takes the model, by name; text may not be permuted."""
    found = {}
    for method in splitcredit.methods(model):
        if "importance" in method.functions and not method.why_not(Opened(model)):
            function, more = method.function("importance"), {"features": features}
            more |= {"background": X[:20]} if "background" in method.needs else {}
            more |= {"y": y} if "y" in method.needs and not method.averages else {}
            more |= {"n_permutations": 64} if method.name == "sage" else {}
            call = partial(function, **more)
            given = {"X": X} if method.takes("X", "importance") else {}
            found[method.name] = splitcredit.importance(model, method=call, **given)
    return found


def made_of(model, names):
    """Which features change if a column does; by several columns that of the last name does."""

    def table(X):
        return np.nan_to_num(Opened(model).forest.prepare(Opened(model, X).rows))

    moved = [X.assign(**{name: X[name].to_numpy()[::-1]}) for name in names if name in X]
    changed = np.stack([(table(rows) != table(X)).any(axis=0) for rows in moved], axis=1)
    changed = np.pad(changed, ((0, 0), (0, len(names) - len(moved))))
    for count, k in ((0, -2), (2, -1)):  # the constant, and the product
        changed[changed.sum(axis=1) == count] = np.eye(len(names), dtype=bool)[k]
    return changed


def test_all_methods_speak_of_the_columns_that_are_read(pipeline):
    """Red if a method names transformed features, or columns that no step reads."""
    model, names, found, _ = pipeline
    assert len(found) >= 13
    for method, importance in found.items():
        if method != "permutation" or names[-1] != ALONE[-1]:
            assert importance.feature_names == names, method
            alone = importance.parameters.get("of_no_single_column")
            assert alone == (list(ALONE) if ALONE[-1] in names else None), method
    assert splitcredit.rank(model, X[:2]).feature_names == names
    assert splitcredit.interactions(model, X[:2]).feature_names == names


def test_a_column_has_the_sum_over_its_features(pipeline):
    """Red if features of a column are lost, or credited to another."""
    model, names, columns, features = pipeline
    of_column = made_of(model, names)
    for method in ("mdi", "mdi_oob", "ufi", "air", "penalized_gini", "splits"):
        sums = features[method].values @ of_column
        np.testing.assert_allclose(columns[method].values, sums, atol=1e-12, err_msg=method)
    a, b = (splitcredit.explain(model, X, features=of) for of in ("columns", "transformed"))
    np.testing.assert_allclose(a.values[:, :, 0], b.values[:, :, 0] @ of_column, atol=1e-12)
    np.testing.assert_allclose(columns["tree_shap"].values, abs(a.values[:, :, 0]).mean(axis=0))
    assert a.grouped("columns") is a and b.grouped("columns").values.tobytes() == a.values.tobytes()
    assert a.data["age"].tolist()[10:] == X["age"].tolist()[10:] and a.index[0] == "r0"
    parts = list(splitcredit.explain_chunks(model, X, chunk_rows=40))
    assert np.concatenate([part.values for part in parts]).tobytes() == a.values.tobytes()
    pairs = splitcredit.interactions(model, X[:5]).values
    np.testing.assert_allclose(pairs.sum(axis=2), a.values[:5], atol=1e-12)
    players = splitcredit.explain(model, X[:5], groups="columns")
    assert players.feature_names == names
    np.testing.assert_allclose(players.totals(), a.totals()[:5], atol=1e-12)


def test_measures_that_perturb_take_all_features_of_a_column_together(pipeline):
    """Red if codes of a column are drawn, or known, one without the others. Twins by definition."""
    model, names, found, _ = pipeline
    forest, of_column = splitcredit.to_forest(model), made_of(model, names)
    table = forest.prepare(Opened(model, X).rows)
    drawn = np.where(of_column[:, -1], table, table[:2, None])
    moved = forest.predict(drawn.reshape(-1, forest.n_features)).reshape(2, -1)
    gap = ((moved - forest.predict(table[:2])) ** 2).mean(axis=1)
    by_columns = splitcredit.faithfulness(model, X[:2], [names[-1]], "pg2", background=X)
    np.testing.assert_allclose(by_columns, gap, rtol=1e-9, atol=1e-14)
    noise = {"scale": "2std", "background": X}  # of which 20,000 draws give two digits
    gap_of = partial(splitcredit.faithfulness, model, X[:2], metric="pg2", **noise)
    exact = gap_of([names[0]])
    of_features = gap_of(np.flatnonzero(of_column[:, 0]), features="transformed")
    assert exact.tobytes() == of_features.tobytes()
    np.testing.assert_allclose(gap_of([names[0]], samples=20_000), exact, rtol=0.05)
    few, p = table[:8], len(names)
    known = (np.arange(2**p)[:, None] >> np.arange(p) & 1) @ of_column.T > 0
    drawn = np.where(known[:, None, None], few[:, None], few)
    means = forest.predict(drawn.reshape(-1, forest.n_features)).reshape(2**p, 8, 8).mean(axis=2)
    values = shapley_values(-((means - y[:8].to_numpy()) ** 2).mean(axis=1))
    sage = splitcredit.sage(model, X[:8], y[:8], algorithm="exact")
    np.testing.assert_allclose(sage.values, values, atol=1e-12)
    mda, orders = np.zeros((forest.n_trees, p)), permutations(p, 0)
    for tree, losses in enumerate(mda):
        out = np.flatnonzero(forest.inbag[tree] == 0)
        for k, order in enumerate(orders(tree, len(out))):
            permuted = np.where(of_column[:, k], table[out[order]], table[out])
            before, after = (
                part(forest, tree, tree + 1).predict(r) for r in (table[out], permuted)
            )
            target = y.to_numpy()[out, None]
            losses[k] = ((after - target) ** 2 - (before - target) ** 2).mean()
    np.testing.assert_allclose(found["mda"].values, mda.mean(axis=0), atol=1e-12)


def test_a_comparison_and_an_audit_are_by_columns_and_say_what_is_not():
    """Red if the permutation of a comparison takes other columns than that of the pipeline."""
    model = make_pipeline(PLAIN, SimpleImputer(), RandomForestRegressor(4, random_state=0))
    audit = splitcredit.audit(model.fit(X, y), X, y, progress=False)
    found = audit.comparison
    assert found.feature_names == READ["passed through"] and len(found.importances) >= 15
    own = splitcredit.permutation(model, X, y)
    np.testing.assert_allclose(found.importances["permutation"].values, own.values)
    with pytest.raises(ValueError, match="features='rows'"):
        splitcredit.explain(model, X, features="rows")
