# Printed values against ours: one file an artefact, then the table, its summary and its page.
from pathlib import Path

PRINTED = {
    name: f"config/claims/{name.replace('/', '_')}.csv"
    for name in ARTEFACTS
    if Path(f"config/claims/{name.replace('/', '_')}.csv").exists()
}


def claim_rules(wildcards):
    path = Path(f"config/claims/{wildcards.paper}.yaml")
    rules = configuration.read_yaml(path) if path.exists() else {}
    return json.dumps(rules.get(wildcards.artefact, []))


def incomparable(wildcards):
    scaled = ARTEFACTS[f"{wildcards.paper}/{wildcards.artefact}"].get("scaled", False)
    if CONFIG["paper_scale"] or not scaled:
        return ""
    return f"preset {CONFIG['preset']}: sizes are not those of the paper"


rule judge:
    input:
        sources=job("jobs.judge"),
        printed="config/claims/{paper}_{artefact}.csv",
        table="results/tables/{paper}/{artefact}.csv",
    output:
        "results/claims/{paper}/{artefact}.json",
    params:
        rules=claim_rules,
        incomparable=incomparable,
    log:
        "results/logs/judge/{paper}/{artefact}.log",
    benchmark:
        "results/timing/jobs/judge/{paper}/{artefact}.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    message:
        "Claims of {wildcards.paper}/{wildcards.artefact}"
    conda:
        "../../environment.yml"
    shell:
        "python -m splitcredit --threads {threads} judge"
        " --artefact {wildcards.paper}/{wildcards.artefact} --printed {input.printed:q}"
        " --table {input.table:q} --rules {params.rules:q}"
        " --incomparable {params.incomparable:q} --out {output:q} > {log:q} 2>&1"


rule claims:
    input:
        sources=job("jobs.claims"),
        judged=[f"results/claims/{name}.json" for name in PRINTED],
        figures=[f"results/figures/{name}.svg" for name in FIGURES],
    output:
        table="results/claims.csv",
        summary="results/claims.md",
        page="results/claims.html",
    params:
        titles=json.dumps({name: a["title"] for name, a in ARTEFACTS.items()}),
        preset=CONFIG["preset"],
    log:
        "results/logs/claims.log",
    benchmark:
        "results/timing/jobs/claims.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    message:
        "Claims table and page"
    conda:
        "../../environment.yml"
    shell:
        "python -m splitcredit --threads {threads} claims --judged {input.judged:q}"
        " --figures {input.figures:q} --titles {params.titles:q} --preset {params.preset}"
        " --table {output.table:q} --summary {output.summary:q} --page {output.page:q}"
        " > {log:q} 2>&1"
