"""Infinite forests on a known distribution, by recursion over the nodes.

With one branch a value they are those of Louppe et al. (2013) and of sutera2021's categorical
setting. They know none of the formulas for their limits.
"""

from collections import defaultdict
from functools import cache

import numpy as np

from reproduction.theory.distributions import JointDistribution, impurity_of
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
            below = sum(w.sum() * i for w, i in map(self._look, self._children(node, j)))
            weights, impurity = self._look(node)
            decreases[j] += chance * (weights.sum() * impurity - below)
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
        """All (share of the trees, node, input) that split so; with `x`, on the path of x alone."""
        # A node is a tuple of values, None where the input is not used.
        reached = {(None,) * self.joint.n_features: 1.0}
        while reached:
            following = defaultdict(float)
            for node, share in reached.items():
                for j, chance in self._choice(node):
                    yield share * chance, node, j
                    children = self._children(node, j)
                    for child in children if x is None else [children[x[j]]]:
                        following[child] += share * chance
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
            children = map(self._look, self._children(node, j))
            gains.append(impurity - sum(w.sum() * i for w, i in children) / weights.sum())
        return list(zip(unused, chances_of_best(gains, min(self.k, len(unused))), strict=True))

    def _make_node(self, node):
        """P(Y, node) by value of Y, and the node's impurity."""
        known = {j: v for j, v in enumerate(node) if v is not None}
        return self.joint.given(known), self.joint.impurity(known, self.kind)

    def _children(self, node, j):
        return [self._child(node, j, v) for v in range(self.joint.cardinalities[j])]

    @staticmethod
    def _child(node, j, value):
        return (*node[:j], int(value), *node[j + 1 :])


def mdi_best_split(joint: JointDistribution) -> np.ndarray:
    """MDI of the trees that always split on one of the best inputs (K = p), (p,) bits."""
    return MultiwayForest(joint, joint.n_features).mdi()


class BinaryForest:
    """Fully grown trees with one threshold a node, drawn like those of extra-trees with K = 1.

    The values of an input are the numbers 0, 1, 2, ... A node is a box of values. It splits on one
    of the inputs that are not constant in it, each as likely as the others, at a threshold that is
    uniform between the least and the largest value of the input there. Pure nodes are leaves. For
    binary inputs these are the paper's totally randomized trees; otherwise a node may split on an
    input again, and footnote 7 of sutera2021 applies.
    """

    def __init__(self, joint: JointDistribution, impurity: str = "entropy"):
        if (joint.probability.sum(axis=-1) == 0).any():
            raise ValueError("every combination of inputs must have a positive probability")
        self.joint, self.kind = joint, impurity
        self._look = cache(self._make_node)

    def mdi(self) -> np.ndarray:
        """Global MDI in the limit of infinitely many trees, (p,), in units of the impurity."""

        @cache
        def below(box):
            decreases = np.zeros(self.joint.n_features)
            weight, impurity = self._look(box)
            can_split = [j for j, (low, high) in enumerate(box) if low < high]
            if not can_split or impurity == 0:
                return decreases
            for j in can_split:
                low, high = box[j]
                chance = 1 / len(can_split) / (high - low)
                for cut in range(low, high):
                    sides = [
                        (*box[:j], ends, *box[j + 1 :]) for ends in ((low, cut), (cut + 1, high))
                    ]
                    child_impurity = sum(w * i for w, i in map(self._look, sides))
                    decreases[j] += chance * (weight * impurity - child_impurity)
                    decreases += chance * (below(sides[0]) + below(sides[1]))
            return decreases

        return below(tuple((0, size - 1) for size in self.joint.cardinalities))

    def _make_node(self, box):
        """Probability and impurity of a box."""
        cells = self.joint.probability[tuple(slice(low, high + 1) for low, high in box)]
        by_class = cells.reshape(-1, cells.shape[-1]).sum(axis=0)
        return by_class.sum(), float(impurity_of(by_class, self.kind, self.joint.values))
