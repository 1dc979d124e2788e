"""Theorems 1 to 4 and the other statements that can be settled exactly.

Most are checked by enumeration on random discrete distributions, some on built ones, on led, or
(Eq. 9) on finite forests. None of these numbers is printed in the paper.
"""

from itertools import combinations

import numpy as np
import pandas as pd

from reproduction import models, theory
from reproduction.datasets import led, scikit_learn
from reproduction.papers import finding
from reproduction.papers.sutera2021 import table1, table2
from reproduction.parameters import Count, Seed
from splitcredit import to_forest
from splitcredit.measures import local_mdi, mdi, saabas, tree_shap

# Basis: rounding. A value is a sum of at most some hundred float64 of size at most 4 or so.
ROUNDING = 1e-12
# A value of at least this is not 0: it is a million times the rounding.
MARGIN = 1e-6
_MARGIN_REASON = "a million times what rounding makes of 0 here: this or more is not 0"

# (statement, quantity): how the cases are reduced to a value, and if it is judged the limit and the
# variant of the finding that it decides.
# "max" and "sum" must be at most the limit, "min" and "mean" at least.
QUANTITIES = {
    ("s01", "Eq. 4 - Shapley value"): ("max", ROUNDING, "stated"),
    ("s01", "infinite forest - Eq. 4"): ("max", ROUNDING, "stated"),
    ("s02", "sum - I(Y;V)"): ("max", ROUNDING, "stated"),
    ("s03", "Eq. 10 - Shapley value"): ("max", ROUNDING, "stated"),
    ("s03", "infinite forest - Eq. 10"): ("max", ROUNDING, "stated"),
    ("s04", "unbagged: mean of local - global MDI, relative"): ("max", ROUNDING, "stated"),
    ("s04", "bagged: mean of local - global MDI, relative"): ("min", MARGIN, "bagged"),
    ("s05", "Eq. 11"): ("max", ROUNDING, "stated"),
    ("s05", "Eq. 12"): ("max", ROUNDING, "stated"),
    ("s06", "disagreements"): ("sum", 0.0, "stated"),
    ("s06", "relevant, yet irrelevant at some x"): ("sum", None, None),
    ("s07", "local MDI where locally irrelevant"): ("max", ROUNDING, "stated"),
    ("s07", "converse: local MDI, built"): ("max", ROUNDING, "stated"),
    ("s07", "converse: change of P(Y), built"): ("min", MARGIN, "converse"),
    ("s08", "largest local MDI of a relevant input"): ("min", MARGIN, "stated"),
    ("s09", "sum - I(Y;V), every K"): ("max", ROUNDING, "stated"),
    ("s09", "sum - v_loc(V;x), every K"): ("max", ROUNDING, "stated"),
    ("s09", "MDI of null players, every K"): ("max", ROUNDING, "stated"),
    ("s09", "local MDI of local null players, every K"): ("max", ROUNDING, "stated"),
    ("s10", "example 1: condition of monotonicity holds by"): ("min", MARGIN, "stated"),
    ("s10", "example 1: monotonicity fails by"): ("min", MARGIN, "stated"),
    ("s10", "symmetric inputs: difference of v, built"): ("max", ROUNDING, "premise"),
    ("s10", "symmetric inputs: MDI differs for K=1, built"): ("max", ROUNDING, "premise"),
    ("s10", "symmetric inputs: MDI differs for K=2 and 3, built"): ("min", MARGIN, "stated"),
    ("s11", "MDI of a strongly relevant input, every K"): ("min", MARGIN, "stated"),
    ("s12", "example 2: -Imp(X1,0)"): ("min", MARGIN, "example 2"),
    ("s12", "share of negative cells"): ("mean", MARGIN, "random distributions"),
    ("s13", "SAGE / ln 2 - Eq. 4, led"): ("max", ROUNDING, "stated"),
    ("s13", "SAGE / ln 2 - Eq. 4, random"): ("max", ROUNDING, "stated"),
    ("s14", "Saabas - Shapley value, led"): ("max", ROUNDING, "stated"),
    ("s14", "Saabas - Shapley value, random"): ("max", ROUNDING, "stated"),
    ("s24", "largest error of s01 to s09"): ("max", ROUNDING, "stated"),
    ("s24", "regression forests: mean of local - global MDI, relative"): (
        "max",
        ROUNDING,
        "stated",
    ),
    # Two sentences of appendix F that do not hold; see `_appendix_f`.
    ("s24", "MDI of a relevant input, built"): ("min", MARGIN, "irrelevance by the variance"),
    ("s24", "footnote 9: change of H(Y) where P(Y) changes, built"): ("min", MARGIN, "footnote 9"),
    ("s25", "smallest marginal contribution"): ("min", -ROUNDING, "stated"),
    ("s26", "MDI of a relevant input, K = 1"): ("min", MARGIN, "stated"),
    ("s27", "v of symmetric inputs"): ("max", ROUNDING, "stated"),
    ("s27", "MDI of symmetric inputs"): ("max", ROUNDING, "stated"),
    ("s28", "v_loc of symmetric inputs"): ("max", ROUNDING, "stated"),
    ("s28", "local MDI of symmetric inputs"): ("max", ROUNDING, "stated"),
    ("s29", "lead in MDI"): ("min", -ROUNDING, "stated"),
    ("s30", "lead in local MDI"): ("min", -ROUNDING, "stated"),
    ("s31", "mirrored inputs: difference of v, built"): ("max", ROUNDING, "premise"),
    ("s31", "mirrored inputs: difference of MDI, K = 1, built"): ("max", ROUNDING, "premise"),
    ("s31", "mirrored inputs: difference of MDI, K = 2, built"): ("min", MARGIN, "stated"),
    ("s32", "mirrored inputs: difference of v_loc, built"): ("max", ROUNDING, "premise"),
    ("s32", "mirrored inputs: difference of local MDI, K = 1, built"): ("max", ROUNDING, "premise"),
    ("s32", "mirrored inputs: difference of local MDI, K = 2, built"): ("min", MARGIN, "stated"),
    ("s33", "noisy copy: MDI, K = 2, built"): ("max", ROUNDING, "stated"),
    ("s33", "noisy copy: MDI, K = 1, built"): ("min", MARGIN, "premise"),
    ("s34", "sum - I(Y;V), fully grown, K > 1"): ("max", ROUNDING, "fully grown"),
    ("s34", "I(Y;V) - sum, one split short of fully grown, K > 1"): ("min", MARGIN, "not before"),
    ("s35", "binary trees: sum - I(Y;V)"): ("max", ROUNDING, "sum, and two values"),
    ("s35", "binary trees - Eq. 4, two values"): ("max", ROUNDING, "sum, and two values"),
    ("s35", "binary trees - Eq. 4, three values"): ("mean", MARGIN, "stated"),
    ("s36", "sum of attributions - prediction"): ("max", ROUNDING, "stated"),
    ("s37", "classes renamed: change of local MDI, relative"): ("max", ROUNDING, "classes"),
    ("s37", "output doubled: change of local MDI, relative"): ("max", ROUNDING, "regression"),
    ("s37", "output doubled: change of TreeSHAP, relative"): ("max", None, None),
    ("s37", "classes: difference of TreeSHAP of one row"): ("max", None, None),
    ("s40", "TreeSHAP - Shapley value of the Bayes classifier, K = 1"): ("max", None, None),
    ("s40", "K > 1: the same, more than for K = 1"): ("min", MARGIN, "K > 1"),
    ("s40", "two splits deep: the same, more than for fully grown"): ("min", MARGIN, "pruned"),
    ("s45", "disagreements, X_m <= x_m and B = x_B"): ("sum", 0.0, "X_m alone"),
    ("s45", "disagreements, X_m <= x_m and B <= x_B"): ("sum", 0.0, "all"),
}

# Bits of the ten classes of led, rounded up; other numbers are bits of fewer classes, squares of
# numbers of about 1, or differences of probabilities. Only s37 has larger ones, a ratio.
_LARGEST = 4.0
# What the causes on file predict where a statement does not hold.
EXPECTED = {
    # Mean and variance stay, and so does the entropy when two probabilities change places.
    ("s24", "irrelevance by the variance"): (-ROUNDING, ROUNDING),
    ("s24", "footnote 9"): (-ROUNDING, ROUNDING),
    # Squared units: four times, so three times as much is added.
    ("s37", "regression"): (3 - ROUNDING, 3 + ROUNDING),
    # An irrelevant input that has information about Y through another one, and one that is
    # relevant in one context only: both occur.
    ("s45", "all"): (2, None),
}

# Variants that stand beside a statement: a premise, and forests that do not meet one.
BESIDE = ("premise", "bagged")
# (statement, variant): the name of the measured value. The limits of one are of one kind.
FINDINGS = {
    ("s01", "stated"): "largest error of Eq. 4 against Shapley values and forests",
    ("s02", "stated"): "largest difference of the sum and I(Y;V)",
    ("s03", "stated"): "largest error of Eq. 10 against Shapley values and forests",
    ("s04", "stated"): "largest relative error of Eq. 9 without bootstrap",
    ("s04", "bagged"): "smallest relative error of Eq. 9 with bootstrap",
    ("s05", "stated"): "largest error of Eq. 11 and 12",
    ("s06", "stated"): "inputs for which the two definitions disagree",
    ("s07", "stated"): "largest local MDI where locally irrelevant, and built case",
    ("s07", "converse"): "change of P(Y) where local MDI is 0, built case",
    ("s08", "stated"): "smallest of the largest local MDI of a relevant input",
    ("s09", "stated"): "largest error of a sum or a null player, every K",
    ("s10", "stated"): "smallest failure of monotonicity and symmetry",
    ("s10", "premise"): "asymmetry of v, and of MDI for K = 1, in the built case",
    ("s11", "stated"): "smallest MDI of a strongly relevant input, every K",
    ("s12", "example 2"): "least of -Imp(X1, 0), in bits",
    ("s12", "random distributions"): "share of negative cells",
    ("s13", "stated"): "largest difference of SAGE / ln 2 and Eq. 4",
    ("s14", "stated"): "largest difference of Saabas and Shapley values of P(y|x_S)",
    ("s24", "stated"): "largest error of s01 to s09, and of Eq. 9 in regression",
    ("s24", "irrelevance by the variance"): (
        "least variance importance of a relevant input, built case"
    ),
    ("s24", "footnote 9"): "change of H(Y) at an x where an input changes P(Y), built case",
    ("s25", "stated"): "smallest marginal contribution to I(Y;S)",
    ("s26", "stated"): "smallest MDI of a relevant input, K = 1",
    ("s27", "stated"): "largest difference between symmetric inputs, of v and MDI, K = 1",
    ("s28", "stated"): "the same of v_loc and local MDI",
    ("s29", "stated"): "smallest lead in MDI where every contribution leads, K = 1",
    ("s30", "stated"): "smallest lead in local MDI where every contribution leads, K = 1",
    ("s31", "stated"): "difference of MDI for K = 2 of two distributions with one v",
    ("s31", "premise"): "difference of their v, and of their MDI for K = 1",
    ("s32", "stated"): "difference of local MDI for K = 2 of two distributions with one v_loc",
    ("s32", "premise"): "difference of their v_loc, and of their local MDI for K = 1",
    ("s33", "stated"): "MDI of a noisy copy, K = 2",
    ("s33", "premise"): "MDI of a noisy copy, K = 1",
    ("s34", "fully grown"): "largest difference of the sum and I(Y;V), K > 1",
    ("s34", "not before"): "what is missing one split short of fully grown",
    ("s35", "stated"): "mean difference of binary trees and Eq. 4, an input of three values",
    ("s35", "sum, and two values"): (
        "largest difference of the sum, and of Eq. 4 if all inputs have two values"
    ),
    ("s36", "stated"): "largest difference of sum and prediction, Saabas and TreeSHAP",
    ("s37", "classes"): "change of local MDI when classes are renamed, relative",
    ("s37", "regression"): "change of local MDI when the output is doubled, relative",
    ("s40", "K > 1"): "smallest growth of the bias on led from K = 1",
    ("s40", "pruned"): "growth of the bias on led from fully grown trees",
    ("s45", "X_m alone"): "disagreements by X_m <= x_m and B = x_B",
    ("s45", "all"): "disagreements by X_m <= x_m and B <= x_B",
}


def compute(inputs, n_distributions: Count = 135, seed: Seed = 0) -> pd.DataFrame:
    """Largest errors, counts and margins of each statement.

    Columns: ``statement``, ``quantity``, ``impurity``, ``value``, ``n`` (cases). In units of the
    impurity: bits, probabilities, or the square of random numbers of size 1. Differences are
    absolute.
    """
    cases = [*_built(), *_appendix_f(), *_led(), *_forests(), *_totals(), *_scaled()]
    cases += theory.axioms(
        theory.symmetric_distributions(n_distributions, seed),
        theory.pairs_of_outputs(n_distributions, seed),
    )
    for joint in theory.random_distributions(n_distributions, seed):
        cases += theory.cases(joint)
    rows = list(_put_together(cases))
    rows += [_generalized(rows, impurity) for impurity in ("gini", "variance")]
    order = list(QUANTITIES)
    rows.sort(key=lambda r: order.index((r["statement"], r["quantity"])))
    return pd.DataFrame(rows)


def statements(table: pd.DataFrame):
    """Findings that decide each statement; a statement with several of them holds if all do."""
    by_statement = {s: rows.to_dict("records") for s, rows in table.groupby("statement")}
    for (statement, variant), measured in FINDINGS.items():
        rows = by_statement[statement]
        judged = [(row["value"], *QUANTITIES[statement, row["quantity"]]) for row in rows]
        values, reductions, limits, _ = zip(*(j for j in judged if j[3] == variant), strict=True)
        (kind,) = {"at most" if r in ("max", "sum") else "at least" for r in reductions}
        extreme = max if kind == "at most" else min
        limit = extreme(limits)
        options = {"reading": _MARGIN_REASON} if limit == MARGIN else {}
        largest = max(row["n"] for row in rows) if "sum" in reductions else _LARGEST
        options["possible"] = (0 if kind == "at most" else -largest, largest)
        options["expected"] = EXPECTED.get((statement, variant))
        options["beside"] = variant in BESIDE
        yield finding(statement, variant, measured, extreme(values), limit, kind, **options)


def _put_together(cases):
    groups = {}
    for statement, quantity, impurity, values in cases:
        groups.setdefault((statement, quantity, impurity), []).append(np.ravel(values))
    for (statement, quantity, impurity), arrays in groups.items():
        values = np.concatenate(arrays)
        reduction = QUANTITIES[statement, quantity][0]
        values = np.abs(values) if reduction == "max" else values
        key = {"statement": statement, "quantity": quantity, "impurity": impurity}
        if len(values):
            yield {**key, "value": float(getattr(np, reduction)(values)), "n": len(values)}


def _generalized(rows, impurity):
    """Appendix F: all errors with another impurity than the entropy."""
    errors = [
        row
        for row in rows
        if row["impurity"] == impurity
        and row["statement"] <= "s09"
        and QUANTITIES[row["statement"], row["quantity"]][:2] == ("max", ROUNDING)
    ]
    return {
        "statement": "s24",
        "quantity": "largest error of s01 to s09",
        "impurity": impurity,
        "value": max(row["value"] for row in errors),
        "n": sum(row["n"] for row in errors),
    }


def _led():
    """Statements 13, 14 and 40 on led: of binary inputs, so scikit-learn's K = 1 is the paper's."""
    joint = theory.JointDistribution.from_rows(led.SEGMENTS, np.arange(10))
    path = theory.InfiniteForest(led.SEGMENTS, np.arange(10), k=1).saabas(led.SEGMENTS)
    games = [theory.prediction_game(joint, x) for x in led.SEGMENTS.astype(int)]
    shapley = np.array([theory.shapley_values(joint.n_features, game) for game in games])
    return [
        ("s13", "SAGE / ln 2 - Eq. 4, led", "entropy", theory.sage_less_mdi(joint)),
        ("s14", "Saabas - Shapley value, led", "entropy", path - shapley),
        *_tree_shap_of_led(shapley),
    ]


def _tree_shap_of_led(shapley):
    """Statement 40: how far TreeSHAP is from the Shapley values of the Bayes classifier."""
    # Fully grown trees predict every digit as the Bayes classifier does. Only their predictions
    # for rows of which a part is known depend on K and on the depth.
    X, y = led.SEGMENTS, np.arange(10)

    def bias(values):
        return np.abs(values - shapley).max()

    by_k = [bias(theory.InfiniteForest(X, y, k).tree_shap(X)) for k in range(1, 8)]
    recipe = _recipe("ExtraTreesClassifier", "entropy", False)
    pruned = to_forest(models.fit(recipe | {"n_estimators": 1000, "max_depth": 2}, X, y))
    of_pruned = bias(tree_shap.attribute(pruned, X).values)
    words = "the same, more than for"
    return [
        ("s40", "TreeSHAP - Shapley value of the Bayes classifier, K = 1", "any", by_k[0]),
        ("s40", f"K > 1: {words} K = 1", "any", np.array(by_k[1:]) - by_k[0]),
        ("s40", f"two splits deep: {words} fully grown", "any", of_pruned - by_k[0]),
    ]


def _built():
    """Statements 7, 10, 12, 31 to 33 and 45 on distributions that are made for them."""
    swap = theory.swapping_input()
    example = table1.joints()
    # X1 (j = 0) tells more about Y1 than about Y2, and X2 less, whatever else is known.
    sign = {0: 1, 1: -1}
    leads = [
        s * (theory.information(example["Y1"], j, b) - theory.information(example["Y2"], j, b))
        for j, s in sign.items()
        for b in ((), (1 - j,))
    ]
    imp = {name: theory.MultiwayForest(joint, 2).mdi() for name, joint in example.items()}
    fails = [s * (imp["Y2"][j] - imp["Y1"][j]) for j, s in sign.items()]
    symmetric = theory.symmetric_inputs()
    v = theory.information_game(symmetric)
    differ = [np.ptp(theory.MultiwayForest(symmetric, k).mdi()[:2]) for k in (1, 2, 3)]
    example2 = table2.compute({}).set_index("quantity")["value"]
    copy, hidden = theory.noisy_copy(), theory.hidden_dependence()
    assert theory.relevant(copy).all()
    v_differs = [v((0, *b)) - v((1, *b)) for b in ((), (2,))]
    quantities = [
        ("s07", "converse: local MDI, built", theory.local_mdi_totally_randomized(swap, (1,))),
        ("s07", "converse: change of P(Y), built", theory.local_change(swap, (1,))),
        ("s10", "example 1: condition of monotonicity holds by", leads),
        ("s10", "example 1: monotonicity fails by", fails),
        ("s10", "symmetric inputs: difference of v, built", v_differs),
        ("s10", "symmetric inputs: MDI differs for K=1, built", differ[:1]),
        ("s10", "symmetric inputs: MDI differs for K=2 and 3, built", differ[1:]),
        ("s12", "example 2: -Imp(X1,0)", -example2["Imp(X1,0)"]),
        ("s33", "noisy copy: MDI, K = 2, built", theory.MultiwayForest(copy, 2).mdi()[1]),
        ("s33", "noisy copy: MDI, K = 1, built", theory.MultiwayForest(copy, 1).mdi()[1]),
        *_mirrored(),
    ]
    rows = [(statement, quantity, "entropy", values) for statement, quantity, values in quantities]
    for words, all_inputs in (("B = x_B", False), ("B <= x_B", True)):
        has_change = theory.cumulative_change(hidden, all_inputs) > theory.relevance.EQUAL
        quantity = f"disagreements, X_m <= x_m and {words}"
        rows.append(("s45", quantity, "any", has_change != theory.relevant(hidden)))
    return rows


def _mirrored():
    """Two distributions with one game whose forests with K = 2 differ: one, and its mirror."""
    # X_1 and X_2 are symmetric in the game, so that their changing places leaves it alone.
    for statement, joint, (of_game, of_forest), x in (
        ("s31", theory.symmetric_inputs(), ("v", "MDI"), None),
        ("s32", theory.locally_alike_inputs(), ("v_loc", "local MDI"), (0, 0)),
    ):
        pair = joint, theory.JointDistribution(joint.probability.swapaxes(0, 1))
        games = [theory.information_game(j) if x is None else theory.local_game(j, x) for j in pair]
        p = joint.n_features
        coalitions = [s for k in range(p + 1) for s in combinations(range(p), k)]
        worth = np.array([games[0](s) - games[1](s) for s in coalitions])
        yield (statement, f"mirrored inputs: difference of {of_game}, built", worth)
        for k in (1, 2):
            forests = [theory.MultiwayForest(j, k) for j in pair]
            first, second = (f.mdi() if x is None else f.local_mdi(x) for f in forests)
            quantity = f"mirrored inputs: difference of {of_forest}, K = {k}, built"
            yield (statement, quantity, np.abs(first - second).max())


def _appendix_f():
    """Two sentences of appendix F that do not hold, each by one built distribution.

    "The link between the irrelevance of X_m and Imp(X_m)" does not extend to the variance, because
    a relevant input may leave mean and variance as they are. And footnote 9 does not hold: local
    irrelevance defined by the entropy is weaker than by Definition 2.
    """
    unseen, swap = theory.equal_moments(), theory.swapping_input()
    assert theory.relevant(unseen).all() and theory.locally_relevant(swap, (1,)).all()
    local = [theory.local_mdi_totally_randomized(unseen, (x,), "variance") for x in range(2)]
    values = [theory.mdi_totally_randomized(unseen, "variance"), *local]
    change = theory.local_change(swap, (1,), "entropy")
    return [
        ("s24", "MDI of a relevant input, built", "variance", np.array(values)),
        ("s24", "footnote 9: change of H(Y) where P(Y) changes, built", "entropy", change),
    ]


def _forests():
    """Eq. 9 on finite forests. Bagged ones are grown on other rows than those averaged over."""
    wines = scikit_learn.wine()
    cases = [(data.X, data.y) for data in (scikit_learn.iris(), wines)]
    quantity = "mean of local - global MDI, relative"
    for criterion in ("entropy", "gini"):
        for bootstrap, word in ((False, "unbagged"), (True, "bagged")):
            errors = [_eq9("Classifier", c, criterion, bootstrap) for c in cases]
            yield ("s04", f"{word}: {quantity}", criterion, np.array(errors))
    # The alcohol of a wine from its other properties.
    errors = _eq9("Regressor", (wines.X[:, 1:], wines.X[:, 0]), "squared_error", False)
    yield ("s24", f"regression forests: {quantity}", "variance", errors)


def _totals():
    """Statement 36: Saabas and TreeSHAP on forests that are not fully grown, every class."""
    errors = []
    for data in (scikit_learn.iris(), scikit_learn.wine()):
        for bootstrap in (False, True):
            recipe = _recipe("RandomForestClassifier", "entropy", bootstrap) | {"max_depth": 4}
            forest = to_forest(models.fit(recipe, data.X, data.y))
            for measure in (saabas, tree_shap):
                totals = measure.attribute(forest, data.X).totals()
                errors.append(totals - forest.predict(data.X))
    return [("s36", "sum of attributions - prediction", "any", np.concatenate(errors))]


def _scaled():
    """Statement 37: forests of the same rows with renamed classes, and with the output doubled."""
    flowers, wines = scikit_learn.iris(), scikit_learn.wine()
    recipe = _recipe("ExtraTreesClassifier", "entropy", False)
    fitted = [to_forest(models.fit(recipe, flowers.X, y)) for y in (flowers.y, (flowers.y + 1) % 3)]
    of_classes = tree_shap.attribute(fitted[0], flowers.X).values
    # The alcohol of a wine from its other properties.
    recipe = _recipe("ExtraTreesRegressor", "squared_error", False)
    X, y = wines.X[:, 1:], wines.X[:, 0]
    doubled = [to_forest(models.fit(recipe, X, scale * y)) for scale in (1, 2)]

    def changed(measure, forests, rows):
        before, after = (measure.attribute(forest, rows).values for forest in forests)
        return np.abs(after - before).max() / np.abs(before).max()

    renamed = changed(local_mdi, fitted, flowers.X)
    spread = np.ptp(of_classes, axis=2).max()
    words = "output doubled: change of"
    return [
        ("s37", "classes renamed: change of local MDI, relative", "entropy", renamed),
        ("s37", f"{words} local MDI, relative", "variance", changed(local_mdi, doubled, X)),
        ("s37", f"{words} TreeSHAP, relative", "variance", changed(tree_shap, doubled, X)),
        ("s37", "classes: difference of TreeSHAP of one row", "any", spread),
    ]


def _recipe(estimator, criterion, bootstrap):
    recipe = {"estimator": estimator, "n_estimators": 50, "random_state": 0}
    max_features = 1 if estimator.startswith("Extra") else "sqrt"
    return recipe | {"max_features": max_features, "criterion": criterion, "bootstrap": bootstrap}


def _eq9(kind, rows, criterion, bootstrap):
    """Largest difference of the two sides of Eq. 9, a share of the largest MDI; two forests."""
    errors = []
    for estimator in (f"ExtraTrees{kind}", f"RandomForest{kind}"):
        recipe = _recipe(estimator, criterion, bootstrap)
        forest = to_forest(models.fit(recipe, *rows))
        mean = local_mdi.attribute(forest, rows[0]).values[:, :, 0].mean(axis=0)
        global_mdi = mdi.mdi(forest).values
        errors.append(np.abs(mean - global_mdi).max() / global_mdi.max())
    return np.array(errors)
