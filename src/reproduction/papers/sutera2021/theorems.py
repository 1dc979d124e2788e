"""Theorems 1 to 4 and the other statements that can be settled exactly.

Most are checked by enumeration on random discrete distributions, some on built ones, on led, or
(Eq. 9) on finite forests. None of these numbers is printed in the paper.
"""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from reproduction import models, storage, theory
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

# Each quantity: how its cases are reduced to a value, and if it is judged the limit and the variant
# of the finding that it decides; the first of a finding says what is measured. "max" and "sum" must
# be at most the limit, "min" and "mean" at least. The limits of one finding are of one kind.
QUANTITIES = {
    (row["statement"], row["quantity"]): row
    for row in storage.read_rows(Path(__file__).with_suffix(".csv"))
}
LIMITS = {"zero": 0.0, "rounding": ROUNDING, "-rounding": -ROUNDING, "margin": MARGIN}
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


def compute(inputs, n_distributions: Count = 135, seed: Seed = 0) -> pd.DataFrame:
    """Largest errors, counts and margins of each statement, of ``n`` cases each.

    ``value`` is in units of the impurity: bits, probabilities, or the square of random numbers of
    size 1. Differences are absolute.
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
    values = table.groupby(["statement", "quantity"])["value"].agg(list)
    largest_n = table.groupby("statement")["n"].max()
    findings: dict = {}
    for (statement, quantity), row in QUANTITIES.items():
        if row["variant"]:
            judged = [(value, row) for value in values.get((statement, quantity), [])]
            findings.setdefault((statement, row["variant"]), []).extend(judged)
    for statement, variant in sorted(findings, key=lambda key: (key[0], key[1] != "stated")):
        judged = findings[statement, variant]
        reductions = {row["reduction"] for _, row in judged}
        (kind,) = {"at most" if r in ("max", "sum") else "at least" for r in reductions}
        extreme = max if kind == "at most" else min
        value, limit = extreme(v for v, _ in judged), extreme(LIMITS[r["limit"]] for _, r in judged)
        options = {"reading": _MARGIN_REASON} if limit == MARGIN else {}
        largest = largest_n[statement] if "sum" in reductions else _LARGEST
        options["possible"] = (0 if kind == "at most" else -largest, largest)
        options["expected"] = EXPECTED.get((statement, variant))
        options["beside"] = variant in BESIDE
        measured = judged[0][1]["measured"]
        yield finding(statement, variant, measured, value, limit, kind, **options)


def _put_together(cases):
    groups = {}
    for statement, quantity, impurity, values in cases:
        groups.setdefault((statement, quantity, impurity), []).append(np.ravel(values))
    for (statement, quantity, impurity), arrays in groups.items():
        values = np.concatenate(arrays)
        reduction = QUANTITIES[statement, quantity]["reduction"]
        values = np.abs(values) if reduction == "max" else values
        key = {"statement": statement, "quantity": quantity, "impurity": impurity}
        if len(values):
            yield {**key, "value": float(getattr(np, reduction)(values)), "n": len(values)}


def _generalized(rows, impurity):
    """Appendix F: all errors with another impurity than the entropy."""
    errors = []
    for row in rows:
        judged = QUANTITIES[row["statement"], row["quantity"]]
        is_error = (judged["reduction"], judged["limit"]) == ("max", "rounding")
        if is_error and row["impurity"] == impurity and row["statement"] <= "s09":
            errors.append(row)
    key = {"statement": "s24", "quantity": "largest error of s01 to s09", "impurity": impurity}
    return {**key, "value": max(r["value"] for r in errors), "n": sum(r["n"] for r in errors)}


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
    """Two sentences of appendix F that do not hold, each by one built distribution."""
    # "The link between the irrelevance of X_m and Imp(X_m)" does not extend to the variance, as a
    # relevant input may leave mean and variance as they are. And by the entropy local irrelevance
    # is weaker than by Definition 2, against footnote 9.
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
