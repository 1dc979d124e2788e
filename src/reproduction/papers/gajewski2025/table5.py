"""Table 5: error of models fitted without the k most important features of each row.

The printed numbers come from another run than the rankings: ties in single precision are in another
order, and on California housing some fits stop early. How much either can change an error is
computed here, so that print predicts ours.
"""

import pandas as pd

from reproduction import claims, datasets, models
from reproduction.papers import printed
from reproduction.papers.gajewski2025 import _other_routes
from reproduction.papers.gajewski2025._settings import (
    GREEDY,
    PUBLISHED,
    SAVED,
    SHAP,
    SHARE,
    SIGMAS,
    recipe_of,
)
from reproduction.papers.gajewski2025._tables import over_splits, share_finding
from splitcredit.models.formats import to_forest

SUGGEST = '"suggest": in most settings; the interval counts 95 % bootstrap intervals over the rows'


def compute(inputs, recipes) -> pd.DataFrame:
    """Errors over the splits, larger is better; see `_tables.over_splits`.

    Also ``cause_low`` and ``cause_high`` of variants published and saved_models, which are the same
    here: between them lies the error in double precision, with ties by index and full fits, if the
    printed one is of another order of ties, or of fits that stop early.
    """
    table = over_splits([inputs["gajewski2025_bigger/removed_error"]], ["k", "ranking"])
    ranges = pd.concat([_ranges(name, recipe) for name, recipe in recipes.items()])
    ranges = pd.concat([ranges.assign(variant=variant) for variant in (PUBLISHED, SAVED)])
    return table.merge(ranges, on=[*_SETTING, "k", "ranking"], how="left")


_SETTING = ["variant", "dataset"]


def _ranges(dataset, recipe):
    """Ranges of our errors that print and the causes give, of one data set."""
    data = datasets.load({**recipe, "split": "authors"})
    fitted = recipe_of(dataset, "bigger")
    forest = to_forest(models.fit(fitted, data.training.X, data.training.y))
    retrained, texts = _other_routes.Retrained(fitted, data), _printed(dataset)
    ks = sorted({k for k, _ in texts})
    widths = {
        (k, GREEDY[sigma]): width
        for sigma in SIGMAS
        for k, width in _other_routes.widths_of_ties(forest, retrained, sigma, ks).items()
    }
    shifts = {}
    if (dataset, SHAP) in _other_routes.STOPPED:
        shifts = _other_routes.shifts_by_stopping(forest, retrained, SIGMAS[0])
    rows = []
    for (k, ranking), text in texts.items():
        half_digit, width = claims.half_unit(text), widths.get((k, ranking), 0.0)
        share = _other_routes.STOPPED.get((dataset, ranking), 0.0) if k == 1 else 0.0
        value = float(text) - share * shifts.get(ranking, 0.0)
        row = {"dataset": dataset, "k": k, "ranking": ranking}
        low, high = value - half_digit, value + half_digit
        ends = {"cause_low": max(low**2 - width, 0) ** 0.5, "cause_high": (high**2 + width) ** 0.5}
        rows.append(row | ends)
    return pd.DataFrame(rows)


def _printed(dataset):
    """Printed errors by k and ranking, as text."""
    return {
        (int(cell["k"]), cell["ranking"]): text
        for cell, text in printed("gajewski2025", "table5")
        if cell["dataset"] == dataset
    }


def statements(table):
    """s13: SHAP's first features are missed most."""
    for (variant, dataset), rows in table.groupby(["variant", "dataset"], sort=False):
        measured = "settings in which SHAP's error is larger than the greedy ranking's"
        greedy = rows[rows["ranking"] != SHAP]
        ends = (greedy["lead_high"] < 0).mean(), (greedy["lead_low"] < 0).mean()
        options = {"reading": SUGGEST, "interval": ends, "possible": SHARE}
        name = f"{variant}, {dataset}"
        yield share_finding("s13", name, measured, greedy["lead"] < 0, **options)
