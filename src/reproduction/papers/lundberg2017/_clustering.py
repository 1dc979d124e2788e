"""Shared by figures 3 and 4: names of the data sets and of the clustered attributions.

The paper's data (518 participants, 200 gene modules, CERAD score) are not open: see
`reproduction.datasets.gene_modules` and `reproduction.datasets.ad_data`.
"""

from reproduction.figures import COLORS

# Titles of the data sets in the pictures; `STAND_IN` is the note below the pictures.
DATASETS = {
    "gene_modules": "Stand-in 1: simulated gene modules, ordinal score",
    "ad_data": "Stand-in 2: spinal-fluid proteins, impaired or not",
}
STAND_IN = (
    "Both data sets stand in for the paper's 518 participants (gene modules, CERAD score), whose "
    "data are not open.\nGene modules: simulated by rules of our own. "
    "Proteins: 333 people, Craig-Schapiro et al. 2011."
)
# Name in the paper, color and line of each clustering.
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
