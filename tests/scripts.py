"""Scripts of data, tools, notebooks and the workflow, which are no packages, as modules."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def script(path):
    """The module of a file, by its path from the top of the project."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
