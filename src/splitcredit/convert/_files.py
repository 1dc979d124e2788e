"""Model files, recognized by their content."""

from __future__ import annotations

import json
from pathlib import Path

from splitcredit.convert import _ubjson, catboost, lightgbm, xgboost
from splitcredit.forest import Forest

_LIGHTGBM, _UBJSON = b"tree\n", b"{L"


def read(path) -> Forest:
    """Convert a model that XGBoost, LightGBM or CatBoost has saved; see `splitcredit.to_forest`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it holds no model of these libraries, or one that a Forest cannot express.
    """
    path = Path(path)
    raw, name = path.read_bytes(), f"model in {path.name}"
    if raw.replace(b"\r\n", b"\n", 1).startswith(_LIGHTGBM):
        text = raw.decode().replace("\r\n", "\n")
        lightgbm.check_whole(text, name)
        return lightgbm.from_pieces([text], name)
    content = _document(raw, path.name)
    convert = {"learner": xgboost, "model_info": catboost}
    for key, library in convert.items():
        if key in content:
            try:
                return library.from_content(content, name)
            except KeyError as missing:
                raise ValueError(
                    f"the {name} is incomplete, it lacks {missing}: save the model itself, and not "
                    "its configuration"
                ) from None
    raise _unknown(path.name)


def _document(raw, name):
    try:
        content = _ubjson.read(raw) if raw.startswith(_UBJSON) else json.loads(raw)
    except (ValueError, UnicodeDecodeError):
        raise _unknown(name) from None
    if not isinstance(content, dict):
        raise _unknown(name)
    return content


def _unknown(name):
    return ValueError(
        f"{name} is no model file known here: save an XGBoost model as .json or .ubj, a LightGBM "
        'model with save_model, a CatBoost model with save_model(file, format="json")'
    )
