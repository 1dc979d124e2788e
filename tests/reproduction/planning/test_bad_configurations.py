"""Generated configurations: each is refused in one line before the first job, or makes sense.

    python tests/reproduction/planning/test_bad_configurations.py --number 200

The command also runs the jobs of what was accepted, on few rows, and lists what fails late.
"""

import argparse
import collections
import contextlib
import io
import os
import random
import re
import sys
import tempfile
import typing
from pathlib import Path

import pytest
import yaml

from batches import Batch
from reproduction import datasets, metrics, models, parameters, peers
from reproduction.planning import checks, configuration, plans
from splitcredit import measures

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = configuration.read_yaml(ROOT / "workflow" / "schemas" / "config.schema.yaml")
OWN = configuration.own()
NUMBER = 200
HUGE = 10**12  # Of sizes like this only the plan is made.
PLAUSIBLE = [None, True, False, 0, 1, 2, 7, 0.5, 0.99999, "all", "predicted", [1], {}, -1]
ODD = [HUGE, 0.0, -0.5, 1e39, float("nan"), "", "nonsense", "1e-6", "é", "../x", [], [[1]], ["a"]]
ODD += [[1, 1], {"a": 1}]
ROWS = "a,b,y\n" + "".join(f"{i % 7},{i * 5 % 11},{i % 2}\n" for i in range(40))
# Data sets, small.
DATA = {
    "csv_file": {"path": "rows.csv", "target": "y", "classes": True},
    "standardized_split": {"of": "wine"},
    "friedman": {"n_samples": 60, "n_test": 8, "n_features": 6},
    "led_sampled": {"n_samples": 60},
    "digits": {"rows": 60},
    "gene_modules": {"n_samples": 60, "n_modules": 16},
    "noisy_features": {"n_samples": 80, "n_features": 12},
    "titanic": {},
}
# What measures and metrics need beside their defaults, and small sizes.
GIVEN = {
    "pg2_greedy": {"sigma": 0.3, "output": 0},
    "rank": {"scale": 0.3},
    "saabas": {"output": "predicted"},
    "tree_shap_interventional": {"output": "predicted"},
    "sage": {"n_permutations": 4},
    "local_scores": {"samples": [0, 7]},
}
SMALL = {"n_draws": 3, "n_pairs": 40, "counts": [20, 40], "n_samples": 4, "n_folds": 2}
OF_TWO_CLASSES = {"class_correlation", "single_children", "mdi_by_depth", "subset_scores", "mda"}
OF_TWO_CLASSES |= {"air", "ufi", "penalized_gini"}
OF_NUMBERS = {"gene_modules", "friedman", "saabas_xgboost"}
# By the part of an experiment, the keys that it has.
PARTS = {
    "top": ("preset", "batch_size", "paper_scale", "sweeps", "artefacts", "datasets", "models"),
    "keys": ("importances", "metrics", "variants", "most_repeats", "figure", "sweep"),
    "figure": ("metric", "x", "y", "color", "column", "row", "log", "where", "labels"),
    "block": ("grid", "zip", "random", "batch_size"),
    "grid": (
        *("data", "model", "repeat", "variant", "data.noise", "data.outcome", "model.max_depth"),
        *("model.folds", "importance.tree_shap.output", "metric.x.k"),
    ),
}
THINGS = [("data", name) for name in DATA] + [("model", name) for name in models.ESTIMATORS]
THINGS += [("importance", name) for name in (*measures.names(), *peers.available())]
THINGS += [("metric", name) for name in metrics.available()]
THINGS += [("part", name) for name in PARTS] * 6
# What the message of a refusal says to do, the libraries' own included.
REMEDY = re.compile(
    "expected|allowed|there (are|is)|leave|need|must|give|take|name|set |add |at most|at least|"
    "should|missing|expect|Unknown|Invalid|fail|did you mean|support|requires|greater|available"
)


def configured(kind, name):
    """A small configuration around one thing."""
    tree_shap = {"importance": "tree_shap", "output": "predicted"}
    computed = {"tree_shap": tree_shap, "local_mdi": {"importance": "local_mdi"}}
    metric, data, library = {"metric": "additivity"}, "led_sampled", "RandomForest"
    kind_of_model = "Classifier"
    if name in OF_TWO_CLASSES:
        data = "csv_file"
    elif name in OF_NUMBERS or (kind == "metric") or name.endswith("Regressor"):
        data, kind_of_model = "friedman", "Regressor"
    model = {"estimator": f"{library}{kind_of_model}", "n_estimators": 3}
    if kind == "data":
        data = name
    elif kind == "model":
        model |= {"estimator": name}
        if name.startswith("Decision"):
            del model["n_estimators"]
        data = "csv_file" if name.endswith("Classifier") else data
        del computed["local_mdi"]
    elif kind == "importance":
        if "xgboost" in checks.constant("importance", name, "REQUIRES"):
            model["estimator"] = "XGBRegressor"
        computed[name] = {"importance": name, **GIVEN.get(name, {})}
    elif kind == "metric":
        metric, takes = {"metric": name}, checks.signature("metric", name, "")
        recipe = next(r for r in OWN["metrics"].values() if r["metric"] == name)
        for key, value in (recipe | SMALL | GIVEN.get(name, {})).items():
            if key in takes and key != "less":
                of = parameters.named(takes[key].annotation, value, parameters.ImportanceName)
                pairs = [["tree_shap", "local_mdi"]] if key == "pairs" else ["tree_shap"]
                metric[key] = ("tree_shap" if isinstance(value, str) else pairs) if of else value
        if name == "relevance_auc":
            metric["among"] = [None, 5]
            data = "noisy_features"
        if name == "agreement":
            metric["pairs"] = [["tree_shap", "tree_shap_shap"]]
            computed["tree_shap_shap"] = {"importance": "tree_shap_shap", "output": 0}
        if name not in OF_TWO_CLASSES:
            computed["greedy"] = {"importance": "pg2_greedy", "sigma": 0.3}
    grid = {"data": "d", "model": "m", "repeat": [1]}
    sweep = [{"grid": grid, "batch_size": 2}]
    table = "sutera2021/table2"
    config = {
        **{"preset": "tiny", "batch_size": 25, "paper_scale": False, "sweeps": ["e"]},
        "artefacts": {table: OWN["artefacts"][table]},
        "datasets": {"d": {"dataset": data, **DATA[data]}},
        "models": {"m": model},
        "importances": computed,
        "metrics": {"x": metric},
        "experiments": {"e": {"importances": [*computed], "metrics": ["x"], "sweep": sweep}},
    }
    return yaml.safe_load(yaml.safe_dump(config))


def literals(hint):
    """Texts that an annotation names."""
    if typing.get_origin(hint) is typing.Literal:
        return list(typing.get_args(hint))
    return [text for part in typing.get_args(hint) for text in literals(part)]


def case(number):
    """Configuration, and what in it is odd: kind, name, key and value."""
    chance = random.Random(number)
    kind, name = chance.choice(THINGS)
    config, words = configured(kind, name), []
    experiment = config["experiments"]["e"]
    if kind == "part":
        place = {"top": config, "keys": experiment, "block": experiment["sweep"][0]}.get(name)
        if name == "figure":
            place = experiment["figure"] = {"metric": "x"}
        place, key = place or experiment["sweep"][0]["grid"], chance.choice(PARTS[name])
    else:
        section, kind_key = checks.KINDS[kind]
        place = config[section][{"importance": name, "metric": "x"}.get(kind, kind[0])]
        takes = checks.signature(kind, name, "")
        key = chance.choice(sorted(takes) or [kind_key]) if chance.random() < 0.95 else kind_key
        words = literals(takes[key].annotation) if key in takes else []
    key += "x" * (chance.random() < 0.1)
    values = words if words and chance.random() < 0.5 else chance.choice([PLAUSIBLE, ODD])
    place[key] = chance.choice(values)
    return config, (kind, name, key, place[key])


def judged(number):
    """The refusal of a case, or None; its configuration, and what is odd in it."""
    config, label = case(number)
    try:
        checks.check(config, SCHEMA)
        plan = plans.make(config, "e")
    except configuration.ConfigError as error:
        message, (_, name, key, _) = str(error), label
        assert "\n" not in message and REMEDY.search(message), (label, message)
        assert any(word in message for word in (key, name, *key.split("."))), (label, message)
        return message, config, label
    assert plan.batches, label
    return None, config, label


@pytest.mark.parametrize("tenth", range(10))
def test_a_generated_configuration_is_refused_in_one_line_or_planned(tmp_path, monkeypatch, tenth):
    """Red with a traceback, several lines, a message without its place, or a plan that fails."""
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(ROWS)
    for number in range(tenth, NUMBER, 10):
        judged(number)


def run(config, folder):
    """Run the jobs of the first run of a plan."""
    plan = plans.make(config, "e")
    key, (first, *_) = next(iter(plan.batches.items()))
    content = first.to_json()
    data = datasets.load(content["data"], content["repeat"])
    done = Batch(folder, data, content["model"], content["repeat"]).fit()
    for name, recipe in plan.importances(key).items():
        done.explained(**recipe)
        (folder / "found.npz").rename(folder / f"{name}.npz")
    for recipe, files in plan.metrics(key).values():
        done.measured(files, **recipe)


def main():
    """Judge all, run what was accepted, and print counts; returns the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--number", type=int, default=NUMBER)
    number, counts = parser.parse_args().number, collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("rows.csv").write_text(ROWS)
        for i in range(number):
            refusal, config, label = judged(i)
            counts["refused" if refusal else "accepted"] += 1
            if refusal or HUGE in label:
                continue
            try:
                place = Path(folder, str(i))
                place.mkdir()
                with contextlib.redirect_stdout(io.StringIO()):
                    run(config, place)
                counts["accepted and run"] += 1
            except Exception as error:
                print(f"{i} {label} fails late: {type(error).__name__}: {error}")
                counts["failed late"] += 1
    print(f"{number} configurations: {dict(counts)}")
    return 1 if counts["failed late"] else 0


if __name__ == "__main__":
    sys.exit(main())
