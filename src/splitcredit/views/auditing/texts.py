"""Word an audit: titles and sentences by the key of a section, and numbers as text."""

from __future__ import annotations

import io
from importlib.resources import files

import numpy as np
import pandas as pd

FOLDER = files("splitcredit.views.auditing")
# By key: the title, what the number is, what the plot shows, and where it has a line; the
# sentence and how the number is made, with names that a section fills in.
TEXTS = pd.read_csv(io.StringIO((FOLDER / "texts.csv").read_text("utf-8")), index_col="key")
TEXTS[["sentence", "how"]] = TEXTS[["sentence", "how"]].fillna("")


def percent(x) -> str:
    """Write a share, without a sign on a zero."""
    is_plain = not 0.99 < x < 1 and (abs(x) >= 0.1 or abs(round(100 * x, 1)) == 0)
    return f"{100 * x:z.0f} %" if is_plain else f"{100 * x:z.1f} %"


def number(x) -> str:
    """Write a number to three digits."""
    return f"{x:.3g}"


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


def grouped(reasons) -> list[str]:
    """Write one line for each reason, with the names that have it."""
    names: dict[str, list[str]] = {}
    for name, why in reasons.items():
        names.setdefault(why, []).append(name)
    return [f"{', '.join(of_reason)}: {why}" for why, of_reason in names.items()]
