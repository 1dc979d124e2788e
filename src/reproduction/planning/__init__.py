"""From configuration to jobs: what the rules of the workflow ask.

Snakemake reads this package whenever it reads the workflow, on every node of a cluster. So nothing
here loads data, fits a model or writes a file.
"""
