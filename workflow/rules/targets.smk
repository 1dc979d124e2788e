# Names for everything: `all`, a paper (`sutera2021`), an artefact (`sutera2021_table4`), an
# experiment (`experiment_sutera2021_local`).
rule all:
    default_target: True
    input:
        [file for name in W.artefacts for file in W.outputs(name)],
        rules.claims.output,


for target, files in W.targets().items():

    rule:
        name:
            target
        input:
            files,
