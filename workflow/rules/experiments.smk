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
    priority: 3
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        key=jobs.key("experiments"),
        definition=lambda wildcards: pack(jobs.definition(wildcards.experiment)),
        folder=lambda wildcards, input: os.path.dirname(input.metrics[0]),
    message:
        "Tables of {wildcards.experiment}"
    shell:
        "python -m reproduction --threads {threads} experiments"
        " --experiment {wildcards.experiment:q} --definition {params.definition:q}"
        " --plans {input.plans:q} --metrics {params.folder:q} --out {output:q} > {log:q} 2>&1"


# What `make sweep` adds: all metrics in one table, and a figure.
rule sweeps:
    input:
        rules.experiments.output,
    output:
        table="results/experiments/{experiment}.csv",
        svg="results/experiments/{experiment}.svg",
        png="results/experiments/{experiment}.png",
        pdf="results/experiments/{experiment}.pdf",
    log:
        "results/logs/sweeps/{experiment}.log",
    benchmark:
        "results/timing/jobs/sweeps/{experiment}.tsv"
    wildcard_constraints:
        experiment=jobs.one_of("experiments", drawn=True),
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        key=jobs.key("sweeps"),
        metrics=lambda wildcards: jobs.config["experiments"][wildcards.experiment][
            "metrics"
        ],
        figure=lambda wildcards: jobs.figure(wildcards.experiment),
        figures=lambda wildcards, output: output[1:],
    message:
        "All metrics of {wildcards.experiment} as one table, and its figure"
    shell:
        "python -m reproduction --threads {threads} --key {params.key} sweeps"
        " --experiment {wildcards.experiment:q} --tables {input:q} --metrics {params.metrics:q}"
        " --figure {params.figure:q} --table {output.table:q} --figures {params.figures:q}"
        " > {log:q} 2>&1"


use rule sweeps as sweeps_without_figure with:
    output:
        table="results/experiments/{experiment}.csv",
    wildcard_constraints:
        experiment=jobs.one_of("experiments", drawn=False),
