"""What the second thread gains: each kernel against itself, wall time."""

from __future__ import annotations

from importlib.metadata import version

import numba

from pairs import Pair
from reproduction.datasets import scikit_learn
from reproduction.models import fit
from splitcredit import to_forest
from splitcredit.kernels.tree_shap.explain import tree_shap_one
from splitcredit.kernels.walks import mdi, saabas


def benchmarks():
    """Two threads against one."""
    if numba.config.NUMBA_NUM_THREADS < 2:
        return
    data = scikit_learn.digits()
    recipe = {"estimator": "ExtraTreesClassifier", "n_estimators": 300, "max_features": 1}
    forest = to_forest(fit(recipe, data.X, data.y))
    X = forest.prepare(data.X)
    predicted = forest.predict(data.X).argmax(axis=1)
    kernels = {
        "local MDI": lambda: mdi.local_mdi(forest, X),
        "Saabas, one class": lambda: saabas.saabas_one(forest, X, predicted),
        "TreeSHAP, predicted class": lambda: tree_shap_one(forest, X, predicted),
    }
    for name, kernel in kernels.items():
        yield Pair(
            name,
            "digits, 300 trees, K = 1, 1797 rows, wall",
            "ours on one thread",
            version("splitcredit"),
            on(2, kernel),
            on(1, kernel),
            target=1,
            threads=2,
        )


def on(threads, kernel):
    """The kernel on so many threads."""

    def run():
        numba.set_num_threads(threads)
        kernel()
        numba.set_num_threads(1)

    return run
