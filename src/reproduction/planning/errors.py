"""Define the error of all that users of the pipeline write: configuration and modules."""

from __future__ import annotations

import difflib


class ConfigError(ValueError):
    """A configuration that cannot be used. Its text is one line, whatever it quotes."""

    def __init__(self, message: str):
        super().__init__(" ".join(message.splitlines()))


def nearest(name, choices) -> str:
    """A question after the nearest of some names, if one is near."""
    near = difflib.get_close_matches(str(name), map(str, choices), 1)
    return f" (did you mean {near[0]}?)" if near else ""


def check_in(names, choices, place: str, what: str, remedy: str = "") -> None:
    """Check that names are among the choices; the error lists these, and asks after the nearest."""
    for name in names:
        if name not in choices:
            there_are = ", ".join(dict.fromkeys(map(str, choices))) or "none"
            raise ConfigError(
                f"{place}: {name!r} is not {what}{nearest(name, choices)}; there are {there_are}"
                f"{remedy}"
            )
