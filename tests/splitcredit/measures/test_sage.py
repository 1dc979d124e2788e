"""SAGE against its definition, the theory of sutera2021 and the package sage-importance."""

import json
from functools import cache
from math import log

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    IsolationForest,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

import twins
import twins_sage
from forests import (
    DRAWN,
    grow,
    leaf,
    random_forest,
    rows_on_thresholds,
    split,
    stump,
    whole_numbers,
)
from reproduction import theory
from reproduction.datasets import led
from splitcredit import Importance, to_forest
from splitcredit import sage as sage_of
from splitcredit.kernels.compiled import threads
from splitcredit.kernels.walks import background_masks
from splitcredit.kernels.walks import sage as kernel
from splitcredit.measures import sage as sage_method

LED = led.load()


@cache
def led_forest():
    model = ExtraTreesClassifier(50, max_features=1, criterion="entropy", random_state=0)
    model.fit(LED.X, LED.y)
    return model, to_forest(model)


@cache
def regression():
    X, y = whole_numbers("values", 40, 4)
    model = RandomForestRegressor(8, max_depth=4, random_state=0).fit(X, y)
    return model, to_forest(model), X, y


def of_led(loss="cross_entropy", **options):
    return sage_of(led_forest()[1], LED.X, LED.y, loss=loss, **options)


def of_regression(**options):
    _, forest, X, y = regression()
    return sage_of(forest, X, y, **options)


@cache
def boosted(name):
    X, _ = whole_numbers("classes", 90, 3, 4)
    y = (X[:, 0] + X[:, 1] // 3).astype(int) % (2 if "two" in name else 3)
    y = np.array(["no", "so-so", "yes"])[y]
    averaged = {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.5}
    small = {"min_child_samples": 5, "verbose": -1}
    model = {
        "histograms": HistGradientBoostingClassifier(max_iter=3),
        "gradient": GradientBoostingClassifier(n_estimators=3),
        "lightgbm": LGBMClassifier(n_estimators=3, **small),
        "averaged": LGBMClassifier(n_estimators=3, **small, **averaged),
        "one against all": LGBMClassifier(n_estimators=3, objective="multiclassova", **small),
        "xgboost": XGBClassifier(n_estimators=3),
        "adaboost": AdaBoostClassifier(n_estimators=3),
    }[name.partition(",")[0]]
    codes = np.unique(y, return_inverse=True)[1]
    return model.fit(X, codes if "xgboost" in name else y), X, codes if "xgboost" in name else y


def of_boosted(**options):
    return sage_of(*boosted("lightgbm, three"), **options)


def drawn(name):
    """Forest, rows, targets as the twin takes them and as we do, and another background."""
    forest = DRAWN[name]()
    X, rng = rows_on_thresholds(forest, 8), np.random.default_rng(0)
    if forest.n_outputs == 1:
        y = rng.normal(size=5)
        return forest, X[:5], y, y, X[3:]
    y = rng.integers(forest.n_outputs, size=5)
    return forest, X[:5], y, np.array(forest.output_names)[y], X[3:]


@pytest.mark.parametrize("table", [kernel.TABLE, 0], ids=["table", "no table"])
@pytest.mark.parametrize("name", DRAWN)
def test_exact_values_equal_the_definition(name, table, monkeypatch):
    monkeypatch.setattr(kernel, "TABLE", table)
    forest, X, y, labels, background = drawn(name)
    fractions = forest.n_outputs > 1 and forest.predict(X).min() >= 0
    for loss in ("mse", "cross_entropy") if fractions else ("mse",):
        ours = sage_of(forest, X, labels, loss=loss, background=background, algorithm="exact")
        twin = twins_sage.sage(forest, forest.prepare(X), y, forest.prepare(background), loss)
        assert twins.largest_error(ours.values, twin) <= twins.ROUNDING
        assert not ours.standard_error.any() and ours.parameters["n_permutations"] == 0


@pytest.mark.parametrize("words", [1, background_masks.WORDS])
@pytest.mark.parametrize("n_background", [1, 63, 64, 65, 200])
def test_means_over_masks_are_those_of_predictions(words, n_background, monkeypatch):
    """Red if a mask loses a row at the end of a word, or has rows that there are not."""
    monkeypatch.setattr(background_masks, "WORDS", words)
    forest = random_forest(3, n_trees=4, depth=6, n_features=5, n_outputs=2)
    rng = np.random.default_rng(n_background)
    X, background = (forest.prepare(rng.normal(size=(n, 5))) for n in (7, n_background))
    rows, known = rng.integers(7, size=40), rng.random((40, 5)) < 0.5
    means = background_masks.BackgroundMasks(forest, X, background).means(rows, known)
    mixed = np.where(known[:, None, :], X[rows][:, None, :], background).reshape(-1, 5)
    expected = forest.predict(mixed).reshape(40, n_background, 2).mean(axis=1)
    assert twins.largest_error(means, expected) <= twins.ROUNDING


@pytest.mark.parametrize("imputer", ["marginal", "conditional"])
def test_exact_values_of_a_regressor_equal_the_definition(imputer):
    _, forest, X, y = regression()
    ours = sage_of(
        forest, X[:15], y[:15], loss="mse", background=X, imputer=imputer, algorithm="exact"
    ).values
    twin = twins_sage.sage(forest, X[:15], y[:15], X, "mse", imputer)
    assert twins.largest_error(ours, twin) <= twins.ROUNDING


def test_with_the_bayes_classifier_it_is_equation_4_of_sutera2021():
    """Cross entropy and the conditional imputer; Eq. 4 is in bits, SAGE in nats."""
    joint = np.zeros((2,) * 7 + (10,))
    for x, digit in zip(LED.X.astype(int), LED.y, strict=True):
        joint[(*x, digit)] = 0.1
    bayes = to_forest(DecisionTreeClassifier(criterion="entropy").fit(LED.X, LED.y))
    in_bits = theory.mdi_totally_randomized(theory.JointDistribution(joint))
    ours = sage_of(bayes, LED.X, LED.y, imputer="conditional", algorithm="exact").values
    assert twins.largest_error(ours, log(2) * in_bits) <= twins.ROUNDING
    assert twins.largest_error(ours.sum(), log(10)) <= twins.ROUNDING


@pytest.mark.parametrize("run", [of_led, of_regression, of_boosted])
@pytest.mark.parametrize("imputer", ["marginal", "conditional"])
@pytest.mark.parametrize("random_state", range(3))
def test_sampled_values_lie_within_4_standard_errors_of_exact_ones(run, imputer, random_state):
    exact = run(imputer=imputer, algorithm="exact").values
    sampled = run(imputer=imputer, random_state=random_state)
    assert ((sampled.standard_error > 0) == (exact != 0)).all()
    assert (np.abs(sampled.values - exact) <= 4 * sampled.standard_error).all()
    assert sampled.standard_error.max() <= 0.05 * np.ptp(sampled.values)
    assert sampled.parameters["n_permutations"] % 512 == 0


@pytest.mark.parametrize("wrong", [False, True])
def test_a_stump_by_hand(wrong):
    """One feature that tells two classes apart saves ln 2 nats, or costs what clipping allows."""
    forest = grow([split(0, 0.5, leaf([1.0, 0.0]), leaf([0.0, 1.0]))], 1)
    y = ["class 1", "class 0"] if wrong else ["class 0", "class 1"]
    for algorithm in ("exact", "sampled"):
        value = sage_of(forest, [[0], [1]], y, algorithm=algorithm, n_permutations=2).values[0]
        assert value == pytest.approx(log(2) + log(1e-12) * wrong, rel=1e-14)


def test_correlated_features_share_with_the_conditional_imputer():
    """A copy that no tree tests is worth nothing to the forest, but tells as much."""
    forest = grow([split(0, 0.5, leaf(0.0), leaf(2.0))], 2)
    X, y = [[0, 0], [1, 1]], [0, 2]
    marginal = sage_of(forest, X, y, algorithm="exact").values
    conditional = sage_of(forest, X, y, imputer="conditional", algorithm="exact").values
    assert marginal.tolist() == [1.0, 0.0] and conditional.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("run", [of_led, of_regression])
@pytest.mark.parametrize("imputer", ["marginal", "conditional"])
@pytest.mark.parametrize("algorithm", ["exact", "sampled"])
@pytest.mark.parametrize("table", [kernel.TABLE, 0], ids=["table", "no table"])
def test_threads_and_chunks_leave_the_bytes_alone(run, imputer, algorithm, table, monkeypatch):
    monkeypatch.setattr(kernel, "TABLE", table)

    def bytes_now():
        scores = run(imputer=imputer, algorithm=algorithm, threshold=0.1)
        return scores.values.tobytes() + scores.standard_error.tobytes()

    before = bytes_now()
    with threads(1):
        assert bytes_now() == before
    for module, name, size in (
        (sage_method, "PAIRS", 1),
        (sage_method, "PAIRS", 1000),
        (kernel, "CHUNK", 700),
        (sage_method, "PORTION", 5),
    ):
        monkeypatch.setattr(module, name, size)
        assert bytes_now() == before, (name, size)


def test_a_given_number_of_permutations_are_those_that_sampling_would_draw():
    converged = of_led(random_state=3)
    n = converged.parameters["n_permutations"]
    by_number = of_led(random_state=3, n_permutations=n)
    assert by_number.values.tobytes() == converged.values.tobytes()
    assert by_number.standard_error.tobytes() == converged.standard_error.tobytes()
    assert of_led(random_state=4, n_permutations=n).values.tobytes() != converged.values.tobytes()
    assert of_led(random_state=3, threshold=0.01).parameters["n_permutations"] > n


@pytest.mark.filterwarnings("error")
def test_a_single_feature_stops_by_its_own_value():
    """It differs from no other: 2**20 permutations, and a warning to raise the threshold."""
    X = np.random.default_rng(0).normal(size=(200, 1))
    y = X[:, 0] + np.random.default_rng(1).normal(size=200)
    model = RandomForestRegressor(3, max_depth=4, random_state=0).fit(X, y)
    sampled, exact = sage_of(model, X, y), sage_of(model, X, y, algorithm="exact")
    assert sampled.parameters["n_permutations"] < 2**15
    assert sampled.standard_error[0] <= 0.05 * sampled.values[0]
    assert abs(sampled.values[0] - exact.values[0]) <= 4 * sampled.standard_error[0]
    unused = RandomForestRegressor(3, min_samples_leaf=101, random_state=0).fit(X, y)
    assert sage_of(unused, X, y).parameters["n_permutations"] == sage_method.ROUND


def test_labels_and_parameters():
    scores = of_led(None, n_permutations=np.int64(1000), random_state=np.int32(0))
    assert isinstance(scores, Importance) and scores.method == "sage"
    assert scores.feature_names == led_forest()[1].feature_names
    assert scores.parameters == {
        "loss": "cross_entropy",
        "imputer": "marginal",
        "algorithm": "sampled",
        "threshold": 0.025,
        "random_state": 0,
        "n_permutations": 1000,
        "n_background": 10,
    }
    assert json.loads(json.dumps(scores.parameters)) == scores.parameters
    assert of_regression(n_permutations=2).parameters["loss"] == "mse"


def test_a_large_table_is_its_own_background_in_part(monkeypatch):
    """Red if the default background grows with X, and with it the time; a given one is kept."""
    monkeypatch.setattr(sage_method, "BACKGROUND", 15)
    drawn = [of_regression(n_permutations=9, random_state=s) for s in (0, 0, 1)]
    _, forest, X, y = regression()
    given = sage_of(forest, X, y, background=X, n_permutations=9)
    assert [r.parameters["n_background"] for r in (*drawn, given)] == [15, 15, 15, 40]
    assert drawn[0].values.tobytes() == drawn[1].values.tobytes() != drawn[2].values.tobytes()
    assert of_regression(algorithm="exact").parameters["n_background"] == 40


def test_features_of_equal_importance_end_in_a_warning(monkeypatch):
    """Their values never differ by 40 standard errors."""
    monkeypatch.setattr(sage_method, "MOST", 1024)
    inner = split(1, 0.5, leaf(0.0), leaf(12.0))
    forest = grow([split(0, 0.5, leaf(0.0), inner)], 2)
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    with pytest.warns(UserWarning, match=r"SAGE stopped after 1024 permutations .*raise threshold"):
        sage_of(forest, X, [0, 0, 0, 12])


def test_the_default_ends_by_its_work_and_says_the_error_that_it_reached(monkeypatch):
    """A given threshold is reached, whatever it costs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 9))
    y = X[:, 0] + rng.normal(size=200)
    model = RandomForestRegressor(20, random_state=0).fit(X[:100], y[:100])
    X, y = X[100:], y[100:]
    monkeypatch.setattr(sage_method, "WORK", 1)
    with pytest.warns(UserWarning, match=r"after 512 permutations .* pass threshold, which takes"):
        short = sage_of(model, X, y)
    assert short.parameters["n_permutations"] == 512 and short.parameters["threshold"] == 0.025
    assert short.standard_error.max() > 0.025 * np.ptp(short.values)
    longer = sage_of(model, X, y, threshold=0.025)
    assert longer.standard_error.max() <= 0.025 * np.ptp(longer.values)


@pytest.mark.parametrize("loss", ["cross entropy", "mse"])
def test_gains_of_the_same_draws_equal_those_of_sage_importance(loss):
    """To rounding, and to the 1e-12 by which it lowers probabilities of 1."""
    import sage

    model, forest = led_forest()
    y = np.eye(10)[LED.y] if loss == "mse" else LED.y
    estimator = sage.PermutationEstimator(sage.MarginalImputer(model, LED.X), loss)
    estimator.rng = np.random.default_rng(1)
    rows = np.arange(200) % 10
    theirs, _ = estimator._process_sample(LED.X[rows], y[rows], 7, 0, 7)
    rng, orders = np.random.default_rng(1), np.tile(np.arange(7), (200, 1))
    for order in orders:
        rng.shuffle(order)
    X, name = forest.prepare(LED.X), loss.replace(" ", "_")
    imputed, losses = sage_method._losses(forest, X, LED.y, X, name, "marginal")
    ours = sage_method._gains(imputed, losses, rows, np.argsort(orders, axis=1))
    assert np.abs(ours - theirs).max() <= 2e-12


FOREST, OF_16 = grow([leaf(2.0)], 2), grow([leaf(2.0)], 16)
OF_SUMS = DRAWN["sum with a base"]()
BAD = [
    ({"loss": "hinge"}, r"loss='hinge': available are 'cross_entropy', 'mse'"),
    ({"imputer": "mean"}, r"imputer='mean': available are 'marginal', 'conditional'"),
    ({"algorithm": "kernel"}, r"algorithm='kernel': available are 'sampled', 'exact'"),
    ({"threshold": 0}, r"threshold=0: expected a number between 0 and 1"),
    ({"threshold": 1}, r"threshold=1: expected a number between 0 and 1"),
    ({"n_permutations": 1}, r"n_permutations=1: expected a whole number, at least 2"),
    ({"n_permutations": 1e3}, r"n_permutations=1000.0: expected a whole number, at least 2"),
    ({"random_state": None}, r"random_state=None: expected a whole number, at least 0"),
    ({"X": np.zeros((2, 4))}, r"X has 4 features, the model was fitted on 3"),
    ({"X": np.zeros((0, 3)), "y": []}, r"X has no rows: .* pass at least one"),
    ({"y": ["class 0"]}, r"y has shape \(1,\), expected \(2,\): one target for each row of X"),
    ({"y": [0, 1]}, r"y holds \['0', '1'\], which are not .*among \['class 0', 'class 1'\]"),
    ({"y": np.ma.array(["class 0", "class 1"], mask=[0, 1])}, "y has masked values: leave them"),
    ({"background": np.zeros((1, 2))}, r"background: X has 2 features"),
    ({"background": np.zeros((0, 3))}, r"background has no rows: pass rows of the training data"),
    ({"background": np.ones((1, 3)), "imputer": "conditional"}, r"row \d of X .*=\"marginal\""),
    ({"model": FOREST, "y": ["a", 1]}, r"y is not numeric \(.*\): pass numbers"),
    ({"model": FOREST, "y": [np.nan, 1]}, r"y holds NaN or infinities: leave those rows out"),
    ({"model": FOREST, "y": np.zeros(2, "M8[D]")}, r"y has dates or times: pass numbers"),
    ({"model": FOREST, "y": np.ma.array([1.0, 2], mask=True)}, r"y has masked values: leave them"),
    ({"model": OF_16, "y": [0, 0], "algorithm": "exact"}, r"2\*\*16 are too many: use algorithm="),
    ({"model": FOREST, "y": [0, 1], "loss": "cross_entropy"}, "of classes, .* are not: use loss="),
    ({"model": OF_SUMS, "loss": "cross_entropy"}, "of classes, .* are not: use loss="),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_input_is_refused(change, message):
    given = {"model": stump(), "y": ["class 0", "class 1"]} | change
    with pytest.raises(ValueError, match=message):
        sage_of(**{"X": np.zeros((2, given["model"].n_features))} | given)


@pytest.mark.parametrize("n_permutations", [2, 511, 1300])
def test_means_and_errors_of_rounds_are_those_of_all_permutations(n_permutations, monkeypatch):
    """Rounds are pooled one by one; here all gains are kept."""
    rounds, gains = [], sage_method._gains

    def keeping(*arguments):
        rounds.append(gains(*arguments))
        return rounds[-1]

    monkeypatch.setattr(sage_method, "_gains", keeping)
    sampled = of_regression(n_permutations=n_permutations)
    all_gains = np.concatenate(rounds)
    assert len(all_gains) == n_permutations == sampled.parameters["n_permutations"]
    assert twins.largest_error(sampled.values, all_gains.mean(axis=0)) <= twins.ROUNDING
    error = all_gains.std(axis=0, ddof=1) / np.sqrt(n_permutations)
    assert twins.largest_error(sampled.standard_error, error) <= twins.ROUNDING


@pytest.mark.parametrize("table", [kernel.TABLE, 0], ids=["table", "no table"])
@pytest.mark.parametrize("loss", [None, "mse"])
@pytest.mark.parametrize("classes", ["two", "three"])
@pytest.mark.parametrize("name", ["histograms", "gradient", "lightgbm", "averaged", "xgboost"])
def test_boosted_classifiers_are_measured_by_their_probabilities(
    name, classes, loss, table, monkeypatch
):
    """Red if the mean over the background is of scores; by the model's own probabilities."""
    monkeypatch.setattr(kernel, "TABLE", table)
    model, X, y = boosted(f"{name}, {classes}")
    ours = sage_of(model, X[:9], y[:9], loss=loss, background=X[20:40], algorithm="exact").values
    indices = np.unique(y, return_inverse=True)[1][:9]
    exact = twins_sage.sage_of(model.predict_proba, X[:9], indices, X[20:40], loss)
    # XGBoost adds up its trees and takes exponentials in single precision.
    assert np.allclose(ours, exact, rtol=0, atol=1e-6 if name == "xgboost" else 1e-12)


@pytest.mark.parametrize("loss", [None, "mse"])
def test_models_whose_predictions_are_not_on_the_scale_of_y_are_refused(loss):
    """The squared error of log-odds against 0 and 1 says that the only feature does harm."""
    raw = [boosted(name) for name in ("one against all, three", "adaboost, three", "adaboost, two")]
    scores, *data = boosted("lightgbm, three")
    for model, X, y in (*raw, (to_forest(scores), *data)):
        with pytest.raises(ValueError, match=r"on the scale of y, and .* raw scores of"):
            sage_of(model, X, y, loss=loss, algorithm="exact")
    X, y = whole_numbers("values", 90, 3, 4)
    with pytest.raises(ValueError, match="an isolation forest, which predicts the length"):
        sage_of(IsolationForest(n_estimators=3, random_state=0).fit(X), X, y, loss=loss)
    of_two_targets = RandomForestRegressor(3, random_state=0).fit(X, np.c_[y, -y])
    for targets in (np.zeros((90, 2)), np.zeros(90)):
        with pytest.raises(ValueError, match=r"several targets, .'y0', 'y1'.*a model for each"):
            sage_of(of_two_targets, X, targets, loss=loss)
