"""Infinite forests on a known distribution: one branch a value, K of the unused inputs drawn.

The trees of Louppe et al. (2013) and of sutera2021's categorical setting, grown by recursion over
the nodes (which inputs are used, at which values), with none of the formulas for their limits.
"""

from collections import defaultdict
from functools import cache

import numpy as np

from reproduction.theory.distributions import JointDistribution
from reproduction.theory.limits import chances_of_best


class MultiwayForest:
    """Infinitely many fully grown trees with exhaustive splits.

    Each node draws K of the inputs not yet used on its path (all of them, if fewer are left) and
    splits on the one that decreases the impurity most; equally good ones are equally likely.
    Scikit-learn's K is another one: see `limits.InfiniteForest`.
    """

    def __init__(self, joint: JointDistribution, k: int, impurity="entropy", depth=None):
        if not 1 <= k <= joint.n_features:
            raise ValueError(f"k={k}: expected 1 to {joint.n_features}, the number of inputs")
        self.joint, self.k, self.kind = joint, k, impurity
        self.depth = joint.n_features if depth is None else depth
        self._look, self._choice = cache(self._make_node), cache(self._make_choice)

    def mdi(self) -> np.ndarray:
        """Global MDI, Eq. 2 and 3 of sutera2021 in the limit, (p,), in units of the impurity."""
        decreases = np.zeros(self.joint.n_features)
        for chance, node, j in self._splits():
            children = [self._child(node, j, v) for v in range(self.joint.cardinalities[j])]
            impurity_below = sum(self._look(c)[0].sum() * self._look(c)[1] for c in children)
            weights, impurity = self._look(node)
            decreases[j] += chance * (weights.sum() * impurity - impurity_below)
        return decreases

    def local_mdi(self, x) -> np.ndarray:
        """Local MDI at `x`, Eq. 8 of sutera2021 in the limit, (p,), in units of the impurity."""
        decreases = np.zeros(self.joint.n_features)
        for chance, node, j in self._splits(x):
            child = self._child(node, j, x[j])
            decreases[j] += chance * (self._look(node)[1] - self._look(child)[1])
        return decreases

    def saabas(self, x) -> np.ndarray:
        """Saabas' attributions of P(Y | x), (p, |Y|)."""
        steps = np.zeros((self.joint.n_features, self.joint.probability.shape[-1]))
        for chance, node, j in self._splits(x):
            before, after = self._look(node)[0], self._look(self._child(node, j, x[j]))[0]
            steps[j] += chance * (after / after.sum() - before / before.sum())
        return steps

    def _splits(self, x=None):
        """All (share of the trees, node, input): the trees that split this node on this input.

        With `x`, only the nodes on the path of x. A node is a tuple of values, None where the
        input is not used.
        """
        reached = {(None,) * self.joint.n_features: 1.0}
        while reached:
            following = defaultdict(float)
            for node, share in reached.items():
                for j, chance in self._choice(node):
                    yield share * chance, node, j
                    values = range(self.joint.cardinalities[j]) if x is None else [x[j]]
                    for v in values:
                        following[self._child(node, j, v)] += share * chance
            reached = following

    def _make_choice(self, node):
        """Inputs that may split the node, each with its probability."""
        weights, impurity = self._look(node)
        unused = [j for j, value in enumerate(node) if value is None]
        grown = len(node) - len(unused) >= self.depth
        if not unused or grown or weights.sum() == 0:
            return []
        gains = []
        for j in unused:
            children = [
                self._look(self._child(node, j, v)) for v in range(self.joint.cardinalities[j])
            ]
            gains.append(impurity - sum(w.sum() * i for w, i in children) / weights.sum())
        return list(zip(unused, chances_of_best(gains, min(self.k, len(unused))), strict=True))

    def _make_node(self, node):
        """P(Y, node) by value of Y, and the node's impurity."""
        known = {j: v for j, v in enumerate(node) if v is not None}
        return self.joint.given(known), self.joint.impurity(known, self.kind)

    @staticmethod
    def _child(node, j, value):
        return (*node[:j], int(value), *node[j + 1 :])


def mdi_best_split(joint: JointDistribution) -> np.ndarray:
    """MDI of the trees that always split on the best input (K = p), one branch a value; (p,) bits.

    Equally good inputs are equally likely.
    """
    return MultiwayForest(joint, joint.n_features).mdi()
