# One table for each metric of an experiment, with the swept parameters as columns.
rule experiments:
    input:
        points="results/points/{experiment}.json",
        tables=jobs.metric_tables,
    output:
        "results/experiments/{experiment}/{metric}.csv",
    log:
        "results/logs/experiments/{experiment}/{metric}.log",
    benchmark:
        "results/timing/jobs/experiments/{experiment}/{metric}.tsv"
    priority: priorities.of("results/logs/experiments/{experiment}/{metric}.log")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=requests.memory(
            1000, "results/logs/experiments/{experiment}/{metric}.log"
        ),
        runtime=jobs.growing(5),
    params:
        key=jobs.experiment_key,
        directory=lambda wildcards, input: os.path.dirname(
            os.path.dirname(input.tables[0])
        ),
    message:
        "{wildcards.metric} of {wildcards.experiment} as one table"
    shell:
        "python -m reproduction --threads {threads} experiments --points {input.points:q}"
        " --metric {wildcards.metric:q} --directory {params.directory:q}"
        " --out {output:q} > {log:q} 2>&1"
