"""Plant leaks and effects, or none, and print how often an audit finds them.

Clean data have strong signals (R² to .9), correlation, codes, skewed counts, labels and missing
values, or are scikit-learn's own tables. Every leak is planted in data that are drawn so.
"""

import sys
from collections import Counter

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier, XGBRegressor

from splitcredit.views.auditing import evidence
from splitcredit.views.auditing.leaks import suspicions
from splitcredit.views.auditing.subject import Subject


def clean(rng, kind):
    """Draw a table, its outcome (numbers, skewed numbers, two or three classes) and classes."""
    n, p = int(rng.integers(200, 2001)), int(rng.integers(5, 31))
    together = rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) * rng.choice([0, 0.6, 1.2])
    X = pd.DataFrame(rng.normal(size=(n, p)) + together, columns=[f"x{j}" for j in range(p)])
    for name in X:
        column, form = X[name], rng.integers(8)
        made = {
            1: lambda c: np.exp(c).round(2),
            2: lambda c: rng.negative_binomial(1, 1 / (1 + np.exp(c))),  # skewed counts
            3: lambda c: (c > rng.normal()).astype(int),
            4: lambda c: rng.integers(0, rng.choice([4, 30, 300]), n),  # codes
            5: lambda c: np.floor(2 * c).astype(int),
        }
        X[name] = made.get(form, lambda c: c)(column)
    effects = (X.rank().to_numpy() / n - 0.5) * np.sqrt(12)
    a, *chosen = rng.choice(p, min(p, int(rng.integers(2, 7))), replace=False)
    label = rng.integers(0, rng.choice([3, 20, 100]), n)
    signal = effects[:, chosen] @ rng.normal(size=len(chosen)) + rng.normal(size=100)[label]
    signal += rng.choice([0, 1]) * effects[:, a] * effects[:, chosen[0]]
    X["label"] = [f"c{k}" for k in label]
    for name in rng.choice(X.columns[:p], 2, replace=False):
        chance = 1 / (1 + np.exp(1.5 - rng.choice([0, 1]) * effects[:, rng.integers(p)]))
        X[name] = X[name].astype(float).mask(rng.random(n) < chance)
    share = rng.choice([0.1, 0.4, 0.8, 0.9])
    y = np.sqrt(share) * signal / signal.std() + np.sqrt(1 - share) * rng.normal(size=n)
    if kind < 2:
        return X, np.exp(y) if kind else y, ()
    cuts = [0.3, 0.8] if kind == 3 else [rng.choice([0.5, 0.8])]
    return X, np.digitize(y, np.quantile(y, cuts)), tuple("abc"[: len(cuts) + 1])


def columns_of(kind, y, is_class, rng):
    """Make the columns that a kind of leak adds; other kinds change the rows, see `planted`."""
    n, spread, money = len(y), np.std(y), rng.lognormal(5, 0.7, len(y)).round(2)
    one = y == 1 if is_class else y > np.median(y)
    some, sign = one & (rng.random(n) < rng.uniform(0.5, 1)), np.where(one, 1, -1)
    noisy, code = y + rng.uniform(1, 2) * spread * rng.normal(size=n), rng.integers(0, 40, n)
    by_label = pd.Series(rng.integers(0, n // 8, n))
    names = pd.Series(rng.permutation(n) * int(rng.choice([1, 3])) + 1000)
    outcome = pd.Series(one * 1.0 if is_class else y)
    level = y if is_class else pd.qcut(y, 30, labels=False)
    secret = pd.Series(level * 10 + rng.integers(0, 10, n)).map(
        dict(enumerate(rng.permutation(400)))
    )
    apart = sign * rng.uniform(5, 50, n) if is_class else y
    factor = np.exp(sign * rng.uniform(0.1, 0.7, n)) if is_class else y - y.min() + 1
    return {
        "one feature": [3 * y + rng.uniform(0.02, 0.15) * spread * rng.normal(size=n)],
        "one code": [secret.map("k{}".format)],
        "pair, difference": [money, money + apart],
        "pair, ratio": [money, money * factor],
        "pair, equality": [code, np.where(one, code, (code + rng.integers(1, 40)) % 40)],
        "a value with one outcome": [np.where(some, money, 0.0)],
        "a category with one outcome": [np.where(some, "closed", rng.choice(["new", "open"], n))],
        "a word with one outcome": [names.map(str) + np.where(one, " died", " left")],
        "decimals with one outcome": [np.where(some, money.round(1), money + 0.001)],
        "missing values": [np.where(rng.random(n) < np.where(one, 0.8, 0.1), np.nan, money)],
        "target encoding": [outcome.groupby(by_label).transform("mean")],
        "identifier": [[names, names.map("C{:06d}".format), rng.choice(20 * n, n, False)][n % 3]],
        "number of the row": [np.sort(rng.choice(10 * n, n, False)) + rng.integers(0, 20, n)],
        "time": [pd.Timestamp("2020-01-01") + pd.to_timedelta(noisy.argsort().argsort() // 3, "D")],
    }.get(kind, [])


def planted(kind, outcome, rng):
    """Plant a leak in a table: with its outcome, classes, and whether a split keeps the order."""
    X, y, classes = clean(rng, outcome)
    n, member = len(y), rng.integers(0, len(y) // 5, len(y))
    for k, column in enumerate(columns_of(kind, y, bool(classes), rng)):
        X[f"leak{k}"] = np.asarray(column)
    if kind == "order of the rows":
        place = np.argsort(y + rng.uniform(0, 1) * np.std(y) * rng.normal(size=n))
        X, y = X.iloc[place].reset_index(drop=True), y[place]
    if kind == "rows on both sides":
        place = np.append(np.arange(n), rng.choice(n, n // 5, replace=False))
        X, y = X.iloc[place].reset_index(drop=True), y[place]
    if kind == "near twins":  # rows of one person differ by little
        X = pd.DataFrame(rng.normal(size=(n, 4))).join(X.select_dtypes("number"))
        X = X.iloc[member].set_axis([f"m{j}" for j in range(X.shape[1])], axis=1)
        X, y = X + 0.02 * X.std().to_numpy() * rng.normal(size=X.shape), y[member]
    if kind == "groups by a column":  # rows of one person have like outcomes
        noise = 0 if classes else 0.3 * np.std(y) * rng.normal(size=n)
        X["leak"], y = rng.permutation(10 * n)[member], y[member] + noise
    return X, y, classes, kind in ("order of the rows", "number of the row")


# Kinds of leaks, and the outcomes (see `clean`) that they are planted for.
SETS = "a value", "a category", "a word", "decimals"
NO_CLASSES = ("pair, equality", *(f"{what} with one outcome" for what in SETS))
KINDS = [
    *("one feature", "one code", "pair, difference", "pair, ratio", *NO_CLASSES, "missing values"),
    *("target encoding", "identifier", "number of the row", "order of the rows", "time"),
    *("rows on both sides", "groups by a column", "near twins"),
]
MODELS = (RandomForestClassifier, RandomForestRegressor), (XGBClassifier, XGBRegressor)
TABLES = ("iris", "wine", "breast_cancer", "digits", "diabetes")


def found(X, y, classes, seed, in_order=False):
    """Look for leaks in three quarters of the rows, with a test of the others."""
    how = {"shuffle": False} if in_order else {"random_state": seed}
    X, X_test, y, y_test = train_test_split(X, y, **how)
    return suspicions(X, y, classes, X_test, y_test)


def with_effects(i, n_signals):
    """Draw features of some kinds, the first of which have effects with half of the variance."""
    rng = np.random.default_rng([7, i])
    n, p = int(rng.choice([150, 300])), int(rng.choice([5, 10, 20]))
    X = rng.normal(size=(n, p))
    X[:, n_signals:] += rng.choice([0, 1]) * rng.normal(size=(n, 1))  # correlated with each other
    for j in rng.choice(p, p // 2, replace=False):
        X[:, j] = X[:, j] > 0 if rng.random() < 0.5 else np.floor(np.exp(X[:, j]))
    signal = (X[:, :n_signals] / X[:, :n_signals].std(axis=0)).sum(axis=1)
    y = rng.normal(size=n) + (signal - signal.mean()) / max(signal.std(), 1e-9)
    return X, y if i % 2 else (y > np.median(y)).astype(int)


def evidence_rates(kinds, n_signals, count):
    """Compute the shares of problems with a false feature, of false ones, and of effects found."""
    rows = []
    for i in range(count):
        X, y = with_effects(i, n_signals)
        model = kinds[i % 2](n_estimators=20, random_state=0, n_jobs=1).fit(X, y)
        found = evidence.of_features(Subject(model, X, y, None, None, 0)).found
        k, false = found[:n_signals].sum(), found[n_signals:].sum()
        rows.append((false > 0, false / max(k + false, 1), k / max(n_signals, 1)))
    return np.mean(rows, axis=0)


def main(n_planted=20, n_clean=100):
    """Print the rates of leaks by kind, of suspicions in clean data, and of evidence."""
    for k, kind in enumerate(KINDS):
        count, names, outcomes = 0, Counter(), (2, 3) if kind in NO_CLASSES else (0, 2)
        for i in range(n_planted):
            X, y, classes, in_order = planted(kind, outcomes[i % 2], np.random.default_rng([k, i]))
            ours = [one for one in found(X, y, classes, i, in_order)
                    if not one.features or "leak" in one.features[0]]  # fmt: skip
            count += bool(ours)
            names.update({one.kind for one in ours})
        print(f"{kind:28} planted {n_planted}, suspected {count} ({', '.join(names)})", flush=True)
    tables = []
    for name in TABLES:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)
        tables.append((name, X, y.to_numpy(), () if name == "diabetes" else tuple(y.unique())))
    for i in range(n_clean):
        tables.append((f"drawn {i}", *clean(np.random.default_rng([99, i]), i % 4)))
    suspected = 0
    for name, X, y, classes in tables:
        ours = found(X, y, classes, 0)
        suspected += bool(ours)
        for one in ours:
            print(f"    {name}: {one.sentence}", flush=True)
    print(f"clean: {len(tables)} tables, something suspected in {suspected}")
    for kinds in MODELS:
        any_false, _, _ = evidence_rates(kinds, 0, n_clean)
        _, false, found_share = evidence_rates(kinds, 3, n_clean)
        print(f"evidence, {kinds[0].__name__}: without effects any false {any_false:.0%}; with")
        print(f"    three effects {false:.0%} false, {found_share:.0%} of the effects", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
