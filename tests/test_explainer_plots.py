"""shap's plots on explanations of `splitcredit.TreeExplainer`: they show what shap's own show."""

from functools import cache

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
import shap
from matplotlib import pyplot as plt
from sklearn.ensemble import RandomForestClassifier
from xgboost import XGBClassifier, XGBRegressor

from splitcredit import TreeExplainer

COLUMNS = ["MedInc", "HouseAge", "AveRooms", "Latitude"]


@cache
def houses():
    """Rows like those of shap's README, and their prices."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(120, 4)).astype(np.float32), columns=COLUMNS)
    return frame, (frame["MedInc"] + frame["HouseAge"] * frame["AveRooms"]).to_numpy()


CASES = {
    "regressor": (XGBRegressor(n_estimators=10), {}),
    "regressor, background": (XGBRegressor(n_estimators=10), {"background": 40}),
    "classifier": (XGBClassifier(n_estimators=10), {}),
    "probability": (XGBClassifier(n_estimators=10), {"background": 40, "output": "probability"}),
    "class fractions": (RandomForestClassifier(10, max_depth=4, random_state=0), {"class": 1}),
}


@cache
def explanations(case):
    """Explanations of one case by shap and by ours."""
    model, options = CASES[case]
    X, y = houses()
    model.fit(X, y if "regressor" in case else y > 0)
    data = X[: options["background"]] if "background" in options else None
    by_package = [
        make(model, data, model_output=options.get("output", "raw"))(X)
        for make in (shap.TreeExplainer, TreeExplainer)
    ]
    return [e[..., options["class"]] for e in by_package] if "class" in options else by_package


PLOTS = {
    "waterfall": lambda e: shap.plots.waterfall(e[0], show=False),
    "force": lambda e: shap.plots.force(e[0], matplotlib=True, show=False),
    "scatter": lambda e: shap.plots.scatter(e[:, "AveRooms"], color=e, show=False),
    "beeswarm": lambda e: shap.plots.beeswarm(e, show=False),
    "bar": lambda e: shap.plots.bar(e, show=False),
    "bar of one row": lambda e: shap.plots.bar(e[3], show=False),
    "bar of cohorts": lambda e: shap.plots.bar(e.cohorts(2).abs.mean(0), show=False),
    "heatmap": lambda e: shap.plots.heatmap(e, show=False),
    "violin": lambda e: shap.plots.violin(e, show=False),
    "decision": lambda e: shap.plots.decision(
        e.base_values[0], e.values, feature_names=e.feature_names, show=False
    ),
    "summary": lambda e: shap.summary_plot(e.values, e.data, feature_names=COLUMNS, show=False),
    "dependence": lambda e: shap.dependence_plot("MedInc", e.values, houses()[0], show=False),
}


def drawn(plot, explanation):
    """All words and numbers of a figure, and its limits to four digits."""
    plt.close("all")
    np.random.seed(0)  # noqa: NPY002 (shap spreads points by it)
    PLOTS[plot](explanation)
    texts, limits = [], []
    for axes in plt.gcf().axes:
        texts += [text.get_text() for text in axes.texts + axes.get_yticklabels()]
        limits += [f"{limit:.4g}" for limit in (*axes.get_xlim(), *axes.get_ylim())]
    return texts, limits


@pytest.mark.long
@pytest.mark.parametrize("plot", PLOTS)
@pytest.mark.parametrize("case", CASES)
def test_plots_of_our_explanations_show_what_plots_of_those_of_shap_show(case, plot):
    theirs, ours = explanations(case)
    texts, limits = drawn(plot, ours)
    assert (texts, limits) == drawn(plot, theirs)
    assert len(limits) >= 4 and any(texts)


def test_force_plots_of_many_rows_are_written_as_html(tmp_path):
    ours = explanations("regressor")[1]
    path = tmp_path / "force.html"
    shap.save_html(str(path), shap.plots.force(ours[:20]))
    page = path.read_text()
    assert all(column in page for column in COLUMNS)
    assert f"{float(ours.base_values[0])}" in page


def test_force_plots_take_the_expected_value_as_in_shap():
    model, (X, y) = RandomForestClassifier(3, random_state=0), houses()
    explainer = TreeExplainer(model.fit(X, y > 0))
    values = explainer.shap_values(X)
    shap.force_plot(
        explainer.expected_value[1], values[0, :, 1], X.iloc[0], matplotlib=True, show=False
    )
    assert plt.gcf().axes


def test_interactions_are_shown_by_the_summary_plot():
    X = houses()[0]
    explainer = TreeExplainer(XGBRegressor(n_estimators=3).fit(*houses()))
    shap.summary_plot(explainer.shap_interaction_values(X[:20]), X[:20], show=False)
    assert len(plt.gcf().axes) >= 4
