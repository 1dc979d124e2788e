"""Suspicions of leaks by rows: identifiers, their order, times, repeated rows and groups."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import kstest, poisson
from sklearn.neighbors import NearestNeighbors

from splitcredit.views.auditing.columns import Column, Suspicion, gini, gini_error, ranks_of
from splitcredit.views.auditing.subject import drawn
from splitcredit.views.auditing.texts import say

# Rows that are compared with each other, and the chance of one suspicion by kind.
COMPARED, CHANCE = 2_000, 0.001
# Nearly all values differ, or a column nearly rises or falls with the rows.
DISTINCT, MONOTONE, FEWEST = 0.95, 0.95, 20
# Whole numbers in such a range for each row are no codes, as of regions, of which some are shared.
# Fewer ties than neighbors let expect have this chance; few columns are whole and nearly distinct.
WIDE, NO_TIES = 500, 0.01
# Outcomes of neighbors agree by a fifth more than by chance, or the outcome has this Gini
# coefficient with the place; both at five standard errors. By a time, less is enough.
AGREE, TREND, OF_TIME, ERRORS = 0.2, 0.3, 0.1, 5.0
# Outcomes of rows that share a value agree so much, and twice as much as those of neighbors.
OF_GROUP = 0.75
# So many columns, in different orders, part the rows in the same way: a code and its name do so.
STATIC = 3
# Rows have a near twin at a level of chance: these shares of all rows, and at least so many. In
# clean data 1 % are below .01, as they should be. Columns are continuous if no value has more rows.
TWINS, TIED = ((CHANCE / 10, 0.02, 5), (0.01, 0.05, 10)), 0.02
_NAMES = r"(?:^|[_\W])(?:id|ids|uuid|guid|key|index|rownum)(?:$|[_\W])"


def found(columns, outcome, whole, rng) -> list[Suspicion]:
    """Look for all kinds; `whole` is the outcome of the rows, and of a test after them."""
    has_test = any(column.later is not None for column in columns)
    repeated = list(_repeated(columns, has_test)) or list(_twins(columns, has_test, rng))
    names, orders = _identifiers(columns), _orders(columns, outcome, whole)
    return [*names, *orders, *repeated, *_groups(columns, outcome)]


def _identifiers(columns) -> Iterator[Suspicion]:
    """Find columns that name the rows, or rise or fall with them."""
    for column in columns:
        values = column.values[np.isfinite(column.values)]
        n, k = len(values), len(np.unique(values))
        if k < max(FEWEST, len(column.values) / 20):
            continue
        words = {"name": column.name, "k": k, "n": n}
        rise = np.corrcoef(ranks_of(values), np.arange(n))[0, 1]
        if abs(rise) > MONOTONE:
            yield Suspicion("order", (column.name,), k, n, 0.5, say("order", rise=rise, **words))
        elif k > DISTINCT * n and _are_names(column, values):
            yield Suspicion("identifier", (column.name,), k, n, 0.4, say("identifier", **words))


def _are_names(column, values):
    """Say whether values that nearly all differ are names: labels, or whole numbers without ties.

    Counts that lie as near to each other as these have as many ties as neighbors at a distance of
    one to ten; names have none. Wide whole numbers are names if they are spread evenly.
    """
    if column.labels:  # but for texts of several words
        return sum(" " in column.labels[int(v)] for v in values) < len(values) / 2
    if (values != np.round(values)).any() or np.abs(values).max() > 2**53:
        return False
    if re.search(_NAMES, column.name.lower()):
        return True
    whole = np.sort(values - values.min()).astype(np.int64)
    whole //= max(np.gcd.reduce(whole), 1)
    near = np.searchsorted(whole, whole + 10, side="right") - np.arange(len(whole)) - 1
    ties = len(whole) - len(np.unique(whole))
    if poisson.cdf(ties, (near.sum() - ties) / 20) < NO_TIES:
        return True
    is_wide = whole[-1] > WIDE * len(whole) and ties <= 1
    return bool(is_wide and kstest(whole / whole[-1], "uniform").pvalue > 0.01)


def _orders(columns, outcome, whole) -> Iterator[Suspicion]:
    """Find an outcome that goes with the order of the rows, or with a time."""
    places = Column("the order of the rows", np.arange(len(whole.codes), dtype=float))
    for column in [places, *columns]:
        known = np.flatnonzero(np.isfinite(column.values))
        is_place, n = column is places, len(known)
        if n < 2 * FEWEST or not (is_place or column.is_time):
            continue
        order = known[np.argsort(column.values[known], kind="stable")]
        ordered = (whole if is_place else outcome).at(order)
        trends = np.abs(gini(ranks_of(column.values[order][:, None]), ordered)[0])
        agree, trend = _agreement(ordered.centered()).mean(), trends.max()
        least, rise = (AGREE, TREND) if is_place else (OF_TIME, OF_TIME)
        error = gini_error(ordered)[trends.argmax()]
        if agree > max(least, ERRORS / np.sqrt(n)) or trend > max(rise, ERRORS * error):
            text = say("rows", what=column.name, trend=trend, agree=agree)
            if column.later is not None:
                k = (column.later <= np.nanmax(column.values)).sum()
                text += say("before", k=k, n=len(column.later))
            kind, names = ("rows", ()) if is_place else ("time", (column.name,))
            yield Suspicion(kind, names, n, n, min(max(trend, agree), 1.0), text)


def _agreement(table):
    """Measure how far outcomes of each row and the next agree beyond chance; 1 if all are equal."""
    return (table[1:] * table[:-1]).sum(axis=1) / max((table**2).sum() / len(table), 1e-300)


def _repeated(columns, has_test) -> Iterator[Suspicion]:
    """Find rows that are equal in all columns, where chance would not make them so.

    By chance a row has exp(-s / 2) of the others as twins: s is the surprise of its values if
    columns are independent, and half of it is left for columns that depend on each other.
    """
    table = pd.DataFrame({j: c.values for j, c in enumerate(columns)})
    own = pd.DataFrame({j: c.later for j, c in enumerate(columns)}) if has_test else table
    hashed = [pd.util.hash_pandas_object(of, index=False) for of in (own, table)]
    is_twin = hashed[0].isin(hashed[1]) if has_test else hashed[0].duplicated(keep=False)
    surprise = np.zeros(len(own))
    for j in table:
        share = table[j].value_counts(normalize=True, dropna=False)
        surprise -= np.log(own[j].map(share).fillna(1 / len(table)).to_numpy())
    chance, k = np.minimum(len(table) * np.exp(-surprise / 2), 1).sum(), int(is_twin.sum())
    if k >= 3 and poisson.sf(k - 1, chance) < CHANCE:
        where = "X_test are rows of X, too" if has_test else "X are there more than once"
        text = say("repeated", k=k, n=len(own), where=where, chance=chance)
        yield Suspicion("shared rows", (), k, len(own), max(k / len(own), 0.5), text)


def _twins(columns, has_test, rng) -> Iterator[Suspicion]:
    """Find rows that are far nearer to another one than the density of rows allows.

    Where the density is even, (d / D)^dim of the distances to the nearest and the K-th row is the
    least of K - 1 uniform numbers. The outer half of the K gives dim (Levina and Bickel 2004).
    """
    tables: list[list[np.ndarray]] = [[], []]
    for column in columns:
        values = np.sort(column.values)
        most = np.unique(values, return_counts=True)[1].max()
        if not column.labels and np.isfinite(values).all() and most < TIED * len(values):
            later = column.later if has_test else column.values
            for part, own in zip(tables, (column.values, later), strict=True):
                place = np.interp(own, values, np.linspace(0, 1, len(values)))  # from 0 to 1
                part.append(np.nan_to_num(place))
    if len(tables[0]) < 3:
        return
    all_rows, of_test = (np.stack(table, axis=1) for table in tables)
    table = all_rows[drawn(rng, len(all_rows), COMPARED)]
    own = of_test[drawn(rng, len(of_test), COMPARED // 2)] if has_test else table
    k, skip, n = int(np.clip(len(table) // 20, 20, 100)), int(not has_test), len(own)
    if len(table) <= 2 * k:
        return
    distance = NearestNeighbors(n_neighbors=k + skip).fit(table).kneighbors(own)[0][:, skip:]
    distance = np.maximum(distance, 1e-12)
    # Logarithms of uniform numbers above a half are -.307 in the mean.
    dim = 0.307 / np.log(distance[:, -1:] / distance[:, k // 2 : -1]).mean()
    ratio = np.minimum((distance[:, 0] / distance[:, -1]) ** dim, 1 - 1e-12)
    p = -np.expm1((k - 1) * np.log1p(-ratio))
    counts = [(int((p < level).sum()), max(least, share * n)) for level, share, least in TWINS]
    near = max((count for count, least in counts if count >= least), default=0)
    if near:
        where = "X_test have a near twin in X" if has_test else "X have a near twin"
        text = say("twins", k=near, n=n, where=where)
        yield Suspicion("groups", (), near, n, max(near / n, 0.5), text)


def _groups(columns, outcome) -> Iterator[Suspicion]:
    """Find columns that name groups of rows, by like outcomes or by other columns that agree."""
    alike: dict[bytes, list] = {}  # columns that part the rows in the same way
    table = outcome.centered()
    variance = max((table**2).sum(axis=1).mean(), 1e-300)
    for column in columns:
        values, member, count = np.unique(column.values, return_inverse=True, return_counts=True)
        if not 10 <= len(values) <= len(member) / 2:
            continue
        alike.setdefault(pd.factorize(member)[0].tobytes(), []).append((column.name, member))
        # Products of the outcomes of two rows: of one group, by its rows, and of the next ones.
        means = np.stack([np.bincount(member, own) / count for own in table.T], axis=1)
        pairs = count @ (means**2).sum(axis=1) - ((table**2).sum(axis=1) / count[member]).sum()
        inside = pairs / (len(member) - len(values)) / variance
        across = (means[1:] * means[:-1]).sum(axis=1).mean() / variance
        if inside > OF_GROUP and across < inside / 2:
            k = n = len(member)
            text = say("like", name=column.name, k=len(values))
            if column.later is not None:
                k, n = int(np.isin(column.later, values).sum()), len(column.later)
                text += say("shared", k=k, n=n)
            yield Suspicion("groups", (column.name,), k, n, min(inside, 1.0), text)
    for members in alike.values():
        if len({min(m.tobytes(), (m.max() - m).tobytes()) for _, m in members}) >= STATIC:
            names, n = tuple(name for name, _ in members), len(members[0][1])
            text = say("static", names=", ".join(names), k=members[0][1].max() + 1)
            yield Suspicion("groups", names, n, n, 0.5, text)
