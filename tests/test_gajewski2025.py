"""gajewski2025: artefacts on made tables, the theorem on a few cases, and the reference run."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from reproduction import claims, papers, storage
from reproduction.papers.gajewski2025 import (
    _settings,
)
from reproduction.papers.gajewski2025._settings import (
    DATASETS,
    SIGMAS,
    recipe_of,
)
from reproduction.planning import configuration as config
from reproduction.planning import sweep
from reproduction.planning.places import PAPERS

ROOT = Path(__file__).resolve().parents[1]
CLAIMS = PAPERS / "gajewski2025" / "claims"
REFERENCE = ROOT / "docs" / "reference" / "tables" / "gajewski2025"
COUNTS = [100, 500, 1000, 2000, 4000, 6000, 8000, 10000, 15000, 20000]
RANKINGS = [_settings.SHAP, *_settings.GREEDY.values()]
VARIANTS = (_settings.PUBLISHED, _settings.DESCRIBED)
SPLITS = [
    {"variant": "published", "repeat": 0},
    *({"variant": "described", "repeat": r} for r in (1, 2)),
]
HOLDS = {"within", "direction"}
ARTEFACTS = config.artefacts()
FULL = config.read_yaml(ROOT / "config" / "config.yaml")


def artefact(name):
    return papers.artefact(f"gajewski2025/{name}")


def computed(name, inputs):
    """The table, with the inputs and parameters that the job would give."""
    keys = ARTEFACTS[f"gajewski2025/{name}"]
    some = {wanted: inputs[wanted] for wanted in keys["inputs"]}
    return artefact(name).compute(some, **keys.get("parameters", {}))


def findings(name, table):
    return {
        (f["statement"], f["variant"]): claims.statement_verdict(f["value"], f["limit"], f["kind"])
        for f in artefact(name).statements(table)
    }


def reference(name):
    return storage.read_table(REFERENCE / f"{name}.csv")


def of_statement(name, statement, table=None):
    found = findings(name, reference(name) if table is None else table)
    return {variant: verdict for (own, variant), verdict in found.items() if own == statement}


def judged(name, table, tmp_path):
    """Cells held against a table as the job does, none allowed to be missing or twice."""
    storage.write_table(tmp_path / "table.csv", table)
    printed = storage.read_rows(CLAIMS / f"{name}.csv")
    rules = yaml.safe_load((CLAIMS / "rules.yaml").read_text())[name]
    rules = [{"cause": "made", "test": "none"}, *rules]
    rows = storage.read_rows(tmp_path / "table.csv")
    return claims.judge("gajewski2025", name, printed, rows, rules)


# Made tables of metrics.


def swept(model, splits=SPLITS, **axes):
    """Rows of an experiment's table: every combination of the axes."""
    names = list(axes)
    rows = [
        {**split, "data": data, "model": model, **dict(zip(names, values, strict=True))}
        for split, data, values in product(splits, DATASETS, list(product(*axes.values())))
    ]
    return pd.DataFrame(rows)


def agreement(model):
    rows = swept(model, ranking=RANKINGS[1:], k=[1, 2, 3])
    sigma = rows["ranking"].str.removeprefix("greedy_sigma").astype(float)
    scale = 0.7 if model == "single" else 0.5
    rows["value"] = scale * (0.8 + 0.2 * sigma) / rows["k"] + 0.01 * rows["repeat"]
    return rows.assign(low=rows["value"] - 0.1, high=rows["value"] + 0.1, tied=0.5)


def gaps(model):
    rows = swept(model, sigma_metric=list(SIGMAS), ranking=RANKINGS)
    rows["value"] = rows["sigma_metric"] * (1 + 0.5 * (rows["ranking"] != "shap"))
    lead = 0.5 * rows["sigma_metric"] * (rows["ranking"] != "shap")
    return rows.assign(n_rows=3, lead=lead, low=lead - 0.1, high=lead + 0.1)


def optimum():
    rows = swept("bigger", sigma_metric=list(SIGMAS), ranking=RANKINGS)
    own = rows["ranking"] == "greedy_sigma" + rows["sigma_metric"].astype(str)
    rows["value"] = np.where(own, 0.99, 0.8)
    rows.loc[rows["data"] == "parkinson", "value"] = np.nan
    return rows


def pgi_agreement():
    alone = swept("bigger", sigma_metric=list(SIGMAS), quantity=["spearman"], ranking=RANKINGS)
    pair = alone[alone["ranking"] != "shap"].assign(quantity="alike", other="shap", value=0.9)
    named = pair["ranking"] == RANKINGS[1]
    pair.loc[named, ["ranking", "other"]] = ["shap", RANKINGS[1]]
    return pd.concat([alone.assign(other="", value=0.8), pair])


def errors(**more):
    rows = swept("bigger", ranking=RANKINGS, k=[1, 2, 3])
    greedy = rows["ranking"] != "shap"
    rows["value"] = 10.0 - rows["k"] - 0.5 * greedy + 0.1 * rows["repeat"]
    rows["lead"] = np.where(greedy, -0.5, 0.0)
    low, high = rows["lead"] - 0.2, rows["lead"] + 0.2
    return rows.assign(low=low, high=high, standard_error=0.1, **more)


def cards(model):
    rows = swept(model, quantity=["n_trees", "test_rmse", "dump_sha256"])
    text = {"n_trees": "40", "test_rmse": "0.62305", "dump_sha256": "ab"}
    rows["value"] = rows["quantity"].map(text) + rows["repeat"].map({0: "", 1: "1", 2: "2"})
    return rows


INPUTS = {
    "gajewski2025_single/topk_agreement": lambda: agreement("single"),
    "gajewski2025_bigger/topk_agreement": lambda: agreement("bigger"),
    "gajewski2025_single/pgi2": lambda: gaps("single"),
    "gajewski2025_bigger/pgi2": lambda: gaps("bigger"),
    "gajewski2025_bigger/pgi2_optimum": optimum,
    "gajewski2025_bigger/pgi_agreement": pgi_agreement,
    "gajewski2025_bigger/randomized_error": lambda: errors(draws_error=0.02),
    "gajewski2025_bigger/removed_error": lambda: errors(n_fits=9),
    "gajewski2025_single/model_card": lambda: cards("single"),
    "gajewski2025_bigger/model_card": lambda: cards("bigger"),
}


@pytest.fixture(scope="module")
def inputs():
    return {name: make() for name, make in INPUTS.items()}


@pytest.mark.parametrize("name", ["table2", "table3", "table4", "table5", "table6"])
def test_every_printed_cell_is_one_row_of_each_variant(name, inputs, tmp_path):
    found = judged(name, computed(name, inputs), tmp_path)
    n = len(storage.read_rows(CLAIMS / f"{name}.csv"))
    assert len(found) == 2 * n


def test_rows_of_several_splits_are_means_with_their_range(inputs):
    table = computed("table4", inputs)
    keys = ["variant", "dataset", "ranking", "k"]
    one = table.set_index(keys).loc[("described", "red_wine", "shap", 2)]
    assert (one["value"], one["low"], one["high"]) == pytest.approx((8.15, 8.1, 8.2))
    assert one["n_splits"] == 2 and one["deviation"] == pytest.approx(0.1 / 2**0.5)
    bounds = computed("table2", inputs).set_index(["variant", "dataset", "model"])
    bounds = bounds.loc[("described", "red_wine", "single")].query("sigma == 1 and k == 1")
    assert bounds[["low", "high"]].iloc[0].tolist() == pytest.approx([0.61, 0.82])


def test_print_of_table4_and_ours_differ_by_their_draws_only(inputs):
    table = computed("table4", inputs)
    assert table["standard_error"].to_numpy() == pytest.approx(0.02 * 2**0.5)


def test_agreement_with_pgi_is_that_with_shap_in_either_order(inputs):
    table = computed("table3", inputs)
    assert (table.loc[table["ranking"] != "shap", "alike"] == 0.9).all()
    assert (table["spearman"] == 0.8).all()


def test_models_over_splits_keep_text_that_is_the_same(inputs):
    table = computed("models", inputs)
    rows = table.set_index(["variant", "dataset", "model", "quantity"]).sort_index()
    assert rows.loc[("published", "red_wine", "single", "dump_sha256"), "value"] == "ab"
    own = rows.loc[("described", "red_wine", "single")]
    assert own.loc["dump_sha256", "value"] is None
    assert own.loc["n_trees", ["value", "low", "high"]].tolist() == [401.5, 401, 402]


def test_statements_of_the_tables_on_made_numbers(inputs):
    def found(name):
        return findings(name, computed(name, inputs))

    assert set(found("table2").values()) <= HOLDS
    assert set(found("table3").values()) == HOLDS
    assert set(found("table6").values()) == {"within"}
    assert found("table4")["s11", "published, red_wine"] == "differs"
    assert found("table4")["s12", "published"] == "differs"
    assert set(found("table5").values()) == {"direction"}


# The reference run.


def apart(name, relative, where=""):
    """Cells of variant published that are not print's to a relative tolerance, of how many."""
    table = reference(name).query("variant == 'published'")
    table = table.query(where) if where else table
    cells = storage.read_rows(CLAIMS / f"{name}.csv")
    rows = table.astype(str).to_dict("records")
    found = []
    for cell in cells:
        keys = claims.parse_cell(cell["cell"]).items()
        own = [row for row in rows if all(row[k] == v for k, v in keys)]
        if own:
            printed = float(cell["printed"])
            half = claims.half_unit(cell["printed"])
            # A share that ends in 5 is off by half a unit, and an ulp.
            allowed = half * (1 + 1e-9) + relative * abs(printed)
            found.append(abs(float(own[0]["value"]) - printed) > allowed)
    return sum(found), len(found)


def test_table2_published_is_print():
    assert apart("table2", 0.0, "model == 'bigger'") == (0, 27)


def test_table2_single_trees_tie_in_single_precision():
    """Print lies within the bounds of such ties, and mostly not within those of exact ones."""
    table = reference("table2").query("variant == 'published' and model == 'single'")
    ours, outside = table.set_index(["dataset", "sigma", "k"]), 0
    cells = [
        (claims.parse_cell(row["cell"]), row["printed"])
        for row in storage.read_rows(CLAIMS / "table2.csv")
    ]
    cells = [c for c in cells if c[0]["model"] == "single" and c[0]["dataset"] != "red_wine"]
    for cell, text in cells:
        own = ours.loc[cell["dataset"], float(cell["sigma"]), int(cell["k"])]
        printed, half = float(text), claims.half_unit(text)
        assert own["low_single"] - half <= printed <= own["high_single"] + half
        outside += not own["low"] - half <= printed <= own["high"] + half
    assert (len(cells), outside) == (18, 14)


def test_recipes_are_those_of_all_experiments():
    """`timings` fits its own models; `grid_search` names those of the text."""
    full, seen = config.load({}), set()
    for experiment in ("sampling", "single", "bigger"):
        for point in sweep.expand(full, f"gajewski2025_{experiment}"):
            setting = point.axes["data"], point.axes["model"], point.axes["variant"]
            assert point.run.model.items() >= recipe_of(*setting).items()
            seen.add(setting)
    assert len(seen) == 12
    with pytest.raises(ValueError, match="gajewski2025_sampling has no published other model"):
        recipe_of("red_wine", "other")


def test_s08_and_s09_of_the_reference_run():
    assert set(findings("table2", reference("table2")).values()) <= HOLDS


def test_table3_published_is_print():
    assert apart("table3", 0.001) == (0, 36)
    rows = reference("table3").set_index("variant")["n_rows"]
    assert (rows["published"] == 3).all() and (rows["described"] > 300).all()


def test_table6_published_is_print():
    assert apart("table6", 0.04, "dataset != 'red_wine'") == (0, 24)


def test_table5_published_is_print():
    assert apart("table5", 0.01) == (0, 36)


def test_table4_published_is_print():
    assert apart("table4", 0.015) == (0, 36)


def test_table4_described_is_not_what_was_printed():
    table = reference("table4").set_index(["variant", "dataset", "k", "ranking"])["value"]
    for dataset, k in product(DATASETS, (1, 2, 3)):
        # Done as the text says, randomizing what SHAP ranks first does more harm; with rows mixed
        # up, on housing, less.
        for sigma in ("0.1", "0.3"):
            greedy = f"greedy_sigma{sigma}"
            described, published = (
                table[variant, dataset, k, greedy] - table[variant, dataset, k, "shap"]
                for variant in ("described", "published")
            )
            assert described < 0
            assert dataset != "california_housing" or published > 0


def test_s10_and_s14_of_the_reference_run():
    found = findings("table3", reference("table3"))
    assert found["s10", "published, bigger"] == "differs"
    assert found["s10", "described, bigger"] == "within"
    assert {v for (s, _), v in found.items() if s == "s14"} == {"direction"}


def test_s11_to_s13_of_the_reference_run():
    table4 = findings("table4", reference("table4"))
    assert table4["s12", "published"] == "direction"
    assert table4["s12", "described"] == "differs"
    assert set(findings("table5", reference("table5")).values()) == {"direction"}
