"""Compile every kernel once, so that no job or timing pays for it."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

import numpy as np

from splitcredit.api import explain, importance, rank
from splitcredit.api.interactions import interactions
from splitcredit.kernels import compiled, leaf_means
from splitcredit.kernels.readers import decimals, lines, records
from splitcredit.measures.oob_attributions import oob_attributions
from splitcredit.measures.sage import sage
from splitcredit.measures.tree_shap_interventional import tree_shap_interventional
from splitcredit.models.forest import Forest
from splitcredit.prediction_gap.sampling import pg2_sampled

X_DTYPES = ("float32", "float64")
# Splits on the path of each model. On a deep one are more features than a pattern has bits.
_SHALLOW, _DEEP = 2, 66


def warm_up(processes: int = 1) -> None:
    """Compile every kernel, or load it from the cache, by calls on two small models."""
    if processes > 1:
        # Not forked: the threads of a parent that has run a kernel would be missing.
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            for _ in pool.map(compile_part, CALLS):
                pass
    # Whatever is not in the cache by now, as two processes can take an entry from each other.
    for part in CALLS:
        compile_part(part)


def compile_part(part: str, x_dtypes=X_DTYPES) -> None:
    """Compile what one of the `CALLS` needs, for models that compare numbers in `x_dtypes`."""
    compiled.say_nothing()
    for x_dtype in x_dtypes:
        for depth in (_SHALLOW, _DEEP):
            forest = _model(depth, x_dtype)
            # Two rows for each leaf, the second out of bag.
            X = np.tile(np.tri(depth + 1, depth, -1, x_dtype), (2, 1))
            CALLS[part](forest, X, np.tile(np.arange(depth + 1) % 2, 2))


def _model(depth, x_dtype):
    """One path of splits, each on a feature of its own, with a leaf beside every node below."""
    inner, n_leaves = list(range(depth)), depth + 1
    leaves = list(range(depth, depth + n_leaves))
    is_first = np.arange(n_leaves) % 2 == 0
    share = [is_first[k:].mean() for k in inner] + is_first.tolist()
    return Forest(
        feature=inner + [-1] * n_leaves,
        threshold=[0.5] * depth + [0.0] * n_leaves,
        left=leaves[:-1] + [-1] * n_leaves,
        right=inner[1:] + leaves[-1:] + [-1] * n_leaves,
        missing_left=[False] * (depth + n_leaves),
        value=np.column_stack([share, 1 - np.array(share)]),
        cover=[n_leaves - k for k in inner] + [1] * n_leaves,
        impurity=[1.0] * depth + [0.0] * n_leaves,
        tree_offsets=[0, depth + n_leaves],
        feature_names=[f"x{j}" for j in inner],
        output_names=("0", "1"),
        inbag=np.array([[1] * n_leaves + [0] * n_leaves], np.uint8),
        x_dtype=x_dtype,
    )


def _of_one_output(forest):
    """Values that single precision does not hold."""
    value = 0.1 * forest.value[:, :1]
    return replace(forest, value=value, output_names=("0",), base=None, inbag=None)


def _tree_shap(forest, X, y):
    for rows in (X, X[:1]):
        explain(forest, rows)


def _sampling(forest, X, y):
    for model in (forest, _of_one_output(forest)):
        pg2_sampled(model, X, [0, 1], counts=[2], output=0, scale=0.3)


def _bags(forest, X, y):
    """The kernels that tell in-bag from out-of-bag rows."""
    for method in ("ufi", "penalized_gini", "mdi_oob", "mda"):
        importance(forest, X, y, method=method)
    explain(forest, X, "oob_attributions")
    explain(forest, X, partial(oob_attributions, attribution="saabas"))


def _interventional(forest, X, y):
    rows = {"X": X[:2], "background": X[:2]}
    tree_shap_interventional(forest, output="predicted", **rows)
    tree_shap_interventional(_of_one_output(forest), model_output="probability", **rows)


def _interactions(forest, X, y):
    interactions(forest, X[:2])
    interactions(forest, X[:2], sets=[[0, 1]], background=X[:2])


def _walks(forest, X, y):
    importance(forest, method="mdi")
    for method in ("local_mdi", "saabas"):
        explain(forest, X, method)
    for imputer in ("marginal", "conditional"):
        sage(forest, X, y, imputer=imputer, n_permutations=2)


def _gaps(forest, X, y):
    rank(forest, X[:1], scale=0.3, output=0)


def _single(forest, X, y):
    """Rank as boosted trees do that compare in single precision."""
    if forest.x_dtype == "float32":
        added = replace(_of_one_output(forest), aggregate="sum", strict=True, missing_left=None)
        rank(added, X[:1], scale=0.3, arithmetic="single")


def _predict(forest, X, y):
    """And what converters of boosted models call."""
    forest.predict(X)
    leaf_means.with_means(forest)
    text, document = b"Tree=0\nkey=1\n", b"{L" + bytes(7) + b"\3keyZ}"
    (begins,), (ends,) = lines.find(text, ["key"])
    place, length, number = np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1)
    decimals.read(np.frombuffer(text, np.uint8), begins, ends, place, length, number)
    records.find(document, 0, 1, ["key"])
    records.joined(document, place, length)


# The longest first, so that processes that share them end at about the same time.
CALLS = {
    "tree_shap": _tree_shap,
    "sampling": _sampling,
    "bags": _bags,
    "interventional": _interventional,
    "interactions": _interactions,
    "walks": _walks,
    "gaps": _gaps,
    "single": _single,
    "predict": _predict,
}
