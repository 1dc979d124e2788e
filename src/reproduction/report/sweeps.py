"""Sections of the report on sweeps that no artefact reads: figure, findings, how they were made."""

from __future__ import annotations

from pathlib import Path

from reproduction.report import making, pictures, texts
from reproduction.report.numbers import Numbers


def sections(config: dict, tables, figures) -> list[dict]:
    """The section of each sweep, in the order of the tables ``.../EXPERIMENT.csv``.

    Its words are those of ``sweeps.yaml``, without which a sweep has its figure alone, an SVG or
    PNG file ``.../experiments/EXPERIMENT.svg``.
    """
    paths = {Path(path).stem: Path(path) for path in tables}
    images = pictures.by_artefact(figures)
    numbers = Numbers(paths, [], config)
    return [_section(config, name, images.get(f"experiments/{name}"), numbers) for name in paths]


def _section(config, name, files, numbers):
    section_texts = texts.sweeps().get(name, {})
    title = section_texts.get("title", name)
    return {
        "name": name,
        "title": title,
        "picture": pictures.embed(files) if files else None,
        "alt": section_texts.get("alt", title),
        "caption": {
            part: numbers.filled(section_texts[part])
            for part in texts.PARTS
            if part in section_texts
        },
        "findings": [
            {"headline": finding["headline"], **numbers.filled(finding["text"])}
            for finding in section_texts.get("findings", [])
        ],
        "making": making.of_sweep(name, config),
    }
