"""Train a workload's model, and load it: in our process and in those of the peers alike.

Boosters travel as the library's own file. Scikit-learn has no such file (pickles do not outlive
a release), so each process grows the forest itself from the same rows, recipe and seed.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np


def train(folder) -> None:
    """Train the booster of a folder on one thread and save it; nothing for scikit-learn."""
    recipe, data = _read(folder)
    library = recipe.pop("library")
    if library == "xgboost":
        import xgboost

        rounds = recipe.pop("n_trees")
        matrix = xgboost.DMatrix(data["X"], data["y"])
        booster = xgboost.train({**recipe, "nthread": 1, "seed": 0}, matrix, rounds)
        booster.save_model(Path(folder) / "model.json")
    elif library == "lightgbm":
        import lightgbm

        rounds = recipe.pop("n_trees")
        fixed = {"num_threads": 1, "seed": 0, "deterministic": True, "verbose": -1}
        booster = lightgbm.train(
            {**recipe, **fixed}, lightgbm.Dataset(data["X"], data["y"]), rounds
        )
        booster.save_model(Path(folder) / "model.txt")


def load(folder):
    """The fitted model of a folder, as an object of its library."""
    recipe, data = _read(folder)
    library = recipe.pop("library")
    if library == "xgboost":
        import xgboost

        return xgboost.Booster(model_file=str(Path(folder) / "model.json"))
    if library == "lightgbm":
        import lightgbm

        return lightgbm.Booster(model_file=str(Path(folder) / "model.txt"))
    estimator = getattr(importlib.import_module("sklearn.ensemble"), recipe.pop("estimator"))
    return estimator(**recipe, random_state=0).fit(data["X"], data["y"])


def node_count(model) -> int | None:
    """Nodes of a forest that each process grows itself; None for one that was read from a file."""
    if not hasattr(model, "estimators_"):
        return None
    return int(sum(e.tree_.node_count for e in np.ravel(model.estimators_)))


def class_count(model) -> int:
    """Classes of a classifier; 1 of anything else."""
    if hasattr(model, "save_config"):
        learner = json.loads(model.save_config())["learner"]
        return int(learner["learner_model_param"]["num_class"])
    if hasattr(model, "num_model_per_iteration"):
        return model.num_model_per_iteration()
    return int(np.size(getattr(model, "classes_", 0)))


def _read(folder):
    folder = Path(folder)
    recipe = json.loads((folder / "recipe.json").read_text(encoding="utf-8"))
    return recipe, np.load(folder / "data.npz", allow_pickle=False)
