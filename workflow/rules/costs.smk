# What jobs cost, for `make plan`: fitted to the logs of this run, and to what was observed in runs of
# other presets in this directory. Only on demand: make costs PRESET=quick
rule costs:
    input:
        claims=rules.claims.output.table,
        timings=rules.timings.output,
        everything=jobs.everything(),
    output:
        observations=f"results/timing/observations/{jobs.config['preset']}.json",
        table="results/timing/costs.csv",
    log:
        "results/logs/costs.log",
    benchmark:
        "results/timing/jobs/costs.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=jobs.growing(1000),
        runtime=jobs.growing(10),
    params:
        key=jobs.key("reproduction.stages.costs"),
        configuration=jobs.packed,
    message:
        "What jobs cost"
    shell:
        "python -m reproduction --threads {threads} costs --configuration {params.configuration:q}"
        " --observations {output.observations:q} --out {output.table:q} > {log:q} 2>&1"
