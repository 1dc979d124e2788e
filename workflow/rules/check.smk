# The last job of a run: a value that differs without a known cause fails it. A check by the clock is
# never such a one: it is outside its band.
rule check:
    input:
        claims=[rules.claims.output.table, rules.claims.output.timings],
        report=rules.report.output,
        everything=jobs.everything(),
    output:
        "results/verdict.txt",
    log:
        "results/logs/check.log",
    conda:
        "../../environment.yml"
    threads: 1
    params:
        key=jobs.key("claims"),
        whole=jobs.whole_papers(),
    message:
        "Looking for values that differ without a known cause"
    shell:
        "python -m reproduction --threads {threads} check --claims {input.claims:q}"
        " --report {input.report:q} --whole {params.whole:q} --log {log:q} --out {output:q} > /dev/null"
