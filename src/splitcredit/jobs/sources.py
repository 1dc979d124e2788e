"""List where the real data came from: file, checksum, route, target and size of each."""

from __future__ import annotations

import json

from splitcredit import datasets, storage
from splitcredit.datasets import _routes

COLUMNS = ("data", "route", "file", "sha256", "target", "rows", "features", "note")


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--recipes", type=json.loads, required=True, help="(name, recipe) pairs")
    parser.add_argument("--places", type=json.loads, default={}, help="where files are searched")
    parser.add_argument("--out", required=True)


def run(arguments):
    """Do the job."""
    datasets.look_in(**arguments.places)
    rows = [{"data": name, **_describe(recipe)} for name, recipe in arguments.recipes]
    storage.write_rows(arguments.out, rows, COLUMNS)


def _describe(recipe):
    try:
        data = datasets.load(recipe)
    except _routes.NotAvailableError as error:
        return {"file": error.name, "route": "none", "note": error.line}
    except ValueError as error:
        # The job that needs these data fails and says so; this list is for all.
        return {"note": f"cannot be used: {error}"}
    return {**data.source, "rows": data.X.shape[0], "features": data.X.shape[1]}
