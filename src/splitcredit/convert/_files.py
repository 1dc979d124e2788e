"""Model files, recognized by their content."""

from __future__ import annotations

import json
from pathlib import Path

from splitcredit._stored import named_if_damaged
from splitcredit.convert import _ubjson, catboost, lightgbm, xgboost
from splitcredit.convert.units import lightgbm_objective
from splitcredit.forest import Forest

_LIGHTGBM, _UBJSON = b"tree\n", b"{L"
# Where a document has the name of the objective.
_OBJECTIVE = {
    "xgboost": ("learner", "objective", "name"),
    "catboost": ("model_info", "params", "loss_function", "type"),
}


# Features without names that the model in a file may have: each gets a name, so that a number in a
# small file takes much memory. Hashed text has 2**20.
_MOST_UNNAMED = 1 << 21


def read(path) -> Forest:
    """Convert a model that XGBoost, LightGBM or CatBoost has saved; see `splitcredit.to_forest`.

    FileNotFoundError if there is no such file. ValueError if it holds no model of these libraries,
    one that is damaged, or one that a Forest cannot express.
    """
    path = Path(path)
    with named_if_damaged(path.name):
        (library, content), name = _opened(path), f"model in {path.name}"
        if library == "lightgbm":
            lightgbm.check_whole(content, name)
            return lightgbm.from_pieces([content], name)
        if library == "catboost":
            return catboost.from_content(content, name)
        learner = content["learner"]
        n_features = int(learner["learner_model_param"]["num_feature"])
        if n_features > _MOST_UNNAMED and not learner.get("feature_names"):
            raise ValueError(
                f"num_feature of the {name} is {n_features}, and it names none of them: pass the "
                "Booster if that is so"
            )
        return xgboost.from_content(content, name)


def objective(path) -> tuple[str, str]:
    """The library that saved a model, and its objective as `units` has it; "" if there is none.

    FileNotFoundError or ValueError as `read`, if there is no such file, or it holds no model of
    these libraries.
    """
    path = Path(path)
    with named_if_damaged(path.name):
        library, content = _opened(path)
    if library == "lightgbm":
        return library, lightgbm_objective(content)
    for key in _OBJECTIVE[library]:
        content = content.get(key, "") if isinstance(content, dict) else ""
    return library, content if isinstance(content, str) else ""


def _opened(path) -> tuple:
    """The library that saved a model, and its text (LightGBM) or decoded document."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: pass the file of the model in it")
    raw = path.read_bytes()
    if raw.replace(b"\r\n", b"\n", 1).startswith(_LIGHTGBM):
        return "lightgbm", raw.decode().replace("\r\n", "\n")
    xgboost.refuse_binary(raw, path.name)
    content = _document(raw, path.name)
    if "booster_str" in content:
        return "lightgbm", lightgbm.text_of_fixed_effects(content)
    for key, library in (("learner", "xgboost"), ("model_info", "catboost")):
        if key in content:
            return library, content
    raise _unknown(path.name)


def _document(raw, name):
    is_known = raw.startswith((_UBJSON, b"{"))
    try:
        content = _ubjson.read(raw) if raw.startswith(_UBJSON) else json.loads(raw)
    except ValueError as error:
        if not is_known:
            raise _unknown(name) from None
        raise ValueError(f"{name} is no model, or a damaged one: {error}") from None
    if not isinstance(content, dict):
        raise _unknown(name)
    return content


def _unknown(name):
    return ValueError(
        f"{name} is no model file known here: save an XGBoost model as .json or .ubj, a LightGBM "
        'model with save_model, a CatBoost model with save_model(file, format="json")'
    )
