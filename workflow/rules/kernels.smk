# Compiled kernels, by part, so that no two jobs compile the same. Jobs whose kernels were edited since
# compile them themselves. The markers are plain inputs: Snakemake skips what takes an ancient() file
# if the job that makes it runs again, whatever else has changed.
rule kernels:
    output:
        "results/kernels/{part}.txt",
    log:
        "results/logs/kernels/{part}.log",
    benchmark:
        "results/timing/jobs/kernels/{part}.tsv"
    priority: priorities.of("results/logs/kernels/{part}.log")
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=jobs.growing(1000),
        runtime=jobs.growing(5),
    message:
        "Compiling the kernels: {wildcards.part}"
    shell:
        "python -m reproduction --threads {threads} kernels --part {wildcards.part}"
        " --out {output:q} > {log:q} 2>&1"
