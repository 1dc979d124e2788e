"""Algorithm 1 (EXPVALUE), Eq. 2 and Algorithm 2 (Tree SHAP) of lundberg2017, word for word.

One output of one tree, in plain Python, with whatever numbers the tree is made of: floats, or
`Fraction` for no rounding at all. Indices run from 1 as printed, so element i of the path m is
``m[i - 1]``; nodes and features are numbered from 0. Functions add their elementary steps to a
`Counter`, if they are given one: ``"G"``, calls of G in Algorithm 1; ``"loop"``, passes through the
loops of EXTEND and UNWIND in Algorithm 2. They depend on the trees and rows alone, not on a clock.

Misprints, and what is right (docs/theory/tree_shap.md shows them; a test puts each one back in,
and it divides by zero, runs out of m or gives other values):

- Algorithm 1 averages ``G(a_j, w r_aj / r_j)`` with itself; the second is
  ``G(b_j, w r_bj / r_j)``.
- Eq. 2 has the factor ``(M - |S|! - 1)``; right is ``(M - |S| - 1)!``.
- EXTEND: ``l = len(m) + 1`` is the new length already, so the new element is m_l, not m_{l+1}, and
  its w is 1 if ``l = 1``, not if ``l = 0``. The loop below it is right as printed.
- UNWIND cuts m to its first l - 1 elements and then reads m_i, where i may be l, and m_{j+1} up to
  m_l: both are of the uncut m. That w is not moved along with d, z and o is right.
- ``phi_{m_i}`` in RECURSE is phi of feature m_i.d.
- RECURSE starts with feature 0, which is a feature where they are numbered from 0: FINDFIRST would
  find it. Here it is -1.

The leaf test ``v_j != internal`` of RECURSE is right: v_j holds a value at a leaf.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import factorial

from splitcredit.models.forest import LEAF

NOTHING = LEAF
INTERNAL = None


@dataclass(frozen=True)
class Tree:
    """The paper's tree = {v, a, b, t, r, d} for one output, one list entry a node, root first."""

    v: list
    a: list
    b: list
    t: list
    r: list
    d: list

    def child(self, j, x) -> int:
        """The child of node j to which a row goes."""
        return self.a[j] if x[self.d[j]] <= self.t[j] else self.b[j]

    def tests(self, x):
        """Inner nodes on the path of a row, from the root."""
        j = 0
        while self.v[j] is INTERNAL:
            yield j
            j = self.child(j, x)

    @property
    def n_leaves(self) -> int:
        """L."""
        return sum(v is not INTERNAL for v in self.v)

    @property
    def depth(self) -> int:
        """D, edges from the root to the deepest leaf."""
        depth = [0] * len(self.v)
        for j, (a, b) in enumerate(zip(self.a, self.b, strict=True)):
            if self.v[j] is INTERNAL:
                depth[a] = depth[b] = depth[j] + 1
        return max(depth)


def trees_of(forest, output: int = 0, number=float) -> list[Tree]:
    """The trees of a `Forest` that compares float64 by ``<=``, for one output."""
    trees = []
    for start, stop in zip(forest.tree_offsets[:-1], forest.tree_offsets[1:], strict=True):
        nodes = slice(start, stop)
        leaf = forest.feature[nodes] == LEAF
        value = zip(forest.value[nodes, output].tolist(), leaf, strict=True)
        trees.append(
            Tree(
                v=[number(v) if at_leaf else INTERNAL for v, at_leaf in value],
                a=(forest.left[nodes] - start).tolist(),
                b=(forest.right[nodes] - start).tolist(),
                t=forest.threshold[nodes].tolist(),
                r=[number(r) for r in forest.cover[nodes].tolist()],
                d=forest.feature[nodes].tolist(),
            )
        )
    return trees


def expvalue(x, S, tree: Tree, steps: Counter | None = None):
    """Algorithm 1: E[f(x) | x_S], unknown splits averaged by cover."""
    steps = Counter() if steps is None else steps
    v, a, b, r, d = tree.v, tree.a, tree.b, tree.r, tree.d

    def g(j, w):
        steps["G"] += 1
        if v[j] is not INTERNAL:
            return w * v[j]
        if d[j] in S:
            return g(tree.child(j, x), w)
        return g(a[j], w * r[a[j]] / r[j]) + g(b[j], w * r[b[j]] / r[j])

    return g(0, 1)


def shapley_by_subsets(x, tree: Tree, steps: Counter | None = None) -> list:
    """Eq. 2 with Algorithm 1, which is called once for each of the 2^M subsets; phi by feature."""
    return shapley(len(x), lambda S: expvalue(x, S, tree, steps))


def shapley(M: int, f_x) -> list:
    """Eq. 2: the sum over the subsets of M features, of any function of a sorted tuple of them."""
    subsets = [S for size in range(M + 1) for S in combinations(range(M), size)]
    value = {S: f_x(S) for S in subsets}
    weights = [Fraction(factorial(s) * factorial(M - s - 1), factorial(M)) for s in range(M)]
    phi = [0] * M
    for S in subsets[:-1]:
        weight = weights[len(S)]
        for i in set(range(M)) - set(S):
            phi[i] += weight * (value[tuple(sorted((*S, i)))] - value[S])
    return phi


@dataclass(slots=True)
class _Element:
    """One unique feature of the path m."""

    d: int  # feature
    z: object  # fraction of "zero" paths that flow through this branch
    o: object  # fraction of "one" paths
    w: object  # proportion of sets of the size that is this element's place

    def copy(self) -> "_Element":
        return _Element(self.d, self.z, self.o, self.w)


def tree_shap(x, tree: Tree, steps: Counter | None = None) -> list:
    """Algorithm 2, TS(x, tree): phi by feature in polynomial time."""
    steps = Counter() if steps is None else steps
    v, a, b, r, d = tree.v, tree.a, tree.b, tree.r, tree.d
    phi = [0] * len(x)
    one = r[0] / r[0]

    def recurse(j, m, p_z, p_o, p_i):
        m = extend(m, p_z, p_o, p_i, steps)
        if v[j] is not INTERNAL:
            for i in range(2, len(m) + 1):
                w = sum(_unwound(m, i, steps))
                m_i = m[i - 1]
                phi[m_i.d] += w * (m_i.o - m_i.z) * v[j]
        else:
            h = tree.child(j, x)
            c = b[j] if h == a[j] else a[j]
            i_z = i_o = one
            k = _find_first(m, d[j])
            if k is not None:
                i_z, i_o = m[k - 1].z, m[k - 1].o
                m = unwind(m, k, steps)
            recurse(h, m, i_z * r[h] / r[j], i_o, d[j])
            recurse(c, m, i_z * r[c] / r[j], 0, d[j])

    recurse(0, [], one, one, NOTHING)
    return phi


def extend(m: list, p_z, p_o, p_i, steps: Counter) -> list:
    """EXTEND: the subsets of the path grow by a feature, by fractions of zeros and ones."""
    l = len(m) + 1  # noqa: E741 - the paper's name
    one = p_z / p_z  # keeps the kind of number: fractions must not meet floats
    m = [*map(_Element.copy, m), _Element(p_i, p_z, p_o, one if l == 1 else one - one)]
    steps["loop"] += l - 1
    for i in range(l - 1, 0, -1):
        m[i].w = m[i].w + p_o * m[i - 1].w * i / l
        m[i - 1].w = p_z * m[i - 1].w * (l - i) / l
    return m


def unwind(m: list, i: int, steps: Counter) -> list:
    """UNWIND: the inverse of `extend` for element i, wherever in the path it is."""
    remaining = m[: i - 1] + m[i:]
    weights = _unwound(m, i, steps)
    return [_Element(e.d, e.z, e.o, w) for e, w in zip(remaining, weights, strict=True)]


def _unwound(m, i, steps):
    """The proportions after UNWIND; leaves need their sum only."""
    l = len(m)  # noqa: E741
    n = m[l - 1].w
    o, z = m[i - 1].o, m[i - 1].z
    cut = [element.w for element in m[: l - 1]]
    steps["loop"] += l - 1 + l - i
    for j in range(l - 1, 0, -1):
        if o != 0:
            t = cut[j - 1]
            cut[j - 1] = n * l / (j * o)
            n = t - cut[j - 1] * z * (l - j) / l
        else:
            cut[j - 1] = cut[j - 1] * l / (z * (l - j))
    return cut


def _find_first(m, feature):
    """Place (from 1) of the element of a feature, None if nothing is found."""
    return next((k for k, element in enumerate(m, 1) if element.d == feature), None)
