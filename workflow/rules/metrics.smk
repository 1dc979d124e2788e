# Metrics of importances, and their tables over whole experiments.
def metric_recipe(wildcards):
    return json.dumps(PLANS[wildcards.experiment].metric(wildcards.metric)[0])


def metric_sources(wildcards):
    recipe, _ = PLANS[wildcards.experiment].metric(wildcards.metric)
    return job("jobs.measure", f"metrics.{recipe['metric']}")


def metric_names(wildcards):
    return list(PLANS[wildcards.experiment].metric(wildcards.metric)[1])


def metric_inputs(wildcards):
    files = PLANS[wildcards.experiment].metric(wildcards.metric)[1].values()
    folder = f"results/importances/{wildcards.experiment}/{wildcards.batch}"
    return [f"{folder}/{file}.npz" for file in files]


def metric_tables(wildcards):
    pairs = PLANS[wildcards.experiment].metric_files(wildcards.metric)
    folder = f"results/metrics/{wildcards.experiment}"
    return [f"{folder}/{batch}/{file}.csv" for batch, file in pairs]


rule measure:
    input:
        sources=metric_sources,
        plan="results/plans/{experiment}/{batch}.json",
        importances=metric_inputs,
    output:
        "results/metrics/{experiment}/{batch}/{metric}.csv",
    params:
        recipe=metric_recipe,
        names=metric_names,
    log:
        "results/logs/measure/{experiment}/{batch}/{metric}.log",
    benchmark:
        "results/timing/jobs/measure/{experiment}/{batch}/{metric}.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    message:
        "{wildcards.metric} of {wildcards.experiment}, batch {wildcards.batch}"
    conda:
        "../../environment.yml"
    shell:
        "python -m splitcredit --threads {threads} measure --plan {input.plan:q}"
        " --names {params.names:q} --importances {input.importances:q}"
        " --recipe {params.recipe:q} --out {output:q} > {log:q} 2>&1"


rule collect:
    input:
        sources=job("jobs.collect"),
        points="results/plans/{experiment}.json",
        tables=metric_tables,
    output:
        "results/experiments/{experiment}/{metric}.csv",
    params:
        directory="results/metrics/{experiment}",
    log:
        "results/logs/collect/{experiment}/{metric}.log",
    benchmark:
        "results/timing/jobs/collect/{experiment}/{metric}.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    message:
        "{wildcards.metric} of {wildcards.experiment} as one table"
    conda:
        "../../environment.yml"
    shell:
        "python -m splitcredit --threads {threads} collect --points {input.points:q}"
        " --metric {wildcards.metric:q} --directory {params.directory:q}"
        " --out {output:q} > {log:q} 2>&1"
