"""Checks of arrays that a result or a Forest is to be made of."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields


def check_fields(kind, arrays) -> None:
    """Raise a ValueError if the names of some arrays are not those that `to_arrays` gives.

    Parameters
    ----------
    kind : dataclass with ``to_arrays``
    arrays : collection of str
    """
    all_fields = fields(kind)
    needed = [f.name for f in all_fields if f.default is MISSING and f.default_factory is MISSING]
    missing = [name for name in needed if name not in arrays]
    extra = [name for name in arrays if name not in {f.name for f in all_fields}]
    if missing or extra:
        raise ValueError(
            f"these arrays are no {kind.__name__}: missing {missing[:5]}, not expected "
            f"{extra[:5]}; pass all that to_arrays of one gave"
        )


def parameters_of(text: str) -> dict:
    """The parameters that a text holds; ValueError if it is damaged."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"parameters is damaged ({error}): save the result again, or pass the text '{{}}'"
        ) from None
