"""Gather all judgments into the claims table, and write its page and summary."""

from __future__ import annotations

import json

from reproduction import claims, claims_page, storage


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--judged", nargs="*", default=[])
    parser.add_argument("--titles", type=json.loads, default={}, help="titles of the artefacts")
    parser.add_argument("--stand_ins", type=json.loads, default={}, help="data not the paper's")
    parser.add_argument("--figures", nargs="*", default=[], help="pictures to show, SVG")
    parser.add_argument("--incomplete", type=json.loads, default=[], help="what failed, and why")
    parser.add_argument("--preset", required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument("--summary", required=True)
    parser.add_argument("--page", required=True)


def run(arguments):
    """Do the job."""
    rows = [row for path in arguments.judged for row in storage.read_json(path)]
    storage.write_rows(arguments.table, rows, claims.COLUMNS)
    storage.write_text(arguments.summary, claims_page.summary(rows))
    page = claims_page.page(
        rows,
        arguments.titles,
        arguments.figures,
        arguments.preset,
        arguments.incomplete,
        arguments.stand_ins,
    )
    storage.write_text(arguments.page, page)
