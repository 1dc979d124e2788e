"""How much work a job has, from its recipes alone: rows, trees, leaves, draws.

Work is an amount in units that the seconds are proportional to, by the name of the unit. What one
unit costs is measured, see `reproduction.planning.costs`; only the proportions stand here. Sizes
that depend on the data are replaced by the largest they can have: a tree has as many leaves as its
depth, or the rows, allow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reproduction.planning.places import REPRODUCTION
from reproduction.planning.signatures import parameters

# Rows and features of each data set: numbers, or the parameters of its `load` that set them.
SHAPES: dict[str, tuple[int | str, int | str]] = {
    "ad_data": (333, 129),
    "breast_cancer": (569, 30),
    "california_housing": (20433, 8),
    "digits": (1797, 64),
    "friedman": ("n_samples", "n_features"),
    "gene_modules": ("n_samples", "n_modules"),
    "iris": (150, 4),
    "led": (10, 7),
    "led_sampled": ("n_samples", 7),
    "mixed_categories": ("n_samples", 5),
    "noisy_features": ("n_samples", "n_features"),
    "parkinson": (5875, 17),
    "red_wine": (1599, 11),
    "titanic": (714, 4),
    "wine": (178, 13),
}
# Where `SHAPES` has only the rows that are fitted on: the parameter that says how many others are
# explained.
EXPLAINED = {"friedman": "n_test"}
# Displays that led can show: with noise all, without it one for each digit.
_DISPLAYS = (10, 128)
# Of a data set that nothing is known of.
UNKNOWN_SHAPE = (1000, 10)
# An exact gap takes about as long as so many samples.
EXACT = 2500
# Streams of noise that `sampling_error` draws.
STREAMS = 64
# With more features `pgi2_optimum` measures nothing.
MOST_FEATURES = 12


@dataclass(frozen=True)
class Size:
    """Sizes of one run.

    Parameters
    ----------
    rows : int
        That each model is fitted on.
    explained : int
    features : int
    fitted : int
        Trees that are grown, of all folds.
    trees : int
        Of the model that explains a row.
    leaves : float
        Of a tree, at most.
    tried : float
        Features that a split looks at.
    boosted : bool
        Whether a library for boosting grows the trees.
    """

    rows: int
    explained: int
    features: int
    fitted: int
    trees: int
    leaves: float
    tried: float
    boosted: bool = False

    @property
    def depth(self) -> float:
        """Of a balanced tree with these leaves."""
        return math.log2(max(self.leaves, 2))


def shape(recipe: dict) -> tuple[int, int, int]:
    """Rows that are fitted, rows that are explained, and features of a data recipe."""
    name = recipe["dataset"]
    if name == "standardized_split":
        rows, features = _shape(recipe.get("of", ""), {})
        test = math.ceil(recipe.get("test_share", 0.2) * rows)
        return rows - test, min(recipe.get("n_test") or test, test), features
    rows, features = _shape(name, recipe)
    rows = min(recipe.get("rows") or rows, rows)
    rows = max(1, round(recipe.get("share", 1) * rows))
    if name in EXPLAINED:
        parameter = EXPLAINED[name]
        return rows, recipe.get(parameter, _default(name, parameter)), features
    return rows, rows, features


def _shape(name, recipe):
    if name == "csv_file":
        return _lines(recipe["path"], recipe.get("separator", ","))
    rows, features = (
        recipe.get(entry, _default(name, entry)) if isinstance(entry, str) else entry
        for entry in SHAPES.get(name, UNKNOWN_SHAPE)
    )
    return rows, features


def _default(name, parameter):
    return parameters("dataset", name)[parameter].default


@cache
def _lines(path, separator):
    with open(Path(path).expanduser(), encoding="utf-8", errors="replace") as file:
        columns = file.readline().count(separator)
        return max(1, sum(1 for _ in file)), max(1, columns)


def size(data: dict, model: dict) -> Size:
    """Sizes of a run, from the recipes of its data and model."""
    rows, explained, features = shape(data)
    folds = model.get("folds") or 1
    rows = rows if folds == 1 else max(1, rows * (folds - 1) // folds)
    name = model["estimator"]
    trees = 1 if name.startswith("DecisionTree") else model.get("n_estimators") or 100
    rows_used = max(1, rows * (model.get("subsample") or 1))
    if data["dataset"] == "led_sampled":
        rows_used = min(rows_used, _DISPLAYS[data.get("noise", 0) > 0])
    leaves = min(_most_leaves(name, model), rows_used)
    boosted = name.startswith(("XGB", "LGBM"))
    tried = features if boosted else _tried(name, model, features)
    return Size(rows, explained, features, trees * folds, trees, leaves, tried, boosted)


def _most_leaves(name, model):
    depth = model.get("max_depth")
    if depth is None and name.startswith("XGB"):
        depth = 6
    by_depth = 2**depth if depth is not None and 0 < depth < 60 else math.inf
    parameter = "num_leaves" if name.startswith("LGBM") else "max_leaf_nodes"
    limit = model.get(parameter) or (31 if name.startswith("LGBM") else math.inf)
    return min(by_depth, limit)


def _tried(name, model, features):
    forest = name in ("RandomForestClassifier", "ExtraTreesClassifier")
    setting = model.get("max_features", "sqrt" if forest else None)
    if isinstance(setting, bool) or setting is None:
        return features
    if isinstance(setting, str):
        return max(1, (math.log2 if setting == "log2" else math.sqrt)(features))
    return setting if isinstance(setting, int) else max(1, setting * features)


def _fit(s, times=1):
    """Work of fits: nodes, and rows at each level; boosting fills bins of features at each node."""
    trees = times * s.fitted
    if s.boosted:
        bins = trees * s.leaves * s.features
        return {"bins": bins, "values": trees * s.rows * s.features * s.depth}
    rows = s.rows * math.log2(max(s.rows, 2))
    return {"nodes": trees * s.leaves, "values": trees * rows * s.tried}


def _paths(recipe, s):
    return {"steps": s.trees * _explained(recipe, s) * s.depth}


def _leaves(recipe, s):
    return {"leaves": s.trees * _explained(recipe, s) * s.leaves}


def _bags(recipe, s):
    return {"steps": s.trees * s.rows * s.depth}


def _trees(recipe, s):
    return {"nodes": s.trees * s.leaves}


def _explained(recipe, s):
    return min(recipe.get("n_rows") or s.explained, s.explained)


# Importance -> its work. Of one that is not here, every row visits every leaf.
_IMPORTANCES = {
    "local_mdi": _paths,
    "saabas": _paths,
    "saabas_xgboost": _paths,
    "local_mdi_treeinterpreter": _paths,
    "saabas_treeinterpreter": _paths,
    "mdi": _trees,
    "mdi_sklearn": _trees,
    "sage_importance": lambda recipe, s: {"trees": s.trees},
    "penalized_gini": _bags,
    "mdi_oob": _bags,
    "ufi": _bags,
    "oob_attributions": lambda recipe, s: {"leaves": s.trees * s.rows * s.leaves},
    "mda": lambda recipe, s: {"steps": s.trees * s.rows * s.depth * s.features},
    # Features and their shadows.
    "air": lambda recipe, s: _fit(s),
    "pg2_greedy": lambda recipe, s: {
        "leaves": s.explained * s.features**2 * s.trees * s.leaves,
    },
}


def _sampling_error(recipe, n, s):
    draws = 2 * max(recipe["counts"]) + EXACT
    steps = recipe["n_pairs"] * len(recipe["sigmas"]) * draws * s.trees * s.depth
    return {"steps": steps, **_noise(recipe, s)}


def _noise(recipe, s):
    """Numbers that a sampling method draws before it samples."""
    return {"noise": STREAMS * max(recipe["counts"]) * s.features}


def _pgi2(recipe, n, s):
    rows = _explained(recipe, s)
    return {"leaves": rows * n * len(recipe["sigmas"]) * s.features * s.trees * s.leaves}


def _pgi2_optimum(recipe, n, s):
    if s.features > MOST_FEATURES:
        return {"leaves": 0}
    sets = _explained(recipe, s) * len(recipe["sigmas"]) * 2**s.features
    return {"leaves": sets * s.trees * s.leaves}


def _pgi2_bound(recipe, n, s):
    sets = 2 ** min(recipe.get("searched", 12), s.features)
    rows = _explained(recipe, s) * len(recipe["sigmas"])
    return {"leaves": rows * (sets + n * s.features) * s.trees * s.leaves}


def _pgi_agreement(recipe, n, s):
    rows = min(recipe.get("n_rows") or 200, s.explained)
    draws = 2 * recipe.get("n_samples", 100) + EXACT
    pairs = rows * n * len(recipe["sigmas"]) * s.features
    return {"steps": pairs * draws * s.trees * s.depth}


def _randomized_error(recipe, n, s):
    draws = recipe.get("n_draws", 100)
    return {"steps": s.explained * n * len(recipe["ks"]) * draws * s.trees * s.depth}


def _removed_error(recipe, n, s):
    # Every row has a set of its own, until all sets of so many features are there.
    fits = sum(min(math.comb(s.features, k), n * s.explained) for k in recipe["ks"])
    return _fit(s, fits)


def _cross_validated_error(recipe, n, s):
    return _fit(s, recipe.get("n_folds", 5) * (recipe.get("n_shuffles") or 1))


def _clustering_r2(recipe, n, s):
    trees = len(recipe["linkages"]) * (n + 1 + len(recipe.get("random", ())))
    return {"pairs": trees * s.explained**2, "distances": trees * s.explained**2 * s.features}


def _values(recipe, n, s):
    return {"values": s.explained * s.features * max(1, n)}


# Metric -> its work, `n` being the number of importances that it reads.
_METRICS = {
    "sampling_error": _sampling_error,
    "pgi2": _pgi2,
    "pgi2_optimum": _pgi2_optimum,
    "pgi2_bound": _pgi2_bound,
    "pgi_agreement": _pgi_agreement,
    "randomized_error": _randomized_error,
    "removed_error": _removed_error,
    "cross_validated_error": _cross_validated_error,
    "clustering_r2": _clustering_r2,
    "class_correlation": lambda recipe, n, s: {"steps": s.trees * s.explained * s.depth},
    "subset_scores": lambda recipe, n, s: _fit(s),
    "model_card": lambda recipe, n, s: {"nodes": s.trees * s.leaves},
}


def of_model(s: Size) -> dict[str, float]:
    """Work of fitting the models of a run."""
    return _fit(s)


def of_importance(recipe: dict, s: Size) -> dict[str, float]:
    """Work of one importance of a run; other packages are given a model that is fitted anew."""
    name = recipe["importance"]
    work = _IMPORTANCES.get(name, _leaves)(recipe, s)
    refit = _fit(s) if name in _peers() else {}
    return work | {f"fitted {unit}": amount for unit, amount in refit.items()}


@cache
def _peers():
    return {path.stem for path in (REPRODUCTION / "peers").glob("*.py")}


def of_metric(recipe: dict, n: int, s: Size) -> dict[str, float]:
    """Work of one metric of a run that reads `n` importances."""
    return _METRICS.get(recipe["metric"], _values)(recipe, n, s)


# Artefact -> its work from its parameters, where presets change them; those of the code itself are
# given where no configuration sets them.
_ARTEFACTS = {
    "sutera2021/convergence": lambda p: (
        p["repeats"]
        * (sum(p["trees"]) + p["trees_of_rows"] * (len(p["rows"]) + sum(p["rows"]) / 1000))
    ),
    "sutera2021/costs": lambda p: p["trees"] * p["repeats"],
    "lundberg2017/speed": lambda p: p["trees"] * p["features"],
    "loecher2022/identities": lambda p: p["n_draws"],
    "gajewski2025/theorem1": lambda p: p["cases"] * p["draws"] + 1000 * sum(p["trees"]),
    "gajewski2025/equal_time": lambda p: p["n_pairs"] + 10 * p["timed_pairs"] * p["repeats"],
    "gajewski2025/timings": lambda p: p["repeats"] * p["pairs"] * sum(p["trees"]),
}


_DEFAULTS = {"loecher2022/identities": {"n_draws": 2_000_000}}


def of_artefact(name: str, given: dict) -> dict[str, float]:
    """Work of the table of an artefact, beside its start."""
    work = _ARTEFACTS.get(name)
    return {"work": float(work({**_DEFAULTS.get(name, {}), **given}))} if work else {}


def memory_of_model(s: Size) -> dict[str, float]:
    """Nodes of a run's forest, which is kept until the batch ends."""
    return {"nodes": s.fitted * s.leaves}


def peak_of_model(s: Size) -> dict[str, float]:
    """Nodes of the forest that is fitted or read."""
    return {"nodes at a time": s.trees * s.leaves}


def memory_of_importance(recipe: dict, s: Size) -> dict[str, float]:
    """Values of a run that are kept until the batch ends."""
    return {"values": _explained(recipe, s) * s.features}


def memory_of_metric(recipe: dict, n: int, s: Size) -> dict[str, float]:
    """Values of a run that are read before the first."""
    return {"values": s.explained * s.features * n}


def peak_of_metric(recipe: dict, s: Size) -> dict[str, float]:
    """Numbers that a run holds while it lasts."""
    if recipe["metric"] == "sampling_error":
        return _noise(recipe, s)
    return {}
