"""Slow twins for TreeSHAP on deep trees, and the algorithms of lundberg2017 as they are printed."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

import twins


def means_of_leaves(forest) -> np.ndarray:
    """Mean of the leaves of each tree, each weighted by the product of the shares on its path.

    A share is that of the child in the covers of both children. No rounding but the last.
    """
    means = np.zeros((forest.n_trees, forest.n_outputs), dtype=object)
    for t, root in enumerate(forest.tree_offsets[:-1]):
        for leaf, path in twins.ways(forest, root):
            weight = Fraction(1)
            for k, _, child in path:
                covers = (
                    Fraction(float(forest.cover[c])) for c in (forest.left[k], forest.right[k])
                )
                weight *= Fraction(float(forest.cover[child])) / sum(covers)
            means[t] += [weight * Fraction(float(v)) for v in forest.value[leaf]]
    return means.astype(float)


def tree_shap_by_sizes(forest, X) -> np.ndarray:
    """Shapley values of Eq. 2 with Algorithm 1 as fractions, by sizes of the known subset.

    The subsets of size k of the features on a path have the weight e_k together, the coefficient of
    y^k in the product of n_j + o_j d_j y over the path's features, where n_j / d_j is the share of
    the cover that goes this way where j is unknown, and o_j = 1 if x goes this way where j is
    known. For feature i its own factor is divided out again, which is exact in whole numbers. This
    takes O(D^2) steps a leaf, so that depth 150 is within reach.
    """
    values = np.zeros((len(X), forest.n_features, forest.n_outputs), dtype=object)
    for n, row in enumerate(X):
        for root in forest.tree_offsets[:-1]:
            _visit(forest, row, int(root), {}, [1], values[n])
    return twins.aggregated(forest, values)


def _visit(forest, row, k, path, product, out):
    """`path` is the share, as numerator and denominator, and o of each feature above node k."""
    if forest.feature[k] < 0:
        m, denominator = len(path), math.prod(d for _, d, _ in path.values())
        for i, (n, d, o) in path.items():
            quotient = _divided(product, n, d * o)
            weighted = sum(w * e for w, e in zip(twins.orders(m), quotient, strict=True))
            gain = Fraction((o * d - n) * weighted, denominator * math.factorial(m))
            for c in np.flatnonzero(forest.value[k]):
                out[i, c] += gain * Fraction(forest.value[k, c])
        return
    i, left = int(forest.feature[k]), twins.goes_left(forest, k, row)
    before = path.get(i, (1, 1, 1))
    above = _divided(product, before[0], before[1] * before[2]) if i in path else product
    for child, x_goes_here in ((forest.left[k], left), (forest.right[k], not left)):
        share = Fraction(before[0], before[1])
        share *= Fraction(forest.cover[child]) / Fraction(forest.cover[k])
        factor = (share.numerator, share.denominator, before[2] * int(x_goes_here))
        if factor[0] or factor[2]:
            product_here = _multiplied(above, factor[0], factor[1] * factor[2])
            _visit(forest, row, int(child), {**path, i: factor}, product_here, out)


def _multiplied(product, constant, slope):
    """Coefficients of the product times constant + slope y."""
    pairs = zip([*product, 0], [0, *product], strict=True)
    return [constant * a + slope * b for a, b in pairs]


def _divided(product, constant, slope):
    """Coefficients of the product over constant + slope y, which divides it."""
    if constant == 0:
        return [e // slope for e in product[1:]]
    quotient, last = [], 0
    for e in product[:-1]:
        last = (e - slope * last) // constant
        quotient.append(last)
    return quotient


# What lundberg2017 prints, with any of its misprints left in.
MISPRINTS = (
    "EXTEND: new element at l + 1",
    "EXTEND: w is 1 if l = 0",
    "UNWIND: m_i of the cut m",
    "UNWIND: m_{j+1} of the cut m",
    "RECURSE: first feature 0",
)


def printed_expvalue(x, S, tree):
    """Algorithm 1 as printed: both branches of an unknown split are the left one."""

    def g(j, w):
        if tree.v[j] is not None:
            return w * tree.v[j]
        if tree.d[j] in S:
            return g(tree.a[j], w) if x[tree.d[j]] <= tree.t[j] else g(tree.b[j], w)
        a = tree.a[j]
        return g(a, w * tree.r[a] / tree.r[j]) + g(a, w * tree.r[a] / tree.r[j])

    return g(0, Fraction(1))


def printed_shapley(M, f_x):
    """Eq. 2 as printed, with the factor (M - |S|! - 1) in the place of (M - |S| - 1)!."""
    phi = [Fraction(0)] * M
    for i in range(M):
        other_players = [j for j in range(M) if j != i]
        for size in range(M):
            for S in combinations(other_players, size):
                last = M - math.factorial(size) - 1
                weight = Fraction(math.factorial(size) * last, math.factorial(M))
                phi[i] += weight * (f_x(tuple(sorted((*S, i)))) - f_x(S))
    return phi


def printed_tree_shap(x, tree, left_in=()):
    """Algorithm 2 in fractions with 1-based paths, the misprints `left_in` as printed.

    A path is a dict of place -> [d, z, o, w]; a place that nothing was written to is empty, all 0.
    """
    phi = [Fraction(0)] * len(x)
    is_printed = {name: name in left_in for name in MISPRINTS}

    def extend(m, z, o, d):
        length = len(m) + 1
        m = {place: list(element) for place, element in m.items()}
        first = 0 if is_printed["EXTEND: w is 1 if l = 0"] else 1
        last = [d, z, o, Fraction(length == first)]
        if is_printed["EXTEND: new element at l + 1"]:
            m[length] = [None, Fraction(0), Fraction(0), Fraction(0)]
            m[length + 1] = last
        else:
            m[length] = last
        for i in range(length - 1, 0, -1):
            m[i + 1][3] += o * m[i][3] * Fraction(i, length)
            m[i][3] = z * m[i][3] * Fraction(length - i, length)
        return m

    def unwind(uncut, i):
        length = len(uncut)
        n = uncut[length][3]
        m = {place: list(uncut[place]) for place in range(1, length)}
        cut_out = (m if is_printed["UNWIND: m_i of the cut m"] else uncut)[i]
        z, o = cut_out[1], cut_out[2]
        for j in range(length - 1, 0, -1):
            if o != 0:
                t = m[j][3]
                m[j][3] = n * length / (j * o)
                n = t - m[j][3] * z * Fraction(length - j, length)
            else:
                m[j][3] = m[j][3] * length / (z * (length - j))
        source = m if is_printed["UNWIND: m_{j+1} of the cut m"] else uncut
        for j in range(i, length):
            m[j][:3] = source[j + 1][:3]
        return m

    def recurse(j, m, z, o, d):
        m = extend(m, z, o, d)
        if tree.v[j] is not None:
            for i in range(2, len(m) + 1):
                w = sum(element[3] for element in unwind(m, i).values())
                if m[i][0] is not None:
                    phi[m[i][0]] += w * (m[i][2] - m[i][1]) * tree.v[j]
            return
        a, b, feature = tree.a[j], tree.b[j], tree.d[j]
        hot, cold = (a, b) if x[feature] <= tree.t[j] else (b, a)
        z = o = Fraction(1)
        k = next((k for k, element in m.items() if element[0] == feature), None)
        if k is not None:
            z, o = m[k][1], m[k][2]
            m = unwind(m, k)
        recurse(hot, m, z * tree.r[hot] / tree.r[j], o, feature)
        recurse(cold, m, z * tree.r[cold] / tree.r[j], Fraction(0), feature)

    nothing = 0 if is_printed["RECURSE: first feature 0"] else -1
    recurse(0, {}, Fraction(1), Fraction(1), nothing)
    return phi
