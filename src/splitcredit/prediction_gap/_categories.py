"""Compute PG^2 of trees that split by categories, where a side of a box is a set of labels.

Values are drawn from other rows. As in `kernels.prediction_gap.exact`, PG^2 is the sum over pairs
of leaves of P(u, v) g_u g_v. P(u, v) is a product over the features: of each, the share of the rows
drawn from whose value, a label, a number or missing, lies on the sides of both leaves. So a side is
a set of rows here, and the rows that two sides of a feature share are counted once for all pairs.
"""

from __future__ import annotations

import numpy as np

from splitcredit.kernels.nodes import columns

# Bytes of arrays over all nodes or pairs of sides, and of pairs that are added up together.
_MOST, _TOGETHER = 1 << 31, 1 << 24


def gaps_of_pairs(forest, output, drawn, X, tested):
    """Make a function of rows, sets and `done` that gives PG^2 by values of `drawn`."""
    m, tested = len(drawn), np.flatnonzero(tested)
    _refuse(forest, forest.n_nodes * (m + len(X)))
    sides, side = _sides(forest, np.concatenate([drawn, X]), tested)
    _refuse(forest, 8 * sum(len(own) ** 2 for own in sides))
    # Counts are whole numbers, so that a product of matrices has the same bytes everywhere.
    shares = [(s.astype(np.float32) @ s.T).astype(float) / m for s in (s[:, :m] for s in sides)]
    is_leaf = forest.feature < 0
    value = forest.value[is_leaf, output]
    tree = np.repeat(np.arange(forest.n_trees), np.add.reduceat(is_leaf, forest.tree_offsets[:-1]))
    divisor = forest.n_trees**2 if forest.aggregate == "mean" else 1

    def gaps(rows, sets, done=None):
        out = np.empty(len(rows))
        for i, (row, moves) in enumerate(zip(rows, sets[:, tested], strict=True)):
            holds = np.stack([s[own, m + row] for s, own in zip(sides, side, strict=True)])
            gap = value - value[holds.all(axis=0)][tree]  # a leaf of each tree holds the row
            reached = np.flatnonzero((holds | moves[:, None]).all(axis=0) & (gap != 0))
            own, step, total = gap[reached], max(1, _TOGETHER // (8 * len(reached) + 1)), 0.0
            for a in range(0, len(own), step):
                pairs = own * own[a : a + step, None]
                for k in np.flatnonzero(moves & side[:, reached].any(axis=1)):
                    of_leaf = side[k, reached]
                    pairs *= shares[k][of_leaf[a : a + step]][:, of_leaf]
                total += float(pairs.sum())
            out[i] = max(total, 0.0) / divisor  # the mean of a square
            if done:
                done(1 / len(rows))
        return out

    return gaps


def _refuse(forest, size):
    if size > _MOST:
        raise ValueError(
            f"exact gaps of {forest.n_nodes:,} nodes that split by categories need "
            f"{size / 2**30:.0f} GiB: draw from fewer rows, background=X_train[:500], or estimate "
            "them, samples=1000 of splitcredit.faithfulness"
        )


def _sides(forest, rows, tested):
    """Return by tested feature all leaves' sides, bool (n_sides, n_rows), and each leaf's side."""
    f, left = forest, np.empty((forest.n_nodes, len(rows)), np.bool_)
    for j in tested:
        nodes = np.flatnonzero(f.feature == j)
        values, threshold = rows[:, columns(f)[nodes]], f.threshold[nodes]
        goes = values < threshold if f.strict else values <= threshold
        if f.missing_left is not None:
            goes |= np.isnan(values) & f.missing_left[nodes]
        left[nodes] = goes.T
    number, place = np.cumsum(f.feature < 0) - 1, {int(j): k for k, j in enumerate(tested)}
    whole = np.ones(len(rows), np.bool_)
    known: list[dict] = [{whole.tobytes(): 0} for _ in tested]
    side = np.zeros((len(tested), number[-1] + 1), np.int64)
    for root in f.tree_offsets[:-1].tolist():
        waiting: list[tuple[int, dict]] = [(root, {})]
        while waiting:
            node, path = waiting.pop()
            if f.feature[node] < 0:
                for k, own in path.items():
                    side[k, number[node]] = known[k].setdefault(own.tobytes(), len(known[k]))
                continue
            k = place[int(f.feature[node])]
            own, goes = path.get(k, whole), left[node]
            waiting.append((int(f.left[node]), path | {k: own & goes}))
            waiting.append((int(f.right[node]), path | {k: own & ~goes}))
    sides = [np.frombuffer(b"".join(own), np.bool_).reshape(len(own), -1) for own in known]
    return sides, side
