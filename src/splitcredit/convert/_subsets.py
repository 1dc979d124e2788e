"""Splits by subsets of categories, as converters of all libraries hand them to `Forest`."""

from __future__ import annotations

import numpy as np

from splitcredit.categories import Categories


def members_of(words) -> np.ndarray:
    """The bits that are set in a bitset: numbers of 32 bits, the lowest first."""
    words = np.asarray(words, np.uint32)
    return np.flatnonzero(words[:, None] >> np.arange(32, dtype=np.uint32) & 1)


def subset_fields(arrays, n_features, nodes, members, left, labels=(), **coding) -> dict:
    """Fields of a Forest for splits by categories: columns, thresholds and `Categories`.

    Returns a dict: ``column``, ``threshold`` and ``categories``; nothing without splits and
    labels.

    Parameters
    ----------
    arrays : dict
        Node arrays of the Forest, ``feature`` and ``threshold`` among them.
    n_features : int
    nodes : int (n_splits,)
        Nodes that split by categories.
    members : sequence of sequences of int, one a split
        Codes of the categories in each subset.
    left : bool
        Whether members go left.
    labels : sequence of sequences
        Labels of the categories; see `Categories`, as for `coding`.
    """
    if not len(nodes) and not len(labels):
        return {}
    number_of: dict[tuple, int] = {}
    column = arrays["feature"].copy()
    for k, codes in zip(np.asarray(nodes).tolist(), members, strict=True):
        key = int(arrays["feature"][k]), tuple(int(c) for c in codes)
        column[k] = n_features + number_of.setdefault(key, len(number_of))
    categories = Categories(
        feature=tuple(j for j, _ in number_of),
        members=tuple(codes for _, codes in number_of),
        members_left=(left,) * len(number_of),
        labels=labels,
        **coding,
    )
    if not len(nodes):
        return {"categories": categories}
    threshold = arrays["threshold"].copy()
    threshold[nodes] = 0.5
    return {"column": column, "threshold": threshold, "categories": categories}
