"""Sections of the report on sweeps that no artefact reads: figure, findings, how they were made."""

from __future__ import annotations

from pathlib import Path

from reproduction.report import figure_files, making, texts
from reproduction.report.numbers import Numbers


def sections(config: dict, tables, figures) -> list[dict]:
    """The section of each sweep, in the order of the tables ``.../EXPERIMENT.csv``.

    Its words are those of ``sweeps.yaml``, without which a sweep has its figure alone, an SVG or
    PNG file ``.../experiments/EXPERIMENT.svg``.
    """
    paths = {Path(path).stem: Path(path) for path in tables}
    images = figure_files.by_artefact(figures)
    numbers = Numbers(paths, [], config)
    return [_section(config, name, images.get(f"experiments/{name}"), numbers) for name in paths]


def _section(config, name, files, numbers):
    words = {"title": name, "findings": [], **texts.sweeps().get(name, {})}
    return {
        "name": name,
        "title": words["title"],
        "figure": figure_files.embed(files) if files else None,
        "alt": words.get("alt", words["title"]),
        "caption": numbers.caption(words),
        "findings": numbers.headlines(words["findings"]),
        "making": making.of_sweep(name, config),
    }
