# Names for everything: `snakemake all`, a paper (`sutera2021`), an artefact (`sutera2021_table4`).
def outputs_of(name):
    files = [f"results/tables/{name}.csv"]
    if name in FIGURES:
        files += [f"results/figures/{name}.svg", f"results/figures/{name}.png"]
    if name in PRINTED:
        files.append(f"results/claims/{name}.json")
    return files


rule all:
    input:
        [file for name in ARTEFACTS for file in outputs_of(name)],
        rules.claims.output,


for paper in sorted({name.partition("/")[0] for name in ARTEFACTS}):

    rule:
        name:
            paper
        input:
            [f for n in ARTEFACTS if n.startswith(f"{paper}/") for f in outputs_of(n)],


for artefact in ARTEFACTS:

    rule:
        name:
            artefact.replace("/", "_")
        input:
            outputs_of(artefact),
