"""The error of everything that a user of the pipeline wrote: configuration and modules."""

from __future__ import annotations


class ConfigError(ValueError):
    """A configuration that cannot be used. Its text is one line, whatever it quotes."""

    def __init__(self, message: str):
        super().__init__(" ".join(message.splitlines()))
