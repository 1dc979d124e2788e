# Metrics of importances, models or data, by batch.
rule metrics:
    input:
        jobs.metric_compiled,
        plan="results/plans/{experiment}/{batch}.json",
        data="results/data/{experiment}/{batch}.npz",
        importances=jobs.metric_inputs,
        models=jobs.metric_models,
    output:
        "results/metrics/{experiment}/{batch}/{metric}.csv",
    log:
        "results/logs/metrics/{experiment}/{batch}/{metric}.log",
    benchmark:
        "results/timing/jobs/metrics/{experiment}/{batch}/{metric}.tsv"
    priority: priorities.of("results/logs/metrics/{experiment}/{batch}/{metric}.log")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=requests.memory(
            3000, "results/logs/metrics/{experiment}/{batch}/{metric}.log"
        ),
        runtime=jobs.growing(10),
    params:
        key=jobs.metric_key,
        recipe=jobs.metric_recipe,
        names=jobs.metric_names,
    message:
        "{wildcards.metric} of {wildcards.experiment}, batch {wildcards.batch}"
    shell:
        "python -m reproduction --threads {threads} metrics --plan {input.plan:q}"
        " --data {input.data:q} --models {input.models:q} --names {params.names:q}"
        " --importances {input.importances:q} --recipe {params.recipe:q} --out {output:q} > {log:q} 2>&1"
