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
IMPUTED = SimpleImputer(add_indicator=True)
UNION = FeatureUnion([("v", StandardScaler()), ("b", KBinsDiscretizer(3)), ("p", "passthrough")])
CODED = ("city", OneHotEncoder(sparse_output=False), ["city"])
TEXT = ("text", TfidfVectorizer(), "text")
SPLINES = make_pipeline(SimpleImputer(), SplineTransformer(3))
NESTED = ColumnTransformer([CODED], remainder=IMPUTED)
PLAIN = ColumnTransformer(
    [("code", OrdinalEncoder(), ["city"]), ("no", "drop", ["unread", "text"])],
    remainder="passthrough",
    verbose_feature_names_out=False,
).set_output(transform="pandas")
POWERS = make_pipeline(SimpleImputer(), PolynomialFeatures(include_bias=False))
# By name: the steps before the trees, and the columns that they read.
STEPS = {
    "a text, and a column that two read": (
        ColumnTransformer(
            [
                *(CODED, ("impute", IMPUTED, ["size", "age"]), ("text", CountVectorizer(), "text")),
                ("again", SPLINES, ["age", "size"]),
            ]
        ),
        ("city", "age", "text", "size"),
    ),
    "a union": (
        ColumnTransformer([TEXT, ("u", make_pipeline(SimpleImputer(), UNION), ["size", "age"])]),
        ("age", "text", "size"),
    ),
    "nested": (
        make_pipeline(ColumnTransformer([TEXT, ("n", NESTED, ["city", "size", "age"])])),
        ("city", "age", "text", "size"),
    ),
    "passed through": (PLAIN, ("city", "age", "size")),
    "powers": (
        ColumnTransformer([CODED, ("p", POWERS, ["age", "size"])]),
        ("city", "age", "size", "age size"),
    ),
}


@pytest.fixture(scope="module", params=STEPS)
def pipeline(request):
    steps, names = STEPS[request.param]
    model = make_pipeline(steps, RandomForestRegressor(4, max_depth=4, random_state=0)).fit(X, y)
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


def test_all_methods_speak_of_the_columns_that_are_read(pipeline):
    """Red if a method names transformed features, or columns that no step reads."""
    model, names, found, _ = pipeline
    assert len(found) >= 13
    for method, importance in found.items():
        if method != "permutation" or names[-1] != "age size":
            assert importance.feature_names == names, method
            alone = importance.parameters.get("of_no_single_column")
            assert alone == (["age size"] if "age size" in names else None), method
    assert splitcredit.rank(model, X[:2]).feature_names == names
    assert splitcredit.interactions(model, X[:2]).feature_names == names


def test_a_column_has_the_sum_over_its_features(pipeline):
    """Red if features of a column are lost, or credited to another."""
    model, names, columns, features = pipeline
    forest = splitcredit.to_forest(model)
    parted = Opened(model).columns[1]
    of_column = np.zeros((forest.n_features, len(names)))
    for k, own in enumerate(parted):
        of_column[own, k] = 1
    assert of_column.sum(axis=1).tolist() == [1] * forest.n_features
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
    table, parted = Opened(model).forest.prepare(Opened(model, X).rows), Opened(model).columns[1]
    forest = splitcredit.to_forest(model)
    rows, k = table[:2], len(names) - 1
    drawn = rows[:, None].repeat(len(table), axis=1)
    drawn[:, :, parted[k]] = table[None][:, :, parted[k]]
    moved = forest.predict(drawn.reshape(-1, forest.n_features)).reshape(2, -1)
    gap = ((moved - forest.predict(rows)) ** 2).mean(axis=1)
    by_columns = splitcredit.faithfulness(model, X[:2], [names[k]], "pg2", background=X)
    np.testing.assert_allclose(by_columns, gap, rtol=1e-9, atol=1e-14)
    noise = {"scale": "2std", "background": X}  # of which 20,000 draws give two digits
    features = [forest.feature_names[j] for j in parted[0]]
    of_column = splitcredit.faithfulness(model, X[:2], [names[0]], "pg2", **noise)
    of_features = splitcredit.faithfulness(
        model, X[:2], features, "pg2", features="transformed", **noise
    )
    assert of_column.tobytes() == of_features.tobytes()
    sampled = splitcredit.faithfulness(model, X[:2], [names[0]], "pg2", samples=20_000, **noise)
    np.testing.assert_allclose(sampled, of_column, rtol=0.05)
    sage = splitcredit.sage(model, X[:8], y[:8], algorithm="exact")
    loss = ((forest.predict(table[:8])[:, 0] - y[:8]) ** 2).mean()
    mean = ((forest.predict(table[:8]).mean() - y[:8]) ** 2).mean()
    np.testing.assert_allclose(sage.values.sum(), mean - loss, atol=1e-12)
    assert not found["mda"].values[found["splits"].values == 0].any()


def test_a_comparison_and_an_audit_are_by_columns_and_say_what_is_not():
    """Red if the permutation of a comparison takes other columns than that of the pipeline."""
    steps, names = STEPS["passed through"]
    model = make_pipeline(steps, SimpleImputer(), RandomForestRegressor(4, random_state=0))
    audit = splitcredit.audit(model.fit(X, y), X, y, progress=False)
    found = audit.comparison
    assert found.feature_names == names and len(found.importances) >= 15
    own = splitcredit.permutation(model, X, y)
    np.testing.assert_allclose(found.importances["permutation"].values, own.values)
    with pytest.raises(ValueError, match="features='rows'"):
        splitcredit.explain(model, X, features="rows")
