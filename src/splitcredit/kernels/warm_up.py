"""Compile every kernel once, so that no job or timing pays for it."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np

from splitcredit.forest import Forest
from splitcredit.kernels import compiled, leaf_means
from splitcredit.kernels.interactions import explain as interactions
from splitcredit.kernels.interactions import pair_blocks, pair_tables
from splitcredit.kernels.interactions.sets import present_sets
from splitcredit.kernels.interventional import explain as interventional
from splitcredit.kernels.parts import PARTS
from splitcredit.kernels.prediction_gap import (
    exact,
    gap_forest,
    normal_tails,
    sampling,
    single_precision,
)
from splitcredit.kernels.readers import decimals, lines, records
from splitcredit.kernels.tree_shap import explain as tree_shap
from splitcredit.kernels.tree_shap.oob import oob_tree_shap
from splitcredit.kernels.walks import (
    background_masks,
    mda,
    mdi,
    oob,
    predict,
    saabas,
    sage,
)

X_DTYPES = ("float32", "float64")


def warm_up(processes: int = 1) -> None:
    """Compile every kernel, or load it from the cache, by calls on a stump.

    Parameters
    ----------
    processes : int
        How many to share the work: LLVM compiles one function at a time in each.
    """
    if processes > 1:
        # Not forked: the threads of a parent that has run a kernel would be missing.
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            for _ in pool.map(compile_part, PARTS):
                pass
    # Whatever is not in the cache by now, as two processes can take an entry from each other.
    for part in PARTS:
        compile_part(part)


def compile_part(part: str, x_dtypes=X_DTYPES) -> None:
    """Compile one of the `PARTS`, or load it from the cache, for models that compare in `x_dtypes`.

    ValueError if there is no such part.
    """
    if part not in PARTS:
        raise ValueError(f"no part {part!r}: there are {', '.join(PARTS)}")
    compiled.say_nothing()
    for x_dtype in x_dtypes:
        stump = _stump(x_dtype)
        CALLS[part](stump, stump.prepare(np.array([[0.0], [1.0]])))


def _stump(x_dtype):
    return Forest(
        feature=[0, -1, -1],
        threshold=[0.5, 0, 0],
        left=[1, -1, -1],
        right=[2, -1, -1],
        missing_left=[False] * 3,
        value=[[0.5, 0.5], [1, 0], [0, 1]],
        cover=[2, 1, 1],
        impurity=[1, 0, 0],
        tree_offsets=[0, 3],
        feature_names=("x0",),
        output_names=("0", "1"),
        x_dtype=x_dtype,
    )


def _tables(stump, X):
    tree_shap.tree_shap(stump, X, algorithm="tables")


def _blocks(stump, X):
    for algorithm in ("blocks", "rows"):
        tree_shap.tree_shap(stump, X, algorithm=algorithm)
    tree_shap.tree_shap_one(stump, X, np.array([0, 1]))
    tree_shap.expected_value(stump)


def _sampling(stump, X):
    """Of trees with values in single and in double precision."""
    noise, masks = np.zeros((1, 1, 1), np.float32), np.ones((2, 1), np.bool_)
    streams, counts = np.zeros(2, np.int64), np.array([1])
    for forest in (stump, replace(stump, value=np.full((3, 2), 0.1))):
        pool = (np.ones(1), noise, streams, counts)
        sampling.sampled_gaps(forest, 0, X, masks, *pool)


def _interventional(stump, X):
    index = np.array([0, 1])
    interventional.tree_shap_interventional_one(stump, X, index, X)
    for limits in ((0, 64), (0, 0)):  # leaves of deep trees
        interventional.tree_shap_interventional(stump, X, index, X, limits)
    one = replace(stump, value=stump.value[:, :1], output_names=("0",), base=None)
    for features in (64, 0):
        interventional.tree_shap_rescaled(one, X, X, np.ones((2, 2)), features)


def _interactions(stump, X):
    """Of single features as well: a stump has no pair."""
    outputs, (pairs, table) = np.arange(2), present_sets(stump, 2)
    interactions.interaction_matrix(stump, X, outputs)
    pair_blocks.pair_index(stump, X, outputs, table, len(pairs), True, True)
    pair_tables.pair_index(stump, X, outputs, pairs)
    interactions.interaction_index(stump, X, outputs, np.array([[0]]))
    interactions.interaction_index(stump, X, outputs, np.array([[0]]), X)


def _gaps(stump, X):
    trees = gap_forest.gap_forest(stump, 0)
    x, wanted = np.zeros((1, 1)), np.ones((1, 1), np.bool_)
    tails = normal_tails.normal_tails(trees.cuts, x, wanted, np.ones(1), 1.0)
    exact.gaps(trees, x, tails, np.zeros(1, np.int64), wanted)


def _single(stump, X):
    """Of models that compare in single precision."""
    if X.dtype == np.float32:
        trees, scales = single_precision.single_forest(stump, 0), np.ones(1)
        single_precision.gaps(trees, X, scales, np.ones((2, 1), np.bool_))
        single_precision.greedy(trees, X, scales, np.zeros((1, 1), np.int64))


def _bags(stump, X):
    """The kernels that tell in-bag from out-of-bag rows."""
    bagged = replace(stump, inbag=np.ones((1, 2), np.uint8))
    y, outputs = np.array([0, 1]), np.array([0, 1])
    sums = oob.node_sums(bagged, X, y)
    oob.penalized_gini(bagged, sums, np.zeros(1, oob.SCORE))
    oob.contributions_times_targets(bagged, sums, oob.INBAG)
    saabas.oob_saabas(bagged, X, outputs, True)
    oob_tree_shap(bagged, X, outputs, True)
    unbagged = replace(stump, inbag=np.zeros((1, 2), np.uint8))
    mda.loss_increases(unbagged, X, y, lambda tree, n: np.array([[1, 0]]))


def _walks(stump, X):
    index = np.array([0, 1])
    mdi.mdi_per_tree(stump)
    mdi.local_mdi(stump, X)
    saabas.saabas(stump, X)
    saabas.saabas_one(stump, X, index)
    known = np.ones((2, 1), np.bool_)
    for imputer in (sage.MarginalImputer, sage.ConditionalImputer):
        imputer(stump, X, X)(index, known)
    background_masks.BackgroundMasks(stump, X, X).means(index, known)


def _predict(stump, X):
    """And what the conversion of boosted trees calls."""
    text, document = b"Tree=0\nkey=1\n", b"{L" + bytes(7) + b"\3keyZ}"
    (begins,), (ends,) = lines.find(text, ["key"])
    place, length, number = np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1)
    decimals.read(np.frombuffer(text, np.uint8), begins, ends, place, length, number)
    records.find(document, 0, 1, ["key"])
    records.joined(document, place, length)
    leaf_means.summaries(stump.left, stump.right, stump.cover, stump.value[:, 0])
    predict.predict(stump, X)


CALLS = {
    "tables": _tables,
    "sampling": _sampling,
    "bags": _bags,
    "blocks": _blocks,
    "interventional": _interventional,
    "interactions": _interactions,
    "walks": _walks,
    "gaps": _gaps,
    "single": _single,
    "predict": _predict,
}
