"""TreeSHAP and Saabas against every peer that installs.

Targets are for the fastest peer of each race, so they hold for all peers; those for shap are
higher. Left out, because they were tried and are slower than the peers here: woodelf on deep trees
(more than a minute for 20 rows of W1 and of W6, 5 s for W4), FastTreeSHAP v2 on scikit-learn's
forests. On W5 v2 takes no notice of missing values (attributions off by half), so v1 races there.

Left out, because its values are wrong: the package treeshap 0.1.2, in Rust. docs/benchmarks.md says
what was tried.
"""

from __future__ import annotations

from race import Entrant, Limit, Race
from workloads import FEW


def shap(rows):
    """Shap's own C code."""
    label = "shap, its C code"
    return Entrant("shap", rows=rows, label=label, most_threads=1, targets={"kernel": 25})


def shapiq(rows, variant="public", most_threads=2):
    """Shapiq's public call, or its compiled function."""
    label = "shapiq explain_X" if variant == "public" else "shapiq, its C++ kernel"
    return Entrant("shapiq", "current", rows, variant, label, most_threads)


def fasttreeshap(rows, variant="v1", fork=False):
    """FastTreeSHAP, the original for scikit-learn, the fork for boosters."""
    name = "fasttreeshap_fixed" if fork else "fasttreeshap"
    label = f"{name.replace('_', '-')} {variant}"
    return Entrant(name, name, rows, variant, label)


XGBOOST = Entrant("xgboost", label="xgboost pred_contribs")
BATCH = {"kernel": 8, "end to end": 6}
RACES = {
    "W1": Race(
        "W1",
        (fasttreeshap(50), shap(20), shapiq(10, most_threads=1)),
        {"kernel": 12, "end to end": 10},
    ),
    "W2": Race(
        "W2",
        (XGBOOST, fasttreeshap(500, "v2", fork=True), shap(50), shapiq(200)),
        BATCH,
    ),
    "W3": Race(
        "W3",
        (
            Entrant("woodelf"),
            XGBOOST,
            fasttreeshap(None, "v2", fork=True),
            shap(4000),
            shapiq(4000, most_threads=1),
            shapiq(4000, "kernel"),
        ),
        BATCH,
        rounds=5,
    ),
    "W4": Race("W4", (shapiq(500), fasttreeshap(300), shap(100)), BATCH),
    "W5": Race(
        "W5",
        (
            Entrant("lightgbm", rows=200, label="lightgbm pred_contrib"),
            fasttreeshap(300, fork=True),
            shap(100),
            shapiq(500),
            shapiq(500, "kernel"),
            Entrant("woodelf", most_threads=1),
        ),
        {"kernel": 6, "end to end": 6},
    ),
    "W6": Race(
        "W6",
        (shapiq(50), fasttreeshap(50), shap(20)),
        {"kernel": 6, "end to end": 6},
    ),
    "one": Race(
        "one",
        (XGBOOST, Entrant("shap", label="shap, its C code"), shapiq(None, "kernel")),
        {"kernel": 1},
        loops=20,
        threads=(1,),
    ),
    "interventional": Race(
        "W3",
        (
            Entrant("shap", rows=1000, targets={"kernel": 20, "end to end": 20}),
            Entrant("woodelf", label="woodelf"),
        ),
        {"kernel": 0.67, "end to end": 0.67},
        measure="tree_shap_interventional",
        background=100,
    ),
    "saabas W1": Race(
        "W1",
        (Entrant("treeinterpreter"),),
        {"kernel": 50},
        measure="saabas",
        threads=(1,),
    ),
    "saabas W2": Race(
        "W2",
        (Entrant("xgboost", label="xgboost approx_contribs"),),
        {"kernel": 2},
        measure="saabas",
    ),
    "interactions W3": Race(
        "W3",
        (
            Entrant("woodelf"),
            Entrant("xgboost", rows=1000, label="xgboost pred_interactions"),
            Entrant("shap", rows=200, label="shap, its C code"),
        ),
        {"kernel": 1},
        measure="interactions",
        threads=(1,),
    ),
    "interactions W4": Race(
        "W4",
        (Entrant("shap", rows=2, label="shap, its C code", targets={"kernel": 100}),),
        {"kernel": 100},
        measure="interactions",
        threads=(1,),
    ),
    "interactions W5": Race(
        "W5",
        (Entrant("shap", rows=2, label="shap, its C code", targets={"kernel": 100}),),
        {"kernel": 100},
        measure="interactions",
        threads=(1,),
    ),
    "interactions one": Race(
        "one",
        (
            Entrant("xgboost", label="xgboost pred_interactions"),
            Entrant("shap", label="shap, its C code"),
        ),
        {"kernel": 1},
        measure="interactions",
        threads=(1,),
    ),
    "anchor": Race(
        "anchor",
        (Entrant("xgboost", rows=100, label="xgboost pred_contribs"),),
        BATCH,
    ),
    "2017": Limit("anchor", "printed by the author of XGBoost's TreeSHAP in 2017", 1.0),
    "digits": Limit("digits", "our target", 30.0),
}


def few_rows(name):
    """One row or ten, by `splitcredit.TreeExplainer` as users call it, without additivity."""
    workload = FEW[name]
    estimator = workload.parameters.get("estimator", "")
    # The C code of shap takes a LightGBM Booster of several classes for one of a single output.
    classes = workload.library == "lightgbm" and "num_class" in workload.parameters
    entrants = [
        *([] if classes else [Entrant("shap", label="shap, its C code")]),
        Entrant("shapiq", variant="public", label="shapiq explain_X"),
        Entrant("shapiq", variant="kernel", label="shapiq, its C++ kernel"),
    ]
    if workload.library == "lightgbm":
        entrants.append(Entrant("lightgbm", label="lightgbm pred_contrib"))
    elif workload.library == "xgboost":
        entrants.append(XGBOOST)
    elif estimator.startswith(("RandomForest", "ExtraTrees")):
        entrants.append(fasttreeshap(None))
    return Race(
        name,
        tuple(entrants),
        {"kernel": 1},
        measure="explainer",
        loops={1: 100, 10: 20}[workload.rows],
        threads=(1,),
    )


RACES |= {name: few_rows(name) for name in FEW}


def benchmarks(*names):
    """The races named, or all."""
    return [RACES[name] for name in names or RACES]
