"""The sections of an audit: each a table, a number, a sentence and a weight, and the verdict.

Sentences are chosen by the numbers and quote them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from splitcredit.measures import _methods
from splitcredit.views.auditing import evidence as copies
from splitcredit.views.auditing.columns import ranks_of
from splitcredit.views.auditing.leaks import FEWEST, MINOR, suspicions
from splitcredit.views.auditing.subject import JUDGED, Z, error_of, has_variance, score
from splitcredit.views.auditing.texts import CHOICES, TEXTS, WORDS, listed, percent, say, span

# Weights of findings: those that forbid to use importances, that change how they are read, and
# that say how they may be used.
STOP, MIND, SAY = 2, 1, 0
# Features carry nearly the same information if each tells this share of the ranks of the other.
SAME, COMPARED = 0.8, 150
# Suspicions and groups that a sentence shows.
SHOWN = 5
# What the model loses from training rows to new ones, from which on it is said first; and the
# share of a class that is small.
OVERFIT, RARE = 0.1, 0.05


class Section(NamedTuple):
    """A finding: a number, a sentence, a weight, and what is behind them.

    What is not known is NaN. `low` and `high` are the ends of a 95 % interval where the number is
    of a sample, and `of` says of what. The table has the columns ``label, value, low, high`` of the
    plot, and others. Notes say how the number comes about, and what was cut down.
    """

    key: str
    title: str
    what: str
    value: float
    low: float
    high: float
    of: str
    sentence: str
    weight: int
    notes: tuple[str, ...]
    table: pd.DataFrame


def _section(key, value, sentence, table=None, *, weight=SAY, notes=(), ends=(), of="", what=""):
    """Make a section; without the ends of an interval there is none."""
    low, high = ends or (np.nan, np.nan)
    texts = TEXTS.loc[key]
    what = what or texts["what"]
    numbers = float(value), float(low), float(high)
    table = _frame([]) if table is None else table
    return Section(key, texts["title"], what, *numbers, of, sentence, weight, tuple(notes), table)


def _frame(rows):
    return pd.DataFrame(rows, columns=["label", "value", "low", "high"])


def model(subject) -> tuple[Section, bool | None]:
    """Say how well the model predicts, and how much less than on its own rows.

    The second result says whether it is better than chance; None if nobody knows.
    """
    forest, of_classes, n = subject.forest, bool(subject.classes), subject.table.shape[0]
    size = f"{forest.n_trees} trees, {forest.n_features} features, {n:,} rows"
    what, judged = say("what_area" if of_classes else "what_r2"), None
    words = {"kind": type(subject.inner).__name__, "size": size, "what": what}
    if why := subject.why_not_scored:
        return _section("model", np.nan, say("model_none", why=why, **words)), None
    table, _, *targets = subject.sample(JUDGED, 20)
    own = score(subject.scores(table), targets[0], of_classes, targets[1])
    source = ""
    if subject.has_test:
        table, _, *targets = subject.sample(JUDGED, 20, of_test=True)
        source, judged = "test rows", (subject.scores(table), targets[0], of_classes, targets[1])
    elif not subject.why_not_bagged:
        scores, codes, weights = subject.oob_scores()
        source, judged = "out-of-bag rows", (scores, codes, of_classes, weights)
    value = score(*judged) if judged else own
    if not np.isfinite(value):
        why = f"the targets of the {source or 'rows'} have no variance"
        beats = None if has_variance(subject.codes) else False
        return _section("model", np.nan, say("model_none", why=why, **words), weight=STOP), beats
    words["own"] = percent(own)
    rows = [("the rows of X", own, np.nan, np.nan)]
    if not judged:
        text = say("model_unknown", **words)
        return _section("model", value, text, _frame(rows), weight=MIND, what=what), None
    error, weight, guess = Z * error_of(*judged), SAY, 0.5 if of_classes else 0.0
    ends = value - error, min(value + error, 1.0)
    beats = bool(ends[0] > guess)
    words |= {"quality": span((value, *ends)), "beats": "" if beats else "not ", "source": source}
    text = say("model", chance=" (50 %)" if of_classes else "", **words)
    if own - value > OVERFIT and beats:
        weight, text = MIND, text + say("overfit", lost=percent(own - value))
    if of_classes:
        counts = np.bincount(subject.codes.astype(int), minlength=len(subject.classes))
        pairs = [f"{c}: {k:,}" for c, k in zip(subject.classes, counts, strict=True)]
        text += say("classes", counts=listed(pairs, 6))
        if counts.min() < RARE * counts.sum():
            name = subject.classes[counts.argmin()]
            weight, text = MIND, text + say("rare", name=name, n=counts.min())
    table = _frame([(source, value, *ends), *rows])
    more = {"ends": ends, "of": f"over {len(judged[1]):,} rows", "what": what}
    return _section("model", value, text, table, weight=weight if beats else STOP, **more), beats


def leaks(subject) -> Section:
    """Report what tells the outcome better than honest features do, with counts."""
    if len(subject.codes) < 2 * FEWEST or not has_variance(subject.codes):
        return _section("leaks", np.nan, say("leaks_unknown", n=2 * FEWEST))
    X, X_test = subject.frames()
    codes = subject.test_codes if subject.has_test else None
    found = suspicions(X, subject.codes, subject.classes, X_test, codes, subject.seed)
    words = {"where": "" if subject.has_test else ", in X alone", "looked_for": say("looked_for")}
    if not found:
        return _section("leaks", 0, say("leaks_none", **words))
    rows = [(s.sentence, s.strength, np.nan, np.nan, s.kind, listed(s.features, 9), s.rows, s.of)
            for s in found]  # fmt: skip
    table = pd.DataFrame(rows, columns="label value low high kind features rows of".split())
    shown = "; ".join(s.sentence for s in found[:SHOWN])
    shown += f"; and {len(found) - SHOWN} more, below" if len(found) > SHOWN else ""
    weight = MIND if found[0].kind in MINOR else STOP
    return _section("leaks", len(found), say("leaks", shown=shown, **words), table, weight=weight)


def evidence(found, names) -> Section:
    """List features that have evidence of more than noise."""
    if isinstance(found, str):
        return _section("evidence", np.nan, say("evidence_none", why=found), weight=MIND)
    order = np.argsort(-found.distance, kind="stable")
    above, below = ([names[j] for j in order if found.found[j] == is_found] for is_found in (1, 0))
    of_above = f": {listed(above, 8)}" if above else ""
    text = say("evidence", k=len(above), p=len(names), names=of_above)
    text += say("no_evidence", names=listed(below, 8)) if below else ""
    rows = [(names[j], found.distance[j], np.nan, np.nan, found.p_values[j], bool(found.found[j]))
            for j in order]  # fmt: skip
    table = pd.DataFrame(rows, columns="label value low high p_value evidence".split())
    how = {"measure": WORDS.get(found.measure, found.measure), "fits": copies.FITS}
    how |= {"trees": found.n_trees, "rows": found.n_rows}
    notes = say("evidence_how", **how), say("evidence_errors"), say("evidence_proxies")
    return _section("evidence", len(above), text, table, weight=SAY if above else MIND, notes=notes)


def measures(comparison) -> Section:
    """Tabulate all measures, and say how far their rankings agree."""
    agreement, frame = comparison.agreement(), comparison.to_frame()
    names, (above, below) = list(agreement), np.triu_indices(len(agreement), 1)
    pairs = agreement.to_numpy()[above, below]
    known, n = np.flatnonzero(np.isfinite(pairs)), len(names)
    if len(known) == 0:
        return _section("measures", np.nan, say("measures_none", n=n), frame)
    value, worst = np.median(pairs[known]), known[pairs[known].argmin()]
    firsts = [found.values.argmax() for found in comparison.importances.values()]
    top, count = max(((j, firsts.count(j)) for j in firsts), key=lambda pair: (pair[1], -pair[0]))
    kind = "agree" if value >= 0.8 else "agree in part" if value >= 0.5 else "disagree"
    words = {"top": comparison.feature_names[top], "count": count, "n": n, "agree": kind}
    words |= {"one": WORDS[names[above[worst]]], "other": WORDS[names[below[worst]]]}
    text = say("measures", median=value, least=pairs[worst], **words)
    return _section("measures", value, text, frame, weight=SAY if value >= 0.5 else MIND)


def redundant(subject, comparison) -> Section:
    """Find groups of features with nearly the same information, and duplicates."""
    numbers, names = subject.numbers(subject.sample(2_000, 40)[0]), np.array(subject.names, object)
    kept, notes = np.arange(len(names)), [say("redundant_how", share=percent(SAME))]
    if len(kept) > COMPARED and comparison.feature_names == subject.names:
        places = [rankdata(-found.values) for found in comparison.importances.values()]
        kept = np.sort(np.argsort(np.mean(places, axis=0), kind="stable")[:COMPARED])
        notes.append(f"Only the {COMPARED} features with the best mean place were compared.")
    kept = kept[[len(np.unique(numbers[:, j])) > 1 for j in kept]]
    ranks = ranks_of(numbers[:, kept])
    like = np.atleast_2d(np.corrcoef(ranks.T)) ** 2 if len(kept) else np.zeros((0, 0))
    groups = sorted((names[kept[group]] for group in _groups(like)), key=len, reverse=True)
    alike = np.argwhere(np.triu(like, 1) > 1 - 1e-9)
    twins = [f"{names[kept[i]]} = {names[kept[j]]}" for i, j in alike]
    text = say("redundant_none")
    if groups:
        sets = "; ".join(listed(group) for group in groups[:SHOWN])
        n = f"{len(groups)} group{'s' if len(groups) > 1 else ''}"
        text = say("redundant", n=n, groups=sets)
    text += say("duplicates", names=listed(twins)) if twins else ""
    table = _frame([(listed(group, 99), len(group), np.nan, np.nan) for group in groups])
    weight = MIND if groups else SAY
    return _section("redundant", len(groups), text, table, weight=weight, notes=notes)


def _groups(similarity):
    if len(similarity) < 2:
        return []
    distance = np.clip(1 - similarity, 0, None) * (1 - np.eye(len(similarity)))
    label = fcluster(linkage(squareform(distance, checks=False), "complete"), 1 - SAME, "distance")
    return [np.flatnonzero(label == k) for k in np.unique(label) if (label == k).sum() > 1]


def use(subject, comparison, beats) -> Section:
    """Choose a call for each question; none if the model is not better than chance."""
    if beats is False:
        return _section("use", 0, say("use_none"))
    rows, texts, names = [], [], comparison.feature_names
    for question, meaning in dict(CHOICES[["question", "meaning"]].to_numpy()).items():
        if question == "evidence":
            continue
        method = copies.chosen(question, subject)
        call, why = _call(method, subject) if method.isidentifier() else ("", method)
        if method in comparison.not_applicable:
            reason = comparison.not_applicable[method]
            call, why = "", say("not_applicable", name=WORDS.get(method, method), why=reason)
        text = call or say("no_call", why=why)
        if call and method in comparison.importances and "X_test" not in call:
            order = np.argsort(-comparison.importances[method].values, kind="stable")[:3]
            text = say("use_first", call=call, names=listed(names[j] for j in order))
        texts.append(say("use", meaning=meaning, call=text))
        rows.append((f"{question}: {meaning}", np.nan, np.nan, np.nan, method, call))
    table = pd.DataFrame(rows, columns="label value low high method call".split())
    return _section("use", (table["call"] != "").sum(), "\n".join(texts), table)


def _call(name, subject):
    """Write the call of a method on the rows that it is for, or none and the reason."""
    method = _methods.look_up(name, "importance")
    takes_rows, is_of_training = method.takes("X"), {"bootstrap", "refit"} & set(method.needs)
    if takes_rows and not is_of_training and not subject.has_test:
        return "", say("no_test", name=WORDS.get(name, name))
    X, y = ("X", "y") if is_of_training else ("X_test", "y_test")
    given = (f", {X}" if takes_rows else "") + (f", y={y}" if "y" in method.needs else "")
    if "background" in method.needs:
        function = f"lambda m, X, b=X[:100]: splitcredit.{name}(m, X, background=b)"
        return f"splitcredit.importance(model{given}, method={function})", ""
    if method.name != name or method.averages:
        return f"splitcredit.importance(model{given}, method={name!r})", ""
    return f"splitcredit.{method.function('importance').__name__}(model{given})", ""


def verdict(sections, beats) -> str:
    """Say what to do with the importances of this model, and what to look at first, in a line."""
    leak, found, groups = (sections[key] for key in ("leaks", "evidence", "redundant"))
    first = leak.table["label"].iloc[0] if len(leak.table) else ""
    if leak.weight == STOP:
        return say("stop", first=first)
    if beats is False:
        return say("chance")
    if beats is None:
        return say("unknown", first=f"; then look at this: {first}" if first else "")
    if first:
        return say("care", first=first)
    if found.value == 0:
        return say("nothing")
    if sections["model"].weight == MIND:
        return say("memory")
    if groups.value:
        return say("group", first=listed(groups.table["label"].iloc[0].split(", ")))
    return say("fine", first=listed(found.table["label"][:3]) or "how far the measures agree")
