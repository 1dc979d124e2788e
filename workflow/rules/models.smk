# Models, fitted and converted to Forests; deleted once all importances are computed.
rule models:
    input:
        plan="results/plans/{experiment}/{batch}.json",
        data="results/data/{experiment}/{batch}.npz",
    output:
        temp("results/models/{experiment}/{batch}.npz"),
    log:
        "results/logs/models/{experiment}/{batch}.log",
    benchmark:
        "results/timing/jobs/models/{experiment}/{batch}.tsv"
    priority: priorities.of("results/logs/models/{experiment}/{batch}.log")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=requests.memory(3000, "results/logs/models/{experiment}/{batch}.log"),
        runtime=jobs.growing(10),
    params:
        key=jobs.model_key,
    message:
        "Models of {wildcards.experiment}, batch {wildcards.batch}"
    shell:
        "python -m reproduction --threads {threads} models --plan {input.plan:q}"
        " --data {input.data:q} --out {output:q} > {log:q} 2>&1"
