"""Properties: remarks of the text about SHAP values and path methods, tried out.

Small trees whose values are fractions, so that equal means equal, and the packages that the paper
names, called as their users call them.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import factorial

import numpy as np
import pandas as pd
from scipy.cluster import hierarchy

from reproduction import datasets
from reproduction.metrics import clusterings
from reproduction.papers import finding
from reproduction.papers.lundberg2017 import (
    _algorithms,
    _attributions,
    _consistency,
    _packages,
    _peers,
    _trees,
    figure1,
)
from reproduction.papers.lundberg2017._algorithms import (
    INTERNAL,
    NOTHING,
    Tree,
    expvalue,
    trees_of,
)
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
OF_PATH = "largest difference of phi between two orders, path"
PATH_AND_ORDER = "largest |path - step of E[f] in the order of the path|"
BY_NAMES = "largest difference of the steps, each test under a name of its own"
CHANGE = "largest change of phi"
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
    """Every property as a number.

    Columns: ``property``, ``case``, ``quantity``, ``n`` (how many cases), ``value``.
    """
    rows = [*_uniqueness(n_pairs, seed), *_order(seed), *_path_methods(seed), *_one_order(seed)]
    rows += [*_fluctuations(seed), *_xgboost(seed), *_other_units(seed)]
    for package, counts in _packages.violations(n_fitted, seed).items():
        rows += [_row("packages", package, *row) for row in counts]
    return pd.DataFrame(rows, columns=["property", "case", "quantity", "n", "value"])


def _row(name, case, quantity, n, value):
    return {"property": name, "case": case, "quantity": quantity, "n": n, "value": float(value)}


def _uniqueness(n_pairs, seed):
    """A fixed order of the features: the step of E[f | x_S] when a feature joins those before it.

    It adds up to f(x) - E[f], gives nothing to a feature whose steps are all 0, and never falls
    where every step grows, as its value is one of these steps. It is not SHAP.
    """
    for M in SIZES:
        rng = np.random.default_rng([seed, M])
        first, second = _consistency.pairs(rng, M, n_pairs, _consistency.output_game)
        before, after = _consistency.output_game(first), _consistency.output_game(second)
        # Feature 0 comes last.
        order = [*range(1, M), 0]
        values = [_in_order(v, order) for v in (before, after)]
        all_features = tuple(range(M))
        error_of_sum = sum(values[0]) + before[()] - before[all_features]
        without_feature = _consistency.output_game(first.mean(axis=1, keepdims=True) + 0 * first)
        without_effect = np.abs(_in_order(without_feature, order)[-1]).max()
        # Features 0 and 1 do the same: the function is the same if they are exchanged.
        alike = _consistency.output_game(first + first.swapaxes(1, 2))
        in_order = _in_order(alike, order)
        others_first = {tuple(sorted(_EXCHANGED.get(j, j) for j in S)): v for S, v in alike.items()}
        gap_of_shap = _consistency.shapley(alike, M) - _consistency.shapley(others_first, M)
        factor = factorial(M)  # times it nothing is rounded
        gaps = factor * values[0][-1] - _consistency.shapley(before, M)
        case = f"fixed order, M = {M}"
        for quantity, value in (
            ("largest |E[f] + sum of phi - f(x)|", np.abs(error_of_sum).max()),
            ("largest |phi| of a feature without effect", without_effect),
            ("pairs in which phi falls", (values[1][-1] < values[0][-1]).sum()),
            (GAP, np.abs(gaps).max() / factor),
            (SHARED, np.abs(_kept(before, M)).max() / factor),
            (ALIKE, np.abs(in_order[-1] - in_order[order.index(1)]).max()),
            (f"{ALIKE}, SHAP", np.abs(gap_of_shap).max() / factor),
        ):
            yield _row("uniqueness", case, quantity, n_pairs, value)


def _in_order(v, order):
    """Steps of the game along an order of the features, one array a feature of the order."""
    prefixes = [tuple(sorted(order[:k])) for k in range(len(order) + 1)]
    return [v[b] - v[a] for a, b in pairwise(prefixes)]


def _kept(v, M):
    """What feature 0, the last of a fixed order, has more than its Shapley value, times M!.

    A set of features has a dividend: what its value is beyond the dividends of the sets within it.
    The last feature of an order keeps those of its sets, where Shapley values share each evenly.
    """
    dividends = {}
    for S in v:  # smaller sets come first
        within = [T for T in dividends if set(T) < set(S)]
        dividends[S] = v[S] - sum(dividends[T] for T in within)
    return sum(
        (factorial(M) - factorial(M) // len(S)) * dividend
        for S, dividend in dividends.items()
        if 0 in S
    )


def _order(seed):
    """One function as trees that test its features in different orders, on the same rows."""
    x = (1, 1, 1)
    all_features = tuple(range(len(x)))
    for case, uniform in (("one row a leaf", True), ("features that depend on each other", False)):
        found = {}
        for k in range(N_TREES):
            rng = np.random.default_rng([seed, 1, k])
            f, rows = _function(rng, len(x), uniform)
            trees = [_cube_tree(f, rows, _consistency.Orders.draw(rng, len(x))) for _ in range(2)]
            # How far Algorithm 1 is from E[f | x_S] of the rows; at both ends it is not.
            gaps = [
                {S: expvalue(x, S, tree, Counter()) - v for S, v in _expectations(f, rows).items()}
                for tree in trees
            ]
            assert not any(gap[S] for gap in gaps for S in ((), all_features))
            by_gaps = [_algorithms.shapley(len(x), gap.__getitem__) for gap in gaps]
            for quantity, value in (
                (BETWEEN, _gap(*(_attributions.shap_output(x, tree) for tree in trees))),
                (f"{BETWEEN}, by the gaps of Algorithm 1", _gap(*by_gaps)),
                ("largest |Algorithm 1 - E[f | x_S]|", max(map(abs, gaps[0].values()))),
                (OF_PATH, _gap(*(_attributions.path_output(x, tree) for tree in trees))),
            ):
                found.setdefault(quantity, []).append(value)
        for quantity, values in found.items():
            yield _row("order of the tree", case, quantity, N_TREES, max(values))


def _gap(a, b):
    """Largest difference of the values of two methods."""
    return max(abs(p - q) for p, q in zip(a, b, strict=True))


def _expectations(f, rows):
    """E[f | x_S] of rows at the corners of a cube, x being all ones, by S."""
    expectations = {}
    for size in range(f.ndim + 1):
        for S in combinations(range(f.ndim), size):
            place = tuple(1 if j in S else slice(None) for j in range(f.ndim))
            total, weight = np.sum(rows[place] * f[place]), np.sum(rows[place])
            expectations[S] = Fraction(int(total), int(weight))
    return expectations


def _function(rng, M, uniform):
    """Values on the cube {0, 1}^M, and how many rows lie at each corner."""
    f = rng.integers(-8, 9, [2] * M)
    rows = np.ones([2] * M, int) if uniform else rng.integers(1, 9, [2] * M)
    return f, rows


def _cube_tree(f, rows, order) -> Tree:
    """A complete tree of a function on a cube, in fractions; covers are the rows below."""
    nodes = []

    def lay(order, known):
        index = len(nodes)
        nodes.append(None)
        place = tuple(known.get(j, slice(None)) for j in range(f.ndim))
        cover = Fraction(int(rows[place].sum()))
        if order is None:
            nodes[index] = (Fraction(int(f[place])), -1, -1, cover, -1)
        else:
            a, b = (lay(order.below[v], {**known, order.feature: v}) for v in (0, 1))
            nodes[index] = (INTERNAL, a, b, cover, order.feature)
        return index

    lay(order, {})
    v, a, b, r, d = map(list, zip(*nodes, strict=True))
    return Tree(v, a, b, [0.5] * len(v), r, d)


def _path_methods(seed):
    """Path methods add up, and give nothing to features that are not tested; in fractions."""
    sums, unused = [], []
    gains, unused_gains = [], []
    for tree, x in _random_trees(seed):
        phi, M = _attributions.path_output(x, tree), len(x)
        total = expvalue(x, range(M), tree, Counter()) - expvalue(x, (), tree, Counter())
        sums.append(abs(sum(phi) - total))
        unused.append(abs(phi[-1]))
        # The data match the model, so all splits together save the variance of the leaves.
        gain = _attributions.path_gain(M, tree)
        leaf = [j for j, v in enumerate(tree.v) if v is not INTERNAL]
        weights = [tree.r[j] / tree.r[0] for j in leaf]
        mean = sum(w * tree.v[j] for w, j in zip(weights, leaf, strict=True))
        square = sum(w * tree.v[j] ** 2 for w, j in zip(weights, leaf, strict=True))
        gains.append(abs(sum(gain) - (square - mean**2)))
        unused_gains.append(abs(gain[-1]))
    for case, errors, untested in (("output", sums, unused), ("gain", gains, unused_gains)):
        for quantity, values in (
            ("largest error of the sum", errors),
            ("largest |phi| of an untested feature", untested),
        ):
            yield _row("path methods", case, quantity, len(values), max(values))


def _random_trees(seed):
    """Random trees in fractions, one output, the last feature untested, and rows."""
    for k in range(N_TREES):
        rng = np.random.default_rng([seed, 2, k])
        forest = _trees.random_forest(rng, 4, 5, n_unused=1)
        (tree,) = trees_of(forest, 0, Fraction)
        for x in _trees.random_rows(rng, 2, 5).tolist():
            yield tree, x


def _one_order(seed):
    """The path method against the order of the path: the steps of E[f | x_S]."""
    gaps = {"features that come once": [], "features that come again": []}
    renamed = []
    for k in range(N_TREES):
        rng = np.random.default_rng([seed, 3, k])
        f, rows = _function(rng, 3, uniform=False)
        tree = _cube_tree(f, rows, _consistency.Orders.draw(rng, 3))
        gaps["features that come once"].append(_from_order((1, 1, 1), tree))
    for tree, x in _random_trees(seed):
        gaps["features that come again"].append(_from_order(x, tree))
        renamed.append((_from_order(*_renamed(x, tree)), _by_names(x, tree)))
    for case, values in gaps.items():
        yield _row("one order", case, PATH_AND_ORDER, len(values), max(values))
        differ = sum(v > 0 for v in values) / len(values)
        yield _row("one order", case, "share of rows with a difference", len(values), differ)
    with_names, predicted = zip(*renamed, strict=True)
    case = "features that come again, each test under a name of its own"
    yield _row("one order", case, PATH_AND_ORDER, len(renamed), max(with_names))
    yield _row("one order", "features that come again", BY_NAMES, len(renamed), max(predicted))


def _from_order(x, tree):
    """Largest difference of the path method from the order of the path's first tests."""
    return _gap(_attributions.path_output(x, tree), _steps_of_path(x, tree))


def _steps_of_path(x, tree):
    """Steps of E[f | x_S] in the order in which the path of x tests features first, by feature."""
    order = list(dict.fromkeys(tree.d[j] for j in _tests_of(x, tree)))
    values = [expvalue(x, order[:k], tree, Counter()) for k in range(len(order) + 1)]
    steps = dict(zip(order, np.diff(np.array(values, dtype=object)), strict=True))
    return [steps.get(i, 0) for i in range(len(x))]


def _tests_of(x, tree):
    """Inner nodes on the path of a row."""
    j = 0
    while tree.v[j] is INTERNAL:
        yield j
        j = tree.a[j] if x[tree.d[j]] <= tree.t[j] else tree.b[j]


def _renamed(x, tree):
    """The row and the tree with a feature for each node, which has the value of the node's own."""
    names = [j if v is INTERNAL else NOTHING for j, v in enumerate(tree.v)]
    values = [0.0 if i == NOTHING else x[i] for i in tree.d]
    return values, replace(tree, d=names)


def _by_names(x, tree):
    """Largest difference of two orders: the path's tests by their own names, and by features."""
    by_test = _steps_of_path(*_renamed(x, tree))
    by_feature = [Fraction(0)] * len(x)
    for j in _tests_of(x, tree):
        by_feature[tree.d[j]] += by_test[j]
    return _gap(by_feature, _steps_of_path(x, tree))


def _fluctuations(seed):
    """SHAP values of a row before and after a feature moves."""
    shifts = []
    for tree, x in _random_trees(seed):
        # A feature that no tree tests moves far, and the others stay between the same thresholds.
        moved_row = [*(value - 0.25 for value in x[:-1]), x[-1] + 7.0]
        shifts.append(_gap(*(_attributions.shap_output(row, tree) for row in (x, moved_row))))
    yield _row("fluctuations", "no impact on any output", CHANGE, len(shifts), max(shifts))
    # Figure 1, tree A, an AND: without a cough, fever changes nothing of the output.
    tree = figure1.trees()["A"]
    rows = [(0, 0), (1, 0)]
    outputs = [expvalue(x, (0, 1), tree, Counter()) for x in rows]
    case, n = "no impact on the row's output", len(rows)
    yield _row("fluctuations", case, "change of the output", n, abs(outputs[0] - outputs[1]))
    largest = _gap(*(_attributions.shap_output(x, tree) for x in rows))
    yield _row("fluctuations", case, CHANGE, n, largest)
    # In one of the two orders fever comes first, and nothing is known of the cough.
    first, second = (expvalue(x, (figure1.FEVER,), tree, Counter()) for x in rows)
    yield _row("fluctuations", case, OF_FEVER, n, abs(second - first) / 2)


def _xgboost(seed):
    """``pred_contribs`` of XGBoost against Eq. 2, on trees put into a model of it."""
    errors = []
    for k in range(N_TREES):
        rng = np.random.default_rng([seed, 4, k])
        forest = _trees.random_forest(rng, 4, 5)
        X = _trees.random_rows(rng, 3, 4)
        (tree,) = trees_of(forest, 0, Fraction)
        exact = [_algorithms.shapley_by_subsets(x, tree, Counter()) for x in X.tolist()]
        exact = np.array(exact, dtype=float)
        gap = np.abs(_peers.xgboost(forest, X) - exact).max()
        errors.append(gap / (np.abs(exact).max() or 1.0))
    case = f"XGBoost {_peers.release('xgboost')}, pred_contribs"
    yield _row("XGBoost", case, "largest relative error", len(errors) * 3, max(errors))


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
            yield _row("other units", case, name, len(data.y), changed)
    (shap, path), again = _explained(data.X, data.y), _explained(data.X, data.y * 8)
    for case, values, scaled in zip(("SHAP", "path"), (shap, path), again, strict=True):
        gap = np.abs(scaled / 8 - values).max()
        yield _row("other units", f"outcome, {case}", OF_OUTCOME, values.size, gap)


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
        predicted = of_case[f"{BETWEEN}, by the gaps of Algorithm 1"]
        yield _is_zero("s10", case, BETWEEN, of_case[BETWEEN], predicted, OF_ALGORITHM_1)
    for (case, quantity), largest in value["path methods"].items():
        yield _is_zero("s11", f"{case}, {quantity}", f"{quantity}, path method", largest)
    similar = "similar is read as equal: no degree of likeness is stated"
    orders = dict(_by_case(value["one order"]))
    for case in ("features that come once", "features that come again"):
        of_case = orders[case]
        predicted = of_case.get(BY_NAMES)
        yield _is_zero("s12", case, PATH_AND_ORDER, of_case[PATH_AND_ORDER], predicted, similar)
    yield from _of_packages(table[table["property"] == "packages"])
    (row,) = table[table["property"] == "XGBoost"].itertuples()
    measured = f"largest error of {row.case}, relative to the largest value"
    yield finding("s14", "pred_contribs", measured, row.value, SINGLE, possible=ERROR)
    for case, of_case in _by_case(value["fluctuations"]):
        predicted = of_case.get(OF_FEVER)
        reading = "" if predicted is None else OF_ROW
        yield _is_zero("s15", case, f"{CHANGE}, SHAP", of_case[CHANGE], predicted, reading)
    yield from _of_units(value["other units"])


def _by_case(quantities):
    """Each case with its quantities."""
    for case, of_case in quantities.groupby(level=0, sort=False):
        yield case, of_case.droplevel(0)


def _is_zero(statement, variant, measured, value, predicted=None, reading=""):
    """A finding that an error is 0; the cause predicts another one."""
    expected = None if predicted is None else (predicted, predicted)
    options = {"reading": reading, "possible": ERROR, "expected": expected}
    return finding(statement, variant, measured, value, 0.0, **options)


def _of_packages(rows):
    """s13; the paper does not name LightGBM."""
    for row in rows[~rows["quantity"].str.contains("SHAP")].itertuples():
        measured = (
            f"{row.quantity}: falls in so many of {row.n} pairs where the feature matters more"
        )
        place = ("s13", f"{row.case}, {row.quantity}", measured, row.value, 1.0, "at least")
        beside = row.case.startswith("lightgbm")
        yield finding(*place, reading=EXISTS, possible=(0, row.n), beside=beside)


def _of_units(units):
    """s19; in deviations of their own, features have no units."""
    reading = "a single pair of rows is enough"
    for case, expected in ((FEATURES, None), (STANDARDIZED, (0, 0))):
        place = ("s19", case, f"{PAIRS}, {case}", units[case, FACTORS], MARGIN, "at least")
        options = {"possible": (0, 1), "expected": expected, "beside": case == STANDARDIZED}
        yield finding(*place, reading=reading, **options)
    for case in ("SHAP", "path"):
        place = ("s19", case, f"{PAIRS}, {case}", units[case, FACTORS], 0.0)
        yield finding(*place, possible=(0, 1))
        gap = units[f"outcome, {case}", OF_OUTCOME]
        yield _is_zero("s19", f"outcome, {case}", OF_OUTCOME, gap)
