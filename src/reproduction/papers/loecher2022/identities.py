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
from reproduction.datasets import breast_cancer, digits, noisy_features, titanic, wine
from reproduction.papers import around, finding
from reproduction.papers.loecher2022 import _identities, _useless_split
from reproduction.papers.loecher2022._titanic import ID
from reproduction.papers.loecher2022.figure4 import VERY_HIGH, VERY_HIGH_REASON
from reproduction.parameters import Count, Seed

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

    Columns: ``part``; ``statement``; ``quantity``; ``data``; ``depth`` (largest; empty if full);
    ``n``; ``value``. In units of the impurity, which for ``diabetes`` is the variance of a target
    with variance 1. Parts: ``identity``: largest absolute difference over ``n`` forests; ``size``,
    the largest number that was compared. ``counter-example``: what the quantity says, on one forest
    of ``n`` trees. ``canceling``: how much of the contributions is left when those of the trees are
    added up, mean over ``n`` data sets and its ``standard_error`` over them; and differences of
    such shares, which are taken on each data set. On the Titanic, shares of PassengerId in the mean
    absolute contributions of the forest, which cancel, and of its trees. ``alike``: correlations of
    SHAP values and contributions, on one forest of ``n`` trees. ``simulation``: mean decrease of
    the score ``quantity`` over ``n`` draws at a useless split with ``n_left`` and ``n_right``
    out-of-bag rows and P(y = 1) = ``p``, its ``standard_error``, the mean by enumeration of all
    outcomes, ``exact``, and by the formula, ``expected``. Doubled Gini impurity, per row.
    """
    from splitcredit.kernels.compiled import threads

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
    diabetes = load_diabetes()
    classes = {
        "breast_cancer": breast_cancer.load(),
        "wine": wine.load(),
        "digits": digits.load(rows=500),
        "noisy_features": noisy_features.load(random_state=seed),
    }
    by_name = {name: ("Classifier", data.X, data.y) for name, data in classes.items()}
    y = (diabetes.target - diabetes.target.mean()) / diabetes.target.std()
    return by_name | {"diabetes": ("Regressor", diabetes.data, y)}


def _fit(case, n_trees, depth, seed, mtry=3):
    kind, X, y = case
    recipe = {
        "estimator": f"RandomForest{kind}",
        "n_estimators": n_trees,
        "max_features": mtry,
        "max_depth": depth,
        "random_state": seed,
    }
    return models.fit(recipe, X, y), X, y


def _measured(n_forests, n_trees, seed):
    """The identities: largest difference over the forests of a data set and depth."""
    differences = {}
    for repeat in range(seed, seed + n_forests):
        for name, case in cases(repeat).items():
            for depth in DEPTHS:
                for s, q, error, size in _identities.differences(
                    *_fit(case, n_trees, depth, repeat)
                ):
                    differences.setdefault((s, q, name, depth), []).append((error, size))
    rows = []
    for (statement, quantity, name, depth), pairs in differences.items():
        value, size = np.max(pairs, axis=0)
        key = {"statement": statement, "quantity": quantity, "data": name, "depth": depth}
        measured = {"n": n_forests, "value": value, "size": size}
        rows.append({"part": "identity", **key, **measured})
    rows.sort(key=lambda row: row["statement"])
    return rows


def _counter_examples(n_trees, seed):
    for name, case in cases(seed).items():
        if case[0] == "Classifier":
            quantities = _identities.counter_example(*_fit(case, n_trees, None, seed))
            key = {"part": "counter-example", "data": name, "n": n_trees}
            yield from [
                {**key, "statement": s, "quantity": q, "value": v} for s, q, v in quantities
            ]


def _of_canceling(n_data_sets, n_trees, seed):
    """Features of the simulation of table 1, by their relevance and numbers of values.

    The features of one data set share its outcomes and its forest, so errors are over data sets.
    """
    for name, measure in (("noisy_features", _of_canceling_on), ("titanic", _of_canceling_of_id)):
        by_kind = pd.DataFrame([measure(r, n_trees) for r in range(seed, seed + n_data_sets)])
        key = {"part": "canceling", "statement": "s21", "data": name, "n": n_data_sets}
        errors = by_kind.std() / np.sqrt(n_data_sets)
        yield from [
            {**key, "quantity": quantity, "value": v.mean(), "standard_error": errors[quantity]}
            for quantity, v in by_kind.items()
        ]


def _of_canceling_on(repeat, n_trees):
    """Mean shares on one data set by the kind of feature, and their differences."""
    data = noisy_features.load(random_state=repeat)
    fitted = _fit(("Classifier", data.X, data.y), n_trees, None, repeat)
    shares = _identities.left_over(*fitted)
    places = np.arange(len(shares))
    relevant, first = np.isin(places, data.relevant), places < CANDIDATES
    kinds = {RELEVANT: relevant, FEW_VALUES: first & ~relevant, MANY_VALUES: ~first}
    means = {kind: shares[features].mean() for kind, features in kinds.items()}
    pairs = {_less(larger, smaller): means[larger] - means[smaller] for larger, smaller in PAIRS}
    return {f"{_identities.LEFT}, {name}": value for name, value in (means | pairs).items()}


def _of_canceling_of_id(repeat, n_trees):
    """PassengerId's share in the mean absolute CFC of a forest, and of its trees one by one."""
    data = titanic.load()
    fitted = _fit(("Classifier", data.X, data.y), n_trees, None, repeat, mtry=2)
    sides = _identities.sides_of_eq9(_identities.contributions_of(*fitted))
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
            is_relevant = np.isin(
                np.arange(case[1].shape[1]), noisy_features.load(random_state=seed).relevant
            )
            kinds = {RELEVANT: is_relevant, NOISE: ~is_relevant}
        for depth in DEPTHS:
            model, X, _ = _fit(case, n_trees, depth, seed)
            key = {"part": "alike", "statement": "s31", "data": name, "depth": depth, "n": n_trees}
            quantities = _identities.alike(model, X, kinds)
            yield from [{**key, "quantity": q, "value": v} for q, v in quantities]


def _less(larger, smaller):
    return f"{larger} less {smaller}"


# (statement, variant): quantities of which the largest difference decides.
IDENTITIES = {
    ("s12", "MDI"): (
        _identities.SKLEARN,
        _identities.EQ10,
        _identities.COVARIANCE,
        _identities.EQ10_TWICE,
        _identities.COVARIANCE_TWICE,
        _identities.CFC,
    ),
    ("s12", "sum is zero"): (_identities.ZERO,),
    ("s13", "identity"): (_identities.EQ11, _identities.EQ11_KERNEL),
    ("s14", "Eq. 18"): (_identities.EQ18, _identities.EQ18_HALF),
    ("s15", "in-bag weights"): (_identities.UFI, _identities.UFI_PG),
    ("s15", "MDI-oob, out-of-bag weights"): (
        _identities.OOB_KERNEL,
        _identities.OOB_PG,
        _identities.PG_OOB,
    ),
    ("s17", "-p_in^2"): (_identities.EQ22,),
    ("s17", "-p_in p_oob"): (_identities.EQ23,),
    ("s22", "mean of the tree's sample"): (_identities.LOCAL,),
    # Equations that are wrong in print.
    ("s22", "mean of all rows"): (_identities.LOCAL_ALL,),
    ("s23", "two sides"): (_identities.EQ9,),
    ("s13", "as printed"): (_identities.EQ11_PRINTED,),
    ("s17", "Eq. 22 as printed"): (_identities.EQ22_PRINTED,),
    ("s17", "Eq. 23 as printed"): (_identities.EQ23_PRINTED,),
}
MEASURED = {
    ("s12", "MDI"): "largest error of MDI = Eq. 10 = covariance, twice it for one class of two",
    ("s12", "sum is zero"): "largest mean of a CFC over the bootstrap sample",
    ("s13", "identity"): "largest error of Eq. 11 = Eq. 10 / mean of y of the tree",
    ("s14", "Eq. 18"): "largest error of Eq. 18 = PG(1,2), half of it for one class of two",
    ("s15", "in-bag weights"): "largest error of UFI = PG(0.5,1)",
    ("s15", "MDI-oob, out-of-bag weights"): "largest error of MDI-oob = PG(0.5,1)",
    ("s17", "-p_in^2"): "largest error with the weight of the node put in (Eq. 22)",
    ("s17", "-p_in p_oob"): "largest error with the weight of the node put in (Eq. 23)",
    ("s22", "mean of the tree's sample"): "largest error of Eq. 7, tree by tree",
    ("s22", "mean of all rows"): "largest error of Eq. 7 of the forest, with the mean of all rows",
    ("s23", "two sides"): "largest difference of the two sides of Eq. 9, over the right one",
    ("s13", "as printed"): "largest difference of Eq. 10 and 11, which are only proportional",
    ("s17", "Eq. 22 as printed"): "largest error without the weight of the node",
    ("s17", "Eq. 23 as printed"): "largest error without the weight of the node",
}
# What the cause on file predicts of an equation that is wrong in print.
PREDICTED = {
    ("s22", "mean of all rows"): _identities.ROOTS,
    ("s23", "two sides"): _identities.CANCELED,
    ("s13", "as printed"): _identities.EQ11_FACTOR,
    ("s17", "Eq. 22 as printed"): _identities.EQ22_NODES,
    ("s17", "Eq. 23 as printed"): _identities.EQ23_NODES,
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
    for key, quantities in IDENTITIES.items():
        reading = {"basis": "our reading", "reason": READINGS[key]} if key in READINGS else {}
        yield finding(
            *(*key, MEASURED[key], identity[list(quantities)].max(), ROUNDING),
            beside=key in PROVED,
            possible=ERROR,
            expected=around(identity[PREDICTED[key]], ROUNDING) if key in PREDICTED else None,
            **reading,
        )
    yield _of_missingness(identity[_identities.UNTESTED])
    yield from _of_equivalence(table[table["part"] == "counter-example"])
    yield from _of_noise(table[table["part"] == "canceling"])
    yield from _of_alike(table[table["part"] == "alike"])
    yield from _of_bias(table[table["part"] == "simulation"])


def _of_missingness(largest):
    """s30: a value that is not 0 would violate missingness; by the theory of TreeSHAP none is."""
    measured = "largest |SHAP| of a feature that a tree does not test"
    options = {"possible": ERROR, "expected": around(0.0, ROUNDING)}
    place = ("s30", "features that a tree does not test", measured, largest, ROUNDING, "at least")
    return finding(*place, **options, identity=True)


def _of_equivalence(table):
    """s14 as section 6 has it: PG(1, 2) and MDI-oob, whatever factor lies between them."""
    for name in COUNTER_EXAMPLES:
        value = table[table["data"] == name].set_index("quantity")["value"]
        residual = value[_identities.BEST]
        options = {
            "possible": ERROR,
            "expected": around(value[_identities.BEST_PREDICTED], ROUNDING),
        }
        measured = "largest difference of MDI-oob and the multiple of PG(1,2) that fits best; "
        measured += f"MDI-oob is {value['largest MDI-oob']:.2g} at most, its correlation with "
        measured += f"PG(1,2) {value['correlation of PG(1,2) and MDI-oob']:.4f}"
        variant = f"section 6, {name}"
        yield finding("s14", variant, measured, residual, ROUNDING, **options)


def _of_noise(table):
    """s21: whether contributions cancel more where overfitting is, and where nothing tells y."""
    rows = table.set_index("quantity")
    left = "share of the CFC that is left when those of the trees are added up: "
    quantities = [
        (f"{larger} against {smaller}", left, f"{_identities.LEFT}, ", _less(larger, smaller))
        for larger, smaller in PAIRS
    ]
    quantities.append((f"{ID}, trees against forest", "", "", _less(OF_TREES, OF_FOREST)))
    for variant, beginning, prefix, name in quantities:
        row = rows.loc[prefix + name]
        difference, width = row["value"], K * row["standard_error"]
        of = "data sets" if row["data"] == "noisy_features" else "forests"
        measured = f"{beginning}{name}; {K:.0f} standard errors over {row['n']} {of}"
        options = {"basis": "monte-carlo", "interval": around(difference, width)}
        options["possible"] = (-1.0, 1.0)
        variant = f"canceling, {variant}"
        yield finding("s21", variant, measured, difference, 0.0, "at least", **options)


def _of_alike(table):
    """s31: values of every data set, and of all of them the means; of full trees."""
    full = table[table["depth"].isna()]
    options = {"basis": "our reading", "reason": VERY_HIGH_REASON, "possible": (-1.0, 1.0)}
    least = full.loc[full["quantity"] == _identities.ALIKE_MEANS, "value"].min()
    measured = "smallest correlation of mean |SHAP| and mean |CFC| over the features of a data set"
    yield finding("s31", "features", measured, least, VERY_HIGH, "at least", **options)
    for name, rows in full.groupby("data", sort=False):
        value = rows.set_index("quantity")["value"]
        measured = "correlation of SHAP and CFC over all rows and features"
        own = dict(options)
        if name == "noisy_features":
            # Between that of noise, which deep trees fit, and that of what tells y.
            own["expected"] = tuple(
                value[f"{_identities.ALIKE_ROWS}, {kind}"] for kind in (NOISE, RELEVANT)
            )
        yield finding(
            *("s31", f"rows, {name}", measured, value[_identities.ALIKE_ROWS], VERY_HIGH),
            "at least",
            **own,
        )


def _of_bias(table):
    """s16: means of the simulation and of the enumeration against the formulas."""
    raw, hat = (table[table["quantity"] == score] for score in _useless_split.SCORES)
    has_single = hat[["n_left", "n_right"]].min(axis=1) == 1
    simulated = f"; standard errors of {table['n'].max()} draws"
    single = hat[has_single]
    bias = (single["expected"] / single["standard_error"]).max()
    predicted = {"with correction, a child of one row": around(bias, DEVIATION)}
    for variant, rows, formula, measured in (
        ("without correction", raw, None, "largest distance of the mean from sigma^2 / N"),
        ("with correction", hat[~has_single], 0.0, "largest distance of the mean from 0"),
        (
            "with correction, a child of one row",
            single,
            0.0,
            "largest distance of the mean from 0",
        ),
        (
            "size of that bias",
            single,
            None,
            "the same from sigma^2 / N for each such child",
        ),
    ):
        formula = rows["expected"] if formula is None else formula
        distance = ((rows["value"] - formula).abs() / rows["standard_error"]).max()
        options = {"basis": "monte-carlo", "reason": _DEVIATION, "possible": ERROR}
        options["expected"] = predicted.get(variant)
        if variant in predicted:
            options |= {"basis": "our reading", "reason": _useless_split.SINGLE_CHILD}
        yield finding("s16", variant, measured + simulated, distance, DEVIATION, **options)
    error = (table["exact"] - table["expected"]).abs().max()
    measured = "largest error of the formulas against the enumeration of all outcomes"
    yield finding("s16", "formulas", measured, error, ROUNDING, possible=ERROR)
