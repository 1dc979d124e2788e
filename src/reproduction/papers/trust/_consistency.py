"""Violations of consistency: pairs of trees in which a measure's credit falls while it should not.

The trees are functions on the cube {0, 1}^3, f(x) = u(x1, x2) + (x0 - 1/2) d(x1, x2), complete, of
features in an order that is drawn at every node. What feature 0 adds to what is known of the others
depends on d alone: half of the mean of d where x_S is known, for the output at (1, 1, 1), and a
quarter of the mean square of these means, for the gain. So it grows, whatever is known, if d has
something added for the output, and is stretched for the gain; u is drawn anew. As in section 3 of
lundberg2017, a measure whose credit of feature 0 falls violates consistency.

Each corner has two rows in the bag of the tree and two that are not, so that measures of both kinds
see the function itself. The permutation importance is a share of the variance of y, which u changes
too: so its credit may fall although the loss does not.
"""

import inspect

import numpy as np

from reproduction import peers
from splitcredit.models.forest import Forest

M = 3
# Rows of each corner, in the bag and as many that are not.
ROWS = 2
# Values of u and d are drawn from -LARGEST .. LARGEST.
LARGEST = 8
# Falls below this share of the credit are rounding.
MARGIN = 1e-9
ONLY_ORDERS = "it orders the features, and an order is no credit"
FITS = "it fits a model of its own, and the two trees are given"


def share_of_falls(method: str, parameters: dict, is_global: bool, pairs) -> tuple[float, str]:
    """Share of the pairs in which the credit of feature 0 falls, or why there is none."""
    if peers.kind_of(method) == "rank":
        return np.nan, ONLY_ORDERS
    if "refit" in peers.requires(method):
        return np.nan, FITS
    results = [[_result(method, parameters, *tree) for tree in pair] for pair in pairs[is_global]]
    about = getattr(results[0][0], "output_names", ("output",))[0]
    if about not in ("output", "predicted"):
        return np.nan, f"it is about {about}, not about the prediction"
    credit = np.array([[result.values.flat[0] for result in pair] for pair in results])
    margin = MARGIN * np.abs(credit).max(axis=1)
    return float((credit[:, 1] < credit[:, 0] - margin).mean()), ""


def drawn(n_pairs: int, seed: int) -> dict[bool, list]:
    """Pairs of (Forest, targets of the training rows), by whether feature 0 gains in the gain."""
    rng, pairs = np.random.default_rng(seed), {False: [], True: []}
    for is_global in pairs:
        for _ in range(n_pairs):
            u, v, d = rng.integers(-LARGEST, LARGEST + 1, (3, 2, 2)).astype(float)
            more = d * rng.uniform(1, 2) if is_global else d + rng.integers(0, LARGEST, (2, 2))
            functions = [np.stack([a - b / 2, a + b / 2]) for a, b in ((u, d), (v, more))]
            pairs[is_global].append(
                [(tree(f, rng), np.tile(f.ravel(), 2 * ROWS)) for f in functions]
            )
    return pairs


def tree(f, rng) -> Forest:
    """A complete tree of a function on the cube, float64 (2, 2, 2), its features drawn."""
    nodes: list = []

    def grow(known):
        cell, place = f[tuple(known.get(j, slice(None)) for j in range(M))], len(nodes)
        nodes.append([-1, -1, -1, cell.mean(), ROWS * cell.size, cell.var()])
        if len(known) < M:
            j = int(rng.choice([j for j in range(M) if j not in known]))
            nodes[place][:3] = [j, *(grow(known | {j: side}) for side in (0, 1))]
        return place

    grow({})
    feature, left, right, value, cover, impurity = map(np.array, zip(*nodes, strict=True))
    return Forest(
        feature=feature,
        threshold=np.full(len(nodes), 0.5),
        left=left,
        right=right,
        value=value[:, None],
        cover=cover,
        tree_offsets=[0, len(nodes)],
        feature_names=[f"x{j}" for j in range(M)],
        output_names=["output"],
        impurity=impurity,
        criterion="squared_error",
        # The types of converted forests, for which the kernels are compiled.
        missing_left=np.zeros(len(nodes), bool),
        x_dtype="float32",
        inbag=np.repeat(np.array([[1, 0]], np.uint8), ROWS * f.size, axis=1),
    )


def _result(method, parameters, forest, y):
    """A measure of one tree: the first of its values is the credit of feature 0."""
    function = peers.function_of(method)
    takes = inspect.signature(function).parameters
    X = np.tile(np.indices([2] * M).reshape(M, -1).T.astype(float), (2 * ROWS, 1))
    of_row = np.ones((1, M)) if peers.kind_of(method) == "explain" else X
    given = {"forest": forest, "model": forest, "X": of_row, "y": y, "background": X}
    # What is sampled falls by chance, too: SAGE of three features is enumerated.
    given |= {"algorithm": "exact"} if "algorithm" in parameters else {}
    return function(**{n: value for n, value in (parameters | given).items() if n in takes})
