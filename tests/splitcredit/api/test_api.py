"""`explain`, `importance`, `rank`, `faithfulness`: every method, whatever is a ranking."""

import pickle
import re
import tracemalloc
import warnings
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn import ensemble
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import splitcredit as sc
from splitcredit import measures, to_forest
from splitcredit.api import _ranking
from splitcredit.measures import _methods
from splitcredit.models import formats
from splitcredit.prediction_gap import (
    exact_gap,
    greedy,
    optimum,
    perturbations,
    randomizing,
    sampling,
)
from splitcredit.prediction_gap.greedy import greedy_ranking
from splitcredit.prediction_gap.rankings import Rankings, of_attribution, top_k_mask
from splitcredit.results import progress_bar

NAMES = ["age", "dose", "height", "weight"]
# Basis: the leaves of the two classes are each other's complements to 1 up to a rounding of 2**-53,
# and a gap is a mean of squared differences of them: it keeps 9 digits if its root is above 1e-6.
GAP_ROUNDING = 1e-9


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(60, 4)), columns=NAMES)
    return X, X["age"] + X["dose"] * X["height"]


@pytest.fixture(scope="module", params=["values", "two classes", "three classes"])
def case(request, data):
    """A bagged model, its training rows and targets."""
    X, y = data
    if request.param == "values":
        return RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y), X, y
    y = pd.cut(y, 2 if request.param == "two classes" else 3, labels=False)
    return RandomForestClassifier(5, max_depth=4, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def regression(data):
    return RandomForestRegressor(5, max_depth=4, random_state=0).fit(*data)


def more(method, X):
    """What a method needs beside model, X and y."""
    by_method = {"tree_shap_interventional": {"background": X[:9]}, "sage": {"n_permutations": 8}}
    return by_method.get(method, {"scale": 0.3} if method in ("pg2_greedy", "pgi2_optimum") else {})


def with_function(name):
    return [m.name for m in sc.methods() if name in m.functions]


def test_the_table_has_every_method_of_the_library():
    expected = {*measures.names(), "pgi2_optimum"}
    assert {m.name for m in sc.methods()} == expected == set(with_function("rank"))
    frame = sc.methods().to_frame()
    assert list(frame.columns) == ["name", "functions", "needs", "summary"]
    assert all(name in repr(sc.methods()) for name in expected)


@pytest.mark.parametrize("method", with_function("explain"))
def test_explain_takes_every_method_that_attributes_rows(method, case):
    model, X, _ = case
    by_explain = sc.explain(model, X, _methods.call(method, "explain", **more(method, X)))
    module = measures.module_of(method)
    direct = module.attribute(to_forest(model), X, **more(method, X))
    assert by_explain.values.tobytes() == direct.values.tobytes() and by_explain.method == method


@pytest.mark.parametrize("method", with_function("importance"))
def test_importance_takes_every_method_but_rankings(method, case):
    """Data that a method does not take change nothing."""
    model, X, y = case
    data = (X, y) if _methods.look_up(method, "rank").takes("X") else ()
    called = _methods.call(method, "importance", **more(method, X))
    result = sc.importance(model, X, y, method=called)
    assert result.feature_names == tuple(NAMES) and result.method == method
    if method in [n for n in measures.names() if measures.kind_of(n) == "explain"]:
        values = getattr(sc, method)(model, X, **more(method, X)).values
        expected = np.abs(values).mean(axis=0).sum(axis=1)
        np.testing.assert_allclose(result.values, expected, rtol=1e-12)
    else:
        assert result.values.tobytes() == called(model, *data).values.tobytes()


@pytest.mark.parametrize(
    ("name", "method", "parameters"),
    [
        ("shap", "tree_shap", {}),
        ("pfi", "permutation", {}),
        ("split_count", "splits", {}),
        ("pg_hat_10", "penalized_gini", {"preset": "pg_hat_10", "per_row": True}),
        ("oob_shap_centered", "oob_attributions", {"weigh_by": "centered_y"}),
    ],
)
def test_a_name_of_compare_or_of_people_is_that_of_a_method_with_parameters(
    name, method, parameters, case
):
    model, X, y = case
    called = _methods.call(method, "importance", **parameters)
    expected = sc.importance(model, X, y, called)
    assert sc.importance(model, X, y, name).values.tobytes() == expected.values.tobytes()
    by_name, by_method = sc.rank(model, X, name, y=y), sc.rank(model, X, called, y=y)
    np.testing.assert_array_equal(by_name.rankings, by_method.rankings)


def test_the_importance_of_one_output_is_the_mean_of_its_absolute_attributions(case):
    model, X, _ = case
    for output in (0, "predicted"):
        values = sc.explain(model, X, "saabas", output=output).values
        result = sc.importance(model, X, method="saabas", output=output)
        np.testing.assert_allclose(result.values, np.abs(values[:, :, 0]).mean(axis=0), rtol=1e-12)


def test_a_function_of_the_user_or_of_a_method_is_taken_in_the_place_of_a_name(case):
    """Red if a function gets a parameter that it does not have, or its result is lost."""
    model, X, y = case

    def halved(model, X):
        attribution = sc.saabas(model, X, output="predicted")
        return replace(attribution, values=attribution.values / 2)

    expected = sc.explain(model, X, "saabas", output="predicted")
    assert (2 * sc.explain(model, X, halved).values).tobytes() == expected.values.tobytes()
    mean = sc.importance(model, X, method="saabas", output="predicted").values
    np.testing.assert_allclose(2 * sc.importance(model, X, method=halved).values, mean, rtol=1e-12)
    ranked = sc.rank(model, X, sc.saabas).rankings
    np.testing.assert_array_equal(sc.rank(model, X, halved).rankings, ranked)
    of_other = partial(sc.tree_shap_interventional, background=X[:9])
    by_name, by_call = ("oob_attributions", {"output": 0}), (sc.oob_attributions, {"output": 0})
    for ranking, options in ((of_other, {}), by_name, by_call):
        ranked = sc.rank(model, X, ranking, **options)
        gaps = [sc.faithfulness(model, X, r, scale=0.3, **options) for r in (ranking, ranked)]
        assert gaps[0].tobytes() == gaps[1].tobytes()
    parts = list(sc.explain_chunks(model, X, of_other, output="predicted", chunk_rows=40))
    whole = sc.tree_shap_interventional(model, X, X[:9], output="predicted").values
    assert np.concatenate([part.values for part in parts]).tobytes() == whole.tobytes()
    by_score = sc.importance(model, X, y, lambda m, X, y: sc.ufi(m, X, y))
    assert by_score.values.tobytes() == sc.ufi(model, X, y).values.tobytes()


@pytest.mark.parametrize("method", with_function("rank"))
def test_rank_takes_every_method(method, case):
    model, X, y = case
    classes = to_forest(model).n_outputs
    if method == "oob_attributions" and classes == 3:
        with pytest.raises(ValueError, match="the model has 3 outputs: choose one with output="):
            sc.rank(model, X, method, y=y)
        return
    is_sampled = method == "sage"
    by = partial(sc.sage, n_permutations=8) if is_sampled else method
    ranked = sc.rank(model, X, by, y=y, **({} if is_sampled else more(method, X)))
    assert isinstance(ranked, Rankings) and ranked.feature_names == tuple(NAMES)
    if method in ("pg2_greedy", "pgi2_optimum"):  # the next test compares them
        expected = ranked.rankings
    elif method in with_function("explain"):
        choice = {} if method == "local_mdi" else {"output": "predicted"}
        choice = {"output": classes - 1} if method == "oob_attributions" else choice
        attribution = getattr(sc, method)(model, X, **choice, **more(method, X))
        expected = of_attribution(attribution)
    else:
        values = sc.importance(model, X, y, _methods.call(method, "importance", **more(method, X)))
        expected = np.tile(np.argsort(-values.values, kind="stable"), (60, 1))
    np.testing.assert_array_equal(ranked.rankings, expected)
    np.testing.assert_array_equal(np.sort(ranked.rankings, axis=1), np.tile(range(4), (60, 1)))


@pytest.mark.parametrize("method", ["pg2_greedy", "pgi2_optimum"])
def test_rankings_by_gaps_are_those_of_each_row_by_its_predicted_output(method, case):
    model, X, _ = case
    function = {"pg2_greedy": greedy.greedy_ranking, "pgi2_optimum": optimum.best_ranking}[method]
    ranked = sc.rank(model, X, method, noise="laplace", scale=0.3)
    forest = to_forest(model)
    predicted = forest.predict(X).argmax(axis=1)
    for c in range(forest.n_outputs):
        rows = np.flatnonzero(predicted == c)
        # The fractions of two classes add up to 1, so the gap of one is that of the other.
        output = 1 if forest.n_outputs == 2 else c
        direct = function(forest, X.iloc[rows], perturbations.Laplace(0.3), output=output)
        assert ranked.gaps[rows].tobytes() == direct.gaps.tobytes()
        np.testing.assert_array_equal(ranked.rankings[rows], direct.rankings)
    frame = ranked.to_frame()
    assert frame["feature"][:4].tolist() == [NAMES[j] for j in ranked.rankings[0]]
    np.testing.assert_array_equal(frame["gap"], ranked.gaps.ravel())


def gap_curve(model, X, rankings, output=None, important=True):
    """PG^2 of the first features of rankings, or of all others, each set by itself."""
    d = rankings.shape[1]
    masks = [top_k_mask(rankings, k, d) == important for k in range(1, d + 1)]
    return np.stack([exact_gap.pg2(model, X, m, scale=0.3, output=output) for m in masks], 1)


def test_whatever_stands_for_a_ranking_gives_the_same_faithfulness(regression, data):
    X, y = data
    X = X[:12]
    attribution = sc.explain(regression, X)
    expected = gap_curve(regression, X, of_attribution(attribution)).mean(axis=1)
    ranked = sc.rank(regression, X, "tree_shap")
    by_name = [[NAMES[j] for j in row] for row in ranked.rankings]
    stand_ins = (attribution, ranked, ranked.rankings, ranked.rankings.tolist(), by_name)
    for ranking in (*stand_ins, "tree_shap", "shap"):
        gaps = sc.faithfulness(regression, X, ranking, scale=0.3)
        assert gaps.tobytes() == expected.tobytes()
    importance = sc.importance(regression, data[0], y, method="ufi")
    order = np.argsort(-importance.values)
    same_order = np.tile(order, (12, 1))
    expected = gap_curve(regression, X, same_order).mean(axis=1)
    for ranking in (importance, order, pd.Series(order), [NAMES[j] for j in order]):
        gaps = sc.faithfulness(regression, X, ranking, scale=0.3)
        assert gaps.tobytes() == expected.tobytes()
    gaps = sc.faithfulness(regression, data[0], "ufi", y=y, scale=0.3)[:12]
    assert gaps.tobytes() == expected.tobytes()


def test_every_metric_is_that_of_the_library(case):
    model, X, _ = case
    X = X[:12]
    output = to_forest(model).n_outputs - 1
    ranking = sc.rank(model, X, "saabas", output=output)
    for metric in ("pgi2", "pgu2", "pgi2_curve", "pgu2_curve"):
        gaps = sc.faithfulness(model, X, ranking, metric, scale=0.3, output=output)
        expected = gap_curve(model, X, ranking.rankings, output, metric.startswith("pgi2"))
        expected = expected if metric.endswith("curve") else expected.mean(axis=1)
        assert gaps.tobytes() == expected.tobytes(), metric
    curve = sc.faithfulness(model, X, ranking, "pgi2_curve", scale=0.3, output=output)
    for k in (1, 3, 4):
        options = {"scale": 0.3, "output": output, "k": k}
        gaps = sc.faithfulness(model, X, ranking, "pg2", **options)
        assert gaps.tobytes() == np.ascontiguousarray(curve[:, k - 1]).tobytes()
    mask = np.array([True, False, True, False])
    for features in (mask, ["age", "height"], [0, 2], np.tile(mask, (12, 1))):
        gaps = sc.faithfulness(model, X, features, "pg2", scale=0.3, output=output)
        expected = exact_gap.pg2(model, X, mask, scale=0.3, output=output)
        assert gaps.tobytes() == expected.tobytes()


def test_attributions_to_several_outputs_rank_by_the_predicted_one_of_each_row(case):
    model, X, _ = case
    by_attribution = sc.faithfulness(model, X, sc.explain(model, X), scale=0.3)
    by_name = sc.faithfulness(model, X, "tree_shap", scale=0.3)
    np.testing.assert_allclose(by_attribution, by_name, rtol=GAP_ROUNDING)


@pytest.mark.parametrize("name", perturbations.NAMES)
def test_noise_has_the_same_meaning_by_name_by_object_and_by_scale(name, regression, data):
    X, noise = data[0][:5], perturbations.NAMES[name]
    kinds = (perturbations.Normal, perturbations.Laplace, perturbations.Uniform)
    assert noise.__name__.lower() == name and noise in kinds

    def gap(noise, **options):
        return sc.faithfulness(regression, X, [0, 1], "pg2", noise=noise, **options).tobytes()

    expected, by_name = gap(name, scale=0.25), pd.Series(0.25, index=NAMES[::-1])
    assert gap(noise(0.25)) == gap(noise(), scale=0.25) == gap(noise(0.5), scale=0.5) == expected
    assert gap(name, scale=by_name) == gap(name, scale=dict(by_name)) == expected
    assert exact_gap.pg2(regression, X, [0, 1], noise(0.25)).tobytes() == expected
    marginal = gap("marginal", background=data[0])
    assert marginal == gap(perturbations.Marginal(data[0])) != expected


def test_scales_masks_and_values_of_a_table_go_to_features_by_name_in_every_measure(
    regression, data
):
    """Numbers of a table with its columns in another order would be taken by position."""
    X = data[0][:5]
    reordered = X[NAMES[::-1]]
    ranks = np.tile(np.arange(4), (5, 1))

    def results(rows):
        scale, marginal = rows.std(), perturbations.Marginal(rows)
        first_feature = pd.Series([name == NAMES[0] for name in rows.columns], index=rows.columns)
        mask_of_rows = pd.DataFrame(np.tile(first_feature, (5, 1)), columns=rows.columns)
        yield exact_gap.pg2(regression, rows, [0], scale=scale)
        yield sc.faithfulness(regression, rows, ranks, scale=dict(scale))
        yield sampling.pg2_sampled(regression, rows, [0], [10], scale=scale)
        yield sampling.gaps_by_k(regression, rows, ranks, scale, 10)
        yield exact_gap.pg2(regression, rows, [0], marginal)
        yield greedy.greedy_ranking(regression, rows, marginal).gaps
        yield sc.faithfulness(regression, rows, [0], "pg2", noise=marginal)
        yield exact_gap.pg2(regression, rows, first_feature)
        yield exact_gap.pg2(regression, rows, mask_of_rows)
        yield sc.faithfulness(regression, rows, first_feature, "pg2", scale=1.0)

    for ours, expected in zip(results(reordered), results(X), strict=True):
        assert ours.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", [dict, pd.Series])
def test_noises_by_name_go_to_their_features(kind, regression, data):
    noises = [perturbations.Normal(), perturbations.Laplace(), "uniform", "normal"]
    by_order = perturbations.FeatureWise(noises[::-1])
    by_name = perturbations.FeatureWise(kind(dict(zip(NAMES[::-1], noises, strict=True))))
    expected, gaps = (
        sc.rank(regression, data[0][:3], noise=n, scale=0.3) for n in (by_order, by_name)
    )
    assert (gaps.gaps == expected.gaps).all()


def test_numbers_of_features_go_by_position_where_the_model_has_no_names(data):
    X, renamed = data[0][:5], data[0][:5].set_axis(OTHERS, axis=1)
    unnamed = DecisionTreeRegressor(max_depth=3).fit(X.to_numpy(), data[1][:5])
    gaps = [pg2(unnamed, renamed, [0], scale=s) for s in (renamed.std(), renamed.std().to_numpy())]
    assert gaps[0].tobytes() == gaps[1].tobytes()
    noises = ["laplace", "normal", "uniform", "normal"]
    by_place, by_name = each(noises), each(pd.Series(noises, OTHERS))
    gaps = [pg2(unnamed, renamed, [0], noise, scale=0.3) for noise in (by_place, by_name)]
    assert gaps[0].tobytes() == gaps[1].tobytes()


OTHERS, TWICE = ["a", "b", "c", "d"], [*NAMES, NAMES[1]]
BY_ROW, normal = sc.tree_shap_interventional, perturbations.Normal
pg2, gaps_of, each = exact_gap.pg2, partial(sc.faithfulness, scale=1), perturbations.FeatureWise
# One line that names the method, the parameter and the remedy.
CALLS = [
    (
        lambda m, X: sc.explain(m, X, "tree_shap_interventional"),
        "^tree_shap_int.* needs background",
    ),
    (lambda m, X: sc.saabas(m, X, algorithm="rows"), "^saabas has no parameter 'algorithm'"),
    (lambda m, X: sc.explain(m, X, "local_mdi", output=1), "'output'"),
    (lambda m, X: sc.importance(m, X, method="ufi"), "^ufi needs y: the targets"),
    (lambda m, X: sc.importance(m, method="saabas"), "^saabas needs X"),
    (lambda m, X: sc.importance(m, y=[1], method="sage"), "^sage needs X"),
    (lambda m, X: sc.importance(m, "ufi"), "name a method by method='ufi'"),
    (lambda m, X: sc.importance(m, X, "ufi"), "name a method by method='ufi'"),
    (lambda m, X: sc.rank(m, X, noise="laplace"), "^method 'pg2_greedy' needs scale"),
    (lambda m, X: sc.rank(m, X, sc.tree_shap(m, X), scale=0.3), "^scale= is for methods"),
    (lambda m, X: sc.rank(m, X, groups={}), "rank has no parameter 'groups'"),
    (lambda m, X: gaps_of(m, X, NAMES, noise="normal", scale=None), "^metric 'pgi2' needs scale"),
    (lambda m, X: gaps_of(m, X, NAMES, noise=pg2, samples=9), "is not a perturbation"),
    (lambda m, X: gaps_of(m, X, NAMES, noise=normal), "is not a perturbation"),
    (lambda m, X: each([1.0, 2.0]), "1.0 is not a perturbation"),
    (lambda m, X: gaps_of(m, X, NAMES, sigma=1), "^faithfulness has no parameter 'sigma'$"),
    (lambda m, X: sc.compare(m, X, X_tes=X), "^compare .*did you mean 'X_test'"),
    (lambda m, X: sc.sage(m, X, X["age"], n_repeats=3), "did you mean 'n_permutations'"),
]
VALUES = [
    (lambda m, X: sc.explain(m, X, "lime"), "unknown method 'lime': available are"),
    (lambda m, X: sc.explain(m, X, "TreeSHAP"), r"\(did you mean 'tree_shap'\?\)"),
    (lambda m, X: sc.importance(m, method="gain"), "splits.model, kind='gain'"),
    (lambda m, X: sc.explain(m, X, "mdi"), "^explain does not take the method 'mdi'"),
    (lambda m, X: sc.importance(m, X, method="pg2_greedy"), "'pg2_greedy', rank does"),
    (lambda m, X: sc.tree_shap(m, X, dtype="float16"), "dtype='float16': available are"),
    (lambda m, X: sc.explain(m, X, progress="yes"), "progress='yes': expected None"),
    (lambda m, X: sc.explain(m, X.iloc[0]), "X has 1 dimension"),
    (lambda m, X: sc.importance(m, X[:0], method="saabas"), "X has no rows"),
    (lambda m, X: gaps_of(m, X, NAMES, "pgi"), "metric='pgi': available"),
    (lambda m, X: gaps_of(m, X, NAMES, k=2), "k=2 is for metric='pg2'"),
    (lambda m, X: gaps_of(m, X, NAMES[:2]), "rankings have 2 of the"),
    (lambda m, X: gaps_of(m, X, ["sex"], "pg2"), "'sex' is neither an"),
    (lambda m, X: gaps_of(m, X, NAMES, noise="gamma"), "noise 'gamma': available"),
    (lambda m, X: each(["normal", "gamma"]), "noise 'gamma': available"),
    (lambda m, X: sc.rank(m, X, scale="wide"), "scale is not numeric .'wide'.*'0.3std'"),
    (lambda m, X: sc.rank(m, X, scale="0.3stdx"), "scale is not numeric"),
    (lambda m, X: sc.rank(m, X, scale=["a"] * 4), "scale is not numeric"),
    (lambda m, X: sc.rank(m, X[:1], scale="0.3std"), "one row has no standard .*background="),
    (lambda m, X: sc.rank(m, X[:1]), "all rows of X are equal: pass rows to draw from"),
    (lambda m, X: sc.faithfulness(m, X.iloc[[3] * 4], "mdi"), "all rows of X are equal"),
    (lambda m, X: sc.faithfulness(m, X, "mdi", samples=0), "samples=0: expected a whole"),
    (lambda m, X: sc.rank(m, X, noise="marginal", scale="2std"), "no scale applies"),
    (lambda m, X: sc.rank(m, X, background=X, scale=1), "background= is for noise='marg"),
    (lambda m, X: BY_ROW(m, X, X, model_output="squared_error", y=["a"] * 60), "y is not numeric"),
    (
        lambda m, X: gaps_of(m, X, sc.explain(m, X).grouped({"g": [2, 3]})),
        "has the features .'g'",
    ),
    (lambda m, X: each([each(["normal"])]), "one noise for each feature"),
    (lambda m, X: sc.rank(m, X, noise=each({"age": "normal"}), scale=1), "no entry for .'dose'"),
    (lambda m, X: gaps_of(m, X, NAMES, scale={"age": 1.0}), "'weight'.: give one for every"),
    (
        lambda m, X: pg2(m, X, [0], scale=pd.Series(1.0, TWICE)),
        "scale has several entries for 'dose",
    ),
    (lambda m, X: pg2(m, X, pd.Series(True, TWICE)), "the mask has several entries for 'dose'"),
    (lambda m, X: pg2(m, X, [0], scale=pd.Series(1.0, OTHERS)), "scale has no entry for"),
    (lambda m, X: pg2(m, X, pd.Series(True, OTHERS)), "the mask has no entry for"),
    (lambda m, X: pg2(m, X, [0], perturbations.Marginal(X.set_axis(OTHERS, axis=1))), "Marginal"),
    # Numbers by feature are no order: a dict of scores was ranked by the order of its writing.
    (lambda m, X: gaps_of(m, X, dict.fromkeys(NAMES, 0.1)), "is a dict of numbers"),
    (lambda m, X: gaps_of(m, X, pd.Series([3, 0, 1, 2], NAMES)), "is a Series of numbers"),
    (lambda m, X: gaps_of(m, X, set(NAMES)), "is a set, which has no order"),
    (lambda m, X: gaps_of(m, X, np.ones(4, bool), "pg2", k=1), "k=1 is for rankings"),
    (lambda m, X: gaps_of(m, X, [True, False] * 2, "pg2", k=1), "k=1 is for rankings"),
    *((lambda m, X, r=r: gaps_of(m, X, r, "pg2"), "ranking=") for r in ([], None, [[0, 1], [2]])),
    (lambda m, X: gaps_of(m, X, [0, 1], "pg2", k=1.5), "k=1.5 is not a whole number"),
]


@pytest.mark.parametrize(
    ("error", "call", "message"),
    [(TypeError, *row) for row in CALLS] + [(ValueError, *row) for row in VALUES],
)
def test_what_is_missing_unknown_or_does_not_fit_is_refused(error, call, message, regression, data):
    with pytest.raises(error, match=message) as caught:
        call(regression, data[0])
    assert error is ValueError or "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", [RandomForestRegressor, RandomForestClassifier])
def test_several_targets_are_ranked_and_measured_by_the_one_that_is_chosen(kind, data):
    """The largest prediction of targets in different units means nothing."""
    X, y = data
    targets = np.column_stack([y, -X["weight"]])
    targets = targets > 0 if kind is RandomForestClassifier else targets
    model = kind(3, max_depth=3, random_state=0).fit(X, targets)
    forest, X = to_forest(model), X[:4]
    names, last = forest.output_names, forest.n_outputs - 1
    direct = {
        "tree_shap": of_attribution(sc.explain(model, X, output=last)),
        "pg2_greedy": greedy.greedy_ranking(forest, X, scale=0.3, output=last).rankings,
    }
    for method, expected in direct.items():
        ranked = sc.rank(model, X, method, output=names[-1], **more(method, X))
        np.testing.assert_array_equal(ranked.rankings, expected)
        gaps = sc.faithfulness(model, X, ranked, scale=0.3, output=names[-1])
        expected = gap_curve(forest, X, expected, last).mean(axis=1)
        assert gaps.any() and gaps.tobytes() == expected.tobytes()
        for refused in (
            partial(sc.rank, by=method, **more(method, X)),
            partial(sc.faithfulness, ranking=ranked, scale=0.3),
        ):
            with pytest.raises(ValueError, match=r"'y1.* are several targets: choose one with out"):
                refused(model, X)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=3),
        RandomForestRegressor(2, random_state=0),
        xgboost.XGBClassifier(n_estimators=2),
    ],
)
def test_targets_may_be_renamed(model, data):
    """Then their names do not tell any more that none of them is the predicted one."""
    X, y = data
    forest = to_forest(model.fit(X, np.c_[y > 0, X["dose"] > 0].astype(int)))
    names = tuple(name.replace("y0", "yield").replace("y1", "ash") for name in forest.output_names)
    renamed = replace(forest, output_names=names)
    for call in (sc.explain, sc.interactions, partial(sc.rank, scale=0.3)):
        with pytest.raises(ValueError, match="several targets: choose one"):
            call(renamed, X[:2], output="predicted")
    assert sc.explain(renamed, X[:2], output=names[0]).output_names == names[:1]


@pytest.mark.parametrize("labels", [("y0", "y1", "y2"), ("y0=a", "y0=b", "y1=a")])
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(3, random_state=0),
        ensemble.GradientBoostingClassifier(n_estimators=3),
        ensemble.AdaBoostClassifier(n_estimators=3),
        ensemble.HistGradientBoostingClassifier(max_iter=2),
        lightgbm.LGBMClassifier(n_estimators=3, verbose=-1),
    ],
)
def test_classes_may_be_called_as_targets_and_their_classes_are(model, labels, data):
    """They were taken for several targets."""
    X, codes = data[0], pd.cut(data[1], 3, labels=False)
    y = np.array(labels)[codes]
    model.fit(X, y)
    assert sc.explain(model, X[:2], output="predicted").output_names == ("predicted",)
    assert sc.rank(model, X[:2], scale=0.3).rankings.shape == (2, 4)
    if isinstance(model, RandomForestClassifier):
        named = sc.importance(model, X, y, method="ufi").values
        numbered = sc.importance(model.fit(X, codes), X, codes, method="ufi")
        assert (named == numbered.values).all()
        with pytest.raises(ValueError, match="several targets: choose one"):
            sc.explain(model.fit(X, np.c_[y, y]), X[:2], output="predicted")


def test_rankings_by_a_global_method_check_the_rows_and_show_progress(case, capsys):
    """A model that a method fits itself need not be fitted."""
    model, X, y = case
    for wrong_shape in (X.to_numpy()[0], X.to_numpy()[:, :2]):
        with pytest.raises(ValueError, match="X has"):
            sc.rank(model, wrong_shape, "mdi")
    for progress in (False, True):
        sc.rank(model, X, "mda", y=y, progress=progress)
        assert ("trees" in capsys.readouterr().err) == progress
    unfitted = RandomForestClassifier(2, random_state=0)
    assert len(sc.rank(unfitted, X, "air", y=y > y.mean()).rankings) == len(X)


INDEXES = {
    "labels": pd.Index(list("wxyz") * 2 + ["v", "w"], name="patient"),
    "dates": pd.date_range("2020-01-01", periods=10, tz="UTC"),
    "levels": pd.MultiIndex.from_product([["a", "b"], range(5)], names=["site", "visit"]),
    "positions": pd.RangeIndex(10),
}


def assert_same_index(index, expected):
    """Whether positions are a range or listed makes no difference."""
    pd.testing.assert_index_equal(index, expected, exact="equiv")


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_frames_have_the_index_of_the_rows_that_were_explained(index, case):
    model, X, _ = case
    k, rows = to_forest(model).n_outputs, X[:10].set_axis(index)
    results = [sc.explain(make_pipeline("passthrough", model), rows), sc.interactions(model, rows)]
    for result in (*results, sc.explain(model, rows)):
        frame = result.to_frame()
        assert_same_index(frame.index, index.repeat(k))
    assert frame["sample"].tolist() == np.repeat(range(10), k).tolist()
    chunks = pd.concat([p.to_frame() for p in sc.explain_chunks(model, rows, chunk_rows=4)])
    pd.testing.assert_frame_equal(chunks.drop(columns="sample"), frame.drop(columns="sample"))
    predicted = sc.tree_shap(model, rows, output="predicted", dtype="float32")
    assert_same_index(predicted.grouped({"g": ["age", "dose"]}).to_frame().index, index)
    training = X.set_axis(X.index[::-1])
    of_bags = sc.explain(model, training, "oob_attributions", output=0).to_frame()
    assert_same_index(of_bags.index, training.index)
    for method in ("pg2_greedy", "saabas", "mdi"):
        ranked = sc.rank(model, rows, method, **more(method, X)).to_frame()
        assert_same_index(ranked.index, index.repeat(4))


def test_frames_of_arrays_have_positions_and_an_index_is_pickled_and_not_stored(case):
    model, X, _ = case
    of_array = sc.explain(model, X.to_numpy())
    assert_same_index(of_array.to_frame().index, pd.RangeIndex(of_array.values[:, 0].size))
    labeled = sc.explain(model, X.set_axis(X.index + 7))
    assert pickle.loads(pickle.dumps(labeled)).index.equals(labeled.index)
    stored = labeled.to_arrays()
    assert set(stored) == set(of_array.to_arrays())
    assert sc.Attribution.from_arrays(stored).index is None
    with pytest.raises(ValueError, match="index has 60 labels, expected 2: one for each row"):
        replace(labeled, values=labeled.values[:2])


def test_without_a_choice_of_two_outputs_that_add_up_the_second_is_measured():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    model = RandomForestClassifier(4, random_state=0).fit(X, y)
    rows, ranks = X[:5], [[0, 1, 2]] * 5
    for call in (
        partial(sampling.pg2_sampled, model, rows, [0, 1], [20]),
        partial(sampling.gaps_by_k, model, rows, ranks, 0.3, 20),
        lambda **output: (
            randomizing.randomized_rmse(model, rows, y[:5], ranks, [1, 2], X, 5, **output).rmse
        ),
        lambda **output: measures.function_of("pg2_greedy")(model, rows, 0.3, **output).values,
    ):
        assert call().tobytes() == call(output=1).tobytes()


@pytest.mark.parametrize("labels", [(1, 2, 3), (-1, 0, 1), ("1", "2", "3")])
def test_classes_named_like_the_index_of_others_are_ranked_and_measured(labels):
    """Red if an index that the library has chosen counts as the name of another class."""
    X, y = load_iris(return_X_y=True)
    rows, scale = X[::10], 0.3 * X.std(axis=0)
    names = [np.array(of_classes) for of_classes in (("a", "b", "c"), labels)]
    models = [RandomForestClassifier(5, random_state=0).fit(X, own[y]) for own in names]
    gaps = partial(sc.faithfulness, X=rows, scale=scale)
    for call in (
        lambda m: sc.rank(m, rows, scale=scale).rankings,
        lambda m: sc.rank(m, rows, by="pgi2_optimum", scale=scale).rankings,
        lambda m: gaps(m, ranking="tree_shap"),
        lambda m: gaps(m, ranking="tree_shap", output="predicted"),
        lambda m: gaps(m, ranking=[2], metric="pg2", output=str(m.classes_[1])),
    ):
        plain, named = map(call, models)
        assert plain.tobytes() == named.tobytes()
    X, y = X[:100], y[:100]  # two classes, named 1 and 2, or -1 and 0
    plain, named = (
        sc.rank(m.fit(X, own[y]), X, "oob_attributions", y=own[y]).rankings
        for m, own in zip(models, names, strict=True)
    )
    assert plain.tobytes() == named.tobytes()


def test_columns_named_by_numbers_are_never_taken_for_positions():
    """Red if the index of a sorted Series ranks other features than its labels name."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=[3, 1, 2, 0])
    model = xgboost.XGBRegressor(n_estimators=5).fit(X, 5 * X[3] + X[1])
    scores = sc.importance(model, method="mdi")
    order = pd.Series(scores.values, index=X.columns).sort_values(ascending=False).index
    by_index = sc.faithfulness(model, X[:3], order, scale=0.3)
    assert by_index.tobytes() == sc.faithfulness(model, X[:3], scores, scale=0.3).tobytes()
    with pytest.raises(ValueError, match="ranking: 3 may mean the feature '3' or that of index 3"):
        sc.faithfulness(model, X[:3], [3], "pg2", scale=0.3)
    with pytest.raises(ValueError, match="sets: 3 may mean the feature '3'"):
        sc.interactions(model, X[:3], sets=[[3, 1]])


def test_the_first_features_of_a_greedy_ranking_are_those_of_the_whole_one(case):
    """Red if a search that stops early takes others, or gives a mean over few of them as PGI^2."""
    model, X, _ = case
    whole, first = (sc.rank(model, X[:7], scale=0.3, top=top) for top in (None, 2))
    assert first.rankings.tolist() == whole.rankings[:, :2].tolist()
    assert first.gaps.tobytes() == whole.gaps[:, :2].tobytes() and first.tied.shape == (7, 2)
    with pytest.raises(ValueError, match="a mean over all 4 features, and 2 are ranked"):
        first.pgi2  # noqa: B018
    assert sc.rank(model, X[:2], scale=0.3, top=99).rankings.shape == (2, 4)
    with pytest.raises(ValueError, match="top=0: expected a whole number, at least 1"):
        sc.rank(model, X[:2], scale=0.3, top=0)


def test_a_large_forest_is_ranked_for_the_first_places_only_unless_more_are_asked_for(
    case, monkeypatch
):
    """Red if a call without `top` takes minutes a row, or does not say that it left places out."""
    model, X, _ = case
    monkeypatch.setattr(_ranking, "LARGE", 0)
    monkeypatch.setattr(_ranking, "PLACES", 2)
    few, whole = sc.rank(model, X[:3], scale=0.3), sc.rank(model, X[:3], scale=0.3, top=4)
    assert few.rankings.tolist() == whole.rankings[:, :2].tolist()
    assert repr(few) == "GreedyRankings(3 samples, the first 2 of 4 features)"
    with pytest.raises(ValueError, match=r"2 of the 4 features: rank all of them \(top=4\)"):
        sc.faithfulness(model, X[:3], few, scale=0.3)
    by_name = sc.faithfulness(model, X[:3], "pg2_greedy", scale=0.3)
    assert by_name.tolist() == whole.pgi2.tolist()
    of_two = sc.faithfulness(model, X[:3], "pg2_greedy", "pg2", scale=0.3, k=2)
    assert of_two.tolist() == whole.gaps[:, 1].tolist()


@pytest.mark.parametrize(
    ("ask", "n_bars"),
    [
        (sc.rank, 1),
        (partial(sc.rank, by="pgi2_optimum"), 1),
        (partial(sc.faithfulness, ranking="local_mdi"), 2),
    ],
)
def test_the_progress_of_a_search_adds_up_to_its_rows(ask, n_bars, case, monkeypatch):
    """Red if the bar of a long search stops short of its end, or passes it."""
    model, X, _ = case
    moves, bar = [], progress_bar.bar

    @contextmanager
    def watched(*arguments, **named):
        with bar(*arguments, **named) as done:
            yield lambda rows: (moves.append(rows), done(rows))

    monkeypatch.setattr(progress_bar, "bar", watched)
    ask(model, X[:3], scale=0.3)
    assert sum(moves) == pytest.approx(3 * n_bars)


@pytest.mark.parametrize("progress", [None, False])
def test_a_long_search_says_how_long_it_takes(progress, case, monkeypatch, caplog):
    """Red if minutes pass without a sign; who wants no bar gets no word either."""
    model, X, _ = case
    monkeypatch.setattr(progress_bar, "WINDOW", 0.0)
    monkeypatch.setattr(progress_bar, "LONG", -1.0)
    sc.rank(model, X[:3], scale=0.3, progress=progress)
    said = [line for line in caplog.messages if "seconds of one core: top=3 ranks" in line]
    assert len(said) == len(caplog.messages) == (progress is None)
    sc.faithfulness(model, X[:3], NAMES, progress=progress)
    said = [line for line in caplog.messages if "core: samples=1000 estimates them" in line]
    assert len(said) == (progress is None) and len(caplog.messages) == 2 * len(said)


def test_the_cost_of_gaps_is_known_from_counts_before_the_first(monkeypatch, caplog):
    """Red if ten seconds pass before a call of an hour says so."""
    X = np.random.default_rng(0).normal(size=(300, 6))
    model = RandomForestRegressor(20, random_state=0).fit(X, X[:, 0] * X[:, 1] + X.sum(axis=1))
    monkeypatch.setattr(exact_gap, "GapProblem", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sc.faithfulness(model, np.tile(X[:3], (20_000, 1)), range(6))
    said = r"6 sets .* 60,000 rows, by 20 trees with \d,\d{3} leaves, take about 9\d\d seconds"
    assert re.search(said, caplog.text)


def test_by_default_values_of_other_rows_are_drawn(case):
    """A fixed width saw nothing of features of few values; now no size is needed at all."""
    model, X, _ = case
    for method in ("pg2_greedy", "pgi2_optimum"):
        expected = sc.rank(model, X, method, noise=perturbations.Marginal(X)).gaps
        for given in ({}, {"noise": "marginal"}, {"background": X}):
            assert sc.rank(model, X, method, **given).gaps.tobytes() == expected.tobytes()
    many = pd.concat([X] * 20, ignore_index=True)
    one, again = (sc.faithfulness(model, many, NAMES, "pg2", k=2) for _ in range(2))
    assert one.tobytes() == again.tobytes() and len(_ranking._sample_rows(many.to_numpy())) == 500
    assert sc.rank(model, X[:0]).rankings.shape == (0, 4)
    # A background is for the method and the noise.
    given = {"by": "tree_shap_interventional", "background": X[:9]}
    ranked = sc.rank(model, X[:5], **given)
    of_ranked, named = (
        sc.faithfulness(model, X[:5], ranking, background=X[:9])
        for ranking in (ranked, given["by"])
    )
    assert named.tobytes() == of_ranked.tobytes()


def test_a_scale_in_standard_deviations_is_of_the_rows_as_the_trees_see_them(data):
    """Red if it is of raw columns, or of the rows that are ranked where there is a background."""
    X, y = data[0] * [1, 10, 100, 1000], data[1]
    pipeline = make_pipeline(StandardScaler(), RandomForestRegressor(5, random_state=0)).fit(X, y)
    unit = np.sqrt(60 / 59)  # deviations of a sample
    for given, scale in (("0.5std", 0.5 * unit), ("2 std", 2 * unit), ("0.5", 0.5)):
        background = {"background": X} if "std" in given else {}
        gaps = sc.faithfulness(pipeline, X[:1], "mdi", scale=given, **background)
        np.testing.assert_allclose(gaps, sc.faithfulness(pipeline, X[:1], "mdi", scale=scale))


@pytest.mark.parametrize(
    ("given", "far"),
    [
        ({"scale": "0.3std", "noise": "uniform"}, "coin, class of three"),
        ({"scale": [0.2, 0.2, 1.0, 0.5]}, "coin"),
        ({"noise": perturbations.Laplace(0.05)}, "coin, class of three, count"),
        ({"scale": "2std"}, ""),
        ({}, ""),
    ],
)
def test_a_fixed_width_warns_of_features_of_few_values_once(given, far):
    """Red if Sex on Titanic ranks behind the number of a passenger, and nobody says so."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"coin": random.integers(0, 2, 90), "number": random.normal(size=90)})
    X["class of three"], X["count"] = random.integers(1, 4, 90), random.poisson(9, 90)
    model = RandomForestRegressor(5, random_state=0).fit(X, X["coin"] + X.sum(axis=1))
    for call in (sc.rank, partial(sc.faithfulness, ranking="pg2_greedy")):
        with warnings.catch_warnings(record=True) as notes:
            warnings.simplefilter("always")
            call(model, X[:20], **given)
        assert [n.filename for n in notes] == [__file__] * bool(far)
        assert all(f"two values of {far}: " in str(note.message) for note in notes)


@pytest.mark.parametrize("given", [{}, {"scale": 0.5}, {"noise": "laplace", "scale": 0.3}])
def test_sampled_gaps_are_the_exact_ones_within_their_error(given, case):
    """A standard error from ten seeds; 6 of them are exceeded once in 5,000 numbers."""
    model, X, _ = case
    X, given = X[:3], given or {"background": X}
    ranks = sc.rank(model, X, "saabas", output="predicted").rankings
    for metric in ("pgi2_curve", "pgu2", "pg2"):
        exact = sc.faithfulness(model, X, ranks, metric, **given)
        sampled = partial(sc.faithfulness, model, metric=metric, samples=400, **given)
        seeds = [sampled(X, ranks, random_state=seed) for seed in range(10)]
        error = np.std(seeds, axis=0, ddof=1) / np.sqrt(10)
        assert (np.abs(np.mean(seeds, axis=0) - exact) <= 6 * error + 1e-12).all()
        alone = sampled(X[1:2], ranks[1:2], random_state=3)
        assert alone.tobytes() == seeds[3][1:2].tobytes() and error.any()


@pytest.mark.parametrize("arithmetic", ["double", "single"])
def test_nothing_of_features_times_features_is_made(arithmetic):
    """Red if a table of many columns, of which trees test few, takes tens of gigabytes."""
    X, columns = np.random.default_rng(0).normal(size=(40, 3)), np.array([3, 7, 11_000])
    model = xgboost.XGBRegressor(n_estimators=3, max_depth=3).fit(X, X[:, 1] + X[:, 0] * X[:, 2])
    small, many = to_forest(model), np.zeros((2, 20_000))
    feature = np.where(small.feature < 0, -1, columns[small.feature])
    forest = replace(small, feature=feature, feature_names=[f"x{j}" for j in range(20_000)])
    many[:, columns], of_two = X[:2], {"scale": 0.5, "arithmetic": arithmetic, "top": 2}
    tracemalloc.start()
    ranked, default = greedy_ranking(forest, many, **of_two), sc.rank(forest, many, scale=0.5)
    pgi2 = sc.faithfulness(forest, many, np.arange(20_000), scale=0.5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    expected = greedy_ranking(small, X[:2], **of_two)
    assert (ranked.rankings == columns[expected.rankings]).all() and default.gaps.shape == (2, 10)
    assert (ranked.gaps == expected.gaps).all()
    by_count = sc.faithfulness(small, X[:2], range(3), "pgi2_curve", scale=0.5)
    share = np.diff([*columns, 20_000]) / 20_000  # of the numbers of features with so many tested
    np.testing.assert_allclose(pgi2, by_count @ share)
    assert peak < 60e6  # a mask of features times features has 4e8 bytes


def changed(kind, name, change):
    """A subclass that changes what a method gives."""

    def method(self, X, **options):
        return change(getattr(kind, name)(self, X, **options))

    return type("Own", (kind,), {name: method})


SHARP = changed(RandomForestClassifier, "predict_proba", np.round)(5, max_depth=2)
OTHER_CLASS = changed(RandomForestClassifier, "predict", lambda label: 1 - label)(5)
WORDS = changed(RandomForestClassifier, "predict", lambda label: label.astype("U"))(5)
BOOSTING = changed(ensemble.GradientBoostingRegressor, "predict", lambda y: y.clip(9))
XGBOOST = changed(xgboost.XGBRegressor, "predict", lambda y: 2 * y)
SCORE = changed(ensemble.HistGradientBoostingClassifier, "decision_function", np.exp)
STEPS = [("model", RandomForestRegressor(5))]
# Model, and whether it knows classes.
REPLACED = {
    "fractions": (SHARP, True),
    "class": (OTHER_CLASS, True),
    "boosting": (BOOSTING(n_estimators=5), False),
    "xgboost": (XGBOOST(n_estimators=5), False),
    "score": (SCORE(max_iter=5), True),
    "in a pipeline": (make_pipeline(StandardScaler(), SHARP), True),
    "pipeline": (changed(Pipeline, "predict", lambda y: y + 5)(STEPS), False),
    "search": (GridSearchCV(SHARP, {}, cv=2), True),
    "in a vote": (ensemble.VotingClassifier([("a", SHARP)], voting="soft"), True),
}


@pytest.mark.parametrize("name", REPLACED)
def test_what_a_subclass_predicts_in_place_of_its_trees_is_noticed(name, data):
    (model, has_classes), (X, y) = REPLACED[name], data
    model.fit(X, (y > 0).astype(int) if has_classes else y)
    output = "predicted" if name == "class" else "all"
    shap = partial(sc.tree_shap, output=output)
    calls = [
        partial(shap, model, X),
        lambda **how: list(sc.explain_chunks(model, X, output=output, **how)),
        lambda **how: sc.importance(model, X.to_numpy(), method=partial(shap, **how)),
        partial(sc.rank, model, X, "tree_shap"),
        partial(sc.sage, model, X, y > 0, n_permutations=2),
        partial(sc.rank, model, X, top=1, background=X[:2]),
        partial(sc.interactions, model, X),
        partial(sc.faithfulness, model, X, [0], "pg2"),
    ]
    for call in calls if output == "all" else calls[:4]:
        with pytest.raises(ValueError, match=r"additivity check.*gives.*check_additivity=False"):
            call()
        call(check_additivity=False)


def test_a_subclass_that_predicts_the_same_or_fails_is_explained(data):
    X, y = data
    for change in (np.float32, lambda y: {}["no"]):
        model = changed(RandomForestRegressor, "predict", change)(3).fit(X, y)
        assert sc.explain(model, X).values.any()
    # Its fractions are those of the trees, and words in place of numbers are no other class.
    WORDS.fit(X, (y > 0).astype(int))
    assert sc.explain(WORDS, X, output="predicted").values.any()
    assert sc.tree_shap(OTHER_CLASS.fit(X, (y > 0).astype(int)), X, dtype="float32").values.any()


GUARDED = {
    "forest": RandomForestRegressor(5),
    "classes": RandomForestClassifier(5),
    "bag": ensemble.BaggingRegressor(RandomForestRegressor(3), 2),
    "vote": ensemble.VotingClassifier([("a", RandomForestClassifier(3))], voting="soft"),
    "boosting": ensemble.GradientBoostingClassifier(n_estimators=3),
    "histogram": ensemble.HistGradientBoostingClassifier(max_iter=3),
    "xgboost": xgboost.XGBClassifier(n_estimators=3),
    "lightgbm": lightgbm.LGBMRegressor(n_estimators=3, verbose=-1),
    "pipeline": make_pipeline(StandardScaler(), DecisionTreeRegressor()),
}


@pytest.mark.parametrize("method", ["tree_shap", "local_mdi"])
@pytest.mark.parametrize("name", GUARDED)
def test_trees_that_predict_something_else_than_the_model_are_noticed(
    name, method, data, monkeypatch
):
    """For every library: a check that could not fail would pass, too."""
    X, y = data
    y = pd.cut(y, 3, labels=False)
    model, right = GUARDED[name].fit(X, y), formats._converted
    method = "mda" if (name, method) == ("forest", "local_mdi") else method

    def call(**how):
        sc.importance(model, X, y, _methods.call(method, "importance", **how))

    call()
    monkeypatch.setattr(
        formats, "_converted", lambda m: replace(right(m), base=right(m).base + 0.01)
    )
    with pytest.raises(ValueError, match=r"for row 0 .*, 0\.0[12] away: .*check_additivity=False"):
        call()
    call(check_additivity=False)
