"""Leaks of every kind are suspected, with counts; honest data are not. Evidence keeps its error."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from xgboost import XGBClassifier, XGBRegressor

from scripts import script
from splitcredit.views.auditing import evidence
from splitcredit.views.auditing.columns import Outcome, gini, ranks_of
from splitcredit.views.auditing.leaks import suspicions

N = 400
DRAWN = np.random.default_rng(5)
Y = (DRAWN.random(N) < 0.5).astype(int)
HONEST = pd.DataFrame(DRAWN.normal(size=(N, 4)) + 0.7 * Y[:, None], columns=list("abcd"))
MONEY, CODE = DRAWN.lognormal(5, 1, N).round(2), DRAWN.integers(0, 30, N)
MEMBER = DRAWN.integers(0, N // 8, N)
OF_MEMBER = (DRAWN.random(N) < 0.5).astype(int)[MEMBER]
TIMES = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.argsort(np.argsort(Y + MONEY / 200)), "h")
# By case: columns beside the honest ones, the outcome, and what a sentence has to say.
PLANTED = {
    "alone": ({"k": 3 * Y + 0.1 * HONEST["a"]}, Y, "k alone tells the outcome with an area"),
    "difference": (
        {"k": MONEY, "m": MONEY + np.where(Y, 9, -9)},
        Y,
        "the difference of k and m tells the outcome with an area under the ROC curve of 1.000",
    ),
    "ratio": (
        {"k": MONEY, "m": (MONEY * np.where(Y, 2.0, 1.5)).round(2)},
        Y,
        "the ratio of k and m tells the outcome",
    ),
    "equality": ({"k": CODE, "m": np.where(Y, CODE, CODE + 1) % 30}, Y, "k equals m in 2"),
    "value": (
        {"k": np.where(Y & (CODE < 25), MONEY, 0.0)},
        Y,
        f"k is above 0 in {(Y & (CODE < 25)).sum()} rows, and the outcome is yes in all of them",
    ),
    "category": ({"k": np.where(Y, "closed", "open")}, Y, "k is 'closed' in"),
    "values": (
        {
            "k": [
                f"c{j % 20 + 20 * y * (j % 3 > 0)}"
                for j, y in zip(CODE * 7 + MEMBER, Y, strict=True)
            ]
        },
        Y,
        "values in",
    ),
    "word": (
        {"k": (CODE * 50 + MEMBER).astype(str).astype(object) + np.where(Y, " died", " left")},
        Y,
        "k contains 'died' in",
    ),
    "decimals": ({"k": np.where(Y, MONEY.round(), MONEY + 0.005)}, Y, "decimals in"),
    "missing": (
        {"k": np.where(Y & (CODE < 25), np.nan, MONEY)},
        Y,
        "k is missing in",
    ),
    "means": (
        {"k": pd.Series(Y).groupby(MEMBER).transform("mean") + MEMBER / 1e6},
        Y,
        "k goes with the mean outcome of the rows that share a value",
    ),
    "identifier": ({"k": [f"C{j}" for j in DRAWN.permutation(N)]}, Y, "k looks like an identifier"),
    "number": ({"k": DRAWN.permutation(N) * 7}, Y, "k looks like an identifier: 400 different"),
    "place": ({"k": np.arange(N) + DRAWN.integers(0, 9, N)}, Y, "k goes with the order of the"),
    "rows": ({}, np.sort(Y), "the outcome goes with the order of the rows"),
    "time": ({"k": TIMES}, Y, "the outcome goes with k"),
    "static": (
        {name: DRAWN.permutation(9 * N)[MEMBER] / 7 for name in "kmn"},
        Y,
        "k, m, n are the same in the same rows, in 50 groups",
    ),
    "groups": (
        {"k": DRAWN.permutation(9 * N)[MEMBER]},
        OF_MEMBER,
        "rows with the same k have like",
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_leak_is_suspected(name):
    columns, y, expected = PLANTED[name]
    X = HONEST.assign(**{key: np.asarray(column) for key, column in columns.items()})
    found = suspicions(X, y, ("no", "yes"))
    assert any(expected in one.sentence for one in found), [one.sentence for one in found]
    assert all(set(one.features) <= set(columns) for one in found)
    assert all(0 < one.strength <= 1 and 0 < one.rows <= one.of for one in found)


def test_leaks_of_numbers_are_suspected():
    y = HONEST["a"].to_numpy() + MONEY
    X = HONEST.assign(k=CODE * 1.0, total=y - CODE)
    sentences = [
        one.sentence for one in suspicions(X[["b", "c"]].assign(k=X["k"], m=X["total"]), y)
    ]
    assert any("m alone tells the outcome with an R² of" in text for text in sentences)
    of_pair = HONEST[["c"]].assign(k=HONEST["b"] * 900, m=y - 900 * HONEST["b"])
    assert any("the sum of k and m" in one.sentence for one in suspicions(of_pair, y))


def test_rows_and_near_rows_on_both_sides_of_a_split_are_counted():
    test = pd.concat([HONEST[:30], HONEST[300:] + DRAWN.normal(size=(100, 4))])
    y_test = np.append(Y[:30], Y[300:])
    one, *others = suspicions(HONEST[:300], Y[:300], ("no", "yes"), test, y_test)
    assert one.sentence.startswith("30 of 130 rows of X_test are rows of X, too") and not others
    near = test + 1e-4 * DRAWN.normal(size=test.shape)
    one, *others = suspicions(HONEST[:300], Y[:300], ("no", "yes"), near, y_test)
    assert one.kind == "groups" and 25 < one.rows < 35 and "a near twin in X" in one.sentence
    rare = np.sort(CODE < 6).astype(int)  # sorted, and in no row of X
    found = suspicions(HONEST[:300], rare[:300], ("no", "yes"), HONEST[300:], rare[300:])
    assert not rare[:300].any() and [one.kind for one in found] == ["rows"]
    X = HONEST.assign(k=MONEY)
    reordered = X[300:][list("kabcd")]  # columns go by name
    assert suspicions(X[:300], Y[:300], ("no", "yes"), reordered, Y[300:]) == []
    for names, others in (("aabbc", "aabbc"), ("abcdk", "vwxyz")):  # by place, where no name fits
        X, test = X.set_axis(list(names), axis=1), X[300:].set_axis(list(others), axis=1)
        assert suspicions(X[:300], Y[:300], ("no", "yes"), test, Y[300:]) == []
    # A feature that was made from the outcomes of X says less in X_test.
    leave_out = [
        (Y[:300][MEMBER[:300] == m].sum() - y) for m, y in zip(MEMBER, Y[:300], strict=False)
    ]
    X = HONEST[:300].assign(k=np.asarray(leave_out) - 5.0 * Y[:300])
    other = HONEST[300:].assign(k=DRAWN.integers(-3, 3, 100))
    found = suspicions(X, Y[:300], ("no", "yes"), other, Y[300:])
    assert any("k goes with the outcome otherwise in X" in s.sentence for s in found)


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_diabetes])
def test_nothing_is_suspected_of_honest_tables(load):
    X, y = load(return_X_y=True, as_frame=True)
    classes = tuple(map(str, np.unique(y))) if load is not load_diabetes else ()
    in_order = suspicions(X, y.to_numpy(), classes)  # by class: no reason to suspect a feature
    assert {one.kind for one in in_order} <= {"rows"}
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X.iloc[order], y.to_numpy()[order]
    cut = len(y) * 3 // 4
    assert suspicions(X[:cut], y[:cut], classes, X[cut:], y[cut:]) == []


def test_coefficients_are_those_of_pairs_of_rows():
    """The twin compares all pairs of rows."""
    values, y = CODE[:50].astype(float), Y[:50]
    one, other = values[y == 1][:, None], values[y == 0]
    expected = ((one > other) * 1.0 - (one < other)).mean()
    assert gini(ranks_of(values[:, None]), Outcome(y, ("no", "yes")))[0, 1] == pytest.approx(
        expected
    )


def test_p_values_are_the_share_of_copies_that_lie_as_far_from_the_others():
    rng = np.random.default_rng(0)
    own, noise = rng.normal(size=(5, 3)) + np.array([0, 1, 4]), rng.normal(size=(5, 3))
    far = []
    for j in range(3):
        for b in range(5):
            others = np.delete(noise[:, j], b)
            scale = others.std(ddof=1) * np.sqrt(1 + 1 / 4)
            far.append((noise[b, j] - others.mean()) / scale)
    expected = []
    for j in range(3):
        scale = noise[:, j].std(ddof=1) * np.sqrt(1 + 1 / 5)
        z = (own[:, j].mean() - noise[:, j].mean()) / scale
        expected.append((1 + sum(one >= z for one in far)) / (1 + len(far)))
    assert evidence.compared_with_noise(own, noise)[1] == pytest.approx(expected)


@pytest.mark.long  # Two hundred problems, each with twenty fits.
@pytest.mark.parametrize(
    "kinds",
    [(RandomForestClassifier, RandomForestRegressor), (XGBClassifier, XGBRegressor)],
    ids=["bagged", "boosted"],
)
def test_evidence_keeps_its_error_and_finds_effects(kinds):
    """Of 50 problems more than 11 have a chance of .1 % at 10 %."""
    evidence_rates = script("benchmarks/audits.py").evidence_rates
    any_false, _, _ = evidence_rates(kinds, 0, 50)
    assert any_false * 50 <= binom.ppf(0.999, 50, evidence.FALSE)
    _, false, power = evidence_rates(kinds, 3, 50)
    assert false <= evidence.FALSE and power >= 0.9
