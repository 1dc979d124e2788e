"""What the algorithm of each kernel needs on a stated workload: operations, bytes, random reads.

Counted is what the formulas need, from the forests and rows themselves: no set-up, nothing that is
kept between calls, no moving of numbers that the algorithm could leave in registers. A comparison,
a minimum or a choice counts as an addition; two operations in single precision count as one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import gajewski2025
import workloads
from reproduction.datasets import scikit_learn
from reproduction.models import fit
from reproduction.papers.gajewski2025 import _operations
from splitcredit import to_forest
from splitcredit.kernels.interactions import explain as interactions
from splitcredit.kernels.interactions.links import linked_layouts
from splitcredit.kernels.interactions.sets import present_sets
from splitcredit.kernels.interventional import explain as interventional
from splitcredit.kernels.nodes import BLOCK, n_blocks, nodes_of
from splitcredit.kernels.prediction_gap import restricted_trees
from splitcredit.kernels.prediction_gap.shares import AROUND
from splitcredit.kernels.tree_shap.blocks import TRIPLE, quadratures
from splitcredit.kernels.tree_shap.explain import tree_shap, tree_shap_one
from splitcredit.kernels.tree_shap.split_groups import groups_of
from splitcredit.kernels.walks import mdi, oob, saabas
from splitcredit.prediction_gap import exact_gap, greedy, noise, sampling

SIGMA, SAMPLES, BACKGROUND = 0.3, 35_000, 100
# Numbers in a line of the caches.
LINE = 8


@dataclass(frozen=True)
class Work:
    """One kernel on one workload.

    Parameters
    ----------
    kernel, workload : str
    run : callable without arguments
    operations, divisions : float
        On float64.
    bytes : float
        That are read or written one after the other.
    streamed : float
        Bytes of the memory that these go through, again and again.
    reads : tuple of (float, float)
        Reads at places that depend on the row, and the bytes of the memory that they go to.
    """

    kernel: str
    workload: str
    run: object
    operations: float = 0
    divisions: float = 0
    bytes: float = 0
    streamed: float = 0
    reads: tuple = ()


def works(scale: float = 1.0):
    """Every kernel with its work; a smaller `scale` takes less of trees, rows and samples."""
    yield from walks(scale)
    yield from path_dependent(scale)
    yield from of_a_background(scale)
    yield from gaps(scale)
    yield out_of_bag(scale)


def _part(number, scale):
    return max(2, int(number * scale))


def walks(scale):
    """Local MDI, Saabas and MDI on the digits."""
    data = scikit_learn.digits()
    n_trees, rows = _part(300, scale), data.X[: _part(len(data.X), scale)]
    recipe = {"estimator": "ExtraTreesClassifier", "n_estimators": n_trees, "max_features": 1}
    forest = to_forest(fit(recipe, data.X, data.y))
    X, scope = forest.prepare(rows), f"digits, {n_trees} extra-trees, {len(rows)} rows"
    predicted = forest.predict(rows).argmax(axis=1)
    visits, inner = node_visits(forest, X), np.count_nonzero(forest.feature >= 0)
    # A block of rows is taken through one tree after the other. Of a visit: a node of the tree, a
    # value of the row and the credit of its feature; for Saabas the value of the child as well.
    of_nodes, of_rows = (visits, 32 * inner / n_trees), (2 * visits, 16 * BLOCK * X.shape[1])
    of_values = (visits, forest.value.nbytes / n_trees)
    blocks = n_blocks(len(X))
    yield Work(
        "local MDI",
        scope,
        lambda: mdi.local_mdi(forest, X),
        operations=2 * visits,
        bytes=blocks * 32 * inner,
        streamed=32 * inner,
        reads=(of_nodes, of_rows),
    )
    yield Work(
        "Saabas, one class",
        scope,
        lambda: saabas.saabas_one(forest, X, predicted),
        operations=3 * visits,
        bytes=blocks * (16 * inner + forest.value.nbytes),
        streamed=16 * inner + forest.value.nbytes,
        reads=(of_nodes, of_rows, of_values),
    )
    fields = (forest.feature, forest.left, forest.right, forest.cover, forest.impurity)
    size = sum(field.nbytes for field in fields)
    # Three products, two differences and a sum.
    yield Work(
        "MDI",
        scope,
        lambda: mdi.mdi_per_tree(forest),
        operations=6 * inner,
        divisions=inner,
        bytes=size,
        streamed=size,
    )


def node_visits(forest, X) -> int:
    """Splits on the paths of all rows, over all trees."""
    at = np.repeat(forest.tree_offsets[:-1], len(X))
    row = np.tile(np.arange(len(X)), forest.n_trees)
    column = nodes_of(forest).column
    visits = 0
    while True:
        is_inner = forest.feature[at] >= 0
        at, row = at[is_inner], row[is_inner]
        if not len(at):
            return visits
        visits += len(at)
        left = X[row, column[at]] <= nodes_of(forest).threshold[at]
        at = np.where(left, forest.left[at], forest.right[at])


def boosted(n_trees, depth, rows, features):
    """A forest of XGBoost, and its rows."""
    import xgboost

    X, y = workloads.regression(rows, features)()
    settings = {"max_depth": depth, "eta": 0.1, "max_bin": 64, "nthread": 1, "seed": 0}
    forest = to_forest(xgboost.train(settings, xgboost.DMatrix(X, y), n_trees))
    return forest, forest.prepare(X)


def path_dependent(scale):
    """TreeSHAP by blocks of rows and by tables, and interactions."""
    forest, X = boosted(_part(100, scale), 6, _part(1000, scale), 20)
    scope = f"XGBoost, {forest.n_trees} trees, depth 6, 20 features, {{}} rows"
    zero = np.zeros(len(X), np.int64)
    operations, size = quadrature_work(forest)
    yield Work(
        "TreeSHAP, blocks",
        scope.format(len(X)),
        lambda: tree_shap_one(forest, X, zero, "blocks"),
        operations=operations * len(X),
        bytes=size * len(X),
        streamed=1 << 18,
    )
    first_rows, outputs = X[: _part(200, scale)], np.zeros(1, np.int64)
    operations, size = pair_work(forest)
    yield Work(
        "interactions of all pairs",
        scope.format(len(first_rows)),
        lambda: interactions.interaction_matrix(forest, first_rows, outputs),
        operations=operations * len(first_rows),
        bytes=size * len(first_rows),
        streamed=1 << 18,
    )
    forest, X = boosted(_part(40, scale), 4, _part(20_000, scale), 11)
    groups = groups_of(nodes_of(forest), forest.value[:, :1].copy(), forest.tree_offsets)
    # A comparison and a bit for each split; a sum for each feature of a group. The numbers of an
    # outcome lie together, in lines of eight.
    looks, lines = int(groups.n_features.sum()), -(-groups.n_features.astype(np.int64) // LINE)
    table = 8 * LINE * int((lines << groups.n_splits.astype(np.int64)).sum())
    yield Work(
        "TreeSHAP, tables",
        f"XGBoost, {forest.n_trees} trees, depth 4, 11 features, {len(X)} rows",
        lambda: tree_shap(forest, X, algorithm="tables"),
        operations=(2 * groups.n_splits.sum() + looks) * len(X),
        bytes=16 * looks * len(X),
        streamed=1 << 16,
        reads=((int(lines.sum()) * len(X), table),),
    )


def quadrature_work(forest):
    """Operations and bytes of TreeSHAP's quadrature for one row; the symbols are those of `blocks`.

    A node has, at each point: q (2 operations), A of both children (3), and, for each output that
    varies below, Q (3) and its part of the credit (3). At a node above two leaves Q is one of two
    numbers (2), and the credit is worked out at its parent (3).
    """
    operations = size = 0
    for layout, _, triples, *_ in quadratures(forest, np.zeros(1, np.int64)):
        entries, starts = layout.entries, layout.starts[:, 0]
        points = np.repeat(TRIPLE * triples, np.diff(starts))
        bottom = (entries["first"] < 0) & (entries["second"] < 0)
        operations += (points * np.where(bottom, 5, 5 + 6 * entries["n_terms"])).sum()
        # Of q, A of both children and Q of both and of the node: each written and read once.
        size += (points * np.where(bottom, 16, 2 * 8 * 6)).sum()
    return int(operations), int(size)


def pair_work(forest):
    """Operations and bytes of all interactions of one row.

    They are those of TreeSHAP and, for each feature above a node: at each point a product and a sum
    with a part of the node, and for the pair a choice, a product and a sum.
    """
    operations, size = quadrature_work(forest)
    table = present_sets(forest, 2)[1]
    for layout, links in linked_layouts(forest, np.zeros(1, np.int64), table, True):
        triples = (layout.n_features.astype(np.int64) - 1) // (2 * TRIPLE) + 1
        points = np.repeat(TRIPLE * triples, np.diff(layout.starts[:, 0]))
        n_links = np.diff(links.starts)
        operations += int(((2 * points + 3) * n_links).sum())
        size += int(((8 * points + 24) * n_links).sum())
    return operations, size


def of_a_background(scale):
    """Interventional TreeSHAP: the rows' side; the tables of groups are made once for all rows."""
    forest, X = boosted(_part(40, scale), 4, _part(20_000, scale), 11)
    background, outputs = X[:BACKGROUND], np.zeros(1, np.int64)
    decisions, features, *_ = interventional._default_routes(forest)[1]
    n_decisions, looks = np.count_nonzero(decisions >= 0), np.count_nonzero(features >= 0)
    yield Work(
        "TreeSHAP, interventional",
        f"XGBoost, {forest.n_trees} trees, depth 4, 11 features, {len(X)} rows, "
        f"{len(background)} background rows",
        lambda: interventional.tree_shap_interventional(forest, X, outputs, background),
        operations=(2 * n_decisions + looks) * len(X),
        bytes=16 * looks * len(X),
        streamed=1 << 16,
        reads=((looks * len(X), 8 * features.shape[1] << features.shape[1]),),
    )


def gaps(scale):
    """The prediction gap: exact, greedy rankings and sampling."""
    X, y = gajewski2025.rows()
    n_trees = _part(40, scale)
    forest = to_forest(gajewski2025.boosted(X, y, n_trees))
    scope = f"XGBoost, {forest.n_trees} trees, depth 4, {X.shape[1]} features, sigma {SIGMA:g}"
    pair_rows, masks = gajewski2025.pairs(X, _part(220, scale))
    yield Work(
        "exact PG2",
        f"{scope}, {len(pair_rows)} pairs",
        lambda: exact_gap.pg2(forest, pair_rows, masks, scale=SIGMA),
        **gap_work(forest, forest.prepare(pair_rows), masks),
    )
    rows = pair_rows[: _part(11, scale)]
    rankings = greedy.greedy_ranking(forest, rows, scale=SIGMA).rankings
    tried = [(row, *tried_sets(ranking)) for row, ranking in zip(rows, rankings, strict=True)]
    of_rows = np.repeat(rows, [len(sets) for _, *sets in tried], axis=0)
    sets = np.array([mask for _, *sets in tried for mask in sets])
    yield Work(
        "greedy rankings by PG2",
        f"{scope}, {len(rows)} rows",
        lambda: greedy.greedy_ranking(forest, rows, scale=SIGMA),
        **gap_work(forest, forest.prepare(of_rows), sets),
    )
    part, n_samples = slice(_part(22, scale)), _part(SAMPLES, scale)
    pool = noise.noise_pool("mc", X.shape[1], n_samples, 8, 0)
    options = {"counts": [n_samples], "scale": SIGMA, "pool": pool}
    operations, size = samples_work(forest, forest.prepare(pair_rows[part]), masks[part], pool)
    yield Work(
        "sampled PG2",
        f"{scope}, {len(pair_rows[part])} pairs, {n_samples} samples",
        lambda: sampling.pg2_sampled(forest, pair_rows[part], masks[part], **options),
        operations=operations * n_samples,
        bytes=size * n_samples,
        streamed=1 << 15,
    )


def tried_sets(ranking):
    """Sets of features whose gaps a greedy ranking compares."""
    mask = np.zeros(len(ranking), np.bool_)
    for best in ranking:
        for j in np.flatnonzero(~mask):
            yield mask | (np.arange(len(ranking)) == j)
        mask[best] = True


def gap_work(forest, X, masks) -> dict:
    """Operations and bytes of exact gaps; the symbols are those of `kernels.prediction_gap.exact`.

    For each factor of a tree and each leaf v of a later one: the share of v's interval (6
    operations for an interval on one side of x, 9 for one around x), its product with the sum from
    below, and the sum. The ends of v's interval are read, its width, and the sum from below.
    """
    operations = size = 0
    for work, _ in _operations.lists(forest, X, masks, SIGMA):
        later = work.active_end[-1] - work.active_end
        steps, first = work.steps, 0
        for last, leaves in zip(work.steps_end.tolist(), later.tolist(), strict=True):
            of_tree = steps[first:last]
            factors = work.factors[np.concatenate([_range(s) for s in of_tree] or [[]]).astype(int)]
            n_around = np.count_nonzero(work.kind[factors["side"]] == AROUND)
            n_plain = np.count_nonzero(of_tree["factors"] == of_tree["factors_end"])
            one_side = len(factors) - n_around
            operations += leaves * (10 * n_around + 7 * one_side + n_plain)
            size += 8 * leaves * (6 * n_around + 4 * one_side + n_plain)
            first = last
    return {"operations": operations, "bytes": size, "streamed": 1 << 17}


def _range(step):
    return np.arange(step["factors"], step["factors_end"])


def samples_work(forest, X, masks, pool):
    """Operations and bytes of a sample, over all pairs.

    Splits that no sample of the pool crosses are decided beforehand. Of a tree with h other splits
    on a path: 2^h - 1 comparisons and as many choices in single precision, and the difference from
    its value at x and the sum in double. A sample of a feature takes a product and a sum, that of a
    pair a square and a sum.
    """
    nodes = restricted_trees.nodes_of(forest, 0)
    operations = size = 0
    for i, mask in enumerate(masks):
        columns = np.where(mask, np.cumsum(mask) - 1, -1).astype(np.int32)
        low, high = X[i].copy(), X[i].copy()
        noises = pool[:, : mask.sum()]
        low[mask] += SIGMA * noises.min(axis=(0, 2))
        high[mask] += SIGMA * noises.max(axis=(0, 2))
        trees = restricted_trees.space(nodes)
        n_trees = restricted_trees.restrict(nodes, X, i, columns, low, high, trees)
        splits = (1 << trees.steps[:n_trees, 0].astype(np.int64)) - 1
        operations += (splits + 2).sum() + 2 * mask.sum() + 2
        size += (4 * splits + 16).sum() + 8 * mask.sum()
    return int(operations), int(size)


def out_of_bag(scale):
    """In-bag and out-of-bag sums of all nodes, and eleven scores made of them."""
    X, y = workloads.binary()
    n_trees = _part(100, scale)
    model = fit({"estimator": "RandomForestClassifier", "n_estimators": n_trees}, X, y)
    forest = to_forest(model, X_train=X)
    X = forest.prepare(X)
    visits = node_visits(forest, X)
    leaves = len(X) * forest.n_trees
    # Of a leaf: the number of rows, the sum of a class, the sum of squares.
    return Work(
        "out-of-bag sums of nodes",
        f"random forest, {n_trees} trees, {len(X)} rows, {X.shape[1]} features",
        lambda: oob.node_sums(forest, X, y.astype(np.int64)),
        operations=visits + 3 * leaves + 8 * forest.n_nodes,
        reads=(
            (visits, 32 * forest.n_nodes / n_trees),
            (visits, BLOCK * X.shape[1] * X.itemsize),
            (3 * leaves, 32 * forest.n_nodes / n_trees),
        ),
    )
