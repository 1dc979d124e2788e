"""Labels of categories in other types than those of training, as the libraries compare them."""

import itertools
import pickle

import lightgbm
import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

import twins
from splitcredit import TreeExplainer, explain, to_forest

N = 120
TYPES = {
    "bool": lambda flags: flags,
    "int": lambda flags: flags.astype(int),
    "float": lambda flags: flags.astype(float),
    "object": lambda flags: flags.astype(object),
    "nullable": lambda flags: pd.array(flags, dtype="boolean"),
    "category of bool": pd.Categorical,
    "category of int": lambda flags: pd.Categorical(flags.astype(int)),
}


def flags():
    """Numbers, flags, and targets that both decide."""
    random = np.random.default_rng(0)
    x, on = random.normal(size=N), random.random(N) < 0.5
    return x, on, x + 2.0 * on


def is_refused(fitted, given, missing):
    """Whether scikit-learn refuses the rows: it compares labels that are objects with objects only.

    A column of booleans with gaps holds objects, and one without gaps is compared like them.
    """
    holds_objects = fitted == "object" or (fitted == "bool" and missing)
    return holds_objects and given not in ("object", "bool")


CASES = [c for c in itertools.product(TYPES, TYPES, [False, True]) if not is_refused(*c)]


@pytest.mark.parametrize(("fitted", "given", "missing"), CASES)
def test_true_equals_one_for_scikit_learn(fitted, given, missing):
    x, on, y = flags()
    train, rows = (pd.DataFrame({"x": x, "on": TYPES[kind](on)}) for kind in (fitted, given))
    if missing:
        train["on"] = train["on"].where(np.arange(N) % 9 > 0)
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features=["on"]).fit(train, y)
    expected = model.predict(rows)
    assert twins.largest_error(explain(model, rows).totals()[:, 0], expected) <= twins.ROUNDING
    array = np.array(rows, dtype=object)
    expected = model.predict(array)
    assert twins.largest_error(to_forest(model).predict(array)[:, 0], expected) <= twins.ROUNDING


@pytest.mark.parametrize("given", ["category of bool", "category of int"])
@pytest.mark.parametrize("fitted", ["category of bool", "category of int"])
def test_true_equals_one_for_LightGBM(fitted, given):
    x, on, y = flags()
    train, rows = (pd.DataFrame({"x": x, "on": TYPES[kind](on)}) for kind in (fitted, given))
    model = lightgbm.LGBMRegressor(n_estimators=5, verbosity=-1, n_jobs=1).fit(train, y)
    ours = explain(model, rows).totals()[:, 0]
    assert twins.largest_error(ours, model.predict(rows)) <= twins.ROUNDING


def test_numbers_of_type_category_that_are_no_categories_of_the_model_stay_numbers():
    """As scikit-learn takes columns that are not among its categorical features."""
    x, on, y = flags()
    doses = np.array([30, 10, 20])[np.arange(N) % 3]
    rows = pd.DataFrame({"on": on, "x": x, "dose": pd.Categorical(doses, categories=[30, 10, 20])})
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features=["on"])
    model.fit(rows, y + doses)
    ours = explain(model, rows).totals()[:, 0]
    assert twins.largest_error(ours, model.predict(rows)) <= twins.ROUNDING


@pytest.mark.parametrize("kind", ["category", "object"])
@pytest.mark.parametrize("labels", [["red", "green", np.nan], [2, 1, np.nan]], ids=str)
def test_a_series_whose_label_is_missing_is_explained_and_compared_with_the_model(labels, kind):
    """Pandas takes the column of its frame for numbers, which scikit-learn does not compare."""
    x, _, y = flags()
    colors = pd.Series([labels[k % 3] for k in range(N)], dtype=object).astype(kind)
    rows = pd.DataFrame({"x": x, "color": colors})
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features=["color"])
    model.fit(rows, y + (colors == labels[0]))
    expected = explain(model, rows[:3]).values[:, :, 0]
    for i in range(3):
        explainer = TreeExplainer(model)  # whose first call is compared with the model
        assert np.array_equal(explainer.shap_values(rows.iloc[i]), expected[i])
        assert np.array_equal(TreeExplainer(model).shap_values(list(rows.iloc[i])), expected[i])


def test_a_row_with_a_label_and_a_missing_value_of_pandas_is_explained():
    x = pd.array([0.5, None, 2.0, 1.0] * 30, dtype="Float64")
    rows = pd.DataFrame({"x": x, "color": pd.Categorical(["red", "blue", "red", None] * 30)})
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features=["color"])
    model.fit(rows, np.arange(120) % 4)
    expected = explain(model, rows).values
    for row in range(4):
        one = TreeExplainer(model).shap_values(rows.iloc[row])
        assert one.tobytes() == expected[row, :, 0].tobytes()


def test_labels_that_arrays_cannot_keep_are_named_where_a_forest_is_saved():
    """Ranges of numbers, as pandas.cut makes them, are explained."""
    x, _, y = flags()
    rows = pd.DataFrame({"x": x, "range": pd.cut(y, 3)})
    model = HistGradientBoostingRegressor(max_iter=5, categorical_features=["range"]).fit(rows, y)
    forest = to_forest(model)
    assert twins.largest_error(forest.predict(rows)[:, 0], model.predict(rows)) <= twins.ROUNDING
    with pytest.raises(ValueError, match=r"the label Interval\(.* text nor a number.*pickle the"):
        forest.to_arrays()
    pickled = pickle.loads(pickle.dumps(forest))
    assert pickled.predict(rows).tobytes() == forest.predict(rows).tobytes()
