"""Compute PG^2 in single precision, as the program of gajewski2025 does.

This is less accurate than `exact`, whose sums have no part that cancels: here the gap is::

    c^2 + sum_u P(u) g_u (sum_t E[g_t | u] - 2 c),

with c the prediction, u a leaf of any tree, g_u its value and g_t the value of tree t. All are
float32, so what is below 1e-7 c^2 is lost, and features whose gaps differ by less tie. It exists to
tell how far the precision decides a printed ranking.

Probabilities are conditional, from the root down: at a split the interval that the path leaves to
the feature has a probability, and so have its two parts; the share of the left one is rounded, and
the right child gets what remains of 1. E[g_t | u] is worked out so too, within the box of u. A
threshold t counts as the largest float32 below it, because ``x < t`` goes left.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.nodes import as_readonly, cached_per_forest, readonly

ZERO, ONE = np.float32(0.0), np.float32(1.0)
# Children that are less probable, given their parent, are not entered.
LEAST = 1e-12

NODE = np.dtype(
    [
        ("threshold", "f4"),
        ("value", "f4"),  # of a leaf
        ("feature", "i4"),  # -1 at a leaf
        ("left", "i4"),
        ("right", "i4"),
        ("low", "i4"),  # nodes above whose thresholds bound the feature's interval here, or -1
        ("high", "i4"),
        ("leaf", "i4"),  # number of a leaf
    ],
    align=True,
)


class SingleForest(NamedTuple):
    """The trees of one output in single precision."""

    nodes: np.ndarray  # NODE (n_nodes,)
    roots: np.ndarray  # int64 (n_trees,)
    low: np.ndarray  # int32 (n_leaves, n_features): node whose threshold bounds the box, or -1
    high: np.ndarray
    base: np.float32


class Work(NamedTuple):
    """Working memory of one thread: lists for the outer and for the inner tree."""

    outer: np.ndarray  # VISIT
    inner: np.ndarray
    waiting: np.ndarray
    whole: np.ndarray  # float32 (2, n_features): the box of all values
    box: np.ndarray  # float32 (2, n_features): that of a leaf


VISIT = np.dtype([("node", "i4"), ("parent", "i4"), ("weight", "f4"), ("sum", "f4")], align=True)


@cached_per_forest
def single_forest(forest, output: int) -> SingleForest:
    """Return the trees of one output, cached with the forest."""
    nodes = np.zeros(forest.n_nodes, NODE)
    for name in ("threshold", "feature", "left", "right"):
        nodes[name] = getattr(forest, name)
    nodes["value"] = forest.value[:, output]
    nodes["leaf"] = np.cumsum(forest.feature < 0) - 1
    low, high = [], []
    for root in forest.tree_offsets[:-1].tolist():
        waiting = [(root, {}, {})]
        while waiting:
            k, below, above = waiting.pop()
            j, t = int(nodes[k]["feature"]), float(nodes[k]["threshold"])
            if j < 0:
                bounds = ([d.get(i, -1) for i in range(forest.n_features)] for d in (below, above))
                for boxes, own in zip((low, high), bounds, strict=True):
                    boxes.append((int(nodes[k]["leaf"]), own))
                continue
            nodes[k]["low"], nodes[k]["high"] = below.get(j, -1), above.get(j, -1)
            tighter = j not in above or t < nodes[above[j]]["threshold"]
            waiting.append((int(nodes[k]["left"]), below, {**above, j: k} if tighter else above))
            tighter = j not in below or t > nodes[below[j]]["threshold"]
            waiting.append((int(nodes[k]["right"]), {**below, j: k} if tighter else below, above))
    boxes = [np.array([own for _, own in sorted(side)], np.int32) for side in (low, high)]
    roots = forest.tree_offsets[:-1].astype(np.int64)
    arrays = (readonly(array) for array in (nodes, roots, *boxes))
    return SingleForest(*arrays, np.float32(forest.base[output]))


def greedy(trees, X, scales, order) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rank by the largest gap in single precision; gaps tie if they are equal as float32.

    Row k of `order` has the features in the order in which equal ones are taken in place k. Returns
    rankings, gaps, and whether there was a tie, each (n_samples, n_ranked).
    """
    n, d = len(X), len(order)
    rankings, gaps_, tied = np.zeros((n, d), np.int64), np.zeros((n, d)), np.zeros((n, d), np.bool_)
    arrays = as_readonly(X, scales.astype(np.float32), order)
    _greedy(n, trees, *arrays, rankings, gaps_, tied)
    return rankings, gaps_, tied


@kernel(parallel=True)
def _greedy(first, last, trees, X, scales, order, rankings, gaps_, tied):
    (nodes, roots, low, high, base), d = trees, X.shape[1]
    tested = np.zeros(d, np.bool_)
    for k in range(len(nodes)):
        if nodes[k].feature >= 0:
            tested[nodes[k].feature] = True
    for i in range(first, last):
        work, below = _workspace(len(nodes), d), np.empty(len(nodes), np.float32)
        chosen, tried = np.zeros(d, np.bool_), np.empty(d, np.float32)
        _probabilities(nodes, X[i], scales, below)
        center = _center(nodes, roots, base, X[i])
        so_far = _gap(nodes, roots, low, high, X[i], below, center, chosen, work)
        for step in range(len(order)):
            best = -1
            for place in range(d):
                j = order[step, place]
                if chosen[j]:
                    continue
                tried[j] = so_far
                if tested[j]:
                    chosen[j] = True
                    tried[j] = _gap(nodes, roots, low, high, X[i], below, center, chosen, work)
                    chosen[j] = False
                if best < 0 or tried[j] > tried[best]:
                    best, tied[i, step] = j, False
                elif tried[j] == tried[best]:
                    tied[i, step] = True
            chosen[best], so_far = True, tried[best]
            rankings[i, step], gaps_[i, step] = best, so_far


@kernel(inner=True)
def _workspace(n_nodes, n_features):
    whole = np.zeros((2, n_features), np.float32)
    whole[1] = ONE
    visits = np.empty(n_nodes, VISIT), np.empty(n_nodes, VISIT), np.empty(n_nodes, VISIT)
    return Work(*visits, whole, np.empty((2, n_features), np.float32))


@kernel(inner=True)
def _probabilities(nodes, x, scales, below):
    """Return the probability that each split sends the perturbed value left, as float32."""
    for k in range(len(nodes)):
        j = nodes[k].feature
        if j >= 0:
            reached = np.float64(np.nextafter(nodes[k].threshold, np.float32(-np.inf)))
            z = (reached - np.float64(x[j])) / np.float64(scales[j])
            below[k] = np.float32(0.5 * math.erfc(-z / math.sqrt(2.0)))


@kernel(inner=True)
def _center(nodes, roots, base, x):
    """Return the prediction less its base, rounded as if the base is added and taken off."""
    total = ZERO
    for t in range(len(roots)):
        k = roots[t]
        while nodes[k].feature >= 0:
            left = x[nodes[k].feature] < nodes[k].threshold
            k = np.int64(nodes[k].left if left else nodes[k].right)
        total = np.float32(total + nodes[k].value)
    return np.float32(np.float32(total + base) - base)


@kernel(inner=True)
def _gap(nodes, roots, low, high, x, below, center, chosen, work):
    outer, box = work.outer, work.box
    result = np.float32(center * center)
    for t in range(len(roots)):
        n = _list_nodes(nodes, roots[t], x, below, chosen, work.whole, outer, work.waiting)
        for i in range(n):
            node = nodes[outer[i].node]
            if node.feature >= 0:
                continue
            for j in range(len(x)):
                a, b = low[node.leaf, j], high[node.leaf, j]
                box[0, j] = below[a] if a >= 0 else ZERO
                box[1, j] = below[b] if b >= 0 else ONE
            inside = ZERO
            for s in range(len(roots)):
                m = _list_nodes(nodes, roots[s], x, below, chosen, box, work.inner, work.waiting)
                inside = np.float32(inside + _weighted(work.inner, m))
            inside = np.float32(np.float64(inside) - 2.0 * np.float64(center))
            outer[i].sum = np.float32(node.value * inside)
        result = np.float32(result + _weighted(outer, n))
    return result


@kernel(inner=True)
def _list_nodes(nodes, root, x, below, chosen, box, visits, waiting):
    """List the splits on chosen features and the leaves that are reached, parents first."""
    n, n_waiting = 0, 1
    waiting[0].node, waiting[0].parent, waiting[0].weight = root, -1, ONE
    while n_waiting > 0:
        n_waiting -= 1
        here = waiting[n_waiting]
        k, parent, weight = np.int64(here.node), here.parent, here.weight
        while nodes[k].feature >= 0 and not chosen[nodes[k].feature]:
            left = x[nodes[k].feature] < nodes[k].threshold
            k = np.int64(nodes[k].left if left else nodes[k].right)
        node, visit, j = nodes[k], visits[n], nodes[k].feature
        visit.node, visit.parent, visit.weight, visit.sum = k, parent, weight, node.value
        n += 1
        if j < 0:
            continue
        visit.sum = ZERO
        first, last = box[0, j], box[1, j]
        if node.low >= 0:
            first = max(first, below[node.low])
        if node.high >= 0:
            last = min(last, below[node.high])
        mass = np.float32(last - first)
        if mass <= ZERO:
            continue
        part = max(np.float32(min(last, below[k]) - first), ZERO)
        share = np.float32(part / mass)
        if np.float64(share) > LEAST:
            waiting[n_waiting].node, waiting[n_waiting].parent = node.left, n - 1
            waiting[n_waiting].weight = share
            n_waiting += 1
        if 1.0 - np.float64(share) >= LEAST:
            waiting[n_waiting].node, waiting[n_waiting].parent = node.right, n - 1
            waiting[n_waiting].weight = np.float32(ONE - share)
            n_waiting += 1
    return n


@kernel(inner=True)
def _weighted(visits, n):
    """Average the listed leaves' sums, from the leaves up."""
    for i in range(n - 1, 0, -1):
        parent, product = visits[i].parent, np.float32(visits[i].weight * visits[i].sum)
        visits[parent].sum = np.float32(visits[parent].sum + product)
    return visits[0].sum
