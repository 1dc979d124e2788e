"""Answer the eight questions of an audit: a table, a number with interval, and a sentence each.

Sentences are chosen by the numbers and quote them.
"""

from __future__ import annotations

import io
import json
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import linregress, rankdata, t
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from splitcredit.api import explain, faithfulness, rank
from splitcredit.api._ranking import BY_GAPS
from splitcredit.measures import _methods
from splitcredit.measures.tree_shap_interventional import tree_shap_interventional
from splitcredit.models.forest import part
from splitcredit.results.plots.results import imported_shap
from splitcredit.rows.tables import rows_at
from splitcredit.views.auditing.comparison import BACKGROUND, MEASURES, OF_SCORES
from splitcredit.views.auditing.copies import FITS
from splitcredit.views.auditing.subject import (
    EXPLAINED,
    JUDGED,
    Z,
    error_of,
    has_variance,
    len_of,
    score,
)
from splitcredit.views.auditing.texts import FOLDER, TEXTS, grouped, listed, percent, span

# Rankings are measured on so many rows, by trees with so many leaves; by fewer if these split by
# categories.
ROWS, LEAVES, OF_LABELS = 12, 1_500, 375
# Features whose best ranking is sought; with more it is the greedy one.
FEW = 10
# Features carry nearly the same information if each explains this share of the other's ranks.
SAME, BINS, COMPARED = 0.8, 20, 150
# A feature is suspect if it reaches the first share of the model's gain, its interval the second.
SUSPECT, SURE = 0.9, 0.7
# Measures without negative values, which call all noise important.
NOT_NEGATIVE = ("mdi", "tree_shap", "split_count")
# Nodes of the trees whose digits are counted, and portions of trees that are added up.
NODES_OF_DIGITS, PORTIONS = 60_000, 100
# A number that is not known, and the ends of its interval.
UNKNOWN = (np.nan,) * 3


class Section(NamedTuple):
    """An answer: a number, the ends of its 95 % interval, a sentence, and the table behind it.

    What is not known is NaN. The table has the columns ``label, value, low, high`` of the plot,
    and others. Notes say what was cut down, and what could not be done.
    """

    key: str
    title: str
    what: str
    value: float
    low: float
    high: float
    sentence: str
    notes: tuple[str, ...]
    table: pd.DataFrame


def _section(key, numbers, sentence, table, notes=(), what=""):
    """Make a section; a dict in place of the sentence fills the sentence's templates."""
    texts = TEXTS.loc[key]
    if isinstance(sentence, dict):
        how = texts["how"].format(**sentence)
        notes, sentence = [*([how] if how else []), *notes], texts["sentence"].format(**sentence)
    what = what or texts["what"]
    return Section(key, texts["title"], what, *map(float, numbers), sentence, tuple(notes), table)


def _none(key, why, sentence="This could not be measured: {}."):
    return _section(key, UNKNOWN, sentence.format(why), _frame([]))


def _frame(rows):
    return pd.DataFrame(rows, columns=["label", "value", "low", "high"])


def _numbers(row):
    return tuple(float(row[name]) for name in ("value", "low", "high"))


def model(subject, copies) -> tuple[Section, bool | None]:
    """Say how well the model predicts, and whether it beats chance; None if not known."""
    of_classes, has_copies, notes = bool(subject.classes), not isinstance(copies, str), []
    if why := subject.why_not_scored:
        return _none("model", why), None
    has_bags = not subject.why_not_bagged
    is_new = subject.has_test or has_bags or has_copies
    if subject.has_test or not is_new:
        source = "test rows" if subject.has_test else "rows that the model may have been fitted on"
        table, _, codes, weights = subject.sample(JUDGED, 20, of_test=True)
        found = score(subject.scores(table), codes, of_classes, weights)
    elif has_bags:
        source, (scores, codes, weights) = "out-of-bag rows", subject.oob_scores()
        found = score(scores, codes, of_classes, weights)
    else:
        source, found = "rows that were kept apart from a copy", copies.score
        size = f"{copies.n_trees} trees, fitted on {copies.n_rows} rows"
        notes.append(
            f"There are neither test nor out-of-bag rows: the score is of a copy with {size}."
        )
    value, error = found[0], Z * error_of(found[1])
    if not np.isfinite(value):
        beats = None if has_variance(subject.codes) else False
        return _none("model", f"the targets of the {source} have no variance"), beats
    numbers = value, value - error, min(value + error, 1.0)
    if has_copies:
        chance, n = copies.permuted.mean(), len(copies.permuted)
        half = t.ppf(0.975, n - 1) * copies.permuted.std(ddof=1) / np.sqrt(n)
        by_chance, who = (chance, chance - half, chance + half), "a copy with permuted targets"
    else:
        table, _, codes, w = subject.sample(1000, 21, of_test=True)
        scores, rng = subject.scores(table), subject.rng(22)
        permuted = [score(scores, rng.permutation(codes), of_classes, w)[0] for _ in range(200)]
        by_chance = tuple(np.quantile(permuted, [0.5, 0.025, 0.975]))
        who = "the same model on permuted rows of targets"
        notes.append(f"No copy was fitted, so the targets of rows were permuted: {copies}.")
    # Targets without any relation to the features give .5 or 0, up to chance.
    beats = value - error > max(by_chance[0], 0.5 if of_classes else 0.0)
    quality = f"the model explains {span(numbers)} of the variance of the target"
    if of_classes:
        quality = "of two rows of different classes the model gives the right one the higher score "
        quality += f"in {span(numbers)} of the cases; guessing gives 50 %"
    verdict = f"It is {'' if beats else 'not '}better than chance"
    if not is_new:
        verdict = "Whether it is better than chance on new rows is not known: pass test rows"
    forest = subject.forest
    size = f"{forest.n_trees} trees, {forest.n_features} features, {subject.table.shape[0]:,} rows"
    sentence = {"model": type(subject.inner).__name__, "size": size, "source": source}
    sentence |= {"quality": quality, "verdict": verdict, "other": who}
    sentence["chance"] = percent(by_chance[0])
    what = "area under the ROC curve" if of_classes else "share of the variance explained"
    rows = _frame([(f"the model, {source}", *numbers), (who, *by_chance)])
    section = _section("model", numbers, sentence, rows, notes, what=what)
    return section, bool(beats) if is_new else None


def measures(comparison) -> Section:
    """Tabulate all measures, and say how far their rankings agree."""
    agreement, frame = comparison.agreement(), comparison.to_frame()
    names, (above, below) = list(agreement), np.triu_indices(len(agreement), 1)
    pairs = agreement.to_numpy()[above, below]
    known = np.flatnonzero(np.isfinite(pairs))
    if len(known) == 0:
        only = f"{len(names)} measures apply, and their rankings cannot be compared."
        return _section("measures", UNKNOWN, only, frame, comparison.notes)
    value, low, high = np.quantile(pairs[known], [0.5, 0.025, 0.975])
    worst = known[pairs[known].argmin()]
    firsts = [found.values.argmax() for found in comparison.importances.values()]
    top, count = max(((j, firsts.count(j)) for j in firsts), key=lambda pair: (pair[1], -pair[0]))
    opening = f"{comparison.feature_names[top]} comes first by {count} of {len(names)} measures"
    if count < len(names) / 2:
        opening = f"No feature comes first by half of the measures ({opening})"
    kind = "agree" if value >= 0.8 else "agree in part" if value >= 0.5 else "disagree"
    sentence = {"opening": opening, "agree": kind, "median": value, "least": pairs[worst]}
    sentence |= {"one": names[above[worst]], "other": names[below[worst]]}
    return _section("measures", (value, low, high), sentence, frame, comparison.notes)


def noise(copies, names) -> Section:
    """Find features that stand out from noise, by measure, and how often noise itself does."""
    if isinstance(copies, str):
        return _none("noise", copies)
    p, rows = copies.n_features, []
    for name, measured in copies.values.items():
        of_noise = measured[:, p:]
        alarms = copies.lower_ends(of_noise) > 0
        stands_out = copies.lower_ends(measured[:, :p] - of_noise.max(axis=1, keepdims=True)) > 0
        above = [names[j] for j in np.argsort(-measured[:, :p].mean(axis=0)) if stands_out[j]]
        share = UNKNOWN if name in NOT_NEGATIVE else wilson(alarms.sum(), len(alarms))
        rows.append((name, *share, stands_out.sum(), json.dumps(above)))
    columns = ["label", "value", "low", "high", "n_above_noise", "above_noise"]
    table = pd.DataFrame(rows, columns=columns)
    if table["value"].isna().all():
        return _none("noise", "no measure that can be negative applies")
    order = ["value", "n_above_noise"]
    best = table.sort_values(order, ascending=[True, False], kind="stable").iloc[0]
    worst = table.loc[table["value"].idxmax()]
    found = json.loads(best["above_noise"])
    lost = [name for name in names if name not in found]
    sentence = {"count": len(found), "all": p, "measure": best["label"], "fits": FITS}
    sentence |= {"alarms": span(_numbers(best)), "names": f": {listed(found)}" if found else ""}
    sentence |= {"trees": copies.n_trees, "rows": copies.n_rows, "lost": "", "worst": ""}
    if lost:
        sentence["lost"] = f" These are not above the largest of the noise: {listed(lost, 12)}."
    if worst["value"] > best["value"]:
        text = f"calls {percent(worst['value'])} of columns of pure noise important"
        sentence["worst"] = f" {worst['label']} {text}."
    notes = (
        f"{', '.join(NOT_NEGATIVE)}: these are never negative, so noise is above 0 for any "
        "data, and they have no share of false alarms.",
        *(f"Not measured by {why}" for why in grouped(copies.why_not)),
    )
    return _section("noise", wilson(len(found), p), sentence, table, notes)


def wilson(k, n) -> tuple[float, float, float]:
    """Return a share, k of n, and Wilson's 95 % interval.

    Examples
    --------
    >>> from splitcredit.views.auditing.sections import wilson
    >>> [round(x, 2) for x in wilson(0, 20)]
    [0.0, 0.0, 0.16]
    """
    share, z = k / n, Z**2
    middle, half = share + z / 2 / n, Z * np.sqrt(share * (1 - share) / n + z / 4 / n**2)
    return share, max((middle - half) / (1 + z / n), 0.0), min((middle + half) / (1 + z / n), 1.0)


def values(copies) -> Section:
    """Measure how much importance noise gains if it has ten times as many values."""
    if isinstance(copies, str):
        return _none("values", copies)
    rows, x = [], np.log10(copies.n_values)
    for name, measured in copies.values.items():
        mean = measured.mean(axis=0)
        largest = mean[: copies.n_features].max()
        if largest > 0:
            line = linregress(x, mean[copies.n_features :] / largest)
            half = t.ppf(0.975, len(x) - 2) * line.stderr
            rows.append((name, line.slope, line.slope - half, line.slope + half))
    if not rows:
        return _none("values", "no measure finds an importance above 0")
    table = _frame(rows)
    biased = table.loc[(table["low"] > 0) & (table["value"] > 0.001), "label"]
    steep = table.loc[(table.loc[biased.index] if len(biased) else table)["value"].idxmax()]
    flat = table.loc[table["value"].abs().idxmin()]
    sentence = {"steep": steep["label"], "slope": span(_numbers(steep))}
    sentence |= {"flat": flat["label"], "least": percent(flat["value"])}
    prefer = f"These measures prefer many values: {listed(biased, 20)}"
    sentence["prefer"] = prefer if len(biased) else "No measure prefers many values"
    sentence |= {"fewest": copies.n_values.min(), "most": copies.n_values.max()}
    return _section("values", _numbers(steep), sentence, table)


def faithful(subject, comparison) -> Section:
    """Compare the PGI^2 of every ranking with the PGI^2 of the best or the greedy one."""
    forest, notes, p = subject.forest, [], len(comparison.feature_names)
    leaves = np.cumsum(forest.feature < 0)[forest.tree_offsets[1:] - 1]
    of_labels = forest.categories or p < forest.n_features
    most = OF_LABELS if of_labels else LEAVES
    n_trees = max(1, int(np.searchsorted(leaves, most, side="right")))
    if (subject.is_averaged or of_labels) and n_trees < forest.n_trees:
        notes.append(f"Exact gaps of all {forest.n_trees} trees take long: first {n_trees} taken.")
        forest, leaves = part(forest, 0, n_trees), leaves[:n_trees]
    drawn = subject.sample(EXPLAINED, 30)[0]
    n_leaves = int(leaves[-1]) // (1 if subject.is_averaged else forest.n_outputs)
    n_rows = int(np.clip(ROWS * LEAVES * 20 // (n_leaves * max(p, 20)), 4, ROWS))
    rows = rows_at(drawn, slice(n_rows))
    if len_of(rows) < 3:
        return _none("faithful", "there are fewer than 3 rows")
    notes.append(f"Mean over {len_of(rows)} rows, with values drawn from {len_of(drawn)} rows.")
    best, of_best = ("pgi2_optimum", "best") if p <= FEW else ("pg2_greedy", "greedy")
    rankings: dict[str, Any] = {f"{m} of each row": m for m in ("tree_shap", "saabas", "local_mdi")}
    rankings |= comparison.importances
    rankings["a random ranking"] = np.array([subject.rng(31).permutation(p)] * len_of(rows))
    reached = {}
    try:
        whole: dict[str, Any] = {"top": p} if best == "pg2_greedy" else {}
        trees = subject.by_columns(forest)
        ranked = rank(trees, rows, best, background=drawn, progress=False, **whole)
        largest = np.mean(np.asarray(ranked.gaps), axis=1)
        for name, ranking in rankings.items():
            if name.partition(" ")[0] not in comparison.not_applicable:
                reached[name] = faithfulness(trees, rows, ranking, background=drawn, progress=False)
    except (TypeError, ValueError) as error:
        return _none("faithful", str(error).partition("\n")[0])
    if largest.mean() == 0:
        return _none("faithful", "values of other rows move no prediction")
    table = _frame([(name, *ratio(gaps, largest)) for name, gaps in reached.items()])
    table["pgi2"] = [gaps.mean() for gaps in reached.values()]
    table = table.sort_values("value", ascending=False, kind="stable", ignore_index=True)
    floor = table[table["label"] == "a random ranking"].iloc[0]
    others = table[table["label"] != "a random ranking"]
    first, last = others.iloc[0], others.iloc[-1]
    sentence = {"best": of_best, "first": first["label"], "most": span(_numbers(first))}
    sentence |= {"last": last["label"], "least": span(_numbers(last))}
    sentence["random"] = percent(floor["value"])
    return _section("faithful", _numbers(first), sentence, table, notes)


def ratio(a, b) -> tuple[float, float, float]:
    """Return the ratio of two means over the same rows, and its 95 % interval."""
    value = a.mean() / b.mean()
    half = t.ppf(0.975, len(a) - 1) * np.std(a - value * b, ddof=1) / b.mean() / np.sqrt(len(a))
    return value, value - half, value + half


def redundant(subject, comparison, model_score) -> Section:
    """Find groups of like features, single features that may leak, and the groups' SHAP values."""
    table, _, codes, _ = subject.sample(4 * EXPLAINED, 40)
    numbers, names, notes = subject.numbers(table), np.array(subject.names, object), []
    chosen = np.arange(len(names))
    if len(chosen) > COMPARED:
        places = [rankdata(-found.values) for found in comparison.importances.values()]
        chosen = np.sort(np.argsort(np.mean(places, axis=0), kind="stable")[:COMPARED])
        notes.append(f"Only the {COMPARED} features with the best mean place were compared.")
    ranks = np.array([rankdata(np.nan_to_num(c, nan=-np.inf)) for c in numbers[:, chosen].T])
    moves = np.ptp(ranks, axis=1) > 0
    chosen, ranks = chosen[moves], ranks[moves]
    ratios = correlation_ratios(ranks)
    groups = [chosen[group] for group in _groups(np.minimum(ratios, ratios.T))]
    twins = [
        f"{names[chosen[i]]} = {names[chosen[j]]}"
        for j in range(len(chosen))
        for i in range(j)
        if ratios[i, j] > 0.99 and np.array_equal(ranks[i], ranks[j])
    ]
    alone = _single_feature_gains(subject, numbers[:, chosen], codes, names[chosen], model_score)
    inside = np.concatenate(groups) if groups else np.arange(0)
    apart = _covers_and_background(subject, np.setdiff1d(np.arange(len(names)), inside))
    sentence = (
        f"No two features carry nearly the same information. SHAP by covers and background {apart}."
    )
    if groups:
        count = f"{len(groups)} group{'s' if len(groups) > 1 else ''}"
        sets = "; ".join(listed(names[group]) for group in groups[:5])
        sentence = (
            f"Features carry nearly the same information in {count}: {sets}. SHAP by covers and by "
            f"background {_covers_and_background(subject, inside)} there, elsewhere they {apart}."
        )
    if twins:
        sentence += f" Duplicates, in the same order in all rows: {listed(twins)}."
    if alone.empty or not np.isfinite(alone["value"].iloc[0]):
        sentence += " Leaks were not looked for, as the model gains nothing over chance."
        return _section("redundant", UNKNOWN, sentence, alone, notes)
    top = alone.iloc[0]
    suspects = alone.loc[(alone["value"] >= SUSPECT) & (alone["low"] >= SURE), "label"]
    suspects = suspects if len(names) > 1 else []
    ask = f"By that, suspect: {listed(suspects)}. Ask when and how it was recorded."
    leaks = {"verdict": ask if len(suspects) else "None stands out by that."}
    leaks |= {"start": sentence, "top": top["label"], "reach": span(_numbers(top))}
    return _section("redundant", _numbers(top), leaks, alone, notes)


def correlation_ratios(ranks) -> np.ndarray:
    """Return correlation ratios of ranks j (column) on levels i (row), or squared correlations."""
    centered = ranks - ranks.mean(axis=1, keepdims=True)
    total, n, ratios = (centered**2).sum(axis=1), ranks.shape[1], []
    for own in ranks:
        level = np.searchsorted(np.quantile(own, np.arange(1, BINS) / BINS), own, side="right")
        member = (level == np.unique(level)[:, None]).astype(float)
        between = ((member @ centered.T) ** 2 / member.sum(axis=1)[:, None]).sum(axis=0)
        ratios.append(1 - (1 - between / total) * (n - 1) / max(n - len(member), 1))
    return np.maximum(ratios, np.atleast_2d(np.corrcoef(ranks)) ** 2)


def _groups(similarity):
    if len(similarity) < 2:
        return []
    distance = np.clip(1 - similarity, 0, None) * (1 - np.eye(len(similarity)))
    label = fcluster(linkage(squareform(distance, checks=False), "complete"), 1 - SAME, "distance")
    return [np.flatnonzero(label == k) for k in np.unique(label) if (label == k).sum() > 1]


def _single_feature_gains(subject, numbers, codes, names, model_score):
    """Return what a small tree of one feature gains, as a share of the model's gain over chance."""
    of_classes = bool(subject.classes)
    chance = 0.5 if of_classes else 0.0
    gain = model_score - chance if model_score > chance else np.nan
    order, rows = subject.rng(41).permutation(len(codes)), []
    fit, apart = order[::2], order[1::2]
    for j, name in enumerate(names):
        column = np.nan_to_num(numbers[:, [j]], nan=np.nanmin(numbers[:, j]) - 1)
        tree = (DecisionTreeClassifier if of_classes else DecisionTreeRegressor)(
            max_leaf_nodes=16, min_samples_leaf=5, random_state=0
        ).fit(column[fit], codes[fit])
        scores = np.zeros((len(apart), max(len(subject.classes), 1)))
        if of_classes:
            scores[:, tree.classes_] = tree.predict_proba(column[apart])
            scores = scores[:, 1:] if scores.shape[1] == 2 else scores
        else:
            scores[:, 0] = tree.predict(column[apart])
        value, deviations = score(scores, codes[apart], of_classes)
        ends = value + np.array([0, -Z, Z]) * error_of(deviations)
        rows.append((name, *((ends - chance) / gain)))
    return _frame(rows).sort_values("value", ascending=False, kind="stable", ignore_index=True)


def _covers_and_background(subject, members) -> str:
    """Say how far two kinds of SHAP values differ for some features."""
    rows, trees = subject.sample(EXPLAINED // 2, 2)[0], subject.some_trees()
    background = subject.background(BACKGROUND)
    covers = explain(trees, rows, progress=False).values[:, members]
    other = tree_shap_interventional(trees, rows, background, progress=False)
    sizes = np.abs(covers).sum(axis=(1, 2))
    if sizes.sum() == 0:
        return "are 0"
    off = np.abs(covers - other.values[:, members]).sum(axis=(1, 2))
    return f"differ by {span(ratio(off, sizes))} of their size"


def digits(subject) -> Section:
    """Count digits of SHAP values whose trees are added up in single precision, and of shap's."""
    forest = subject.some_trees(NODES_OF_DIGITS, False)
    table, notes = subject.sample(100, 50)[0], []
    ours = explain(forest, table, progress=False).values
    single, found = np.zeros(ours.shape, np.float32), []
    ends = np.unique(np.linspace(0, forest.n_trees, PORTIONS + 1).astype(int))
    for a, b in pairwise(ends):
        weight = (b - a) / forest.n_trees if subject.is_averaged else 1.0
        of_trees = explain(part(forest, a, b), table, progress=False).values
        single = single + (weight * of_trees).astype(np.float32)
    others: dict[str, np.ndarray] = {"trees added up in single precision": single}
    if forest is subject.forest:
        try:
            shap = imported_shap()
            explainer = shap.TreeExplainer(subject.inner)
            of_shap = explainer.shap_values(table, check_additivity=False)
            others[f"shap {shap.__version__}"] = np.reshape(of_shap, ours.shape)
        except Exception as error:  # any model that shap refuses
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            notes.append(f"shap was not compared: {reason[:200]}")
    else:
        notes.append(f"Digits are for the first {forest.n_trees} trees. shap was not run.")
    largest = np.abs(ours).max(axis=(1, 2))
    if not largest.any():
        return _none("digits", "all SHAP values are 0")
    for name, compared in others.items():
        off = np.abs(compared - ours).max(axis=(1, 2))[largest > 0] / largest[largest > 0]
        found.append((name, *np.quantile(-np.log10(np.maximum(off, 1e-16)), [0, 0.025, 0.975])))
    worst = min(found, key=lambda row: row[1])
    enough = "enough for any table" if worst[1] >= 4 else "too few: small values may be wrong"
    sentence = {"values": worst[0], "least": worst[1], "low": worst[2], "high": worst[3]}
    sentence |= {"count": len(ours), "enough": enough}
    notes.append("Digits of the largest value of each row, against double precision.")
    return _section("digits", worst[1:], sentence, _frame(found), notes)


def recommended(subject, comparison, beats, path=None) -> Section:
    """Recommend by the rule for this model; nothing if it is not better than chance.

    Nothing is recommended for a question if the interval of the measure holds the result of a
    random one, or if the measure was judged on rows new to the model, and there are none.
    """
    text = (path or FOLDER / "rule.csv").read_text("utf-8")
    rule = pd.read_csv(io.StringIO(text), keep_default_na=False)
    kind = "bagged" if subject.is_averaged else "boosted"
    rule = rule[rule["property"].isin([kind, "any"])]
    # A line for such models goes before one for any model.
    rule = rule.sort_values("property", key=lambda of: of == "any", kind="stable")
    rule = rule.drop_duplicates("question")
    if beats is False or rule.empty:
        why = "the model is not better than chance, so no ranking of its features means anything"
        why = why if beats is False else f"the rule has no line for {kind} models"
        return _none("recommended", why, "Nothing is recommended: {}.")
    rows, texts = [], []
    for row in rule.rename(columns={"holds": "value"}).to_dict("records"):
        name, parameters = row["method"], json.loads(row["parameters"] or "{}")
        given = "".join(f", {key}={value!r}" for key, value in parameters.items())
        wanted = _all_parameters(name, parameters)
        all_same = (n for n, m in MEASURES.items() if _all_parameters(m[0], m[1]) == wanted)
        same = next(all_same, None)
        measure = same or (f"{name} ({given[2:]})" if given else name)
        (call, is_of_test), taken = _call(name, given), ""
        right = f"right in {span(_numbers(row))} of the fits to {row['n_data_sets']} data sets"
        right += f", and a random measure in {percent(row['random'])}"
        if not row["low"] > row["random"]:
            text = f"none, as {measure} is {right}"
        elif same in comparison.not_applicable:
            text = f"none, as {measure} does not apply: {comparison.not_applicable[same]}"
        elif is_of_test and not subject.has_test:
            text = f"none, as {measure} is for rows new to the model: give X_test, y_test"
        else:
            text, taken = f"{measure}, {right}", call
            if same and (not is_of_test or name in OF_SCORES):
                order = np.argsort(-comparison.importances[same].values, kind="stable")[:3]
                text += f"; here it puts first {listed(comparison.feature_names[j] for j in order)}"
            if name in BY_GAPS:
                text += "; the study judged it with noise of 0.3 standard deviations"
        texts.append(f"For {row['question']}: {text}.")
        label = f"{row['question']}: {measure if taken else f'none ({measure})'}"
        rows.append(row | {"label": label, "measure": measure, "call": taken})
    columns = "label measure value low high n_data_sets random rests_on call".split()
    table = pd.DataFrame(rows, columns=columns)
    doubt = ["Whether the model beats chance is not known."] if beats is None else []
    weakest = table[table["call"] != ""].sort_values("value", kind="stable")[:1]
    numbers = _numbers(weakest.iloc[0]) if len(weakest) else UNKNOWN
    sentence = {"answers": " ".join([*doubt, *texts])}
    return _section("recommended", numbers, sentence, table)


def _call(name, given):
    """Write the call of a method, and say whether the study judged it on test rows."""
    method = _method(name)
    takes_rows = name in BY_GAPS or method.takes("X")
    is_of_test = takes_rows and not {"bootstrap", "refit"} & set(method.needs)
    X, y = ("X_test", "y_test") if is_of_test else ("X", "y")
    rows = (f", {X}" if takes_rows else "") + (f", y={y}" if "y" in method.needs else "")
    given += ", background=X" if name in BY_GAPS else ""
    given += ", background=X[:100]" if "background" in method.needs else ""
    if name in BY_GAPS:
        return f"splitcredit.rank(model{rows}, by={name!r}{given})", is_of_test
    if method.averages:
        by = f"lambda m, rows: splitcredit.{name}(m, rows{given})" if given else repr(name)
        return f"splitcredit.importance(model{rows}, method={by})", is_of_test
    return f"splitcredit.{method.function('importance').__name__}(model{rows}{given})", is_of_test


def _all_parameters(name, parameters):
    """Return a method with all parameters that can change its ranking."""
    defaults = _methods.parameters_of(_method(name).function("importance")).values()
    given = {p.name: p.default for p in defaults} | {**parameters}
    left_out = "n_repeats n_permutations per_row random_state threshold progress".split()
    return name, {key: value for key, value in given.items() if key not in left_out}


def _method(name):
    return next(method for method in _methods.methods() if method.name == name)
