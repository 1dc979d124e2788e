"""Both sides of every identity: the library's measures, and sums over rows from `_by_rows`."""

import numpy as np

from reproduction.papers.loecher2022 import _by_rows
from splitcredit import to_forest
from splitcredit.measures import mdi, mdi_oob, penalized_gini, saabas, tree_shap, ufi

# Quantities as they appear in the table, by statement.
SKLEARN = "MDI - scikit-learn's, not normalized"
EQ10 = "MDI - Eq. 10, summed over the columns of y"
COVARIANCE = "MDI - covariance of CFC and y, summed over the columns"
EQ10_TWICE = "Gini MDI - 2 x Eq. 10, one class of two"
COVARIANCE_TWICE = "Gini MDI - 2 x covariance of CFC and y, one class of two"
ZERO = "mean of CFC over the bootstrap sample"
CFC = "CFC: kernel - Eq. 8"
LOCAL = "prediction of a tree - mean of its sample - sum of CFC"
LOCAL_ALL = "prediction of the forest - mean of all rows - sum of CFC"
LEFT = "share of CFC that is left over the trees"
EQ9 = "two sides of Eq. 9, over the right side"
EQ11 = "Eq. 11 x mean of y - Eq. 10, tree by tree"
EQ11_KERNEL = "Eq. 11, in-bag and out-of-bag: kernel - rows"
EQ11_PRINTED = "Eq. 11 - Eq. 10, equal as printed"
EQ18 = "PG(1,2) - Eq. 18, summed over the columns of y"
EQ18_HALF = "PG(1,2) / 2 - Eq. 18, one class of two"
UFI = "UFI - mean of 1 - p_in(y) over out-of-bag rows"
UFI_PG = "UFI - PG(0.5,1), Eq. 14, in-bag weights"
OOB_KERNEL = "MDI-oob: kernel - rows"
OOB_PG = "MDI-oob - PG(0.5,1), Eq. 14, out-of-bag weights"
PG_OOB = "PG(0.5,1), out-of-bag weights: kernel - MDI-oob by rows"
EQ22 = "Eq. 10, one class - decrease of -p_in^2"
EQ23 = "MDI-oob, one class - decrease of -p_in p_oob"
EQ22_PRINTED = "Eq. 22 as printed, without weights"
EQ23_PRINTED = "Eq. 23 as printed, without weights, summed over the nodes"
UNTESTED = "SHAP of features that a tree does not test"
# What the causes on file predict of equations that are wrong in print, by another way.
ROOTS = "mean of the roots of the trees - mean of all rows"
CANCELED = "share of CFC whose sign is that of fewer"
EQ11_FACTOR = "Eq. 10 / mean of y of the tree - Eq. 10"
EQ22_NODES = "Eq. 10, one class - mean products in the nodes, over the rows"
EQ23_NODES = "MDI-oob, one class - mean products in the nodes"
BEST, BEST_PREDICTED = (
    f"best multiple of {score} - MDI-oob" for score in ("PG(1,2)", "2 sum f y less squares")
)
ALIKE_ROWS, ALIKE_MEANS = (
    f"correlation of SHAP and CFC, {what}" for what in ("values", "means of features")
)


def differences(model, X, y) -> list[tuple[str, str, float, float]]:
    """Largest difference of the two sides of each identity, on one fitted forest."""
    forest, trees = to_forest(model, X), _by_rows.trees(model, X, y)
    cfc = [_by_rows.contributions(tree) for tree in trees]
    sides = [*_of_cfc(model, X, trees, cfc), *_of_mdi(forest, model, X, y, trees, cfc)]
    pg_12 = penalized_gini.penalized_gini(forest, X, y, preset="pg_12", per_row=True).values
    eq18 = _mean(_by_rows.eq18, trees)
    sides.append(("s14", EQ18, pg_12, eq18.sum(axis=1)))
    if forest.n_outputs > 1:
        sides += _of_classes(forest, X, y, trees, cfc)
    if forest.n_outputs == 2:
        sides.append(("s14", EQ18_HALF, pg_12 / 2, eq18[:, 1]))
    return [(s, q, np.abs(a - b).max(), np.abs(a).max()) for s, q, a, b in sides]


def _mean(function, *lists):
    """Mean over the trees."""
    return np.mean([function(*arguments) for arguments in zip(*lists, strict=True)], axis=0)


def _of_cfc(model, X, trees, cfc):
    """Contributions: their mean over the bootstrap sample, Eq. 7 and the two sides of Eq. 9."""
    predict = getattr(model, "predict_proba", model.predict)
    for estimator, tree, rows in zip(model.estimators_, trees, cfc, strict=True):
        kernel = saabas.attribute(to_forest(estimator), X).values
        share = tree.times["inbag"] / tree.times["inbag"].sum()
        means = [np.einsum("i,ikd->kd", share, f) for f in (kernel, rows)]
        yield from [("s12", CFC, kernel, rows), ("s12", ZERO, np.array(means), 0.0)]
        predicted = getattr(estimator, "predict_proba", estimator.predict)(X).reshape(len(X), -1)
        yield ("s22", LOCAL, predicted, tree.means["inbag"][0] + rows.sum(axis=1))
        shap = tree_shap.attribute(to_forest(estimator), X).values
        untested = ~np.isin(np.arange(tree.n_features), tree.feature)
        yield ("s30", UNTESTED, shap * untested[:, None], 0.0)
    forest = np.mean(cfc, axis=0)
    summed = trees[0].targets.mean(axis=0) + forest.sum(axis=1)
    yield ("s22", LOCAL_ALL, predict(X).reshape(len(X), -1), summed)
    roots = np.mean([tree.means["inbag"][0] for tree in trees], axis=0)
    yield ("s22", ROOTS, roots, trees[0].targets.mean(axis=0))
    left_side, right_side = sides_of_eq9(cfc)
    is_tested = right_side > 0
    yield ("s23", EQ9, left_side[is_tested] / right_side[is_tested], 1.0)
    parts = [np.mean(np.maximum(sign * np.array(cfc), 0), axis=0) for sign in (1, -1)]
    fewer = 2 * np.minimum(*parts).sum(axis=0)[is_tested]
    yield ("s23", CANCELED, fewer / right_side[is_tested], 0.0)


def _of_mdi(forest, model, X, y, trees, cfc):
    """MDI by the library against scikit-learn, Eq. 10 and the covariance."""
    values, product = mdi.mdi(forest).values, _products(forest, X, y, "inbag")
    theirs = [e.tree_.compute_feature_importances(normalize=False) for e in model.estimators_]
    eq10 = _mean(lambda tree, f: _by_rows.eq10(tree, f, "inbag"), trees, cfc)
    covariance = _mean(_by_rows.covariance, trees, cfc)
    yield ("s12", SKLEARN, values, np.mean(theirs, axis=0))
    yield ("s12", EQ10, values, eq10.sum(axis=1))
    yield ("s12", EQ10, product, eq10.sum(axis=1))
    yield ("s12", COVARIANCE, values, covariance.sum(axis=1))
    if forest.n_outputs == 2:
        class_1 = _products(forest, X, y, "inbag", output=1)
        yield from [
            ("s12", EQ10_TWICE, values, 2 * eq10[:, 1]),
            ("s12", EQ10_TWICE, values, 2 * class_1),
            ("s12", COVARIANCE_TWICE, values, 2 * covariance[:, 1]),
        ]


def _products(forest, X, y, rows, **options):
    return mdi_oob.mdi_oob(forest, X, y, rows=rows, **options).values


def _of_classes(forest, X, y, trees, cfc):
    """Identities of class fractions only: Eq. 11, UFI, MDI-oob, Eq. 22 and 23."""
    p_in, p_oob = ([tree.means[kind] for tree in trees] for kind in ("inbag", "oob"))
    # Three classes are enough: the other classes of digits would only take more time.
    for c in range(min(forest.n_outputs, 3)):
        products = {kind: _products(forest, X, y, kind, output=c) for kind in ("inbag", "oob")}
        yield from _of_eq11(forest, X, y, trees, cfc, c)
        squares = [-(p[:, [c]] ** 2) for p in p_in]
        crossed = [-p[:, [c]] * q[:, [c]] for p, q in zip(p_in, p_oob, strict=True)]
        for kind, impurity, right, printed, by_nodes in (
            ("inbag", squares, EQ22, EQ22_PRINTED, EQ22_NODES),
            ("oob", crossed, EQ23, EQ23_PRINTED, EQ23_NODES),
        ):
            by_rows = _decrease(trees, impurity, kind)
            yield ("s17", right, products[kind], by_rows)
            # Eq. 22 is divided by the number of rows, Eq. 23 by nothing.
            n = len(y) if kind == "inbag" else 1
            unweighted = _decrease(trees, impurity, kind, weighted=False) / n
            yield ("s17", printed, products[kind], unweighted)
            nodes = [_by_rows.products_a_node(tree, kind)[:, c] for tree in trees]
            yield ("s17", by_nodes, products[kind], np.mean(nodes, axis=0) / n)
    yield from _of_ufi(forest, X, y, trees, cfc)


def _decrease(trees, impurities, kind, **options):
    """Decrease of impurities of one column, mean over the trees."""
    pairs = zip(trees, impurities, strict=True)
    return np.mean([_by_rows.decrease(*pair, kind, **options)[:, 0] for pair in pairs], axis=0)


def _of_eq11(forest, X, y, trees, cfc, c):
    """Eq. 11 is Eq. 10 over the mean of y, which differs by tree."""
    for kind in ("inbag", "oob"):
        ten, eleven, share = [], [], []
        for tree, f in zip(trees, cfc, strict=True):
            ten.append(_by_rows.eq10(tree, f, kind)[:, c])
            eleven.append(_by_rows.eq11(tree, f, kind)[:, c])
            share.append([np.average(tree.targets[:, c], weights=tree.times[kind])])
        ten, eleven, share = map(np.array, (ten, eleven, share))
        kernel = _products(forest, X, y, kind, output=c, divide_by="targets")
        yield from [
            ("s13", EQ11, share * eleven, ten),
            ("s13", EQ11_KERNEL, kernel, eleven.mean(axis=0)),
            ("s13", EQ11_PRINTED, eleven.mean(axis=0), ten.mean(axis=0)),
            ("s13", EQ11_FACTOR, (ten / share).mean(axis=0), ten.mean(axis=0)),
        ]


def _of_ufi(forest, X, y, trees, cfc):
    """UFI and MDI-oob: PG(0.5, 1) with in-bag and with out-of-bag weights."""
    pg = [_by_rows.pg_051(tree) for tree in trees]
    zhou_hooker = [_by_rows.zhou_hooker(tree) for tree in trees]
    by_ufi = _decrease(trees, zhou_hooker, "inbag", needs_outside=True)
    by_inbag = _decrease(trees, pg, "inbag", needs_outside=True)
    by_oob = _decrease(trees, pg, "oob")
    by_cfc = _mean(lambda tree, f: _by_rows.eq10(tree, f, "oob"), trees, cfc).sum(axis=1)
    ours = penalized_gini.importances(forest, X, y, ("ufi", "mdi_oob"))
    unbiased, products = ufi.ufi(forest, X, y).values, _products(forest, X, y, "oob")
    return [
        ("s15", UFI, unbiased, by_ufi),
        ("s15", UFI_PG, unbiased, by_inbag),
        ("s15", UFI_PG, ours["ufi"].values, by_ufi),
        ("s15", OOB_KERNEL, products, by_cfc),
        ("s15", OOB_PG, products, by_oob),
        ("s15", PG_OOB, ours["mdi_oob"].values, by_cfc),
    ]


def sides_of_eq9(cfc) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the rows of |mean over the trees of f_T| and of the mean over them of |f_T|."""
    left_side, right_side = (
        np.abs(f).sum(axis=0) for f in (np.mean(cfc, axis=0), np.mean(np.abs(cfc), axis=0))
    )
    return left_side, right_side


def contributions_of(model, X, y) -> list[np.ndarray]:
    """CFC of every tree to the last class, (n_samples, n_features)."""
    return [_by_rows.contributions(tree)[:, :, -1] for tree in _by_rows.trees(model, X, y)]


def left_over(model, X, y) -> np.ndarray:
    """Share of the contributions that remains when those of the trees are added up, section 7."""
    left_side, right_side = sides_of_eq9(contributions_of(model, X, y))
    return np.divide(left_side, right_side, out=np.ones_like(right_side), where=right_side > 0)


def counter_example(model, X, y) -> list[tuple[str, str, float]]:
    """Distances of PG(1, 2), and of UFI, from MDI-oob: (statement, quantity, value).

    The cause that is on file predicts the distance of PG(1, 2): by rows, it is twice the sum of f y
    less the decrease of -sum p_in^2, of out-of-bag rows.
    """
    forest = to_forest(model, X)
    theirs = mdi_oob.mdi_oob(forest, X, y).values
    pg_12 = penalized_gini.penalized_gini(forest, X, y, preset="pg_12", per_row=True).values
    unbiased = ufi.ufi(forest, X, y).values
    trees = _by_rows.trees(model, X, y)
    cfc = map(_by_rows.contributions, trees)
    products = _mean(lambda tree, f: _by_rows.eq10(tree, f, "oob").sum(axis=1), trees, cfc)
    squares = [-(tree.means["inbag"] ** 2).sum(axis=1, keepdims=True) for tree in trees]
    by_rows = 2 * products - _decrease(trees, squares, "oob")
    quantities = [
        ("s14", "PG(1,2) - MDI-oob", np.abs(pg_12 - theirs).max()),
        ("s14", "PG(1,2) / 2 - MDI-oob", np.abs(pg_12 / 2 - theirs).max()),
        ("s14", BEST, _from_best_multiple(pg_12, theirs)),
        ("s14", BEST_PREDICTED, _from_best_multiple(by_rows, products)),
        ("s14", "correlation of PG(1,2) and MDI-oob", np.corrcoef(pg_12, theirs)[0, 1]),
        ("s14", "largest MDI-oob", np.abs(theirs).max()),
        ("s14", "sum of PG(1,2)", pg_12.sum()),
        ("s14", "sum of MDI-oob", theirs.sum()),
        ("s15", "UFI - MDI-oob", np.abs(unbiased - theirs).max()),
        ("s15", "correlation of UFI and MDI-oob", np.corrcoef(unbiased, theirs)[0, 1]),
    ]
    return [(s, q, float(v)) for s, q, v in quantities]


def _from_best_multiple(score, other):
    """Largest distance of another score from the multiple of this one that comes closest to it."""
    best = score @ other / (score @ score)  # by least squares
    return np.abs(best * score - other).max()


def alike(model, X, kinds) -> list[tuple[str, float]]:
    """Correlations of SHAP values and CFC of the last class: (quantity, value)."""
    forest = to_forest(model, X)
    scores = [
        explain(forest, X, output=forest.n_outputs - 1).values[:, :, 0]
        for explain in (tree_shap.attribute, saabas.attribute)
    ]
    means = [np.abs(values).mean(axis=0) for values in scores]
    of_kinds = [
        (f"{ALIKE_ROWS}, {kind}", [values[:, features].ravel() for values in scores])
        for kind, features in kinds.items()
    ]
    pairs = [(ALIKE_ROWS, [values.ravel() for values in scores]), (ALIKE_MEANS, means), *of_kinds]
    return [(quantity, float(np.corrcoef(*pair)[0, 1])) for quantity, pair in pairs]
