"""Saabas attributions against treeinterpreter, and a printed example with those of TreeSHAP."""

import copy

import numpy as np
import pytest
from treeinterpreter import treeinterpreter

import twins
from forests import FITTED, fitted, grow, leaf, split
from splitcredit import explain

CLASSIFIERS = [n for n in FITTED if hasattr(fitted(n)[0], "classes_")]


@pytest.mark.parametrize("name", [n for n in CLASSIFIERS if "NaN" not in n])
def test_saabas_equals_treeinterpreter(name):
    """On a copy: treeinterpreter divides the values of the model in place.

    It does not know NaN, and fails on regressors with numpy 2.4.
    """
    model, X, _ = fitted(name)
    X = X[::5].astype(np.float32)
    prediction, bias, contributions = treeinterpreter.predict(copy.deepcopy(model), X)
    ours = explain(model, X, "saabas")
    assert twins.largest_error(ours.values, contributions) <= twins.ROUNDING
    assert twins.largest_error(np.tile(ours.baseline, (len(X), 1)), bias) <= twins.ROUNDING
    assert twins.largest_error(ours.totals(), prediction) <= twins.ROUNDING


@pytest.mark.parametrize(
    ("method", "of_a", "of_b"), [("saabas", (20, 40), (40, 25)), ("tree_shap", (30, 30), (30, 35))]
)
def test_figure_1_of_lundberg2017(method, of_a, of_b):
    """Fever and cough, 25 patients a leaf: in tree B cough matters more, and gets less by Saabas.

    The values of the leaves, 80 and 10 more, are those of the figure's later version.
    """
    fever, cough = 0, 1

    def tree(first, second, leaves):
        a, b, c, d = (leaf(v, 25.0) for v in leaves)
        return grow([split(first, 0.5, split(second, 0.5, a, b), split(second, 0.5, c, d))], 2)

    a = explain(tree(fever, cough, [0, 0, 0, 80]), [[1.0, 1.0]], method)
    b = explain(tree(cough, fever, [0, 0, 10, 90]), [[1.0, 1.0]], method)
    np.testing.assert_allclose(a.values[0, [fever, cough], 0], of_a, rtol=twins.ROUNDING)
    np.testing.assert_allclose(b.values[0, [fever, cough], 0], of_b, rtol=twins.ROUNDING)
    assert (a.baseline[0], b.baseline[0]) == (20.0, 25.0)
