"""Supervised clustering: R2 along merge lists, bars, the simulated modules, figures 3 and 4."""

import numpy as np
import pandas as pd
import pytest
from scipy.cluster import hierarchy

from reproduction import claims, datasets, models, papers
from reproduction.cross_fitted import CrossFitted
from reproduction.metrics import clusterings, metric
from reproduction.stages.artefacts import rules_of
from splitcredit import Attribution, explain, to_forest

LINKAGES = ("average", "complete", "ward")


def attribution(values, method="m", baseline=0.0):
    names = [f"x{j}" for j in range(values.shape[1])]
    return Attribution(values[:, :, None], [baseline], names, ["output"], method)


def dataset(X, y):
    return datasets.Dataset(X, y, tuple(f"x{j}" for j in range(X.shape[1])))


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    return dataset(X, X[:, 0] + rng.normal(size=40))


def r2_of_groups(group, y):
    """From scratch: the variance of the means of the groups as a share of the variance."""
    y = np.asarray(y, dtype=float)
    means = {g: y[group == g].mean() for g in set(group)}
    fitted = np.array([means[g] for g in group])
    return 1 - ((y - fitted) ** 2).sum() / ((y - y.mean()) ** 2).sum()


def groups_after(merges, n, steps):
    """Group of each row after the first merges of a list, by following them one by one."""
    group = list(range(n))
    for step, (a, b) in enumerate(merges[:steps, :2].astype(int)):
        group = [n + step if g in (a, b) else g for g in group]
    return np.array(group)


# Basis of 1e-12: rounding of sums over 40 numbers.
@pytest.mark.parametrize("is_tied", [False, True])
@pytest.mark.parametrize("linkage", LINKAGES)
def test_r2_of_every_number_of_groups(rows, linkage, is_tied):
    """Also where distances and outcomes tie."""
    X, y = (np.round(rows.X), np.round(rows.y)) if is_tied else (rows.X, rows.y)
    merges = hierarchy.linkage(X, linkage)
    r2 = clusterings.r2_by_groups(merges, y)
    for k in range(1, 41):
        group = groups_after(merges, 40, 40 - k)
        assert len(set(group)) == k
        assert r2[k - 1] == pytest.approx(r2_of_groups(group, y), abs=1e-12)


def test_standardized_features_count_what_is_missing_as_the_mean():
    X = np.array([[1.0, 5.0, np.nan], [3.0, 5.0, 1.0], [5.0, 5.0, 3.0]])
    expected = [[-1.5, 0, 0], [0, 0, -1], [1.5, 0, 1]]
    assert clusterings.standardized(X) == pytest.approx(np.array(expected) / [1.5**0.5, 1, 1])


def test_curves_are_kept_at_ten_numbers_of_groups_a_decade():
    assert list(clusterings.GROUPS) == np.unique((10 ** (np.arange(31) / 10)).round()).tolist()


def test_the_table_holds_the_curve_at_the_chosen_groups_and_its_mean(rows):
    without = metric("clustering_r2")({}, rows, groups=[1])
    assert set(without["clustered"]) == {"unsupervised", "random_features", "random_labels"}
    table = metric("clustering_r2")({"m": attribution(rows.X**3)}, rows, groups=[1, 5, 99])
    assert len(table) == 3 * 4 * 4
    keys = ["linkage", "clustered", "outcome"]
    for (linkage, clustered, outcome), part in table.groupby(keys, sort=False):
        assert outcome == "label"
        assert part["n_groups"].iloc[:3].tolist() == [1, 5, 40]
        assert part["statistic"].tolist() == ["r2", "r2", "r2", "area"]
        if clustered == "m":
            values = rows.X**3
        elif clustered == "unsupervised":
            values = (rows.X - rows.X.mean(axis=0)) / rows.X.std(axis=0)
        else:
            continue
        curve = clusterings.r2_by_groups(hierarchy.linkage(values, linkage), rows.y)
        assert part["value"].tolist() == pytest.approx([0, curve[4], 1, curve.mean()], abs=1e-12)


@pytest.mark.long
def test_random_clusterings_know_nothing_of_features_and_are_drawn_from_the_seed(rows):
    def areas(data, seed):
        options = {"linkages": ["ward"], "groups": [], "random_state": seed}
        table = metric("clustering_r2")({}, data, **options)
        return table[table["statistic"] == "area"].set_index("clustered")["value"]

    chance = ["random_features", "random_labels"]
    of_seed_0, of_seed_1 = areas(rows, 0), areas(rows, 1)
    assert (of_seed_0 == areas(rows, 0)).all()
    assert (of_seed_0[chance] != of_seed_1[chance]).all()
    assert of_seed_0["unsupervised"] == of_seed_1["unsupervised"]
    reversed_rows = dataset(rows.X[::-1] ** 3, rows.y)
    assert areas(reversed_rows, 0)["random_features"] == of_seed_0["random_features"]
    # Of random labels the expected R2 of k groups is (k - 1) / (n - 1), whatever the groups, whose
    # mean over k is 1 / 2. Basis: five standard errors of 200 draws.
    of_random_labels = [areas(rows, seed)["random_labels"] for seed in range(200)]
    assert abs(np.mean(of_random_labels) - 0.5) < 5 * np.std(of_random_labels) / 200**0.5


def test_the_outcome_may_be_the_prediction(rows):
    shap = attribution(rows.X**3, baseline=2.0)
    table = metric("clustering_r2")({"m": shap}, rows, outcomes=["label", "m"], random=[])
    area = table[table["statistic"] == "area"].set_index(["linkage", "clustered", "outcome"])
    prediction = 2 + (rows.X**3).sum(axis=1)
    curve = clusterings.r2_by_groups(hierarchy.linkage(rows.X**3, "ward"), prediction)
    assert {*area.index.get_level_values("clustered")} == {"m", "unsupervised"}
    assert area.loc[("ward", "m", "m"), "value"] == pytest.approx(curve.mean(), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"importances": ["q"]},
            r"no importances named 'q'.*: it has \['constant', 'm', 'many'\]",
        ),
        ({"importances": ["many"]}, r"many has values of shape \(40, 6, 2\).*output: predicted"),
        ({"importances": ["m"], "random": ["rows"]}, r"random=\['rows'\]: expected some of feat"),
        ({"importances": ["m"], "outcomes": ["q"]}, "no importances named 'q'"),
        ({"importances": ["m"], "linkages": ["nearest"]}, "nearest"),
        ({"outcomes": ["constant"]}, "the outcome is the same in all rows"),
    ],
)
def test_bad_requests_are_named(rows, arguments, message):
    several = np.zeros((40, 6, 2))
    given = {"m": attribution(rows.X), "constant": attribution(0 * rows.X)}
    given["many"] = Attribution(several, [0, 0], [f"x{j}" for j in range(6)], ["a", "b"], "many")
    with pytest.raises(ValueError, match=message):
        metric("clustering_r2")(given, rows, **{"importances": ["m"], **arguments})


def test_bars_add_up_and_stand_in_the_order_of_the_dendrogram(rows):
    big, small = rows.X * [1, 5, 3, 0.1, 4, 0.2], rows.X * 0.1
    attributions = {"big": attribution(big, baseline=1.0), "small": attribution(small)}
    table = metric("cluster_bars")(attributions, rows, largest=3, decimals=12)
    for name, values in (("big", big), ("small", small)):
        part = table[table["clustered"] == name]
        bars = part[["bar_1", "bar_2", "bar_3"]].to_numpy()
        # 12 decimals are kept.
        assert bars == pytest.approx(values[:, [1, 4, 2]], abs=1e-12)
        other_values = values[:, [0, 3, 5]]
        assert part["rest_positive"].to_numpy() == pytest.approx(
            np.where(other_values > 0, other_values, 0).sum(axis=1), abs=1e-12
        )
        total = bars.sum(axis=1) + part["rest_positive"] + part["rest_negative"]
        baseline = attributions[name].baseline[0]
        assert total.to_numpy() == pytest.approx(part["value"] - baseline, abs=1e-11)
        merges = hierarchy.linkage(values, "average")
        leaves = hierarchy.dendrogram(merges, no_plot=True)["leaves"]
        assert part.sort_values("position")["sample"].tolist() == leaves
        stored = part[["merge_left", "merge_right", "height"]].iloc[:-1].to_numpy(dtype=float)
        assert stored == pytest.approx(merges[:, :3], abs=1e-12)
        assert part["feature"].tolist()[:3] == ["x1", "x4", "x2"]
        assert part["feature"][3:].isna().all()
        assert part["label"].to_numpy() == pytest.approx(rows.y, abs=1e-12)


def test_gene_modules_are_sums_of_two_factors_each_and_noise():
    recipe = {"dataset": "gene_modules"}
    data, same, other = (datasets.load(recipe, repeat) for repeat in (0, 0, 1))
    assert data.X.shape == (518, 200)
    # 28, 62 and 74 % of 518 rows: 145.04, 321.16 and 383.32.
    assert np.unique(data.y, return_counts=True)[1].tolist() == [145, 176, 62, 135]
    assert np.array_equal(data.X, same.X) and not np.array_equal(data.y, other.y)
    recipe |= {"n_samples": 300, "random_state": 0}
    assert np.linalg.matrix_rank(datasets.load({**recipe, "noise": 0.0}).X) == 20
    # The variance of a module is 0.64 and that of two standard normal loadings, 2 on average; over
    # 200 modules its standard error is about 0.2 (loadings: sqrt(2 * 2 / 200); 20 factors).
    assert datasets.load(recipe).X.var(axis=0).mean() == pytest.approx(2.64, abs=0.8)


@pytest.mark.parametrize(("signal", "least", "most"), [(0.0, 0.0, 0.01), (1.0, 0.6, 1.0)])
def test_the_signal_of_gene_modules_is_a_sum_and_one_product(signal, least, most):
    """With two modules all is linear in them and their product, but for the cut into four scores.

    Of 5000 rows chance explains some 3 / 5000. A normal latent score keeps more than 0.6 of its
    variance in four scores.
    """
    recipe = {"dataset": "gene_modules", "n_samples": 5000, "n_modules": 2, "n_active": 2}
    data = datasets.load({**recipe, "signal": signal, "random_state": 0})
    x = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    terms = np.column_stack([np.ones(5000), x, x[:, 0] * x[:, 1]])
    residual = data.y - terms @ np.linalg.lstsq(terms, data.y)[0]
    assert least <= 1 - residual.var() / data.y.var() <= most


def curves(values, labels, linkage):
    """What the experiment collects: the same number for every repeat's R2 at 20 and area."""
    rows = [
        (repeat, variant, name, statistic, n_groups, outcome, value)
        for repeat, by_name in enumerate(values)
        for variant in ("in_sample", "out_of_fold")
        for name, value in by_name.items()
        for statistic, n_groups in (("r2", 20), ("area", None))
        for outcome in ("label", "tree_shap")
    ]
    columns = ["repeat", "variant", "clustered", "statistic", "n_groups", "outcome", "value"]
    table = pd.DataFrame(rows, columns=columns)
    axes = {"data": "gene_modules", "data.outcome": labels, "data.share": np.nan, "model": "m"}
    run = table["variant"] + table["repeat"].astype(str)
    return table.assign(**axes, run=run, linkage=linkage)


NAMES = ["tree_shap", "saabas", "local_mdi", "unsupervised", "random_features", "random_labels"]


def figure4(frames):
    key = "lundberg2017_clustering/clustering_r2"
    return papers.artefact("lundberg2017/figure4").compute({key: pd.concat(frames)})


def judged(table, statement, mode):
    """Value, interval and verdict of the one finding, or of several that are the same."""
    findings = papers.artefact("lundberg2017/figure4").statements(table)
    findings = [f for f in findings if f["statement"] == statement and f["variant"].endswith(mode)]
    (outcome,) = {(f["value"], f["interval"], f["limit"], f["kind"]) for f in findings}
    value, interval, limit, kind = outcome
    return value, interval, claims.statement_verdict(value, limit, kind, interval)


def drawn(rng, n_repeats):
    """Areas of so many repeats, by linkage: (n_repeats, 6)."""
    return {linkage: rng.uniform(0.4, 0.6, (n_repeats, 6)) for linkage in LINKAGES}


def frames_of(values, labels):
    return [
        curves([dict(zip(NAMES, row, strict=True)) for row in v], labels, linkage)
        for linkage, v in values.items()
    ]


def test_statements_are_leads_over_the_control_with_every_linkage():
    rng = np.random.default_rng(1)
    observed, permuted = drawn(rng, 4), drawn(rng, 3)
    table = figure4([*frames_of(observed, "observed"), *frames_of(permuted, "permuted")])

    def lead(values, a, b):
        x = values[:, a] - values[:, b]
        return x.mean(), x.std(ddof=1) / len(x) ** 0.5

    for statement, a, b in (("s06", 0, 1), ("s07", 1, 3)):
        of_linkages = []
        for linkage in LINKAGES:
            (m, e), (m0, e0) = lead(observed[linkage], a, b), lead(permuted[linkage], a, b)
            error = 2 * (e**2 + e0**2) ** 0.5
            of_linkages.append((m - m0, m - m0 - error, m - m0 + error))
        means, lows, highs = zip(*of_linkages, strict=True)
        value, interval, verdict = judged(table, statement, "over the control")
        # Five decimals are kept.
        assert value == pytest.approx(np.mean(means), abs=1e-5)
        assert interval == pytest.approx((min(lows), max(highs)), abs=2e-5)
        assert verdict == "undecided"
    ward = observed["ward"][:, 1]
    keys = {"statistic": "area", "linkage": "ward", "clustered": "saabas", "mode": "in_sample"}
    for key, value in (keys | {"labels": "observed", "outcome": "label"}).items():
        table = table[table[key] == value]
    found = [table["value"].item(), table["low"].item()]
    assert found == pytest.approx([ward.mean(), np.quantile(ward, 0.1)], abs=1e-5)


def test_a_lead_of_the_control_too_is_no_lead():
    """SHAP before path by 0.2 with observed and permuted outcomes; then with observed ones only."""
    rng = np.random.default_rng(2)
    observed, permuted, flat = drawn(rng, 20), drawn(rng, 20), drawn(rng, 20)
    for values in (*observed.values(), *permuted.values()):
        values[:, 0] += 0.2
    both_lead = figure4([*frames_of(observed, "observed"), *frames_of(permuted, "permuted")])
    assert judged(both_lead, "s06", "in-sample")[2] == "holds"  # as the paper looks
    assert judged(both_lead, "s06", "over the control")[2] == "undecided"
    none = figure4([*frames_of(observed, "observed"), *frames_of(flat, "permuted")])
    assert judged(none, "s06", "over the control")[2] == "holds"


def test_standard_errors_of_overlapping_samples_are_those_of_one_sample():
    """Means of 80 % of 300 numbers: the standard error of the mean of all 300, not less.

    Basis: the deviation of 200 samples is off by 5 % (one standard error).
    """
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=300)
    means = pd.Series([rng.choice(numbers, 240, replace=False).mean() for _ in range(200)])
    error = papers.artefact("lundberg2017/figure4")._standard_error(means, 0.8)
    assert error == pytest.approx(numbers.std(ddof=1) / 300**0.5, rel=0.2)
    independent = papers.artefact("lundberg2017/figure4")._standard_error(means, np.nan)
    assert independent < error / 10


SMALL = {"dataset": "gene_modules", "n_samples": 200, "n_modules": 50}
BOOSTING = {"estimator": "XGBRegressor", "n_estimators": 30, "max_depth": 6}
BOOSTING |= {"learning_rate": 0.1, "tree_method": "exact"}
MEASURES = ("saabas", "tree_shap", "local_mdi")


def explained(data, repeat):
    """In-sample and out-of-fold attributions of one draw, by name."""
    forest = to_forest(models.fit(BOOSTING, data.X, data.y, repeat))
    fold = models.folds({**BOOSTING, "folds": 5}, len(data.X), repeat)
    training_sets = [data.take(fold != f) for f in range(5)]
    forests = [to_forest(models.fit(BOOSTING, part.X, part.y, repeat)) for part in training_sets]
    crossed = CrossFitted(forests, fold)
    return {
        "in_sample": {m: explain(forest, data.X, m) for m in MEASURES},
        "out_of_fold": {
            m: crossed.explain(lambda forest, of_fold, _, m=m: explain(forest, data.X[of_fold], m))
            for m in MEASURES
        },
    }


# The experiment at a reduced size: draws of 200 x 50, and samples of the proteins; boosting of 30
# rounds. Recipe -> number of repeats.
PROTEINS = {"dataset": "ad_data", "target": "Class", "share": 0.8}
REDUCED = {"gene_modules": (SMALL, 3), "ad_data": ({**PROTEINS, "share": 0.5}, 2)}


@pytest.fixture(scope="module")
def small():
    frames = []
    for name, (recipe, n_repeats) in REDUCED.items():
        for repeat in range(n_repeats):
            for labels in datasets.OUTCOMES:
                data = datasets.load({**recipe, "outcome": labels}, repeat)
                by_mode = explained(data, repeat)
                for variant, attributions in by_mode.items():
                    # A cause of s06 and s07: rows clustered by one number, their prediction.
                    prediction = attributions["tree_shap"].totals()
                    attributions["prediction"] = attribution(prediction, "prediction")
                    options = {"random_state": repeat, "outcomes": ["label", "tree_shap"]}
                    frame = metric("clustering_r2")(attributions, data, **options)
                    axes = {"data": name, "repeat": repeat, "variant": variant}
                    axes |= {"data.outcome": labels, "data.share": recipe.get("share", np.nan)}
                    frames.append(frame.assign(**axes))
                if (name, repeat, labels) == ("gene_modules", 0, "observed"):
                    measures = {"importances": ["saabas", "tree_shap"]}
                    bars = metric("cluster_bars")(by_mode["in_sample"], data, **measures)
    key = "lundberg2017_bars/cluster_bars"
    bars = papers.artefact("lundberg2017/figure3").compute({key: bars.assign(data="gene_modules")})
    return {"figure3": bars, "figure4": figure4(frames)}


def area(table, dataset, labels, clustered, mode="in_sample", outcome="label"):
    """Mean over the linkages."""
    rows = table[(table["statistic"] == "area") & (table["dataset"] == dataset)]
    rows = rows[(rows["mode"] == mode) & (rows["labels"] == labels)]
    rows = rows[(rows["clustered"] == clustered) & (rows["outcome"] == outcome)]
    assert len(rows) == 3
    return rows["value"].mean()


# From the closest to the prediction.
CLOSER = ("tree_shap", "saabas")


@pytest.mark.long
@pytest.mark.parametrize("dataset", [*REDUCED])
def test_s06_permuted_outcomes_give_shap_the_same_lead(small, dataset):
    """In-sample, where there is nothing to find, and so its lead decides nothing."""
    table = small["figure4"]
    leads = {
        labels: area(table, dataset, labels, "tree_shap") - area(table, dataset, labels, "saabas")
        for labels in datasets.OUTCOMES
    }
    assert leads["permuted"] > 0.005 and leads["observed"] > 0.005
    assert leads["permuted"] > leads["observed"] / 2
    for mode in ("in-sample", "out-of-fold"):
        verdict = judged(table, "s06", f"{dataset}, {mode}, over the control")[2]
        assert verdict not in ("holds", "differs")
    # The prediction alone, which the model has memorized, leads both, and SHAP is closer to it.
    for labels in datasets.OUTCOMES:
        by_name = [area(table, dataset, labels, name) for name in ("prediction", *CLOSER)]
        assert by_name == sorted(by_name, reverse=True) and by_name[0] > 0.99
        shap, path = (area(table, dataset, labels, n, outcome="prediction") for n in CLOSER)
        assert shap > path + 0.01
    # Out-of-fold nothing is memorized, and the control is what chance gives.
    for name in CLOSER:
        assert abs(area(table, dataset, "permuted", name, "out_of_fold") - 0.5) < 0.05


@pytest.mark.long
@pytest.mark.parametrize("dataset", [*REDUCED])
def test_s07_permuted_outcomes_give_path_the_same_lead(small, dataset):
    table = small["figure4"]
    for labels in datasets.OUTCOMES:
        path, baseline = (area(table, dataset, labels, name) for name in ("saabas", "unsupervised"))
        assert path - baseline > 0.2
    assert abs(area(table, dataset, "permuted", "unsupervised") - 0.5) < 0.05
    assert judged(table, "s07", f"{dataset}, in-sample, over the control")[2] != "holds"
    # Out-of-fold the clusters are as good as the prediction alone.
    path, prediction = (
        area(table, dataset, "observed", name, "out_of_fold") for name in ("saabas", "prediction")
    )
    assert abs(path - prediction) < 0.05


@pytest.mark.long
@pytest.mark.parametrize("recipe", [SMALL, PROTEINS], ids=lambda r: r["dataset"])
def test_s08_unsupervised_clusters_beat_random_ones_unless_outcomes_are_permuted(recipe):
    """Twelve repeats; no model is needed."""
    leads = {}
    for labels in datasets.OUTCOMES:
        gains = []
        for repeat in range(12):
            data = datasets.load({**recipe, "outcome": labels}, repeat)
            rows = metric("clustering_r2")({}, data, random_state=repeat, random=["features"])
            areas = rows[rows["statistic"] == "area"].groupby("clustered")["value"].mean()
            gains.append(areas["unsupervised"] - areas["random_features"])
        leads[labels] = np.mean(gains)
        error = np.std(gains, ddof=1) / 12**0.5
    assert leads["observed"] > 0.015
    assert abs(leads["permuted"]) < 3 * error and leads["permuted"] < leads["observed"] / 2


def checked(findings):
    """Verdicts of findings with the causes and tests on file, by statement and variant."""
    rules = rules_of("lundberg2017")["statements"]
    stated = dict.fromkeys(rules, "It is so")
    rows = claims.judge_statements("lundberg2017", "figure4", findings, stated, rules)
    return {(row["cell"], row["variant"]): row["verdict"] for row in rows}


def test_a_lead_that_the_areas_do_not_have_is_unexplained(small):
    """Leads were judged without regard to the areas beside them, and any had its cause."""
    table, statements = small["figure4"], papers.artefact("lundberg2017/figure4").statements
    right = checked(statements(table))
    assert right["s08", "gene_modules"] == right["s08", "ad_data"] == "differs"
    is_lead = table["statistic"].str.startswith("lead")
    for change in (0.001, -0.001):
        moved = statements(table.assign(value=table["value"] + change * is_lead))
        moved = [f for f in moved if f["statement"] != "s17"]
        assert set(checked(moved).values()) == {"unexplained"}


@pytest.mark.long
@pytest.mark.parametrize("dataset", [*REDUCED])
def test_s16_clusters_of_explanations_share_predictions(small, dataset):
    for mode in ("in_sample", "out_of_fold"):
        shap, baseline = (
            area(small["figure4"], dataset, "observed", name, mode, "prediction")
            for name in ("tree_shap", "unsupervised")
        )
        assert shap > baseline + 0.1
