"""Properties: remarks of the text about SHAP values and path methods, tried out.

Small trees whose values are fractions, so that equal means equal, and the packages that the paper
names, called as their users call them.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import factorial

import numpy as np
import pandas as pd
from scipy.cluster import hierarchy

from reproduction import datasets
from reproduction.metrics import clusterings
from reproduction.papers import finding
from reproduction.papers.lundberg2017 import _algorithms, _consistency, _peers, _trees, figure1
from reproduction.papers.lundberg2017._algorithms import INTERNAL, NOTHING, expvalue
from reproduction.papers.lundberg2017._attributions import path_gain, path_output
from reproduction.papers.lundberg2017._consistency import cube_tree, draw_order, output_game
from reproduction.papers.lundberg2017._packages import violations
from reproduction.parameters import Count, Seed

# Features of the random functions on a cube.
SIZES = (2, 3)
N_TREES = 60
# What is clustered, the units of its features, and groups.
FEATURES, STANDARDIZED, FACTORS = "features", "standardized features", "factors 2^k"
N_GROUPS = 10
PAIRS = (
    "share of pairs of rows that other units of the features put together or apart, clustered by"
)
OF_OUTCOME = "largest |phi of the outcome times 8, over 8, - phi|"
# A share of at least this is not 0: 120 rows have some 7000 pairs.
MARGIN = 1e-6
# Quantities that statements read.
GAP = "largest |phi - SHAP|"
SHARED = "largest |phi - SHAP|, by what features share"
ALIKE = "largest difference of two features that do the same"
BETWEEN = "largest difference of phi between two orders, SHAP"
BY_GAPS = f"{BETWEEN}, by the gaps of Algorithm 1"
OF_PATH = "largest difference of phi between two orders, path"
PATH_AND_ORDER = "largest |path - step of E[f] in the order of the path|"
BY_NAMES = "largest difference of the steps, each test under a name of its own"
CHANGE = "largest change of phi"
ONCE, AGAIN = "features that come once", "features that come again"
OF_FEVER = "half of the change of E[f | fever]"
_EXCHANGED = {0: 1, 1: 0}
ERROR = (0.0, None)
# XGBoost computes in float32, and TreeSHAP of these trees adds up some hundred roundings of it.
SINGLE = 200 * 2.0**-24
OF_ALGORITHM_1 = (
    "SHAP values are read as those of Algorithm 1, and consistent as the same for the same function"
)
OF_ROW = "an impact is read as one on the row's own output; fever has one on that of other rows"
EXISTS = "a method is inconsistent if there is one pair of models for which it is"


def compute(inputs, n_pairs: Count = 2000, n_fitted: Count = 150, seed: Seed = 0) -> pd.DataFrame:
    """Every property as a number: ``value`` of a ``quantity`` over ``n`` cases."""
    rows = [*_uniqueness(n_pairs, seed), *_order(seed), *_path_methods(seed), *_one_order(seed)]
    rows += [*_fluctuations(seed), *_xgboost(seed), *_other_units(seed)]
    for package, counts in violations(n_fitted, seed).items():
        rows += [("packages", package, *row) for row in counts]
    table = pd.DataFrame(rows, columns=["property", "case", "quantity", "n", "value"])
    return table.astype({"value": float})


def _uniqueness(n_pairs, seed):
    """A fixed order of the features: the step of E[f | x_S] when a feature joins those before it.

    It adds up to f(x) - E[f], gives nothing to a feature whose steps are all 0, and never falls
    where every step grows, as its value is one of these steps. It is not SHAP.
    """
    for M in SIZES:
        rng = np.random.default_rng([seed, M])
        first, second = _consistency.pairs(rng, M, n_pairs, output_game)
        before, after = output_game(first), output_game(second)
        # Feature 0 comes last.
        order = [*range(1, M), 0]
        values = [_in_order(v, order) for v in (before, after)]
        without_feature = output_game(first.mean(axis=1, keepdims=True) + 0 * first)
        # Features 0 and 1 do the same: the function is the same if they are exchanged.
        alike = output_game(first + first.swapaxes(1, 2))
        in_order = _in_order(alike, order)
        others_first = {tuple(sorted(_EXCHANGED.get(j, j) for j in S)): v for S, v in alike.items()}
        gap_of_shap = _consistency.shapley(alike, M) - _consistency.shapley(others_first, M)
        factor = factorial(M)  # times it nothing is rounded
        gaps = factor * values[0][-1] - _consistency.shapley(before, M)
        for quantity, value in (
            (
                "largest |E[f] + sum of phi - f(x)|",
                sum(values[0]) + before[()] - before[*range(M),],
            ),
            ("largest |phi| of a feature without effect", _in_order(without_feature, order)[-1]),
            ("pairs in which phi falls", (values[1][-1] < values[0][-1]).sum()),
            (GAP, gaps / factor),
            (SHARED, _kept(before, M) / factor),
            (ALIKE, in_order[-1] - in_order[order.index(1)]),
            (f"{ALIKE}, SHAP", gap_of_shap / factor),
        ):
            largest = np.abs(value).max()
            yield ("uniqueness", f"fixed order, M = {M}", quantity, n_pairs, largest)


def _in_order(v, order):
    """Steps of the game along an order of the features, one array a feature of the order."""
    prefixes = [tuple(sorted(order[:k])) for k in range(len(order) + 1)]
    return [v[b] - v[a] for a, b in pairwise(prefixes)]


def _kept(v, M):
    """What feature 0, the last of a fixed order, has more than its Shapley value, times M!.

    A set of features has a dividend: what its value is beyond the dividends of the sets within it.
    The last feature of an order keeps those of its sets, where Shapley values share each evenly.
    """
    dividends = {S: sum((-1) ** (len(S) - len(T)) * v[T] for T in v if {*T} <= {*S}) for S in v}
    return sum(
        (factorial(M) - factorial(M) // len(S)) * dividend
        for S, dividend in dividends.items()
        if 0 in S
    )


def _order(seed):
    """One function as trees that test its features in different orders, on the same rows."""
    x = (1, 1, 1)
    for case, uniform in (("one row a leaf", True), ("features that depend on each other", False)):
        found = {}
        for k in range(N_TREES):
            rng = np.random.default_rng([seed, 1, k])
            f, rows = _function(rng, uniform)
            trees = [cube_tree(f, rows, draw_order(rng, range(3))) for _ in range(2)]
            # How far Algorithm 1 is from E[f | x_S] of the rows.
            gaps = [
                {S: expvalue(x, S, tree) - v for S, v in _expectations(f, rows).items()}
                for tree in trees
            ]
            for quantity, values in (
                (BETWEEN, [_algorithms.shapley_by_subsets(x, tree) for tree in trees]),
                (BY_GAPS, [_algorithms.shapley(3, gap.__getitem__) for gap in gaps]),
                ("largest |Algorithm 1 - E[f | x_S]|", [gaps[0].values(), [0] * len(gaps[0])]),
                (OF_PATH, [path_output(x, tree) for tree in trees]),
            ):
                found.setdefault(quantity, []).append(_gap(*values))
        for quantity, values in found.items():
            yield ("order of the tree", case, quantity, N_TREES, max(values))


def _gap(a, b):
    """Largest difference of the values of two methods."""
    return max(abs(p - q) for p, q in zip(a, b, strict=True))


def _expectations(f, rows):
    """E[f | x_S] of rows at the corners of a cube, x being all ones, by S."""
    expectations = {}
    for S in _consistency.subsets(f.ndim):
        place = tuple(1 if j in S else slice(None) for j in range(f.ndim))
        total, weight = np.sum(rows[place] * f[place]), np.sum(rows[place])
        expectations[S] = Fraction(int(total), int(weight))
    return expectations


def _function(rng, uniform):
    """Values on the cube {0, 1}^3, and how many rows lie at each corner."""
    f = rng.integers(-8, 9, (2, 2, 2))
    return f, np.ones_like(f) if uniform else rng.integers(1, 9, f.shape)


def _path_methods(seed):
    """Path methods add up, and give nothing to features that are not tested; in fractions."""
    found = {"output": ([], []), "gain": ([], [])}
    for tree, x in _random_trees(seed):
        f, mean = (expvalue(x, S, tree) for S in (range(len(x)), ()))
        # The data match the model, so all splits together save the variance of the leaves.
        leaf = [j for j, v in enumerate(tree.v) if v is not INTERNAL]
        square = sum(tree.r[j] / tree.r[0] * tree.v[j] ** 2 for j in leaf)
        for case, phi, total in (
            ("output", path_output(x, tree), f - mean),
            ("gain", path_gain(len(x), tree), square - mean**2),
        ):
            sums, unused = found[case]
            sums.append(abs(sum(phi) - total))
            unused.append(abs(phi[-1]))
    for case, (sums, unused) in found.items():
        yield ("path methods", case, "largest error of the sum", len(sums), max(sums))
        untested = "largest |phi| of an untested feature"
        yield ("path methods", case, untested, len(unused), max(unused))


def _random_trees(seed):
    """Random trees in fractions, one output, the last feature untested, and rows."""
    for k in range(N_TREES):
        rng = np.random.default_rng([seed, 2, k])
        forest = _trees.random_forest(rng, 4, 5, n_unused=1)
        (tree,) = _algorithms.trees_of(forest, 0, Fraction)
        for x in _trees.random_rows(rng, 2, 5).tolist():
            yield tree, x


def _one_order(seed):
    """The path method against the order of the path: the steps of E[f | x_S]."""
    gaps = {ONCE: [], AGAIN: []}
    for k in range(N_TREES):
        rng = np.random.default_rng([seed, 3, k])
        tree = cube_tree(*_function(rng, uniform=False), draw_order(rng, range(3)))
        gaps[ONCE].append(_from_order((1, 1, 1), tree))
    trees = list(_random_trees(seed))
    gaps[AGAIN] = [_from_order(x, tree) for tree, x in trees]
    for case, values in gaps.items():
        yield ("one order", case, PATH_AND_ORDER, len(values), max(values))
        differ = sum(v > 0 for v in values) / len(values)
        yield ("one order", case, "share of rows with a difference", len(values), differ)
    with_names = max(_from_order(*_renamed(x, tree)) for tree, x in trees)
    case = f"{AGAIN}, each test under a name of its own"
    yield ("one order", case, PATH_AND_ORDER, len(trees), with_names)
    predicted = max(_by_names(x, tree) for tree, x in trees)
    yield ("one order", AGAIN, BY_NAMES, len(trees), predicted)


def _from_order(x, tree):
    """Largest difference of the path method from the order of the path's first tests."""
    return _gap(path_output(x, tree), _steps_of_path(x, tree))


def _steps_of_path(x, tree):
    """Steps of E[f | x_S] in the order in which the path of x tests features first, by feature."""
    order = list(dict.fromkeys(tree.d[j] for j in tree.tests(x)))
    values = [expvalue(x, order[:k], tree) for k in range(len(order) + 1)]
    steps = dict(zip(order, np.diff(np.array(values, dtype=object)), strict=True))
    return [steps.get(i, 0) for i in range(len(x))]


def _renamed(x, tree):
    """The row and the tree with a feature for each node, which has the value of the node's own."""
    names = [j if v is INTERNAL else NOTHING for j, v in enumerate(tree.v)]
    values = [0.0 if i == NOTHING else x[i] for i in tree.d]
    return values, replace(tree, d=names)


def _by_names(x, tree):
    """Largest difference of two orders: the path's tests by their own names, and by features."""
    by_test = _steps_of_path(*_renamed(x, tree))
    by_feature = [Fraction(0)] * len(x)
    for j in tree.tests(x):
        by_feature[tree.d[j]] += by_test[j]
    return _gap(by_feature, _steps_of_path(x, tree))


def _fluctuations(seed):
    """SHAP values of a row before and after a feature moves."""
    shifts = []
    for tree, x in _random_trees(seed):
        # A feature that no tree tests moves far, and the others stay between the same thresholds.
        moved_row = [*(value - 0.25 for value in x[:-1]), x[-1] + 7.0]
        shifts.append(_gap(*(_algorithms.shapley_by_subsets(row, tree) for row in (x, moved_row))))
    yield ("fluctuations", "no impact on any output", CHANGE, len(shifts), max(shifts))
    # Figure 1, tree A, an AND: without a cough, fever changes nothing of the output.
    tree = figure1.trees()["A"]
    rows = [(0, 0), (1, 0)]
    # In one of the two orders fever comes first, and nothing is known of the cough.
    outputs, given_fever = (
        [expvalue(x, known, tree) for x in rows] for known in ((0, 1), (figure1.FEVER,))
    )
    for quantity, value in (
        ("change of the output", abs(outputs[0] - outputs[1])),
        (CHANGE, _gap(*(_algorithms.shapley_by_subsets(x, tree) for x in rows))),
        (OF_FEVER, abs(given_fever[1] - given_fever[0]) / 2),
    ):
        yield ("fluctuations", "no impact on the row's output", quantity, len(rows), value)


def _xgboost(seed):
    """``pred_contribs`` of XGBoost against Eq. 2, on trees put into a model of it."""
    errors = []
    for k in range(N_TREES):
        rng = np.random.default_rng([seed, 4, k])
        forest = _trees.random_forest(rng, 4, 5)
        X = _trees.random_rows(rng, 3, 4)
        (tree,) = _algorithms.trees_of(forest, 0, Fraction)
        exact = [_algorithms.shapley_by_subsets(x, tree) for x in X.tolist()]
        exact = np.array(exact, dtype=float)
        gap = np.abs(_peers.xgboost(forest, X) - exact).max()
        errors.append(gap / (np.abs(exact).max() or 1.0))
    case = f"XGBoost {_peers.release('xgboost')}, pred_contribs"
    yield ("XGBoost", case, "largest relative error", len(errors) * 3, max(errors))


def _other_units(seed):
    """Clusters before and after features are given in other units, and attributions of an outcome.

    Powers of two scale numbers without rounding, and the exponential keeps their order, so the
    trees are the same but for their thresholds. The attributions are those of XGBoost.
    """
    recipe = {"dataset": "gene_modules", "n_samples": 120, "n_modules": 20, "n_active": 6}
    data = datasets.load({**recipe, "random_state": seed})
    factors = 2.0 ** np.random.default_rng([seed, 6]).integers(-6, 7, data.X.shape[1])
    before = _clusterings(data.X, data.y)
    for name, X in ((FACTORS, data.X * factors), ("another scale, exp", np.exp(data.X))):
        after = _clusterings(X, data.y)
        for case, groups in before.items():
            changed = _share_of_pairs(groups, after[case])
            yield ("other units", case, name, len(data.y), changed)
    (shap, path), again = _explained(data.X, data.y), _explained(data.X, data.y * 8)
    for case, values, scaled in zip(("SHAP", "path"), (shap, path), again, strict=True):
        gap = np.abs(scaled / 8 - values).max()
        yield ("other units", f"outcome, {case}", OF_OUTCOME, values.size, gap)


def _clusterings(X, y):
    """Group of each row among ten by average linkage, by what is clustered."""
    shap, path = _explained(X, y)
    tables = {FEATURES: X, STANDARDIZED: clusterings.standardized(X), "SHAP": shap, "path": path}
    return {
        name: hierarchy.fcluster(hierarchy.linkage(table, "average"), N_GROUPS, "maxclust")
        for name, table in tables.items()
    }


def _explained(X, y):
    """SHAP values and path attributions of the rows that a model is fitted on, by XGBoost."""
    booster, rows = _fitted(X, y)
    return [
        booster.predict(rows, pred_contribs=True, approx_contribs=approximate)[:, :-1].astype(float)
        for approximate in (False, True)
    ]


def _fitted(X, y):
    import xgboost

    rows = xgboost.DMatrix(X, y, nthread=1)
    settings = {"max_depth": 4, "eta": 0.1, "tree_method": "exact", "nthread": 1}
    return xgboost.train(settings, rows, 40), rows


def _share_of_pairs(a, b):
    """Share of the pairs of rows that one grouping puts together and the other does not."""
    first, second = (groups[:, None] == groups for groups in (a, b))
    return (first != second).sum() / (len(a) * (len(a) - 1))


def statements(table):
    """s09 to s15 and s19."""
    value = table.set_index(["property", "case", "quantity"])["value"]
    for case, quantities in _by_case(value["uniqueness"]):
        gap, shared, _ = (quantities.pop(name) for name in (GAP, SHARED, ALIKE))
        # Were a property violated, it would be no counter-example; and SHAP has symmetry.
        obeys = (quantities == 0).all()
        measured = "largest difference from SHAP of another method that obeys all three properties"
        yield _is_zero("s09", case, measured, gap if obeys else 0.0, shared)
    for case, of_case in _by_case(value["order of the tree"]):
        yield _is_zero("s10", case, BETWEEN, of_case[BETWEEN], of_case[BY_GAPS], OF_ALGORITHM_1)
    for (case, quantity), largest in value["path methods"].items():
        yield _is_zero("s11", f"{case}, {quantity}", f"{quantity}, path method", largest)
    similar = "similar is read as equal: no degree of likeness is stated"
    for case in (ONCE, AGAIN):
        of_case = value["one order"][case]
        predicted = of_case.get(BY_NAMES)
        place = case, PATH_AND_ORDER, of_case[PATH_AND_ORDER]
        yield _is_zero("s12", *place, predicted, similar)
    # The paper does not name LightGBM.
    packages = table[table["property"] == "packages"]
    for row in packages[~packages["quantity"].str.contains("SHAP")].itertuples():
        measured = (
            f"{row.quantity}: falls in so many of {row.n} pairs where the feature matters more"
        )
        place = ("s13", f"{row.case}, {row.quantity}", measured, row.value, 1.0, "at least")
        beside = row.case.startswith("lightgbm")
        yield finding(*place, reading=EXISTS, possible=(0, row.n), beside=beside)
    (row,) = table[table["property"] == "XGBoost"].itertuples()
    measured = f"largest error of {row.case}, relative to the largest value"
    yield finding("s14", "pred_contribs", measured, row.value, SINGLE, possible=ERROR)
    for case, of_case in _by_case(value["fluctuations"]):
        predicted = of_case.get(OF_FEVER)
        reading = "" if predicted is None else OF_ROW
        yield _is_zero("s15", case, f"{CHANGE}, SHAP", of_case[CHANGE], predicted, reading)
    units, reading = value["other units"], "a single pair of rows is enough"
    # In deviations of their own, features have no units.
    for case, expected in ((FEATURES, None), (STANDARDIZED, (0, 0))):
        place = ("s19", case, f"{PAIRS}, {case}", units[case, FACTORS], MARGIN, "at least")
        options = {"possible": (0, 1), "expected": expected, "beside": case == STANDARDIZED}
        yield finding(*place, reading=reading, **options)
    for case in ("SHAP", "path"):
        changed = units[case, FACTORS]
        yield finding("s19", case, f"{PAIRS}, {case}", changed, 0.0, possible=(0, 1))
        gap = units[f"outcome, {case}", OF_OUTCOME]
        yield _is_zero("s19", f"outcome, {case}", OF_OUTCOME, gap)


def _by_case(quantities):
    """Each case with its quantities."""
    for case, of_case in quantities.groupby(level=0, sort=False):
        yield case, of_case.droplevel(0)


def _is_zero(statement, variant, measured, value, predicted=None, reading=""):
    """A finding that an error is 0; the cause predicts another one."""
    expected = None if predicted is None else (predicted, predicted)
    options = {"reading": reading, "possible": ERROR, "expected": expected}
    return finding(statement, variant, measured, value, 0.0, **options)
