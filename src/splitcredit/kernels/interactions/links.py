"""List the pairs that each node credits: its own feature with each one tested above it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from splitcredit.kernels import cache
from splitcredit.kernels.compiled import kernel
from splitcredit.kernels.interactions.sets import find
from splitcredit.kernels.tree_shap.blocks import quadratures

# A feature above a node.
LINK = np.dtype(
    [
        ("z", np.float64),  # its merged cover ratio
        ("number", np.int32),  # of the pair
        ("above", np.int32),  # depth below the last edge that tests it
    ],
    align=True,
)


class Links(NamedTuple):
    """The pairs of one layout."""

    links: np.ndarray  # `LINK` records
    starts: np.ndarray  # int64 (n_entries + 1,): first link of each entry
    depths: np.ndarray  # int32 (n_entries,): depth of each entry in its tree


def linked_layouts(forest, outputs, table, keep):
    """Yield layouts of the forest for some outputs, each with its links to the pairs of a table."""

    def make():
        return ((layout, links_of(layout, table)) for layout, *_ in quadratures(forest, outputs))

    return cache.ARRAYS.items(forest, ("links", *outputs.tolist()), make) if keep else make()


def links_of(layout, table) -> Links:
    """Return the links of a layout to the pairs of a table."""
    n_entries = len(layout.entries)
    starts, depths = np.zeros(n_entries + 1, np.int64), np.empty(n_entries, np.int32)
    deepest = int(layout.depths.max()) + 1
    none = np.empty(0, LINK)
    _write_links(layout.entries, layout.starts, table, deepest, False, starts, depths, none)
    links = np.empty(starts[-1], LINK)
    _write_links(layout.entries, layout.starts, table, deepest, True, starts, depths, links)
    return Links(links, starts, depths)


@kernel()
def _write_links(entries, tree_starts, table, deepest, writes, starts, depths, links):
    """Count the links of each entry, or write them."""
    path, repeated = np.empty(deepest, np.int64), np.empty(deepest + 1, np.bool_)
    n_links = 0
    for t in range(len(tree_starts) - 1):
        first = tree_starts[t, 0]
        for e in range(first, tree_starts[t + 1, 0]):
            if e == first:
                depths[e] = 0
            d, j = depths[e], entries[e].feature
            path[d] = e
            for child in (entries[e].first, entries[e].second):
                if child >= 0:
                    depths[child] = d + 1
            repeated[:] = False
            for above in range(d, 0, -1):  # the last edge of a feature comes first
                edge = entries[path[above - 1]]
                if not repeated[above] and edge.feature != j:
                    low, high = min(j, edge.feature), max(j, edge.feature)
                    number = table.numbers[find(np.int64(low) * table.base + high, table.keys)]
                    if number >= 0:
                        if writes:
                            is_first = edge.first == path[above]
                            links[n_links].z = edge.z * (edge.ratio if is_first else 1 - edge.ratio)
                            links[n_links].number, links[n_links].above = number, above
                        n_links += 1
                repeated[edge.above] = True
            starts[e + 1] = n_links
