# Figures of the papers, drawn from their tables.
rule figures:
    input:
        style=local(jobs.style()),
        table="results/{timing}tables/{paper}/{artefact}.csv",
    output:
        svg=report(
            "results/{timing}figures/{paper}/{artefact}.svg",
            caption="../report/figure.rst",
            category="{paper}",
            labels=jobs.labels,
        ),
        png="results/{timing}figures/{paper}/{artefact}.png",
        pdf="results/{timing}figures/{paper}/{artefact}.pdf",
    log:
        "results/logs/{timing}figures/{paper}/{artefact}.log",
    benchmark:
        "results/timing/jobs/{timing}figures/{paper}/{artefact}.tsv"
    priority: priorities.of("results/logs/{timing}figures/{paper}/{artefact}.log")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=jobs.growing(1000),
        runtime=jobs.growing(5),
    params:
        key=jobs.figure_key,
    message:
        "Figure {wildcards.paper}/{wildcards.artefact}"
    shell:
        "python -m reproduction --threads {threads} figures"
        " --artefact {wildcards.paper}/{wildcards.artefact} --table {input.table:q}"
        " --out {output:q} > {log:q} 2>&1"
