r"""Shapley interaction indices of sets of any size, leaf by leaf.

The guide of this folder has the integral. A row enters it by the conditions of the path that it
satisfies, so rows that satisfy the same ones are grouped, and the index is worked out once for
each group and set of features.

**Path-dependent.** At point t_k with weight w_k, the group has the product P_k of the weight and
all factors f_i = (1 - t_k) z_i + t_k o_i, and each feature of T has the quotient::

    (o_j - z_j) / f_j = (1 - z_j) / (t_k + (1 - t_k) z_j)  if o_j = 1,   -1 / (1 - t_k)  if o_j = 0.

The index is v times the sum over k of P_k times the quotients of T. No point is 0 or 1.

**Against a background row** the mixture of x (on S) and the background row (elsewhere) comes to
the leaf if every feature's condition is satisfied. If a condition fails for both rows, none does.
Let a conditions be satisfied by x only and b by the background row only. T must lie among these
a + b features; let it have c of the a and d of the b. Then the integrand is
(-1)^d t^(a - c) (1 - t)^(b - d), with the integral (a - c)! (b - d)! / (a - c + b - d + 1)!.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.interactions.leaf_paths import group_rows, leaf_paths
from splitcredit.kernels.interactions.sets import find, key_of, next_set
from splitcredit.kernels.interventional.category_paths import category_paths
from splitcredit.kernels.nodes import n_blocks
from splitcredit.kernels.tree_shap.transposed import flattened, take_lines, write_lines

# Most rows in one block, one thread's work. The more rows, the more of them share a group.
BLOCK = 512
# Leaves that the blocks are taken to at a time: Python sees an interrupt between two calls.
LEAVES = 256


class Workspace(NamedTuple):
    """Buffers of a thread for the numbers of one leaf."""

    group: np.ndarray  # int64 (rows,): group of each row
    # bool (rows, most features on a path): which conditions the rows of a group satisfy
    bits: np.ndarray
    # int64 (most sets on a path, size): the features of each wanted set, by their places on the
    # path
    places: np.ndarray
    numbers: np.ndarray  # int64 (most sets on a path,)
    # float64 (most sets on a path, rows): the index of each set for each group of rows, for a leaf
    # with value 1
    index: np.ndarray


def interaction_index(forest, X, outputs, table, sets, background=None) -> np.ndarray:
    """Compute the Shapley interaction index of sets, float64 (n_samples, n_sets, k)."""
    paths = leaf_paths(forest)
    most, size = int(np.diff(paths.starts).max()), sets.shape[1]
    out = np.zeros((len(X), len(sets), len(outputs)))
    if most < size or not len(sets):
        return out
    columns = category_paths(forest)
    X = np.array(columns.appended(X), np.float64, order="C")
    behind = X[:0] if background is None else columns.appended(background)
    behind = np.array(behind.T, np.float64, order="C")
    value = np.array(forest.value[paths.leaves][:, outputs], np.float64, order="C")
    tables = _quadrature(most, size), _betas(most, size)
    extent = min(comb(most, size), len(sets)), size
    blocks = n_blocks(len(out), BLOCK)
    for first in range(0, len(paths.leaves), LEAVES):
        leaves = first, min(first + LEAVES, len(paths.leaves))
        _credit(blocks, leaves, paths, table, value, (X, behind), tables, extent, flattened(out))
    if background is not None:
        out /= len(background)
    if forest.aggregate == "mean":
        out /= forest.n_trees
    return out


@lru_cache(maxsize=8)
def _quadrature(most, size):
    """Return points and weights of the exact rule by path length, (most + 1, 2, points)."""
    rules = np.zeros((most + 1, 2, (most - size) // 2 + 1))
    for width in range(size, most + 1):
        n_points = (width - size) // 2 + 1
        x, w = np.polynomial.legendre.leggauss(n_points)
        rules[width, :, :n_points] = (x + 1) / 2, w / 2
    return rules


@lru_cache(maxsize=8)
def _betas(most, size):
    """Tabulate i! j! / (i + j + 1)! up to `most`, by ratios, as the factorials overflow."""
    betas = np.zeros((most + 1, most + 1))
    betas[0] = 1 / np.arange(1, most + 2)
    for i in range(1, most + 1):
        betas[i] = betas[i - 1] * (i / np.arange(i + 1, i + most + 2))
    return betas


@kernel(parallel=True)
def _credit(first, last, leaves, paths, table, value, both, integrals, extent, out):
    """Take every block of rows to some leaves; a block belongs to one thread."""
    most_sets, size = extent
    for block in range(first, last):
        start, stop = block * BLOCK, min(len(out), (block + 1) * BLOCK)
        work = _make_workspace(stop - start, len(integrals[0]) - 1, most_sets, size)
        _credit_block(start, leaves, paths, table, value, both, integrals, work, out)


@kernel(inner=True)
def _make_workspace(n_rows, width, most_sets, size):
    return Workspace(
        np.empty(n_rows, np.int64),
        np.empty((n_rows, width), np.bool_),
        np.empty((most_sets, size), np.int64),
        np.empty(most_sets, np.int64),
        np.empty((most_sets, n_rows)),
    )


@kernel(inner=True)
def _credit_block(start, leaves, paths, table, value, both, integrals, work, out):
    """Take one block of rows to some leaves."""
    (X, behind), (rules, betas) = both, integrals
    lanes, n_outputs = len(work.group), value.shape[1]
    x, credit = np.empty((X.shape[1], lanes)), np.empty((out.shape[1], lanes))
    take_lines(X, True, start, lanes, x)
    take_lines(out, True, start, lanes, credit)
    others = _make_workspace(behind.shape[1], work.bits.shape[1], 0, 0)
    for leaf in range(leaves[0], leaves[1]):
        path = paths.starts[leaf], paths.starts[leaf + 1]
        n_wanted = _wanted_sets(paths.conditions, path, table, work)
        if n_wanted == 0:
            continue
        n_groups = group_rows(paths.conditions, path, x, work.group, work.bits)
        if behind.shape[1] > 0:
            n_others = group_rows(paths.conditions, path, behind, others.group, others.bits)
            numbers = n_wanted, n_groups, n_others
            _against_background(path[1] - path[0], numbers, others, betas, work)
        else:
            _path_dependent(paths.conditions, path, (n_wanted, n_groups), rules, work)
        for i in range(n_wanted):
            for c in range(n_outputs):
                v, to = value[leaf, c], work.numbers[i] * n_outputs + c
                for lane in range(lanes):
                    credit[to, lane] += v * work.index[i, work.group[lane]]
    write_lines(credit, start, lanes, out)


@kernel(inner=True)
def _wanted_sets(conditions, path, table, work):
    """Write down the wanted sets on the path to a leaf; return their number."""
    size, n_wanted, width = work.places.shape[1], 0, path[1] - path[0]
    if width < size:
        return 0
    places = np.empty(size, np.int64)
    for i in range(size):
        places[i] = i
    going = True
    while going:
        number = table.numbers[find(key_of(conditions, path[0], places, table.base), table.keys)]
        if number >= 0:
            work.numbers[n_wanted] = number
            for i in range(size):
                work.places[n_wanted, i] = places[i]
            n_wanted += 1
        going = next_set(places, width)
    return n_wanted


@kernel(inner=True)
def _path_dependent(conditions, path, numbers, rules, work):
    """Compute the index of each wanted set for each group of rows, by quadrature."""
    n_wanted, n_groups = numbers
    first, width, size = path[0], path[1] - path[0], work.places.shape[1]
    n_points, bits = (width - size) // 2 + 1, work.bits
    product, quotient = np.empty((n_groups, n_points)), np.empty((2, width, n_points))
    for k in range(n_points):
        t = rules[width, 0, k]
        for i in range(width):
            z = conditions[first + i].z
            quotient[0, i, k], quotient[1, i, k] = -1 / (1 - t), (1 - z) / (t + (1 - t) * z)
        for u in range(n_groups):
            product[u, k] = rules[width, 1, k]
            for i in range(width):
                product[u, k] *= (1 - t) * conditions[first + i].z + (t if bits[u, i] else 0.0)
    for s in range(n_wanted):
        for u in range(n_groups):
            total = 0.0
            for k in range(n_points):
                part = product[u, k]
                for i in range(size):
                    place = work.places[s, i]
                    part *= quotient[1 if bits[u, place] else 0, place, k]
                total += part
            work.index[s, u] = total


@kernel(inner=True)
def _against_background(width, numbers, others, betas, work):
    """Sum the index of each wanted set for each group of rows over the background rows."""
    n_wanted, n_groups, n_others = numbers
    bits, size = work.bits, work.places.shape[1]
    only = np.empty(width, np.int64)  # 1: only x satisfies the condition, -1: only the other row
    counts = np.zeros(n_others)
    for group in others.group:
        counts[group] += 1
    for u in range(n_groups):
        for s in range(n_wanted):
            work.index[s, u] = 0.0
        for w in range(n_others):
            n_x, n_other, fails = 0, 0, False
            for i in range(width):
                only[i] = np.int64(bits[u, i]) - np.int64(others.bits[w, i])
                n_x += only[i] > 0
                n_other += only[i] < 0
                fails |= not (bits[u, i] or others.bits[w, i])
            if fails:
                continue
            for s in range(n_wanted):
                sign, n_others_in_set = 1, 0
                for i in range(size):
                    sign *= only[work.places[s, i]]
                    n_others_in_set += only[work.places[s, i]] < 0
                if sign != 0:
                    weight = betas[n_x - size + n_others_in_set, n_other - n_others_in_set]
                    work.index[s, u] += counts[w] * sign * weight
