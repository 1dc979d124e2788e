"""From configuration to jobs: what the rules of the workflow ask.

Snakemake reads this package whenever it reads the workflow, so nothing here imports more than the
standard library, PyYAML and jsonschema, and nothing writes a file but `plans.write`, in a job.
"""
