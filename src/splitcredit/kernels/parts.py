"""The kernels that are compiled together: the name of each part, and the files that need it.

Files are paths in this folder without their suffix. Planning reads them without loading numba.
"""

# The longest first, so that processes that share them end at about the same time.
PARTS = {
    "tables": ("tree_shap/outcome_tables",),
    "sampling": ("prediction_gap/sampling",),
    "bags": ("walks/oob", "walks/mda", "tree_shap/oob"),
    "blocks": ("tree_shap/blocks", "tree_shap/rows"),
    "interventional": ("interventional/explain",),
    "interactions": ("interactions/explain",),
    "walks": ("walks/mdi", "walks/saabas", "walks/sage"),
    "gaps": (
        "prediction_gap/gap_forest",
        "prediction_gap/normal_tails",
        "prediction_gap/exact",
    ),
    "single": ("prediction_gap/single_precision",),
    "predict": ("walks/predict", "readers/lines", "readers/decimals", "readers/records"),
}
