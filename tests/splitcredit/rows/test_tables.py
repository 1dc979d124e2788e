"""Rows in the forms that other libraries have them in, and what cannot be read from them."""

import datetime as dt
import itertools
import logging
from functools import partial

import lightgbm
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xgboost
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_extraction import DictVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeRegressor

import splitcredit
from splitcredit import TreeExplainer, explain, to_forest
from splitcredit.kernels import compiled
from splitcredit.views.explainer.rows import names_of

rng = np.random.default_rng(0)
TABLE = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
CLASSES = (TABLE["a"] > TABLE["b"]).astype(int)
FOREST = RandomForestClassifier(5, random_state=0).fit(TABLE, CLASSES)


class Other:
    """A table of a library other than pandas, whose columns are chosen by `select`."""

    def __init__(self, table, names):
        self.table = table
        setattr(self, names, list(table.columns))
        self.names, self.shape = names, table.shape

    def __array__(self, dtype=None, copy=None):
        return self.table.to_numpy(dtype)

    def select(self, names):
        return Other(self.table[names], self.names)


class Dask(pd.DataFrame):
    """A table that makes its rows when it is asked to, as those of dask."""

    def compute(self):
        return self


@pytest.mark.parametrize("names", ["columns", "column_names"])
def test_tables_of_other_libraries_may_have_their_columns_in_any_order(names):
    expected = explain(FOREST, TABLE).values
    values = explain(FOREST, Other(TABLE[["c", "a", "b"]], names)).values
    assert values.tobytes() == expected.tobytes()


def test_whole_numbers_of_tables_and_lists_are_compared_by_LightGBM_as_it_reads_them():
    """It reads those of tables in double precision, and those of arrays and lists in single."""
    seconds = 1_700_000_000 + np.random.default_rng(0).integers(0, 3600, (300, 1))
    times = pd.DataFrame(seconds, columns=["time"])
    parameters = {"min_data_in_leaf": 5, "verbosity": -1, "num_threads": 1}
    data = lightgbm.Dataset(times, np.sin(seconds[:, 0] / 300))
    model = lightgbm.train(parameters, data, 10)
    in_double, in_single = model.predict(times), model.predict(seconds)
    assert not np.allclose(in_double, in_single)
    forest = to_forest(model)
    for rows, expected in ((Other(times, "columns"), in_double), (seconds.tolist(), in_single)):
        for ours in (explain(model, rows).totals(), forest.predict(rows)):
            np.testing.assert_allclose(ours[:, 0], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["column_names", "columns", "select", "compute"])
def test_columns_of_a_dataframe_may_be_called_as_attributes_of_other_tables(name):
    """A column ``column_names`` was taken for the names of the columns."""
    X = TABLE.rename(columns={"a": name})
    model = RandomForestClassifier(3, random_state=0).fit(X, CLASSES)
    reordered = explain(model, X[["c", "b", name]])
    assert reordered.values.tobytes() == explain(model, X).values.tobytes()
    assert reordered.feature_names == (name, "b", "c")
    assert list(TreeExplainer(model)(X).feature_names) == [name, "b", "c"]


def test_tables_of_pyarrow_have_the_names_of_their_columns_and_not_the_columns_as_names():
    """Their `columns` are the data, as text the names of importances were columns of numbers."""
    table = Other(TABLE, "column_names")
    table.columns = list(TABLE.to_numpy().T)
    importance = splitcredit.importance(FOREST, table, CLASSES, method="air")
    assert importance.feature_names == ("a", "b", "c") and names_of(table) == ["a", "b", "c"]


# What takes rows, by the ways that there are to them.
CALLS = (
    explain,
    lambda model, table: to_forest(model).predict(table),
    lambda model, table: splitcredit.rank(model, table, "saabas"),
    lambda model, table: TreeExplainer(model).shap_values(table),
)
# Dates and times, what polars calls them, and what pyarrow does.
TIMES = [
    (dt.date(2020, 1, 1), "Date", "date32"),
    (dt.datetime(2020, 1, 1), "Datetime", "timestamp"),
    (dt.datetime(2020, 1, 1, tzinfo=dt.UTC), "Datetime.*UTC", "timestamp.*UTC"),
    (dt.timedelta(3), "Duration", "duration"),
    (dt.time(3), "Time", "time64"),
]


def library_table(package, columns):
    """A table of polars or pyarrow."""
    library = pytest.importorskip(package, reason=f"The package {package} is not installed.")
    return library.DataFrame(columns) if package == "polars" else library.table(columns)


@pytest.mark.parametrize(("time", "polars", "pyarrow"), TIMES)
@pytest.mark.parametrize("package", ["polars", "pyarrow"])
def test_dates_and_times_in_tables_of_other_libraries_are_refused_by_their_column(
    package, time, polars, pyarrow
):
    table = library_table(package, {"a": [0.5], "b": [2], "c": [time]})
    kind = polars if package == "polars" else pyarrow
    by_category = HistGradientBoostingClassifier(max_iter=2, categorical_features=["b"])
    by_category.fit(TABLE.assign(b=np.arange(120) % 3), CLASSES)
    for model, call in itertools.product((FOREST, by_category), CALLS):
        with pytest.raises(ValueError, match=rf"X is not numeric \(column 'c' holds {kind}"):
            call(model, table)


# Without polars: its types are written so, and its array is one of numbers.
DATED = Other(TABLE, "columns")
DATED.dtypes = ["Float64", "Float64", "Date"]


# NumPy takes times among objects for the number of their units, 5 and 18262.
@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, r"X is None: pass the rows, \(n_samples, n_features\)"),
        (DATED, r"X is not numeric \(column 'c' holds Date"),
        (TABLE.assign(a=pd.Timestamp("2020-01-01")), r"X is not numeric \(column 'a' holds"),
        (TABLE.assign(a=pd.Timedelta("3 days")), r"X is not numeric \(column 'a' holds"),
        (TABLE.assign(c=1j), r"X is not numeric \(column 'c' holds complex128"),
        (np.array([[1.0, 2, np.timedelta64(5, "D")]], object), r"X is not numeric \(it holds np\."),
        (np.array([[1, 2, np.datetime64("2020-01-01")]], object), r"numeric \(it holds np\."),
        (np.ma.masked_array(TABLE, TABLE > 2), r"pass X.astype\(float\).filled\(np.nan\)"),
        (Dask(TABLE), r"X is a Dask of dask, .* pass X.compute\(\)"),
    ],
)
def test_rows_that_hold_no_numbers_are_refused(given, message):
    for call in CALLS[:2]:
        with pytest.raises(ValueError, match=message):
            call(FOREST, given)


@pytest.mark.parametrize("kind", ["Categorical", "Enum(categories=['u', 'v'])", "dictionary<...>"])
@pytest.mark.parametrize("library", [lightgbm.LGBMRegressor, xgboost.XGBRegressor])
def test_categories_of_other_libraries_are_refused_with_the_table_to_pass(library, kind):
    """These models have codes by the categories of pandas; the text was said to be no numbers."""
    table = TABLE.assign(c=pd.Categorical(np.where(TABLE["c"] > 0, "u", "v")))
    options = {"enable_categorical": True} if library is xgboost.XGBRegressor else {}
    model = library(n_estimators=3, **options).fit(table, TABLE["a"] + 3 * TABLE["c"])
    other = Other(table, "columns")
    other.dtypes = ["Float64", "Float64", kind]
    forest = to_forest(model)
    for call in (forest.predict, lambda X: explain(model, X)):
        with pytest.raises(ValueError, match=r"column 'c' of X has categories .*X.to_pandas\(\)"):
            call(other)


@pytest.mark.parametrize("package", ["polars", "pyarrow"])
def test_numbers_in_tables_of_other_libraries_are_those_of_pandas(package):
    columns = {"b": [2, 3], "a": [0.5, 1.5], "c": [True, False]}
    expected = explain(FOREST, pd.DataFrame(columns)).values
    assert explain(FOREST, library_table(package, columns)).values.tobytes() == expected.tobytes()


def test_a_dmatrix_with_categories_is_refused():
    """Its codes follow the order of its own labels, which need not be that of the training."""
    table = TABLE.assign(a=pd.Categorical(rng.choice(list("uvw"), 120)))
    model = xgboost.XGBClassifier(n_estimators=5, enable_categorical=True).fit(table, CLASSES)
    explainer = TreeExplainer(model)
    with pytest.raises(ValueError, match="pass the table or array that it was made of"):
        explainer.shap_values(xgboost.DMatrix(table, enable_categorical=True))
    assert explainer.shap_values(table).shape == (120, 3)


@pytest.mark.parametrize(("classes", "name"), [(CLASSES + 1, "1"), (CLASSES + 1.0, r"1\.0")])
def test_a_whole_number_that_names_another_class_is_no_index(classes, name):
    model = RandomForestClassifier(5, random_state=0).fit(TABLE, classes)
    with pytest.raises(ValueError, match=rf"output=1 may mean the class 1 .* output='{name}' or"):
        explain(model, TABLE, output=1)
    by_name = explain(model, TABLE, output=name.replace("\\", ""))
    assert by_name.values.tobytes() == explain(model, TABLE, output=0).values.tobytes()


def test_a_forest_whose_rows_are_drawn_by_samplers_has_no_bags():
    """As balanced forests of imbalanced-learn, which have no number of training rows either."""
    model = RandomForestClassifier(5, random_state=0).fit(TABLE, CLASSES)
    model.samplers_ = []
    del model._n_samples
    assert to_forest(model).inbag is None
    assert explain(model, TABLE).values.shape == (120, 3, 2)


@pytest.mark.parametrize("container", [xgboost.DMatrix, lightgbm.Dataset])
def test_rows_that_a_library_keeps_for_itself_are_refused_where_offsets_have_no_place(container):
    message = f"X is a {container.__name__}: pass the table that it was made of"
    with pytest.raises(ValueError, match=message):
        to_forest(FOREST).prepare(container(TABLE))


def test_rows_whose_mask_hides_nothing_are_read():
    rows = np.ma.masked_array(TABLE.to_numpy(), mask=False)
    assert explain(FOREST, rows).values.tobytes() == explain(FOREST, TABLE).values.tobytes()


class Encoded:
    """A column of a pyarrow table that is encoded by a dictionary."""

    def __init__(self, null_count):
        self.null_count, self.chunks = null_count, []


def test_dictionaries_of_pyarrow_with_missing_values_are_refused():
    """NumPy gets another value of the column in their place, and rows went to other leaves."""
    table = Other(TABLE, "column_names")
    table.schema = type("Schema", (), {"names": ["a", "b", "c"]})
    table.schema.types = ["double", "dictionary<values=double, indices=int32>", "double"]
    table.columns = [Encoded(3), Encoded(0), Encoded(3)]
    expected = explain(FOREST, TABLE).values
    assert explain(FOREST, table).values.tobytes() == expected.tobytes()
    table.columns[1] = Encoded(1)
    for call in CALLS:
        with pytest.raises(ValueError, match=r"'b' of X has missing .*: pass X.to_pandas\(\)"):
            call(FOREST, table)


@pytest.mark.parametrize("labels", [[0.5, None, 2.0, 0.5], ["u", None, "v", "u"]])
def test_missing_values_of_a_pyarrow_table_are_those_of_its_dataframe(labels):
    pyarrow = pytest.importorskip("pyarrow", reason="The package pyarrow is not installed.")
    plain = pd.DataFrame({"a": labels * 30, "b": np.arange(120) % 3})
    model = HistGradientBoostingClassifier(max_iter=2, categorical_features=["a"])
    model.fit(plain, CLASSES)
    encoded = pyarrow.array(labels * 30).dictionary_encode()
    table = pyarrow.table({"a": encoded, "b": plain["b"].to_numpy()})
    with pytest.raises(ValueError, match=r"'a' of X has missing .*: pass X.to_pandas\(\)"):
        explain(model, table)
    expected = explain(model, plain).values
    assert explain(model, table.to_pandas()).values.tobytes() == expected.tobytes()


def test_missing_values_of_pandas_among_objects_are_missing():
    """A row, or the array, of a table with nullable columns holds them as objects."""
    random = np.random.default_rng(0)
    plain = pd.DataFrame(random.normal(size=(60, 2)), columns=["a", "b"])
    plain[random.random(plain.shape) < 0.3] = np.nan
    model = HistGradientBoostingRegressor(max_iter=5).fit(plain, plain["a"].fillna(3))
    expected = explain(model, plain).values
    nullable = plain.astype("Float64").where(plain.notna(), pd.NA)
    array = nullable.to_numpy(object)
    for rows in (nullable, nullable.astype(object), array, array.tolist()):
        assert explain(model, rows).values.tobytes() == expected.tobytes()
    row = int(plain["a"].isna().argmax())
    explainer = TreeExplainer(model)
    for one in (nullable.iloc[row], nullable.iloc[row].astype(object), list(nullable.iloc[row])):
        assert explainer.shap_values(one).tobytes() == expected[row, :, 0].tobytes()


# Names of columns in the forms in which users have them and libraries keep them.


def table(names):
    """Rows with columns of these names, and targets."""
    X = TABLE.set_axis(names, axis=1)[:60]
    return X, X.iloc[:, 0] + X.iloc[:, 1] * X.iloc[:, 2]


# Names of columns, and what the library makes of them: XGBoost puts blanks between levels, and
# LightGBM underscores in the place of blanks.
LEVELS = pd.MultiIndex.from_tuples([("dose", "first"), ("dose", "second"), ("age", "")])
BLANKS = pd.Index(["age y", "income k", "bmi"])
KEPT = [
    (xgboost.XGBRegressor(n_estimators=4), LEVELS, ("dose first", "dose second", "age ")),
    (lightgbm.LGBMRegressor(n_estimators=4, verbose=-1), BLANKS, ("age_y", "income_k", "bmi")),
]


@pytest.mark.parametrize(("model", "names", "kept"), KEPT, ids=["levels", "blanks"])
def test_names_of_columns_mean_the_features_wherever_names_are_given(model, names, kept):
    """What goes by name beside X: rows of plots, scales, masks, rankings, groups and sets."""
    X, y = table(names)
    model.fit(X, y)
    order, rows, scale = [2, 0, 1], X.to_numpy(), X.std()
    reordered, first = X.iloc[:, order], pd.Series([False, True, False], names[order])
    attribution = explain(model, reordered)
    assert attribution.feature_names == kept
    assert attribution.to_shap(reordered).data.tolist() == rows.tolist()
    assert attribution.grouped({"g": list(names[:2])}).feature_names == ("g", kept[2])
    of_series = TreeExplainer(model).shap_values(reordered.iloc[0])
    assert of_series.tobytes() == attribution.values[0].tobytes()
    gap = partial(splitcredit.faithfulness, model, metric="pg2")
    sets = partial(splitcredit.interactions, model)
    by_position = gap(rows, [0], scale=scale.to_numpy())
    for by_name, expected in (
        (attribution.values, explain(model, rows).values),
        (sets(X[:2], sets=[[names[2], names[0]]]).values, sets(rows[:2], sets=[[2, 0]]).values),
        (gap(reordered, first, scale=scale.iloc[order]), by_position),
        (
            splitcredit.rank(model, reordered, scale=scale.iloc[order]).gaps,
            splitcredit.rank(model, rows, scale=scale.to_numpy()).gaps,
        ),
    ):
        assert by_name.tobytes() == expected.tobytes()
    if names is BLANKS:
        assert gap(X, [names[0]], scale=scale).tobytes() == by_position.tobytes()
    else:
        message = r"missing \['dose second'\], not expected \[\"\('dose',"
        with pytest.raises(ValueError, match=message):
            explain(model, X.rename(columns={"second": "third"}))


@pytest.mark.parametrize("kind", [xgboost.XGBRegressor, lightgbm.LGBMRegressor])
def test_a_series_goes_by_the_numbers_that_name_the_features(kind):
    """A row of a DataFrame whose columns have numbers for names; it went by position."""
    X, y = table([2, 0, 1])
    model = kind(n_estimators=4, **({"verbosity": -1} if kind is lightgbm.LGBMRegressor else {}))
    explainer = TreeExplainer(model.fit(X, y))
    expected = explainer.shap_values(X)[0]
    for rows in (X, X[[0, 1, 2]]):
        assert explainer.shap_values(rows.iloc[0]).tobytes() == expected.tobytes()
    # Other numbers are no names: positions count.
    other = pd.Series(X.iloc[0].to_numpy(), index=[7, 8, 9])
    assert explainer.shap_values(other).tobytes() == expected.tobytes()


def test_a_name_of_several_features_is_refused_where_one_is_meant():
    """The first of them was taken. Steps of a pipeline may give such names."""
    X, y = table(["a", "b", "c"])
    twice = FunctionTransformer(np.asarray, feature_names_out=lambda _, names: ["a", "a", "c"])
    model = make_pipeline(twice, DecisionTreeRegressor(max_depth=3)).fit(X, y)
    for call in (
        lambda: explain(model, X, groups={"one": ["a", "c"]}),
        lambda: splitcredit.interactions(model, X, sets="a"),
        lambda: splitcredit.faithfulness(model, X, ["a"], "pg2", scale=0.1),
    ):
        with pytest.raises(
            ValueError, match=r"several are called 'a': pass an index, one of \[0, 1"
        ):
            call()
    assert splitcredit.interactions(model, X, sets=[[1, "c"]]).sets.tolist() == [[1, 2]]


# Remedies that messages name, for what was passed.

X = TABLE[:90]
MODEL = RandomForestRegressor(3, random_state=0).fit(X, X.a)


@pytest.mark.parametrize(
    "given",
    [
        lambda X: tuple(dict(reversed(row.items())) for row in X.to_dict("records")),
        lambda X: X.to_dict("list"),
        lambda X: X.to_dict(),
    ],
)
def test_rows_as_dicts_are_a_table(given):
    """Red if a function takes other rows for them than for the DataFrame."""
    for call in (
        lambda X: explain(MODEL, X).values,
        lambda X: TreeExplainer(MODEL).shap_values(X),
        lambda X: splitcredit.importance(MODEL, X, TABLE["a"][:90], "mda").values,
        lambda X: splitcredit.rank(MODEL, X, noise="marginal", background=X).gaps,
        lambda X: to_forest(MODEL, X).training_hash.encode(),
    ):
        assert bytes(call(given(X))) == bytes(call(X))
    row = X.iloc[0].to_dict()
    assert explain(MODEL, row).values.tobytes() == explain(MODEL, X[:1]).values.tobytes()
    with pytest.raises(ValueError, match=r"not expected \['A'\]; leave out"):
        explain(MODEL, [row, {"A": 1.0, "b": 1.0, "c": 1.0}])


def test_the_error_for_a_row_of_labels_shows_a_remedy_that_works():
    """Red if text is called no number, or a Series of objects is sent to a table of objects."""
    table = X.assign(k=pd.Categorical(["u", "v"] * 45))
    model = lightgbm.LGBMRegressor(n_estimators=2, verbose=-1).fit(table, X.a)
    with pytest.raises(ValueError, match=r"1 dimension\(s\).* such as X\.iloc\[\[0\]\]"):
        explain(model, table.iloc[3])
    objects = table.iloc[3].to_frame().T
    with pytest.raises(ValueError, match=r"such as by X\.astype\(X_train\.dtypes\)$"):
        explain(model, objects)
    expected = explain(model, table.iloc[[3]]).values.tobytes()
    assert explain(model, objects.astype(table.dtypes)).values.tobytes() == expected


class Detector:
    """A model of another package around one of ours."""

    detector_ = MODEL


def test_models_around_others_name_the_part_to_explain():
    """A cross-validation says that it has any attribute, and was taken for a search."""
    data, options = lightgbm.Dataset(X, X.a), {"stratified": False, "return_cvbooster": True}
    folds = lightgbm.cv({"verbose": -1}, data, 2, **options)["cvbooster"]
    for model, part in ((Detector(), r"model\.detector_, if"), (folds, r"model\.boosters\[i\]")):
        for call in (to_forest, TreeExplainer):
            with pytest.raises(TypeError, match=f"explain {part}"):
                call(model)
    with pytest.raises(ValueError, match="cannot convert"):  # which shap raises
        TreeExplainer(object())


@pytest.mark.parametrize("is_kept", [True, False])
def test_the_notice_says_that_code_is_kept_only_where_it_is(is_kept, caplog, monkeypatch):
    def njit(**options):
        if options.get("cache") and not is_kept:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(compiled, "_is_kept", [True])
    monkeypatch.setattr(compiled, "_seconds_left", [compiled.LONG])
    monkeypatch.setattr(compiled.numba, "njit", njit)
    compiled._Kernel(len, parallel=False)
    with caplog.at_level(logging.WARNING, "splitcredit"):
        compiled._say()
    assert ("later processes load it" in caplog.text) == is_kept


def test_sparse_rows_that_are_a_mapping_are_no_dict_of_a_row():
    """Red if a dok_matrix of rows is explained as one."""
    ours = explain(MODEL, scipy.sparse.dok_matrix(X.round(0)))
    assert (ours.values == explain(MODEL, X.round(0)).values).all()


def test_dicts_go_to_a_step_that_takes_dicts():
    rows = [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": "y"}] * 5
    model = make_pipeline(DictVectorizer(), RandomForestRegressor(3, random_state=0))
    totals = explain(model.fit(rows, np.arange(10.0)), rows).totals()[:, 0]
    assert totals == pytest.approx(model.predict(rows))


@pytest.mark.parametrize(
    ("given", "message", "remedy"),
    [
        (X.iloc[0], r"pass a single row as X\.to_frame\(\)\.T", X.iloc[0].to_frame().T),
        (list(X.iloc[0]), r"single row as np\.reshape\(X, \(1, -1\)\)", X[:1].to_numpy()),
        (X.set_axis(list("abd"), axis=1), "or an array of them in that order", X.to_numpy()),
        (X[["a", "c"]], r"missing \['b'\].*; pass those that it was fitted on", X),
        (X.assign(d=0.0), r"expected \['d'\]; leave out what is not expected", X),
    ],
    ids=["Series", "list", "other names", "too few", "too many"],
)
def test_the_remedy_for_other_rows_is_one_that_can_be_followed(given, message, remedy, capsys):
    """A choice of the model's columns was advised where one was missing, which is a KeyError."""
    with pytest.raises(ValueError, match=message):
        explain(MODEL, given)
    assert explain(MODEL, remedy, progress=True).values.shape == (len(remedy), 3, 1)
    assert f"{len(remedy)}/{len(remedy)}" in capsys.readouterr().err  # though it is one chunk


def test_a_series_of_one_feature_is_refused_and_a_column_of_targets_is_taken():
    X, y = pd.DataFrame({"a": np.arange(20.0)}), np.arange(20) % 2
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"pass the one feature as X\.to_frame\(\)"):
        explain(model, X["a"])
    as_column = splitcredit.importance(model, X, y[:, None], method="ufi")
    assert as_column.values == splitcredit.importance(model, X, y, method="ufi").values
