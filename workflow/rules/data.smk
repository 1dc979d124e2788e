# Data sets, loaded or drawn: those of one batch in one file.
def data_sources(wildcards):
    names = {run.data["dataset"] for run in runs_of(wildcards)}
    return job("jobs.data", *(f"datasets.{name}" for name in sorted(names)))


rule data:
    input:
        sources=data_sources,
        plan="results/plans/{experiment}/{batch}.json",
    output:
        "results/data/{experiment}/{batch}.npz",
    log:
        "results/logs/data/{experiment}/{batch}.log",
    benchmark:
        "results/timing/jobs/data/{experiment}/{batch}.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    message:
        "Data sets of {wildcards.experiment}, batch {wildcards.batch}"
    conda:
        "../../environment.yml"
    shell:
        "python -m splitcredit --threads {threads} data --plan {input.plan:q}"
        " --out {output:q} > {log:q} 2>&1"
