"""Differences between the library and other packages in the same measure of the same model."""

import numpy as np
import pandas as pd

from reproduction.metrics.trees import tree_depths
from reproduction.parameters import Pairs

KEYS = ("measure", "peer")
VALUES = ("value", "scale", "limit", "limit_float64")
IMPORTANCES = 1

# Unit roundoff, the largest relative error of one operation.
UNIT_ROUNDOFF = {"float64": 2.0**-53, "float32": 2.0**-24}
# Probability that the largest of all differences exceeds its limit by chance.
_PROBABILITY = 1e-3


def compute(attributions, forest, pairs: Pairs) -> pd.DataFrame:
    """Largest difference of each pair, and the difference that rounding explains.

    Of `pairs`, the first is a measure of rows by the library and the second one by another package,
    of the same rows and outputs. One row a pair:

    - ``measure`` and ``peer``, the names of the two; ``package``, ``version``, and ``arithmetic``,
      in which it adds up;
    - ``n_rows`` that are explained; ``n_values`` compared; ``n_trees``; ``depth`` of the deepest;
    - ``value``: the largest absolute difference; ``scale``: the largest absolute value;
    - ``limit`` and ``limit_float64``: of the difference, in the package's arithmetic, and if it
      were float64.

    A value of a mean or sum over trees is made by n additions, a split on the path of the row each,
    n being the sum of the trees' depths. If partial sums stay below S, the sum of the trees'
    largest values, each operation errs by at most u S, u being the unit roundoff. Roundings that
    are independent and zero on average then add up to more than lambda sqrt(n) u S with probability
    below 2 exp(-lambda^2 / 2) (Azuma's inequality; Higham and Mary, "A new approach to
    probabilistic rounding error analysis", 2019). Lambda is such that the largest of N values
    exceeds that with probability below 0.001. The limit is the sum of the two sides', ours in
    float64.
    """
    rows = []
    for measure, peer in pairs:
        ours, theirs = attributions[measure], attributions[peer]
        if ours.values.shape != theirs.values.shape:
            raise ValueError(
                f"{measure} is {ours.values.shape} and {peer} is {theirs.values.shape}: compare "
                "the same rows and outputs"
            )
        if "arithmetic" not in theirs.parameters:
            raise ValueError(f"{peer} is no measure of another package: give one as the second")
        rows.append({"measure": measure, "peer": peer, **_compared(ours, theirs, forest)})
    return pd.DataFrame(rows)


def _compared(ours, theirs, forest):
    arithmetic, depth = theirs.parameters["arithmetic"], tree_depths(forest)
    node_values = forest.impurity[:, None] if ours.method == "local_mdi" else forest.value
    largest = np.maximum.reduceat(np.abs(node_values).max(axis=1), forest.tree_offsets[:-1])
    total = largest.mean() if forest.aggregate == "mean" else largest.sum()
    factor = np.sqrt(2 * np.log(2 * ours.values.size / _PROBABILITY)) * np.sqrt(depth.sum()) * total
    our_roundoff = UNIT_ROUNDOFF["float64"]
    return {
        **{name: theirs.parameters[name] for name in ("package", "version", "arithmetic")},
        "n_rows": len(ours.values),
        "n_values": ours.values.size,
        "n_trees": forest.n_trees,
        "depth": depth.max(),
        "value": np.abs(ours.values - theirs.values).max(),
        "scale": np.abs(ours.values).max(),
        "limit": factor * (our_roundoff + UNIT_ROUNDOFF[arithmetic]),
        "limit_float64": factor * (our_roundoff + our_roundoff),
    }
