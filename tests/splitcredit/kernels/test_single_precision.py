"""Greedy rankings of gajewski2025 in single precision: the kernel, and what it causes in print.

The tests of causes compute what they name on the authors' models: ties, lost precision, rows, fits.
"""

from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import xgboost

import twins_single_precision as twin
from reproduction import claims, datasets, models, storage
from reproduction.metrics.errors import randomized_error
from reproduction.metrics.gaps import exact_gaps
from reproduction.papers.gajewski2025._settings import (
    DATASETS,
    DESCRIBED,
    GREEDY,
    SHAP,
    SIGMAS,
    recipe_of,
)
from reproduction.planning import configuration as config
from reproduction.planning.places import PAPERS
from splitcredit import to_forest
from splitcredit.kernels.prediction_gap import single_precision
from splitcredit.measures import function_of, pg2_greedy
from splitcredit.prediction_gap import greedy as greedy_module
from splitcredit.prediction_gap.exact_gap import GapProblem, pg2
from splitcredit.prediction_gap.greedy import greedy_ranking
from splitcredit.prediction_gap.perturbations import Laplace
from splitcredit.prediction_gap.rankings import of_attribution, top_k_mask
from splitcredit.prediction_gap.retraining import removed_predictions

ROOT = Path(__file__).resolve().parents[3]
CLAIMS = PAPERS / "gajewski2025" / "claims"
FULL = config.read_yaml(ROOT / "config" / "config.yaml")


@cache
def data(dataset):
    """The authors' rows."""
    recipe = {"dataset": "standardized_split", "of": dataset, "split": "authors"}
    return datasets.load(recipe)


@cache
def authors_model(dataset, model):
    rows = data(dataset).training
    return to_forest(models.fit(recipe_of(dataset, model), rows.X, rows.y))


@cache
def boosted(seed):
    """A few trees on rows with values on the thresholds."""
    random = np.random.default_rng(seed)
    X = random.integers(-6, 7, size=(80, 4)).astype(np.float32) / 4
    y = X[:, 0] * X[:, 1] + X[:, 2] + 3.0 + random.normal(size=80)
    fitted = xgboost.XGBRegressor(n_estimators=1 + seed, max_depth=3, learning_rate=0.5, n_jobs=1)
    return to_forest(fitted.fit(X, y)), X


def printed(table, **where):
    """Cells of a printed table, and their text."""
    for row in storage.read_rows(CLAIMS / f"{table}.csv"):
        cell = claims.parse_cell(row["cell"])
        if all(cell[key] == value for key, value in where.items()):
            yield cell, row["printed"]


def is_print(text, value):
    return claims.verdict(text, value, claims.Basis()) == "equal"


# The kernel.


def greedy_gaps(forest, X, sigma):
    """The sets of features that greedy rankings take one after the other, and their gaps."""
    trees, order = single_precision.single_forest(forest, 0), np.tile(np.arange(4), (4, 1))
    rankings, gaps, _ = single_precision.greedy(trees, X, np.full(4, sigma), order)
    return [np.isin(np.arange(4), ranking[:k]) for ranking in rankings for k in range(1, 5)], gaps


@pytest.mark.parametrize("seed", range(4))
def test_gaps_are_those_of_the_twin_to_the_last_bit(seed):
    forest, X = boosted(seed)
    for sigma in SIGMAS:
        masks, gaps = greedy_gaps(forest, X[:3], sigma)
        rows = np.repeat(X[:3], 4, axis=0)
        expected = [twin.pg2(forest, x, c, sigma) for x, c in zip(rows, masks, strict=True)]
        assert gaps.ravel().tolist() == [float(gap) for gap in expected]


def test_gaps_are_the_exact_ones_up_to_the_rounding_of_the_squared_prediction():
    forest, X = boosted(3)
    for sigma in SIGMAS:
        masks, gaps = greedy_gaps(forest, X, sigma)
        rows = np.repeat(X, 4, axis=0)
        center = forest.predict(rows)[:, 0] - forest.base[0]
        errors = np.abs(gaps.ravel() - pg2(forest, rows, np.array(masks), scale=sigma))
        assert (errors <= 40 * 2.0**-24 * (center**2 + gaps.ravel())).all() and errors.max() > 0


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [[3, 1, 0, 2]] * 2 + [[2, 3, 1, 0]] * 2])
def test_rankings_and_ties_are_those_of_the_twin(seed, order):
    forest, X = boosted(seed)
    greedy = greedy_ranking(forest, X[:8], scale=0.1, arithmetic="single", ties=np.array(order))
    for x, ranking, tied in zip(X[:8], greedy.rankings, greedy.tied, strict=True):
        expected = twin.greedy(forest, x, 0.1, np.broadcast_to(order, (4, 4)))
        assert (ranking.tolist(), tied.tolist()) == expected
    assert greedy.tied.any()


def test_equal_features_are_taken_in_the_order_that_is_given_in_double_precision_too():
    forest, X = boosted(0)
    order = np.array([2, 3, 0, 1])
    by_index, by_order = (greedy_ranking(forest, X, scale=0.1, ties=t) for t in (None, order))
    assert (by_order.rankings != by_index.rankings).any()
    for x, ranking, tied in zip(X[:20], by_order.rankings, by_order.tied, strict=False):
        for place in range(4):
            free = [j for j in order if j not in ranking[:place]]
            sets = np.array([np.isin(range(4), [*ranking[:place], j]) for j in free])
            gaps = pg2(forest, np.tile(x, (len(free), 1)), sets, scale=0.1)
            equal = gaps >= gaps.max() * (1 - greedy_module.TIE)
            assert ranking[place] == free[int(equal.argmax())]
            assert tied[place] == (equal.sum() > 1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"arithmetic": "half"}, "arithmetic='half': available are 'double', 'single'"),
        ({"model": replace(boosted(1)[0], strict=False)}, "that go left on x < threshold"),
        ({"perturbation": Laplace()}, "is for normal noise with a scale above 0"),
        ({"scale": [0, 1, 1, 1]}, "is for normal noise with a scale above 0"),
        ({"X": [[0, np.nan, 0, 0]]}, "row 0, feature 'x1'"),
        *(
            ({"ties": ties, "arithmetic": "double"}, "ties must name each of the 4 features once")
            for ties in ([0, 1, 2], [0, 1, 2, 2], np.zeros((2, 4), int))
        ),
    ],
)
def test_what_single_precision_is_not_for_is_refused(given, message):
    forest, X = boosted(1)
    with pytest.raises(ValueError, match=message):
        greedy_ranking(**{"model": forest, "X": X, "arithmetic": "single"} | given)


# Causes.


@cache
def rankings(dataset, model, arithmetic, n_rows=None):
    """SHAP's and greedy rankings by their printed names, ties by index."""
    forest, X = authors_model(dataset, model), data(dataset).explained.X[:n_rows]
    by_name = {SHAP: of_attribution(function_of("tree_shap")(forest, X, output="predicted"))}
    for sigma, name in GREEDY.items():
        by_name[name] = greedy_ranking(forest, X, scale=sigma, arithmetic=arithmetic).rankings
    return by_name


def shares_as_printed(dataset, arithmetic):
    """Whether each cell of table 2 of a single tree comes out."""
    ranked = rankings(dataset, "single", arithmetic)
    for cell, text in printed("table2", dataset=dataset, model="single"):
        k, d = int(cell["k"]), ranked[SHAP].shape[1]
        greedy = ranked[GREEDY[float(cell["sigma"])]]
        is_same = top_k_mask(greedy, k, d) == top_k_mask(ranked[SHAP], k, d)
        yield is_print(text, is_same.all(axis=1).mean())


def gaps_as_printed(table, dataset, model, ranked, n_rows):
    """Whether each cell of table 3 or 6 comes out as a mean over the first rows."""
    forest = authors_model(dataset, model)
    X, means = forest.prepare(data(dataset).explained.X[:n_rows]), {}
    for sigma in SIGMAS:
        for name, values in exact_gaps(forest, X, ranked, sigma).items():
            means[str(sigma), name] = values.mean()
    for cell, text in printed(table, dataset=dataset, model=model):
        yield is_print(text, means[cell["sigma_metric"], cell["ranking"]])


@pytest.mark.long
def test_table2_single_precision_gives_the_printed_shares_and_double_precision_others():
    in_single = {d: sum(shares_as_printed(d, "single")) for d in DATASETS}
    in_double = {d: sum(shares_as_printed(d, "double")) for d in DATASETS}
    assert set(in_single.values()) == {9}
    assert in_double == {"red_wine": 3, "california_housing": 1, "parkinson": 3}


def test_part_of_the_deviation_at_small_noise_is_precision():
    """On the tree for red wine: share of rows with SHAP's top feature, at sigma 0.1 and at 1."""
    top = {}
    for arithmetic in ("single", "double"):
        ranked = rankings("red_wine", "single", arithmetic)
        for sigma in (0.1, 1.0):
            top[arithmetic, sigma] = (ranked[GREEDY[sigma]][:, 0] == ranked[SHAP][:, 0]).mean()
    assert top["single", 1.0] == top["double", 1.0]
    rises = {a: top[a, 1.0] - top[a, 0.1] for a in ("single", "double")}
    assert rises["single"] > 0.05 > rises["double"] > 0


@pytest.mark.long
@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize(("table", "model"), [("table3", "bigger"), ("table6", "single")])
def test_print_is_a_mean_over_three_rows_and_not_over_all(table, model, dataset):
    """Of the same models and rankings: of 12 cells none is left with 20 rows.

    In double precision and with ties by index some cells differ over three rows too.
    """
    ranked = rankings(dataset, model, "double", 20)
    assert sum(gaps_as_printed(table, dataset, model, ranked, 3)) > 6
    assert sum(gaps_as_printed(table, dataset, model, ranked, 20)) == 0


def differing(name, variant):
    """Printed cells that differ in the reference run, as keys, with print and ours."""
    for row in storage.read_rows(ROOT / "docs" / "reference" / "claims.csv"):
        place = row["paper"], row["artefact"], row["variant"], row["verdict"]
        if place == ("gajewski2025", name, variant, "differs"):
            yield claims.parse_cell(row["cell"]), row["printed"], float(row["ours"])


@cache
def described(dataset, model):
    """A model as the text describes it, with its rows: the first split of our own."""
    rows = datasets.load(FULL["datasets"][dataset] | {"split": "random"}, 1)
    recipe = recipe_of(dataset, model, DESCRIBED)
    return to_forest(models.fit(recipe, rows.training.X, rows.training.y, 1)), rows


@cache
def first_three(dataset, model, variant, ranking):
    """The first three features of the rows of the test, int64 (n_rows, 3)."""
    if variant == DESCRIBED:
        forest, rows = described(dataset, model)
    else:
        forest, rows = authors_model(dataset, model), data(dataset)
    X = forest.prepare(rows.explained.X)
    if ranking == SHAP:
        shap = function_of("tree_shap")(forest, X, output="predicted")
        return of_attribution(shap)[:, :3]
    (sigma,) = (s for s, name in GREEDY.items() if name == ranking)
    return greedy_ranking(forest, X, scale=sigma, top=3).rankings


def share_alike(dataset, model, variant, sigma, k):
    """Share of the rows with the first k features of SHAP, as table 2 has it."""
    greedy, shap = (
        first_three(dataset, model, variant, name)[:, :k] for name in (GREEDY[sigma], SHAP)
    )
    return (np.sort(greedy, axis=1) == np.sort(shap, axis=1)).all(axis=1).mean()


@pytest.mark.long
@pytest.mark.parametrize(("dataset", "model"), list(product(DATASETS, ("single", "bigger"))))
def test_table2_described_models_give_other_shares_than_the_authors(dataset, model):
    """Each cell that differs: by one split of our own too, on the same side of print.

    The same program and the authors' model give print: of bigger models in double precision.
    """
    n_cells = 0
    for cell, text, ours in differing("table2", "described"):
        if (cell["dataset"], cell["model"]) == (dataset, model):
            setting = float(cell["sigma"]), int(cell["k"])
            share = share_alike(dataset, model, DESCRIBED, *setting)
            assert np.sign(share - float(text)) == np.sign(ours - float(text)), cell
            if model == "bigger":
                assert is_print(text, share_alike(dataset, model, "published", *setting)), cell
            n_cells += 1
    assert n_cells


def test_table2_single_trees_of_one_recipe_are_others_by_their_split_and_precision():
    for dataset in ("california_housing", "parkinson"):
        recipe, published = recipe_of(dataset, "single", DESCRIBED), recipe_of(dataset, "single")
        assert recipe == {k: v for k, v in published.items() if k != "random_state"}
        forest, rows = described(dataset, "single")
        assert forest.threshold.tolist() != authors_model(dataset, "single").threshold.tolist()
        shap = first_three(dataset, "single", DESCRIBED, SHAP)[:, 0]
        shares = {}
        for sigma, arithmetic in product((0.1, 1.0), ("single", "double")):
            options = {"scale": sigma, "arithmetic": arithmetic}
            ranking = greedy_ranking(forest, rows.explained.X, **options).rankings
            shares[sigma, arithmetic] = (ranking[:, 0] == shap).mean()
        # At sigma 1 the split alone makes the difference from print, at 0.1 so does the precision.
        ((_, text),) = printed("table2", dataset=dataset, model="single", sigma="1.0", k="1")
        assert abs(shares[1.0, "single"] - shares[1.0, "double"]) < 0.002
        assert shares[1.0, "single"] < float(text) - 0.08
        assert abs(shares[0.1, "double"] - shares[0.1, "single"]) > 0.02


@pytest.mark.long
def test_table5_described_models_give_other_errors_than_the_authors():
    """Each cell that differs: by one split of our own too, on the same side of print."""
    fits = {dataset: {} for dataset in DATASETS}
    cells = list(differing("table5", "described"))
    for cell, text, ours in cells:
        dataset = cell["dataset"]
        _, rows = described(dataset, "bigger")
        ranking = first_three(dataset, "bigger", DESCRIBED, cell["ranking"])
        arguments = rows, recipe_of(dataset, "bigger", DESCRIBED), fits[dataset], ranking
        squares = squares_without(*arguments, slice(None), int(cell["k"]))
        assert np.sign(squares.mean() ** 0.5 - float(text)) == np.sign(ours - float(text)), cell
    assert cells


@pytest.mark.long
@pytest.mark.parametrize("dataset", DATASETS)
def test_table4_rows_of_the_training_part_give_the_printed_error_and_those_of_the_test_do_not(
    dataset,
):
    """Every cell of the data set, with the rankings of the authors' model."""
    rows, forest = data(dataset), authors_model(dataset, "bigger")
    X = rows.explained.X
    shap, n_other = function_of("tree_shap")(forest, X, output="predicted"), 0
    for ranking in (SHAP, *GREEDY.values()):
        first, values = (
            first_three(dataset, "bigger", "published", ranking),
            np.zeros_like(shap.values),
        )
        np.put_along_axis(values, first[:, :, None], np.array([3.0, 2.0, 1.0])[:, None], axis=1)
        arguments = {"tree_shap": replace(shap, values=values)}, forest, rows.explained
        of_training, of_test = (
            randomized_error(
                *arguments, rows.training, [1, 2, 3], n_draws=n_draws, features=features
            ).set_index("k")
            for features, n_draws in (("training", 100), ("test", 20))
        )
        for cell, text in printed("table4", dataset=dataset, ranking=ranking):
            mixed, right = (errors.loc[int(cell["k"])] for errors in (of_training, of_test))
            tolerance = 4 * mixed["draws_error"] + claims.half_unit(text)
            assert abs(mixed["value"] - float(text)) < tolerance, cell
            n_other += right["value"] - float(text) < -5 * right["draws_error"]
            # Rows that have nothing to do with each other: no better than the mean of the target.
            assert float(text) > np.std(rows.explained.y), cell
    # One of all is near print by chance.
    assert n_other >= 11
    # Done as the text says, SHAP's error is larger than those of sigma 0.1 and 0.3, by more than
    # the interval over 300 rows; with the rows of the training part it is not.
    first_rows = replace(rows.explained, X=X[:300], y=rows.explained.y[:300])
    ranked = {"tree_shap": function_of("tree_shap")(forest, first_rows.X, output="predicted")}
    ranked |= {GREEDY[s]: pg2_greedy.rank(forest, first_rows.X, sigma=s) for s in (0.1, 0.3)}
    for features, is_larger in (("test", True), ("training", False)):
        arguments = ranked, forest, first_rows, rows.training
        table = randomized_error(*arguments, ks=[1], n_draws=20, features=features)
        greedy = table[table["ranking"] != SHAP]
        assert len(greedy) == 2 and ((greedy["high"] < 0) == is_larger).all()


# Table 5.


@cache
def greedy_on_housing():
    """Of all rows, at sigma 0.1 in double precision."""
    forest, rows = authors_model("california_housing", "bigger"), data("california_housing")
    return greedy_ranking(forest, rows.explained.X, scale=0.1).rankings


def stopped_early(X, y, X_test, y_test, rounds):
    """Predictions of a fit that ends when the training error has not fallen for so many rounds."""
    recipe = recipe_of("california_housing", "bigger")
    train, test = xgboost.DMatrix(X, label=y), xgboost.DMatrix(X_test, label=y_test)
    model = xgboost.train(
        {
            "eta": recipe["learning_rate"],
            "max_depth": recipe["max_depth"],
            "subsample": recipe["subsample"],
            "objective": "reg:squarederror",
            "seed": 42,
            "nthread": 1,
        },
        train,
        recipe["n_estimators"],
        evals=[(test, "test"), (train, "train")],
        early_stopping_rounds=rounds,
        verbose_eval=False,
    )
    return model.predict(test), model.num_boosted_rounds()


@pytest.mark.long
def test_table5_fits_that_stop_early_give_the_printed_errors_without_one_feature():
    """On housing, in the authors' run of sigma 0.1; print of SHAP is the mean of three runs."""
    rows = data("california_housing")
    train, test = rows.training, rows.explained
    attribution = function_of("tree_shap")(
        authors_model("california_housing", "bigger"), test.X, output="predicted"
    )
    first = {SHAP: of_attribution(attribution)[:, 0], GREEDY[0.1]: greedy_on_housing()[:, 0]}
    errors, fewer = {}, 0
    for rounds in (None, 1):
        predictions = np.full((8, len(test.X)), np.nan)
        for j in set().union(*first.values()):
            X, X_test = np.delete(train.X, j, axis=1), np.delete(test.X, j, axis=1)
            predictions[j], n_trees = stopped_early(X, train.y, X_test, test.y, rounds)
            fewer += n_trees < 40
        for name, first_feature in first.items():
            of_rows = predictions[first_feature, np.arange(len(test.X))]
            errors[name, rounds] = np.sqrt(((of_rows - test.y) ** 2).mean())
    assert fewer == 4
    text = {
        cell["ranking"]: text
        for cell, text in printed("table5", dataset="california_housing", k="1")
    }
    assert is_print(text[GREEDY[0.1]], errors[GREEDY[0.1], 1])
    assert not is_print(text[GREEDY[0.1]], errors[GREEDY[0.1], None])
    of_three_runs = (errors[SHAP, 1] + 2 * errors[SHAP, None]) / 3
    assert is_print(text[SHAP], of_three_runs)
    assert not is_print(text[SHAP], errors[SHAP, None])


def near_ties(forest, X, sigma, ranking, places):
    """Rows in which single precision may not tell the two best apart in one of the first places."""
    X = forest.prepare(X)
    problem, d = GapProblem(forest, None, sigma, None), forest.n_features
    squares = (forest.predict(X)[:, 0] - forest.base[0]) ** 2
    may_tie = np.zeros(len(X), np.bool_)
    for place in range(places):
        taken_before = top_k_mask(ranking, place, d) if place else np.zeros(X.shape, np.bool_)
        gaps = problem.gaps(X, taken_before[:, None] | np.eye(d, dtype=np.bool_))
        gaps[taken_before] = -1.0
        second, first = np.sort(gaps, axis=1)[:, -2:].T
        may_tie |= first - second < 64 * 2.0**-24 * (squares + first)
    return np.flatnonzero(may_tie)


def every_order(d):
    """Orders of ties that stand for all: by the index, from either end, and eight at random."""
    return [np.arange(d), np.arange(d)[::-1], *map(np.random.default_rng(0).permutation, [d] * 8)]


def squares_without(rows, recipe, fits, ranking, of, k):
    """Squared errors of some rows of the test without the first k features of their ranking."""
    arguments = rows.training.X, rows.training.y, rows.explained.X[of], ranking, k, fits
    predicted = removed_predictions(lambda X, y: models.fit(recipe, X, y), *arguments)
    return (predicted - rows.explained.y[of]) ** 2


def some_order_prints(dataset, sigma, in_double, fits):
    """Whether an order of ties gives the printed error without three features; by index none does.

    `in_double` is the error by index in double precision.
    """
    rows, forest = data(dataset), authors_model(dataset, "bigger")
    X, recipe = rows.explained.X, recipe_of(dataset, "bigger")
    in_double_precision = greedy_ranking(forest, X, scale=sigma).rankings
    tied_rows = near_ties(forest, X, sigma, in_double_precision, 3)
    before = squares_without(rows, recipe, fits, in_double_precision[tied_rows], tied_rows, 3).sum()
    ((_, text),) = printed("table5", dataset=dataset, k="3", ranking=GREEDY[sigma])
    errors = []
    for order in every_order(X.shape[1]):
        options = {"scale": sigma, "arithmetic": "single", "ties": order}
        ranking = greedy_ranking(forest, X[tied_rows], **options).rankings
        after = squares_without(rows, recipe, fits, ranking, tied_rows, 3).sum()
        errors.append(np.sqrt(in_double**2 + (after - before) / len(X)))
    return not is_print(text, in_double) and any(is_print(text, error) for error in errors)


@pytest.mark.long
def test_table5_single_precision_and_its_ties_give_the_other_printed_errors():
    """On housing, sigma 0.1, without two and three features: some dozen rows of 4087 decide.

    The authors ranked anew for this table, so the order of ties is not the recorded one.
    """
    rows, forest = data("california_housing"), authors_model("california_housing", "bigger")
    X, d = rows.explained.X, rows.X.shape[1]
    recipe, fits = recipe_of("california_housing", "bigger"), {}
    in_double = greedy_on_housing()
    tied_rows = near_ties(forest, X, 0.1, in_double, 3)
    assert 0 < len(tied_rows) < 100

    def squares(ranking, of, k):
        return squares_without(rows, recipe, fits, ranking, of, k)

    in_single = [
        greedy_ranking(forest, X[tied_rows], scale=0.1, arithmetic="single", ties=order)
        for order in every_order(d)
    ]
    ends = {}
    for k in (2, 3):
        errors = squares(in_double, slice(None), k)
        of_orders = np.array([squares(ranked.rankings, tied_rows, k) for ranked in in_single])
        ends[k] = [np.sqrt(errors.mean())]
        for of_rows in (of_orders[0], of_orders.min(axis=0), of_orders.max(axis=0)):
            errors[tied_rows] = of_rows
            ends[k].append(np.sqrt(errors.mean()))
    text = {}
    for k in (2, 3):
        ((_, text[k]),) = printed(
            "table5", dataset="california_housing", k=str(k), ranking=GREEDY[0.1]
        )
    assert not is_print(text[2], ends[2][0]) and is_print(text[2], ends[2][1])
    assert not is_print(text[3], ends[3][0]) and ends[3][2] < float(text[3]) < ends[3][3]
    # Of the two other cells, without three features, a few rows tie in the third place, in any
    # precision, and some orders give print. Their errors in double precision, by index, take
    # some 600 fits and stand here.
    assert some_order_prints("california_housing", 0.3, 89673.497356, fits)
    assert some_order_prints("parkinson", 0.1, 7.0223105562, {})


def test_three_rows_do_not_decide_which_ranking_has_the_larger_mean():
    """On housing with sigma' 0.1 SHAP leads the ranking of sigma 1 in three rows, not in more."""
    forest, rows = authors_model("california_housing", "bigger"), data("california_housing")
    X = forest.prepare(rows.explained.X[:400])
    shap = of_attribution(function_of("tree_shap")(forest, X, output="predicted"))
    ranked = {SHAP: shap, GREEDY[1.0]: greedy_ranking(forest, X, scale=1.0).rankings}
    values = exact_gaps(forest, X, ranked, 0.1)
    gaps = values[GREEDY[1.0]] - values[SHAP]
    assert gaps[:3].mean() < 0 < gaps.mean() - 2 * gaps.std(ddof=1) / len(gaps) ** 0.5
    means = {
        cell["ranking"]: float(text)
        for cell, text in printed("table3", dataset="california_housing", sigma_metric="0.1")
    }
    assert means[GREEDY[1.0]] < means[SHAP]
