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
    SIGMAS,
    recipe_of,
)
from reproduction.papers.gajewski2025._tables import over_splits, share_finding
from splitcredit.models.formats import to_forest

SUGGEST = '"suggest": in most settings; the interval counts 95 % bootstrap intervals over the rows'


def compute(inputs, recipes) -> pd.DataFrame:
    """Errors over the splits, larger is better; see `_tables.over_splits`.

    Also ``cause_low`` and ``cause_high`` of variants published and saved_models, which are the same
    here: the error in double precision, with ties by index and full fits, lies between them if the
    printed one is of another order of ties, or of fits that stop early.
    """
    table = over_splits([inputs["gajewski2025_bigger/removed_error"]], ["k", "ranking"])
    rows = [row for name, recipe in recipes.items() for row in _ranges(name, recipe)]
    ranges = [pd.DataFrame(rows).assign(variant=variant) for variant in (PUBLISHED, SAVED)]
    keys = ["variant", "dataset", "k", "ranking"]
    return table.merge(pd.concat(ranges), on=keys, how="left")


def _ranges(dataset, recipe):
    """Ranges of our errors that print and the causes give, of one data set."""
    data = datasets.load({**recipe, "split": "authors"})
    fitted = recipe_of(dataset, "bigger")
    forest = to_forest(models.fit(fitted, data.training.X, data.training.y))
    retrained = _other_routes.Retrained(fitted, data)
    texts = {
        (int(cell["k"]), cell["ranking"]): text
        for cell, text in printed("gajewski2025", "table5")
        if cell["dataset"] == dataset
    }
    ks = sorted({k for k, _ in texts})
    widths = {
        (k, GREEDY[sigma]): width
        for sigma in SIGMAS
        for k, width in _other_routes.widths_of_ties(forest, retrained, sigma, ks).items()
    }
    shifts = {}
    if (dataset, SHAP) in _other_routes.STOPPED:
        shifts = _other_routes.shifts_by_stopping(forest, retrained, SIGMAS[0])
    for (k, ranking), text in texts.items():
        half_digit, width = claims.half_unit(text), widths.get((k, ranking), 0.0)
        share = _other_routes.STOPPED.get((dataset, ranking), 0.0) if k == 1 else 0.0
        value = float(text) - share * shifts.get(ranking, 0.0)
        row = {"dataset": dataset, "k": k, "ranking": ranking}
        low, high = value - half_digit, value + half_digit
        ends = {"cause_low": max(low**2 - width, 0) ** 0.5, "cause_high": (high**2 + width) ** 0.5}
        yield row | ends


def statements(table):
    """s13: SHAP's first features are missed most."""
    measured = "settings in which SHAP's error is larger than the greedy ranking's"
    for (variant, dataset), rows in table.groupby(["variant", "dataset"], sort=False):
        greedy = rows[rows["ranking"] != SHAP]
        ends = (greedy["lead_high"] < 0).mean(), (greedy["lead_low"] < 0).mean()
        place = ("s13", f"{variant}, {dataset}", measured)
        yield share_finding(*place, greedy["lead"] < 0, reading=SUGGEST, interval=ends)
