# Names for everything: a paper (`sutera2021`), an artefact (`sutera2021_table4`), an experiment
# (`experiment_sutera2021_local`).
for target, files in jobs.targets().items():

    rule:
        name:
            target
        input:
            files,
