"""Second opinions: the papers' own programs beside ours, and that a wrong value comes out."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import splitcredit
from batches import Batch
from forests import grow, leaf, split
from reproduction import claims, datasets, models
from reproduction.metrics import agreement
from reproduction.papers import _agreement
from reproduction.papers.lundberg2017 import _deep
from reproduction.peers import tree_shap_shap
from splitcredit import to_forest
from splitcredit.measures import function_of

FOREST = {"estimator": "ExtraTreesClassifier", "n_estimators": 10, "criterion": "entropy"}
BOOSTED = {"estimator": "XGBRegressor", "n_estimators": 10, "max_depth": 4}
INTERVENTIONAL = "tree_shap_interventional_shap"
# A measure of the library, the same by another package, parameters of ours and theirs, the model.
PAIRS = [
    ("local_mdi", "local_mdi_treeinterpreter", {}, {}, FOREST),
    ("saabas", "saabas_treeinterpreter", {"output": "predicted"}, {}, FOREST),
    ("saabas", "saabas_treeinterpreter", {"output": 2}, {"output": 2}, FOREST),
    ("tree_shap", "tree_shap_shap", {"output": "predicted"}, {}, FOREST),
    ("tree_shap_interventional", INTERVENTIONAL, {"output": "predicted"}, {}, FOREST),
    ("saabas", "saabas_xgboost", {}, {}, BOOSTED),
    ("tree_shap", "tree_shap_shap", {}, {}, BOOSTED),
]
OF_SHAP = {"package": "shap", "version": "0", "arithmetic": "float64"}


@pytest.fixture(scope="module")
def iris():
    return datasets.load({"dataset": "iris"})


def forest_of(data, recipe):
    return to_forest(models.fit(recipe, data.X, data.y), X_train=data.X)


def compared(ours, theirs, forest, names=("tree_shap", "tree_shap_shap")):
    table = agreement.compute(dict(zip(names, (ours, theirs), strict=True)), forest, [names])
    table.insert(0, "data", "iris")
    table["model"] = "m"
    return _agreement.compute({"e/agreement": table})


def judged(table, rules=None):
    findings = _agreement.statements(table, {table["measure"].item(): "s90"})
    (row,) = claims.judge_statements("p", "agreement", findings, {"s90": "it agrees"}, rules or {})
    return row["verdict"]


@pytest.mark.parametrize(("ours", "peer", "our_parameters", "their_parameters", "recipe"), PAIRS)
def test_packages_agree_to_rounding_and_one_wrong_value_is_a_finding(
    tmp_path, iris, ours, peer, our_parameters, their_parameters, recipe
):
    explained = Batch(tmp_path, iris, recipe).fit().explained
    forest = forest_of(iris, recipe)
    of_ours = explained(importance=ours, **our_parameters, n_rows=40)
    theirs = explained(importance=peer, **their_parameters, n_rows=40)
    table = compared(of_ours, theirs, forest, (ours, peer))
    single = f"{peer.rpartition('_')[2]} works in single precision"
    assert table["cause"].item() in ("", single)
    assert (judged(table), table["n_rows"].item()) == ("holds", 40)
    values = theirs.values.copy()
    values.flat[np.abs(values).argmax()] *= 1 + 1e-3
    table = compared(of_ours, replace(theirs, values=values), forest, (ours, peer))
    assert (table["cause"].item(), judged(table)) == (_agreement.UNEXPLAINED, "unexplained")


def test_the_known_cause_of_shap_holds_for_lost_digits_and_not_for_wrong_values(iris):
    """The cause that the rules give stands for half of the digits at most."""
    rules = {"s90": {"test": "t", "variants": {"TreeSHAP by shap": {"cause": "lost digits"}}}}
    forest = forest_of(iris, FOREST)
    ours = splitcredit.tree_shap(forest, iris.X, output=0)
    for error, verdict in ((0.0, "holds"), (1e-12, "differs"), (1e-4, "unexplained")):
        theirs = replace(ours, values=ours.values * (1 + error), parameters=OF_SHAP)
        assert judged(compared(ours, theirs, forest), rules) == verdict


@pytest.mark.parametrize(("value", "cause"), [(-0.5, ""), (2.0, ""), (-2.0, _agreement.UNWINDS)])
def test_no_cause_stands_for_a_share_that_it_does_not_expect(value, cause):
    """Of a limit of 1: below 0, of a package that loses no digits here, and below 0 again."""
    row = {"measure": "TreeSHAP", "package": "shap", "cause": cause}
    table = pd.DataFrame([{**row, "value": value, "limit": 1.0, "scale": 1e12}])
    rules = {"s90": {"test": "t", "cause": "lost digits"}}
    assert judged(table, rules) == "unexplained"


def test_a_measure_that_the_paper_does_not_name_is_judged_only_if_no_cause_is_known(iris):
    forest = forest_of(iris, FOREST)
    ours = function_of("saabas")(forest, iris.X, output=0)
    for error, judged_rows in ((0.0, 0), (1e-3, 1)):
        theirs = replace(ours, values=ours.values * (1 + error), parameters=OF_SHAP)
        table = compared(ours, theirs, forest, ("saabas", "peer"))
        assert len([*_agreement.statements(table, {"TreeSHAP": "s90"})]) == judged_rows


def test_a_model_that_is_not_the_saved_one_or_of_folds_is_refused(tmp_path, iris):
    batch = Batch(tmp_path, iris, FOREST).fit()
    batch.write(forest_of(iris, {**FOREST, "random_state": 1}))
    with pytest.raises(ValueError, match=r"r: the model fitted anew is not the one that was"):
        batch.explained(importance="saabas_treeinterpreter")
    explained = Batch(tmp_path, iris, {**FOREST, "folds": 3}).fit().explained
    with pytest.raises(ValueError, match=r"other packages explain one model.*leave it out"):
        explained(importance="saabas_treeinterpreter")
    with pytest.raises(ValueError, match=r"n_rows: each row is explained by a model of its own"):
        explained(importance="saabas", n_rows=5)


def test_only_the_first_rows_are_explained_and_different_rows_are_not_compared(tmp_path, iris):
    explained = Batch(tmp_path, iris, FOREST).fit().explained
    all_rows, first_rows = (explained(importance="local_mdi", **n) for n in ({}, {"n_rows": 7}))
    assert first_rows.values.tobytes() == all_rows.values[:7].tobytes()
    with pytest.raises(ValueError, match=r"a is \(150, .* and b is \(7, .*: compare the sa"):
        agreement.compute({"a": all_rows, "b": first_rows}, None, [("a", "b")])


def test_shap_loses_digits_on_deep_trees_of_table4():
    """Against fractions, where shap is furthest from ours in 60 trees on breast_cancer."""
    data = datasets.load({"dataset": "breast_cancer"})
    recipe = {"estimator": "ExtraTreesClassifier", "n_estimators": 60, "max_features": 1}
    recipe |= {"criterion": "entropy", "random_state": 0}
    tree = models.fit(recipe, data.X, data.y).estimators_[43]
    forest = to_forest(tree)
    # ResultArray numbers, so that fractions and floats start from the same.
    fields = {"value": np.rint(forest.value[:, [1]]), "base": None, "output_names": ("output",)}
    forest = replace(forest, **fields)
    rows = forest.prepare(data.X)[[225]].astype(float)
    case = _deep.case("deep", forest, rows)
    assert case.depth > 30
    (ours,) = case.errors(splitcredit.tree_shap(forest, rows).values[:, :, 0]).values()
    (theirs,) = case.errors(tree_shap_shap.explain(None, forest, rows).values[:, :, 0]).values()
    assert ours < 1e-14 and 1e-12 < theirs < 1e-8


def test_rows_on_thresholds_go_the_same_way_in_shap():
    """Trees that go left on <, as XGBoost's, become trees that go left on <=."""
    forest = grow([split(0, 0.5, leaf(0.0), leaf(1.0))], 1, strict=True, x_dtype="float32")
    X = np.array([[0.5], [np.nextafter(np.float32(0.5), np.float32(0))]], np.float64)
    ours = splitcredit.tree_shap(forest, X).values[:, :, 0]
    assert (np.sign(ours) == [[1], [-1]]).all()
    theirs = tree_shap_shap.explain(None, forest, X, output=0).values[:, :, 0]
    assert theirs == pytest.approx(ours, rel=1e-15)


UP, LARGE = split(0, 0.5, leaf(1.0), leaf(3.0)), split(0, 0.5, leaf(0.0), leaf(1000.0))
CHAIN = split(0, 0.0, leaf(9.0), leaf(1.0))
for feature in (1, 2):
    CHAIN = split(feature, 0.0, CHAIN, leaf(1.0))
PURE = split(0, 0.5, leaf(1000.0), leaf(3000.0), impurity=2.0)


@pytest.mark.parametrize(
    ("trees", "aggregate", "method", "additions", "largest"),
    [
        ([UP], "mean", "tree_shap", 1, 3),
        # Of a mean it grows with the root of the number of trees.
        ([UP] * 16, "mean", "tree_shap", 16, 3),
        # Of a sum, with the values of all trees and the splits on their longest paths.
        ([UP, LARGE], "sum", "tree_shap", 2, 3 + 1000),
        ([CHAIN, UP], "sum", "saabas", 3 + 1, 9 + 3),
        # Decreases of impurity are of impurities, and others of values.
        ([PURE], "mean", "saabas", 1, 3000),
        ([PURE], "mean", "local_mdi", 1, 2),
    ],
)
def test_limits_count_additions_and_the_largest_values(
    trees, aggregate, method, additions, largest
):
    # Trees that are the same have nodes of their own.
    forest = grow([deepcopy(tree) for tree in trees], 3, aggregate=aggregate)
    ours = function_of(method)(forest, np.ones((5, 3)))
    # Azuma: the chance that one of all values is beyond is 0.001.
    width = np.sqrt(2 * np.log(2 * ours.values.size / 1e-3)) * np.sqrt(additions) * largest
    for arithmetic, unit in (("float64", 2.0**-53), ("float32", 2.0**-24)):
        theirs = replace(ours, parameters=OF_SHAP | {"arithmetic": arithmetic})
        row = agreement.compute({"a": ours, "b": theirs}, forest, [("a", "b")]).iloc[0]
        assert row["limit"] == pytest.approx(width * (2.0**-53 + unit), rel=1e-12, abs=0)
        assert row["limit_float64"] == pytest.approx(width * 2.0**-52, rel=1e-12, abs=0)
