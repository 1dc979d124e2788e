"""Audits find what is planted and do not recommend chance; a page shows what it is given."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier, XGBRegressor

import splitcredit
from splitcredit.models.forest import part
from splitcredit.views.auditing import sections, texts
from splitcredit.views.auditing.subject import Subject, error_of, score

NAUGHTY = '<script>alert("$x$")</script>'
RULE = """question,property,measure,method,parameters,holds,low,high,n_data_sets,random,rests_on
information,bagged,ufi,ufi,{},0.8,0.6,0.9,8,0.3,wine:oob
use,bagged,greedy,pg2_greedy,{},0.9,0.8,1.0,8,0.3,wine:pgi2
retraining,bagged,test,permutation,{},0.9,0.8,1.0,8,0.3,wine:removed
stability,bagged,inbag,oob_attributions,"{""rows"": ""inbag""}",0.5,0.3,0.6,8,0.3,wine:seeds
faithfulness,any,local_mdi,local_mdi,{},0.9,0.7,1.0,8,0.3,wine:pgi2
information,boosted,splits,splits,"{""kind"": ""total_gain""}",0.7,0.5,0.9,8,0.3,wine:gain
"""


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
    """What stands out comes by size; measures that are never negative have no false alarms."""
    redundant = found["redundant"]
    assert "suspect: leak." in redundant.sentence and "not looked for" in redundant.sentence
    assert "signal = copy" in redundant.sentence and "1 group: signal, copy" in redundant.sentence
    noise = found["noise"].table.set_index("label")
    assert set(noise.index[noise["value"].isna()]) == set(sections.NOT_NEGATIVE)
    best = noise.sort_values(["value", "n_above_noise"], ascending=[True, False]).iloc[0]
    above = json.loads(best["above_noise"])
    assert above[0] == "leak" and not any(name.startswith("noise") for name in above)
    assert all(f"noise {j}" in found["noise"].sentence for j in range(10))
    slopes = found["values"].table.set_index("label")
    assert slopes.loc["mdi", "low"] > 0
    assert abs(slopes.loc["ufi", "value"]) < slopes.loc["mdi", "value"] / 3


def test_the_same_seed_gives_the_same_bytes(found):
    X, y = planted(100)
    X = X[["signal", "weak"]]
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    one, again = splitcredit.audit(model, X, y), splitcredit.audit(model, X, y)
    assert one.to_json() == again.to_json()
    pd.testing.assert_frame_equal(one.to_frame(), again.to_frame(), check_exact=True)
    assert one.to_html() == again.to_html()
    assert list(found.to_frame()["section"]) == list(texts.TEXTS.index)


def test_nothing_is_recommended_for_permuted_targets(found):
    X, y = planted()
    permuted = np.random.default_rng(1).permutation(y)
    X = X[["signal", "weak", "noise 0"]]
    for model in (
        RandomForestClassifier(10, random_state=0),
        XGBClassifier(n_estimators=5, n_jobs=1),
    ):
        audit = splitcredit.audit(model.fit(X, permuted), X, permuted)
        assert "suspect" not in audit["redundant"].sentence
        assert audit.beats_chance is False
        assert audit["recommended"].sentence.startswith("Nothing is recommended: the model is not")
    assert found.beats_chance is True


def test_none_is_recommended_that_is_not_better_than_random_or_lacks_the_rows_of_its_study(
    tmp_path, found
):
    """Calls on training rows where the study had others."""
    (tmp_path / "rule.csv").write_text(RULE)
    X, y = planted()
    X = X[["signal", "weak"]].assign(coin=np.arange(len(X)) % 2)
    model, calls = RandomForestClassifier(10, random_state=0).fit(X, y), []
    for test in ((None, None), (X, y)):
        subject = Subject(model, X, y, *test, 0)
        section = sections.recommended(subject, found.comparison, True, tmp_path / "rule.csv")
        assert list(section.table["measure"][:3]) == ["ufi", "pg2_greedy", "permutation"]
        assert "For stability: none, as inbag_shap is right in 50 %" in section.sentence
        calls.append(list(section.table["call"]))
    by_ufi = "splitcredit.ufi(model, X, y=y)"
    assert calls[0] == [by_ufi, "", "", "", ""] and calls[1][3] == ""
    assert calls[1][0] == by_ufi and "(model, X_test, by='pg2_greedy'" in calls[1][1]
    assert "splitcredit.permutation(model, X_test, y=y_test)" in calls[1][2]
    assert "(model, X_test, method='local_mdi')" in calls[1][4]
    assert section.value == 0.8 and "ufi, right in 80 %" in section.sentence
    assert "with noise of 0.3 standard deviations" in section.sentence


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
    with pytest.raises(ValueError, match="section='x' is not one of model, measures"):
        audit.plot("x")


def text_pipeline(X, y):
    words = np.array(["good", "bad"])[(X["signal"] > 0).astype(int)]
    X = X[["weak"]].assign(text=[f"a {word} day" for word in words])
    steps = ColumnTransformer([("text", CountVectorizer(), "text")], remainder="passthrough")
    return make_pipeline(steps, RandomForestClassifier(5, random_state=0)).fit(X, y), X


CASES = {
    "values": lambda X, y: (
        RandomForestRegressor(5, random_state=0),
        X["signal"] + 0.1 * X["weak"],
    ),
    "three classes": lambda X, y: (
        XGBClassifier(n_estimators=4, n_jobs=1),
        np.digitize(X["signal"], [-0.5, 0.5]),
    ),
    "a Booster": lambda X, y: (XGBClassifier(n_estimators=4, n_jobs=1), y),
}


@pytest.mark.parametrize("name", [*CASES, "text"])
def test_regression_several_classes_boosting_and_text_are_audited(name):
    X, y = planted(150)
    if name == "text":
        model, X = text_pipeline(X, y)
    else:
        X = X[["signal", "weak", "noise 0"]]
        model, y = CASES[name](X, y)
        model.fit(X, y)
    audit = splitcredit.audit(model.get_booster() if name == "a Booster" else model, X, y)
    words = {"values": "variance", "a Booster": "is not known: pass test"}
    assert words.get(name, "the higher score") in audit["model"].sentence
    assert not audit.to_frame()["sentence"].str.contains("nan").any()
    json.loads(audit.to_json())
    assert name != "text" or "text" in audit.comparison.feature_names


def test_a_measure_that_does_not_apply_says_why(found):
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
    assert audit["recommended"].sentence.startswith("Nothing is recommended")
    assert not audit.to_frame()["sentence"].str.contains("nan").any()
    json.loads(audit.to_json())
    comparison = splitcredit.compare(model, X, zeros)
    assert comparison.notes[0].startswith("The target has no variance")
    frame = comparison.to_frame().set_index("measure")
    assert (frame.loc[list(comparison.importances), "place"] == 1).all()
    assert n == 1 or (frame.loc["permutation", "value"] == 0).all()


def test_every_recommended_line_runs_and_every_name_is_a_method(tmp_path):
    """Names that no function took; permutation of a ranker, which has no score."""
    X, y = planted(90)
    X = X[["signal", "weak", "leak"]]
    rule = pd.read_csv(texts.FOLDER / "rule.csv", keep_default_na=False)
    rule.assign(random=0.0).to_csv(tmp_path / "rule.csv")
    ranker = LGBMRanker(n_estimators=3, verbosity=-1).fit(X, y, group=[90])
    for model in (RandomForestClassifier(5, random_state=0).fit(X, y), ranker, ranker.booster_):
        subject = Subject(model, X, y, X, y, 0)
        comparison = splitcredit.compare(model, X, y)
        section = sections.recommended(subject, comparison, True, tmp_path / "rule.csv")
        names = {"X_test": X, "y_test": y, "X": X, "y": y, "model": model}
        for call in filter(None, section.table["call"]):
            assert len(eval(call, {"splitcredit": splitcredit} | names).feature_names) == 3
        for name in (*comparison.importances, *rule["measure"].replace({"sage_test": "sage"})):
            assert splitcredit.measures._methods.look_up(name, "rank")


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
    value, deviations = score(scores, y, is_classifier)
    np.testing.assert_allclose(value, expected)
    draws = rng.integers(0, 400, (300, 400))
    spread = np.std([score(scores[i], y[i], is_classifier)[0] for i in draws])
    np.testing.assert_allclose(error_of(deviations), spread, rtol=0.15)


def test_parts_of_a_forest_add_up_to_the_forest():
    model, X = model_and_rows()
    forest = splitcredit.to_forest(model)
    halves = [part(forest, 0, 5), part(forest, 5, 20)]
    mean = (5 * halves[0].predict(X) + 15 * halves[1].predict(X)) / 20
    np.testing.assert_allclose(mean, forest.predict(X), rtol=1e-12)
    np.testing.assert_array_equal(halves[1].inbag, forest.inbag[5:])
