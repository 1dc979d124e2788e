"""Splits by categories: codes and labels, all measures, and the libraries' own predictions."""

import pickle
from dataclasses import replace
from functools import partial
from itertools import combinations

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from test_convert_boosting import own_attributions

import splitcredit
import twins
import twins_interactions
import twins_interventional
import twins_sage
from forests import LABELS, conversion_error, labeled_table, random_forest, raw_score
from splitcredit import Forest, TreeExplainer, explain, interactions, to_forest
from splitcredit.kernels.interventional.explain import tree_shap_interventional
from splitcredit.models.categories import Categories
from splitcredit.models.formats._nodes import members_of
from splitcredit.prediction_gap import exact_gap, randomizing, sampling


def by_categories(seed=0, n_features=4, of=(0, 2), **fields):
    """A drawn forest whose splits of some features ask for subsets of five codes."""
    rng = np.random.default_rng(seed)
    forest = random_forest(seed, n_features=n_features, missing=True, **fields)
    feature, members, left = [], [], []
    column, threshold = forest.feature.copy(), forest.threshold.copy()
    for k in np.flatnonzero(np.isin(forest.feature, of)):
        column[k], threshold[k] = n_features + len(feature), 0.5
        feature.append(forest.feature[k])
        members.append(rng.choice(5, rng.integers(1, 5), replace=False))
        left.append(rng.random() < 0.5)
    categories = Categories(feature, members, left)
    return replace(forest, column=column, threshold=threshold, categories=categories)


def rows(n, of=(0, 2), seed=1):
    """Rows with codes, one of them unknown, and NaN."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, of] = rng.integers(0, 6, (n, len(of)))
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


FORESTS = {
    "one output": lambda: by_categories(0),
    "classes": lambda: by_categories(1, n_outputs=3, leaves="fractions"),
    "float32, <": lambda: by_categories(2, x_dtype="float32", strict=True),
    "deep": lambda: by_categories(3, n_trees=2, depth=10),
    "shallow": lambda: by_categories(4, n_trees=4, depth=3, aggregate="sum"),
    "shallow, classes": lambda: by_categories(6, depth=4, n_outputs=2),
    "nothing else": lambda: by_categories(5, of=(0, 1, 2, 3)),
}


def example(name, n=12):
    forest = FORESTS[name]()
    X = rows(n, (0, 1, 2, 3) if name == "nothing else" else (0, 2))
    return forest, X, forest.prepare(X)


@pytest.mark.parametrize("name", FORESTS)
def test_prepared_rows_have_a_column_for_each_subset(name):
    """From the definition: 0 goes left, 1 right, NaN stays."""
    forest, X, prepared = example(name)
    categories = forest.categories
    assert prepared.shape == (len(X), 4 + len(categories)) and prepared.dtype == forest.x_dtype
    for s in range(len(categories)):
        for x, goes_right in zip(X[:, categories.feature[s]], prepared[:, 4 + s], strict=True):
            if np.isnan(x):
                assert np.isnan(goes_right)
            else:
                assert goes_right == ((x in categories.members[s]) != categories.members_left[s])


def background_of(name):
    return rows(6, (0, 1, 2, 3) if name == "nothing else" else (0, 2), 9)


@pytest.mark.parametrize("name", FORESTS)
def test_measures_equal_their_twins(name):
    """A feature is known or not, with all of its subsets."""
    forest, X, prepared = example(name)
    shap = twins.tree_shap_by_subsets(forest, prepared).astype(float)
    # Tables are made of trees with few features on a path only.
    algorithms = ("blocks", "rows", "tables") if "shallow" in name else ("blocks", "rows")
    for ours, twin in (
        (forest.predict(X), twins.predict(forest, prepared)),
        (explain(forest, X, "saabas").values, twins.saabas(forest, prepared)),
        (explain(forest, X, "local_mdi").values[..., 0], twins.local_mdi(forest, prepared)),
        (splitcredit.mdi(forest).values, twins.mdi(forest)),
        *((splitcredit.tree_shap(forest, X, algorithm=name).values, shap) for name in algorithms),
    ):
        assert twins.largest_error(ours, twin) <= twins.ROUNDING


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_interactions_equal_the_twin(name, order):
    """Pairs by one traversal, other sets leaf by leaf."""
    forest, X, prepared = example(name, 4)
    sets = list(combinations(range(4), order))
    ours = interactions(forest, X, sets=sets, order=order).values
    twin = twins_interactions.interaction_index(forest, prepared, sets)
    assert twins.largest_error(ours, twin) <= twins.ROUNDING


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize(
    "limits", [(8, 64, 1), (0, 64), (0, 0)], ids=["tables", "patterns", "pairs"]
)
def test_interventional_tree_shap_equals_the_twin(name, limits):
    """All three ways: several subsets of a feature on a path are one condition."""
    forest, _, prepared = example(name, 6)
    background = forest.prepare(background_of(name))
    outputs = np.arange(forest.n_outputs)
    ours = tree_shap_interventional(forest, prepared, outputs, background, limits)
    twin = twins_interventional.tree_shap_interventional(forest, prepared, background)
    assert twins.largest_error(ours, twin) <= twins.ROUNDING


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_interactions_against_a_background_equal_those_of_mixed_rows(name, order):
    """Rows are mixed before they are prepared: a feature takes all of its subsets with it."""
    forest, X, _ = example(name, 4)
    background, sets = background_of(name), list(combinations(range(4), order))
    ours = interactions(forest, X, sets=sets, order=order, background=background).values
    twin = [twins_interactions.index_of_game(worth, sets) for worth in games(forest, X, background)]
    assert twins.largest_error(ours, twin) <= twins.ROUNDING


def games(forest, X, background):
    """For each row the mean prediction of every mixture with the background, by known features."""
    for row in X:
        worth = {}
        for known_features in twins.coalitions(forest.n_features):
            mixed = background.copy()
            mixed[:, known_features] = row[list(known_features)]
            worth[frozenset(known_features)] = forest.predict(mixed).mean(axis=0)
        yield worth


@pytest.mark.parametrize("imputer", ["marginal", "conditional"])
def test_sage_equals_the_twin(imputer):
    forest, X, _ = example("one output", 8)
    X = np.nan_to_num(X)  # to the conditional imputer's twin NaN differs from itself
    prepared, y = forest.prepare(X), np.random.default_rng(0).normal(size=8)
    ours = splitcredit.sage(forest, X, y, imputer=imputer, algorithm="exact")
    twin = twins_sage.sage(forest, prepared, y, prepared, "mse", imputer)
    assert twins.largest_error(ours.values, twin) <= twins.ROUNDING


def test_attributions_by_bag_credit_features_and_not_subsets():
    """In-bag and out-of-bag values add up to those of all trees."""
    forest, X, _ = example("classes")
    inbag = np.random.default_rng(0).integers(0, 2, (forest.n_trees, len(X))).astype(np.uint8)
    bagged = replace(forest, inbag=inbag)
    for method in ("saabas", "tree_shap"):
        in_bag, out_of_bag = (
            splitcredit.oob_attributions(bagged, X, attribution=method, rows=rows).values
            for rows in ("inbag", "oob")
        )
        of_all_trees = explain(forest, X, method).values
        assert in_bag.any() and out_of_bag.any()
        assert twins.largest_error(in_bag + out_of_bag, of_all_trees) <= twins.ROUNDING


def test_the_hash_of_training_rows_goes_by_codes():
    """Text has no bytes of float64; the same labels in another order of the type are the same."""
    frame, y = labeled_table(60)
    forest = to_forest(LGBM(min_child_samples=2).fit(frame, y), frame)
    reordered = frame.assign(color=frame["color"].cat.set_categories(LABELS[::-1]))
    assert forest.training_hash == forest.hash_of(frame) == forest.hash_of(reordered)
    assert forest.hash_of(frame.iloc[::-1]) != forest.training_hash


def test_a_forest_by_categories_survives_storage():
    forest, X, _ = example("one output")
    restored = Forest.from_arrays(forest.to_arrays())
    np.testing.assert_array_equal(restored.predict(X), forest.predict(X))
    labeled = replace(forest, categories=replace(forest.categories, labels=[LABELS], labeled=[0]))
    restored = Forest.from_arrays(labeled.to_arrays()).categories
    assert (restored.labels, restored.labeled) == ((LABELS,), (0,))


def test_contradictions_are_refused():
    forest = by_categories()
    first, column = np.flatnonzero(forest.feature == 0)[0], forest.column.copy()
    for place, message in (
        (99, "column must lie in"),
        (4 + forest.categories.feature.index(2), "must be of the feature"),
        (0, "is not compared itself"),
    ):
        column[first] = place
        with pytest.raises(ValueError, match=message):
            replace(forest, column=column)
    with pytest.raises(ValueError, match="must have an entry for each subset"):
        Categories([0], [], [])
    with pytest.raises(ValueError, match="one feature for each entry"):
        Categories(labels=[LABELS], labeled=[])


Histogram = HistGradientBoostingRegressor
LIGHTGBM = {"n_jobs": 1, "n_estimators": 6, "verbose": -1, "cat_smooth": 1, "num_leaves": 8}
LGBM = partial(lightgbm.LGBMRegressor, **LIGHTGBM, min_data_per_group=3)
XGB = partial(xgboost.XGBRegressor, n_jobs=1, n_estimators=6, max_depth=4, enable_categorical=True)
MODELS = {
    "xgboost, one against the rest": lambda: XGB(max_cat_to_onehot=99),
    "xgboost, subsets": lambda: XGB(max_cat_to_onehot=1),
    "xgboost, dart": lambda: XGB(booster="dart", rate_drop=0.4),
    "xgboost, classes": lambda: xgboost.XGBClassifier(max_cat_to_onehot=1, **XGB.keywords),
    "lightgbm, one against the rest": lambda: LGBM(max_cat_to_onehot=99),
    "lightgbm, subsets": lambda: LGBM(max_cat_to_onehot=1),
    "lightgbm, classes": lambda: lightgbm.LGBMClassifier(**LGBM.keywords),
    "histogram": lambda: Histogram(max_iter=6, max_leaf_nodes=8),
    "histogram, classes": lambda: HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=8),
}


def fitted(name):
    """A model, and the rows that it was fitted on."""
    frame, y = labeled_table()
    return MODELS[name]().fit(frame, np.digitize(y, [-1.0, 1.0]) if "classes" in name else y), frame


def tolerance(model, in_float64=twins.ROUNDING):
    """XGBoost adds up in float32."""
    return 1e-5 if hasattr(model, "get_booster") else in_float64


@pytest.mark.parametrize("name", MODELS)
def test_scores_and_attributions_are_those_of_the_library(name):
    model, frame = fitted(name)
    frame.loc[::9, "size"] = np.nan  # in training it was never missing
    forest, score = to_forest(model), raw_score(model, frame)
    assert set(forest.categories.feature) == {1, 2}
    # The same labels in another order are the same rows.
    reordered = frame.assign(color=frame["color"].cat.set_categories(LABELS[::-1]))
    for rows_of in (frame, reordered):
        assert twins.largest_error(forest.predict(rows_of), score) <= tolerance(model)
    if name.startswith("histogram"):
        return
    ours, theirs = explain(model, frame[:40]).values, own_attributions(model, frame[:40])[:, :-1]
    assert twins.largest_error(ours, theirs) <= tolerance(model, twins.UNWINDING)


@pytest.mark.parametrize("name", ["lightgbm, subsets", "histogram", "xgboost, subsets"])
def test_labels_that_training_did_not_have(name):
    """LightGBM and scikit-learn take them for missing, XGBoost refuses them."""
    model, frame = fitted(name)
    frame["color"] = frame["color"].cat.add_categories("gold")
    as_missing, forest = frame.copy(), to_forest(model)
    frame.loc[3, "color"], as_missing.loc[3, "color"] = "gold", np.nan
    if name.startswith("xgboost"):
        with pytest.raises(ValueError, match=r"'color' of X holds 'gold', which is not a category"):
            forest.predict(frame)
    else:
        np.testing.assert_array_equal(forest.predict(frame), forest.predict(as_missing))


FINE_LGBM = partial(LGBM, min_data_per_group=1, num_leaves=31)
SUBSETS = {
    "xgboost": MODELS["xgboost, subsets"],
    "lightgbm": FINE_LGBM,
    "scikit-learn": lambda: Histogram(max_iter=5),
}


@pytest.mark.parametrize("library", SUBSETS)
def test_models_of_eighty_categories_predict_as_before(library):
    """Subsets of categories are words of 32 bits, so more than one word is needed."""
    rng = np.random.default_rng(0)
    codes, effect = rng.integers(0, 80, 2000), rng.normal(size=80)
    table = pd.DataFrame({"c": pd.Categorical(codes, categories=range(80))})
    table["a"] = rng.normal(size=2000)
    model = SUBSETS[library]().fit(table, effect[codes] + table["a"])
    assert {31, 32} < set().union(*to_forest(model).categories.members)
    assert list(members_of([1 << 31, 1, 2])) == [31, 32, 65]
    assert conversion_error(model, table) <= tolerance(model)


@pytest.mark.parametrize("library", SUBSETS)
def test_large_whole_numbers_beside_a_missing_value_keep_their_digits(library):
    """Labels that are equal as float64, which an array with NaN would hold."""
    rng = np.random.default_rng(0)
    place, labels = rng.integers(0, 5, 400), 2**60 + np.arange(5)
    column = pd.Series(pd.Categorical(labels[place], categories=labels))
    column[::9] = np.nan
    X = pd.DataFrame({"id": column, "x": rng.normal(size=400)})
    model = SUBSETS[library]().fit(X, np.sin(place * 3.0))
    few = X[(place == 1) | (place == 3)]
    expected = raw_score(model, few)
    few = few.assign(id=few["id"].cat.remove_unused_categories())
    assert conversion_error(model, X) <= tolerance(model)
    assert twins.largest_error(to_forest(model).predict(few), expected) <= tolerance(model)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_codes_that_are_no_whole_numbers_go_where_the_library_sends_them(library):
    """Codes between -1 and 0, which XGBoost does not take for category 0, and unknown ones."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 300), rng.normal(size=300)]).astype(float)
    y = np.sin(X[:, 0] * 7) + 0.1 * X[:, 1]
    if library == "xgboost":
        model = SUBSETS[library]().set_params(feature_types=["c", "q"]).fit(X, y)
    else:
        model = SUBSETS[library]().fit(X, y, categorical_feature=[0])
    X[:, 0] = rng.choice([-1.5, -1.0, -0.5, -0.0, 0.5, 3.5, 4.0, 17.0], 300)
    assert conversion_error(model, X) <= tolerance(model)


@pytest.mark.parametrize("dtype", [np.int64, np.float16, np.float32, np.longdouble])
def test_labels_may_be_numbers_of_any_type_and_unknown_ones_are_missing(dtype):
    """Of the shortest and the longest floats pandas has no index."""
    X = np.random.default_rng(0).choice([0.0, 3.0, 7.0, np.nan], (300, 2))
    y = 2.0 * (X[:, 0] == 3) + np.isnan(X[:, 1]) + 3.0 * np.isnan(X[:, 0])
    model = Histogram(max_iter=5, categorical_features=[0]).fit(X, y)
    rows = np.array([[5.0, 1.0], [3.0, 1.0], [0.0, -1.0], [7.0, 4.0]])
    expected = model.predict(rows)
    if dtype != np.int64:
        rows[0, 0] = np.nan
    rows = rows.astype(dtype)
    for given in (rows, rows.tolist(), pd.DataFrame(rows), rows.astype(object)):
        ours = to_forest(model).predict(given)[:, 0]
        assert twins.largest_error(ours, expected) <= twins.ROUNDING


@pytest.mark.parametrize("as_table", [True, False])
def test_LightGBM_takes_codes_of_columns_only_if_it_was_fitted_on_an_array(as_table):
    """Categories by number: the labels of a column that has the type in X only are no codes."""
    rng = np.random.default_rng(0)
    D = pd.DataFrame({"x": rng.normal(size=300), "k": rng.integers(5, 15, 300)})
    model = LGBM(min_data_per_group=1, cat_smooth=0, max_cat_to_onehot=1)
    model.fit(D if as_table else D.to_numpy(), D["k"] % 3, categorical_feature=[1])
    typed = D.assign(k=pd.Categorical(D["k"]))
    assert conversion_error(model, D if as_table else typed) <= 1e-12
    if as_table:
        with pytest.raises(ValueError, match="do not match"):
            model.predict(typed)
        with pytest.raises(ValueError, match=r"column 'k' of X is of type category, in the train"):
            to_forest(model).predict(typed)


PLAIN = {"size": lambda frame: frame["size"].astype(int), "color": lambda f: f["color"].cat.codes}


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("lightgbm, subsets", {"size": 1.0}, "X has 1 columns of type category, the training rows"),
        # 10, 20 and 35 were the codes of no category.
        ("lightgbm, subsets", PLAIN, "of type category"),
        ("xgboost, subsets", PLAIN, "of type category"),
        # Codes were taken for the numbers.
        (
            "xgboost, subsets",
            {"a": lambda frame: pd.Categorical(frame["a"])},
            "column 'a' of X is of type category, in the training",
        ),
    ],
)
def test_columns_of_another_type_than_in_training_are_refused(name, change, message):
    """Both libraries refuse most of them."""
    model, frame = fitted(name)
    other = frame.assign(**change)
    for call in (
        lambda: to_forest(model).predict(other),
        lambda: explain(model, other),
        lambda: splitcredit.tree_shap_interventional(model, frame, background=other),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_missing_numbers_may_be_of_type_category():
    model, frame = fitted("xgboost, subsets")
    frame["a"] = np.nan
    missing = to_forest(model).predict(frame.assign(a=pd.Categorical(frame["a"])))
    np.testing.assert_array_equal(missing, to_forest(model).predict(frame))


def with_label(*labels):
    """A column of these labels, and places of them that are targets."""
    place = np.random.default_rng(0).integers(0, len(labels), 300)
    column = np.empty((300, 1), object)
    column[:, 0] = np.array(labels, object)[place]
    return column, place


def test_labels_that_cannot_be_kept_are_refused():
    """Scikit-learn gives None a code of its own, and rows with it went where NaN goes."""
    column, place = with_label(None, *"bcdef")
    model = Histogram(max_iter=3, categorical_features=[0]).fit(column, np.sin(place * 3.0))
    with pytest.raises(ValueError, match="has None for a category of feature 0"):
        to_forest(model)
    column, place = with_label("e", "é")
    model = XGB().fit(pd.DataFrame(column, columns=["c"], dtype="category"), place)
    with pytest.raises(ValueError, match="labels that are not ASCII, which XGBoost saves cut"):
        to_forest(model)


def test_measures_to_which_categories_have_no_meaning_refuse_them_with_the_remedy():
    """Noise has none, and AIR would make numbers of them."""
    forest, X, _ = example("one output", 2)
    order = np.tile(np.arange(4), (2, 1))
    model, frame = fitted("lightgbm, subsets")
    message = r"'(x[02]|color|size)' by categories.*noise=.marginal."
    for call in (
        lambda: exact_gap.pg2(forest, X, [0]),
        lambda: sampling.pg2_sampled(forest, X, [0]),
        lambda: sampling.gaps_by_k(forest, X, order, 1.0),
        lambda: randomizing.randomized_rmse(forest, X, np.zeros(2), order, [1], X),
        # Not that X has more features than the model.
        lambda: splitcredit.rank(model, frame[:3], scale=0.3),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    X, y = rows(40), np.arange(40.0)
    model = Histogram(max_iter=3, categorical_features=[0])
    with pytest.raises(ValueError, match=r"categorical_features=\[0\] .* is for single features"):
        splitcredit.air(model, X, y)
    frame = pd.DataFrame(X).astype({0: "category"})
    with pytest.raises(ValueError, match="X has columns of type category"):
        splitcredit.air(XGB(), frame, y)


# Labels in other types than those of training, as the libraries compare them.
N = 120
TYPES = {
    "bool": lambda flags: flags,
    "int": lambda flags: flags.astype(int),
    "float": lambda flags: flags.astype(float),
    "object": lambda flags: flags.astype(object),
    "nullable": lambda flags: pd.array(flags, dtype="boolean"),
    "category of bool": pd.Categorical,
    "category of int": lambda flags: pd.Categorical(flags.astype(int)),
}


def flags():
    """Numbers, flags, and targets that both decide."""
    random = np.random.default_rng(0)
    x, on = random.normal(size=N), random.random(N) < 0.5
    return x, on, x + 2.0 * on


def is_refused(fitted, given, missing):
    """Whether scikit-learn refuses the rows: it compares labels that are objects with objects only.

    A column of booleans with gaps holds objects, and one without gaps is compared like them.
    """
    holds_objects = fitted == "object" or (fitted == "bool" and missing)
    return holds_objects and given not in ("object", "bool")


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("fitted", TYPES)
def test_true_equals_one_for_scikit_learn(fitted, missing):
    x, on, y = flags()
    train = pd.DataFrame({"x": x, "on": TYPES[fitted](on)})
    if missing:
        train["on"] = train["on"].where(np.arange(N) % 9 > 0)
    model = Histogram(max_iter=5, categorical_features=["on"]).fit(train, y)
    for given in TYPES:
        if not is_refused(fitted, given, missing):
            rows = pd.DataFrame({"x": x, "on": TYPES[given](on)})
            assert conversion_error(model, rows) <= twins.ROUNDING, given
            assert conversion_error(model, np.array(rows, dtype=object)) <= twins.ROUNDING, given


@pytest.mark.parametrize("fitted", ["category of bool", "category of int"])
def test_true_equals_one_for_LightGBM(fitted):
    x, on, y = flags()
    model = LGBM().fit(pd.DataFrame({"x": x, "on": TYPES[fitted](on)}), y)
    for given in ("category of bool", "category of int"):
        rows = pd.DataFrame({"x": x, "on": TYPES[given](on)})
        assert conversion_error(model, rows) <= twins.ROUNDING


def test_numbers_of_type_category_that_are_no_categories_of_the_model_stay_numbers():
    """As scikit-learn takes columns that are not among its categorical features."""
    x, on, y = flags()
    doses = np.array([30, 10, 20])[np.arange(N) % 3]
    rows = pd.DataFrame({"on": on, "x": x, "dose": pd.Categorical(doses, categories=[30, 10, 20])})
    model = Histogram(max_iter=5, categorical_features=["on"]).fit(rows, y + doses)
    assert conversion_error(model, rows) <= twins.ROUNDING


@pytest.mark.parametrize("x", [[0.5, 3.0, 2.0], [0.5, None, 2.0]], ids=str)
@pytest.mark.parametrize("kind", ["category", "object"])
@pytest.mark.parametrize("labels", [["red", "green", np.nan], [2, 1, np.nan]], ids=str)
def test_a_row_with_a_missing_label_or_number_is_explained_and_compared_with_the_model(
    labels, kind, x
):
    """Pandas takes the column of its frame for numbers, which scikit-learn does not compare."""
    colors = pd.Series(labels * 40, dtype=object).astype(kind)
    rows = pd.DataFrame({"x": pd.array(x * 40, dtype="Float64"), "color": colors})
    model = Histogram(max_iter=5, categorical_features=["color"])
    model.fit(rows, np.arange(N) % 4 + (colors == labels[0]))
    expected = explain(model, rows[:3]).values[:, :, 0]
    for i in range(3):
        for row in (rows.iloc[i], list(rows.iloc[i])):
            # The first call of an explainer is compared with the model.
            assert np.array_equal(TreeExplainer(model).shap_values(row), expected[i])


def test_labels_that_arrays_cannot_keep_are_named_where_a_forest_is_saved():
    """Ranges of numbers, as pandas.cut makes them, are explained."""
    x, _, y = flags()
    rows = pd.DataFrame({"x": x, "range": pd.cut(y, 3)})
    model = Histogram(max_iter=5, categorical_features=["range"]).fit(rows, y)
    assert conversion_error(model, rows) <= twins.ROUNDING
    with pytest.raises(ValueError, match=r"the label Interval\(.* text nor a number.*pickle the"):
        to_forest(model).to_arrays()
    pickled = pickle.loads(pickle.dumps(to_forest(model)))
    assert pickled.predict(rows).tobytes() == to_forest(model).predict(rows).tobytes()
