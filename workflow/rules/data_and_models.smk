# Data sets, loaded or drawn, and models, fitted and converted to Forests: those of one batch. The plan
# says which runs are in it; models are deleted once nothing needs them.
rule data_and_models:
    output:
        plan="results/plans/{experiment}/{batch}.json",
        data="results/data/{experiment}/{batch}.npz",
        models=temp("results/models/{experiment}/{batch}.npz"),
    log:
        "results/logs/data_and_models/{experiment}/{batch}.log",
    benchmark:
        "results/timing/jobs/data_and_models/{experiment}/{batch}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(20),
    params:
        key=jobs.key("data_and_models"),
        runs=jobs.runs,
        unfitted=lambda wildcards: (
            ""
            if jobs.importances(wildcards) or jobs.takes_forest(wildcards)
            else "--unfitted"
        ),
    message:
        "Data and models of {wildcards.experiment}, batch {wildcards.batch}"
    shell:
        "python -m reproduction --threads {threads} data_and_models --runs {params.runs:q}"
        " {params.unfitted} --plan {output.plan:q} --data {output.data:q}"
        " --models {output.models:q} > {log:q} 2>&1"
