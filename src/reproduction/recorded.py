"""Records of the authors of a paper that nobody can compute: a tree, and orders of features.

``data/README.md`` says where each table comes from.
"""

import re

import numpy as np

from reproduction.datasets import _tables
from splitcredit.models.forest import LEAF, Forest

# Name of a tree -> its table, and its features in the order of the data set.
TREES = {
    "gajewski2025_wine_tree": (
        _tables.listed("gajewski2025_wine_tree"),
        (
            *("fixed_acidity", "volatile_acidity", "citric_acid", "residual_sugar", "chlorides"),
            *("free_sulfur_dioxide", "total_sulfur_dioxide", "density", "pH", "sulphates"),
            "alcohol",
        ),
    )
}
# For gajewski2025, by model and places: the features in the order in which equal ones are taken.
TIE_ORDERS = _tables.listed("gajewski2025_tie_orders")


def forest(name: str) -> Forest:
    """A model of `TREES` that is read and not fitted; ValueError if there is none of the name."""
    if name not in TREES:
        raise ValueError(f"no recorded tree {name!r}: there are {', '.join(TREES)}")
    table, features = TREES[name]
    nodes = table.read()
    index = {feature: j for j, feature in enumerate(features)}

    def single(column):
        return column.fillna(0.0).to_numpy(np.float32).astype(np.float64)

    return Forest(
        feature=nodes["feature"].map(index).fillna(LEAF).to_numpy(np.int32),
        threshold=single(nodes["threshold"]),
        left=nodes["left"],
        right=nodes["right"],
        missing_left=np.zeros(len(nodes), np.bool_),
        value=single(nodes["value"])[:, None],
        cover=single(nodes["cover"]),
        tree_offsets=[0, len(nodes)],
        feature_names=tuple(f"x{j}" for j in range(len(features))),
        output_names=("output",),
        strict=True,
        x_dtype="float32",
        aggregate="sum",
        base=single(nodes["base_score"])[:1],
        cover_kind="sum_hessian",
    )


def tie_order(kind: str, feature_names) -> np.ndarray:
    """The order in which the authors' program took features whose gaps are equal.

    `kind` is the end of the name of the model with these features, ``single`` or ``bigger``. Row k
    begins with the index of the feature that is preferred in place k.
    """
    # The authors' files write names in this way: Jitter(%) is Jitter_8_.
    index = {re.sub(r"\W", "_", n.replace("%", "8")): j for j, n in enumerate(feature_names)}
    order = np.full((len(index), len(index)), -1)
    for row in TIE_ORDERS.read().itertuples():
        names = row.order.split()
        if row.model.endswith(f"_{kind}") and set(names) == set(index):
            order[row.first_place - 1 :] = [index[name] for name in names]
    if (order < 0).any():
        raise ValueError(f"ties: no order {kind!r} is recorded for {', '.join(feature_names)}")
    return order
