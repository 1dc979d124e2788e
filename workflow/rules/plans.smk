# Plans: the runs of each batch, and the points of each experiment. A batch is named after its runs, so
# its plan never changes.
localrules:
    plans,
    points,


rule plans:
    output:
        "results/plans/{experiment}/{batch}.json",
    log:
        "results/logs/plans/{experiment}/{batch}.log",
    benchmark:
        "results/timing/jobs/plans/{experiment}/{batch}.tsv"
    priority: priorities.of("results/logs/plans/{experiment}/{batch}.log")
    conda:
        "../../environment.yml"
    threads: 1
    params:
        runs=jobs.runs,
    message:
        "Plan of {wildcards.experiment}, batch {wildcards.batch}"
    shell:
        "python -m reproduction plans --runs {params.runs:q} --out {output:q} > {log:q} 2>&1"


rule points:
    input:
        jobs.plan_files,
    output:
        "results/points/{experiment}.json",
    log:
        "results/logs/points/{experiment}.log",
    benchmark:
        "results/timing/jobs/points/{experiment}.tsv"
    priority: priorities.of("results/logs/points/{experiment}.log")
    conda:
        "../../environment.yml"
    threads: 1
    params:
        key=jobs.points_key,
        definition=jobs.definition,
        plans=lambda wildcards, input: os.path.dirname(input[0]),
    message:
        "Points of {wildcards.experiment}"
    shell:
        "python -m reproduction points --experiment {wildcards.experiment:q}"
        " --definition {params.definition:q} --plans {params.plans:q} --out {output:q}"
        " > {log:q} 2>&1"
