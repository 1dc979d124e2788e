# Tables and figures of the papers: results/{tables,figures}/PAPER/ARTEFACT.*
rule table:
    input:
        sources=W.table_sources,
        tables=W.artefact_inputs,
    output:
        "results/tables/{paper}/{artefact}.csv",
    log:
        "results/logs/table/{paper}/{artefact}.log",
    benchmark:
        "results/timing/jobs/table/{paper}/{artefact}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
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
        sources=W.figure_sources,
        style="src/splitcredit/figures/splitcredit.mplstyle",
        table="results/tables/{paper}/{artefact}.csv",
    output:
        svg="results/figures/{paper}/{artefact}.svg",
        png="results/figures/{paper}/{artefact}.png",
    log:
        "results/logs/figure/{paper}/{artefact}.log",
    benchmark:
        "results/timing/jobs/figure/{paper}/{artefact}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    message:
        "Figure {wildcards.paper}/{wildcards.artefact}"
    shell:
        "python -m splitcredit --threads {threads} figure"
        " --artefact {wildcards.paper}/{wildcards.artefact} --table {input.table:q}"
        " --svg {output.svg:q} --png {output.png:q} > {log:q} 2>&1"
