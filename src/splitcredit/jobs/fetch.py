"""Fetch the files of real data sets that no configured directory has."""

from __future__ import annotations

import json

from splitcredit import datasets
from splitcredit.datasets import _fetch


def add_arguments(parser):
    """Arguments of the job."""
    parser.add_argument("--recipes", type=json.loads, required=True, help="(name, recipe) pairs")
    parser.add_argument("--places", type=json.loads, default={}, help="where files are searched")


def run(arguments):
    """Do the job; that a file cannot be had is said, and is no failure."""
    datasets.look_in(**arguments.places)
    originals = {o for _, recipe in arguments.recipes for o in datasets.originals(recipe)}
    for original in sorted(originals, key=lambda o: o.form.name):
        print(_fetch.fetch(original), flush=True)
