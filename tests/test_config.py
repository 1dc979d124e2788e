"""Configuration: every error is one line that names key, value and what is allowed."""

from pathlib import Path

import pytest
import yaml

from reproduction.planning import configuration as config

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"


def load(over):
    return config.load(over)


@pytest.mark.parametrize("preset", ["quick", "tiny"])
def test_presets_are_valid(preset):
    over = config.read_yaml(ROOT / "config" / "presets" / f"{preset}.yaml")
    assert load(over)["preset"] == preset
    assert load({})["preset"] == "full"


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"sed": 1}, r"^unknown key sed; allowed are artefacts, datasets"),
        ({"preset": "huge"}, r"preset: 'huge' is not allowed; allowed are tiny, quick, full"),
        ({"paper_scale": "yes"}, r"paper_scale: 'yes' is not allowed; expected boolean"),
        (
            {"models": {"m": {"estimator": "ExtraTrees"}}},
            r"models.m.estimator: unknown estimator 'ExtraTrees': available are Decision",
        ),
        (
            {"models": {"m": {"estimator": "ExtraTreesClassifier", "trees": 5}}},
            r"models.m.trees: ExtraTreesClassifier has no such parameter; allowed are bootstrap",
        ),
        (
            {"models": {"extra_trees": {"n_estimators": 0}}},
            r"models.extra_trees.n_estimators: 0 is not allowed; expected a whole number of",
        ),
        (
            {"models": {"extra_trees": {"n_estimators": "many"}}},
            r"n_estimators: 'many' is not allowed; expected a whole number of at least 1",
        ),
        (
            {"datasets": {"d": {"dataset": "mnist"}}},
            r"datasets.d.dataset: unknown dataset 'mnist': available are ad_data",
        ),
        (
            {"datasets": {"digits": {"row": 3}}},
            r"datasets.digits.row: digits has no such parameter; allowed are rows",
        ),
        (
            {"importances": {"x": {"importance": "shap"}}},
            r"importances.x.importance: unknown importance 'shap': available are air",
        ),
        (
            {"metrics": {"row_correlation": {"score": "signed"}}},
            r"metrics.row_correlation.score: row_correlation has no such parameter; allowed are",
        ),
        (
            {"experiments": {"sutera2021_local": {"metrics": ["nothing"]}}},
            r"experiments.sutera2021_local.metrics: 'nothing' is not in metrics; there are",
        ),
        (
            {"experiments": {"sutera2021_local": {"sweep": []}}},
            r"experiments.sutera2021_local.sweep: \[\] should be non-empty",
        ),
        (
            {"experiments": {"e": {"importances": ["saabas"], "metrics": ["row_correlation"]}}},
            r"experiments.e: 'sweep' is a required property; allowed are importances",
        ),
        (
            {"artefacts": {"sutera2021/table4": {"inputs": ["nowhere/row_correlation"]}}},
            r"artefacts.sutera2021/table4.inputs: 'nowhere' is not in experiments; there are",
        ),
        (
            {"artefacts": {"sutera2021/table9": {"title": "x", "figures": True}}},
            r"artefacts.sutera2021/table9: unknown key figures; allowed are datasets, inputs",
        ),
    ],
)
def test_errors_are_one_line_naming_key_value_and_what_is_allowed(over, message):
    with pytest.raises(config.ConfigError, match=message) as caught:
        load(over)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", r"duplicate key 'a' in lines 1 and 3: keep one of them"),
        ("m:\n  x: 1\n  x: 1\n", r"duplicate key 'x' in lines 2 and 3"),
        ("a: [1\n", r"not valid YAML in line 2"),
        ("- 1\n", r"expected keys and values at the top level"),
    ],
)
def test_bad_yaml_is_named_with_its_file_and_line(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(config.ConfigError, match=f"mine.yaml: {message}"):
        config.read_yaml(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(config.ConfigError, match=r"none.yaml: no such file or directory"):
        config.read_yaml(tmp_path / "none.yaml")


def test_merge_replaces_lists_and_keeps_the_rest():
    merged = config.merge({"a": {"b": [1, 2], "c": 3}}, {"a": {"b": [4]}})
    assert merged == {"a": {"b": [4], "c": 3}}


def test_every_key_of_the_schema_is_explained():
    text = (ROOT / "config" / "README.md").read_text()
    schema = yaml.safe_load(SCHEMA.read_text())["properties"]
    keys = set(schema) | set(schema["artefacts"]["additionalProperties"]["properties"])
    experiment = schema["experiments"]["additionalProperties"]["properties"]
    keys |= set(experiment) | set(experiment["sweep"]["items"]["properties"])
    for key in keys:
        assert f"`{key}" in text or f".{key}`" in text, key
