"""Saabas' method: changes of the prediction along each row's path."""

from __future__ import annotations

import numpy as np

from splitcredit.attribution import Attribution
from splitcredit.importances import select_outputs


def explain(forest, X, output="all") -> Attribution:
    """Saabas attributions: each split on the row's path gets the change of the node's prediction.

    Parameters
    ----------
    forest : Forest
    X : array-like or DataFrame (n_samples, n_features)
    output : "all", "predicted", or the name or index of one output
        ``"predicted"`` explains, for each row, its own predicted class.

    Returns
    -------
    Attribution
        In units of the prediction. Baseline: Value at the root, averaged (or summed) over trees.

    Raises
    ------
    ValueError
        If X does not fit the forest, or there is no such output.
    """
    from splitcredit.kernels import saabas

    X = forest.prepare(X)
    outputs, index = select_outputs(forest, X, output)
    baseline = saabas.baseline(forest)
    if index is not None:
        values = saabas.saabas_one(forest, X, index)[:, :, None]
        baseline, names = baseline[index][:, None], ("predicted",)
    else:
        values = saabas.saabas(forest, X)[:, :, outputs]
        baseline, names = baseline[outputs], np.array(forest.output_names)[outputs]
    return Attribution(
        values=values,
        baseline=baseline,
        feature_names=forest.feature_names,
        output_names=tuple(names),
        method="saabas",
        parameters={"output": output if isinstance(output, str) else int(output)},
        output_index=index,
    )
