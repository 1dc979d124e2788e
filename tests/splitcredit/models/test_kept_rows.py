"""Attributions keep the rows that were explained: plots, parts, files and groups show them."""

import lightgbm
import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    StandardScaler,
)

import splitcredit
from splitcredit import Attribution

matplotlib.use("Agg")
NAMES = ("age", "num__city_size", "missingindicator_age", "city_Paris", "city_Rome")
NAMES = (*NAMES, "onehot__city_size", "sex_f", "sex_m", "height_0.0", "height_1.0")


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"age": random.normal(50, 10, 60), "city": ["Paris", "Rome", "size"] * 20})
    X["sex"], X["city_size"], X["height"] = ["f", "m"] * 30, random.normal(size=60), np.arange(60.0)
    X.loc[:3, "age"] = np.nan
    return X.set_axis([f"r{i}" for i in range(60)])


def pipeline(X):
    """Its names without those of the steps collide: a city called size, and a column city_size."""
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    steps = ColumnTransformer(
        [
            ("num", numbers, ["age", "city_size"]),
            ("onehot", OneHotEncoder(), ["city", "sex"]),
            ("bins", KBinsDiscretizer(2), ["height"]),
        ]
    )
    y = (X["city"] == "size") + X["height"] / 60
    return make_pipeline(steps, RandomForestRegressor(5, random_state=0)).fit(X, y)


def test_names_lose_the_step_unless_two_would_be_the_same(people):
    """Red if features are called onehot__city_Paris, or two of them city_size."""
    model = pipeline(people)
    a = splitcredit.explain(model, people, features="transformed")
    assert a.feature_names == NAMES
    assert a["onehot__city_Paris"].tolist() == a["city_Paris"].tolist()
    full = pd.DataFrame(a.data, columns=model[0].get_feature_names_out())
    whole = splitcredit.to_forest(model)
    assert whole.predict(full).tobytes() == whole.predict(full[full.columns[::-1]]).tobytes()
    by_name = splitcredit.rank(model, people[:2], scale=full.std(), top=2)
    by_place = splitcredit.rank(model, people[:2], scale=full.std().to_numpy(), top=2)
    assert by_name.gaps.tobytes() == by_place.gaps.tobytes()


def test_plots_show_the_values_of_columns(people):
    """Red if the city called size is credited to the column city_size."""
    a = splitcredit.explain(pipeline(people), people)[10:20]
    assert a.feature_names == tuple(people.columns)
    assert a.data.to_numpy().tolist() == people[10:20].to_numpy().tolist()
    waterfall = a.plot(kind="waterfall", row=0, X=people[10:20].assign(unread=0))
    assert "city = Rome" in [label.get_text() for label in waterfall.get_yticklabels()]
    with pytest.raises(ValueError, match="'columns' needs the result of a pipeline"):
        Attribution(np.zeros((1, 1, 1)), [0.0], ["a"], ["o"], "saabas").grouped("columns")


NUMBERS = ["age", "size"]
GIVEN = [
    *(pd.Index(NUMBERS), pd.Series(NUMBERS), np.array(NUMBERS), np.array(NUMBERS, object)),
    *(slice("age", "size"), slice("age", None), slice(1, 3), [-2, 2]),
    *(np.array([False, True, True]), [False, True, True]),
    *(lambda X: X.select_dtypes("number").columns, lambda X: X.columns != "city"),
]


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: type(given).__name__)
def test_columns_of_a_block_are_known_in_whatever_form_they_are_given(given):
    """Red if a form ends in an error, or if its features are credited to no or another column."""
    X = pd.DataFrame({"city": ["Rome", "Ulm"] * 9, "age": np.arange(18.0), "size": 1.0})
    blocks = [("n", StandardScaler(), given), ("c", OneHotEncoder(), pd.Index(["city"]))]
    model = make_pipeline(ColumnTransformer(blocks), RandomForestRegressor(3)).fit(X, X["age"])
    a = splitcredit.explain(model, X, features="transformed")
    np.testing.assert_allclose(a.totals()[:, 0], model.predict(X), atol=1e-12)
    assert a.source.groups() == {"city": [2, 3], "age": [0], "size": [1]}


class Nameless(FunctionTransformer):
    def get_feature_names_out(self, input_features=None):
        return ["one", "too", "many"]


def test_blocks_that_tell_their_columns_do_so_beside_one_that_does_not():
    """Red if a wrong count moves features of other blocks, and if words of a text are apart."""
    X = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": 1.0, "t": ["x y", "y z", "z", "x"]})
    blocks = [("n", Nameless(), ["a", "b"]), ("t", CountVectorizer(token_pattern="."), "t")]
    model = make_pipeline(ColumnTransformer(blocks), RandomForestRegressor(3)).fit(X, X["a"])
    a = splitcredit.explain(model, X, features="transformed")
    assert a.source.column == (-1, -1, 2, 2, 2, 2) and a.grouped("columns").feature_names[0] == "t"
    alone = make_pipeline(Nameless(), RandomForestRegressor(3)).fit(X[["a", "b"]], X["a"])
    with pytest.raises(ValueError, match="whose steps name the column"):
        splitcredit.explain(alone, X[["a", "b"]]).grouped("columns")


# Attributes by which encoders of other packages tell what they made of which column.
TOLD = {
    "category_encoders": {"cols": [], "mapping": [{"col": "city", "mapping": ["city_1"]}]},
    "feature_engine.encoding": {"encoder_dict_": {"city": [1]}},
    "skrub": {"output_to_input_": {"city_1": "city"}},
}


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("package", TOLD)
def test_one_hot_codes_of_other_packages_fold_back(package, is_there):
    """Red if an attribute is not read, or if a column beside begins with the name of another."""
    X = pd.DataFrame({"city": ["Ulm", "Rome"] * 9, "city_size": np.arange(18.0)})
    if is_there:
        module = pytest.importorskip(package)
        step = getattr(module, "OneHotEncoder", getattr(module, "TableVectorizer", None))()
    else:
        step = FunctionTransformer(
            lambda X: np.column_stack([X["city"] == "Ulm", X["city_size"]]),
            feature_names_out=lambda *_: ["city_1", "city_size"],
        )
    model = make_pipeline(step, RandomForestRegressor(3)).fit(X, X["city_size"])
    if not is_there:
        vars(step).update(TOLD[package], feature_names_in_=np.array(X.columns, object))
    a = splitcredit.explain(model, X, features="transformed")
    size = a.feature_names.index("city_size")
    codes = [j for j in range(len(a.feature_names)) if j != size]
    assert a.source.groups() == {"city": codes, "city_size": [size]}


def test_rows_are_kept_in_the_order_of_the_features_and_not_copied():
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = RandomForestRegressor(3, random_state=0).fit(
        pd.DataFrame(X, columns=list("abc")), X[:, 0]
    )
    a = splitcredit.explain(model, X)
    assert a.data is X and np.shares_memory(a[:7].data, X) and a[[3, 1]].data[0] is not X[3]
    assert a[[3, 1]].data.tolist() == X[[3, 1]].tolist()
    frame = pd.DataFrame(X[:, ::-1], columns=list("cba"))
    assert splitcredit.explain(model, frame).data.to_numpy().tolist() == X.tolist()
    assert splitcredit.explain(model, sparse.csr_array(X)).data.tolist() == X.tolist()
    parts = list(splitcredit.explain_chunks(model, frame, chunk_rows=15))
    assert np.concatenate([part.data for part in parts]).tolist() == X.tolist()
    assert splitcredit.explain(model, X, groups={"g": ["a", "b"]}).data is None
    assert a.grouped({"g": ["a", "b"]}).data is None
    with pytest.raises(ValueError, match="data has shape"):
        Attribution(a.values, a.baseline, a.feature_names, ["y"], "m", data=X[:5])


def test_rows_with_labels_are_kept_in_files(tmp_path):
    """Red if the rows, or their labels, are lost on the way through a file."""
    X = pd.DataFrame({"color": pd.Categorical([*"rgb", None] * 20), "size": np.arange(80.0)})
    options = {
        "n_estimators": 3,
        "min_child_samples": 1,
        "min_data_per_group": 1,
        "verbose": -1,
        "n_jobs": 1,
    }
    model = lightgbm.LGBMRegressor(**options).fit(X, X["color"].cat.codes + X["size"])
    splitcredit.explain(model, X).save(tmp_path / "a.npz")
    ax = Attribution.load(tmp_path / "a.npz").plot(kind="scatter", feature="color")
    assert [one.get_text() for one in ax.get_xticklabels()] == ["missing", "b", "g", "r"]


def test_rows_of_a_list_are_kept_as_an_array():
    """Red if they stay a list, whose columns nothing can take."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = make_pipeline(StandardScaler(), RandomForestRegressor(3, random_state=0))
    a = splitcredit.explain(model.fit(X, X[:, 0]), X.tolist())
    assert a.data.to_numpy().tolist() == X.tolist()


def test_codes_of_columns_whose_names_run_together_are_kept_apart():
    """Red if the label x_y of A is taken for the label y of A_x."""
    X = pd.DataFrame({"A": ["x_y", "z"] * 9, "A_x": ["y", "w", "w"] * 6})
    model = make_pipeline(OneHotEncoder(sparse_output=False), RandomForestRegressor(3))
    values = splitcredit.explain(model.fit(X, np.arange(18.0)), X, features="transformed")
    by_column = values.grouped("columns").values[:, :, 0]
    sums = values.values[:, :2, 0].sum(axis=1), values.values[:, 2:, 0].sum(axis=1)
    assert np.allclose(by_column, np.transpose(sums), rtol=0, atol=1e-12)
