"""What holds of every kernel that explains rows, whatever its arithmetic."""

import numpy as np
import pytest

import splitcredit
import twins
from forests import DRAWN, FITTED, caterpillar, fitted, random_forest, rows_on_thresholds
from splitcredit import explain, interactions, to_forest, tree_shap
from splitcredit.kernels.compiled import threads

FORESTS = {
    "pure leaves": random_forest(0, n_trees=30, n_outputs=3, leaves="pure", missing=True),
    "fractions": random_forest(1, n_trees=30, n_outputs=2, depth=8, leaves="fractions"),
    "many outputs": random_forest(2, n_trees=20, n_outputs=7, depth=5),
    "deep": caterpillar(45, 20, n_outputs=2),
}
# Name -> a function of a forest, rows and a background.
KERNELS = {
    **{
        f"tree_shap by {name}": lambda f, X, _, name=name: tree_shap(f, X, algorithm=name).values
        for name in ("blocks", "rows", "tables")
    },
    **{
        f"{method}, {output}": lambda f, X, _, m=method, o=output: explain(f, X, m, output=o).values
        for method in ("tree_shap", "saabas")
        for output in ("predicted", 0)
    },
    "saabas": lambda f, X, _: explain(f, X, "saabas").values,
    "local_mdi": lambda f, X, _: explain(f, X, "local_mdi").values,
    "pairs": lambda f, X, _: interactions(f, X).values,
    "pairs against a background": lambda f, X, Z: interactions(f, X, background=Z).values,
    "threes": lambda f, X, _: interactions(f, X, sets=[(0, 1, 2)], order=3).values,
}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", FORESTS)
def test_other_rows_and_threads_leave_the_bytes_of_a_row_alone(name, kernel):
    """Rows in other places of other blocks, which have up to 512 rows."""
    forest, values_of = FORESTS[name], KERNELS[kernel]
    if name == "deep" and kernel.endswith("tables"):
        return
    X, background = rows_on_thresholds(forest, 600), rows_on_thresholds(forest, 3, seed=1)
    values = values_of(forest, X, background)
    for rows in (np.arange(len(X))[::-1], np.arange(3, 400, 7), np.array([599])):
        expected = np.ascontiguousarray(values[rows]).tobytes()
        assert values_of(forest, X[rows], background).tobytes() == expected
    with threads(1):
        assert values_of(forest, X, background).tobytes() == values.tobytes()


@pytest.mark.parametrize("method", ["tree_shap", "saabas", "tree_shap_interventional"])
@pytest.mark.parametrize("name", [*DRAWN, *FITTED])
def test_baseline_and_attributions_add_up_to_the_prediction(name, method):
    forest = DRAWN[name]() if name in DRAWN else to_forest(fitted(name)[0])
    X = rows_on_thresholds(forest, 50) if name in DRAWN else fitted(name)[1]
    background, X = X[3 :: max(1, len(X) // 10)], X[:: max(1, len(X) // 40)]
    more = {"background": background} if method.endswith("interventional") else {}
    totals = getattr(splitcredit, method)(forest, X, **more).totals()
    assert twins.largest_error(totals, forest.predict(X)) <= twins.ROUNDING
