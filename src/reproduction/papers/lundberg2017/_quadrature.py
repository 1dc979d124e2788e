"""TreeSHAP by quadrature in plain Python, with its steps counted, as the kernels do it for one row.

The derivation is in `splitcredit.kernels.tree_shap.blocks`. With f_i(t) = (1 - t) z_i + t o_i for
each feature i of a path, the Shapley values are integrals over [0, 1] of polynomials, for which
K = ceil(m / 2) points suffice on a tree whose paths test at most m features. An edge that takes
feature i from (z, o) to (z_c, o_c) adds

    (o_c z - z_c o) * sum over the points of (weight and product of all f above) * below / f_i^2

to phi_i, where "below" sums the leaves below times what is still to come of their products.
"""

from collections import Counter
from math import ceil

import numpy as np

from reproduction.papers.lundberg2017._algorithms import INTERNAL, Tree
from reproduction.papers.lundberg2017._exact import unique_on_path


def tree_shap(x, tree: Tree, steps: Counter) -> list[float]:
    """Phi by feature of one row; adds the passes through the loops over the points to `steps`."""
    points, weights = np.polynomial.legendre.leggauss(max(1, ceil(unique_on_path(tree) / 2)))
    points, weights = ((points + 1) / 2).tolist(), (weights / 2).tolist()
    phi = [0.0] * len(x)

    def below(j, above, factors):
        if tree.v[j] is not INTERNAL:
            return [tree.v[j]] * len(points)
        i = tree.d[j]
        z, o = factors.get(i, (1.0, 1.0))
        child_of_x = tree.child(j, x)
        total = [0.0] * len(points)
        for child in (tree.a[j], tree.b[j]):
            z_c, o_c = z * tree.r[child] / tree.r[j], o * (child == child_of_x)
            ratio = []
            for t in points:
                steps["loop"] += 1
                ratio.append(((1 - t) * z_c + t * o_c) / ((1 - t) * z + t * o))
            products = [a * f for a, f in zip(above, ratio, strict=True)]
            sums = below(child, products, {**factors, i: (z_c, o_c)})
            integral = 0.0
            for k, t in enumerate(points):
                steps["loop"] += 1
                integral += above[k] * sums[k] / ((1 - t) * z + t * o) ** 2
                total[k] += ratio[k] * sums[k]
            phi[i] += (o_c * z - z_c * o) * integral
        return total

    below(0, weights, {})
    return phi
