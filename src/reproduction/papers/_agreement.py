"""Second opinions on a paper's own models: our values beside those of the papers' programs.

An artefact ``agreement`` of each paper; its experiment names the measures that are compared.
"""

import numpy as np
import pandas as pd

from reproduction.figures import COLORS, panels
from reproduction.papers import finding

# Importance of ours -> the measure that the packages compute too.
MEASURES = {
    "local_mdi": "local MDI",
    "saabas": "Saabas",
    "cfc": "Saabas",
    "tree_shap": "TreeSHAP",
    "shap": "TreeSHAP",
    "tree_shap_interventional": "TreeSHAP, interventional",
}
UNEXPLAINED = "unexplained"
UNWINDS = "shap unwinds paths, which loses digits with each feature on them"
# Half of the digits must be left, relative to the largest value: a wrong term is far above.
_HALF_OF_DIGITS = 2.0**-26
_STYLE = {
    "treeinterpreter": ("green", "s"),
    "shap": ("vermilion", "o"),
    "xgboost": ("purple", "^"),
}
# Differences below the spacing of float64 are drawn there.
_LEAST = 2.0**-56


def compute(inputs) -> pd.DataFrame:
    """Largest difference of every measure, package and model, with its limits and its cause.

    The columns are those of `reproduction.metrics.agreement`, with ``model`` before them, and
    ``cause``: of a difference above the rounding of float64, else empty.
    """
    tables = []
    for table in inputs.values():
        compared = table.drop(columns=[n for n in table if "." in n or n in _AXES])
        compared.insert(0, "model", [_label(row) for row in table.to_dict("records")])
        tables.append(compared)
    merged = pd.concat(tables, ignore_index=True)
    merged["measure"] = merged["measure"].map(MEASURES)
    merged["cause"] = [_cause(row) for row in merged.to_dict("records")]
    return merged


_AXES = ("data", "model", "variant", "repeat")


def _label(row):
    """Data set, with the words that tell its models apart."""
    variant = row.get("variant")
    words = [row["data"], row["model"] if isinstance(variant, str) else "", variant]
    k = row.get("model.max_features")
    words.append(f"K={k:g}" if isinstance(k, (int, float)) and row["data"] == "led" else "")
    return ", ".join(word.replace("_", " ") for word in words if isinstance(word, str) and word)


def _cause(row):
    """Why a difference is larger than sums in float64 leave it."""
    if row["value"] <= row["limit_float64"]:
        return ""
    if row["arithmetic"] == "float32" and row["value"] <= row["limit"]:
        return f"{row['package']} works in single precision"
    by_shap = (row["measure"], row["package"]) == ("TreeSHAP", "shap")
    if by_shap and row["value"] <= _HALF_OF_DIGITS * row["scale"]:
        return UNWINDS
    return UNEXPLAINED


def statements(table, named):
    """Whether packages compute the measures: the largest share of what roundings allow.

    `named` are the measures that the paper's sentences name, with the statement. Another measure is
    judged under the first of them, and only if its difference has no cause.
    """
    for (measure, package), rows in table.groupby(["measure", "package"], sort=False):
        unexplained = (rows["cause"] == UNEXPLAINED).any()
        if measure not in named and not unexplained:
            continue
        most_lost = (_HALF_OF_DIGITS * rows["scale"] / rows["limit"]).max()
        yield finding(
            named.get(measure, next(iter(named.values()))),
            # A cause that is known of a package is not one of a larger difference.
            f"{measure} by {package}" + (", no cause is known" if unexplained else ""),
            "largest difference over what roundings allow",
            (rows["value"] / rows["limit"]).max(),
            1.0,
            basis="rounding",
            possible=(0.0, None),
            expected=(1.0, most_lost) if (rows["cause"] == UNWINDS).any() else None,
        )


def draw(table):
    """Largest difference over the largest value: a line a measure and package, a mark a model."""
    lines = list(dict.fromkeys(zip(table["measure"], table["package"], strict=True)))
    figure, axis = panels.subplots(figsize=(8.4, 1.5 + 0.42 * len(lines)))
    labels = []
    for place, (measure, package) in enumerate(lines):
        rows = table[(table["measure"] == measure) & (table["package"] == package)]
        labels.append(f"{measure}\n{package} {rows['version'].iloc[0]}")
        color, mark = _STYLE[package]
        share = np.maximum(rows["value"] / rows["scale"], _LEAST)
        spread = np.linspace(-0.22, 0.22, len(rows)) if len(rows) > 1 else np.zeros(1)
        limit = (rows["limit"] / rows["scale"]).to_numpy()
        axis.plot(limit, place + spread, "|", color="0.45", ms=7)
        axis.plot(share, place + spread, mark, color=COLORS[color], ms=5, mec="white", mew=0.5)
        for x, height, row in zip(share, place + spread, rows.to_dict("records"), strict=True):
            if row["value"] > row["limit"]:
                text = f"{row['model']}, trees up to depth {row['depth']}"
                style = {"va": "center", "fontsize": 7.5, "color": COLORS[color]}
                # White behind the letters, which may stand on a line.
                style["bbox"] = {"fc": "white", "ec": "none", "pad": 0.5}
                panels.note(axis, text, (x, height), (7, 0), **style)
    axis.set_yticks(range(len(lines)), labels, fontsize=8)
    axis.set_ylim(len(lines) - 0.5, -0.5)
    axis.set_xscale("log")
    axis.set_xlim(_LEAST / 2, max(30 * (table["limit"] / table["scale"]).max(), 1e-5))
    for eps, name in ((2.0**-52, "float64"), (2.0**-23, "float32")):
        axis.axvline(eps, color="0.3", lw=0.8, ls=":")
        style = {"xycoords": ("data", "axes fraction"), "fontsize": 7.5, "color": "0.3"}
        panels.note(axis, f"machine epsilon of {name}", (eps, 1), (2, 3), **style)
    style = {"color": "0.45", "label": "limit: what roundings may add up to"}
    axis.plot([], [], "|", ms=7, **style)
    style |= {"mec": "white", "label": "one model (marks differ by package)"}
    axis.plot([], [], "o", ms=5, **style)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    axis.set_xlabel("largest difference from our values / largest value")
    axis.set_title("How far the values of other packages are from ours", pad=18)
    return figure
