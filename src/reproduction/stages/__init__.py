"""The jobs of the workflow, one file each: read files, do one thing, write files whole."""
