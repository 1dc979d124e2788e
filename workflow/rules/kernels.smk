# The kernels, compiled beforehand, so that no two jobs side by side compile the same.
# All importances and metrics wait for it.
rule kernels:
    output:
        "results/kernels.txt",
    log:
        "results/logs/kernels.log",
    benchmark:
        "results/timing/jobs/kernels.tsv"
    priority: 4
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        key=jobs.key("kernels"),
    message:
        "Compiling the kernels"
    shell:
        "python -m reproduction --threads {threads} kernels --out {output:q} > {log:q} 2>&1"
