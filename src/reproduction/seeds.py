"""Seeds that depend on the recipe alone.

The seed of a fit or a draw comes from what is fitted or drawn and from the number of the repeat,
never from the figure that needs it, the batch, the worker or the order of the jobs: two figures
that need the same forest get the same forest.
"""

from __future__ import annotations

import hashlib

from reproduction.storage import canonical


def derive(recipe: dict, repeat: int, purpose: str) -> int:
    """Seed in 0 .. 2**32 - 1 of one repeat of a recipe, unless its ``random_state`` is given.

    The purpose keeps the streams of, say, the drawing of rows and the fit of a model apart.
    """
    explicit = recipe.get("random_state")
    if explicit is not None:
        return int(explicit)
    import numpy as np

    text = hashlib.sha256(f"{canonical(_by_first_names(recipe))} {purpose}".encode()).digest()
    words = np.frombuffer(text, dtype="<u4")
    return int(np.random.SeedSequence([*words.tolist(), int(repeat)]).generate_state(1)[0])


# Today's name of a data set or metric -> its first name, which its seeds keep: otherwise a new name
# would change numbers. The key `importance` of a recipe was `measure` at first, and `algorithm` of
# a recipe of sage was `method`.
_FIRST_NAMES = {
    "standardized_split": "standardised_split",
    "randomized_error": "randomised_error",
    "parkinson": "parkinsons",
}


def _by_first_names(recipe):
    names = {key: _FIRST_NAMES.get(v, v) if isinstance(v, str) else v for key, v in recipe.items()}
    keys = {"importance": "measure"}
    if recipe.get("importance") == "sage":
        keys["algorithm"] = "method"
    return {keys.get(key, key): value for key, value in names.items()}
