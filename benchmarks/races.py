"""The table of races: what is explained, by which entrants, in how many rounds.

Left out of TreeSHAP, because they were tried and are slower than the peers here: woodelf on deep
trees (more than a minute for 20 rows of W1 and of W6, 5 s for W4), FastTreeSHAP v2 on
scikit-learn's forests. On W5 v2 takes no notice of missing values (attributions off by half), so v1
races there.

Left out, because its values are wrong: the package treeshap 0.1.2, in Rust. docs/benchmarks.md says
what was tried.
"""

from __future__ import annotations

from functools import partial

import in_process
from race import Entrant, InProcess, Race
from workloads import FEW, WORKLOADS


def shap(rows=None, most_threads=2):
    """Shap's own C code."""
    return Entrant("shap", rows=rows, label="shap, its C code", most_threads=most_threads)


def shapiq(rows=None, variant="public", most_threads=2):
    """Shapiq's public call, or its compiled function."""
    label = "shapiq explain_X" if variant == "public" else "shapiq, its C++ kernel"
    return Entrant("shapiq", "current", rows, variant, label, most_threads)


def fasttreeshap(rows=None, variant="v1", fork=False):
    """FastTreeSHAP, the original for scikit-learn, the fork for boosters."""
    name = "fasttreeshap_fixed" if fork else "fasttreeshap"
    label = f"{name.replace('_', '-')} {variant}"
    return Entrant(name, name, rows, variant, label)


def xgboost(rows=None, call="pred_contribs"):
    """XGBoost's own values."""
    return Entrant("xgboost", rows=rows, label=f"xgboost {call}")


def lightgbm(rows=None):
    """LightGBM's own values."""
    return Entrant("lightgbm", rows=rows, label="lightgbm pred_contrib")


def few_rows(workload):
    """One row or ten, by `splitcredit.TreeExplainer` as users call it, without additivity."""
    # The C code of shap takes a LightGBM Booster of several classes for one of a single output.
    classes = workload.library == "lightgbm" and "num_class" in workload.parameters
    entrants = [*([] if classes else [shap()]), shapiq(), shapiq(variant="kernel")]
    if workload.library == "lightgbm":
        entrants.append(lightgbm())
    elif workload.library == "xgboost":
        entrants.append(xgboost())
    elif workload.parameters["estimator"].startswith("RandomForest"):
        entrants.append(fasttreeshap())
    loops = {1: 100, 10: 20}[workload.rows]
    return Race(workload, tuple(entrants), "explainer", loops=loops, threads=(1,))


def interactions(workload, *entrants):
    """All Shapley interaction values, on one thread."""
    return Race(WORKLOADS[workload], entrants, "interactions", threads=(1,))


TREE_SHAP = {
    "W1": (fasttreeshap(50), shap(20, 1), shapiq(10, most_threads=1)),
    "W2": (xgboost(), fasttreeshap(500, "v2", fork=True), shap(50, 1), shapiq(200)),
    "W3": (
        Entrant("woodelf"),
        xgboost(),
        fasttreeshap(None, "v2", fork=True),
        shap(4000, 1),
        shapiq(4000, most_threads=1),
        shapiq(4000, "kernel"),
    ),
    "W4": (shapiq(500), fasttreeshap(300), shap(100, 1)),
    "W5": (
        lightgbm(200),
        fasttreeshap(300, fork=True),
        shap(100, 1),
        shapiq(500),
        shapiq(500, "kernel"),
        Entrant("woodelf", most_threads=1),
    ),
    "W6": (shapiq(50), fasttreeshap(50), shap(20, 1)),
}
# By module and name, as `run.py` takes them.
RACES = {
    "sutera2021": {
        "K = 1": InProcess(partial(in_process.digits_forest, 1, shap_rows=8)),
        "K = 8": InProcess(partial(in_process.digits_forest, 8, shap_rows=24)),
        "K = 64": InProcess(partial(in_process.digits_forest, 64, shap_rows=40)),
        "SAGE on led": InProcess(in_process.sage_on_led),
        "SAGE on numbers": InProcess(in_process.sage_on_numbers),
    },
    "loecher2022": {"out of bag": InProcess(in_process.out_of_bag)},
    "partial dependence": {"boosting": InProcess(in_process.partial_dependence)},
    "gajewski2025": {"sampled PG2": InProcess(in_process.sampled_gap)},
    "tree_shap": {
        **{
            name: Race(WORKLOADS[name], entrants, rounds=5 if name == "W3" else 3)
            for name, entrants in TREE_SHAP.items()
        },
        "one": Race(
            WORKLOADS["one"],
            (xgboost(), shap(), shapiq(None, "kernel")),
            loops=20,
            threads=(1,),
        ),
        "interventional": Race(
            WORKLOADS["W3"],
            (Entrant("shap", rows=1000), Entrant("woodelf")),
            "tree_shap_interventional",
            background=100,
        ),
        "saabas W1": Race(WORKLOADS["W1"], (Entrant("treeinterpreter"),), "saabas", threads=(1,)),
        "saabas W2": Race(WORKLOADS["W2"], (xgboost(call="approx_contribs"),), "saabas"),
        "interactions W3": interactions(
            "W3", Entrant("woodelf"), xgboost(1000, "pred_interactions"), shap(200)
        ),
        "interactions W4": interactions("W4", shap(2)),
        "interactions W5": interactions("W5", shap(2)),
        "interactions one": interactions("one", xgboost(call="pred_interactions"), shap()),
        "anchor": Race(WORKLOADS["anchor"], (xgboost(100),)),
        **{name: few_rows(workload) for name, workload in FEW.items()},
    },
}
