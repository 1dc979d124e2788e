# All judgments: the claims table, its summary and its page.
rule claims:
    input:
        judged=jobs.judgments(timed=False),
        figures=jobs.pictures(),
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
        mem_mb=jobs.growing(1000),
        runtime=jobs.growing(5),
    params:
        key=jobs.key("reproduction.stages.claims"),
        titles=jobs.titles(),
        stand_ins=jobs.stand_ins(),
        preset=jobs.config["preset"],
    message:
        "Claims table and page"
    shell:
        "python -m reproduction --threads {threads} claims --judged {input.judged:q}"
        " --figures {input.figures:q} --titles {params.titles:q}"
        " --stand_ins {params.stand_ins:q} --preset {params.preset}"
        " --table {output.table:q} --summary {output.summary:q} --page {output.page:q}"
        " > {log:q} 2>&1"


# Judgments that depend on the clock, apart from the others.
rule timings:
    input:
        judged=jobs.judgments(timed=True),
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
        mem_mb=jobs.growing(1000),
        runtime=jobs.growing(5),
    params:
        key=jobs.key("reproduction.stages.timings"),
    message:
        "Claims that depend on the clock"
    shell:
        "python -m reproduction --threads {threads} timings --judged {input.judged:q}"
        " --out {output:q} > {log:q} 2>&1"


# The last job of a run: a value that differs without a known cause fails it. Not one that depends on
# the clock, which is another on every machine.
localrules:
    check,


rule check:
    input:
        claims=rules.claims.output.table,
        timings=rules.timings.output,
        everything=jobs.everything(),
    output:
        "results/verdict.txt",
    log:
        "results/logs/check.log",
    conda:
        "../../environment.yml"
    threads: 1
    params:
        key=jobs.key("reproduction.stages.check"),
        page=rules.claims.output.page,
    message:
        "Looking for values that differ without a known cause"
    shell:
        "python -m reproduction --threads {threads} check --claims {input.claims:q}"
        " --page {params.page:q} --log {log:q} --out {output:q}"
