"""Interventional TreeSHAP of probabilities and losses: twin, shap, chords, a worked example."""

from dataclasses import replace
from decimal import Decimal, localcontext
from itertools import permutations

import numpy as np
import pytest
import shap
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.ensemble import GradientBoostingClassifier
from xgboost import XGBClassifier, XGBRegressor

import twins
import twins_interventional
from forests import DRAWN, caterpillar, grow, leaf, random_forest, rows_on_thresholds, split
from splitcredit import to_forest, tree_shap_interventional
from splitcredit.kernels.interventional import explain as kernel
from splitcredit.models import rescaling

Y = np.array([0, 1, 1, 0])
CURVES = {
    "probability": lambda m, n: 1 / (1 + (-m).exp()),
    "log_loss": lambda m, n: (1 + m.exp()).ln() - int(Y[n]) * m,
    "squared_error": lambda m, n: (m - int(Y[n])) ** 2,
}
ONE_OUTPUT = [name for name in DRAWN if DRAWN[name]().n_outputs == 1]


def drawn(forest):
    """Four rows to explain and five of the background, with one in common."""
    rows = rows_on_thresholds(forest, 8)
    return rows[:4], rows[3:]


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("name", ONE_OUTPUT)
def test_values_equal_the_definition(name, curve):
    """By all subsets for each background row, in trees with NaN, repeated features, a base."""
    forest = DRAWN[name]()
    X, background = drawn(forest)
    ours = tree_shap_interventional(forest, X, background, model_output=curve, y=Y)
    twin = twins_interventional.rescaled(forest, X, background, CURVES[curve])
    assert twins.largest_error(ours.values[:, :, 0], twin) <= twins.ROUNDING
    expected = rescaling.transformed(curve, forest.predict(X)[:, 0], Y)
    assert twins.largest_error(ours.totals()[:, 0], expected) <= twins.ROUNDING


OF_ANY_WIDTH = {
    "NaN, float32": DRAWN["NaN, float32"],
    "sum with a base": lambda: random_forest(21, aggregate="sum", base=[0.5]),
    "70 features on a path": lambda: caterpillar(70, 70),
}


@pytest.mark.parametrize("features", [64, 3, 0])
@pytest.mark.parametrize("name", OF_ANY_WIDTH)
def test_patterns_and_pairs_lead_to_the_same_values(name, features):
    """With all leaves by patterns, some by pairs of rows, and all by pairs."""
    forest = OF_ANY_WIDTH[name]()
    X, background = (forest.prepare(rows) for rows in drawn(forest))
    factors = np.random.default_rng(0).normal(size=(4, 5))
    ours = kernel.tree_shap_rescaled(forest, X, background, factors, features)
    by_row = [twins_interventional.leaf_by_leaf(forest, X, z[None])[:, :, 0] for z in background]
    twin = np.einsum("xz,zxj->xj", factors, by_row) / 5
    assert twins.largest_error(ours, twin) <= twins.ROUNDING


def test_factors_of_one_give_the_values_of_the_raw_prediction():
    """With more than 64 patterns in the background, and more rows than one block has."""
    forest = random_forest(22, n_trees=20, depth=8)
    X, background = (forest.prepare(rows_on_thresholds(forest, n, n)) for n in (700, 200))
    ours = kernel.tree_shap_rescaled(forest, X, background, np.ones((700, 200)))
    raw = kernel.tree_shap_interventional(forest, X, np.array([0]), background)[:, :, 0]
    assert twins.largest_error(ours, raw) <= twins.ROUNDING


def test_a_stump_by_hand():
    """Margins 0 and log 3 mean probabilities of 1/2 and 3/4, and x has half of z's on its side."""
    forest = grow([split(1, 0.5, leaf(0.0), leaf(np.log(3.0)))], 3, aggregate="sum")
    X, background = np.array([[0.0, 1.0, 0.0]]), np.array([[9.0, 0.0, 9.0], [9.0, 1.0, 9.0]])
    attribution = tree_shap_interventional(forest, X, background, model_output="probability")
    assert np.allclose(attribution.values[0, :, 0], [0, 1 / 8, 0], rtol=0, atol=1e-15)
    assert np.allclose(attribution.baseline, [5 / 8], rtol=0, atol=1e-15)


@pytest.mark.parametrize("curve", CURVES)
def test_slopes_keep_their_digits_at_any_margins(curve):
    """Near-equal margins, far ones and large ones, against decimals with 400 digits."""
    margins = [-800.0, -40.0, -1.0, -1e-9, 0.0, 1e-300, 1e-9, 1.0, 1.0 + 2**-52, 40.0, 800.0]
    g = CURVES[curve]
    for row, y in ((0, 0.0), (1, 1.0)):
        for a, b in permutations(margins, 2):
            with localcontext(prec=400):
                s, t = Decimal(a), Decimal(b)
                exact = float((g(s, row) - g(t, row)) / (s - t))
            ours = rescaling.slopes(curve, np.array([a]), np.array([b]), np.array([y]))[0, 0]
            assert np.isclose(ours, exact, rtol=twins.ROUNDING, atol=0)


def test_equal_margins_have_the_slope_1_as_in_shap():
    slopes = rescaling.slopes("probability", np.array([0.0, 2.0]), np.array([2.0]))
    assert slopes[1, 0] == 1 and 0 < slopes[0, 0] < 0.25


def boosted_models(kind):
    """Models like those of shap's README, each with float32 rows and targets."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 6)).astype(np.float32)
    y = X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=300)
    xgboost, lightgbm = XGBRegressor, LGBMRegressor
    if kind == "classes":
        y, xgboost, lightgbm = (y > 0).astype(int), XGBClassifier, LGBMClassifier
    yield xgboost(n_estimators=15, max_depth=4, random_state=0).fit(X, y), X, y
    yield lightgbm(n_estimators=15, num_leaves=9, verbose=-1).fit(X, y), X, y


@pytest.mark.parametrize("curve", CURVES)
def test_values_equal_those_of_shap(curve):
    """Basis of 1e-6: shap keeps leaves and weights in single precision, as in the raw values.

    The forest has shap's thresholds, which it rounds to float32, and its comparison.
    """
    for model, X, y in boosted_models("values" if curve == "squared_error" else "classes"):
        X, y, background = X[:40], y[:40], X[200:230]
        theirs = "log_loss" if curve == "squared_error" else curve
        values = shap.TreeExplainer(model, background, model_output=theirs).shap_values(X, y)
        forest = to_forest(model)
        forest = replace(forest, threshold=forest.threshold.astype(np.float32))
        ours = tree_shap_interventional(forest, X, background, model_output=curve, y=y)
        assert twins.largest_error(values, ours.values[:, :, 0]) <= 1e-6


@pytest.mark.parametrize("curve", CURVES)
def test_no_rows_give_no_values(curve):
    given = {"X": np.zeros((0, 6)), "background": np.zeros((2, 6)), "y": []}
    attribution = tree_shap_interventional(random_forest(25), **given, model_output=curve)
    assert attribution.values.shape == (0, 6, 1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"background": np.zeros((2, 4))}, "background: X has 4 features, the model was fitted on"),
        ({"background": np.zeros(6)}, r"background: X has 1 dimension"),
        ({"background": np.full((1, 6), np.nan)}, r"background: X holds NaN"),
        ({"background": np.zeros((0, 6))}, "background has no rows: pass rows of the training dat"),
        ({"model_output": "margin"}, "unknown model_output 'margin': available are raw, prob"),
        ({"model_output": "log_loss"}, "needs the targets of the rows: pass y"),
        ({"model_output": "log_loss", "y": [1]}, r"y has shape \(1,\), expected \(2,\)"),
        ({"model_output": "log_loss", "y": [1, 2]}, "y holds other values than 0 and 1"),
        ({"model_output": "squared_error", "y": [1, np.nan]}, "y holds NaN or infinities"),
        ({"model_output": "squared_error", "y": np.ma.array([1, 1], mask=[0, 1])}, "y has masked"),
        ({"model_output": "probability", "output": 3}, "output=3 is not one of"),
        (
            {"model_output": "probability", "model": random_forest(27, n_outputs=2)},
            "needs a forest with one output, or .* this one has 2",
        ),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    rows = {"X": np.zeros((2, 6)), "background": np.zeros((2, 6))}
    with pytest.raises(ValueError, match=message):
        tree_shap_interventional(**{"model": random_forest(26), **rows, **given})


def test_a_1_that_may_be_the_label_of_the_other_class_has_no_log_loss():
    """The loss of class 2 for rows of class 1, whose label stands for the scored class."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = 1 + (X[:, 0] > 0)
    model = GradientBoostingClassifier(n_estimators=3, random_state=0).fit(X, y)
    forest, given = to_forest(model), {"background": X[:9], "model_output": "log_loss"}
    with pytest.raises(ValueError, match=r"y holds 1, which may mean another class .* y == 2 does"):
        tree_shap_interventional(forest, X[y == 1], y=y[y == 1], **given)
    totals = tree_shap_interventional(forest, X, y=y == 2, **given).totals()[:, 0]
    of_own_class = model.predict_proba(X)[np.arange(60), y - 1]
    assert np.abs(totals + np.log(of_own_class)).max() < 1e-12
