"""The equations of sections 5, 6 and 8, on random forests, and the bias of 8.3 by simulation.

Each identity is measured with the library's functions on one side and plain sums over rows of
scikit-learn's trees on the other. Eq. 18 to 21 are of one node; they are summed over the nodes,
each with its weight N_n(t) / |D|. Eq. 22 and 23 lack this weight in print; they are measured with
and without it.
Eq. 11 has "MDI =" where it should have "proportional to", and section 6 says that PG(1, 2) is
MDI-oob, which PG(0.5, 1) with out-of-bag weights is.

The table also has what sections 4 and 7 say of SHAP values and contributions (CFC) of any forest.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from reproduction import models
from reproduction.datasets import noisy_features, scikit_learn, titanic
from reproduction.papers import around, finding
from reproduction.papers.loecher2022 import _by_rows, _useless_split
from reproduction.papers.loecher2022._titanic import ID
from reproduction.papers.loecher2022.figure4 import VERY_HIGH, VERY_HIGH_REASON
from reproduction.parameters import Count, Seed
from splitcredit import to_forest
from splitcredit.kernels.compiled import threads
from splitcredit.measures import mdi, mdi_oob, penalized_gini, saabas, tree_shap, ufi

# Basis: rounding. Importances are at most 1 or so, and are sums over some ten thousand float64.
ROUNDING = 1e-12
# Standard errors of a mean over data sets.
K = 3.0
# Largest distance of a simulated mean from its formula, in standard errors.
DEVIATION = 4.0
_DEVIATION = "of 16 normal means one is further away with a probability of 0.001 at most"
DEPTHS = (3, None)
# The five relevant features are among the first so many. All later features have more values.
CANDIDATES = 10
RELEVANT, FEW_VALUES = "relevant features", "noise with few values"
MANY_VALUES, NOISE = "noise with many values", "noise"
# Of the first, more of the contributions should be left than of the second.
PAIRS = ((FEW_VALUES, MANY_VALUES), (RELEVANT, FEW_VALUES))
OF_TREES, OF_FOREST = (f"share of {ID}, CFC of the {of}" for of in ("trees", "forest"))
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
COLUMNS = "part statement quantity data depth n_left n_right p n value size".split()
COLUMNS += ["standard_error", "exact", "expected"]


def compute(
    inputs,
    n_forests: Count = 3,
    n_trees: Count = 20,
    n_trees_counter: Count = 100,
    n_canceling: Count = 16,
    n_trees_alike: Count = 100,
    n_draws: Count = 2_000_000,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Largest error of each identity, the counter-examples and the simulated biases.

    ``n`` counts forests, trees of one forest, data sets or draws; ``size`` is the largest number
    that was compared. In units of the impurity, which for ``diabetes`` is the variance of a target
    with variance 1. Part ``canceling``: how much of the contributions is left when those of the
    trees are added up, over data sets. ``simulation``: mean decrease per row of a score, in doubled
    Gini impurity, at a useless split; ``exact`` by enumeration of all outcomes, ``expected`` by the
    formula.
    """
    with threads(1):  # small forests: threads would wait for each other
        rows = _measured(n_forests, n_trees, seed)
        rows += _counter_examples(n_trees_counter, seed)
        rows += _of_canceling(n_canceling, n_trees_counter, seed)
        rows += _of_likeness(n_trees_alike, seed)
        simulated = _useless_split.simulate(n_draws, seed)
    rows += [{"part": "simulation", "statement": "s16", **row} for row in simulated]
    integer_types = {name: "Int64" for name in ("depth", "n_left", "n_right", "n")}
    return pd.DataFrame(rows, columns=COLUMNS).astype(integer_types)


def cases(seed: int) -> dict[str, tuple[str, np.ndarray, np.ndarray]]:
    """Kind of the forest and rows: 2, 3 and 10 classes, Table 1's simulation, and a number."""
    by_name = {
        "breast_cancer": scikit_learn.breast_cancer(),
        "wine": scikit_learn.wine(),
        "digits": scikit_learn.digits(rows=500),
        "noisy_features": noisy_features.load(random_state=seed),
    }
    diabetes = load_diabetes()
    y = (diabetes.target - diabetes.target.mean()) / diabetes.target.std()
    classes = {name: ("Classifier", data.X, data.y) for name, data in by_name.items()}
    return classes | {"diabetes": ("Regressor", diabetes.data, y)}


def _fit(case, n_trees, depth, seed, mtry=3):
    kind, X, y = case
    recipe = {"estimator": f"RandomForest{kind}", "n_estimators": n_trees, "random_state": seed}
    recipe |= {"max_features": mtry, "max_depth": depth}
    return models.fit(recipe, X, y), X, y


def _measured(n_forests, n_trees, seed):
    """The identities: largest difference over the forests of a data set and depth."""
    found = {}
    for repeat in range(seed, seed + n_forests):
        for name, case in cases(repeat).items():
            for depth in DEPTHS:
                for s, q, error, size in differences(*_fit(case, n_trees, depth, repeat)):
                    found.setdefault((s, q, name, depth), []).append((error, size))
    rows = []
    for (statement, quantity, name, depth), pairs in sorted(found.items(), key=lambda p: p[0][0]):
        value, size = np.max(pairs, axis=0)
        key = {"part": "identity", "statement": statement, "quantity": quantity, "data": name}
        rows.append({**key, "depth": depth, "n": n_forests, "value": value, "size": size})
    return rows


def _counter_examples(n_trees, seed):
    for name, case in cases(seed).items():
        if case[0] == "Classifier":
            key = {"part": "counter-example", "data": name, "n": n_trees}
            for s, q, value in counter_example(*_fit(case, n_trees, None, seed)):
                yield {**key, "statement": s, "quantity": q, "value": value}


def _of_canceling(n_data_sets, n_trees, seed):
    """Shares by the kind of feature; features of one data set share its outcomes and its forest."""
    for name, measure in (("noisy_features", _of_canceling_on), ("titanic", _of_canceling_of_id)):
        by_kind = pd.DataFrame([measure(r, n_trees) for r in range(seed, seed + n_data_sets)])
        key = {"part": "canceling", "statement": "s21", "data": name, "n": n_data_sets}
        for quantity, v in by_kind.items():
            error = v.std() / np.sqrt(n_data_sets)
            yield {**key, "quantity": quantity, "value": v.mean(), "standard_error": error}


def _of_canceling_on(repeat, n_trees):
    """Mean shares on one data set by the kind of feature, and their differences."""
    data = noisy_features.load(random_state=repeat)
    fitted = _fit(("Classifier", data.X, data.y), n_trees, None, repeat)
    shares = left_over(*fitted)
    places = np.arange(len(shares))
    relevant, first = np.isin(places, data.relevant), places < CANDIDATES
    kinds = {RELEVANT: relevant, FEW_VALUES: first & ~relevant, MANY_VALUES: ~first}
    means = {kind: shares[features].mean() for kind, features in kinds.items()}
    pairs = {_less(larger, smaller): means[larger] - means[smaller] for larger, smaller in PAIRS}
    return {f"{LEFT}, {name}": value for name, value in (means | pairs).items()}


def _of_canceling_of_id(repeat, n_trees):
    """PassengerId's share in the mean absolute CFC of a forest, and of its trees one by one."""
    data = titanic.load()
    fitted = _fit(("Classifier", data.X, data.y), n_trees, None, repeat, mtry=2)
    sides = sides_of_eq9(contributions_of(*fitted))
    place = data.feature_names.index(ID)
    of_forest, of_trees = (side[place] / side.sum() for side in sides)
    shares = {OF_TREES: of_trees, OF_FOREST: of_forest}
    return {**shares, _less(OF_TREES, OF_FOREST): of_trees - of_forest}


def _of_likeness(n_trees, seed):
    """Correlations of SHAP values and CFC, of shallow and of full trees."""
    for name, case in cases(seed).items():
        if case[0] != "Classifier":
            continue
        kinds = {}
        if name == "noisy_features":
            relevant = noisy_features.load(random_state=seed).relevant
            is_relevant = np.isin(np.arange(case[1].shape[1]), relevant)
            kinds = {RELEVANT: is_relevant, NOISE: ~is_relevant}
        for depth in DEPTHS:
            model, X, _ = _fit(case, n_trees, depth, seed)
            key = {"part": "alike", "statement": "s31", "data": name, "depth": depth, "n": n_trees}
            for quantity, value in likeness(model, X, kinds):
                yield {**key, "quantity": quantity, "value": value}


def _less(larger, smaller):
    return f"{larger} less {smaller}"


# Both sides of every identity: the library's measures, and sums over rows from `_by_rows`.


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
        yield ("s12", EQ10_TWICE, values, 2 * eq10[:, 1])
        yield ("s12", EQ10_TWICE, values, 2 * class_1)
        yield ("s12", COVARIANCE_TWICE, values, 2 * covariance[:, 1])


def _products(forest, X, y, rows, **options):
    return mdi_oob.mdi_oob(forest, X, y, rows=rows, **options).values


def _of_classes(forest, X, y, trees, cfc):
    """Identities of class fractions only: Eq. 11, UFI, MDI-oob, Eq. 22 and 23."""
    p_in, p_oob = ([tree.means[kind] for tree in trees] for kind in ("inbag", "oob"))
    # Three classes are enough: the other classes of digits would only take more time.
    for c in range(min(forest.n_outputs, 3)):
        yield from _of_eq11(forest, X, y, trees, cfc, c)
        squares = [-(p[:, [c]] ** 2) for p in p_in]
        crossed = [-p[:, [c]] * q[:, [c]] for p, q in zip(p_in, p_oob, strict=True)]
        # Eq. 22 is divided by the number of rows, Eq. 23 by nothing.
        for kind, impurity, n, right, printed, by_nodes in (
            ("inbag", squares, len(y), EQ22, EQ22_PRINTED, EQ22_NODES),
            ("oob", crossed, 1, EQ23, EQ23_PRINTED, EQ23_NODES),
        ):
            products = _products(forest, X, y, kind, output=c)
            yield ("s17", right, products, _decrease(trees, impurity, kind))
            yield ("s17", printed, products, _decrease(trees, impurity, kind, weighted=False) / n)
            nodes = [_by_rows.products_a_node(tree, kind)[:, c] for tree in trees]
            yield ("s17", by_nodes, products, np.mean(nodes, axis=0) / n)
    yield from _of_ufi(forest, X, y, trees, cfc)


def _decrease(trees, impurities, kind, **options):
    """Decrease of impurities of one column, mean over the trees."""
    pairs = zip(trees, impurities, strict=True)
    return np.mean([_by_rows.decrease(*pair, kind, **options)[:, 0] for pair in pairs], axis=0)


def _of_eq11(forest, X, y, trees, cfc, c):
    """Eq. 11 is Eq. 10 over the mean of y, which differs by tree."""
    pairs = list(zip(trees, cfc, strict=True))
    for kind in ("inbag", "oob"):
        ten = np.array([_by_rows.eq10(*pair, kind)[:, c] for pair in pairs])
        eleven = np.array([_by_rows.eq11(*pair, kind)[:, c] for pair in pairs])
        share = np.array([[np.average(t.targets[:, c], weights=t.times[kind])] for t in trees])
        kernel = _products(forest, X, y, kind, output=c, divide_by="targets")
        yield ("s13", EQ11, share * eleven, ten)
        yield ("s13", EQ11_KERNEL, kernel, eleven.mean(axis=0))
        yield ("s13", EQ11_PRINTED, eleven.mean(axis=0), ten.mean(axis=0))
        yield ("s13", EQ11_FACTOR, (ten / share).mean(axis=0), ten.mean(axis=0))


def _of_ufi(forest, X, y, trees, cfc):
    """UFI and MDI-oob: PG(0.5, 1) with in-bag and with out-of-bag weights."""
    pg = [_by_rows.pg_051(tree) for tree in trees]
    zhou_hooker = [_by_rows.zhou_hooker(tree) for tree in trees]
    by_ufi = _decrease(trees, zhou_hooker, "inbag", needs_outside=True)
    by_cfc = _mean(lambda tree, f: _by_rows.eq10(tree, f, "oob"), trees, cfc).sum(axis=1)
    ours = penalized_gini.importances(forest, X, y, ("ufi", "mdi_oob"))
    unbiased, products = ufi.ufi(forest, X, y).values, _products(forest, X, y, "oob")
    return [
        ("s15", UFI, unbiased, by_ufi),
        ("s15", UFI_PG, unbiased, _decrease(trees, pg, "inbag", needs_outside=True)),
        ("s15", UFI_PG, ours["ufi"].values, by_ufi),
        ("s15", OOB_KERNEL, products, by_cfc),
        ("s15", OOB_PG, products, _decrease(trees, pg, "oob")),
        ("s15", PG_OOB, ours["mdi_oob"].values, by_cfc),
    ]


def sides_of_eq9(cfc) -> tuple[np.ndarray, np.ndarray]:
    """Sums over the rows of |mean over the trees of f_T| and of the mean over them of |f_T|."""
    return np.abs(np.mean(cfc, axis=0)).sum(axis=0), np.mean(np.abs(cfc), axis=0).sum(axis=0)


def contributions_of(model, X, y) -> list[np.ndarray]:
    """CFC of every tree to the last class, (n_samples, n_features)."""
    return [_by_rows.contributions(tree)[:, :, -1] for tree in _by_rows.trees(model, X, y)]


def left_over(model, X, y) -> np.ndarray:
    """Share of the contributions that remains when those of the trees are added up, section 7."""
    left, right = sides_of_eq9(contributions_of(model, X, y))
    return np.divide(left, right, out=np.ones_like(right), where=right > 0)


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
    return [
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


def _from_best_multiple(score, other):
    """Largest distance of another score from the multiple of this one that comes closest to it."""
    best = score @ other / (score @ score)  # by least squares
    return np.abs(best * score - other).max()


def likeness(model, X, kinds) -> list[tuple[str, float]]:
    """Correlations of SHAP values and CFC of the last class: (quantity, value)."""
    forest = to_forest(model, X)
    scores = [
        explain(forest, X, output=forest.n_outputs - 1).values[:, :, 0]
        for explain in (tree_shap.attribute, saabas.attribute)
    ]
    pairs = {ALIKE_ROWS: [values.ravel() for values in scores]}
    pairs[ALIKE_MEANS] = [np.abs(values).mean(axis=0) for values in scores]
    for kind, features in kinds.items():
        pairs[f"{ALIKE_ROWS}, {kind}"] = [values[:, features].ravel() for values in scores]
    return [(quantity, float(np.corrcoef(*pair)[0, 1])) for quantity, pair in pairs.items()]


# (statement, variant): what is measured; the quantities of which the largest difference decides; of
# an equation that is wrong in print, the quantity by which the cause on file predicts it.
_UNWEIGHTED = "largest error without the weight of the node"
IDENTITIES = {
    ("s12", "MDI"): (
        "largest error of MDI = Eq. 10 = covariance, twice it for one class of two",
        [SKLEARN, EQ10, COVARIANCE, EQ10_TWICE, COVARIANCE_TWICE, CFC],
    ),
    ("s12", "sum is zero"): ("largest mean of a CFC over the bootstrap sample", [ZERO]),
    ("s13", "identity"): (
        "largest error of Eq. 11 = Eq. 10 / mean of y of the tree",
        [EQ11, EQ11_KERNEL],
    ),
    ("s14", "Eq. 18"): (
        "largest error of Eq. 18 = PG(1,2), half of it for one class of two",
        [EQ18, EQ18_HALF],
    ),
    ("s15", "in-bag weights"): ("largest error of UFI = PG(0.5,1)", [UFI, UFI_PG]),
    ("s15", "MDI-oob, out-of-bag weights"): (
        "largest error of MDI-oob = PG(0.5,1)",
        [OOB_KERNEL, OOB_PG, PG_OOB],
    ),
    ("s17", "-p_in^2"): ("largest error with the weight of the node put in (Eq. 22)", [EQ22]),
    ("s17", "-p_in p_oob"): ("largest error with the weight of the node put in (Eq. 23)", [EQ23]),
    ("s22", "mean of the tree's sample"): ("largest error of Eq. 7, tree by tree", [LOCAL]),
    ("s22", "mean of all rows"): (
        "largest error of Eq. 7 of the forest, with the mean of all rows",
        [LOCAL_ALL],
        ROOTS,
    ),
    ("s23", "two sides"): (
        "largest difference of the two sides of Eq. 9, over the right one",
        [EQ9],
        CANCELED,
    ),
    ("s13", "as printed"): (
        "largest difference of Eq. 10 and 11, which are only proportional",
        [EQ11_PRINTED],
        EQ11_FACTOR,
    ),
    ("s17", "Eq. 22 as printed"): (_UNWEIGHTED, [EQ22_PRINTED], EQ22_NODES),
    ("s17", "Eq. 23 as printed"): (_UNWEIGHTED, [EQ23_PRINTED], EQ23_NODES),
}
READINGS = {
    ("s22", "mean of all rows"): "the global mean is read as that of all rows of the data",
}
ERROR = (0.0, None)
# Equations that the proof of a statement passes through; they are not what it states.
PROVED = {("s14", "Eq. 18")}
# Data on which section 6 is shown not to hold.
COUNTER_EXAMPLES = ("breast_cancer", "noisy_features")


def statements(table):
    """s12 to s17, s22, s23, s30; of s13 the identity; of s21 that contributions cancel; s31."""
    identity = table[table["part"] == "identity"].groupby("quantity")["value"].max()
    for key, (measured, quantities, *predicted) in IDENTITIES.items():
        yield finding(
            *(*key, measured, identity[quantities].max(), ROUNDING),
            reading=READINGS.get(key, ""),
            beside=key in PROVED,
            possible=ERROR,
            expected=around(identity[predicted[0]], ROUNDING) if predicted else None,
        )
    # A value that is not 0 would violate missingness; by the theory of TreeSHAP none is.
    measured = "largest |SHAP| of a feature that a tree does not test"
    place = ("s30", "features that a tree does not test", measured, identity[UNTESTED], ROUNDING)
    options = {"possible": ERROR, "expected": around(0.0, ROUNDING), "identity": True}
    yield finding(*place, "at least", **options)
    # Of PG(1, 2) and MDI-oob, whatever factor lies between them.
    counter_examples = table[table["part"] == "counter-example"]
    for name in COUNTER_EXAMPLES:
        value = counter_examples[counter_examples["data"] == name].set_index("quantity")["value"]
        measured = "largest difference of MDI-oob and the multiple of PG(1,2) that fits best; "
        measured += f"MDI-oob is {value['largest MDI-oob']:.2g} at most, its correlation with "
        measured += f"PG(1,2) {value['correlation of PG(1,2) and MDI-oob']:.4f}"
        place = ("s14", f"section 6, {name}", measured, value[BEST], ROUNDING)
        expected = around(value[BEST_PREDICTED], ROUNDING)
        yield finding(*place, possible=ERROR, expected=expected)
    yield from _of_noise(table[table["part"] == "canceling"])
    yield from _of_alike(table[table["part"] == "alike"])
    yield from _of_bias(table[table["part"] == "simulation"])


def _of_noise(table):
    """s21: whether contributions cancel more where overfitting is, and where nothing tells y."""
    rows = table.set_index("quantity")
    left = "share of the CFC that is left when those of the trees are added up: "
    quantities = [
        (f"{larger} against {smaller}", left, f"{LEFT}, ", _less(larger, smaller))
        for larger, smaller in PAIRS
    ]
    quantities.append((f"{ID}, trees against forest", "", "", _less(OF_TREES, OF_FOREST)))
    for variant, beginning, prefix, name in quantities:
        row = rows.loc[prefix + name]
        difference, width = row["value"], K * row["standard_error"]
        of = "data sets" if row["data"] == "noisy_features" else "forests"
        measured = f"{beginning}{name}; {K:.0f} standard errors over {row['n']} {of}"
        options = {"interval": around(difference, width), "possible": (-1.0, 1.0)}
        place = ("s21", f"canceling, {variant}", measured, difference, 0.0, "at least")
        yield finding(*place, basis="monte-carlo", **options)


def _of_alike(table):
    """s31: values of every data set, and of all of them the means; of full trees."""
    full = table[table["depth"].isna()]
    options = {"reading": VERY_HIGH_REASON, "possible": (-1.0, 1.0)}
    least = full.loc[full["quantity"] == ALIKE_MEANS, "value"].min()
    measured = "smallest correlation of mean |SHAP| and mean |CFC| over the features of a data set"
    yield finding("s31", "features", measured, least, VERY_HIGH, "at least", **options)
    measured = "correlation of SHAP and CFC over all rows and features"
    for name, rows in full.groupby("data", sort=False):
        value = rows.set_index("quantity")["value"]
        expected = None
        if name == "noisy_features":
            # Between that of noise, which deep trees fit, and that of what tells y.
            expected = tuple(value[f"{ALIKE_ROWS}, {kind}"] for kind in (NOISE, RELEVANT))
        place = ("s31", f"rows, {name}", measured, value[ALIKE_ROWS], VERY_HIGH, "at least")
        yield finding(*place, expected=expected, **options)


def _of_bias(table):
    """s16: means of the simulation and of the enumeration against the formulas."""
    raw, hat = (table[table["quantity"] == score] for score in _useless_split.SCORES)
    has_single = hat[["n_left", "n_right"]].min(axis=1) == 1
    simulated = f"; standard errors of {table['n'].max()} draws"
    single, words = hat[has_single], "largest distance of the mean from"
    bias = (single["expected"] / single["standard_error"]).max()
    of_single = {"reading": _useless_split.SINGLE_CHILD, "expected": around(bias, DEVIATION)}
    each = "the same from sigma^2 / N for each such child"
    for variant, rows, formula, measured, predicted in (
        ("without correction", raw, raw["expected"], f"{words} sigma^2 / N", {}),
        ("with correction", hat[~has_single], 0.0, f"{words} 0", {}),
        ("with correction, a child of one row", single, 0.0, f"{words} 0", of_single),
        ("size of that bias", single, single["expected"], each, {}),
    ):
        distance = ((rows["value"] - formula).abs() / rows["standard_error"]).max()
        options = {"basis": "monte-carlo", "reason": _DEVIATION, "possible": ERROR, **predicted}
        yield finding("s16", variant, measured + simulated, distance, DEVIATION, **options)
    error = (table["exact"] - table["expected"]).abs().max()
    measured = "largest error of the formulas against the enumeration of all outcomes"
    yield finding("s16", "formulas", measured, error, ROUNDING, possible=ERROR)
