# Tables of the papers, and the points of their figures: results/tables/PAPER/ARTEFACT.csv; `timing` is
# "timing/" for values that are times, whose jobs run alone, else empty.
rule tables:
    input:
        jobs.table_compiled,
        files=in_checkout(jobs.table_files),
        tables=jobs.artefact_inputs,
    output:
        "results/{timing}tables/{paper}/{artefact}.csv",
    log:
        "results/logs/{timing}tables/{paper}/{artefact}.log",
    benchmark:
        "results/timing/jobs/{timing}tables/{paper}/{artefact}.tsv"
    priority: priorities.of("results/logs/{timing}tables/{paper}/{artefact}.log")
    conda:
        "../../environment.yml"
    threads: lambda wildcards: workflow.cores if wildcards.timing else 1
    resources:
        mem_mb=jobs.growing(3000),
        runtime=jobs.growing(20),
    params:
        key=jobs.table_key,
        names=jobs.artefact_names,
        parameters=jobs.artefact_parameters,
    message:
        "Table of {wildcards.paper}/{wildcards.artefact}"
    shell:
        "python -m reproduction --threads {threads} tables"
        " --artefact {wildcards.paper}/{wildcards.artefact} --names {params.names:q}"
        " --inputs {input.tables:q} --parameters {params.parameters:q}"
        " --out {output:q} > {log:q} 2>&1"
