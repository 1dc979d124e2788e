# Plans: the points of an experiment, and the runs of each batch. Jobs that read a plan take it as
# ancient(): a batch is named after its runs, so what it holds never changes.
localrules:
    plans,


rule plans:
    output:
        # The batches that are there stay.
        update("results/plans/{experiment}.json"),
    log:
        "results/logs/plans/{experiment}.log",
    benchmark:
        "results/timing/jobs/plans/{experiment}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    params:
        key=jobs.key("reproduction.stages.plans"),
        definition=jobs.definition,
    message:
        "Plan of {wildcards.experiment}"
    shell:
        "python -m reproduction plans --experiment {wildcards.experiment:q}"
        " --definition {params.definition:q} --out {output:q} > {log:q} 2>&1"
