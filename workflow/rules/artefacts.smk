# Tables and figures of the papers: results/{tables,figures}/PAPER/ARTEFACT.*
def artefact_inputs(wildcards):
    names = ARTEFACTS[f"{wildcards.paper}/{wildcards.artefact}"].get("inputs", [])
    return [f"results/experiments/{name}.csv" for name in names]


def artefact_names(wildcards):
    return ARTEFACTS[f"{wildcards.paper}/{wildcards.artefact}"].get("inputs", [])


def artefact_parameters(wildcards):
    wanted = ARTEFACTS[f"{wildcards.paper}/{wildcards.artefact}"].get("datasets")
    recipes = {name: CONFIG["datasets"][name] for name in wanted or []}
    return json.dumps({"recipes": recipes} if recipes else {})


def artefact_sources(stage):
    def files(wildcards):
        modules = [f"papers.{wildcards.paper}.{wildcards.artefact}"]
        wanted = ARTEFACTS[f"{wildcards.paper}/{wildcards.artefact}"].get("datasets", [])
        modules += [f"datasets.{CONFIG['datasets'][name]['dataset']}" for name in wanted]
        return job(f"jobs.{stage}", *modules)

    return files


rule table:
    input:
        sources=artefact_sources("table"),
        tables=artefact_inputs,
    output:
        "results/tables/{paper}/{artefact}.csv",
    params:
        names=artefact_names,
        parameters=artefact_parameters,
    log:
        "results/logs/table/{paper}/{artefact}.log",
    benchmark:
        "results/timing/jobs/table/{paper}/{artefact}.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    message:
        "Table of {wildcards.paper}/{wildcards.artefact}"
    conda:
        "../../environment.yml"
    shell:
        "python -m splitcredit --threads {threads} table"
        " --artefact {wildcards.paper}/{wildcards.artefact} --names {params.names:q}"
        " --inputs {input.tables:q} --parameters {params.parameters:q}"
        " --out {output:q} > {log:q} 2>&1"


rule figure:
    input:
        sources=artefact_sources("figure"),
        style="src/splitcredit/figures/splitcredit.mplstyle",
        table="results/tables/{paper}/{artefact}.csv",
    output:
        svg="results/figures/{paper}/{artefact}.svg",
        png="results/figures/{paper}/{artefact}.png",
    log:
        "results/logs/figure/{paper}/{artefact}.log",
    benchmark:
        "results/timing/jobs/figure/{paper}/{artefact}.tsv"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    message:
        "Figure {wildcards.paper}/{wildcards.artefact}"
    conda:
        "../../environment.yml"
    shell:
        "python -m splitcredit --threads {threads} figure"
        " --artefact {wildcards.paper}/{wildcards.artefact} --table {input.table:q}"
        " --svg {output.svg:q} --png {output.png:q} > {log:q} 2>&1"
