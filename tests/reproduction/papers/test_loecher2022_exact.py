"""loecher2022: figure 1, the identities and the bias of 8.3 (s12 to s17; of s13 the identity)."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import findings
import splitcredit
import twins
import twins_oob
from forests import whole_numbers
from reproduction import claims
from reproduction.metrics.trees import single_children_in_a_tree
from reproduction.papers.loecher2022 import _by_rows, _useless_split, depth, figure1, identities
from splitcredit import to_forest

# Figure 1 as printed: the caption's terms, and the values of the nodes on the path.
TERMS = {"baseline": "22.60", "RM": "-2.64", "LSTAT": "-5.04", "NOX": "-1.96"}
NODES = ("22.60", "19.96", "14.91", "12.95")


# Figure 1


@pytest.fixture(scope="module")
def table1():
    return figure1.compute({})


def test_figure1_rounds_to_print_and_printed_numbers_cannot_be_unrounded(table1):
    judged = findings.judged("loecher2022/figure1", table1)
    assert [c["verdict"] for c in judged] == ["equal"] * 5
    assert [f"{float(v):.2f}" for v in figure1.PATH] == list(NODES)
    # The terms give 12.96, not 12.95, and the nodes 5.05 for LSTAT, not 5.04.
    total = table1.set_index("term")["value"]["sum of printed terms"]
    assert total == float(sum(Fraction(t) for t in TERMS.values())) == 12.96
    assert Fraction(NODES[1]) - Fraction(NODES[2]) == Fraction("5.05")


def test_figure1_leaves_off_the_path_keep_the_means():
    forest = figure1.blog_forest()
    for k in np.flatnonzero(forest.feature >= 0):
        children = [forest.left[k], forest.right[k]]
        assert forest.cover[children].sum() == forest.cover[k]
        mean = np.average(forest.value[children, 0], weights=forest.cover[children])
        assert mean == pytest.approx(forest.value[k, 0], rel=twins.ROUNDING)
    x = np.array([figure1.HOUSE])
    assert twins.predict(forest, x)[0, 0] == float(figure1.PATH[-1])
    assert (forest.value > 0).all()


def test_figure1_real_tree_is_taken_apart_along_its_path(table1):
    """Differences of the means of the patients in the nodes, from the data themselves."""
    data = figure1.load_diabetes(scaled=False)
    forest, x = figure1.real_forest()
    (path,) = twins.paths(forest, x[0])
    rows = np.array([twins.paths(forest, row)[0] for row in data.data], dtype=object)
    means = [np.mean([y for y, p in zip(data.target, rows, strict=True) if k in p]) for k in path]
    terms = table1.set_index("term")["value"].filter(like="diabetes")
    assert len({forest.feature[k] for k in path[:-1]}) == 3
    np.testing.assert_allclose(terms, [means[0], *np.diff(means), means[-1]], rtol=1e-10)


# The identities


@pytest.fixture(scope="module")
def table():
    sizes = {"n_trees": 3, "n_trees_counter": 30, "n_canceling": 6, "n_draws": 20_000}
    return identities.compute({}, n_forests=1, **sizes)


# All others hold, but for those that small forests leave to chance.
DIFFERING = {
    ("s13", "as printed"),
    ("s14", "section 6, breast_cancer"),
    ("s14", "section 6, noisy_features"),
    ("s16", "with correction, a child of one row"),
    ("s17", "Eq. 22 as printed"),
    ("s17", "Eq. 23 as printed"),
    ("s22", "mean of all rows"),
    ("s23", "two sides"),
    ("s30", "features that a tree does not test"),
    ("s31", "rows, noisy_features"),
}


def test_verdicts_of_the_identities(table):
    found = list(identities.statements(table))
    verdicts = findings.verdicts(found)
    assert len(verdicts) == 30
    assert all(e[0] <= f["value"] <= e[1] for f in found if (e := f["expected"]))
    assert {key for key, verdict in verdicts.items() if verdict == "differs"} == DIFFERING
    assert {key[0] for key, verdict in verdicts.items() if verdict == "undecided"} <= {"s21"}
    assert verdicts["s21", "canceling, PassengerId, trees against forest"] == "holds"
    # So it is by definition, and no evidence.
    assert {f["counts"] for f in found if f["statement"] == "s30"} == {claims.IDENTITY}


def test_products_in_the_nodes_are_decreases_without_weights():
    """Of -p_in^2 and of -p_in p_oob, which Eq. 22 and 23 print."""
    for tree in small(3)[4]:
        p_in, p_oob = tree.means["inbag"], tree.means["oob"]
        for kind, impurity in (("inbag", -(p_in**2)), ("oob", -p_in * p_oob)):
            # A column at a time: a decrease adds no columns up.
            decreases = _by_rows.decrease(tree, impurity, kind, weighted=False)
            assert np.allclose(_by_rows.products_a_node(tree, kind), decreases, rtol=0, atol=1e-12)
            assert not np.allclose(decreases, _by_rows.decrease(tree, impurity, kind), atol=0.01)


@cache
def small(n_classes=2):
    """A small bagged forest, full depth: model, forest, training data, trees, and their CFC."""
    X, y = whole_numbers("classes" if n_classes else "values", 40, 4, 0)
    y = np.minimum(y, n_classes - 1) if n_classes else y
    model = RandomForestClassifier if n_classes else RandomForestRegressor
    model = model(3, random_state=0, max_features=2).fit(X, y)
    trees = _by_rows.trees(model, X, y)
    return model, to_forest(model, X), X, y, trees, [_by_rows.contributions(t) for t in trees]


def small_pg(forest, X, y, **changes):
    """Penalized Gini by fractions, per row."""
    settings = {"correction": "none", "min_child_inbag": 0, "min_child_oob": 0, "per_row": True}
    return twins_oob.penalized_gini(forest, X, y, **{**settings, **changes})


def decrease(forest, X, y, c, node, weights):
    """Decrease of node(p_in, p_oob) of class c, by fractions."""
    targets = twins_oob.one_hot(forest, y)

    def impurity(inbag, oob):
        p_in = sum(targets[i][c] for i in inbag) / len(inbag)
        return node(p_in, sum(targets[i][c] for i in oob) / len(oob) if oob else 0)

    return twins_oob.decreases(forest, X, impurity, weights, lambda n_in, n_oob: True, True)


@pytest.mark.parametrize("n_classes", [2, 3, None])
def test_sums_over_rows_equal_the_twins(n_classes):
    """Of the artefact's own other side, which reads scikit-learn's trees."""
    _, forest, X, y, trees, cfc = small(n_classes)

    def mean(function):
        return np.mean([function(*pair) for pair in zip(trees, cfc, strict=True)], axis=0)

    def impurity_of_ufi(tree, f):
        return _by_rows.decrease(tree, _by_rows.zhou_hooker(tree), "inbag", needs_outside=True)

    eq18 = mean(lambda tree, f: _by_rows.eq18(tree)).sum(axis=1)
    assert are_equal(eq18, twins_oob.squared_error(forest, X, y))
    for kind in ("inbag", "oob"):
        ours = mean(lambda tree, f, kind=kind: _by_rows.eq10(tree, f, kind)).sum(axis=1)
        assert are_equal(ours, twins_oob.restricted_products(forest, X, y, kind))
        if n_classes:
            ours = mean(lambda tree, f, kind=kind: _by_rows.eq11(tree, f, kind))[:, 1]
            twin = twins_oob.restricted_products(forest, X, y, kind, [1], "targets")
            assert are_equal(ours, twin)
    if n_classes:
        assert are_equal(mean(impurity_of_ufi)[:, 0], twins_oob.ufi(forest, X, y))


def are_equal(a, b):
    return twins.largest_error(a, b) <= twins.ROUNDING


@pytest.mark.parametrize("n_classes", [2, 3, None])
def test_s12_mdi_is_the_covariance_of_cfc_and_y(n_classes):
    model, forest, X, y, trees, cfc = small(n_classes)
    theirs = [e.tree_.compute_feature_importances(normalize=False) for e in model.estimators_]
    twin = twins_oob.restricted_products(forest, X, y, "inbag")
    assert are_equal(twin, np.mean(theirs, axis=0))
    if n_classes == 2:
        of_one_class = twins_oob.restricted_products(forest, X, y, "inbag", [1])
        assert are_equal(2 * of_one_class, twin)
    for tree, f in zip(trees, cfc, strict=True):
        counts = tree.times["inbag"]
        for k, c in np.ndindex(f.shape[1:]):
            covariance = np.cov(f[:, k, c], tree.targets[:, c], ddof=0, fweights=counts.astype(int))
            assert covariance[0, 1] == pytest.approx(_by_rows.covariance(tree, f)[k, c], abs=1e-12)
            assert np.average(f[:, k, c], weights=counts) == pytest.approx(0, abs=1e-12)


def test_s13_eq_11_is_eq_10_over_the_mean_of_y_of_each_tree():
    """Only there: over several trees, and as "MDI =", it is not."""
    _, forest, X, y, *_ = small()
    ratios = []
    for tree in twins_oob.trees(forest):
        ten, eleven = (
            twins_oob.restricted_products(tree, X, y, "inbag", [1], by)
            for by in ("rows", "targets")
        )
        share = np.average(y, weights=tree.inbag[0])
        assert are_equal(share * eleven, ten)
        ratios.append(1 / share)
    assert min(ratios) > 1 and np.ptp(ratios) > 0.01


def test_s14_pg_12_is_eq_18_and_not_mdi_oob():
    for n_classes in (2, 3):
        _, forest, X, y, *_ = small(n_classes)
        pg_12 = small_pg(forest, X, y, alpha=1, penalty=2, weights="oob")
        assert are_equal(pg_12, twins_oob.squared_error(forest, X, y))
        mdi_oob = twins_oob.restricted_products(forest, X, y)
        best = pg_12 @ mdi_oob / (pg_12 @ pg_12)
        for factor in (1.0, 0.5, best):
            assert twins.largest_error(factor * pg_12, mdi_oob) > 0.05


def test_s14_difference_is_what_the_theory_says():
    """2 sum f y less the decrease of sum p_in^2 is Eq. 18; in-bag these two are equal."""
    _, forest, X, y, *_ = small()
    by_kind = {}
    for kind in ("inbag", "oob"):
        squares = sum(decrease(forest, X, y, c, lambda p, q: -(p**2), kind) for c in (0, 1))
        by_kind[kind] = squares, twins_oob.restricted_products(forest, X, y, kind)
    assert are_equal(*by_kind["inbag"])
    squares, products = by_kind["oob"]
    error = twins.largest_error(2 * products - squares, twins_oob.squared_error(forest, X, y))
    assert error <= twins.ROUNDING < twins.largest_error(squares, products)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_s15_pg_051_is_ufi_and_with_other_weights_mdi_oob(n_classes):
    _, forest, X, y, *_ = small(n_classes)
    parameters = {"alpha": 0.5, "penalty": 1}
    inbag = small_pg(forest, X, y, **parameters, weights="inbag", min_child_oob=1)
    oob = small_pg(forest, X, y, **parameters, weights="oob")
    ufi, mdi_oob = twins_oob.ufi(forest, X, y), twins_oob.restricted_products(forest, X, y)
    assert are_equal(inbag, ufi)
    assert are_equal(oob, mdi_oob)
    assert twins.largest_error(ufi, mdi_oob) > 0.05


@pytest.mark.parametrize("n_classes", [2, 3, None])
def test_s22_and_s23_a_forest_predicts_from_the_means_of_its_samples(n_classes):
    """Not from that of all rows; and means of absolute values are above absolute means."""
    _, forest, X, _, trees, cfc = small(n_classes)
    roots = [tree.means["inbag"][0] for tree in trees]
    predicted = twins.predict(forest, X)
    total = np.mean(roots, axis=0) + np.mean(cfc, axis=0).sum(axis=1)
    assert np.allclose(predicted, total, rtol=0, atol=1e-12)
    everywhere = trees[0].targets.mean(axis=0)
    assert np.abs(np.mean(roots, axis=0) - everywhere).max() > 0.001
    sides = np.abs(np.mean(cfc, axis=0)).sum(axis=0), np.mean(np.abs(cfc), axis=0).sum(axis=0)
    assert (sides[0] <= sides[1] + 1e-12).all() and (sides[0] < 0.99 * sides[1]).any()


@pytest.mark.long
def test_s21_contributions_of_noise_cancel_most_if_it_has_many_values(table):
    """And those of relevant features less than those of noise with as few values."""
    rows = table[table["part"] == "canceling"].set_index("quantity")
    relevant, few_values, many_values = (
        rows.loc[f"{identities.LEFT}, {kind}", "value"]
        for kind in (identities.RELEVANT, identities.FEW_VALUES, identities.MANY_VALUES)
    )
    assert relevant > few_values > many_values
    model, _, X, y, _, cfc = small()
    left_over = identities.left_over(model, X, y)
    cfc = np.array(cfc)[:, :, :, 1]
    for k, share in enumerate(left_over):
        total = np.abs(cfc[:, :, k]).sum()
        by_hand = sum(abs(sum(row)) for row in cfc[:, :, k].T) / total if total else 1
        assert share == pytest.approx(by_hand, rel=1e-12)


def test_s21_a_number_has_more_of_the_trees_than_of_the_forest(table):
    """On the Titanic, of the mean absolute contributions, which cancel in the forest."""
    value = table[table["data"] == "titanic"].set_index("quantity")["value"]
    assert 0.1 < value[identities.OF_FOREST] < value[identities.OF_TREES] - 0.05 < 0.5


@pytest.mark.parametrize("n_classes", [2, 3, None])
def test_s30_shap_of_a_feature_that_a_tree_does_not_test_is_zero(n_classes):
    """Even of a copy of one that it does test, which tells as much about y."""
    model, _, X, y, *_ = small(n_classes)
    X = np.column_stack([X, X])
    model = clone(model).set_params(max_depth=2).fit(X, y)
    n_untested = 0
    for estimator in model.estimators_:
        tested = set(estimator.tree_.feature)
        forest = to_forest(estimator)
        untested = [j for j in range(X.shape[1]) if j not in tested]
        n_untested += len(untested)
        values = splitcredit.tree_shap(forest, X).values
        assert (values[:, untested] == 0).all()
        assert (np.abs(values).sum(axis=(0, 2)) > 0).sum() == X.shape[1] - len(untested)
        assert (twins.tree_shap_by_subsets(forest, X[:3])[:, untested] == 0).all()
    assert n_untested


def test_s31_shap_and_cfc_of_noise_go_together_less_than_of_what_tells_y(table):
    """And those of shallow trees more than those of full ones."""
    rows = table[(table["part"] == "alike") & (table["data"] == "noisy_features")]
    full = rows[rows["depth"].isna()].set_index("quantity")["value"]
    shallow = rows[rows["depth"] == 3].set_index("quantity")["value"]
    noise, relevant = (
        f"{identities.ALIKE_ROWS}, {kind}" for kind in (identities.NOISE, identities.RELEVANT)
    )
    assert full[noise] < full[identities.ALIKE_ROWS] < full[relevant]
    assert shallow[identities.ALIKE_ROWS] > 0.9 > full[identities.ALIKE_ROWS]
    assert shallow[noise] < shallow[relevant]


def test_s32_the_same_function_gives_cfc_by_the_order_of_its_tests():
    """Exclusive or: what is tested first gets nothing. Or: both get the same, in either order."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    found = {}
    for name, y in (("or", [0, 1, 1, 1]), ("xor", [0, 1, 1, 0])):
        for row in depth.orders(X, np.array(y), ("a", "b")):
            found[name, row["quantity"], row["feature"], row["depth"]] = row["value"]
    for feature in ("a", "b"):
        # P(y = 1) is 3/4 at the root, 1/2 or 1 below it, and 0 or 1 below the first of these.
        cfc, shap = (
            [found["or", f"mean |{of}|", feature, level] for level in (0, 1)]
            for of in ("CFC", "SHAP")
        )
        assert cfc == pytest.approx([1 / 4, 1 / 4]) and shap[0] == pytest.approx(shap[1])
    assert [found["xor", "mean |CFC|", "a", level] for level in (0, 1)] == [0, 0.5]
    shap = [found["xor", "mean |SHAP|", "a", level] for level in (0, 1)]
    assert shap == pytest.approx([0.25, 0.25])
    # Halves are as even as the values allow.
    X = np.array([[1.0, 5.0], [1.0, 6.0], [2.0, 7.0], [3.0, 8.0], [3.0, 9.0], [3.0, 9.0]])
    assert depth.halves(X).tolist() == [[0, 0], [0, 0], [0, 0], [1, 1], [1, 1], [1, 1]]


def mean_gain(n_left, n_right, p, corrected):
    """Mean over all labels of the rows, each worth its probability; doubled Gini, per row."""

    def gini(labels):
        n, q = len(labels), Fraction(sum(labels), len(labels))
        return 2 * q * (1 - q) * (Fraction(n, n - 1) if corrected and n > 1 else 1)

    n, total = n_left + n_right, Fraction(0)
    for y in product((0, 1), repeat=n):
        left, right = y[:n_left], y[n_left:]
        after = (n_left * gini(left) + n_right * gini(right)) / n
        total += p ** sum(y) * (1 - p) ** (n - sum(y)) * (gini(y) - after)
    return total


@pytest.mark.parametrize("shape", [(2, 2), (2, 4), (1, 5), (6, 1), (1, 1)])
def test_s16_bias_without_correction_and_with_children_of_one_row(shape):
    p, n_single = Fraction(3, 10), shape.count(1)
    bias = 2 * p * (1 - p) / sum(shape)
    assert mean_gain(*shape, p, corrected=False) == bias
    assert mean_gain(*shape, p, corrected=True) == n_single * bias
    for score, mean in (("pg_10", bias), ("pg_hat_10", n_single * bias)):
        assert _useless_split.expected(score, *shape, 0.3) == pytest.approx(float(mean))


@pytest.mark.parametrize("shape", [(2, 2), (2, 5), (1, 5), (6, 1), (1, 1), (1, 0), (0, 3)])
def test_s26_half_a_row_is_left_by_each_child_of_one_row(shape):
    """With fair coins for labels; a node of one row is not corrected itself, and leaves nothing."""
    chance = np.outer(*(_useless_split._binomial(n, 0.5) for n in shape))
    gain = sum(shape) * (chance * _useless_split.gains_of_outcomes(*shape)["pg_hat_10"]).sum()
    forest, X, y = _useless_split.one_split(shape[0], 0, shape[1], 0)
    (children,) = single_children_in_a_tree(forest, X, y)
    assert children == (shape.count(1) if sum(shape) > 1 else 0)
    assert gain == pytest.approx(children / 2)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_s17_squares_and_products_of_fractions_are_impurities(n_classes):
    _, forest, X, y, *_ = small(n_classes)
    for c in range(n_classes):
        for kind, node in (("inbag", lambda p, q: -p * p), ("oob", lambda p, q: -p * q)):
            ours = decrease(forest, X, y, c, node, kind)
            twin = twins_oob.restricted_products(forest, X, y, kind, [c])
            assert are_equal(ours, twin)
