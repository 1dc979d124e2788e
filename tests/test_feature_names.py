"""Names of columns in the forms in which users have them and libraries keep them."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeRegressor

import splitcredit
from splitcredit import TreeExplainer


def table(names):
    """Rows with columns of these names, and targets."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=names)
    return X, X.iloc[:, 0] + X.iloc[:, 1] * X.iloc[:, 2]


def of_levels():
    """XGBoost's model of columns with two levels of names, and its rows."""
    names = [("dose", "first"), ("dose", "second"), ("age", "")]
    X, y = table(pd.MultiIndex.from_tuples(names))
    return xgboost.XGBRegressor(n_estimators=4).fit(X, y), X


def test_names_of_several_levels_mean_the_features_of_an_XGBoost_model():
    """XGBoost keeps the levels with blanks between them."""
    model, X = of_levels()
    reordered, rows = X.iloc[:, [2, 0, 1]], X.to_numpy()
    attribution = splitcredit.explain(model, reordered)
    assert attribution.feature_names == ("dose first", "dose second", "age ")
    assert attribution.values.tobytes() == splitcredit.explain(model, rows).values.tobytes()
    assert attribution.to_shap(reordered).data.tolist() == rows.tolist()
    grouped = attribution.grouped({"dose": [("dose", "first"), ("dose", "second")]})
    assert grouped.feature_names == ("dose", "age ")
    named = splitcredit.interactions(model, X[:2], sets=[[("age", ""), ("dose", "first")]])
    by_index = splitcredit.interactions(model, rows[:2], sets=[[2, 0]])
    assert named.values.tobytes() == by_index.values.tobytes()
    scale = X.std()
    gaps = splitcredit.faithfulness(model, reordered, "tree_shap", scale=scale.iloc[[2, 0, 1]])
    by_position = splitcredit.faithfulness(model, rows, "tree_shap", scale=scale.to_numpy())
    assert gaps.tobytes() == by_position.tobytes()
    with pytest.raises(ValueError, match=r"missing \['dose second'\], not expected \[\"\('dose',"):
        splitcredit.explain(model, X.rename(columns={"second": "third"}))


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


def test_a_series_goes_by_names_of_several_levels():
    model, X = of_levels()
    explainer = TreeExplainer(model)
    expected = explainer.shap_values(X)[0]
    row = X.iloc[0, [2, 0, 1]]
    assert explainer.shap_values(row).tobytes() == expected.tobytes()


def test_a_name_of_several_features_is_refused_where_one_is_meant():
    """The first of them was taken. Steps of a pipeline may give such names."""
    X, y = table(["a", "b", "c"])
    twice = FunctionTransformer(np.asarray, feature_names_out=lambda _, names: ["a", "a", "c"])
    model = make_pipeline(twice, DecisionTreeRegressor(max_depth=3)).fit(X, y)
    attribution = splitcredit.explain(model, X)
    refusal = r"several are called 'a': pass an index, one of \[0, 1\]"
    for call in (
        lambda: attribution.grouped({"one": ["a", "c"]}),
        lambda: splitcredit.explain(model, X, groups={"one": ["a", "c"]}),
        lambda: splitcredit.interactions(model, X, sets="a"),
        lambda: splitcredit.faithfulness(model, X, ["a"], "pg2", scale=0.1),
    ):
        with pytest.raises(ValueError, match=refusal):
            call()
    assert splitcredit.interactions(model, X, sets=[[1, "c"]]).sets.tolist() == [[1, 2]]
