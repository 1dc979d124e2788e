# Converters are imported by name, where no reader of sources sees them.
LIBRARIES = ("sklearn", "xgboost", "lightgbm")


# Models, fitted and converted to Forests; deleted once all importances are computed.
rule fit:
    input:
        plan="results/plans/{experiment}/{batch}.json",
        data="results/data/{experiment}/{batch}.npz",
    output:
        temp("results/models/{experiment}/{batch}.npz"),
    log:
        "results/logs/fit/{experiment}/{batch}.log",
    benchmark:
        "results/timing/jobs/fit/{experiment}/{batch}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        sources=W.job("jobs.fit", *(f"convert.{library}" for library in LIBRARIES)),
    message:
        "Models of {wildcards.experiment}, batch {wildcards.batch}"
    shell:
        "python -m splitcredit --threads {threads} fit --plan {input.plan:q}"
        " --data {input.data:q} --out {output:q} > {log:q} 2>&1"
