# Artefacts of the papers: a table, its figure, and the judgment of what the paper prints and states;
# `timing` is "timing/" for values that are times, whose jobs run alone, else empty.
rule artefacts:
    input:
        rules.kernels.output,
        metrics=jobs.artefact_inputs,
    output:
        table="results/{timing}tables/{artefact}.csv",
        svg=report(
            "results/{timing}figures/{artefact}.svg",
            caption="../report/figure.rst",
            category=lambda wildcards: wildcards.artefact.partition("/")[0],
            labels=jobs.labels,
        ),
        png="results/{timing}figures/{artefact}.png",
        pdf="results/{timing}figures/{artefact}.pdf",
        judgment="results/{timing}judgments/{artefact}.json",
    log:
        "results/logs/{timing}artefacts/{artefact}.log",
    benchmark:
        "results/timing/jobs/{timing}artefacts/{artefact}.tsv"
    wildcard_constraints:
        artefact=jobs.one_of("artefacts", drawn=True),
    conda:
        "../../environment.yml"
    threads: lambda wildcards: (workflow.cores or 1) if wildcards.timing else 1
    resources:
        mem_mb=growing(3000),
        runtime=growing(20),
    params:
        key=jobs.key("artefacts"),
        names=jobs.inputs,
        gathered=lambda wildcards: jobs.gathered(
            jobs.experiments_of(wildcards.artefact)
        ),
        parameters=jobs.artefact_parameters,
        judging=jobs.judging,
        figures=lambda wildcards, output: output[1:-1],
    message:
        "{wildcards.artefact}"
    shell:
        "python -m reproduction --threads {threads} --key {params.key} artefacts"
        " --artefact {wildcards.artefact} --names {params.names:q} --gathered {params.gathered:q}"
        " --parameters {params.parameters:q} --table {output.table:q}"
        " --kept results/kept/{wildcards.artefact}/{params.key}.csv"
        " --figures {params.figures:q} {params.judging:q} --out {output.judgment:q}"
        " > {log:q} 2>&1"


use rule artefacts as artefacts_without_figure with:
    output:
        table="results/{timing}tables/{artefact}.csv",
        judgment="results/{timing}judgments/{artefact}.json",
    wildcard_constraints:
        artefact=jobs.one_of("artefacts", drawn=False),
