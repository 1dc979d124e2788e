# One table for each metric of an experiment, with the swept parameters as columns.
rule experiments:
    input:
        plan=ancient("results/plans/{experiment}.json"),
        tables=jobs.metric_tables,
    output:
        "results/experiments/{experiment}/{metric}.csv",
    log:
        "results/logs/experiments/{experiment}/{metric}.log",
    benchmark:
        "results/timing/jobs/experiments/{experiment}/{metric}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        key=jobs.experiment_key,
        points=jobs.points,
        directory="results/metrics/{experiment}",
    message:
        "{wildcards.metric} of {wildcards.experiment} as one table"
    shell:
        "python -m reproduction --threads {threads} experiments --plan {input.plan:q}"
        " --metric {wildcards.metric:q} --directory {params.directory:q}"
        " --out {output:q} > {log:q} 2>&1"
