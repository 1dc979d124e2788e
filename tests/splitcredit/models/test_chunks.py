"""Rows in chunks: the same bytes, bounded memory, single precision, a sign of life."""

import io
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)

import splitcredit
import twins
from forests import random_forest
from splitcredit import measures, to_forest
from splitcredit.api import _ranking
from splitcredit.kernels import results
from splitcredit.models import _chunks
from splitcredit.results import progress_bar
from splitcredit.results.attribution import Attribution, from_arrays

METHODS = [n for n in measures.names() if measures.kind_of(n) == "explain"]


@pytest.fixture(scope="module")
def case():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(150, 3)), columns=["a", "b", "c"])
    y = (X["a"] > 0).astype(int) + (X["b"] > 0.5)
    return RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y), X


def more(method, X):
    return {"background": X[:9]} if method == "tree_shap_interventional" else {}


@pytest.mark.parametrize("kind", ["frame", "array", "list"])
@pytest.mark.parametrize("method", METHODS)
def test_chunks_together_are_the_bytes_of_the_whole(method, kind, case):
    model, X = case
    full = getattr(splitcredit, method)(model, X, **more(method, X))
    rows = {"frame": X, "array": X.to_numpy(), "list": X.to_numpy().tolist()}[kind]
    if kind != "frame":
        model = to_forest(model)
    parts = splitcredit.explain_chunks(
        model, rows, partial(getattr(splitcredit, method), **more(method, rows)), chunk_rows=64
    )
    parts = list(parts)
    assert [len(part.values) for part in parts] == [64, 64, 22]
    assert np.concatenate([p.values for p in parts]).tobytes() == full.values.tobytes()
    assert all(p.baseline.tobytes() == full.baseline.tobytes() for p in parts)


@pytest.mark.parametrize(
    ("model_output", "model"),
    [
        ("log_loss", GradientBoostingClassifier(n_estimators=3, random_state=0)),
        ("squared_error", GradientBoostingRegressor(n_estimators=3, random_state=0)),
    ],
)
def test_targets_of_a_loss_are_cut_as_the_rows_are(model_output, model, case, monkeypatch):
    """Targets that are dropped, or those of other rows, give an error or other losses."""
    _, X = case
    y = (X["a"] > 0).astype(int)
    call = partial(
        splitcredit.tree_shap_interventional,
        model.fit(X, y),
        X,
        background=X[:7],
        model_output=model_output,
    )
    direct = call(y=y)
    monkeypatch.setattr(_chunks, "_ROWS", 16)
    assert call(y=y).values.tobytes() == direct.values.tobytes()
    with pytest.raises(ValueError, match=r"y has shape \(3,\), expected \(150,\)"):
        call(y=y[:3])


@pytest.mark.parametrize("output", ["all", "predicted", 1])
def test_explain_and_importance_in_chunks_are_those_of_all_rows(output, case, monkeypatch):
    model, X = case
    full = splitcredit.explain(model, X, output=output)
    summary = splitcredit.importance(model, X, method="tree_shap", output=output)
    monkeypatch.setattr(_chunks, "chunk_rows", lambda *_: 40)
    in_chunks = splitcredit.explain(model, X, output=output)
    for name in ("values", "baseline", "output_index"):
        of_chunks, of_all = getattr(in_chunks, name), getattr(full, name)
        assert (of_chunks is None and of_all is None) or of_chunks.tobytes() == of_all.tobytes()
    assert in_chunks.parameters == full.parameters and in_chunks.output_names == full.output_names
    summary_in_chunks = splitcredit.importance(model, X, method="tree_shap", output=output)
    # The sums over chunks are rounded in another order.
    assert twins.largest_error(summary_in_chunks.values, summary.values) <= twins.ROUNDING


def test_rankings_and_gaps_in_chunks_are_those_of_all_rows(case, monkeypatch):
    model, X = case

    def gaps():
        ranked = splitcredit.rank(model, X[:50], scale=0.3).gaps
        return ranked, splitcredit.faithfulness(model, X[:50], ["a", "b", "c"], scale=0.3)

    of_all_rows = [part.tobytes() for part in gaps()]
    monkeypatch.setattr(_ranking, "_ROWS", 7)
    assert [part.tobytes() for part in gaps()] == of_all_rows


def test_the_room_of_a_chunk_is_given_once_and_for_its_rows_only():
    result = results.ResultArray(5)
    for start, n_rows in ((0, 2), (2, 2), (4, 1)):
        with result.chunk(start, n_rows):
            others = [results.zeros((n_rows + 1, 3))]
            room = results.zeros((n_rows, 3))
            others += [results.zeros((n_rows, 3)), results.zeros((n_rows, 4))]
        room += start + 1
        result.put(start, room)
        assert not any(np.shares_memory(other, result.values) for other in others)
    assert result.values[:, 0].tolist() == [1, 1, 3, 3, 5]


def test_a_bad_row_is_refused_before_the_first_chunk_and_if_rows_change_between_chunks(case):
    _, X = case
    model = GradientBoostingRegressor(n_estimators=3).fit(X, X["a"])  # has no rule for NaN
    rows = np.array(X, np.float32, order="C")
    parts = splitcredit.explain_chunks(to_forest(model), rows, chunk_rows=40)
    next(parts)
    rows[50, 1] = np.nan
    for bad in (parts, splitcredit.explain_chunks(to_forest(model), rows, chunk_rows=40)):
        with pytest.raises(ValueError, match="X holds NaN"):
            next(bad)


def test_what_makes_no_chunks_is_refused_and_no_rows_are_one_empty_chunk(case):
    model, X = case
    for rows in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match=r"chunk_rows=.*: expected a whole number, at least 1"):
            splitcredit.explain_chunks(model, X, chunk_rows=rows)
    with pytest.raises(ValueError, match="'oob_attributions' attributes all training rows at once"):
        splitcredit.explain_chunks(model, X, "oob_attributions")
    (part,) = splitcredit.explain_chunks(model, X[:0])
    assert part.values.shape == splitcredit.explain(model, X[:0]).values.shape == (0, 3, 3)


def test_a_chunk_of_a_wide_or_a_large_forest_has_fewer_rows():
    small_forest = random_forest(0, n_trees=3, n_features=6)
    wide_forest = random_forest(0, n_trees=3, n_features=4000, n_outputs=3)
    large_forest = random_forest(0, n_trees=60, depth=12)
    assert _chunks.chunk_rows(small_forest) == 1 << 16
    assert _chunks.chunk_rows(wide_forest) == (1 << 23) // 12000
    assert 1 << 10 <= _chunks.chunk_rows(large_forest) < 1 << 16


@pytest.mark.parametrize("method", METHODS)
def test_single_precision_is_the_rounded_result(method, case):
    model, X = case
    in_double = getattr(splitcredit, method)(model, X, **more(method, X))
    in_single = getattr(splitcredit, method)(model, X, dtype="float32", **more(method, X))
    assert in_single.values.dtype == np.float32 and in_single.baseline.dtype == np.float64
    assert in_single.values.tobytes() == in_double.values.astype(np.float32).tobytes()
    restored = from_arrays(in_single.to_arrays())
    assert isinstance(restored, Attribution) and restored.values.dtype == np.float32
    rounding = 4 * np.finfo(np.float32).eps * np.abs(in_double.values).sum(axis=1).max()
    assert in_single.totals().dtype == np.float64
    np.testing.assert_allclose(in_single.totals(), in_double.totals(), rtol=0, atol=rounding)


@pytest.mark.parametrize("progress", [None, True, False])
@pytest.mark.parametrize("delay", [0.0, 1000.0])
def test_a_bar_appears_on_standard_error_after_the_delay(progress, delay, case, monkeypatch):
    """But not where that is a file."""
    model, X = case
    for is_screen in (True, False):
        screen = io.StringIO()
        monkeypatch.setattr(screen, "isatty", lambda is_screen=is_screen: is_screen)
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr(progress_bar, "DELAY", delay)
        list(splitcredit.explain_chunks(model, X, chunk_rows=50, progress=progress))
        has_bar = progress is True or (progress is None and is_screen and delay == 0.0)
        assert ("150/150" in screen.getvalue()) == has_bar
