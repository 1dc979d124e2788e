"""Figure 7: correlation of local MDI with Saabas and TreeSHAP, sample by sample, sorted."""

import numpy as np
import pandas as pd

from reproduction import claims
from reproduction.figures import COLORS, panels
from reproduction.papers import around, finding, printed

PANELS = {
    "led": "Led",
    "led_sampled": "Led (sampled)",
    "iris": "Iris",
    "wine": "Wine",
    "breast_cancer": "Breast cancer",
    "digits": "Digits",
}
# Bounds of table 4.
SIMILAR, CLOSE = 0.75, 0.9
# "Close to 1": of samples (s43) and, in section 6, of means over them (s17).
CLOSE_TO_1 = (
    "the paper gives no number for close to 1; of the two bounds of its table 4, it calls vectors "
    "that reach 0.75 similar, and 0.9 is the stricter one: both are judged"
)
_MOST_OF_THEM = f"{CLOSE_TO_1}; and a large fraction is most of them"
# "Roughly 1 % to 10 %": shares that round to whole percents from 1 to 10.
LEAST, MOST = 0.5, 10.5
_UNCORRELATED = (
    "the paper does not say which samples count as uncorrelated; of table 4's two bounds the lower "
    "one leaves 1 to 10 % of the samples of four data sets below it"
)
_LINES = {
    ("saabas", "pearson"): ("Saabas, Pearson", COLORS["blue"], "-"),
    ("saabas", "spearman"): ("Saabas, Spearman", COLORS["blue"], ":"),
    ("tree_shap", "pearson"): ("TreeSHAP, Pearson", COLORS["vermilion"], "-"),
    ("tree_shap", "spearman"): ("TreeSHAP, Spearman", COLORS["vermilion"], ":"),
}


def compute(inputs) -> pd.DataFrame:
    """Correlations of every sample in rising order, of the forests of table 4."""
    rows = inputs["sutera2021_local/row_correlation"].rename(columns={"data": "dataset"})
    keys = ["variant", "dataset", "versus", "correlation"]
    rows = rows.sort_values([*keys, "value"], kind="stable", ignore_index=True)
    rows["rank"] = rows.groupby(keys).cumcount()
    return rows[[*keys, "rank", "value"]]


def draw(table):
    """Six panels as in the paper (signed scores, those of table 4 as printed)."""
    figure, axes = panels.subplots(2, 3, figsize=(9.6, 5.6))
    published = table[table["variant"] == "published"]
    for axis, (dataset, title) in zip(axes.flat, PANELS.items(), strict=True):
        panel = published[published["dataset"] == dataset]
        for (versus, correlation), (label, color, dash) in _LINES.items():
            line = panel[(panel["versus"] == versus) & (panel["correlation"] == correlation)]
            percent = 100 * (np.arange(len(line)) + 0.5) / max(len(line), 1)
            axis.plot(percent, line["value"], label=label, color=color, linestyle=dash)
        # Each panel has a scale of its own: on led a common one would show a flat line.
        low = min(panel["value"].min(), CLOSE - 0.02) if len(panel) else SIMILAR
        axis.set_ylim(low - 0.05 * (1 - low), 1 + 0.05 * (1 - low))
        for threshold in (SIMILAR, CLOSE):
            if threshold >= low:
                axis.axhline(threshold, color="0.5", linewidth=0.8, linestyle="--", zorder=1)
                place = (100, threshold)
                panels.note(axis, f"{threshold:g}", place, (3, 0), va="center", fontsize=7)
        n = panel["rank"].max() + 1 if len(panel) else 0
        axis.set(title=f"{title} ({n:.0f} samples)", xlim=(0, 100))
    for axis in axes[1]:
        axis.set_xlabel("samples, sorted (%)")
    for axis in axes[:, 0]:
        axis.set_ylabel("correlation with local MDI")
    panels.letter(axes)
    lines = axes[0, 0].get_legend_handles_labels()
    figure.legend(*lines, loc="outside lower center", ncols=4)
    figure.suptitle(
        "Correlation of local MDI with Saabas and TreeSHAP of the predicted class, signed scores; "
        "extra-trees, K = 1,\nrandom_state 0; dashed: the bounds of table 4. Scales differ.",
        fontsize=8.5,
    )
    return figure


def statements(table):
    """s21 and s43, by data set, of signed scores and Pearson correlation.

    The paper does not say which samples count as uncorrelated. Its numbers do: in table 4,
    between 0.6 and 9.7 % of the samples of four data sets do not reach 0.75.
    """
    rows = table[(table["variant"] == "published") & (table["correlation"] == "pearson")]
    outside_of = (
        f"how far the share of samples below {SIMILAR:g} (Pearson) is outside {LEAST:g} to "
        f"{MOST:g} %, the larger of two measures (%)"
    )
    for dataset in PANELS:
        of_set = rows[rows["dataset"] == dataset].groupby("versus", sort=False)["value"]
        low = 100 * of_set.agg(lambda values: (values < SIMILAR).mean())
        # Both ends of the range in one number.
        outside = max(LEAST - low.min(), low.max() - MOST, 0)
        options = {"reading": _UNCORRELATED, "possible": (0, 100 - MOST)}
        # On led no sample can disagree.
        options["expected"] = (LEAST, LEAST) if dataset.startswith("led") else None
        yield finding("s21", dataset, outside_of, outside, 0.0, **options)
        for bound in (SIMILAR, CLOSE):
            share = 100 * of_set.agg(lambda values, b=bound: (values >= b).mean()).min()
            measured = f"smaller share of samples at {bound:g} or more, of two measures (%)"
            options = {"reading": _MOST_OF_THEM, "possible": (0, 100)}
            # Where they are fewer, the paper's own table 4 says how many.
            options["expected"] = _printed(dataset, bound) if share < 50 else None
            place = ("s43", f"{dataset}, {bound:g}", measured)
            yield finding(*place, share, 50.0, "at least", **options)


def _printed(dataset, bound):
    """The smaller share at a bound (Pearson) that table 4 prints, up to its last digit."""
    place = {"dataset": dataset, "correlation": "pearson", "statistic": f"frac>={bound:g}"}
    cells = printed("sutera2021", "table4")
    smaller = min((text for cell, text in cells if place.items() <= cell.items()), key=float)
    return around(float(smaller), claims.half_unit(smaller))
