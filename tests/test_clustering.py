"""Supervised clustering: R2 along merge lists, bars, the simulated modules, figures 3 and 4."""

import numpy as np
import pandas as pd
import pytest
from scipy.cluster import hierarchy
from scipy.spatial import distance

from reproduction import datasets, models, papers, storage
from reproduction.cross_fitted import CrossFitted
from reproduction.figures import save, style
from reproduction.metrics import _dendrogram, metric
from reproduction.planning import configuration as config
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


def merges_by_definition(X, linkage):
    """Agglomerative clustering by trying all pairs of groups: sets merged, and their distances."""
    groups, found = [{i} for i in range(len(X))], []
    while len(groups) > 1:
        pairs = [(i, j) for j in range(len(groups)) for i in range(j)]
        gaps = [gap(X, sorted(groups[i]), sorted(groups[j]), linkage) for i, j in pairs]
        i, j = pairs[int(np.argmin(gaps))]
        found.append((frozenset(groups[i] | groups[j]), min(gaps)))
        groups[i] |= groups.pop(j)
    return found


def gap(X, a, b, linkage):
    if linkage == "ward":
        between = np.linalg.norm(X[a].mean(axis=0) - X[b].mean(axis=0))
        return between * np.sqrt(2 * len(a) * len(b) / (len(a) + len(b)))
    distances = distance.cdist(X[a], X[b])
    return distances.mean() if linkage == "average" else distances.max()


# Basis of 1e-12: rounding of sums over 40 numbers.
@pytest.mark.parametrize("linkage", LINKAGES)
def test_r2_of_every_number_of_groups(rows, linkage):
    merges = _dendrogram.merges(rows.X, linkage)
    found = _dendrogram.r2_by_groups(merges, rows.y)
    for k in range(1, 41):
        group = hierarchy.fcluster(merges, k, "maxclust")
        assert len(set(group)) == k
        assert found[k - 1] == pytest.approx(r2_of_groups(group, rows.y), abs=1e-12)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_r2_where_distances_and_outcomes_tie(rows, linkage):
    X, y = np.round(rows.X), np.round(rows.y)
    merges = _dendrogram.merges(X, linkage)
    found = _dendrogram.r2_by_groups(merges, y)
    for k in range(1, 41):
        expected = r2_of_groups(groups_after(merges, 40, 40 - k), y)
        assert found[k - 1] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_merges_are_those_of_the_definition(rows, linkage):
    merges = _dendrogram.merges(rows.X[:15], linkage)
    for step, (merged, height) in enumerate(merges_by_definition(rows.X[:15], linkage)):
        group = groups_after(merges, 15, step + 1)
        assert set(np.flatnonzero(group == 15 + step)) == merged
        assert merges[step, 2] == pytest.approx(height, rel=1e-12)


def test_a_constant_outcome_is_refused(rows):
    with pytest.raises(ValueError, match="the outcome is the same in all rows"):
        _dendrogram.r2_by_groups(_dendrogram.merges(rows.X, "ward"), np.ones(40))


def test_standardized_features_count_what_is_missing_as_the_mean():
    X = np.array([[1.0, 5.0, np.nan], [3.0, 5.0, 1.0], [5.0, 5.0, 3.0]])
    expected = [[-1.5, 0, 0], [0, 0, -1], [1.5, 0, 1]]
    assert _dendrogram.standardized(X) == pytest.approx(np.array(expected) / [1.5**0.5, 1, 1])


def test_the_table_holds_the_curve_at_the_chosen_groups_and_its_mean(rows):
    found = metric("clustering_r2")({"m": attribution(rows.X**3)}, rows, groups=[1, 5, 99])
    assert len(found) == 3 * 4 * 4
    keys = ["linkage", "clustered", "outcome"]
    for (linkage, clustered, outcome), part in found.groupby(keys, sort=False):
        assert outcome == "label"
        assert part["n_groups"].iloc[:3].tolist() == [1, 5, 40]
        assert part["statistic"].tolist() == ["r2", "r2", "r2", "area"]
        if clustered == "m":
            values = rows.X**3
        elif clustered == "unsupervised":
            values = (rows.X - rows.X.mean(axis=0)) / rows.X.std(axis=0)
        else:
            continue
        curve = _dendrogram.r2_by_groups(hierarchy.linkage(values, linkage), rows.y)
        assert part["value"].tolist() == pytest.approx([0, curve[4], 1, curve.mean()], abs=1e-12)


def test_random_clusterings_know_nothing_of_features_and_are_drawn_from_the_seed(rows):
    measure = metric("clustering_r2")
    chance = ["random_features", "random_labels"]

    def areas(data, seed):
        found = measure({"m": attribution(data.X)}, data, random_state=seed)
        found = found[(found["statistic"] == "area") & (found["linkage"] == "ward")]
        return found.set_index("clustered")["value"]

    first, other = areas(rows, 0), areas(rows, 1)
    assert (first[chance] == areas(rows, 0)[chance]).all()
    assert (first[chance] != other[chance]).all()
    assert first["unsupervised"] == other["unsupervised"]
    moved = dataset(rows.X[::-1] ** 3, rows.y)
    assert areas(moved, 0)["random_features"] == first["random_features"]
    # Of random labels the expected R2 of k groups is (k - 1) / (n - 1), whatever the groups, whose
    # mean over k is 1 / 2. Basis: five standard errors of 200 draws.
    many = [areas(rows, seed)["random_labels"] for seed in range(200)]
    assert abs(np.mean(many) - 0.5) < 5 * np.std(many) / 200**0.5
    assert set(measure({"m": attribution(rows.X)}, rows, random=[])["clustered"]) == {
        "m",
        "unsupervised",
    }


def test_the_outcome_may_be_the_prediction(rows):
    shap = attribution(rows.X**3, baseline=2.0)
    found = metric("clustering_r2")({"m": shap}, rows, outcomes=["label", "m"], random=[])
    area = found[found["statistic"] == "area"].set_index(["linkage", "clustered", "outcome"])
    prediction = 2 + (rows.X**3).sum(axis=1)
    curve = _dendrogram.r2_by_groups(hierarchy.linkage(rows.X**3, "ward"), prediction)
    assert area.loc[("ward", "m", "m"), "value"] == pytest.approx(curve.mean(), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"importances": ["q"]}, r"no importances named 'q' in this run: it has \['m', 'many'\]"),
        ({"importances": ["many"]}, r"many has values of shape \(40, 6, 2\).*output: predicted"),
        ({"importances": ["m"], "random": ["rows"]}, r"random=\['rows'\]: expected some of feat"),
        ({"importances": ["m"], "outcomes": ["q"]}, "no importances named 'q'"),
        ({"importances": ["m"], "linkages": ["nearest"]}, "nearest"),
    ],
)
def test_bad_requests_are_named(rows, arguments, message):
    many = Attribution(np.zeros((40, 6, 2)), [0, 0], [f"x{j}" for j in range(6)], "ab", "many")
    with pytest.raises(ValueError, match=message):
        metric("clustering_r2")({"m": attribution(rows.X), "many": many}, rows, **arguments)


def test_bars_add_up_and_stand_in_the_order_of_the_dendrogram(rows):
    big, small = rows.X * [1, 5, 3, 0.1, 4, 0.2], rows.X * 0.1
    attributions = {"big": attribution(big, baseline=1.0), "small": attribution(small)}
    found = metric("cluster_bars")(attributions, rows, largest=3, decimals=12)
    for name, values in (("big", big), ("small", small)):
        part = found[found["clustered"] == name]
        bars = part[["bar_1", "bar_2", "bar_3"]].to_numpy()
        # 12 decimals are kept.
        assert bars == pytest.approx(values[:, [1, 4, 2]], abs=1e-12)
        rest = values[:, [0, 3, 5]]
        assert part["rest_positive"].to_numpy() == pytest.approx(
            np.where(rest > 0, rest, 0).sum(axis=1), abs=1e-12
        )
        shown = bars.sum(axis=1) + part["rest_positive"] + part["rest_negative"]
        baseline = attributions[name].baseline[0]
        assert shown.to_numpy() == pytest.approx(part["value"] - baseline, abs=1e-11)
        merges = hierarchy.linkage(values, "average")
        leaves = hierarchy.dendrogram(merges, no_plot=True)["leaves"]
        assert part.sort_values("position")["sample"].tolist() == leaves
        stored = part[["merge_left", "merge_right", "height"]].iloc[:-1].to_numpy(dtype=float)
        assert stored == pytest.approx(merges[:, :3], abs=1e-12)
        assert part["feature"].tolist()[:3] == ["x1", "x4", "x2"]
        assert part["feature"][3:].isna().all()
        assert part["label"].to_numpy() == pytest.approx(rows.y, abs=1e-12)


def test_gene_modules_are_drawn_as_said():
    drawn = datasets.load({"dataset": "gene_modules"})
    assert drawn.X.shape == (518, 200)
    # 28, 62 and 74 % of 518 rows: 145.04, 321.16 and 383.32.
    assert np.unique(drawn.y, return_counts=True)[1].tolist() == [145, 176, 62, 135]
    again, other = (datasets.load({"dataset": "gene_modules"}, repeat) for repeat in (0, 1))
    assert np.array_equal(drawn.X, again.X)
    assert not np.array_equal(drawn.y, other.y)


@pytest.mark.parametrize("wrong", [{"n_active": 201}, {"n_active": 1}, {"n_factors": 1}])
def test_impossible_gene_modules_are_refused(wrong):
    with pytest.raises(ValueError, match="at least 2 factors and 2 active modules"):
        datasets.load({"dataset": "gene_modules", **wrong})


def test_gene_modules_are_sums_of_two_factors_each_and_noise():
    recipe = {"dataset": "gene_modules", "n_samples": 300, "random_state": 0}
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
    drawn = datasets.load({**recipe, "signal": signal, "random_state": 0})
    x = (drawn.X - drawn.X.mean(axis=0)) / drawn.X.std(axis=0)
    terms = np.column_stack([np.ones(5000), x, x[:, 0] * x[:, 1]])
    residual = drawn.y - terms @ np.linalg.lstsq(terms, drawn.y)[0]
    assert least <= 1 - residual.var() / drawn.y.var() <= most


def curves(values, dataset="gene_modules", linkage="ward"):
    """What the experiment collects: the same number for every repeat's R2 at 20 and area."""
    frames = []
    for repeat, by_name in enumerate(values):
        for variant in ("in_sample", "out_of_fold"):
            for name, value in by_name.items():
                for statistic, n_groups in (("r2", 20), ("area", None)):
                    frames.append(
                        {
                            "data": dataset,
                            "model": "m",
                            "repeat": repeat,
                            "variant": variant,
                            "run": f"{variant}{repeat}",
                            "linkage": linkage,
                            "clustered": name,
                            "outcome": "label",
                            "statistic": statistic,
                            "n_groups": n_groups,
                            "value": value,
                        }
                    )
    return pd.DataFrame(frames)


def finding(table, statement, mode=""):
    found = papers.artefact("lundberg2017/figure4").statements(table)
    found = [f for f in found if f["statement"] == statement and f["variant"].endswith(mode)]
    (chosen,) = {f["value"] for f in found}
    return chosen


def test_leads_are_paired_by_repeat_and_judged_at_the_worst_linkage():
    names = ["tree_shap", "saabas", "local_mdi", "unsupervised", "random_features"]
    names.append("random_labels")
    rng = np.random.default_rng(1)
    values = {linkage: rng.uniform(0.4, 0.6, (4, 6)) for linkage in LINKAGES}
    frames = [
        curves([dict(zip(names, row, strict=True)) for row in v], linkage=linkage)
        for linkage, v in values.items()
    ]
    key = "lundberg2017_clustering/clustering_r2"
    table = papers.artefact("lundberg2017/figure4").compute({key: pd.concat(frames)})

    def low(linkage, a, b):
        lead = values[linkage][:, a] - values[linkage][:, b]
        return lead.mean() - 2 * lead.std(ddof=1) / 2

    # Five decimals are kept.
    expected = {
        "s06": min(low(linkage, 0, 1) for linkage in LINKAGES),
        "s07": min(low(linkage, 1, 3) for linkage in LINKAGES),
        "s08": max(low(linkage, 3, j) for linkage in LINKAGES for j in (4, 5)),
    }
    for statement, value in expected.items():
        assert finding(table, statement) == pytest.approx(value, abs=1e-5)
    mean = table[(table["statistic"] == "area") & (table["linkage"] == "ward")]
    mean = mean[(mean["clustered"] == "saabas") & (mean["mode"] == "in_sample")]
    ward = values["ward"][:, 1]
    assert mean["value"].item() == pytest.approx(ward.mean(), abs=1e-5)
    assert mean["low"].item() == pytest.approx(np.quantile(ward, 0.1), abs=1e-5)


SMALL = {"dataset": "gene_modules", "n_samples": 200, "n_modules": 50}
BOOSTING = {"estimator": "XGBRegressor", "n_estimators": 50, "max_depth": 6}
BOOSTING |= {"learning_rate": 0.05, "tree_method": "exact"}
MEASURES = ("saabas", "tree_shap", "local_mdi")


def explained(data, repeat):
    """In-sample and out-of-fold attributions of one draw, by name."""
    forest = to_forest(models.fit(BOOSTING, data.X, data.y, repeat))
    fold = models.folds({**BOOSTING, "folds": 5}, len(data.X), repeat)
    rest = [data.take(fold != f) for f in range(5)]
    forests = [to_forest(models.fit(BOOSTING, part.X, part.y, repeat)) for part in rest]
    crossed = CrossFitted(forests, fold)
    return {
        "in_sample": {m: explain(forest, data.X, m) for m in MEASURES},
        "out_of_fold": {
            m: crossed.explain(lambda forest, own, _, m=m: explain(forest, data.X[own], m))
            for m in MEASURES
        },
    }


@pytest.fixture(scope="module")
def small():
    """The experiment at a reduced size: six draws of 200 x 50, boosting of 50 rounds."""
    frames = []
    for repeat in range(6):
        data = datasets.load(SMALL, repeat)
        by_mode = explained(data, repeat)
        for variant, found in by_mode.items():
            frame = metric("clustering_r2")(found, data, random_state=repeat)
            axes = {"data": "gene_modules", "repeat": repeat, "variant": variant}
            frames.append(frame.assign(**axes))
    bars = metric("cluster_bars")(by_mode["in_sample"], data, importances=["saabas", "tree_shap"])
    key = "lundberg2017_clustering/clustering_r2"
    table = papers.artefact("lundberg2017/figure4").compute({key: pd.concat(frames)})
    key = "lundberg2017_bars/cluster_bars"
    bars = papers.artefact("lundberg2017/figure3").compute({key: bars.assign(data="gene_modules")})
    return {"figure3": bars, "figure4": table}


def test_s06_shap_leads_path_in_sample_but_not_out_of_fold(small):
    assert finding(small["figure4"], "s06", "in-sample") > 0
    assert finding(small["figure4"], "s06", "out-of-fold") < 0


def test_s07_path_leads_unsupervised_in_sample(small):
    assert finding(small["figure4"], "s07", "in-sample") > 0


def test_s08_unsupervised_clusters_beat_random_ones(small):
    assert finding(small["figure4"], "s08") > 0


def test_figures_are_drawn_from_their_tables_and_the_same_each_time(small, tmp_path):
    for name, table in small.items():
        storage.write_table(tmp_path / "table.csv", table)
        read = storage.read_table(tmp_path / "table.csv")
        for copy in "ab":
            with style():
                figure = papers.artefact(f"lundberg2017/{name}").draw(read)
                save(figure, tmp_path / f"{copy}.svg")
        assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_the_configuration_is_the_papers():
    full = config.read_yaml(config.Path(__file__).parents[1] / "config" / "config.yaml")
    model = full["models"]["xgboost_lundberg2017"]
    assert (model["n_estimators"], model["max_depth"], model["learning_rate"]) == (300, 6, 0.01)
    assert full["metrics"]["clustering_r2"]["linkages"] == [*LINKAGES]
