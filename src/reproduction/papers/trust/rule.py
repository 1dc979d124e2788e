"""The rule: which measure to take for a question, from half of the data sets, judged on the others.

The measure of a question is the one with the best mean place on the data sets of one half, see
`_places`. How often it holds is counted on the other half, which the choice has not seen, beside
three controls: a measure picked at random, MDI, and the measure that is best there in hindsight.
All other splits into halves say how much depends on this one.
"""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
from scipy import stats

from reproduction.papers.trust import _places
from reproduction.parameters import Seed

# Of a normal distribution, for intervals of 95 %.
_Z = float(stats.norm.ppf(0.975))
DEFAULT = "mdi"


def compute(
    inputs,
    questions: dict,
    properties: dict,
    smaller: list[str],
    about_zero: list[str],
    importances: dict,
    split: Seed = 0,
) -> pd.DataFrame:
    """The recommended measure for every question and property of a model, and how it was judged.

    Columns: ``question``, ``property``, ``measure``, ``method`` and ``parameters`` (JSON) of its
    call; ``holds``, the mean over the held-out data sets of the share of fits on which it holds,
    with its interval ``low``, ``high``, and ``n_data_sets``, their number; ``rests_on``, yardsticks
    and data sets; the same share for a measure picked at random (``random``), for MDI (``mdi``) and
    for the best one in hindsight (``hindsight``, ``hindsight_measure``); with the halves swapped,
    ``swapped`` and ``swapped_measure``; and over all splits into such halves the mean
    (``all_splits``), the least (``least``) and the share that choose this measure (``chosen``).
    """
    scores, rows = _places.scores(inputs, smaller, about_zero), []
    for (question, yardsticks), (name, models) in itertools.product(
        questions.items(), properties.items()
    ):
        placed = _places.places(scores, yardsticks, models)
        place, holds = (_places.by_data(placed, column) for column in ("place", "holds"))
        if len(place) < 2:
            continue
        first, rest = halves(place.index, split)
        judged, swapped = judge(place, holds, first), judge(place, holds, rest)
        row = {"question": question, "property": name, "measure": judged["measure"]}
        row |= call(importances[judged["measure"]]) | judged
        by = f"{', '.join(yardsticks)}; derived on {', '.join(first)}; judged on {', '.join(rest)}"
        row |= {"rests_on": by, "swapped": swapped["holds"], "swapped_measure": swapped["measure"]}
        rows.append(row | fragility(place, holds, judged["measure"], len(first)))
    return pd.DataFrame(rows)


def call(recipe) -> dict[str, str]:
    """Method of the library and its parameters, as JSON, from the recipe of an importance.

    Gaps take the widths of their noise from the user's features.
    """
    parameters = {k: v for k, v in recipe.items() if k not in ("importance", "n_rows", "scale")}
    method = recipe["importance"]
    if method == "rank":
        method = parameters.pop("method", "pg2_greedy")
    return {"method": method, "parameters": json.dumps(parameters, sort_keys=True)}


def halves(names, split) -> tuple[list[str], list[str]]:
    """Two halves of the data sets, by a seed; of an odd number the first has one less."""
    order = np.random.default_rng(split).permutation(sorted(names)).tolist()
    middle = len(order) // 2
    return sorted(order[:middle]), sorted(order[middle:])


def choose(place: np.ndarray) -> int:
    """The column with the best mean place, of those that have one on every data set."""
    return int(np.nanargmax(place.mean(axis=0)))


def judge(place, holds, derived_on) -> dict:
    """Choose a measure on some data sets and count on the others how often it holds.

    Where it does not apply, it does not hold.
    """
    is_first = place.index.isin(derived_on)
    number = choose(place.to_numpy()[is_first])
    shares = holds[~is_first].fillna(0.0).mean()
    n = int((~is_first).sum())
    low, high = wilson(shares.iloc[number], n)
    return {
        "measure": place.columns[number],
        "holds": shares.iloc[number],
        "low": low,
        "high": high,
        "n_data_sets": n,
        "random": shares.mean(),
        "mdi": shares.get(DEFAULT, np.nan),
        "hindsight": shares.max(),
        "hindsight_measure": shares.idxmax(),
    }


def wilson(share, n) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of n data sets."""
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half_width = _Z * np.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
    return max(middle - half_width, 0.0), min(middle + half_width, 1.0)


def fragility(place, holds, measure, size):
    """The same judgment over every split with as many data sets in the first part."""
    places, held, splits = place.to_numpy(), holds.fillna(0.0).to_numpy(), []
    for first in itertools.combinations(range(len(place)), size):
        is_first = np.isin(np.arange(len(place)), first)
        number = choose(places[is_first])
        splits.append((held[~is_first, number].mean(), place.columns[number] == measure))
    shares, same = np.array(splits, float).T
    return {"all_splits": shares.mean(), "least": shares.min(), "chosen": same.mean()}
