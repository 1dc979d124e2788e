"""Infinitely many totally randomized trees with binary splits, on a known distribution."""

from functools import cache

import numpy as np

from reproduction.theory.distributions import JointDistribution
from reproduction.theory.impurities import impurity as impurity_of


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
