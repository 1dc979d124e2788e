"""TreeSHAP: Shapley values of a tree ensemble's prediction (lundberg2017)."""

from __future__ import annotations

import numpy as np

from splitcredit.attribution import Attribution
from splitcredit.importances import select_outputs


def explain(forest, X, output="all") -> Attribution:
    """Path-dependent TreeSHAP: the Shapley values of lundberg2017, Eq. 2 with Algorithm 1, exact.

    Parameters
    ----------
    forest : Forest
    X : array-like or DataFrame (n_samples, n_features)
    output : "all", "predicted", or the name or index of one output
        ``"predicted"`` explains, for each row, its own predicted class.

    Returns
    -------
    Attribution
        In units of the prediction. Baseline: Expected prediction when no feature is known.

    Raises
    ------
    ValueError
        If X does not fit the forest, or there is no such output.
    """
    from splitcredit.kernels import tree_shap

    X = forest.prepare(X)
    outputs, index = select_outputs(forest, X, output)
    baseline = tree_shap.expected_value(forest)
    if index is not None:
        values = tree_shap.tree_shap_one(forest, X, index)[:, :, None]
        baseline, names = baseline[index][:, None], ("predicted",)
    else:
        values = tree_shap.tree_shap(forest, X, outputs)
        baseline, names = baseline[outputs], np.array(forest.output_names)[outputs]
    return Attribution(
        values=values,
        baseline=baseline,
        feature_names=forest.feature_names,
        output_names=tuple(names),
        method="tree_shap",
        parameters={"output": output if isinstance(output, str) else int(output)},
        output_index=index,
    )
