"""Find the project's own files from any working directory, and list kinds of figures."""

from pathlib import Path

SRC = Path(__file__).resolve().parents[2]
ROOT = SRC.parent
LIBRARY = SRC / "splitcredit"
REPRODUCTION = SRC / "reproduction"
CONFIG = ROOT / "config"
PAPERS = REPRODUCTION / "papers"
# Kinds of file of every figure.
FIGURE_KINDS = ("svg", "png", "pdf")
# Those that the report shows one of.
ON_PAGES = ("svg", "png")
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
PAPERS_SCHEMA = SCHEMA.with_name("papers.schema.yaml")


def relative(path: Path) -> str:
    """A path as Snakemake shows it: relative if it lies below the working directory."""
    path, folder = path.absolute(), Path.cwd()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)
