# Names for everything: a paper (`sutera2021`), an artefact (`sutera2021_table4`), an experiment
# (`experiment_sutera2021_local`).
for target, files in W.targets().items():

    rule:
        name:
            target
        input:
            files,


# What cannot be made for want of data says why.
for target, why in W.real.impossible().items():

    rule:
        name:
            target
        log:
            f"results/logs/{target}.log",
        conda:
            "../../environment.yml"
        params:
            why=why,
        message:
            "Cannot be made for want of data: {params.why}"
        shell:
            "echo {params.why:q} | tee {log:q} >&2; exit 1"
