"""The rule of the trust study: derived from half of the data sets, judged on the other half."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reproduction import datasets
from reproduction.papers.trust import _places, disagreement, rule
from scripts import script

ROOT = Path(__file__).resolve().parents[3]
DATA = [f"d{i}" for i in range(8)]
MEASURES = ["good", "mdi", "other", "odd", _places.RANDOM]


def made_up(score, data=DATA, measures=MEASURES, yardsticks=("auc", "power"), seeds=3):
    """Scores of every cell: `score(data, seed, measure, yardstick)`."""
    keys = ["data", "model", "seed", "measure", "yardstick"]
    cells = itertools.product(data, ["forest"], range(seeds), measures, yardsticks)
    table = pd.DataFrame(cells, columns=keys)
    return table.assign(score=[score(d, s, m, y) for d, _, s, m, y in cells_of(table)])


def cells_of(table):
    return table.itertuples(index=False, name=None)


def wide(table):
    placed = _places.places(table, ["auc", "power"], ["forest"])
    return _places.by_data(placed, "place"), _places.by_data(placed, "holds")


def test_the_place_of_a_measure_is_the_share_of_the_others_that_it_beats():
    """Ranks from the wrong end, or ties that count as won."""
    order = {"good": 4, "mdi": 2, "other": 2, "odd": 1, _places.RANDOM: 0}
    placed = _places.places(made_up(lambda d, s, m, y: order[m]), ["auc"], ["forest"])
    of_first = placed[(placed["data"] == "d0") & (placed["seed"] == 0)].set_index("measure")
    expected = {"good": 1, "mdi": 0.625, "other": 0.625, "odd": 0.25, _places.RANDOM: 0}
    assert of_first["place"].to_dict() == expected
    assert of_first["holds"].to_dict() == {m: float(m == "good") for m in order}


def test_a_measure_without_a_score_by_a_yardstick_is_no_candidate():
    """The mean over the yardsticks that are left made it the best."""
    table = made_up(lambda d, s, m, y: MEASURES[::-1].index(m))
    missing = (table["measure"] == "good") & (table["yardstick"] == "power")
    table.loc[missing, "score"] = np.nan
    place, _ = wide(table)
    assert "good" not in place.columns and rule.judge(place, place, DATA[:4])["measure"] == "mdi"


def test_nothing_holds_that_is_not_above_the_random_order():
    order = {"good": 3, "mdi": 2, "other": 1, "odd": 0, _places.RANDOM: 4}
    _, holds = wide(made_up(lambda d, s, m, y: order[m]))
    assert not holds.to_numpy().any()


def test_the_choice_sees_one_half_and_the_count_the_other():
    """A rule that is judged on the data that it comes from cannot fail."""
    first, rest = rule.halves(DATA, 0)
    assert sorted(first + rest) == DATA and len(first) == len(rest)
    best = {**dict.fromkeys(first, "good"), **dict.fromkeys(rest, "odd")}
    place, holds = wide(made_up(lambda d, s, m, y: (m == best[d]) + 0.1 * MEASURES[::-1].index(m)))
    judged = rule.judge(place, holds, first)
    assert (judged["measure"], judged["holds"], judged["n_data_sets"]) == ("good", 0.0, 4)
    assert (judged["hindsight_measure"], judged["hindsight"], judged["mdi"]) == ("odd", 1.0, 0.0)
    assert judged["random"] == 0.25
    assert rule.judge(place, holds, rest)["measure"] == "odd"


def test_a_measure_that_does_not_apply_to_a_held_out_data_set_does_not_hold_there():
    """It was left out of the mean, and held on all that are left."""
    table = made_up(lambda d, s, m, y: MEASURES[::-1].index(m))
    table.loc[(table["measure"] == "good") & table["data"].isin(["d6", "d7"]), "score"] = np.nan
    place, holds = wide(table)
    judged = rule.judge(place, holds, DATA[:4])
    assert (judged["measure"], judged["holds"]) == ("good", 0.5)


def test_on_noise_a_measure_holds_as_often_as_one_picked_at_random():
    """A count that the choice leaks into, or a best quarter that is none."""
    rng = np.random.default_rng(0)
    measures = [f"m{i}" for i in range(20)]
    shares = []
    for _ in range(40):
        noise = made_up(lambda *_: rng.random(), measures=measures, yardsticks=["auc"], seeds=1)
        judged = rule.judge(*wide(noise), DATA[:4])
        assert judged["random"] == 0.25
        shares.append(judged["holds"])
    low, high = stats.binom.ppf([0.005, 0.995], 40 * 4, 0.25) / (40 * 4)
    assert low <= np.mean(shares) <= high


def test_all_splits_are_judged_as_the_one_that_is_stated():
    rng = np.random.default_rng(1)
    place, holds = wide(made_up(lambda *_: rng.random(), seeds=2))
    splits = [rule.judge(place, holds, list(f)) for f in itertools.combinations(DATA, 4)]
    counted = rule.fragility(place, holds, "good", 4)
    assert counted == pytest.approx(
        {
            "all_splits": np.mean([one["holds"] for one in splits]),
            "least": min(one["holds"] for one in splits),
            "chosen": np.mean([one["measure"] == "good" for one in splits]),
        }
    )


@pytest.mark.parametrize(("k", "n"), [(0, 4), (3, 4), (5, 5)])
def test_intervals_of_shares_are_those_of_wilson(k, n):
    expected = stats.binomtest(k, n).proportion_ci(method="wilson")
    assert rule.wilson(k / n, n) == pytest.approx((expected.low, expected.high))


def test_the_page_has_the_numbers_of_the_reference_run():
    """A recommendation that the tables no longer give."""
    page = (ROOT / "docs" / "trust.md").read_text()
    assert page == script("tools/take_reference.py").trust_page()


def test_the_page_recommends_nothing_that_may_be_no_better_than_random():
    rule_of = pd.read_csv(ROOT / "docs" / "reference" / "tables" / "trust" / "rule.csv")
    rule_of = rule_of[rule_of["property"] != "any"]
    page = (ROOT / "docs" / "trust.md").read_text()
    shown = [
        line.split(" | ")[2]
        for line in page.splitlines()
        if "| bagged |" in line or "| boosted |" in line
    ]
    assert [text != "none" for text in shown] == list(rule_of["low"] > rule_of["random"])


def test_a_call_is_that_of_the_recipe_without_what_the_library_calls_otherwise():
    greedy = {"importance": "rank", "scale": 0.3, "n_rows": 4}
    assert rule.call(greedy) == {"method": "pg2_greedy", "parameters": "{}"}
    shap = {"importance": "oob_attributions", "rows": "oob", "weigh_by": "y"}
    assert rule.call(shap)["parameters"] == '{"rows": "oob", "weigh_by": "y"}'


def test_disagreement_is_the_correlation_of_ranks_of_the_same_forest():
    """Features ranked across forests, or the pairs that agree most first."""
    values = {"a": [1.0, 2.0, 4.0], "b": [1.0, 20.0, 30.0], "c": [3.0, 2.0, 1.0]}
    rows = [
        ("trust_d", repeat, f"x{j}", name, value * repeat)
        for repeat in (1, 2)
        for name, of_features in (values | {_places.RANDOM: [1.0, 3.0, 2.0]}).items()
        for j, value in enumerate(of_features)
    ]
    table = pd.DataFrame(rows, columns=["data", "repeat", "feature", "importance", "value"])
    found = disagreement.compute({"trust_bagged/scores": table})
    pairs = found[["first", "second", "value"]].itertuples(index=False, name=None)
    assert list(pairs) == [("a", "c", -1.0), ("b", "c", -1.0), ("a", "b", 1.0)]


def test_copies_are_permuted_features_behind_the_others():
    """Noise that keeps its row, that replaces a feature, or that changes which rows are drawn."""
    recipe = {"dataset": "standardized_split", "of": "iris", "random_state": 3}
    plain, more = (datasets.load(recipe | copies) for copies in ({}, {"n_copies": 2}))
    assert more.X[:, :4].tobytes() == plain.X.tobytes() and more.relevant == (0, 1, 2, 3)
    for j in (4, 5):
        column = more.feature_names.index(more.feature_names[j].removesuffix(", permuted"))
        assert sorted(more.X[:, j]) == sorted(more.X[:, column])
        assert abs(np.corrcoef(more.X[:, j], more.X[:, column])[0, 1]) < 0.3
