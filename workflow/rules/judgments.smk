# Printed values and statements of one artefact against ours.
rule judgments:
    input:
        printed=in_checkout(jobs.printed),
        statements=in_checkout(jobs.stated),
        table=jobs.judged_table,
    output:
        "results/{timing}judgments/{paper}/{artefact}.json",
    log:
        "results/logs/{timing}judgments/{paper}/{artefact}.log",
    benchmark:
        "results/timing/jobs/{timing}judgments/{paper}/{artefact}.tsv"
    priority: priorities.of("results/logs/{timing}judgments/{paper}/{artefact}.log")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=jobs.growing(1000),
        runtime=jobs.growing(5),
    params:
        key=jobs.judgment_key,
        rules=jobs.claim_rules,
        evidence=jobs.evidence,
        decided=jobs.decided,
        incomparable=jobs.incomparable,
        stand_in=jobs.stand_in,
    message:
        "Claims of {wildcards.paper}/{wildcards.artefact}"
    shell:
        "python -m reproduction --threads {threads} judgments"
        " --artefact {wildcards.paper}/{wildcards.artefact} --table {input.table:q}"
        " --printed {input.printed:q} --rules {params.rules:q}"
        " --statements {input.statements:q} --evidence {params.evidence:q}"
        " --decided {params.decided} --incomparable {params.incomparable:q}"
        " {params.stand_in} --out {output:q} > {log:q} 2>&1"
