# Importances, by the numba core: all those of one batch.
# Batches that are begun are ended first, so that few models lie on the disk at a time.
rule importances:
    input:
        rules.kernels.output,
        plan="results/plans/{experiment}/{batch}.json",
        data="results/data/{experiment}/{batch}.npz",
        models="results/models/{experiment}/{batch}.npz",
    output:
        directory("results/importances/{experiment}/{batch}"),
    log:
        "results/logs/importances/{experiment}/{batch}.log",
    benchmark:
        "results/timing/jobs/importances/{experiment}/{batch}.tsv"
    priority: 1
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        key=jobs.key("importances"),
        recipes=lambda wildcards: pack(jobs.importances(wildcards)),
    message:
        "Importances of {wildcards.experiment}, batch {wildcards.batch}"
    shell:
        "python -m reproduction --threads {threads} importances --plan {input.plan:q}"
        " --data {input.data:q} --models {input.models:q} --recipes {params.recipes:q}"
        " --out {output:q} > {log:q} 2>&1"
