"""From configuration to jobs: what the Snakefile needs to know, and the jobs themselves."""
