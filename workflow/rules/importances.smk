# Importances, by the numba core.
rule importances:
    input:
        jobs.importance_compiled,
        plan="results/plans/{experiment}/{batch}.json",
        models="results/models/{experiment}/{batch}.npz",
        data="results/data/{experiment}/{batch}.npz",
    output:
        "results/importances/{experiment}/{batch}/{importance}.npz",
    log:
        "results/logs/importances/{experiment}/{batch}/{importance}.log",
    benchmark:
        "results/timing/jobs/importances/{experiment}/{batch}/{importance}.tsv"
    priority: priorities.of("results/logs/importances/{experiment}/{batch}/{importance}.log")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=requests.memory(
            3000, "results/logs/importances/{experiment}/{batch}/{importance}.log"
        ),
        runtime=jobs.growing(20),
    params:
        key=jobs.importance_key,
        recipe=jobs.importance_recipe,
    message:
        "{wildcards.importance} of {wildcards.experiment}, batch {wildcards.batch}"
    shell:
        "python -m reproduction --threads {threads} importances --plan {input.plan:q}"
        " --models {input.models:q} --data {input.data:q} --recipe {params.recipe:q}"
        " --out {output:q} > {log:q} 2>&1"
