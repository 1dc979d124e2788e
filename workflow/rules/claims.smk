# All judgments: the claims table and its summary; those that depend on the clock apart from the others.
rule claims:
    input:
        judged=jobs.judgments(timed=False),
        timed=jobs.judgments(timed=True),
    output:
        table="results/claims.csv",
        summary="results/claims.md",
        timings="results/claims_timing.csv",
    log:
        "results/logs/claims.log",
    benchmark:
        "results/timing/jobs/claims.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(5),
    params:
        key=jobs.key("claims"),
    message:
        "Claims table"
    shell:
        "python -m reproduction --threads {threads} claims --judged {input.judged:q}"
        " --timed {input.timed:q} --table {output.table:q} --summary {output.summary:q}"
        " --timings {output.timings:q} > {log:q} 2>&1"
