# A table for each metric of an experiment, with the swept parameters as columns.
rule experiments:
    input:
        plans=jobs.batches_of("results/plans/{e}/{b}.json"),
        metrics=jobs.batches_of("results/metrics/{e}/{b}"),
    output:
        directory("results/experiments/{experiment}"),
    log:
        "results/logs/experiments/{experiment}.log",
    benchmark:
        "results/timing/jobs/experiments/{experiment}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=jobs.growing(2000),
        runtime=jobs.growing(10),
    params:
        key=jobs.experiment_key,
        definition=jobs.definition,
        folder=lambda wildcards, input: os.path.dirname(input.metrics[0]),
    message:
        "Tables of {wildcards.experiment}"
    shell:
        "python -m reproduction --threads {threads} experiments"
        " --experiment {wildcards.experiment:q} --definition {params.definition:q}"
        " --plans {input.plans:q} --metrics {params.folder:q} --out {output:q} > {log:q} 2>&1"


# What `make sweep` adds: all metrics in one table, and a figure.
rule sweep_tables:
    input:
        rules.experiments.output,
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
        key=jobs.sweep_key,
        metrics=jobs.sweep_metrics,
    message:
        "All metrics of {wildcards.experiment} as one table"
    shell:
        "python -m reproduction --threads {threads} --key {params.key} sweep_tables"
        " --metrics {params.metrics:q} --tables {input:q} --out {output:q} > {log:q} 2>&1"


rule sweep_figures:
    input:
        rules.experiments.output,
    output:
        svg="results/experiments/{experiment}.svg",
        png="results/experiments/{experiment}.png",
        pdf="results/experiments/{experiment}.pdf",
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
        "python -m reproduction --threads {threads} --key {params.key} sweep_figures"
        " --experiment {wildcards.experiment:q} --tables {input:q}"
        " --figure {params.figure:q} --out {output:q} > {log:q} 2>&1"
