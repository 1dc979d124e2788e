# Metrics of importances, models or data: all those of one batch.
rule metrics:
    input:
        rules.kernels.output,
        plan="results/plans/{experiment}/{batch}.json",
        data="results/data/{experiment}/{batch}.npz",
        importances=jobs.metric_importances,
        models=jobs.metric_models,
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
        mem_mb=jobs.growing(3000),
        runtime=jobs.growing(30),
    params:
        key=jobs.metric_key,
        recipes=jobs.packed_metrics,
    message:
        "Metrics of {wildcards.experiment}, batch {wildcards.batch}"
    shell:
        "python -m reproduction --threads {threads} metrics --plan {input.plan:q}"
        " --data {input.data:q} --models {input.models:q} --importances {input.importances:q}"
        " --recipes {params.recipes:q} --out {output:q} > {log:q} 2>&1"
