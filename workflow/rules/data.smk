# Data sets, loaded or drawn: those of one batch in one file.
rule data:
    input:
        files=in_checkout(jobs.data_files),
        plan="results/plans/{experiment}/{batch}.json",
    output:
        "results/data/{experiment}/{batch}.npz",
    log:
        "results/logs/data/{experiment}/{batch}.log",
    benchmark:
        "results/timing/jobs/data/{experiment}/{batch}.tsv"
    priority: priorities.of("results/logs/data/{experiment}/{batch}.log")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=requests.memory(1000, "results/logs/data/{experiment}/{batch}.log"),
        runtime=jobs.growing(5),
    params:
        key=jobs.data_key,
    message:
        "Data sets of {wildcards.experiment}, batch {wildcards.batch}"
    shell:
        "python -m reproduction --threads {threads} data --plan {input.plan:q}"
        " --out {output:q} > {log:q} 2>&1"
