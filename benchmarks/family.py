"""A family of models that nobody tunes on: drawn anew by a seed, `make bench FAMILY=7`.

A member is a library, a kind of model, depth 2 to 14, a number of trees, 5 to 300 features, 1 to
12 classes and 300 to 30 000 rows to explain. Sizes are bounded so that ours takes a second at
most. All peers that explain such a model race, on few of the rows.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from race import Entrant, Race
from races import fasttreeshap, lightgbm, shap, shapiq, xgboost
from workloads import Workload

MEMBERS = 20
# Of scikit-learn, which is drawn as often as the two other libraries together.
KINDS = ["RandomForest", "ExtraTrees", "HistGradientBoosting", "GradientBoosting"]
# Rows that a model is trained on.
TRAINING = 3000
# Most (leaf, row, output) triples of one member; most numbers in its result (240 MB); most
# (tree, row, feature, depth) steps of its training.
WORK, NUMBERS, STEPS = 1.5e8, 3e7, 1e10
# (leaf, row, output) triples that a peer is given, and the fewest rows.
PEER_WORK, FEWEST = 3e6, 20
# WOODELF and FastTreeSHAP v2 make tables of all outcomes on a path.
DEEPEST_BY_TABLES = 6


def races(seed, *numbers) -> list[Race]:
    """The races of a seed, or some of them by number."""
    return [_race(seed, int(number)) for number in numbers or range(MEMBERS)]


def _race(seed, number):
    random = np.random.default_rng([int(seed), number])
    library = str(random.choice(["sklearn", "sklearn", "xgboost", "lightgbm"]))
    depth = int(random.integers(2, 15))
    n_features = _between(random, 5, 300)
    n_classes = int(random.choice([1, 2, int(random.integers(3, 13))]))
    n_trees, rows = _between(random, 10, 1000), _between(random, 300, 30_000)
    gaps = bool(library != "sklearn" and random.random() < 0.3)
    kind = str(random.choice(KINDS))
    boosted = library != "sklearn" or kind.endswith("Boosting")
    per_round = n_classes if boosted and n_classes > 2 else 1
    outputs = n_classes if not boosted and n_classes > 2 else 1
    leaves = min(2**depth, _most_leaves(library, kind, n_classes))
    rows = min(rows, int(NUMBERS / (n_features * n_classes)))
    room = WORK / (rows * leaves * outputs * per_round)
    steps = STEPS / (TRAINING * n_features * depth * per_round)
    n_trees = int(max(5, min(n_trees, room, steps)))
    leaves *= n_trees * outputs * per_round
    rows = max(300, min(rows, int(WORK / leaves)))
    parameters = {
        "sklearn": partial(_sklearn, kind),
        "xgboost": _xgboost,
        "lightgbm": _lightgbm,
    }[library](n_trees, depth, n_classes)
    name = parameters.get("estimator", library)
    target = f"{n_classes} classes" if n_classes > 1 else "regression"
    title = (
        f"family {seed}, {number}: {name}, {n_trees * per_round} trees, depth {depth}, "
        f"{n_features} features, {target}{', missing values' if gaps else ''}"
    )
    data = partial(_data, [int(seed), number], n_features, n_classes, gaps)
    workload = Workload(title, library, parameters, data, rows, shuffled=True)
    few = int(np.clip(PEER_WORK / leaves, min(FEWEST, rows), rows))
    entrants = _entrants(workload, few, several=n_classes > 2, shallow=depth <= DEEPEST_BY_TABLES)
    return Race(workload, entrants, rounds=2, threads=(1,), family=seed)


def _most_leaves(library, kind, n_classes):
    """Estimate of the leaves of a tree that grows as deep as it can."""
    if library == "lightgbm":
        return TRAINING / 40
    if library == "sklearn":
        return 31 if kind == "HistGradientBoosting" else TRAINING / (2 if n_classes == 1 else 5)
    return TRAINING / 8


def _between(random, low, high):
    """A whole number, its logarithm uniform."""
    return round(float(np.exp(random.uniform(np.log(low), np.log(high)))))


def _sklearn(kind, n_trees, depth, n_classes):
    name = f"{kind}{'Regressor' if n_classes == 1 else 'Classifier'}"
    if kind == "HistGradientBoosting":
        return {"estimator": name, "max_iter": n_trees, "max_depth": depth, "early_stopping": False}
    if kind == "GradientBoosting":
        return {"estimator": name, "n_estimators": n_trees, "max_depth": depth, "max_features": 0.3}
    return {
        "estimator": name,
        "n_estimators": n_trees,
        "max_depth": depth,
        "max_features": "sqrt" if n_classes > 1 else 0.3,
    }


def _objective(n_classes, one, two, many):
    objective = {1: one, 2: two}.get(n_classes, many)
    return {"objective": objective} | ({"num_class": n_classes} if n_classes > 2 else {})


def _xgboost(n_trees, depth, n_classes):
    kinds = "reg:squarederror", "binary:logistic", "multi:softprob"
    fixed = {"n_trees": n_trees, "max_depth": depth, "eta": 0.1, "max_bin": 64}
    return fixed | _objective(n_classes, *kinds)


def _lightgbm(n_trees, depth, n_classes):
    fixed = {"n_trees": n_trees, "max_depth": depth, "num_leaves": min(2**depth, 127)}
    kinds = "regression", "binary", "multiclass"
    return fixed | {"learning_rate": 0.1, "max_bin": 63} | _objective(n_classes, *kinds)


def _data(seed, n_features, n_classes, gaps):
    """Normal features, rounded to single precision; a third of them matters, with products."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((TRAINING, n_features)).astype(np.float32).astype(np.float64)
    weights = random.standard_normal((n_features, n_classes))
    weights *= random.random((n_features, 1)) < 1 / 3
    bent = np.where(X > 0, X, X[:, ::-1] * X)
    scores = bent @ weights + random.standard_normal((TRAINING, n_classes))
    if gaps:
        X[random.random(X.shape) < 0.1] = np.nan
    if n_classes == 1:
        return X, scores[:, 0]
    if n_classes == 2:
        return X, (scores[:, 0] > np.median(scores[:, 0])).astype(np.int64)
    return X, scores.argmax(axis=1)


def _entrants(workload, few, several, shallow) -> tuple[Entrant, ...]:
    """All peers that explain such a model, which are given few of the rows.

    Left out for several classes: FastTreeSHAP's fork, which fails or takes all trees for those of
    one output, and so does shap's C code with LightGBM. Shap hands these models over to LightGBM.
    """
    entered = [shapiq(few), shapiq(few, "kernel")]
    entered += [Entrant("woodelf")] if shallow else []
    if not (several and workload.library == "lightgbm"):
        entered.append(shap(few))
    if workload.library == "sklearn":
        if "Boosting" not in workload.parameters["estimator"]:
            entered.append(fasttreeshap(few))
        return tuple(entered)
    entered.append({"xgboost": xgboost, "lightgbm": lightgbm}[workload.library](few))
    # These are slower than others on forests of scikit-learn, or do not take them.
    if not several:
        variants = ("v1", "v2") if shallow else ("v1",)
        entered += [fasttreeshap(few, variant, fork=True) for variant in variants]
    return tuple(entered)


def worst(rows, most=10) -> list[dict]:
    """For each model the fastest peer that is right, end to end; the lowest ratios first."""
    lowest = {}
    for row in rows:
        timed = row.get("ratio") and (row["mode"], row["clock"]) == ("end to end", "cpu")
        if not timed or "not right" in row["note"]:
            continue
        before = lowest.setdefault(row["scope"], row)
        lowest[row["scope"]] = min(before, row, key=lambda candidate: float(candidate["ratio"]))
    return sorted(lowest.values(), key=lambda row: float(row["ratio"]))[:most]
