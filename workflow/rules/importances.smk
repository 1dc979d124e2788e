# Importances, by the numba core.


# Once, and not after edits: Snakemake would run all that waits for this anew. Jobs whose kernels were
# edited compile them.
rule warm_up:
    output:
        "results/logs/warm_up/{part}.txt",
    log:
        "results/logs/warm_up/{part}.log",
    benchmark:
        "results/timing/jobs/warm_up/{part}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    message:
        "Compiling the kernels: {wildcards.part}"
    shell:
        "python -m splitcredit --threads {threads} warm-up --part {wildcards.part}"
        " --out {output:q} > {log:q} 2>&1"


rule explain:
    input:
        # That the kernels are compiled matters, not when.
        ancient(W.importance_compiled),
        plan="results/plans/{experiment}/{batch}.json",
        models="results/models/{experiment}/{batch}.npz",
        data="results/data/{experiment}/{batch}.npz",
    output:
        "results/importances/{experiment}/{batch}/{importance}.npz",
    log:
        "results/logs/explain/{experiment}/{batch}/{importance}.log",
    benchmark:
        "results/timing/jobs/explain/{experiment}/{batch}/{importance}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        sources=W.importance_sources,
        recipe=W.importance_recipe,
    message:
        "{wildcards.importance} of {wildcards.experiment}, batch {wildcards.batch}"
    shell:
        "python -m splitcredit --threads {threads} explain --plan {input.plan:q}"
        " --models {input.models:q} --data {input.data:q} --recipe {params.recipe:q}"
        " --out {output:q} > {log:q} 2>&1"
