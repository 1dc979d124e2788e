"""What the measures share where each tree speaks for its in-bag or its out-of-bag rows only."""

from __future__ import annotations

import numpy as np

from splitcredit.attribution import Attribution, Importance
from splitcredit.importances._training import (
    ROWS,
    check_choice,
    output_indices,
    training_data,
    training_rows,
)

WEIGHTS = ("absolute", "y", "centred_y")


def attribute(forest, X, rows, output, method, kernel) -> Attribution:
    """Attributions of the training rows, each by the trees that it is in or out of the bag of.

    Parameters
    ----------
    forest : Forest
    X : array-like or DataFrame (n_train, n_features)
    rows : {"oob", "inbag"}
    output : "all", or the name or index of one output
    method : str
        Name of the measure.
    kernel : callable (forest, prepared X, outputs, inbag) -> (n_train, n_features, len(outputs))

    Returns
    -------
    Attribution
        Sums over the trees of the kind, divided by the number of all trees. The baseline is 0:
        they do not add up to a prediction.
    """
    check_choice("rows", rows, ROWS)
    outputs = np.array(output_indices(forest, output), np.int64)
    return Attribution(
        values=kernel(forest, training_rows(forest, X), outputs, rows == "inbag"),
        baseline=np.zeros(len(outputs)),
        feature_names=forest.feature_names,
        output_names=[forest.output_names[c] for c in outputs],
        method=method,
        parameters={"rows": rows, "output": output if isinstance(output, str) else int(output)},
    )


def total(forest, X, y, weigh_by, attribution) -> Importance:
    """Global importance: mean over the rows of |phi_i| or y_i phi_i, added over the outputs.

    Parameters
    ----------
    forest : Forest
    X : array-like or DataFrame (n_train, n_features)
    y : (n_train,)
    weigh_by : {"absolute", "y", "centred_y"}
    attribution : Attribution of the training rows
    """
    check_choice("weigh_by", weigh_by, WEIGHTS)
    _, y = training_data(forest, X, y)
    values = attribution.values
    if weigh_by == "absolute":
        found = np.abs(values).mean(axis=0).sum(axis=1)
    else:
        targets = np.eye(forest.n_outputs)[y] if forest.n_outputs > 1 else y[:, None]
        if weigh_by == "centred_y":
            targets = targets - targets.mean(axis=0)
        chosen = [forest.output_names.index(name) for name in attribution.output_names]
        found = (values * targets[:, None, chosen]).mean(axis=0).sum(axis=1)
    parameters = attribution.parameters | {"weigh_by": weigh_by}
    return Importance(found, forest.feature_names, attribution.method, parameters)
