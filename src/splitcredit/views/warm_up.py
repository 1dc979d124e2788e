"""Compile every kernel once, so that no job or timing pays for it."""

from __future__ import annotations

import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np

from splitcredit.api import methods, rank
from splitcredit.api.interactions import interactions
from splitcredit.api.partial_dependence import partial_dependence
from splitcredit.kernels import compiled, leaf_means
from splitcredit.kernels.readers import decimals, lines, records
from splitcredit.models.forest import Forest
from splitcredit.prediction_gap.greedy import greedy_ranking
from splitcredit.prediction_gap.sampling import pg2_sampled

X_DTYPES = ("float32", "float64")
# Splits on the path of each model. On a deep one are more features than a pattern has bits.
_SHALLOW, _DEEP = 2, 66
# Parameters for which a method needs other kernels than by default.
_MORE: dict[str, list[dict]] = {
    "oob_attributions": [{"attribution": "saabas"}],
    "sage": [{"imputer": "conditional"}],
    "tree_shap_interventional": [{"output": "predicted"}, {"model_output": "probability"}],
}


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
            y = np.tile(np.arange(depth + 1) % 2, 2)
            if part in OTHER_CALLS:
                OTHER_CALLS[part](forest, X)
            else:
                _by_method(part, forest, X, y)


def _model(depth, x_dtype):
    """Build one path of splits, each on its own feature, with a leaf beside every node below."""
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
    """Return the forest with one output and values that single precision cannot hold."""
    value = 0.1 * forest.value[:, :1]
    return replace(forest, value=value, output_names=("0",), base=None, inbag=None)


def _by_method(name, forest, X, y):
    """Explain or measure by a method, also a single row where it takes any."""
    method = next(one for one in methods() if one.name == name)
    of = "explain" if method.attributes else "importance"
    data = {"X": X, "y": y, "background": X[:2], "n_permutations": 2}
    wanted = {"X", "n_permutations", *method.needs}
    given = {name: data[name] for name in data if name in wanted and method.takes(name, of)}
    for more in ({}, *_MORE.get(name, [])):
        model = _of_one_output(forest) if "model_output" in more else forest
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the made-up model
            method.function(of)(model, **given, **more)
    if method.takes_any_rows:
        method.function(of)(forest, **given | {"X": X[:1]})


def _gaps(forest, X):
    """Rank features, also as boosted trees do that compare in single precision."""
    rank(forest, X[:1], scale=0.3, output=0)
    if forest.x_dtype == "float32":
        added = replace(_of_one_output(forest), aggregate="sum", strict=True, missing_left=None)
        greedy_ranking(added, X[:1], scale=0.3, arithmetic="single")


def _sampling(forest, X):
    for model in (forest, _of_one_output(forest)):
        pg2_sampled(model, X, [0, 1], counts=[2], output=0, scale=0.3)


def _interactions(forest, X):
    interactions(forest, X[:2])
    interactions(forest, X[:2], sets=[[0, 1]], background=X[:2])


def _predict(forest, X):
    """Predict, and call what converters of boosted models call."""
    forest.predict(X)
    leaf_means.with_means(forest)
    text, document = b"Tree=0\nkey=1\n", b"{L" + bytes(7) + b"\3keyZ}"
    (begins,), (ends,) = lines.find(text, ["key"])
    place, length, number = np.zeros(1, np.int64), np.ones(1, np.int64), np.zeros(1)
    decimals.read(np.frombuffer(text, np.uint8), begins, ends, place, length, number)
    records.find(document, 0, 1, ["key"])
    records.joined(document, place, length)


OTHER_CALLS = {
    "sampling": _sampling,
    "interactions": _interactions,
    "gaps": _gaps,
    "partial_dependence": lambda forest, X: partial_dependence(forest, X[:2], 0),
    "predict": _predict,
}
_MEASURES = [m.name for m in methods() if "importance" in m.functions and not m.refits]
# The longest first, so that processes that share them end at about the same time.
CALLS = [*OTHER_CALLS, *_MEASURES]
