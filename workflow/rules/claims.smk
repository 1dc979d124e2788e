# Printed values against ours: one file an artefact, then the table, its summary and its page.
rule judge:
    input:
        printed=W.printed,
        statements=W.stated,
        table=W.judged_table,
    output:
        "results/{clock}claims/{paper}/{artefact}.json",
    log:
        "results/logs/{clock}judge/{paper}/{artefact}.log",
    benchmark:
        "results/timing/jobs/{clock}judge/{paper}/{artefact}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        sources=W.judge_sources,
        rules=W.claim_rules,
        evidence=W.evidence,
        decided=W.decided,
        incomparable=W.incomparable,
    message:
        "Claims of {wildcards.paper}/{wildcards.artefact}"
    shell:
        "python -m splitcredit --threads {threads} judge"
        " --artefact {wildcards.paper}/{wildcards.artefact} --table {input.table:q}"
        " --printed {input.printed:q} --rules {params.rules:q}"
        " --statements {input.statements:q} --evidence {params.evidence:q}"
        " --decided {params.decided} --incomparable {params.incomparable:q}"
        " --out {output:q} > {log:q} 2>&1"


rule claims:
    input:
        judged=W.judgements(clock=False),
        figures=W.pictures(),
    output:
        table="results/claims.csv",
        summary="results/claims.md",
        page="results/claims.html",
    log:
        "results/logs/claims.log",
    benchmark:
        "results/timing/jobs/claims.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        sources=W.job("jobs.claims"),
        titles=W.titles(),
        preset=W.config["preset"],
    message:
        "Claims table and page"
    shell:
        "python -m splitcredit --threads {threads} claims --judged {input.judged:q}"
        " --figures {input.figures:q} --titles {params.titles:q} --preset {params.preset}"
        " --table {output.table:q} --summary {output.summary:q} --page {output.page:q}"
        " > {log:q} 2>&1"


# What depends on the clock, apart: of the artefacts and, if they were run, of the benchmarks.
rule timings:
    input:
        judged=W.judgements(clock=True),
    output:
        "results/claims_timing.csv",
    log:
        "results/logs/timings.log",
    benchmark:
        "results/timing/jobs/timings.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        sources=W.job("jobs.timings"),
    message:
        "Claims that depend on the clock"
    shell:
        "python -m splitcredit --threads {threads} timings --out {output:q} > {log:q} 2>&1"


# The last job of a run: a value that differs without a known cause fails it.
localrules:
    check,


rule check:
    input:
        claims=[rules.claims.output.table, *rules.timings.output],
        everything=W.everything(),
    output:
        "results/verdict.txt",
    log:
        "results/logs/check.log",
    conda:
        "../../environment.yml"
    threads: 1
    params:
        sources=W.job("jobs.check"),
        page=rules.claims.output.page,
    message:
        "Looking for values that differ without a known cause"
    shell:
        "python -m splitcredit --threads {threads} check --claims {input.claims:q}"
        " --page {params.page:q} --log {log:q} --out {output:q}"
