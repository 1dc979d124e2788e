"""Figure 7: correlation of local MDI with Saabas and TreeSHAP, sample by sample, sorted."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduction.figures import COLORS, panels
from reproduction.papers import finding

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
    """Correlations of every sample in rising order, of the forests of table 4.

    Parameters
    ----------
    inputs : dict of DataFrame
        ``sutera2021_local/row_correlation``.
    """
    rows = inputs["sutera2021_local/row_correlation"].rename(columns={"data": "dataset"})
    keys = ["variant", "dataset", "versus", "correlation"]
    rows = rows.sort_values([*keys, "value"], kind="stable", ignore_index=True)
    rows["rank"] = rows.groupby(keys).cumcount()
    return rows[[*keys, "rank", "value"]]


def draw(table):
    """Six panels as in the paper (signed scores, those of table 4 as printed)."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(9.6, 5.6))
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
                text_style = {"xytext": (3, 0), "textcoords": "offset points", "va": "center"}
                axis.annotate(f"{threshold:g}", (100, threshold), fontsize=7, **text_style)
        n = panel["rank"].max() + 1 if len(panel) else 0
        axis.set_title(f"{title} ({n:.0f} samples)")
        axis.set_xlim(0, 100)
    for axis in axes[1]:
        axis.set_xlabel("samples, sorted (%)")
    for axis in axes[:, 0]:
        axis.set_ylabel("correlation with local MDI")
    panels.letter(axes)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    figure.suptitle(
        "Correlation of local MDI with Saabas and TreeSHAP of the predicted class, signed scores; "
        "extra-trees, K = 1,\nrandom_state 0; dashed: the bounds of table 4. Scales differ.",
        fontsize=8.5,
    )
    return figure


def statements(table) -> list[dict]:
    """s21 and s43, by data set, of signed scores and Pearson correlation.

    The paper does not say which samples count as uncorrelated. Its numbers do: in table 4,
    between 0.6 and 9.7 % of the samples of four data sets do not reach 0.75.
    """
    rows = table[(table["variant"] == "published") & (table["correlation"] == "pearson")]
    findings = []
    for dataset in PANELS:
        of_set = rows[rows["dataset"] == dataset].groupby("versus", sort=False)["value"]
        low = 100 * of_set.agg(lambda values: (values < SIMILAR).mean())
        for measured, value, limit, kind in (
            ("smaller", low.min(), LEAST, "at least"),
            ("larger", low.max(), MOST, "at most"),
        ):
            words = f"{measured} share of samples below {SIMILAR:g} (Pearson), of two measures (%)"
            variant = f"{dataset}, {kind} {LEAST if kind == 'at least' else MOST:g} %"
            options = {"basis": "chosen", "reason": _UNCORRELATED}
            findings.append(finding("s21", variant, words, value, limit, kind, **options))
        high = 100 * of_set.agg(lambda values: (values >= CLOSE).mean()).min()
        findings.append(
            finding(
                "s43",
                dataset,
                f"smaller share of samples at {CLOSE:g} or more, of two measures (%)",
                high,
                50.0,
                "at least",
                basis="chosen",
                reason="0.9 is the higher bound of table 4, and a large fraction is most of them",
            )
        )
    return findings
