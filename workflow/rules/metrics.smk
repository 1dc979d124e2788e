# Metrics of importances, models or data: all those of one batch.
rule metrics:
    input:
        rules.kernels.output,
        plan="results/plans/{experiment}/{batch}.json",
        data="results/data/{experiment}/{batch}.npz",
        importances=lambda wildcards: (
            "results/importances/{experiment}/{batch}"
            if jobs.importances(wildcards)
            else []
        ),
        models=lambda wildcards: (
            "results/models/{experiment}/{batch}.npz"
            if jobs.takes_forest(wildcards)
            else []
        ),
    output:
        directory("results/metrics/{experiment}/{batch}"),
    log:
        "results/logs/metrics/{experiment}/{batch}.log",
    benchmark:
        "results/timing/jobs/metrics/{experiment}/{batch}.tsv"
    priority: 2
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(30),
    params:
        key=jobs.key("metrics"),
        # As text, which keeps the order of the importances: that of the rows.
        recipes=lambda wildcards: pack(json.dumps(jobs.metrics(wildcards))),
    message:
        "Metrics of {wildcards.experiment}, batch {wildcards.batch}"
    shell:
        "python -m reproduction --threads {threads} metrics --plan {input.plan:q}"
        " --data {input.data:q} --models {input.models:q} --importances {input.importances:q}"
        " --recipes {params.recipes:q} --out {output:q} > {log:q} 2>&1"
