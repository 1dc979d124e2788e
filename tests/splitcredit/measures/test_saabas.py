"""Saabas attributions against their twin, treeinterpreter and a printed example."""

import copy

import numpy as np
import pytest
from treeinterpreter import treeinterpreter

import twins
from forests import DRAWN, FITTED, fitted, forest_and_rows, grow, leaf, split
from splitcredit import explain

CLASSIFIERS = [n for n in FITTED if hasattr(fitted(n)[0], "classes_")]


@pytest.mark.parametrize("name", [*DRAWN, *FITTED])
def test_saabas_equals_the_twin(name):
    forest, X = forest_and_rows(name, 23)
    ours = explain(forest, X, "saabas").values
    assert twins.largest_error(ours, twins.saabas(forest, X)) <= twins.ROUNDING


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


@pytest.mark.parametrize("n", [255, 256, 257, 600])
def test_the_output_of_a_row_has_the_values_that_it_has_among_all(n):
    """Rows of one output are taken together, 256 at a time."""
    model, X, _ = fitted(next(name for name in CLASSIFIERS if "NaN" not in name))
    X = np.resize(X, (n, X.shape[1]))
    ours, all_outputs = explain(model, X, "saabas", output="predicted"), explain(model, X, "saabas")
    assert len(set(ours.output_index.tolist())) > 1
    of_output = all_outputs.values[np.arange(n), :, ours.output_index]
    assert ours.values[:, :, 0].tobytes() == of_output.tobytes()


def test_figure_1_of_lundberg2017():
    """Fever and cough, 25 patients a leaf: in tree B cough matters more, and gets less.

    The values of the leaves, 80 and 10 more, are those of the figure's later version.
    """
    fever, cough = 0, 1

    def tree(first, second, leaves):
        a, b, c, d = (leaf(v, 25.0) for v in leaves)
        return grow([split(first, 0.5, split(second, 0.5, a, b), split(second, 0.5, c, d))], 2)

    a = explain(tree(fever, cough, [0, 0, 0, 80]), [[1.0, 1.0]], "saabas")
    b = explain(tree(cough, fever, [0, 0, 10, 90]), [[1.0, 1.0]], "saabas")
    np.testing.assert_array_equal(a.values[0, [fever, cough], 0], [20.0, 40.0])
    np.testing.assert_array_equal(b.values[0, [fever, cough], 0], [40.0, 25.0])
    assert (a.baseline[0], b.baseline[0]) == (20.0, 25.0)
