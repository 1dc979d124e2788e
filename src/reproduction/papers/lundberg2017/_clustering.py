"""What figures 3 and 4 share: names of the data sets and of what is clustered.

The paper's data (518 participants, 200 gene modules, CERAD score) are not open: see
`reproduction.datasets.gene_modules` and `reproduction.datasets.ad_data`.
"""

from __future__ import annotations

from reproduction.figures import COLORS

DATASETS = {
    "gene_modules": "Simulated gene modules, ordinal score",
    "ad_data": "Proteins (Craig-Schapiro et al. 2011), impaired or not",
}
# As the paper calls them: name, color, line.
CLUSTERED = {
    "tree_shap": ("SHAP", COLORS["vermilion"], "-"),
    "saabas": ("path (Saabas)", COLORS["blue"], "-"),
    "local_mdi": ("local MDI", COLORS["green"], "-"),
    "unsupervised": ("unsupervised", COLORS["black"], "-"),
    "random_features": ("random features", "0.55", "--"),
    "random_labels": ("random labels", "0.55", ":"),
}


def datasets_of(table) -> list[str]:
    """The data sets of a table, those that are known first."""
    present = table["dataset"].unique().tolist()
    return [d for d in DATASETS if d in present] + [d for d in present if d not in DATASETS]
