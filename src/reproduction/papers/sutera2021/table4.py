"""Table 4: how local MDI correlates with Saabas and TreeSHAP on six data sets."""

import pandas as pd

from reproduction.papers import finding

STATISTICS = ("mean", "std", "frac>=0.9", "frac>=0.75")
# The data set of which every seed draws other rows.
DRAWN = "led_sampled"
_BOUNDS = (0.9, 0.75)
# Of sums of some thousand float64 of size 100 at most.
_ROUNDING = 1e-9
_KEYS = ["variant", "versus", "dataset", "correlation", "statistic"]


def compute(inputs) -> pd.DataFrame:
    """Mean, standard deviation and shares of the correlations, and their spread over seeds.

    Columns: ``value``, of seed 0 as ``seed_0``; and over the further seeds ``low``,
    ``mean_of_seeds``, ``high`` and ``n_seeds``. Shares are in percent. Where the rows themselves
    were drawn, and the paper's draw is not known, no seed stands for it: ``value`` is then the
    median over the draws, and ``low`` and ``high`` hold 95 % of them; else they are the extremes.
    ``low_by_samples`` and ``high_by_samples`` are ``seed_0`` summed up anew from the correlations
    of the samples, less and plus a rounding.
    """
    ours = _cells(inputs["sutera2021_local/row_correlation_summary"])
    seeds = _cells(inputs["sutera2021_local_seeds/row_correlation_summary"])
    grouped = seeds.groupby(_KEYS, sort=False)["value"]
    spread = grouped.agg(low="min", mean_of_seeds="mean", high="max", n_seeds="size")
    # Unstacking sorts the cells, and the rows below are taken by their place.
    draws = grouped.quantile([0.025, 0.5, 0.975]).unstack().reindex(spread.index)
    is_drawn = spread.index.get_level_values("dataset") == DRAWN
    spread.loc[is_drawn, ["low", "high"]] = draws.loc[is_drawn, [0.025, 0.975]].to_numpy()
    spread["median"] = draws[0.5]
    table = ours[[*_KEYS, "value"]].merge(spread.reset_index(), on=_KEYS, how="left")
    table["seed_0"] = table["value"]
    table["value"] = table["median"].where(table["dataset"] == DRAWN, table["seed_0"])
    by_samples = _by_samples(inputs["sutera2021_local/row_correlation"])
    table = table.merge(by_samples, on=_KEYS, how="left", validate="1:1")
    table["low_by_samples"] = table["by_samples"] - _ROUNDING
    table["high_by_samples"] = table["by_samples"] + _ROUNDING
    columns = ["value", "seed_0", "low", "mean_of_seeds", "high", "n_seeds"]
    return table[[*_KEYS, *columns, "low_by_samples", "high_by_samples"]]


def _by_samples(correlations):
    """The statistics of the table from the correlation of each sample."""
    grouped = correlations.rename(columns={"data": "dataset"}).groupby(_KEYS[:-1])["value"]
    statistics = {
        "mean": grouped.mean(),
        "std": grouped.std(ddof=0),
        **{f"frac>={b:g}": grouped.agg(lambda v, b=b: 100 * (v >= b).mean()) for b in _BOUNDS},
    }
    table = pd.concat(statistics, names=["statistic"]).rename("by_samples")
    return table.reset_index()


def statements(table):
    """s20: vectors that correlate at 0.75 or more, in percent, by data set."""
    shares = table[(table["variant"] == "published") & (table["statistic"] == "frac>=0.75")]
    for correlation, rows in shares.groupby("correlation", sort=False):
        smallest_shares = rows.groupby("dataset")["value"].min().sort_values(ascending=False)
        for measured, rank, limit in (
            ("fourth largest share of a data set (%)", 3, 90.0),
            ("smallest share of a data set (%)", 5, 80.0),
        ):
            variant = f"{correlation}, {limit:g} %"
            value = smallest_shares.iloc[rank]
            options = {"basis": "printed", "possible": (0, 100)}
            yield finding("s20", variant, measured, value, limit, "at least", **options)


def _cells(summary):
    cells = summary.rename(columns={"data": "dataset"})
    return cells[cells["statistic"].isin(STATISTICS)]
