"""The equations of sections 5, 6 and 8, on random forests, and the bias of 8.3 by simulation.

Each identity is measured with the library's functions on one side and plain sums over rows of
scikit-learn's trees on the other. Eq. 18 to 21 are of one node; they are summed over the nodes,
each with its weight N_n(t) / |D|. Eq. 22 and 23 lack this weight in print; they are measured with
and without it.
Eq. 11 has "MDI =" where it should have "proportional to", and section 6 says that PG(1, 2) is
MDI-oob, which PG(0.5, 1) with out-of-bag weights is.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from reproduction import models
from reproduction.datasets import breast_cancer, digits, noisy_features, wine
from reproduction.papers import finding
from reproduction.papers.loecher2022 import _identities, _useless_split

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
MANY_VALUES = "noise with many values"
# Of the first, more of the contributions should be left than of the second.
PAIRS = ((FEW_VALUES, MANY_VALUES), (RELEVANT, FEW_VALUES))
COLUMNS = "part statement quantity data depth n_left n_right p n value size".split()
COLUMNS += ["standard_error", "exact", "expected"]


def compute(
    inputs,
    n_forests: int = 3,
    n_trees: int = 20,
    n_trees_counter: int = 100,
    n_canceling: int = 16,
    n_draws: int = 2_000_000,
    seed: int = 0,
) -> pd.DataFrame:
    """Largest error of each identity, the counter-examples and the simulated biases.

    Parameters
    ----------
    inputs : unused
    n_forests, n_trees : int
        Forests for each data set and depth, and trees in each.
    n_trees_counter : int
        Trees of the forests that show what is not equal, and of those for canceling.
    n_canceling : int
        Data sets on which canceling is measured, at least 2, each with one forest.
    n_draws : int
        Outcomes drawn for each shape of a split.
    seed : int

    Returns
    -------
    DataFrame
        ``part``; ``statement``; ``quantity``; ``data``; ``depth`` (largest; empty if full); ``n``;
        ``value``. In units of the impurity, which for ``diabetes`` is the variance of a target
        with variance 1. Parts:

        ``identity``: largest absolute difference over ``n`` forests; ``size``, the largest number
        that was compared.
        ``counter-example``: what the quantity says, on one forest of ``n`` trees.
        ``canceling``: how much of the contributions is left when those of the trees are added
        up, mean over ``n`` data sets and its ``standard_error`` over them; and differences of such
        shares, which are taken on each data set.
        ``simulation``: mean decrease of the score ``quantity`` over ``n`` draws at a useless split
        with ``n_left`` and ``n_right`` out-of-bag rows and P(y = 1) = ``p``, its
        ``standard_error``, the mean by enumeration of all outcomes, ``exact``, and by the formula,
        ``expected``. Doubled Gini impurity, per row.
    """
    from splitcredit.kernels.compiled import threads

    with threads(1):  # small forests: threads would wait for each other
        rows = _measured(n_forests, n_trees, seed) + _counter_examples(n_trees_counter, seed)
        rows += _of_canceling(n_canceling, n_trees_counter, seed)
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


def _fit(case, n_trees, depth, seed):
    kind, X, y = case
    recipe = {
        "estimator": f"RandomForest{kind}",
        "n_estimators": n_trees,
        "max_features": 3,
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
    rows = []
    for name, case in cases(seed).items():
        if case[0] == "Classifier":
            quantities = _identities.counter_example(*_fit(case, n_trees, None, seed))
            key = {"part": "counter-example", "data": name, "n": n_trees}
            rows += [{**key, "statement": s, "quantity": q, "value": v} for s, q, v in quantities]
    return rows


def _of_canceling(n_data_sets, n_trees, seed):
    """Features of the simulation of table 1, by their relevance and numbers of values.

    The features of one data set share its outcomes and its forest, so errors are over data sets.
    """
    repeats = range(seed, seed + n_data_sets)
    by_kind = pd.DataFrame([_of_canceling_on(repeat, n_trees) for repeat in repeats])
    key = {"part": "canceling", "statement": "s21", "data": "noisy_features", "n": n_data_sets}
    errors = by_kind.std() / np.sqrt(n_data_sets)
    return [
        {
            **key,
            "quantity": f"{_identities.LEFT}, {name}",
            "value": values.mean(),
            "standard_error": errors[name],
        }
        for name, values in by_kind.items()
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
    return means | pairs


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
# Equations that the proof of a statement passes through; they are not what it states.
PROVED = {("s14", "Eq. 18")}
# Data on which section 6 is shown not to hold.
COUNTER_EXAMPLES = ("breast_cancer", "noisy_features")


def statements(table) -> list[dict]:
    """s12 to s17, s22, s23; of s13 only the identity; that contributions cancel, of s21."""
    identity = table[table["part"] == "identity"].groupby("quantity")["value"].max()
    findings = [
        finding(
            *(*key, MEASURED[key], identity[list(quantities)].max(), ROUNDING),
            beside=key in PROVED,
        )
        for key, quantities in IDENTITIES.items()
    ]
    findings += _of_equivalence(table[table["part"] == "counter-example"])
    findings += _of_noise(table[table["part"] == "canceling"])
    return findings + _of_bias(table[table["part"] == "simulation"])


def _of_equivalence(table):
    """s14 as section 6 has it: PG(1, 2) and MDI-oob, whatever factor lies between them."""
    findings = []
    for name in COUNTER_EXAMPLES:
        value = table[table["data"] == name].set_index("quantity")["value"]
        residual = value["best multiple of PG(1,2) - MDI-oob"]
        measured = "largest difference of MDI-oob and the multiple of PG(1,2) that fits best; "
        measured += f"MDI-oob is {value['largest MDI-oob']:.2g} at most, its correlation with "
        measured += f"PG(1,2) {value['correlation of PG(1,2) and MDI-oob']:.4f}"
        findings.append(finding("s14", f"section 6, {name}", measured, residual, ROUNDING))
    return findings


def _of_noise(table):
    """s21: whether contributions cancel more where overfitting is, and where nothing tells y."""
    rows = table.set_index(table["quantity"].str.removeprefix(f"{_identities.LEFT}, "))
    findings = []
    for larger, smaller in PAIRS:
        name = _less(larger, smaller)
        difference, width = rows.loc[name, "value"], K * rows.loc[name, "standard_error"]
        measured = "share of the CFC that is left when those of the trees are added up: "
        measured += f"{name}; {K:.0f} standard errors over {rows.loc[name, 'n']} data sets"
        options = {"basis": "monte-carlo", "interval": (difference - width, difference + width)}
        variant = f"canceling, {larger} against {smaller}"
        findings.append(finding("s21", variant, measured, difference, 0.0, "at least", **options))
    return findings


def _of_bias(table):
    """s16: means of the simulation and of the enumeration against the formulas."""
    raw, hat = (table[table["quantity"] == score] for score in _useless_split.SCORES)
    has_single = hat[["n_left", "n_right"]].min(axis=1) == 1
    simulated = f"; standard errors of {table['n'].max()} draws"
    findings = []
    for variant, rows, formula, measured in (
        ("without correction", raw, None, "largest distance of the mean from sigma^2 / N"),
        ("with correction", hat[~has_single], 0.0, "largest distance of the mean from 0"),
        (
            "with correction, a child of one row",
            hat[has_single],
            0.0,
            "largest distance of the mean from 0",
        ),
        (
            "size of that bias",
            hat[has_single],
            None,
            "the same from sigma^2 / N for each such child",
        ),
    ):
        formula = rows["expected"] if formula is None else formula
        distance = ((rows["value"] - formula).abs() / rows["standard_error"]).max()
        options = {"basis": "monte-carlo", "reason": _DEVIATION}
        findings.append(
            finding("s16", variant, measured + simulated, distance, DEVIATION, **options)
        )
    error = (table["exact"] - table["expected"]).abs().max()
    measured = "largest error of the formulas against the enumeration of all outcomes"
    return [*findings, finding("s16", "formulas", measured, error, ROUNDING)]
