"""gajewski2025: metrics of rankings, of models and of sampling, against plain loops."""

from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest
import scipy.stats
from scipy.stats import spearmanr
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBRegressor

from batches import Batch
from reproduction import datasets, models, storage
from reproduction.datasets import Dataset
from reproduction.metrics import metric, sampling_error
from reproduction.papers.gajewski2025._settings import recipe_of
from reproduction.planning.places import PAPERS
from splitcredit import to_forest
from splitcredit.measures import function_of
from splitcredit.prediction_gap import exact_gap, noise, sampling
from splitcredit.prediction_gap.rankings import of_attribution
from splitcredit.results.attribution import Importance

SIGMAS = (0.3, 1.0)


def drawn(d=4):
    """Rows on a grid, so that values meet thresholds, and a target with interactions."""
    random = np.random.default_rng(0)
    X = random.integers(-4, 5, size=(70, d)) / 2
    y = X[:, 0] * X[:, 1] + X[:, 1] + 0.3 * X[:, 2] + random.normal(size=70)
    return Dataset(X, y, tuple(f"x{j}" for j in range(d)), n_training=58)


@cache
def case(model=None, d=4):
    """Forest, data and attributions of the rows of the test."""
    data, model = drawn(d=d), model or RandomForestRegressor(5, max_depth=4, random_state=0)
    forest = to_forest(model.fit(data.training.X, data.training.y))
    X, greedy = data.explained.X, function_of("pg2_greedy")
    shap = {"tree_shap": function_of("tree_shap")(forest, X, output="predicted")}
    return forest, data, shap | {f"greedy_sigma{s}": greedy(forest, X, sigma=s) for s in SIGMAS}


def tree_with_ties():
    """A tree that tests two of five features: the order of the others is open."""
    return case(DecisionTreeRegressor(max_depth=2, random_state=0), 5)


def shown(name):
    """The name of a ranking in tables."""
    return "shap" if name == "tree_shap" else name


def cell(table, **keys):
    for key, value in keys.items():
        table = table[table[key] == value]
    assert len(table) == 1
    return table.iloc[0]


def assert_equal(row, rel=1e-12, **expected):
    for name, value in expected.items():
        assert row[name] == pytest.approx(value, rel=rel), name


# Agreement.


def test_agreement_is_that_of_the_sets_of_first_features():
    _, data, attributions = tree_with_ties()
    table = metric("topk_agreement")(attributions, data.explained)
    shap_order = of_attribution(attributions["tree_shap"])
    for sigma in SIGMAS:
        greedy = of_attribution(attributions[f"greedy_sigma{sigma}"])
        tied = attributions[f"greedy_sigma{sigma}"].parameters["tied_by_place"]
        for k in (1, 2, 3):
            row = cell(table, ranking=f"greedy_sigma{sigma}", k=k)
            equal = [set(a[:k]) == set(b[:k]) for a, b in zip(greedy, shap_order, strict=True)]
            assert row["value"] == pytest.approx(np.mean(equal))
            assert row["tied"] == tied[k - 1]
    # Three of five features are not tested: they tie in the third place. The last has no choice.
    assert (tied[2], tied[4]) == (1.0, 0.0)


def test_changes_are_those_from_the_first_ranking_of_the_same_noise():
    forest, data, attributions = tree_with_ties()
    order, X = np.array([4, 3, 2, 1, 0]), data.explained.X
    greedy = function_of("pg2_greedy")
    other_ties = {f"other{s}": greedy(forest, X, sigma=s, ties=order) for s in SIGMAS}
    table = metric("ranking_changes")(attributions | other_ties)
    assert set(table["ranking"]) == {*(attributions | other_ties)} - {"tree_shap"}
    for sigma in SIGMAS:
        greedy_order, other = (
            of_attribution((attributions | other_ties)[f"{name}{sigma}"])
            for name in ("greedy_sigma", "other")
        )
        for k in range(1, 6):
            sets = [set(a[:k]) != set(b[:k]) for a, b in zip(other, greedy_order, strict=True)]
            orders = [list(a[:k]) != list(b[:k]) for a, b in zip(other, greedy_order, strict=True)]
            key = {"ranking": f"other{sigma}", "k": k, "sigma": sigma}
            assert cell(table, quantity="set", **key)["value"] == np.mean(sets)
            assert cell(table, quantity="order", **key)["value"] == np.mean(orders)
            tied = other_ties[f"other{sigma}"].parameters["tied_by_place"][k - 1]
            assert cell(table, quantity="tied", **key)["value"] == tied
    of_first = table[(table["ranking"] == "greedy_sigma0.3") & (table["quantity"] != "tied")]
    assert (of_first["value"] == 0).all() and (table["arithmetic"] == "double").all()
    assert table.loc[table["quantity"] == "order", "value"].max() == 1


# PGI.


def pgi2_by_hand(forest, X, ranking, sigma):
    return np.array(
        [
            np.mean(
                [
                    exact_gap.pg2(forest, [x], [int(j) for j in order[:k]], scale=sigma)[0]
                    for k in range(1, len(order) + 1)
                ]
            )
            for x, order in zip(X, ranking, strict=True)
        ]
    )


def test_pgi2_is_a_mean_over_rows_and_numbers_of_features():
    forest, data, attributions = case()
    # A global ranking goes by values: by absolute ones the worst feature would be the first.
    air = Importance([1.0, -3.0, 2.0, 0.5], data.feature_names, "air")
    given = attributions | {"air": air}
    table = metric("pgi2")(given, forest, data.explained, SIGMAS, n_rows=7, random_state=2)
    X, orders = data.explained.X[:7], {n: of_attribution(a)[:7] for n, a in attributions.items()}
    orders["air"] = np.array([[2, 0, 3, 1]] * 7)
    for sigma in SIGMAS:
        ours = {n: pgi2_by_hand(forest, X, order, sigma) for n, order in orders.items()}
        for name, values in ours.items():
            row = cell(table, sigma_metric=sigma, ranking=shown(name))
            base = ours["tree_shap"]
            interval = scipy.stats.bootstrap(
                (values - base,), np.mean, n_resamples=2000, method="percentile", rng=2
            ).confidence_interval
            lead = (values - base).mean()
            assert_equal(row, 1e-9, lead=lead, low=interval.low, high=interval.high)
            deviation = np.std(values, ddof=1)
            assert_equal(row, value=values.mean(), row_deviation=deviation, n_rows=7)
    assert set(table["ranking"]) == {"shap", "air", "greedy_sigma0.3", "greedy_sigma1.0"}


def test_the_optimum_is_that_of_all_orders():
    forest, data, attributions = case()
    table = metric("pgi2_optimum")(attributions, forest, data.explained, [0.3], n_rows=6)
    X = data.explained.X[:6]
    orders = np.array(list(permutations(range(4))))
    values = [pgi2_by_hand(forest, np.tile(x, (24, 1)), orders, 0.3) for x in X]
    best = np.max(values, axis=1)
    of_feature = np.stack([exact_gap.pg2(forest, X, [j], scale=0.3) for j in range(4)], axis=1)
    for name, a in attributions.items():
        first = of_feature[np.arange(6), of_attribution(a)[:6, 0]]
        ours = pgi2_by_hand(forest, X, of_attribution(a)[:6], 0.3)
        row = cell(table, ranking=shown(name))
        of_best = {"median": np.median(ours / best), "quantile5": np.quantile(ours / best, 0.05)}
        assert_equal(row, value=ours.mean() / best.mean(), **of_best)
        assert row["optimal"] == np.mean(ours >= best * (1 - 1e-9))
        assert row["first_best"] == np.mean(first == of_feature.max(axis=1))
        # The first feature of a greedy ranking is the best at its own noise, not that of SHAP's.
        assert row["first_best"] == 1 or name != "greedy_sigma0.3"
        assert (row["sigma_metric"], row["n_rows"]) == (0.3, 6)


def test_sampled_and_exact_gaps_are_compared_row_by_row():
    forest, data, attributions = case()
    table = metric("pgi_agreement")(attributions, forest, data.explained, [0.3], 30, random_state=5)
    X = data.explained.X
    sampled, exact, squares = {}, {}, {}
    for name, a in attributions.items():
        order, label = of_attribution(a), shown(name)
        options = {"n_samples": 30, "random_state": 5}
        sampled[label] = sampling.gaps_by_k(forest, X, order, 0.3, **options).mean(axis=1)
        exact[label] = pgi2_by_hand(forest, X, order, 0.3)
        row = cell(table, quantity="spearman", ranking=label)
        assert row["value"] == pytest.approx(spearmanr(sampled[label], exact[label])[0])
        squares[label] = sampling.gaps_by_k(forest, X, order, 0.3, absolute=False, **options)
        squares[label] = squares[label].mean(axis=1)
    for a, b in combinations(exact, 2):
        by_squares = np.sign(squares[a] - squares[b])
        swapped = np.mean(by_squares * np.sign(sampled[a] - sampled[b]) < 0)
        assert cell(table, quantity="swapped", ranking=a, other=b)["value"] == swapped
        n_alike, unequal = 0, []
        for i in range(12):
            gap = exact[a][i] - exact[b][i]
            ours = 0 if abs(gap) <= 1e-12 * exact[a][i] else np.sign(gap)
            is_alike = ours == np.sign(sampled[a][i] - sampled[b][i])
            n_alike += is_alike
            unequal += [is_alike] if ours else []
        row = cell(table, quantity="alike", ranking=a, other=b)
        assert (row["value"], row["n_rows"]) == (pytest.approx(n_alike / 12), 12)
        row = cell(table, quantity="alike_unequal", ranking=a, other=b)
        assert (row["value"], row["n_rows"]) == (pytest.approx(np.mean(unequal)), len(unequal))


# Removing features.


@pytest.mark.parametrize("features", ["test", "training"])
def test_randomized_error_by_hand(features):
    forest, data, attributions = case()
    test, training = data.explained, data.training
    table = metric("randomized_error")(
        attributions, forest, test, training, (1, 3), "tree_shap", 7, features, random_state=4
    )
    rows, marginals = (test.X, test.X) if features == "test" else (training.X, training.X)
    for name, a in attributions.items():
        order = of_attribution(a)
        for k in (1, 3):
            errors, halves = [], []
            for i in range(len(test.y)):
                predictions = []
                seeds = np.random.SeedSequence(4).generate_state(2)
                for n, seed in zip((4, 3), seeds, strict=True):
                    row_seed = np.random.SeedSequence(int(seed), spawn_key=(i,))
                    picks = np.random.default_rng(row_seed).integers(len(marginals), size=(n, 4))
                    x = np.tile(rows[i], (n, 1))
                    for j in order[i, :k]:
                        x[:, j] = marginals[picks[:, j], j]
                    predictions.append(forest.predict(x)[:, 0])
                errors.append((np.mean(np.concatenate(predictions)) - test.y[i]) ** 2)
                first, second = (part.mean() for part in predictions)
                halves.append((first - second) ** 2 / 4)
            row = cell(table, ranking=shown(name), k=k)
            rmse = np.sqrt(np.mean(errors))
            assert_equal(row, value=rmse)
            by_draws = np.sqrt(np.dot(errors, halves)) / len(errors) / rmse
            spread = np.std(errors, ddof=1) / np.sqrt(len(errors)) / (2 * rmse)
            assert_equal(row, 1e-9, draws_error=by_draws, standard_error=spread)
    _leads_are_differences(table)


def refused():
    """Calls that are refused, each with its message."""
    forest, data, attributions = case()
    test, training = data.explained, data.training
    one, removed = (attributions, forest, test), (attributions, forest, test, training, [1])
    yield "pgi2", (*one, SIGMAS, "shap"), {}, "reference='shap': the run has tree_shap, greedy"
    # One took the place of the other, and leads over it were 0.
    twice = {"tree_shap": attributions["tree_shap"], "shap": attributions["tree_shap"]}
    yield "pgi2", (twice, *one[1:], SIGMAS), {}, "tree_shap and shap are both called shap in ta"
    name, of_shap = "randomized_error", {"reference": "tree_shap"}
    words = "features='train': expected one of test, training"
    yield name, removed, of_shap | {"features": "train"}, words
    three_rows = (*removed[:3], data.take(range(3)), [1])
    yield name, three_rows, of_shap | {"features": "training"}, "3 training rows for 12"
    yield name, removed, of_shap | {"n_draws": 0}, "n_draws is 0"
    labels = to_forest(DecisionTreeClassifier(max_depth=1).fit(data.X, data.y > 0))
    yield "model_card", ({}, labels, data, data), {}, "2 outputs"
    yield "sampling_error", ({}, forest, test, [0.3], 3, [20]), {}, "n_pairs is 3: at least one"


def test_what_metrics_cannot_do_is_refused():
    for name, arguments, options, message in refused():
        with pytest.raises(ValueError, match=message):
            metric(name)(*arguments, **options)


def _leads_are_differences(table):
    for k, rows in table.groupby("k"):
        base = cell(table, ranking="shap", k=k)
        assert np.allclose(rows["lead"], rows["value"] - base["value"], atol=1e-12)
        assert (rows["low"] <= rows["lead"]).all() and (rows["lead"] <= rows["high"]).all()
        assert base["low"] == base["high"] == 0


def test_removed_error_by_hand(capsys):
    _, data, attributions = case()
    test, training = data.explained, data.training
    fits = []

    def refit(X, y):
        fits.append(X.shape)
        return DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)

    table = metric("removed_error")(attributions, test, training, refit, (1, 2), "tree_shap")
    fitted_sets = set()
    for name, a in attributions.items():
        order = of_attribution(a)
        for k in (1, 2):
            errors, sets_of_k = [], set()
            for i in range(len(test.y)):
                remaining = sorted(set(range(4)) - set(order[i, :k].tolist()))
                model = DecisionTreeRegressor(max_depth=3, random_state=0)
                model.fit(training.X[:, remaining], training.y)
                errors.append((model.predict(test.X[i : i + 1, remaining])[0] - test.y[i]) ** 2)
                sets_of_k.add(tuple(remaining))
            fitted_sets |= sets_of_k
            row = cell(table, ranking=shown(name), k=k)
            assert_equal(row, value=np.sqrt(np.mean(errors)), n_fits=len(sets_of_k))
    _leads_are_differences(table)
    assert len(fits) == len(fitted_sets)
    assert f"{len(fitted_sets)} models fitted up to k=2" in capsys.readouterr().out


# Models.


def test_cross_validated_errors_are_those_of_a_grid_search():
    data, grid = drawn(), {"max_depth": [1, 3], "learning_rate": [0.1, 0.9]}
    recipe = {"estimator": "XGBRegressor", "n_estimators": 5, "random_state": 42}
    search = GridSearchCV(models.unfitted(recipe), grid, scoring="neg_root_mean_squared_error")
    results = search.fit(data.training.X, data.training.y).cv_results_
    for i, parameters in enumerate(results["params"]):

        def refit(X, y, fold_recipe=recipe | parameters):
            return models.fit(fold_recipe, X, y)

        rows = metric("cross_validated_error")({}, data.training, refit)
        folds = [-results[f"split{k}_test_score"][i] for k in range(5)]
        assert rows["value"].to_numpy() == pytest.approx(folds, rel=1e-12)


def test_shuffled_folds_hold_every_row_out_once():
    data, held_out_parts = drawn(), []

    def refit(X, y):
        class Mean:
            def predict(self, held_out):
                held_out_parts.append(held_out[:, 0])
                return np.full(len(held_out), y.mean())

        return Mean()

    rows = metric("cross_validated_error")({}, data.training, refit, 4, 3, 1)
    assert len(rows) == 12 and rows["shuffle"].tolist() == np.repeat(range(3), 4).tolist()
    n = len(data.training.X)
    assert (rows["n_training"] + rows["n_held_out"] == n).all()
    shuffles = [np.concatenate(held_out_parts[4 * k : 4 * k + 4]) for k in range(3)]
    for held_out in shuffles:
        assert np.array_equal(np.sort(held_out), np.sort(data.training.X[:, 0]))
    assert not np.array_equal(shuffles[0], shuffles[1])


def test_a_model_card_has_distinct_thresholds_errors_and_the_share_of_ties():
    data = drawn()
    model = XGBRegressor(n_estimators=3, max_depth=3, n_jobs=1)
    model.fit(data.training.X, data.training.y)
    forest, attributions = to_forest(model), case()[2]
    card = carded(attributions, forest, data)
    nodes = model.get_booster().trees_to_dataframe()
    splits = nodes.loc[nodes["Feature"] != "Leaf", ["Feature", "Split"]].drop_duplicates()
    # Several features are split at one number.
    assert card["distinct_thresholds"] == str(len(splits)) != str(splits["Split"].nunique())
    for name, rows in (("test", data.explained), ("training", data.training)):
        rmse = np.sqrt(np.mean((model.predict(rows.X).astype(float) - rows.y) ** 2))
        assert card[f"{name}_rmse"] == f"{rmse:.6g}"
    assert card["target_sd"] == f"{data.explained.y.std():.6g}"
    tied = attributions["greedy_sigma0.3"].parameters["tied_share"]
    assert float(card["tied_share greedy_sigma0.3"]) == pytest.approx(tied, rel=1e-5)


def carded(attributions, forest, data):
    """Values of the model card, by quantity."""
    table = metric("model_card")(attributions, forest, data.explained, data.training)
    return dict(zip(table["quantity"], table["value"], strict=True))


RECORDED = storage.read_rows(PAPERS / "gajewski2025" / "recorded" / "authors_models.csv")


@pytest.mark.parametrize(("name", "kind"), sorted({(r["dataset"], r["model"]) for r in RECORDED}))
def test_retrained_models_have_the_published_hashes(name, kind):
    """Of the authors' files; the hash is of every split and leaf, see `trees.dump`."""
    data = datasets.load({"dataset": "standardized_split", "of": name, "split": "authors"})
    recipe = {**recipe_of(name, kind), "random_state": 42}
    forest = to_forest(models.fit(recipe, data.training.X, data.training.y))
    rows = [row for row in RECORDED if (row["dataset"], row["model"]) == (name, kind)]
    assert len(rows) == 6
    assert {r["quantity"]: r["value"] for r in rows}.items() <= carded({}, forest, data).items()


# Sampling.


def test_pairs_have_all_sizes_equally_often():
    rows, sets = sampling_error.pairs(9, 4, 402, 1)
    assert np.bincount(sets.sum(axis=1)).tolist() == [0, 100, 100, 100, 100]
    assert sets.shape == (400, 4) and (rows.min(), rows.max()) == (0, 8)
    # Each feature is in half of the pairs of size 2, with a standard error of 0.05.
    assert np.abs(sets[100:200].mean(axis=0) - 0.5).max() < 0.2


def test_sampling_errors_by_hand_whatever_the_chunks(monkeypatch, capsys):
    forest, data, _ = case()
    arguments = {}, forest, data.explained, (0.3, 1.0), 140, (20, 300)
    table = metric("sampling_error")(*arguments, random_state=6)
    monkeypatch.setattr(sampling_error, "CHUNK", 33)
    assert metric("sampling_error")(*arguments, random_state=6).equals(table)
    assert "sigma 1.0, halton, 33 of 140 pairs" in capsys.readouterr().out
    rows, sets = sampling_error.pairs(12, 4, 140, 6)
    seeds = np.random.SeedSequence(6).generate_state(2).tolist()
    for sigma in (0.3, 1.0):
        for method in ("mc", "halton"):
            pool = noise.noise_pool(method, 4, 300, 64, seeds)
            error_sums, exact_sums = np.zeros((64, 2)), np.zeros(64)
            for i, (r, s) in enumerate(zip(rows, sets, strict=True)):
                x = data.explained.X[r : r + 1]
                exact = exact_gap.pg2(forest, x, s, scale=sigma)[0]
                sampling_options = {"numbers": [i], "pool": pool, "scale": sigma}
                estimates = sampling.pg2_sampled(forest, x, s, (20, 300), **sampling_options)[0]
                error_sums[i % 64] += np.abs(estimates - exact)
                exact_sums[i % 64] += exact
            for c, count in enumerate((20, 300)):
                row = cell(table, sigma=sigma, method=method, iterations=count)
                error = error_sums[:, c].sum() / exact_sums.sum()
                residual = error_sums[:, c] - error * exact_sums
                spread = np.sqrt((residual**2).sum() * 64 / 63) / exact_sums.sum()
                assert_equal(row, 1e-9, value=error, standard_error=spread)
                assert_equal(row, exact_mean=exact_sums.sum() / 140, n_pairs=140)
    assert table["value"].max() < 0.5


# Jobs.


def test_jobs_give_metrics_the_forest_the_refit_and_the_rows(tmp_path):
    """Of a data set with too many features for the optimum, too: its rows stay, empty."""
    batch = Batch(tmp_path, drawn(d=13), {"estimator": "DecisionTreeRegressor", "max_depth": 3})
    batch.fit().explained("tree_shap", importance="tree_shap", output="predicted")
    batch.explained("greedy", importance="pg2_greedy", sigma=0.3)
    by_removal, tables = {"reference": "tree_shap", "ks": [1]}, {}
    for name, recipe in (
        ("removed_error", by_removal),
        ("randomized_error", by_removal | {"n_draws": 4}),
        ("pgi2_optimum", {"sigmas": [0.3, 1.0]}),
        ("model_card", {}),
    ):
        tables[name] = batch.measured(["tree_shap", "greedy"], metric=name, **recipe)
    assert tables["removed_error"]["value"].gt(0).all() and len(tables["removed_error"]) == 2
    assert len(tables["randomized_error"]) == 2
    rows = tables["pgi2_optimum"]
    assert len(rows) == 4 and rows["value"].isna().all() and (rows["n_rows"] == 0).all()
    assert float(tables["model_card"].set_index("quantity")["value"]["n_trees"]) == 1
