"""Figure 1: two trees over fever and cough, and which attributions of cough fall from A to B.

The values of the leaves are **assumed**: the paper's text says only that A is an AND function and
that B adds an increase when there is cough. 80 and 10 are those of the figure's later versions.
The results for them are exact, and the range of values for which the conclusions hold is given.
"""

from collections import Counter
from fractions import Fraction

import pandas as pd

from reproduction.papers import finding
from reproduction.papers.lundberg2017 import _attributions, _consistency, _figure1
from reproduction.papers.lundberg2017._algorithms import INTERNAL, Tree
from reproduction.parameters import Count, Seed

# Assumed: output of the AND function, and the increase with cough in B.
AND, INCREASE = Fraction(80), Fraction(10)
FEATURES = ("Fever", "Cough")
FEVER, COUGH = 0, 1
ROWS = [(0, 0), (0, 1), (1, 0), (1, 1)]
EXPLAINED = (1, 1)
# (task, method): whether the attribution of cough falls from A to B.
FALLS = {
    ("output", "path"): True,
    ("output", "SHAP"): False,
    ("output", "mean |SHAP|"): False,
    ("gain", "path"): True,
    ("gain", "SHAP"): False,
    ("split count", "split count"): True,
}
# INCREASE / AND. Up to the second number all conclusions of the figure hold, as the smallest of the
# ratios at which one turns, (sqrt 2 - 1) / 2 = 0.207 for the gain, says; see `relative_change`.
RATIOS = [Fraction(k, 100) for k in range(1, 61)]
HOLDS_UP_TO = 0.2
# Nothing is rounded here, so a value of at least this is not 0.
MARGIN = 1e-6
N_PAIRS = 2000
SIZES = (2, 3)


def compute(inputs, n_pairs: Count = N_PAIRS, seed: Seed = 0) -> pd.DataFrame:
    """Numbers of the figure, and those that decide whether it depends on the assumed leaves.

    Columns: ``part``; ``tree``, ``feature``, ``task``, ``method``; ``x`` (ratio of the increase to
    the AND, or number of features); ``n`` (pairs); ``value``; ``exact``, the value as a fraction.
    Parts: ``leaf`` (assumed), ``attribution``, ``marginal`` (what knowing the feature adds,
    ``method`` names what else is known), ``range`` (relative change of cough's attribution from A
    to B at the ratio ``x``), ``pairs`` (in how many random pairs it falls).
    """
    cases = trees()
    rows = list(_leaves(cases))
    for name, tree in cases.items():
        rows += [*_attributed(name, tree), *_marginals(name, tree)]
    for ratio in RATIOS:
        for (task, method), change in relative_change(ratio).items():
            key = {"part": "range", "feature": "Cough", "task": task, "method": method}
            rows.append({**key, "x": float(ratio), **_number(change)})
    for M in SIZES:
        for (task, method), count in _consistency.violations(M, n_pairs, seed).items():
            key = {"part": "pairs", "task": task, "method": method, "x": M, "n": n_pairs}
            rows.append({**key, **_number(Fraction(count))})
    columns = ["part", "tree", "feature", "task", "method", "x", "n", "value", "exact"]
    return pd.DataFrame(rows, columns=columns)


def trees(leaf=AND, increase=INCREASE) -> dict[str, Tree]:
    """The two trees: A tests fever first, B cough first; a quarter of the rows in each leaf."""
    zero = leaf * 0
    return {
        "A": _tree(FEVER, COUGH, [zero, zero, zero, leaf]),
        "B": _tree(COUGH, FEVER, [zero, zero, increase, leaf + increase]),
    }


def attributions(tree: Tree) -> dict[tuple[str, str], list]:
    """Every attribution of the figure by task and method, one number a feature."""
    M = len(FEATURES)
    return {
        ("output", "path"): _attributions.path_output(EXPLAINED, tree),
        ("output", "SHAP"): _attributions.shap_output(EXPLAINED, tree),
        ("output", "mean |SHAP|"): _attributions.mean_absolute_shap(ROWS, tree),
        ("gain", "path"): _attributions.path_gain(M, tree),
        ("gain", "SHAP"): _attributions.shap_gain(ROWS, tree),
        ("split count", "split count"): _attributions.split_count(M, tree),
    }


def relative_change(ratio) -> dict[tuple[str, str], Fraction]:
    """Change of cough's attribution from A to B over that in A, for any ratio of the leaves.

    With q = INCREASE / AND these are q - 1/2 and (1 + 2q)^2 / 2 - 1 for the path method's output
    and gain, -1/2 for the split count, and 4q/3, 2q and 8 (q + q^2) / 3 for SHAP's three: below
    zero for q < 1/2, q < (sqrt 2 - 1) / 2, always, and never.
    """
    a, b = (attributions(tree) for tree in trees(Fraction(1), ratio).values())
    return {key: b[key][COUGH] / a[key][COUGH] - 1 for key in a}


draw = _figure1.draw


def statements(table):
    """s01: the attributions that fall and rise from A to B, and in how many random pairs."""
    attributed = table[table["part"] == "attribution"]
    cough = attributed[attributed["feature"] == "Cough"].set_index(["task", "method", "tree"])[
        "value"
    ]
    change = {key: cough[(*key, "B")] / cough[(*key, "A")] - 1 for key in FALLS}
    falls, rises = _least(change)
    # Changes grow with the ratio of the leaves' values, which lies between two of `RATIOS`.
    (_, *below), (_, *above) = _neighbors(table)
    ranges = table[(table["part"] == "range") & (table["x"] <= HOLDS_UP_TO)]
    expected = [FALLS[key] for key in zip(ranges["task"], ranges["method"], strict=True)]
    exceptions = ((ranges["value"] < 0) != expected).sum()
    measured = "smallest {} of cough's attribution from A to B, relative"
    exceptions_text = (
        f"exceptions among other leaf values, increase / AND from 0.01 to {HOLDS_UP_TO}"
    )
    exists = "a method is inconsistent if there is one pair of models for which it is"
    yield finding(
        *("s01", "falls", measured.format("fall (path, splits)"), falls, MARGIN, "at least"),
        basis="our reading",
        reason="nothing is rounded, so what is at least this is not 0",
        possible=(above[0], below[0]),
    )
    yield finding(
        *("s01", "rises", measured.format("rise (SHAP)"), rises, 0.0, "at least"),
        possible=(below[1], above[1]),
    )
    yield finding(
        *("s01", "other leaf values", exceptions_text, exceptions, 0.0),
        possible=(0, len(ranges)),
    )
    pairs = table[table["part"] == "pairs"]
    for (task, method), rows in pairs.groupby(["task", "method"], sort=False):
        count, n = rows["value"].sum(), rows["n"].sum()
        measured = f"falls in {n:.0f} random pairs where the feature matters more"
        place = ("s01", f"pairs, {method} of the {task}", measured, count)
        if method == "SHAP":
            yield finding(*place, 0.0, possible=(0, n))
        else:
            limit = {"kind": "at least", "basis": "our reading", "reason": exists}
            yield finding(*place, 1.0, **limit, possible=(0, n))


def _least(change):
    """Smallest fall of the attributions that fall, and smallest rise of those that rise."""
    falls = -max(change[key] for key, expects_fall in FALLS.items() if expects_fall)
    return falls, min(change[key] for key, expects_fall in FALLS.items() if not expects_fall)


def _neighbors(table):
    """Ratio, smallest fall and rise at the ratios below and above that of the leaves."""
    ranges = table[table["part"] == "range"]
    least = [
        (x, *_least(rows.set_index(["task", "method"])["value"]))
        for x, rows in ranges.groupby("x", sort=True)
    ]
    ratio = float(INCREASE / AND)
    return max(row for row in least if row[0] < ratio), min(row for row in least if row[0] > ratio)


def _tree(first, second, leaves):
    covers = [4, 2, 1, 1, 2, 1, 1]
    return Tree(
        v=[INTERNAL, INTERNAL, *leaves[:2], INTERNAL, *leaves[2:]],
        a=[1, 2, -1, -1, 5, -1, -1],
        b=[4, 3, -1, -1, 6, -1, -1],
        t=[0.5] * 7,
        r=[Fraction(r) for r in covers],
        d=[first, second, -1, -1, second, -1, -1],
    )


def _leaves(cases):
    """Assumed values of the leaves, by the answers to fever and cough."""
    for name, tree in cases.items():
        for x in ROWS:
            answers = "fever {}, cough {}".format(*("yes" if answer else "no" for answer in x))
            value = _number(_attributions.expvalue(x, (FEVER, COUGH), tree, Counter()))
            yield {"part": "leaf", "tree": name, "method": f"assumed: {answers}", **value}


def _attributed(name, tree):
    for (task, method), values in attributions(tree).items():
        for feature, value in zip(FEATURES, values, strict=True):
            key = {"part": "attribution", "tree": name, "feature": feature}
            yield {**key, "task": task, "method": method, **_number(value)}


def _marginals(name, tree):
    """Change of the output and of the gain by knowing cough, without and with fever."""
    games = {
        "output": lambda S: _attributions.expvalue(EXPLAINED, S, tree, Counter()),
        "gain": _attributions.gain_game(ROWS, tree),
    }
    for task, v in games.items():
        for context, S in (("nothing known", ()), ("fever known", (FEVER,))):
            key = {"part": "marginal", "tree": name, "feature": "Cough", "task": task}
            yield {**key, "method": context, **_number(v((*S, COUGH)) - v(S))}


def _number(value):
    return {"value": float(value), "exact": str(value)}
