"""One row and ten rows, with the explainer built: every library, one output and many classes.

`splitcredit.TreeExplainer` is called as users call it, except that neither it nor any peer checks
additivity. End-to-end times begin with the library's model and end with the values. woodelf,
FastTreeSHAP v2 and its fork for boosters were tried. They are slower than the peers here, so they
have no race.
"""

from __future__ import annotations

from race import Entrant, Race
from workloads import FEW

LOOPS = {1: 100, 10: 20}
SHAP = Entrant("shap", label="shap, its C code")
SHAPIQ = (
    Entrant("shapiq", variant="public", label="shapiq explain_X"),
    Entrant("shapiq", variant="kernel", label="shapiq, its C++ kernel"),
)
OWN = {
    "xgboost": (Entrant("xgboost", label="xgboost pred_contribs"),),
    "lightgbm": (Entrant("lightgbm", label="lightgbm pred_contrib"),),
    "sklearn": (),
}
FASTTREESHAP = Entrant("fasttreeshap", "fasttreeshap", variant="v1", label="fasttreeshap v1")


def entrants(workload):
    """The peers that take the workload's model."""
    forest = workload.parameters.get("estimator", "").startswith(("RandomForest", "ExtraTrees"))
    # The C code of shap takes a LightGBM Booster of several classes for one of a single output.
    classes = workload.library == "lightgbm" and "num_class" in workload.parameters
    shap = () if classes else (SHAP,)
    return (*shap, *SHAPIQ, *OWN[workload.library], *([FASTTREESHAP] if forest else []))


RACES = {
    name: Race(
        name,
        entrants(workload),
        {"kernel": 1},
        measure="explainer",
        loops=LOOPS[workload.rows],
        threads=(1,),
    )
    for name, workload in FEW.items()
}


def benchmarks(*names):
    """The races named, or all."""
    return [RACES[name] for name in names or RACES]
