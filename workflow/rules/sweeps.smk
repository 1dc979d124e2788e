# What `make sweep` adds to the tables of an experiment: all of them in one, and a figure.
rule sweep_tables:
    input:
        jobs.sweep_inputs,
    output:
        "results/experiments/{experiment}.csv",
    log:
        "results/logs/sweep_tables/{experiment}.log",
    benchmark:
        "results/timing/jobs/sweep_tables/{experiment}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=jobs.growing(2000),
        runtime=jobs.growing(10),
    params:
        key=jobs.sweep_table_key,
        metrics=jobs.sweep_metrics,
    message:
        "All metrics of {wildcards.experiment} as one table"
    shell:
        "python -m reproduction --threads {threads} sweep_tables --metrics {params.metrics:q}"
        " --tables {input:q} --out {output:q} > {log:q} 2>&1"


rule sweep_figures:
    input:
        style=jobs.style(),
        table=jobs.sweep_figure_table,
    output:
        svg="results/experiments/{experiment}/figure.svg",
        png="results/experiments/{experiment}/figure.png",
        pdf="results/experiments/{experiment}/figure.pdf",
    log:
        "results/logs/sweep_figures/{experiment}.log",
    benchmark:
        "results/timing/jobs/sweep_figures/{experiment}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=jobs.growing(2000),
        runtime=jobs.growing(10),
    params:
        key=jobs.sweep_figure_key,
        figure=jobs.sweep_figure,
    message:
        "Figure of {wildcards.experiment}"
    shell:
        "python -m reproduction --threads {threads} sweep_figures"
        " --experiment {wildcards.experiment:q} --table {input.table:q}"
        " --figure {params.figure:q} --out {output:q} > {log:q} 2>&1"
