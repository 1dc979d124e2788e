# Data sets, loaded or drawn: those of one batch in one file.
rule data:
    input:
        files=W.data_files,
        plan="results/plans/{experiment}/{batch}.json",
    output:
        "results/data/{experiment}/{batch}.npz",
    log:
        "results/logs/data/{experiment}/{batch}.log",
    benchmark:
        "results/timing/jobs/data/{experiment}/{batch}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        sources=W.data_sources,
        places=W.data_places,
    message:
        "Data sets of {wildcards.experiment}, batch {wildcards.batch}"
    shell:
        "python -m splitcredit --threads {threads} data --plan {input.plan:q}"
        " --places {params.places:q} --out {output:q} > {log:q} 2>&1"


# The files of real data sets that no directory has; needs a network, and runs whenever it is asked.
localrules:
    fetch,


rule fetch:
    log:
        "results/logs/fetch.log",
    conda:
        "../../environment.yml"
    threads: 1
    params:
        sources=W.job("jobs.fetch"),
        recipes=W.real_data(),
        places=W.places(),
    message:
        "Fetching the files of real data sets that no directory has"
    shell:
        "python -m splitcredit --threads {threads} fetch --recipes {params.recipes:q}"
        " --places {params.places:q} 2>&1 | tee {log:q}"


rule sources:
    input:
        files=W.real_data_files(),
    output:
        "results/sources.csv",
    log:
        "results/logs/sources.log",
    benchmark:
        "results/timing/jobs/sources.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        sources=W.real_data_sources(),
        recipes=W.real_data(),
        places=W.places(),
    message:
        "Where the real data came from"
    shell:
        "python -m splitcredit --threads {threads} sources --recipes {params.recipes:q}"
        " --places {params.places:q} --out {output:q} > {log:q} 2>&1"
