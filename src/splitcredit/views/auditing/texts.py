"""Word an audit: titles and sentences by the key of a section, and numbers as text."""

from __future__ import annotations

import io
from importlib.resources import files

import numpy as np
import pandas as pd

from splitcredit.measures import _methods

FOLDER = files("splitcredit.views.auditing")


def _table(name, index=None):
    return pd.read_csv(io.StringIO((FOLDER / name).read_text("utf-8")), index_col=index)


# By key: the title, what the number is, and what the plot shows, with the place of its line.
TEXTS = _table("texts.csv", "key")
# Sentences of suspicions, and what pages call the measures.
SENTENCES, WORDS = _table("sentences.csv", "key")["text"], dict(_table("words.csv").to_numpy())
# Which method answers a question, by the kind of a model; one line for each, or for any kind.
CHOICES = pd.DataFrame(_methods.choices())


def say(key, **filled) -> str:
    """Fill in a sentence."""
    return SENTENCES[key].format(**filled) if filled else SENTENCES[key]


def percent(x) -> str:
    """Write a share, without a sign on a zero."""
    is_plain = not 0.99 < x < 1 and (abs(x) >= 0.1 or abs(round(100 * x, 1)) == 0)
    return f"{100 * x:z.0f} %" if is_plain else f"{100 * x:z.1f} %"


def span(numbers) -> str:
    """Write a share and its interval."""
    value, low, high = numbers
    if not np.isfinite(low):
        return percent(value)
    return f"{percent(value)} (95 % interval {percent(low)} to {percent(high)})"


def listed(names, most=5) -> str:
    """Write names; of many the first, and how many there are."""
    names = [str(name) for name in names]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
