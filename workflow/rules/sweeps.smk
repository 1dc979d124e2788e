# What `make sweep` makes: all metrics of an experiment in one table, the swept parameters as columns, and a
# figure.
rule sweeps:
    input:
        lambda wildcards: jobs.tables_of([wildcards.experiment]),
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
        gathered=lambda wildcards: jobs.gathered([wildcards.experiment]),
        figure=lambda wildcards: jobs.figure(wildcards.experiment),
        figures=lambda wildcards, output: output[1:],
    message:
        "All metrics of {wildcards.experiment} as one table, and its figure"
    shell:
        "python -m reproduction --threads {threads} --key {params.key} sweeps"
        " --experiment {wildcards.experiment:q} --gathered {params.gathered:q}"
        " --figure {params.figure:q} --table {output.table:q} --figures {params.figures:q}"
        " > {log:q} 2>&1"


use rule sweeps as sweeps_without_figure with:
    output:
        table="results/experiments/{experiment}.csv",
    wildcard_constraints:
        experiment=jobs.one_of("experiments", drawn=False),
