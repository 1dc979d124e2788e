"""Drawing of figure 1: trees, table of attributions, other leaf values, random pairs."""

from reproduction.figures import COLORS, panels, pictures

FALLS, RISES = COLORS["vermilion"], COLORS["blue"]
PAPER = "0.97"
# The rows of the table: task and method -> name.
ROWS = {
    ("output", "path"): "output of the patient, path (Saabas)",
    ("output", "SHAP"): "output of the patient, SHAP",
    ("output", "mean |SHAP|"): "output, mean |SHAP| of all patients",
    ("gain", "path"): "gain in squared error, path (MDI)",
    ("gain", "SHAP"): "gain in squared error, SHAP",
    ("split count", "split count"): "number of splits",
}
# Color, dash, short name, and where that name stands beside its line: ratio and percent.
LINES = {
    ("output", "path"): (FALLS, "-", "output, path", (0.335, -30)),
    ("gain", "path"): (FALLS, "--", "gain, path", (0.225, -14)),
    ("split count", "split count"): (COLORS["orange"], "-", "splits", (0.35, -47)),
    ("output", "SHAP"): (RISES, "-", "output, SHAP", (0.335, 26)),
    ("output", "mean |SHAP|"): (COLORS["sky"], "-", "mean |SHAP|", (0.275, 80)),
    ("gain", "SHAP"): (RISES, "--", "gain, SHAP", (0.13, 85)),
}
ASSUMED = 1 / 8


def draw(table):
    """Trees on top, attributions beneath, then the attributions for other leaves and trees."""
    figure = panels.figure(figsize=(8.4, 8.8))
    trees, middle, bottom = figure.subfigures(3, 1, height_ratios=[1.0, 0.9, 0.9])
    pair, lowest = trees.subplots(1, 2), bottom.subplots(1, 2)
    leaves = table[table["part"] == "leaf"].groupby("tree")["exact"].apply(list)
    titles = {"A": "Tree A: an AND", "B": "Tree B: the same, and more with cough"}
    for column, (name, order) in enumerate((("A", ("Fever", "Cough")), ("B", ("Cough", "Fever")))):
        axis = pair[column]
        a, b, c, d = leaves[name]  # by fever, then cough
        _tree(axis, order, [a, b, c, d] if name == "A" else [a, c, b, d])
        axis.set_title(titles[name], fontweight="bold")
    note = "A quarter of the patients in each leaf. The values of the leaves are assumed: "
    note += "the text of the paper does not print them."
    trees.supxlabel(note, fontsize=8, color="0.35", style="italic")
    comparison = middle.subplots()
    _table(comparison, table[table["part"] == "attribution"])
    _ranges(lowest[0], table[table["part"] == "range"])
    _pairs(lowest[1], table[table["part"] == "pairs"])
    panels.letter([*pair, comparison, *lowest])
    return figure


def _tree(axis, order, leaves):
    """A tree of two levels; the way of a patient with both symptoms in dark."""
    axis.set(xlim=(-0.06, 1.06), ylim=(0.0, 1.06))
    pictures.blank(axis)
    inner = {0: (0.5, 0.95), 1: (0.23, 0.55), 2: (0.77, 0.55)}
    ends = {k: (0.095 + 0.27 * k, 0.1) for k in range(4)}
    for parent, child, answer, on_path in (
        (inner[0], inner[1], "No", False),
        (inner[0], inner[2], "Yes", True),
        (inner[1], ends[0], "No", False),
        (inner[1], ends[1], "Yes", False),
        (inner[2], ends[2], "No", False),
        (inner[2], ends[3], "Yes", True),
    ):
        _arrow(axis, parent, child, answer, on_path)
    for k, xy in inner.items():
        _box(axis, xy, order[min(k, 1)], on_path=k != 1)
    for k, xy in ends.items():
        _box(axis, xy, leaves[k], on_path=k == 3, leaf=True)


def _arrow(axis, start, end, answer, on_path):
    color = "0.15" if on_path else "0.65"
    style = {"arrowstyle": "-|>", "color": color, "lw": 1.8 if on_path else 1.0}
    style |= {"shrinkA": 13, "shrinkB": 12}
    axis.annotate("", end, start, arrowprops=style)
    x, y = ((s + e) / 2 for s, e in zip(start, end, strict=True))
    side = 1 if end[0] > start[0] else -1
    axis.text(x + 0.045 * side, y + 0.03, answer, color=color, fontsize=8, ha="center")


def _box(axis, center, text, on_path, leaf=False):
    face = {"boxstyle": "round,pad=0.35" if not leaf else "square,pad=0.4"}
    face |= {"fc": "white" if not leaf else PAPER, "ec": "0.15" if on_path else "0.65"}
    face["lw"] = 1.6 if on_path else 0.9
    text = text if leaf else f"{text}?"
    weight = "bold" if on_path else "normal"
    axis.text(*center, text, ha="center", va="center", bbox=face, fontweight=weight, fontsize=9)


def _table(axis, table):
    """Six attributions in both trees, and the change of cough's."""
    pictures.blank(axis)
    axis.set(xlim=(0, 1), ylim=(-0.3, len(ROWS) + 1.5))
    exact = table.set_index(["task", "method", "tree", "feature"])["exact"]
    value = table.set_index(["task", "method", "tree", "feature"])["value"]
    columns = {
        ("A", "Fever"): 0.42,
        ("A", "Cough"): 0.51,
        ("B", "Fever"): 0.61,
        ("B", "Cough"): 0.7,
    }
    for tree, x in (("A", 0.465), ("B", 0.655)):
        axis.text(x, len(ROWS) + 0.95, f"tree {tree}", ha="center", fontweight="bold")
    for (_, feature), x in columns.items():
        axis.text(x, len(ROWS) + 0.2, feature, ha="center", fontsize=8, color="0.35")
    axis.text(0.87, len(ROWS) + 0.95, "Cough, from A to B", ha="center", fontweight="bold")
    axis.text(0.87, len(ROWS) + 0.2, "it matters more in B", ha="center", fontsize=8, color="0.35")
    for k, (key, label) in enumerate(ROWS.items()):
        y = len(ROWS) - 1 - k
        if k % 2 == 0:
            axis.axhspan(y - 0.18, y + 0.78, color=PAPER, zorder=0)
        axis.text(0.01, y + 0.3, label, va="center")
        change = value[(*key, "B", "Cough")] / value[(*key, "A", "Cough")] - 1
        color = FALLS if change < 0 else RISES
        for (tree, feature), x in columns.items():
            bold = {"color": color, "fontweight": "bold"} if feature == "Cough" else {}
            axis.text(x, y + 0.3, exact[(*key, tree, feature)], ha="center", va="center", **bold)
        text = (
            f"▼ falls by {-change:.0%}: inconsistent" if change < 0 else f"▲ rises by {change:.0%}"
        )
        axis.text(0.775, y + 0.3, text, va="center", color=color)


def _ranges(axis, table):
    """Relative change of cough's attribution against the assumed ratio of the leaf values."""
    axis.axhspan(-75, 0, color=FALLS, alpha=0.07, lw=0)
    axis.axhline(0, color="0.4", lw=0.8)
    axis.axvline(ASSUMED, color="0.4", lw=0.8, ls=":")
    for key in ROWS:
        rows = table[(table["task"] == key[0]) & (table["method"] == key[1])]
        color, dash, name, xy = LINES[key]
        axis.plot(rows["x"], 100 * rows["value"], color=color, ls=dash)
        axis.text(*xy, name, color=color, fontsize=7.5)
    axis.set(xlim=(0, 0.45), ylim=(-75, 130))
    axis.text(ASSUMED + 0.008, -69, "assumed: 10 / 80", fontsize=7, color="0.3")
    axis.set_xlabel("increase with cough in B / value of the AND")
    axis.set_ylabel("change of cough's\nattribution, A to B (%)")
    axis.set_title("Other values of the leaves")


def _pairs(axis, table):
    """Share of random pairs in which the attribution falls although the feature matters more."""
    order = [("output", "SHAP"), ("gain", "SHAP"), ("output", "path"), ("gain", "path")]
    places = {key: k for k, key in enumerate(reversed(order))}
    for M, group in table.groupby("x"):
        offset = 0.19 if M == table["x"].min() else -0.19
        for row in group.itertuples():
            share, y = 100 * row.value / row.n, places[row.task, row.method] + offset
            color = LINES[row.task, row.method][0]
            axis.barh(y, share, height=0.34, color=color, alpha=1.0 if offset > 0 else 0.6)
            text = f"{share:.1f} %  (M = {M:.0f})" if share else f"0  (M = {M:.0f})"
            axis.text(share + 0.5, y, text, va="center", fontsize=7)
    labels = [LINES[key][2] for key in places]
    axis.set_yticks(list(places.values()), labels)
    axis.set_xlim(0, 18)
    axis.grid(axis="y", visible=False)
    share = f"% of {table['n'].iloc[0]:.0f} pairs, orders drawn"
    axis.set_xlabel(f"falls though the feature matters more\n({share})")
    axis.set_title("Random pairs of trees, M features")
