# The whole workflow is workflow/Snakefile. A file that only includes another has no default
# target (Snakemake drops it), so the front needs a rule of its own.
include: "workflow/Snakefile"


rule reproduce:
    default_target: True
    input:
        rules.all.input,
