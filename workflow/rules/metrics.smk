# Metrics of importances, and their tables over whole experiments.
rule measure:
    input:
        ancient(W.metric_compiled),
        plan="results/plans/{experiment}/{batch}.json",
        data="results/data/{experiment}/{batch}.npz",
        importances=W.metric_inputs,
        models=W.metric_models,
    output:
        "results/metrics/{experiment}/{batch}/{metric}.csv",
    log:
        "results/logs/measure/{experiment}/{batch}/{metric}.log",
    benchmark:
        "results/timing/jobs/measure/{experiment}/{batch}/{metric}.tsv"
    # Some take minutes, and should not be what a run ends with.
    priority: 1
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        sources=W.metric_sources,
        recipe=W.metric_recipe,
        names=W.metric_names,
    message:
        "{wildcards.metric} of {wildcards.experiment}, batch {wildcards.batch}"
    shell:
        "python -m splitcredit --threads {threads} measure --plan {input.plan:q}"
        " --data {input.data:q} --models {input.models:q} --names {params.names:q}"
        " --importances {input.importances:q} --recipe {params.recipe:q} --out {output:q} > {log:q} 2>&1"


rule collect:
    input:
        points="results/plans/{experiment}.json",
        tables=W.metric_tables,
    output:
        "results/experiments/{experiment}/{metric}.csv",
    log:
        "results/logs/collect/{experiment}/{metric}.log",
    benchmark:
        "results/timing/jobs/collect/{experiment}/{metric}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        sources=W.job("jobs.collect"),
        directory="results/metrics/{experiment}",
    message:
        "{wildcards.metric} of {wildcards.experiment} as one table"
    shell:
        "python -m splitcredit --threads {threads} collect --points {input.points:q}"
        " --metric {wildcards.metric:q} --directory {params.directory:q}"
        " --out {output:q} > {log:q} 2>&1"
