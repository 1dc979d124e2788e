"""Shared by the artefacts: data sets, models, rankings, and the iterations that Table 1 prints."""

from functools import cache
from pathlib import Path

import yaml

from reproduction.papers import printed

DATASETS = {
    "red_wine": "Red wine",
    "california_housing": "California housing",
    "parkinson": "Parkinson telemonitoring",
}
N_FEATURES = {"red_wine": 11, "california_housing": 8, "parkinson": 17}
MODELS = {"single": "single tree", "bigger": "bigger model"}
SIGMAS = (0.1, 0.3, 1.0)
SHAP = "shap"
GREEDY = {sigma: f"greedy_sigma{sigma}" for sigma in SIGMAS}
METHODS = {"mc": "Monte Carlo", "halton": "quasi-Monte Carlo"}
# Names of the methods in the printed cells.
PRINTED_METHODS = {"mc": "mc", "halton": "qmc"}
PUBLISHED, SAVED, DESCRIBED = "published", "saved_models", "described"
# What a measured quantity can be: a share; an error, a ratio or a power; and an NMAE, as the mean
# of |a - E a| is at most twice that of a quantity a that is not negative.
SHARE, NOT_NEGATIVE, NMAE = (0, 1), (0, None), (0, 2)

_CONFIG = Path(__file__).resolve().parents[4] / "config"


def counts(n) -> tuple[int, int]:
    """What a number of exceptions among n can be."""
    return 0, int(n)


@cache
def printed_iterations() -> dict[tuple, int]:
    """Iterations that Table 1 prints, by data set, model, sigma and method; in print's order."""
    methods = {f"{name}_iterations": method for method, name in PRINTED_METHODS.items()}
    iterations = {}
    for cell, text in printed("gajewski2025", "table1"):
        if cell["quantity"] in methods:
            key = cell["dataset"], cell["model"], float(cell["sigma"]), methods[cell["quantity"]]
            iterations[key] = int(text)
    return iterations


def recipe_of(dataset: str, model: str, variant: str = PUBLISHED) -> dict:
    """Recipe of a model, as the experiments have it, for `reproduction.models.fit`."""
    base, experiment = _read("config.yaml"), _read("experiments/gajewski2025_sampling.yaml")
    for block in experiment["sweep"]:
        axes = block.get("zip") or block["grid"]
        names = axes["data"] if isinstance(axes["data"], list) else [axes["data"]]
        if (axes["variant"], axes["model"]) == (variant, model) and dataset in names:
            of_dataset = names.index(dataset)
            axes = {k: v[of_dataset] if isinstance(v, list) else v for k, v in axes.items()}
            axes |= experiment["variants"][variant]
            swept = {k: v for k, v in axes.items() if k.startswith("model.")}
            swept = {k.removeprefix("model."): v for k, v in swept.items()}
            return base["models"][model] | swept
    raise ValueError(f"gajewski2025_sampling has no {variant} {model} model")


@cache
def _read(name):
    return yaml.safe_load((_CONFIG / name).read_text(encoding="utf-8"))
