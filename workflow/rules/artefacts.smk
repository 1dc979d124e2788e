# Tables and figures of the papers: results/{tables,figures}/PAPER/ARTEFACT.*; `clock` is empty, or
# "timing/" for what depends on the clock, which runs alone.
rule table:
    input:
        ancient(W.table_compiled),
        files=W.table_files,
        tables=W.artefact_inputs,
    output:
        "results/{clock}tables/{paper}/{artefact}.csv",
    log:
        "results/logs/{clock}table/{paper}/{artefact}.log",
    benchmark:
        "results/timing/jobs/{clock}table/{paper}/{artefact}.tsv"
    conda:
        "../../environment.yml"
    threads: lambda wildcards: workflow.cores if wildcards.clock else 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        sources=W.table_sources,
        names=W.artefact_names,
        parameters=W.artefact_parameters,
    message:
        "Table of {wildcards.paper}/{wildcards.artefact}"
    shell:
        "python -m splitcredit --threads {threads} table"
        " --artefact {wildcards.paper}/{wildcards.artefact} --names {params.names:q}"
        " --inputs {input.tables:q} --parameters {params.parameters:q}"
        " --out {output:q} > {log:q} 2>&1"


rule figure:
    input:
        style="src/splitcredit/figures/splitcredit.mplstyle",
        table="results/{clock}tables/{paper}/{artefact}.csv",
    output:
        svg="results/{clock}figures/{paper}/{artefact}.svg",
        png="results/{clock}figures/{paper}/{artefact}.png",
    log:
        "results/logs/{clock}figure/{paper}/{artefact}.log",
    benchmark:
        "results/timing/jobs/{clock}figure/{paper}/{artefact}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        sources=W.figure_sources,
    message:
        "Figure {wildcards.paper}/{wildcards.artefact}"
    shell:
        "python -m splitcredit --threads {threads} figure"
        " --artefact {wildcards.paper}/{wildcards.artefact} --table {input.table:q}"
        " --svg {output.svg:q} --png {output.png:q} > {log:q} 2>&1"
