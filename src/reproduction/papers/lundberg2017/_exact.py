"""Shapley values of trees of any depth as fractions: the reference for errors against depth.

The Shapley weights are integrals over [0, 1], so that lundberg2017, Eq. 2 with Algorithm 1 gives

    phi_j = sum over leaves of v (o_j - z_j) * integral of prod_{i != j} f_i(t) dt,
    f_i(t) = (1 - t) z_i + t o_i,

with z_i the product of the cover ratios of the path's edges that test i, and o_i = 1 if x takes all
of them, else 0. The integrand is a polynomial of degree below the number m of features on the path.
Its values at m rational points and the weights of the interpolation through them are fractions, so
nothing is rounded. That costs O(m) fractions an edge, where Eq. 2 costs 2^M.
"""

from fractions import Fraction
from functools import lru_cache
from math import lcm

from reproduction.papers.lundberg2017._algorithms import INTERNAL, Tree


def tree_shap(x, tree: Tree) -> list[Fraction]:
    """Phi by feature of one row; the tree's values and covers must be fractions.

    Numbers of one node at all points are whole numbers over one denominator, because sums of
    fractions that reduce themselves take most of their time to do so.
    """
    m = max(1, unique_on_path(tree))
    weights, size = _rule(m)
    phi = [Fraction(0)] * len(x)
    untested = _Factor(Fraction(1), 1, m)

    def below(j, above, scale, factors):
        """Sum over the leaves below node j of v times all f_i, at each point; denominator."""
        if tree.v[j] is not INTERNAL:
            return [tree.v[j].numerator * a for a in above], scale * tree.v[j].denominator
        i, child_of_x = tree.d[j], tree.child(j, x)
        before = factors.get(i, untested)
        sums_of_children = []
        for child in (tree.a[j], tree.b[j]):
            o = before.o * (child == child_of_x)
            after = _Factor(before.z * tree.r[child] / tree.r[j], o, m)
            if after.z == 0 and after.o == 0:
                continue  # no subset of features leads there
            products = [a // f * g for a, f, g in zip(above, before.f, after.f, strict=True)]
            new_factors = {**factors, i: after}
            sums = below(child, products, scale // before.scale * after.scale, new_factors)
            # The term of i with this edge takes the place of the term without it.
            phi[i] += (after.o - after.z) * after.integral(sums, weights) / size
            if before.z != before.o:
                phi[i] -= (before.o - before.z) * before.integral(sums, weights) / size
            sums_of_children.append(sums)
        common = lcm(*(scale for _, scale in sums_of_children))
        raised = [[a * (common // scale) for a in values] for values, scale in sums_of_children]
        return [sum(column) for column in zip(*raised, strict=True)], common

    below(0, [1] * m, 1, {})
    return phi


class _Factor:
    """f_i at the points k / (m + 1), as whole numbers `f` over `scale`."""

    def __init__(self, z, o, m):
        self.z, self.o, self.f, self.scale = z, o, [1] * m, 1
        if z != 1 or o != 1:
            n, d = z.numerator, z.denominator
            self.f = [(m + 1 - k) * n + k * o * d for k in range(1, m + 1)]
            self.scale = (m + 1) * d

    def integral(self, sums, weights):
        """Of the sum over leaves without the factor f_i, times the size of the weights."""
        values, scale = sums
        integer_part, fraction_part = 0, 0
        for w, v, f in zip(weights, values, self.f, strict=True):
            quotient, remainder = divmod(w * v, f)
            integer_part += quotient
            # Only where the feature is tested again below, by whose factor this one was replaced.
            if remainder:
                fraction_part += Fraction(remainder, f)
        return (integer_part + fraction_part) * Fraction(self.scale, scale)


def unique_on_path(tree: Tree) -> int:
    """Most distinct features that a path of the tree tests."""

    def visit(j, seen):
        if tree.v[j] is not INTERNAL:
            return len(seen)
        seen = seen | {tree.d[j]}
        return max(visit(tree.a[j], seen), visit(tree.b[j], seen))

    return visit(0, frozenset())


@lru_cache(maxsize=64)
def _rule(m):
    """Weights of the points k / (m + 1), exact below degree m: whole numbers over one size."""
    master = [1]  # prod (s - k), lowest power first, with s = t (m + 1)
    for k in range(1, m + 1):
        master = [b - k * a for a, b in zip([*master, 0], [0, *master], strict=True)]
    weights = []
    for k in range(1, m + 1):
        # master / (s - k) by Horner's scheme, and its value at k.
        quotient, carry = [0] * m, 0
        for power in range(m, 0, -1):
            carry = master[power] + carry * k
            quotient[power - 1] = carry
        at_k = sum(c * k**power for power, c in enumerate(quotient))
        area = sum(Fraction(c * (m + 1) ** power, power + 1) for power, c in enumerate(quotient))
        weights.append(area / at_k)
    size = lcm(*(w.denominator for w in weights))
    return [int(w * size) for w in weights], size
