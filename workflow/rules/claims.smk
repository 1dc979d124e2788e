# All judgments: the claims table and its summary.
rule claims:
    input:
        judged=jobs.judgments(timed=False),
    output:
        table="results/claims.csv",
        summary="results/claims.md",
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
    message:
        "Claims table"
    shell:
        "python -m reproduction --threads {threads} claims --judged {input.judged:q}"
        " --table {output.table:q} --summary {output.summary:q} > {log:q} 2>&1"


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
