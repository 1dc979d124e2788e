"""A family of models that nobody tunes on: drawn anew by a seed, `make bench FAMILY=7`.

A member is a library, a kind of model, depth 2 to 16, a number of trees, 5 to 500 features, 1 to
20 classes and 100 to 100 000 rows to explain. Sizes are bounded so that ours takes a second at
most. All peers that explain such a model race, on few of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from race import Entrant, Race
from workloads import WORKLOADS, Workload

MEMBERS = 20
# Rows that a model is trained on.
TRAINING = 3000
# Most (leaf, row, output) triples of one member; most numbers in its result (240 MB); most
# (tree, row, feature, depth) steps of its training.
WORK, NUMBERS, STEPS = 1.5e8, 3e7, 1e10
# (leaf, row, output) triples that a peer is given, and the fewest rows.
PEER_WORK, FEWEST = 3e6, 20
# WOODELF and FastTreeSHAP v2 make tables of all outcomes on a path.
DEEPEST_BY_TABLES = 6
# A peer whose values are further from ours, relative to the largest, is not right. Values in single
# precision (XGBoost, WOODELF) are off by 1e-6 to 1e-5, wrong ones by 1e-1.
RIGHT = 1e-3


@dataclass(frozen=True)
class Member(Workload):
    """One model of the family, and rows of their own to explain.

    Parameters
    ----------
    leaves : float
        Estimate of the leaves of the forest, times the outputs that vary in each tree.
    deep : int
        Depth that the trees may have.
    n_classes : int
        1 for a regression.
    """

    leaves: float = 0.0
    deep: int = 0
    n_classes: int = 1

    def rows_to_explain(self, X):
        """Rows drawn from the training rows, each feature for itself."""
        random = np.random.default_rng(self.rows)
        picked = random.integers(0, len(X), (self.rows, X.shape[1]))
        return np.take_along_axis(X, picked, axis=0)


def members(seed) -> list[Member]:
    """The models of one seed."""
    return [
        _member(np.random.default_rng([seed, number]), seed, number) for number in range(MEMBERS)
    ]


def _member(random, seed, number):
    library = str(random.choice(["sklearn", "xgboost", "lightgbm"]))
    depth = int(random.integers(2, 17))
    n_features = _between(random, 5, 500)
    n_classes = int(random.choice([1, 2, int(random.integers(3, 21))]))
    n_trees, rows = _between(random, 10, 1000), _between(random, 100, 100_000)
    gaps = bool(library != "sklearn" and random.random() < 0.3)
    kind = str(random.choice(["RandomForest", "ExtraTrees", "HistGradientBoosting"]))
    boosted = library != "sklearn" or kind == "HistGradientBoosting"
    per_round = n_classes if boosted and n_classes > 2 else 1
    outputs = n_classes if not boosted and n_classes > 2 else 1
    leaves = min(2**depth, _most_leaves(library, kind, n_classes))
    rows = min(rows, int(NUMBERS / (n_features * n_classes)))
    room = WORK / (rows * leaves * outputs * per_round)
    steps = STEPS / (TRAINING * n_features * depth * per_round)
    n_trees = int(max(5, min(n_trees, room, steps)))
    leaves *= n_trees * outputs * per_round
    rows = max(100, min(rows, int(WORK / leaves)))
    parameters = {
        "sklearn": lambda: _sklearn(kind, n_trees, depth, n_classes),
        "xgboost": lambda: _xgboost(n_trees, depth, n_classes),
        "lightgbm": lambda: _lightgbm(n_trees, depth, n_classes),
    }[library]()
    name = parameters["estimator"] if library == "sklearn" else library
    target = f"{n_classes} classes" if n_classes > 1 else "regression"
    title = (
        f"family {seed}, {number}: {name}, {n_trees * per_round} trees, depth {depth}, "
        f"{n_features} features, {target}{', missing values' if gaps else ''}"
    )
    data = _data([seed, number], n_features, n_classes, gaps)
    return Member(title, library, parameters, data, rows, leaves, depth, n_classes)


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

    def draw():
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

    return draw


def entrants(member) -> tuple[Entrant, ...]:
    """All peers that explain such a model, and how many rows each is given.

    Left out for several classes: FastTreeSHAP's fork, which fails or takes all trees for those of
    one output, and so does shap's C code with LightGBM. Shap hands these models over to LightGBM.
    """
    n_rows = int(np.clip(PEER_WORK / member.leaves, min(FEWEST, member.rows), member.rows))
    histograms = member.parameters.get("estimator", "").startswith("Hist")
    several = member.n_classes > 2
    entered = [
        Entrant("shapiq", rows=n_rows, label="shapiq explain_X", variant="public"),
        Entrant("shapiq", rows=n_rows, label="shapiq, its C++ kernel", variant="kernel"),
    ]
    if not (several and member.library == "lightgbm"):
        entered.append(Entrant("shap", rows=n_rows, label="shap, its C code"))
    own_method = {"xgboost": "pred_contribs", "lightgbm": "pred_contrib"}
    if member.library in own_method:
        label = f"{member.library} {own_method[member.library]}"
        entered.append(Entrant(member.library, rows=n_rows, label=label))
    elif not histograms:
        entered.append(Entrant("fasttreeshap", "fasttreeshap", n_rows, "v1", "fasttreeshap v1"))
    if member.library in own_method and not several:
        entered += _boosters_only(member, n_rows)
    return tuple(entered)


def _boosters_only(member, few):
    """Peers that are slower than others on forests of scikit-learn, or do not take them."""
    name, shallow = "fasttreeshap_fixed", member.deep <= DEEPEST_BY_TABLES
    variants = ("v1", "v2") if shallow else ("v1",)
    entered = [Entrant(name, name, few, v, f"fasttreeshap-fixed {v}") for v in variants]
    return entered + ([Entrant("woodelf", label="woodelf")] if shallow else [])


@dataclass(frozen=True)
class FamilyRace(Race):
    """The race of one member.

    Parameters
    ----------
    seed : str
        Of the family, for the table.
    """

    seed: str = ""

    def run(self, peers=None) -> list[dict]:
        """All rows of the table; a peer that is not right is marked so."""
        rows = super().run(peers)
        for row in rows:
            row["family"] = self.seed
            if row.get("difference") and not float(row["difference"]) <= RIGHT:
                row["note"] = "; ".join(filter(None, (row["note"], "not right")))
        return rows


def benchmarks(seed, *numbers):
    """The races of a seed, or some of them by number; the peers stay from one to the next."""
    models = members(int(seed))
    wanted = [int(number) for number in numbers] or range(len(models))
    races = []
    for number in wanted:
        name = f"family {seed}, {number}"
        WORKLOADS[name] = models[number]
        targets = {"kernel": 15, "end to end": 15}
        races.append(
            FamilyRace(name, entrants(models[number]), targets, rounds=2, threads=(1,), seed=seed)
        )
    return races


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
