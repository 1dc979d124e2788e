# Names for everything: a paper (`sutera2021`), an artefact (`sutera2021_table4`), an experiment
# (`experiment_sutera2021_local`).
if line := jobs.unknown(os.environ.get("ASKED", "")):
    sys.exit(line)
for target, files in jobs.targets().items():

    rule:
        name:
            target
        input:
            files,
