"""What holds of every method, whatever its kernel: its twin, and the bytes of a row."""

from fractions import Fraction
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

import splitcredit
import twins
import twins_interactions
import twins_interventional
from forests import (
    DRAWN,
    FITTED,
    caterpillar,
    fitted,
    random_forest,
    rows_on_thresholds,
    whole_numbers,
)
from splitcredit import explain, interactions, to_forest, tree_shap, tree_shap_interventional
from splitcredit.kernels import cache as kept
from splitcredit.kernels.compiled import threads
from splitcredit.kernels.interactions import pair_tables
from splitcredit.kernels.interactions import sets as kernel_sets
from splitcredit.kernels.interventional import decision_tables, failed_conditions, leaf_pairs
from splitcredit.kernels.interventional import explain as interventional
from splitcredit.kernels.tree_shap import layout, outcome_tables
from splitcredit.kernels.tree_shap.explain import ALGORITHMS
from splitcredit.kernels.walks import mda as mda_kernel
from splitcredit.measures import tree_shap_interventional as curves
from splitcredit.prediction_gap import _tails, exact_gap, greedy, optimum, randomizing, sampling
from splitcredit.prediction_gap.perturbations import (
    Empirical,
    FeatureWise,
    Laplace,
    Marginal,
    Normal,
    Uniform,
)

# Deeper than tables of outcomes can be.
DEEP = ["depth 45, five features", "depth 45, one feature"]
# For pairs one forest of each kind: their twins take long.
TWICE = ["float32, <", "float64, <=", "float64, <", "binary", "ten classes"]
TWICE += ["ten classes, pure leaves", "mean with a base", "most features unused"]
FOR_PAIRS = [name for name in DRAWN if name not in TWICE]
SHALLOW = [name for name in DRAWN if name not in DEEP]


class Method(NamedTuple):
    """A method and its definition, both called with a forest, rows and a background."""

    values: object
    twin: object
    n_rows: int = 1
    n_background: int = 1
    kinds: object = tuple(DRAWN)
    baseline: object = None


def by_pair_tables(forest, X, _):
    """The matrix, from the index of pairs and the Shapley values that the tables hold."""
    pairs, p = kernel_sets.present_sets(forest, 2)[0], forest.n_features
    index = pair_tables.pair_index(forest, forest.prepare(X), np.arange(forest.n_outputs), pairs)
    matrix = np.zeros((len(X), p, p, forest.n_outputs))
    matrix[:, pairs[:, 0], pairs[:, 1]] = index[:, : len(pairs)] / 2
    matrix += matrix.transpose(0, 2, 1, 3)
    matrix[:, range(p), range(p)] = index[:, len(pairs) :] - matrix.sum(axis=2)
    return matrix


def of_rows(function, **given):
    """Call a function that takes no background with a forest and rows."""
    return lambda forest, X, _: function(forest, X, **given)


def expectation(forest, _):
    return twins.expvalue(forest, np.zeros(forest.n_features), (), Fraction)


def mean_prediction(forest, background):
    return twins.predict(forest, background).mean(axis=0)


def interventional_by(limits, forest, X, background):
    outputs = np.arange(forest.n_outputs)
    X, background = forest.prepare(X), forest.prepare(background)
    return interventional.tree_shap_interventional(forest, X, outputs, background, limits)


# Limits that send leaves by small tables, by patterns, by pairs of rows, and by all three.
WAYS = [(3, 64, 1), (0, 64), (0, 0), (2, 3, 1)]
BY_NODES = (*DRAWN, *FITTED)
SUBSETS = of_rows(twins.tree_shap_by_subsets)
PAIRS_BY_SUBSETS = of_rows(twins_interactions.interaction_matrix)
METHODS = {
    "mdi": Method(lambda f, *_: splitcredit.mdi(f), lambda f, *_: twins.mdi(f), kinds=BY_NODES),
    "mdi by trees": Method(
        lambda f, *_: splitcredit.mdi(f, normalize="trees"),
        lambda f, *_: twins.mdi_normalized_by_tree(f),
        kinds=BY_NODES,
    ),
    "local_mdi": Method(
        of_rows(splitcredit.local_mdi),
        lambda f, X, _: twins.local_mdi(f, X)[:, :, None],
        100,
        kinds=BY_NODES,
    ),
    "saabas": Method(of_rows(splitcredit.saabas), of_rows(twins.saabas), 100, kinds=BY_NODES),
    **{
        f"tree_shap, {name}": Method(
            of_rows(tree_shap, algorithm=name),
            SUBSETS,
            20,
            kinds=SHALLOW if name == "tables" else DRAWN,
            baseline=expectation,
        )
        for name in ALGORITHMS
    },
    "tree_shap_interventional": Method(
        tree_shap_interventional,
        twins_interventional.tree_shap_interventional,
        4,
        5,
        baseline=mean_prediction,
    ),
    **{
        f"tree_shap_interventional, {limits}": Method(
            partial(interventional_by, limits), twins_interventional.tree_shap_interventional, 4, 5
        )
        for limits in WAYS
    },
    "interactions": Method(of_rows(interactions), PAIRS_BY_SUBSETS, 5, 1, FOR_PAIRS),
    "interactions by tables": Method(
        by_pair_tables, PAIRS_BY_SUBSETS, 5, 1, [name for name in FOR_PAIRS if name in SHALLOW]
    ),
    "interactions against a background": Method(
        lambda f, X, Z: interactions(f, X, background=Z),
        twins_interactions.interaction_matrix,
        3,
        4,
        FOR_PAIRS,
        mean_prediction,
    ),
}


@cache
def case(name, n_rows, n_background):
    """A forest, rows, and a background that has one of them."""
    if name in DRAWN:
        forest = DRAWN[name]()
        X = rows_on_thresholds(forest, n_rows + n_background - 1)
        return forest, X[:n_rows], X[n_rows - 1 :]
    model, X, _ = fitted(name)
    return to_forest(model), X[::17], X[:1]


@cache
def by_definition(twin, *of_case):
    """Of all methods with this definition: some take long."""
    return np.asarray(twin(*case(*of_case)), float)


@pytest.mark.parametrize(
    ("method", "name"), [(m, name) for m in METHODS for name in METHODS[m].kinds]
)
def test_values_and_baseline_are_those_of_the_definition(method, name):
    """Red if a row, a threshold, NaN, a leaf or an output is taken for another one."""
    ours, twin, n_rows, n_background, _, baseline = METHODS[method]
    of_case = name, n_rows, n_background
    forest, X, background = case(*of_case)
    found = ours(forest, X, background)
    values = getattr(found, "values", found)
    assert twins.largest_error(values, by_definition(twin, *of_case)) <= twins.ROUNDING
    if baseline is not None:
        assert twins.largest_error(found.baseline, baseline(forest, background)) <= twins.ROUNDING


FORESTS = {
    "pure leaves": random_forest(0, n_trees=30, n_outputs=3, leaves="pure", missing=True),
    "fractions": random_forest(1, n_trees=30, n_outputs=2, depth=8, leaves="fractions"),
    "many outputs": random_forest(2, n_trees=20, n_outputs=7, depth=5),
    "many classes": random_forest(3, n_trees=20, n_outputs=6, leaves="pure", missing=True),
    "deep": caterpillar(45, 20, n_outputs=2),
    "shallow": random_forest(21, n_trees=20, depth=4, n_features=12, n_outputs=2),
}
# Name -> a function of a forest, rows, a background and the output.
KERNELS = {
    **{
        f"tree_shap, {name}": lambda f, X, _, output, name=name: tree_shap(
            f, X, algorithm=name, output=output
        )
        for name in ALGORITHMS
    },
    "saabas": lambda f, X, _, output: explain(f, X, "saabas", output=output),
    "tree_shap_interventional": lambda f, X, Z, output: tree_shap_interventional(
        f, X, Z, output=output
    ),
    "pairs": lambda f, X, _, output: interactions(f, X, output=output),
    "pairs against a background": lambda f, X, Z, output: interactions(
        f, X, background=Z, output=output
    ),
    "threes": lambda f, X, _, output: interactions(f, X, sets=[(0, 1, 2)], order=3, output=output),
    "local_mdi": lambda f, X, *_: explain(f, X, "local_mdi"),
}


@pytest.mark.parametrize("name", [*DRAWN, *FORESTS])
def test_rows_and_blocks_give_the_same_bytes(name):
    """Red if the digits of a row depend on the number of rows."""
    forest = FORESTS[name] if name in FORESTS else DRAWN[name]()
    X = rows_on_thresholds(forest, 50)
    blocks, rows = (tree_shap(forest, X, algorithm=name).values for name in ("blocks", "rows"))
    assert rows.tobytes() == blocks.tobytes()


# What bounds the parts that kernels take at a time, and other bounds.
PARTS = {
    "tree_shap, blocks": [(layout, "CHUNK", 1), (layout, "CHUNK", 100)],
    "tree_shap, tables": [(outcome_tables, "CHUNK", 1), (outcome_tables, "CHUNK", 100)],
    "pairs": [(pair_tables, "_CHUNK", 1)],
    "tree_shap_interventional": [
        (interventional, "BLOCK", 7),
        (decision_tables, "CHUNK", 16),
        (failed_conditions, "CHUNK", 16),
        (leaf_pairs, "CHUNK", 16),
    ],
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", FORESTS)
def test_other_rows_parts_threads_and_outputs_leave_a_row_alone(name, kernel, monkeypatch):
    """Rows in other places of other blocks, which have up to 512 rows; some blocks without NaN."""
    forest, values_of = FORESTS[name], KERNELS[kernel]
    if name == "deep" and kernel.endswith("tables"):
        return
    X, background = rows_on_thresholds(forest, 600), rows_on_thresholds(forest, 3, seed=1)
    X[:300] = np.nan_to_num(X[:300])
    of_all = values_of(forest, X, background, "all")
    outputs = ("all", "predicted", 0) if kernel != "local_mdi" else ("all",)
    found = {output: values_of(forest, X, background, output) for output in outputs}
    for output, ours in found.items():
        for rows in (np.arange(len(X))[::-1], np.arange(3, 400, 7), np.array([599])):
            expected = np.ascontiguousarray(ours.values[rows]).tobytes()
            assert values_of(forest, X[rows], background, output).values.tobytes() == expected
        with threads(1):
            by_one_thread = values_of(forest, X, background, output).values
        assert by_one_thread.tobytes() == ours.values.tobytes()
        if output != "all":
            index = forest.predict(X).argmax(axis=1) if output == "predicted" else 0
            expected = of_all.values[np.arange(len(X)), ..., index]
            rounding = 0.0 if kernel == "saabas" else twins.ROUNDING
            assert twins.largest_error(ours.values[..., 0], expected) <= rounding
            assert np.array_equal(np.ravel(ours.baseline), of_all.baseline[np.atleast_1d(index)])
    monkeypatch.setattr(kept, "ARRAYS", kept.Cache(0))
    for module, constant, size in PARTS.get(kernel, ()):
        monkeypatch.setattr(module, constant, size)
        for output, ours in found.items():
            in_parts = values_of(forest, X[:100], background, output).values
            assert in_parts.tobytes() == np.ascontiguousarray(ours.values[:100]).tobytes(), constant


ROWS, Y = whole_numbers("values", 60, 5, 4)
BAGGED = to_forest(RandomForestRegressor(9, random_state=0, max_depth=5).fit(ROWS, Y), ROWS)
ORDER = np.argsort(np.random.default_rng(0).random(ROWS.shape), axis=1)
NOISES = [Normal(), Laplace(0.3), Uniform(), Empirical([-0.5, 0.0, 0.25]), Marginal(ROWS[:4])]
NOISES.append(FeatureWise([Normal(), Uniform(), Normal(2.0), Laplace(), Normal()]))


def rescaled():
    given = {"model_output": "log_loss", "y": np.arange(60) % 2}
    found = tree_shap_interventional(BAGGED, ROWS, ROWS[:30], **given)
    return np.append(found.values, found.baseline)


def tails(noise):
    problem, masks = exact_gap.GapProblem(BAGGED, noise, 1.0, None), ORDER < 3
    found = problem.with_tails(ROWS, masks)[1]
    assert not found[:, :-2][~masks[:, problem.gap_forest.cuts.feature]].any()
    return found


# Numbers that are made in parts, what bounds the parts, and other bounds.
MADE_IN_PARTS = {
    "oob": (lambda: splitcredit.oob_attributions(BAGGED, ROWS).values, layout, "CHUNK", 1),
    "mda": (lambda: splitcredit.mda(BAGGED, ROWS, Y).values, mda_kernel, "ORDERS", 1),
    "rescaled": (rescaled, curves, "_CHUNK", 210),
    "pg2": (lambda: exact_gap.pg2(BAGGED, ROWS, [0, 1]), exact_gap, "CHUNK", 1),
    "greedy": (lambda: greedy.greedy_ranking(BAGGED, ROWS).gaps, greedy, "CHUNK", 20),
    "optimum": (lambda: optimum.best_ranking(BAGGED, ROWS[:7]).gaps, optimum, "CHUNK", 1),
    "fresh samples": (
        lambda: sampling.pg2_sampled(BAGGED, ROWS[:9], [0, 1, 2], [100, 101], draws="literal"),
        sampling,
        "_CHUNK",
        800,
    ),
    "randomized": (
        lambda: randomizing.randomized_rmse(BAGGED, ROWS, Y, ORDER, [1, 2], ROWS, 20).predictions,
        randomizing,
        "_CHUNK",
        90,
    ),
    **{
        f"tails of {type(noise).__name__}, {size}": (partial(tails, noise), _tails, "AT_ONCE", size)
        for noise in NOISES
        for size in (1, 7)
    },
}


@pytest.mark.parametrize("name", MADE_IN_PARTS)
def test_parts_of_another_size_and_threads_leave_the_bytes_alone(name, monkeypatch):
    """Red if a part loses its last row or tree, or begins with what another one left."""
    values, module, constant, size = MADE_IN_PARTS[name]
    before = values()
    with threads(1):
        assert values().tobytes() == before.tobytes() != bytes(before.nbytes)
    monkeypatch.setattr(kept, "ARRAYS", kept.Cache(0))
    monkeypatch.setattr(module, constant, size)
    assert values().tobytes() == before.tobytes()


@pytest.mark.parametrize("method", ["tree_shap", "saabas", "tree_shap_interventional"])
@pytest.mark.parametrize("name", [*DRAWN, *FITTED])
def test_baseline_and_attributions_add_up_to_the_prediction(name, method):
    forest = DRAWN[name]() if name in DRAWN else to_forest(fitted(name)[0])
    X = rows_on_thresholds(forest, 50) if name in DRAWN else fitted(name)[1]
    background, X = X[3 :: max(1, len(X) // 10)], X[:: max(1, len(X) // 40)]
    more = {"background": background} if method.endswith("interventional") else {}
    totals = getattr(splitcredit, method)(forest, X, **more).totals()
    assert twins.largest_error(totals, forest.predict(X)) <= twins.ROUNDING
