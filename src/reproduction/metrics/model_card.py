"""Quantities that identify a model: its size, its errors, and a hash of its trees."""

import hashlib
from collections import deque

import numpy as np
import pandas as pd

from reproduction.metrics import _rankings
from splitcredit.models.forest import LEAF

KEYS = ("quantity",)
VALUES = ()


def compute(attributions, forest, data, training) -> pd.DataFrame:
    """Size, errors and hash of a regression model, and how often greedy rankings tie.

    Parameters
    ----------
    attributions : dict of str to Attribution
        Those of the method ``pg2_greedy`` have a share of rows with ties.
    forest : Forest, with one output
    data, training : Dataset
        Rows of the test, and those that the model was fitted on.

    Returns
    -------
    DataFrame
        ``quantity`` and ``value``, which is text:

        - ``n_trees``, ``nodes`` (with leaves), ``leaves``; ``distinct_thresholds``: pairs of a
          feature and a threshold in single precision;
        - ``test_rmse``, ``training_rmse``: of predictions in single precision; ``target_sd``:
          standard deviation (of the population) of the test's target; six digits each;
        - ``dump_sha256``: see `dump`;
        - ``tied_share NAME``: of a greedy ranking, the share of the rows with a tie.

    Raises
    ------
    ValueError
        If the model has several outputs.
    """
    if forest.n_outputs != 1:
        raise ValueError(f"model_card: the model has {forest.n_outputs} outputs, expected 1")
    inner = forest.feature != LEAF
    thresholds = forest.threshold[inner].astype(np.float32)
    quantities = {
        "n_trees": forest.n_trees,
        "nodes": forest.n_nodes,
        "leaves": np.count_nonzero(~inner),
        "distinct_thresholds": len(set(zip(forest.feature[inner], thresholds, strict=True))),
        "test_rmse": f"{_rmse(forest, data):.6g}",
        "training_rmse": f"{_rmse(forest, training):.6g}",
        "target_sd": f"{np.std(np.asarray(data.y, float)):.6g}",
        "dump_sha256": hashlib.sha256(dump(forest).encode("ascii")).hexdigest(),
    }
    for name, greedy in _rankings.greedy(attributions).items():
        quantities[f"tied_share {_rankings.label(name)}"] = f"{greedy.parameters['tied_share']:.6g}"
    rows = [(quantity, str(value)) for quantity, value in quantities.items()]
    return pd.DataFrame(rows, columns=["quantity", "value"])


def dump(forest) -> str:
    """The trees as text, one line a node, the same for the same trees.

    Trees in their order; the nodes of a tree breadth first, the left child before the right:
    ``id:feature:threshold:left id:right id`` of a split, ``id:leaf:value`` of a leaf. The root is
    0, features count from 0; thresholds and values are the eight hexadecimal digits of a number in
    single precision, the most significant byte first. Base score, covers and the ways of missing
    values are left out.

    Parameters
    ----------
    forest : Forest, with one output
    """
    hexadecimal = {
        name: [word.hex() for word in array.astype(">f4").view("V4").tolist()]
        for name, array in (("threshold", forest.threshold), ("value", forest.value[:, 0]))
    }
    lines = []
    for root in forest.tree_offsets[:-1].tolist():
        waiting = deque([root])
        while waiting:
            k = waiting.popleft()
            feature, node_id = int(forest.feature[k]), k - root
            if feature == LEAF:
                lines.append(f"{node_id}:leaf:{hexadecimal['value'][k]}")
                continue
            left, right = int(forest.left[k]), int(forest.right[k])
            waiting += left, right
            threshold = hexadecimal["threshold"][k]
            lines.append(f"{node_id}:{feature}:{threshold}:{left - root}:{right - root}")
    return "\n".join(lines)


def _rmse(forest, data):
    predictions = forest.predict(data.X)[:, 0].astype(np.float32).astype(np.float64)
    return np.sqrt(((predictions - np.asarray(data.y, float)) ** 2).mean())
