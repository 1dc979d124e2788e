"""Audits find what is planted and do not recommend chance; a page shows what it is given."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier, XGBRegressor

import splitcredit
from splitcredit.measures import _methods
from splitcredit.models.forest import part
from splitcredit.views.auditing import sections, texts
from splitcredit.views.auditing.comparison import MEASURES
from splitcredit.views.auditing.subject import Subject, error_of, score

NAUGHTY = '<script>alert("$x$")</script>'


def planted(n=240):
    """A signal with a copy, a weak signal, a leak, and ten columns of noise with 1000 values."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"signal": rng.normal(size=n), "weak": rng.normal(size=n)})
    y = (X["signal"] + 0.5 * X["weak"] + 0.5 * rng.normal(size=n) > 0).astype(int)
    X["copy"], X["leak"] = 2 * X["signal"] + 1, y + 0.3 * rng.normal(size=n)
    for j in range(10):
        X[f"noise {j}"] = rng.integers(0, 1000, n)
    return X, y


@pytest.fixture(scope="module")
def found():
    X, y = planted()
    return splitcredit.audit(RandomForestClassifier(20, random_state=0).fit(X, y), X, y)


def test_a_leak_a_duplicate_and_noise_that_are_planted_are_found(found):
    leaks, evidence = found["leaks"], found["evidence"]
    assert leaks.sentence.startswith("Suspected: leak alone tells the outcome with an area under")
    assert found.sections[0] is leaks and leaks.weight == 2 and leaks.value == 1
    assert found.verdict.startswith("Do not use the importances of this model yet: look first at")
    assert "leak alone tells" in found.verdict and found.verdict.count("\n") == 0
    assert "1 group of features with" in found["redundant"].sentence
    assert "in all rows: signal = copy" in found["redundant"].sentence
    above = evidence.table.loc[evidence.table["evidence"], "label"]
    assert set(above) == {"signal", "copy", "weak", "leak"} and evidence.value == 4
    assert "No evidence: " in evidence.sentence and "UFI" in evidence.notes[0]


def test_the_same_seed_gives_the_same_bytes(found):
    X, y = planted(100)
    X = X[["signal", "weak"]]
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    one, again = splitcredit.audit(model, X, y), splitcredit.audit(model, X, y)
    assert one.to_json() == again.to_json()
    pd.testing.assert_frame_equal(one.to_frame(), again.to_frame(), check_exact=True)
    assert one.to_html() == again.to_html()
    frame = found.to_frame()
    assert set(frame["section"]) == {"verdict", *texts.TEXTS.index}
    assert frame["sentence"][0] == json.loads(found.to_json())["verdict"] == found.verdict


def test_nothing_is_recommended_for_permuted_targets(found):
    X, y = planted()
    rng = np.random.default_rng(1)
    permuted, X = rng.permutation(y), X[["signal", "weak", "noise 0"]]
    others = pd.DataFrame(rng.permuted(X, axis=0), columns=X.columns)
    for model, test in (
        (RandomForestClassifier(10, random_state=0), ()),
        (XGBClassifier(n_estimators=5, n_jobs=1), (others, permuted)),
    ):
        audit = splitcredit.audit(model.fit(X, permuted), X, permuted, *test)
        assert audit["leaks"].sentence.startswith("Nothing is suspected. Looked for were single")
        assert audit.beats_chance is False and audit["evidence"].value == 0
        assert audit["use"].sentence.startswith("Nothing, as the model is not better")
        assert audit.verdict.endswith("it predicts no better than chance.")
    assert found.beats_chance is True


def test_what_is_printed_runs_and_is_not_printed_without_the_rows_that_it_is_for():
    """Calls on training rows where the method is for others; permutation of a ranker."""
    X, y = planted(90)
    X = X[["signal", "weak", "leak"]]
    ranker = LGBMRanker(n_estimators=3, verbosity=-1).fit(X, y, group=[90])
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    for model in (forest, ranker, ranker.booster_, ExtraTreesClassifier(5).fit(X, y)):
        for test in ((None, None), (X, y)):
            subject = Subject(model, X, y, *test, 0)
            section = sections.use(subject, splitcredit.compare(model, X, y), True)
            names = {"X_test": X, "y_test": y, "X": X, "y": y, "model": model}
            for call in filter(None, section.table["call"]):
                assert len(eval(call, {"splitcredit": splitcredit} | names).feature_names) == 3
            calls = dict(zip(section.table["method"], section.table["call"], strict=True))
            assert ("X_test" in calls["tree_shap"]) == (test[0] is not None)
            assert test[0] is not None or "TreeSHAP is for rows that are new" in section.sentence
    assert calls.get("ufi", "") == ""
    names |= {"model": forest}
    for name in splitcredit.compare(forest, X, y).importances:
        call, _ = sections._call(name, Subject(forest, X, y, X, y, 0))
        assert len(eval(call, {"splitcredit": splitcredit} | names).feature_names) == 3


def test_every_choice_is_a_method_and_has_a_meaning():
    for _, meaning, kind, answer in texts.CHOICES.to_numpy():
        assert kind in ("bagged", "averaged", "boosted", "any")
        assert " " in answer or _methods.look_up(answer, "importance")
        assert f"  {meaning}: " in repr(splitcredit.methods())
    assert set(texts.WORDS) == set(MEASURES)


def test_every_name_is_escaped_and_shown_as_it_is(tmp_path):
    """A dollar begins a formula for matplotlib."""
    X, y = planted(120)
    X = X[["signal", "leak"]].set_axis([NAUGHTY, "a & b"], axis=1)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[::2], y[::2])
    audit = splitcredit.audit(model, X[::2], y[::2], X[1::2], y[1::2])
    page = audit.to_html(tmp_path / "page.html")
    assert page == (tmp_path / "page.html").read_text()
    assert "<script" not in page and "a & b" not in page
    drawn = "".join(re.findall(r"<svg.*?</svg>", page, re.S))
    assert "alert(" in drawn and "$x$" in drawn and "a &amp; b" in drawn
    assert "http" not in page.replace("http://www.w3.org", "").replace("https://www.w3.org", "")
    with pytest.raises(ValueError, match="section='x' is not one of "):
        audit.plot("x")


@pytest.mark.parametrize("name", ["values", "three classes", "a Booster", "text"])
def test_regression_several_classes_boosting_and_text_are_audited(name):
    X, y = planted(150)
    signal, X = X["signal"], X[["signal", "weak", "noise 0"]]
    model = XGBClassifier(n_estimators=4, n_jobs=1)
    if name == "values":
        model, y = RandomForestRegressor(5, random_state=0), signal + 0.1 * X["weak"]
    elif name == "three classes":
        y = np.digitize(signal, [-0.5, 0.5])
    elif name == "text":
        X = X[["weak"]].assign(text=np.where(signal > 0, "a bad day", "a good day"))
        steps = ColumnTransformer([("text", CountVectorizer(), "text")], remainder="passthrough")
        model = make_pipeline(steps, RandomForestClassifier(5, random_state=0))
    model.fit(X, y)
    audit = splitcredit.audit(model.get_booster() if name == "a Booster" else model, X, y)
    words = {"values": "variance", "a Booster": "is not known: pass X_test"}
    assert words.get(name, "area under the ROC curve") in audit["model"].sentence
    assert not audit.to_frame()["sentence"].str.contains("nan").any()
    json.loads(audit.to_json())
    assert name != "text" or "text" in audit.comparison.feature_names


def test_a_measure_that_does_not_apply_says_why():
    X, y = planted(120)
    X = X[["signal", "weak"]]
    model = XGBClassifier(n_estimators=5, n_jobs=1).fit(X, y)
    comparison = splitcredit.compare(model.get_booster(), X)
    assert comparison.not_applicable["ufi"].startswith("method 'ufi' needs y")
    assert "single rows" in comparison.not_applicable["pg2_greedy"]
    assert "tree_shap" in comparison.importances and "split_count" in comparison.importances
    why = splitcredit.compare(model, X, y).to_frame().set_index("measure")["why_empty"]
    assert "grown on" in why["mdi_oob"] and (why["sage"] == "").all()


def test_a_comparison_has_the_numbers_of_the_measures(found):
    full = found.comparison.to_frame().set_index(["measure", "feature"])
    model, X = model_and_rows()
    shap = np.abs(splitcredit.explain(model, X).values).sum(axis=2)
    value, error = full.loc[("tree_shap", "leak"), ["value", "standard_error"]]
    np.testing.assert_allclose(value, shap.mean(axis=0)[3])
    np.testing.assert_allclose(error, shap.std(axis=0)[3] / np.sqrt(len(shap)))
    assert set(full.loc["mdi", "place"]) == set(range(1, 15))
    np.testing.assert_allclose(full.loc["mdi", "value"], splitcredit.importance(model).values)


@pytest.mark.parametrize(
    ("kind", "n"), [(RandomForestRegressor, 1), (RandomForestClassifier, 60), (XGBRegressor, 60)]
)
def test_a_target_without_variance_is_said_in_a_line(kind, n):
    """Permutation of a forest was NaN, and frames of a comparison ended in an error."""
    X, zeros = planted(n)[0][["signal", "weak"]], np.zeros(n)
    model = kind(n_estimators=3, random_state=0)
    audit = splitcredit.audit(model.fit(X, zeros), X, zeros)
    assert audit.beats_chance is False and "have no variance" in audit["model"].sentence
    assert audit["use"].sentence.startswith("Nothing, as the model is not better")
    assert not audit.to_frame()["sentence"].str.contains("nan").any()
    json.loads(audit.to_json())
    comparison = splitcredit.compare(model, X, zeros)
    assert comparison.notes[0].startswith("The target has no variance")
    frame = comparison.to_frame().set_index("measure")
    assert (frame.loc[list(comparison.importances), "place"] == 1).all()
    assert n == 1 or (frame.loc["permutation", "value"] == 0).all()


def model_and_rows():
    X, y = planted()
    return RandomForestClassifier(20, random_state=0).fit(X, y), X


@pytest.mark.parametrize("is_classifier", [True, False])
def test_scores_are_those_of_scikit_learn_and_errors_those_of_resampling(is_classifier):
    rng = np.random.default_rng(0)
    if is_classifier:
        y = rng.integers(0, 3, 400)
        scores = np.eye(3)[y] + rng.normal(size=(400, 3)).round(1)  # with ties
        expected = np.mean([roc_auc_score(y == c, scores[:, c]) for c in range(3)])
    else:
        y = rng.normal(size=400)
        scores = (y + rng.normal(size=400))[:, None]
        expected = r2_score(y, scores)
    np.testing.assert_allclose(score(scores, y, is_classifier), expected)
    draws = rng.integers(0, 400, (300, 400))
    spread = np.std([score(scores[i], y[i], is_classifier) for i in draws])
    # An error of twenty parts has itself an error of 1 / sqrt(2 * 19), a sixth; three of them.
    np.testing.assert_allclose(error_of(scores, y, is_classifier), spread, rtol=0.5)


def test_parts_of_a_forest_add_up_to_the_forest():
    model, X = model_and_rows()
    forest = splitcredit.to_forest(model)
    halves = [part(forest, 0, 5), part(forest, 5, 20)]
    mean = (5 * halves[0].predict(X) + 15 * halves[1].predict(X)) / 20
    np.testing.assert_allclose(mean, forest.predict(X), rtol=1e-12)
    np.testing.assert_array_equal(halves[1].inbag, forest.inbag[5:])
