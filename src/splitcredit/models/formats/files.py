"""Recognize model files by their content: `ModelFile`, the format of paths."""

from __future__ import annotations

import json
import os
from pathlib import Path

from splitcredit.models.formats.base import Format
from splitcredit.results.stored import named_if_damaged


class ModelFile(Format):
    """Format of paths of saved models; ValueError if a file holds no complete model."""

    has_units = True

    def __init__(self, formats):
        self._formats = formats

    def recognizes(self, model):
        return isinstance(model, (str, os.PathLike))

    def called(self, model):
        return f"model in {Path(model).name}"

    def forest(self, model):
        with named_if_damaged(Path(model).name):
            library, content = self._opened(Path(model))
            return library.forest_of_content(content, self.called(model))

    def units(self, model):
        library, objective = self._objective(model)
        return library.units_of(objective)

    def has_link(self, model):
        library, objective = self._objective(model)
        return library.is_linked(objective)

    def objective_of_no_mean(self, model):
        library, objective = self._objective(model)
        return library.unless_mean(objective)

    def _objective(self, model):
        """Return the library that saved a model, and the name of its objective."""
        with named_if_damaged(Path(model).name):
            library, content = self._opened(Path(model))
            return library, library.objective_of_content(content)

    def _opened(self, path):
        """Return the library that saved a model, and the decoded content."""
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder: pass the file of the model in it")
        raw = path.read_bytes()
        for one in self._formats:
            content = one.decoded(raw, path.name)
            if content is not None:
                return one, content
        document = _document(raw, path.name)
        for one in self._formats:
            if one.json_key and one.json_key in document:
                return one, one.of_document(document)
        raise _unknown(path.name)


def _document(raw, name):
    try:
        content = json.loads(raw)
    except ValueError as error:
        if not raw.startswith(b"{"):
            raise _unknown(name) from None
        raise ValueError(f"{name} is not a model, or is damaged: {error}") from None
    if not isinstance(content, dict):
        raise _unknown(name)
    return content


def _unknown(name):
    return ValueError(
        f"{name} is not a known model file: save an XGBoost model as .json or .ubj, a LightGBM "
        'model with save_model, a CatBoost model with save_model(file, format="json")'
    )
