# Compiled kernels, once and not after edits: Snakemake would run all that waits for them anew. Jobs
# whose kernels were edited compile them.
rule kernels:
    output:
        "results/kernels/{part}.txt",
    log:
        "results/logs/kernels/{part}.log",
    benchmark:
        "results/timing/jobs/kernels/{part}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    message:
        "Compiling the kernels: {wildcards.part}"
    shell:
        "python -m reproduction --threads {threads} kernels --part {wildcards.part}"
        " --out {output:q} > {log:q} 2>&1"
