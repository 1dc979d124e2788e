"""Slow twin of the search for a split: every subset of categories and every threshold is tried."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations


def gini(labels) -> Fraction:
    """Gini impurity of two classes, times the number of rows."""
    n, ones = len(labels), sum(labels)
    return Fraction(2 * ones * (n - ones), n)


def decrease(labels, left) -> Fraction:
    """Rows times impurity of a node less those of its children; `left` says who goes there."""
    parts = [[y for y, place in zip(labels, left, strict=True) if place is side] for side in (1, 0)]
    return gini(labels) - sum(gini(part) for part in parts)


def largest_decrease(values, labels, is_category) -> Fraction | None:
    """Of all splits of a feature in a node, None if it has one value there.

    `values` and `labels` are those of the node's rows, as often as they were drawn.
    """
    levels = sorted(set(values))
    if is_category:
        sizes = range(1, len(levels))
        subsets = [set(subset) for n in sizes for subset in combinations(levels, n)]
    else:
        subsets = [set(levels[:n]) for n in range(1, len(levels))]
    gains = [decrease(labels, [int(v in subset) for v in values]) for subset in subsets]
    return max(gains, default=None)
