"""Suspicions of leaks: what of a table tells the outcome better than honest features do.

Nothing here knows the model. Each kind has a limit of its effect, which is fixed, and a bound of
chance that is divided by the number of candidates (Bonferroni).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import beta, chi2, norm
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.tree import DecisionTreeRegressor

from splitcredit.views.auditing import leaks_of_rows
from splitcredit.views.auditing.columns import (
    Column,
    Outcome,
    Suspicion,
    columns_of,
    gini,
    gini_error,
    ranks_of,
)
from splitcredit.views.auditing.subject import Z, drawn, error_of, score
from splitcredit.views.auditing.texts import say

# Rows of what is learned out of fold, or compared in pairs.
ROWS = 2_000
# Honest features reach an area under the ROC curve of .97 (sizes of nuclei, for breast cancer) and
# an R^2 of .9: one is suspect if its 95 % interval lies above .975 (Gini .95), or .92. The best of
# thousands of honest pairs reaches more; one that gives the outcome away tells nearly all of it.
# Features of two or three values have a lower limit, so that y with 2 % of errors is suspect.
LIMITS, LIMITS_OF_PAIRS = {True: 0.95, False: 0.92}, {True: 0.97, False: 0.95}
LIMIT_OF_FEW, FEW = 0.92, 3
# A value is suspect if at most 1 % of its rows are exceptions to one outcome, and the bound of
# their true share is below .15, and below .3 of the share in all rows: about 45 rows do. A set of
# values is no smooth signal, whose tails have one outcome, if their ranks tell little: below .3.
PURE, EXCEPTIONS, OF_OTHERS, FEWEST, SMOOTH = 0.99, 0.15, 0.3, 20, 0.3
# Shares of missing values may differ between outcomes by .4, as the results of a strong test do.
MISSING = 0.4
# A feature has another Gini coefficient in rows of a test: by .2, and by five standard errors.
CONTRAST, ERRORS = 0.2, 5.0
# The chance of a suspicion where the effect has no limit.
CHANCE = 0.001
# Kinds that may be honest: a model can have them and be used, with care.
MINOR = ("identifier", "order", "rows", "time")
FORMS = {
    "the difference of {} and {}": np.subtract,
    "the absolute difference of {} and {}": lambda a, b: np.abs(a - b),
    "the ratio of {} and {}": lambda a, b: np.divide(a, b, out=np.zeros_like(a), where=b != 0),
    "the sum of {} and {}": np.add,
    "the product of {} and {}": np.multiply,
    "the equality of {} and {}": lambda a, b: (a == b) * 1.0,
}


def suspicions(X, y, classes=(), X_test=None, y_test=None, seed=0) -> list[Suspicion]:
    """Look for leaks in a DataFrame of training rows in their order, strongest first.

    y and y_test are numbers, or indices in the names of classes. Kinds that may be honest come
    last.
    """
    rng = np.random.default_rng([seed, 60])
    n, has_test = len(X), X_test is not None
    every = columns_of(_joined(X, X_test) if has_test else X)
    whole = Outcome(np.concatenate([y, y_test if has_test else y[:0]]), tuple(classes))
    later, outcome = [c.values[n:] if has_test else None for c in every], whole.at(slice(n))
    columns = [c._replace(values=c.values[:n], later=b) for c, b in zip(every, later, strict=True)]
    found = [*_values(columns, outcome), *_missing(columns, outcome), *_means(columns, outcome)]
    if has_test:
        found += [*_contrasts(columns, outcome, whole.at(slice(n, None))), *_means(every, whole)]
    found += leaks_of_rows.found(columns, outcome, whole, rng)
    rows = drawn(rng, n, ROWS)
    few, outcome = [c._replace(values=c.values[rows]) for c in columns], outcome.at(rows)
    for kind in (_alone, _pairs):
        known = {name for one in found for name in one.features}
        found += kind([c for c in few if c.name not in known], outcome, rng)
    best = {(one.kind, one.features): one for one in found}  # of what is found twice the last
    return sorted(best.values(), key=lambda one: (one.kind in MINOR, -one.strength))


def _joined(X, X_test):
    """Join the rows, by the names of columns; by place if names are not unique, or no name fits."""
    if X.columns.is_unique and X_test.columns.is_unique and set(X) & set(X_test):
        return pd.concat([X, X_test], join="inner", ignore_index=True)
    return pd.concat([X, X_test.set_axis(X.columns, axis=1)], ignore_index=True)


def _values(columns, outcome) -> list[Suspicion]:
    """Find values, or all but the most frequent one, that occur with one outcome only."""
    kinds, code = np.unique(outcome.codes, return_inverse=True)
    often = np.argsort(-np.bincount(code), kind="stable")[:50]
    often = often[np.bincount(code)[often] >= PURE * FEWEST]  # others are in no value alone
    if len(often) == 0:
        return []
    is_kind = code[:, None] == often
    base, candidates, n_rows = is_kind.mean(axis=0), [], len(code)
    for column in columns:
        values, member, count = np.unique(column.values, return_inverse=True, return_counts=True)
        with_kind = np.stack([np.bincount(member, w, len(values)) for w in is_kind.T], axis=1)
        sets = [(how, count[of].sum(), with_kind[of].sum(axis=0))
                for how, of in _sets_of(column, values, count)]  # fmt: skip
        if column.labels or np.abs(gini(ranks_of(column.values[:, None]), outcome)).max() < SMOOTH:
            sets += _pure_sets(member, is_kind)
        candidates += [(column.name, *one) for one in sets if FEWEST <= one[1] < n_rows]
    best: dict[str, Suspicion] = {}
    for name, how, n, with_kind in candidates:
        k = with_kind.argmax()
        hits = with_kind[k]
        low = beta.ppf(0.05 / max(len(candidates), 20), hits, n - hits + 1)
        if hits < PURE * n or 1 - low > min(EXCEPTIONS, OF_OTHERS * (1 - base[k])):
            continue
        words = {"name": name, "how": how, "n": n}
        words |= {"outcome": outcome.word(kinds[often[k]]), "hits": f"{hits:.0f}"}
        text = say("value", **words | ({"hits": "all"} if hits == n else {}))
        # The share of the rows without this outcome that would be expected among these.
        strength = min(n * (1 - base[k]) / n_rows / min(base[k], 1 - base[k]), 1.0)
        one = Suspicion("value", (name,), int(n), n_rows, strength, text)
        best[name] = max(best.get(name, one), one, key=lambda s: s.strength)
    return list(best.values())


def _sets_of(column, values, count):
    """Yield sets of the sorted values of a column in words, and as places.

    They are one value, all others, values with few or many decimals, and texts with a word.
    """
    for v in np.flatnonzero(count >= FEWEST):
        yield f"is {column.word(values[v])}", [v]
    top = count.argmax()
    if len(values) > 2 and count[top] >= FEWEST:
        how = "is above" if top == 0 and column.labels is None else "is not"
        yield f"{how} {column.word(values[top])}", np.arange(len(values)) != top
    if column.labels is None:
        for k in range(3):
            is_short = values == np.round(values, k)
            yield f"has at most {k} decimals", is_short
            yield f"has more than {k} decimals", ~is_short & np.isfinite(values)
        return
    words = defaultdict(list)
    for v in np.flatnonzero(np.isfinite(values)):
        for word in set(re.findall(r"\w+", column.labels[int(values[v])].lower())):
            words[word].append(v)
    yield from ((f"contains {word!r}", of) for word, of in words.items() if len(of) > 1)


def _pure_sets(member, is_kind):
    """Yield sets of values that have one outcome in half of the rows: what the other half says."""
    halves = np.arange(len(member)) % 2 == np.arange(2)[:, None]
    counts = [np.bincount(member[half], minlength=member.max() + 1) for half in halves]
    for k, of_kind in enumerate(is_kind.T):
        hits = [np.bincount(member[half], of_kind[half], member.max() + 1) for half in halves]
        pure = [(hit == count) & (count > 3) for hit, count in zip(hits, counts, strict=True)]
        n, with_kind = counts[1][pure[0]].sum() + counts[0][pure[1]].sum(), np.zeros(len(is_kind.T))
        with_kind[k] = hits[1][pure[0]].sum() + hits[0][pure[1]].sum()
        if (pure[0] | pure[1]).sum() > 1:
            yield f"is one of {(pure[0] | pure[1]).sum()} values", n, with_kind


def _missing(columns, outcome) -> Iterator[Suspicion]:
    """Find features that are missing much more often with one outcome than with another."""
    gaps = [(f"{c.name} is missing", (c.name,), np.isnan(c.values)) for c in columns]
    gaps = [gap for gap in gaps if FEWEST <= gap[2].sum() <= len(gap[2]) - FEWEST]
    if len(gaps) > 1:
        count, names = np.sum([gap for *_, gap in gaps], axis=0), tuple(g[1][0] for g in gaps)
        gaps += [(f"{k} values or more are missing", names, count >= k) for k in (2, 3)]
    for what, names, gap in gaps:
        of, by = gap[:, None] * 1.0, outcome
        if not outcome.classes:  # of the ranks of the outcome, with and without a value
            of, by = outcome.table, Outcome(gap.astype(int), ("known", "missing"))
        values = np.abs(gini(ranks_of(of), by)[0])
        k, n = values.argmax(), int(gap.sum())
        if values[k] - norm.isf(0.05 / len(gaps)) * gini_error(by)[k] > MISSING:
            text = say("missing", what=what, n=n, area=0.5 + values[k] / 2)
            yield Suspicion("missing", names, n, len(gap), values[k], text)


def _means(columns, outcome) -> Iterator[Suspicion]:
    """Find features whose values are means of the outcome of their rows, as of target encoding.

    About an honest feature, means of the outcome vary as samples do. Here they vary far less.
    """
    for column in columns:
        values, member, count = np.unique(column.values, return_inverse=True, return_counts=True)
        used = (count > 1) & np.isfinite(values)
        k, n = used.sum(), count[used].sum()
        if not (5 <= k <= len(member) / 3) or n < len(member) / 2 or column.labels:
            continue
        for own in outcome.table.T:
            mean = np.bincount(member, own) / count
            within = np.bincount(member, (own - mean[member]) ** 2) / np.maximum(count - 1, 1)
            x, means, by, weights = values[used], mean[used], within[used], np.sqrt(count[used])
            line = np.polyfit(x, means, 1, w=weights)
            off = (((means - np.polyval(line, x)) * weights) ** 2).sum()
            # Degrees of freedom of a sum of unlike variances (Satterthwaite 1946).
            df = by.sum() ** 2 / max((by**2).sum(), 1e-300) * (k - 2) / k
            level = CHANCE / len(columns) / outcome.table.shape[1]
            is_close = by.sum() > 0 and chi2.cdf(off / by.sum() * df, df) < level
            if is_close and line[0] * x.std() > 0.02 * own.std():
                text = say("means", name=column.name, n=k)
                yield Suspicion("target encoding", (column.name,), int(n), len(member), 0.8, text)
                break


def _contrasts(columns, outcome, of_test) -> Iterator[Suspicion]:
    """Find features that go with the outcome in X far more, or otherwise, than in X_test."""
    one = gini(ranks_of(np.stack([c.values for c in columns], axis=1)), outcome)
    other = gini(ranks_of(np.stack([c.later for c in columns], axis=1)), of_test)
    error = np.hypot(gini_error(outcome), gini_error(of_test))
    for j, k in enumerate((np.abs(one - other) / error).argmax(axis=1)):
        off, n = abs(one[j, k] - other[j, k]), len(outcome.codes)
        if off > max(CONTRAST, ERRORS * error[k]):
            text = say("contrast", name=columns[j].name, a=one[j, k], b=other[j, k])
            yield Suspicion("target encoding", (columns[j].name,), n, n, off / 2, text)


def suspicious_score(values, outcome, rng, limit) -> tuple[float, str] | None:
    """Score how well one column predicts the outcome; None unless the interval is above a limit.

    The Gini coefficient, or R^2, of the best of the column itself and three models on rows left
    out in five folds: a tree of 16 leaves, a full tree, which learns codes, and a line. Beside it
    stands its text.
    """
    filled, table = np.nan_to_num(values, nan=np.nanmin(values) - 1)[:, None], outcome.table
    folds = KFold(5, shuffle=True, random_state=int(rng.integers(2**31)))
    small = DecisionTreeRegressor(max_leaf_nodes=16, min_samples_leaf=5, random_state=0)
    models = small, DecisionTreeRegressor(random_state=0), LinearRegression()
    tried = [cross_val_predict(one, filled, table, cv=folds).reshape(table.shape) for one in models]
    of_classes, found = bool(outcome.classes), []
    for scores in (filled * np.sign(gini(ranks_of(filled), outcome)), *tried):
        scores = scores[:, 1:] if scores.shape[1] == 2 else scores
        found.append((score(scores, outcome.codes, of_classes), scores))
    value, scores = max(found, key=lambda both: both[0])
    limit = limit | {True: LIMIT_OF_FEW} if len(np.unique(values)) <= FEW else limit
    least = (1 + limit[True]) / 2 if of_classes else limit[False]
    of_codes = outcome.codes, of_classes  # a score is NaN if there is one outcome only
    if not (value >= least and value - Z * error_of(scores, *of_codes) >= least):
        return None
    words = say("area" if of_classes else "r2").format(value)
    return (2 * value - 1 if of_classes else value), words


def _alone(columns, outcome, rng) -> Iterator[Suspicion]:
    """Find single features that tell the outcome better than honest ones do."""
    for column in columns:
        if len(np.unique(column.values[np.isfinite(column.values)])) < 2:
            continue
        if found := suspicious_score(column.values, outcome, rng, LIMITS):
            text, n = say("alone", name=column.name, how=found[1]), len(column.values)
            yield Suspicion("one feature", (column.name,), n, n, found[0], text)


def _pairs(columns, outcome, rng) -> Iterator[Suspicion]:
    """Find pairs that tell the outcome by what neither of the two tells."""
    taken: set[str] = set()
    n = len(outcome.codes)
    pairs = [(a, b) for a, b in combinations(columns, 2) if (not a.labels) == (not b.labels)]
    equal = [Column(str(k), (a.values == b.values) * 1.0) for k, (a, b) in enumerate(pairs)]
    for one in _values(equal, outcome):
        names = tuple(column.name for column in pairs[int(one.features[0])])
        if not taken & set(names):
            taken |= set(names)
            rest = one.sentence.partition(" is ")[2]
            how = "equals" if rest[0] == "1" else "differs from"
            text = f"{names[0]} {how} {names[1]}{rest[1:]}"
            yield one._replace(kind="pair", features=names, sentence=text)
    for _, form, names, values in sorted(_made(columns, outcome), key=lambda m: -m[0])[:10]:
        found = None
        if taken.isdisjoint(names):
            found = suspicious_score(values, outcome, rng, LIMITS_OF_PAIRS)
        if found:
            taken |= set(names)
            text = say("pair", form=form.format(*names), how=found[1])
            yield Suspicion("pair", names, n, n, found[0], text)


def _made(columns, outcome):
    """Yield what pairs make that goes with the outcome, by ranks, more than each of the two."""
    columns = [c for c in columns if not c.labels and np.isfinite(c.values).mean() > 0.5]
    table = np.stack([c.values for c in columns], axis=1) if columns else np.zeros((0, 0))
    alone = np.abs(gini(ranks_of(table), outcome)).max(axis=1) if columns else ()
    for i in range(len(columns) - 1):
        own, others = np.broadcast_to(table[:, [i]], table[:, i + 1 :].shape), table[:, i + 1 :]
        limit = np.maximum(np.maximum(alone[i], alone[i + 1 :]) + 0.02, 0.7)
        for form, function in FORMS.items():
            made = function(own, others)
            gained = np.abs(gini(ranks_of(made), outcome)).max(axis=1)
            for j in np.flatnonzero(gained > limit):
                yield gained[j], form, (columns[i].name, columns[i + 1 + j].name), made[:, j]
