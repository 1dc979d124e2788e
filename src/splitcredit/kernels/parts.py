"""What is compiled together: parts by name, and the kernels that need each.

Read where numba need not be loaded.
"""

# The longest first, so that processes that share them end at about the same time.
PARTS = {
    "patterns": ("tree_shap_patterns",),
    "sampling": ("prediction_gap_sampling",),
    "bags": ("oob", "mda", "saabas_by_bag", "tree_shap_by_bag"),
    "blocks": ("tree_shap_blocks", "tree_shap_rows"),
    "interventional": ("tree_shap_interventional",),
    "walks": ("mdi", "local_mdi", "saabas", "sage"),
    "gaps": ("prediction_gap", "prediction_gap_greedy"),
    "predict": ("predict",),
}
