"""Second opinions: other packages beside the library, and that a wrong value comes out."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import splitcredit
import twins
from batches import Batch
from forests import grow, leaf, random_forest, split
from reproduction import claims, datasets, models, papers, peers
from reproduction.metrics import agreement, trees
from reproduction.papers import _agreement
from reproduction.papers.lundberg2017 import _deep
from reproduction.papers.sutera2021 import table4_by_peers
from reproduction.peers import tree_shap_lightgbm, tree_shap_shap
from splitcredit import to_forest
from splitcredit.measures import function_of

FOREST = {"estimator": "ExtraTreesClassifier", "n_estimators": 10, "criterion": "entropy"}
BOOSTED = {"estimator": "XGBRegressor", "n_estimators": 10, "max_depth": 4}
# A measure of the library, its parameters; another package's, its parameters; of which model.
PAIRS = [
    ("local_mdi", {}, "local_mdi_treeinterpreter", {}, FOREST),
    ("saabas", {"output": "predicted"}, "saabas_treeinterpreter", {}, FOREST),
    ("saabas", {"output": 2}, "saabas_treeinterpreter", {"output": 2}, FOREST),
    ("tree_shap", {"output": "predicted"}, "tree_shap_shap", {}, FOREST),
    ("tree_shap", {"output": 1}, "tree_shap_lightgbm", {"output": 1}, FOREST),
    (
        "tree_shap_interventional",
        {"output": "predicted"},
        "tree_shap_interventional_shap",
        {},
        FOREST,
    ),
    ("mdi", {}, "mdi_sklearn", {}, FOREST),
    ("saabas", {}, "saabas_xgboost", {}, BOOSTED),
    ("tree_shap", {}, "tree_shap_xgboost", {}, BOOSTED),
    ("tree_shap", {}, "tree_shap_shap", {}, BOOSTED),
    ("tree_shap", {}, "tree_shap_lightgbm", {}, BOOSTED),
]


@pytest.fixture(scope="module")
def iris():
    return datasets.from_sklearn(load_iris())


def run_of(tmp_path, data, recipe):
    """A batch of a run with its models, which computes a measure as the job does."""
    return Batch(tmp_path, data, recipe).fit()


def forest_of(data, recipe):
    return to_forest(models.fit(recipe, data.X, data.y), X_train=data.X)


@pytest.mark.parametrize(
    ("ours", "our_parameters", "peer", "their_parameters", "recipe"),
    PAIRS,
    ids=[f"{p[0]}-{p[2]}-{i}" for i, p in enumerate(PAIRS)],
)
def test_packages_agree_to_rounding_and_one_wrong_value_is_a_finding(
    tmp_path, iris, ours, our_parameters, peer, their_parameters, recipe
):
    explained = run_of(tmp_path, iris, recipe).explained
    rows = {} if ours == "mdi" else {"n_rows": 40}
    results = {
        ours: explained(importance=ours, **our_parameters, **rows),
        peer: explained(importance=peer, **their_parameters, **rows),
    }
    table = compared(results, forest_of(iris, recipe), ours, peer)
    assert table["cause"].item() in ("", cause_of_single_precision(peer))
    assert (judged(table)["verdict"], table["n_rows"].item()) == ("holds", 0 if not rows else 40)
    values = results[peer].values.copy()
    values.flat[np.abs(values).argmax()] *= 1 + 1e-3
    results[peer] = replace(results[peer], values=values)
    table = compared(results, forest_of(iris, recipe), ours, peer)
    assert table["cause"].item() == _agreement.UNEXPLAINED
    assert judged(table)["verdict"] == "unexplained"


def compared(results, forest, ours, peer):
    table = agreement.compute(results, forest, [(ours, peer)])
    table.insert(0, "data", "iris")
    table["model"] = "m"
    return _agreement.compute({"e/agreement": table})


def cause_of_single_precision(peer):
    package = peer.rpartition("_")[2]
    return f"{package} works in single precision"


def judged(table, rules=None):
    findings = _agreement.statements(table, {table["measure"].item(): "s90"})
    (row,) = claims.judge_statements("p", "agreement", findings, {"s90": "it agrees"}, rules or {})
    return row


def test_the_known_cause_of_shap_holds_for_lost_digits_and_not_for_wrong_values(iris):
    """The cause that the rules give stands for half of the digits at most."""
    rules = {"s90": {"test": "t", "variants": {"TreeSHAP by shap": {"cause": "lost digits"}}}}
    forest = forest_of(iris, FOREST)
    ours = splitcredit.tree_shap(forest, iris.X, output=0)
    parameters = {"package": "shap", "version": "0", "arithmetic": "float64"}
    for error, verdict in ((0.0, "holds"), (1e-12, "differs"), (1e-4, "unexplained")):
        theirs = replace(ours, values=ours.values * (1 + error), parameters=parameters)
        results = {"tree_shap": ours, "tree_shap_shap": theirs}
        table = compared(results, forest, "tree_shap", "tree_shap_shap")
        assert judged(table, rules)["verdict"] == verdict


@pytest.mark.parametrize(("value", "cause"), [(-0.5, ""), (2.0, ""), (-2.0, _agreement.UNWINDS)])
def test_no_cause_stands_for_a_share_that_it_does_not_expect(value, cause):
    """Of a limit of 1: below 0, of a package that loses no digits here, and below 0 again."""
    row = {"measure": "TreeSHAP", "package": "shap", "basis": "rounding", "cause": cause}
    table = pd.DataFrame([{**row, "value": value, "limit": 1.0, "scale": 1e12}])
    rules = {"s90": {"test": "t", "cause": "lost digits"}}
    assert judged(table, rules)["verdict"] == "unexplained"


def test_a_measure_that_the_paper_does_not_name_is_judged_only_if_no_cause_is_known(iris):
    forest = forest_of(iris, FOREST)
    ours = function_of("saabas")(forest, iris.X, output=0)
    parameters = {"package": "treeinterpreter", "version": "0", "arithmetic": "float64"}
    for error, judged_rows in ((0.0, 0), (1e-3, 1)):
        theirs = replace(ours, values=ours.values * (1 + error), parameters=parameters)
        table = compared({"saabas": ours, "peer": theirs}, forest, "saabas", "peer")
        assert len([*_agreement.statements(table, {"TreeSHAP": "s90"})]) == judged_rows


def test_sage_importance_agrees_to_the_error_of_its_draws(tmp_path):
    led = datasets.load({"dataset": "led"})
    explained = run_of(tmp_path, led, FOREST).explained
    ours = {
        loss: explained(importance="sage", loss=loss, algorithm="exact")
        for loss in ("mse", "cross_entropy")
    }
    options = {"n_permutations": 1024, "random_state": 3}
    for loss, exact in ours.items():
        theirs = explained(importance="sage_importance", loss=loss, **options)
        forest = forest_of(led, FOREST)
        results = {"sage_exact": exact, "sage_package": theirs}
        table = compared(results, forest, "sage_exact", "sage_package")
        assert table["basis"].item() == "monte-carlo" and judged(table)["verdict"] == "holds"
        shifted = replace(theirs, values=theirs.values + 6 * theirs.standard_error)
        table = compared(results | {"sage_package": shifted}, forest, "sage_exact", "sage_package")
        assert judged(table)["verdict"] == "unexplained"


def test_a_model_that_is_not_the_saved_one_is_refused(tmp_path, iris):
    batch = run_of(tmp_path, iris, FOREST)
    other_recipe = {**FOREST, "random_state": 1}
    batch.write(forest_of(iris, other_recipe))
    with pytest.raises(ValueError, match=r"r: the model fitted anew is not the one that was"):
        batch.explained(importance="mdi_sklearn")


def test_models_of_folds_are_refused(tmp_path, iris):
    explained = run_of(tmp_path, iris, {**FOREST, "folds": 3}).explained
    with pytest.raises(ValueError, match=r"other packages explain one model.*leave it out"):
        explained(importance="saabas_treeinterpreter")
    with pytest.raises(ValueError, match=r"n_rows: each row is explained by a model of its own"):
        explained(importance="saabas", n_rows=5)


def test_only_the_first_rows_are_explained(tmp_path, iris):
    explained = run_of(tmp_path, iris, FOREST).explained
    all_rows, first_rows = (
        explained(importance="local_mdi"),
        explained(importance="local_mdi", n_rows=7),
    )
    assert first_rows.values.tobytes() == all_rows.values[:7].tobytes()


def test_different_rows_are_not_compared(iris):
    forest = forest_of(iris, FOREST)
    two_rows, three_rows = (function_of("saabas")(forest, iris.X[:n], output=0) for n in (2, 3))
    with pytest.raises(
        ValueError, match=r"a is \(2, 4, 1\) and b is \(3, 4, 1\): compare the same"
    ):
        agreement.compute({"a": two_rows, "b": three_rows}, forest, [("a", "b")])


@pytest.mark.parametrize("seed", range(3))
def test_depths_are_those_of_the_longest_paths(seed):
    forest = random_forest(seed, n_trees=5)

    def depth(k):
        if forest.feature[k] < 0:
            return 0
        return 1 + max(depth(forest.left[k]), depth(forest.right[k]))

    assert trees.tree_depths(forest).tolist() == [depth(k) for k in forest.tree_offsets[:-1]]


def test_xgboost_adds_up_in_single_precision(iris):
    """Its values are float32 numbers; shap's C code on the same trees stays at float64's error."""
    model = models.fit(BOOSTED, iris.X, iris.y)
    forest = to_forest(model)
    exact = twins.tree_shap_by_subsets(forest, forest.prepare(iris.X[:20]))[:, :, 0]
    theirs = peers.function_of("tree_shap_xgboost")(model, forest, iris.X[:20]).values[:, :, 0]
    of_shap = tree_shap_shap.explain(model, forest, iris.X[:20]).values[:, :, 0]
    assert (theirs == theirs.astype(np.float32)).all()
    scale = np.abs(exact).max()
    assert 2e-9 * scale < np.abs(theirs - exact).max() < 1e-5 * scale
    assert np.abs(of_shap - exact).max() <= 1e-14 * scale


def test_interventional_shap_weighs_in_single_precision():
    """Its weights 1/2 of two features are exact in float32, those 1/3 and 1/6 of three are not."""

    def conjunction(M):
        tree = leaf(1.0)
        for j in reversed(range(M)):
            tree = split(j, 0.5, leaf(0.0), tree)
        return grow([tree], M)

    for M, exact in ((2, True), (3, False)):
        forest = conjunction(M)
        X, background = np.ones((1, M)), np.zeros((1, M))
        assert splitcredit.tree_shap_interventional(forest, X, background).values[0, :, 0] == (
            pytest.approx([1 / M] * M, abs=2e-16)
        )
        theirs = shap_values(forest, X, background)
        error = np.abs(theirs - 1 / M).max()
        assert error <= 2e-16 if exact else 1e-9 < error < 6e-8


def shap_values(forest, X, background):
    """Interventional values by shap of a forest's trees, (n_samples, n_features)."""
    import shap

    masker = shap.maskers.Independent(background, len(background))
    trees = {"trees": tree_shap_shap._trees(forest)}
    explainer = shap.TreeExplainer(trees, masker, feature_perturbation="interventional")
    return np.reshape(explainer.shap_values(X, check_additivity=False), X.shape)


def test_shap_loses_digits_on_deep_trees_of_table4():
    """Against fractions, where shap is furthest from ours in 60 trees on breast_cancer."""
    data = datasets.from_sklearn(load_breast_cancer())
    recipe = {"estimator": "ExtraTreesClassifier", "n_estimators": 60, "max_features": 1}
    recipe |= {"criterion": "entropy", "random_state": 0}
    tree = models.fit(recipe, data.X, data.y).estimators_[43]
    forest = to_forest(tree)
    # Whole numbers, so that fractions and floats start from the same.
    fields = {"value": np.rint(forest.value[:, [1]]), "base": None, "output_names": ("output",)}
    forest = replace(forest, **fields)
    rows = forest.prepare(data.X)[[225]].astype(float)
    case = _deep.case("deep", forest, rows)
    assert case.depth > 30
    (ours,) = case.errors(splitcredit.tree_shap(forest, rows).values[:, :, 0]).values()
    (theirs,) = case.errors(tree_shap_shap.explain(None, forest, rows).values[:, :, 0]).values()
    assert ours < 1e-14 and 1e-12 < theirs < 1e-8


def test_lightgbm_is_given_no_fractional_covers():
    forest = grow([split(0, 0.5, leaf(0.0, 1.5), leaf(1.0, 2.0))], 1)
    with pytest.raises(ValueError, match="the covers of this forest are no whole numbers"):
        tree_shap_lightgbm.explain(forest, np.zeros((1, 1)))


def test_rows_on_thresholds_go_the_same_way_in_all_packages():
    """Trees that go left on <, as XGBoost's, become trees that go left on <=."""
    forest = grow([split(0, 0.5, leaf(0.0), leaf(1.0))], 1, strict=True, x_dtype="float32")
    X = np.array([[0.5], [np.nextafter(np.float32(0.5), np.float32(0))]], np.float64)
    ours = splitcredit.tree_shap(forest, X).values[:, :, 0]
    assert (np.sign(ours) == [[1], [-1]]).all()
    by_shap = tree_shap_shap.explain(None, forest, X, output=0)
    for theirs in (by_shap, tree_shap_lightgbm.explain(forest, X)):
        assert theirs.values[:, :, 0] == pytest.approx(ours, rel=1e-15)


def test_table4_counts_the_cells_that_the_packages_give_otherwise():
    printed = papers.printed("sutera2021", "table4")
    cells = pd.DataFrame([{**cell, "value": float(text)} for cell, text in printed])
    cells = cells.rename(columns={"dataset": "data"})
    names = {ours: theirs for theirs, ours in table4_by_peers._OF_PEERS.items()}
    theirs = cells.assign(versus=cells["versus"].map(names))
    place = "sutera2021_agreement/row_correlation_summary"

    def others(theirs):
        table = table4_by_peers.compute({place: cells, f"{place}_of_peers": theirs})
        (statement,) = table4_by_peers.statements(table)
        return statement["measured"], statement["value"]

    measured = "cells of 64 that the packages alone give otherwise than printed"
    assert others(theirs) == (measured, 0)
    changed_cells = theirs.copy()
    changed_cells.loc[changed_cells["data"] == "wine", "value"] += 0.01
    assert others(changed_cells) == (measured, 16)


def test_the_limit_of_a_mean_grows_with_the_root_of_the_number_of_trees():
    limits = []
    for n_trees in (1, 16):
        trees = [split(0, 0.5, leaf([1.0]), leaf([3.0])) for _ in range(n_trees)]
        forest = grow(trees, 2, output_names=("output",))
        ours = splitcredit.tree_shap(forest, np.zeros((2, 2)))
        package = {"package": "p", "version": "0", "arithmetic": "float64"}
        theirs = replace(ours, parameters=package)
        table = agreement.compute({"a": ours, "b": theirs}, forest, [("a", "b")])
        limits.append(table["limit"].item())
    assert limits[1] == pytest.approx(4 * limits[0], rel=1e-9, abs=0)


@pytest.mark.parametrize(("value", "cause"), [(1.0, "draws of the package"), (1.1, "unexplained")])
def test_draws_explain_a_difference_up_to_the_limit_only(value, cause):
    row = {"basis": "monte-carlo", "value": value, "limit": 1.0}
    assert _agreement._cause(row) == cause


def test_the_bound_of_rounding_is_of_the_largest_values_of_all_trees():
    """Red if it takes the first tree only, whose values are small here."""
    small, large = (split(0, 0.5, leaf(0.0), leaf(value)) for value in (1.0, 1000.0))
    forest = grow([small, large], 1)
    ours = splitcredit.tree_shap(forest, np.array([[0.2], [0.8]]))
    peer = {"package": "shap", "version": "1", "arithmetic": "float64"}
    theirs = replace(ours, parameters=peer)
    limit = agreement._compared(ours, theirs, forest)["limit_float64"]
    total = 1001.0 if forest.aggregate == "sum" else 500.5
    factor = np.sqrt(2 * np.log(2 * ours.values.size / agreement._PROBABILITY))
    assert limit == pytest.approx(factor * np.sqrt(2) * total * 2.0**-52, rel=1e-9, abs=0)


def test_a_bound_of_decreases_of_impurity_is_of_impurities_and_of_others_of_values():
    """The values are a thousand times the impurities here."""
    forest = grow([split(0, 0.5, leaf(1000.0), leaf(3000.0), impurity=2.0)], 1)
    peer, limits = {"package": "p", "version": "1", "arithmetic": "float64"}, []
    for name in ("saabas", "local_mdi"):
        ours = function_of(name)(forest, np.array([[0.2]]))
        table = agreement._compared(ours, replace(ours, parameters=peer), forest)
        limits.append(table["limit_float64"])
    assert limits[0] == pytest.approx(1500 * limits[1], rel=1e-9, abs=0)


def test_differences_without_an_error_are_none_or_infinitely_many_errors():
    errors = agreement._in_errors(np.array([0.0, 1.0, 3.0]), np.array([0.0, 0.0, 2.0]))
    assert errors.tolist() == [0.0, np.inf, 1.5]
