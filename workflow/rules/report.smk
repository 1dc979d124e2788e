# The report of a run: results/report.html, one file with every figure and every verdict. It names the
# number of cores, which is a resource here: another value of a parameter would rerun it.
rule report:
    input:
        claims=[rules.claims.output.table, rules.claims.output.timings],
        figures=jobs.files(ON_PAGES),
        tables=jobs.files("csv"),
        sweeps=jobs.sweep_files("csv"),
        sweep_figures=jobs.sweep_files(ON_PAGES),
    output:
        report(
            "results/report.html",
            caption="../report/report.rst",
            category="report of the run",
        ),
    log:
        "results/logs/report.log",
    benchmark:
        "results/timing/jobs/report.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(5),
        cores_of_run=lambda wildcards: str(workflow.cores),
    params:
        key=jobs.key("report"),
        configuration=jobs.packed,
    message:
        "Report"
    shell:
        "python -m reproduction --threads {threads} report"
        " --configuration {params.configuration:q}"
        " --claims {input.claims:q} --figures {input.figures:q}"
        " --tables {input.tables:q} --sweeps {input.sweeps:q}"
        " --sweep_figures {input.sweep_figures:q} --cores {resources.cores_of_run} --out {output:q} > {log:q} 2>&1"
