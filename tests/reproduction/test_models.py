"""Models: what recipes may give, equal fits, and rows explained by a model that never saw them."""

import numpy as np
import pytest

from batches import Batch
from reproduction import cross_fitted, datasets, models, storage
from reproduction.cross_fitted import CrossFitted
from splitcredit import to_forest
from splitcredit.measures import function_of
from splitcredit.models.forest import Forest

LARGEST_SEED = 2**32 - 1
RECIPE = {"estimator": "ExtraTreesClassifier", "n_estimators": 5, "max_depth": 4, "folds": 3}


@pytest.fixture(scope="module")
def iris():
    return datasets.load({"dataset": "iris"})


@pytest.mark.parametrize("name", models.ESTIMATORS)
def test_fits_are_equal_and_take_any_seed(name, iris):
    """Rows and columns are drawn, so that the seed matters."""
    recipe = {"estimator": name, "max_depth": 3, "random_state": LARGEST_SEED}
    if name.startswith(("XGB", "LGBM")):
        recipe |= {"n_estimators": 5, "subsample": 0.5, "colsample_bytree": 0.5}
    if name.startswith("LGBM"):
        recipe["subsample_freq"] = 1
    first, second = (models.fit(recipe, iris.X, iris.y).predict(iris.X) for _ in range(2))
    assert np.array_equal(first, second)
    allowed = models.parameters(name)
    assert set(recipe) - {"estimator"} <= allowed
    # Boosting keeps to one thread.
    is_boosted = name.startswith(("XGB", "LGBM"))
    assert not is_boosted or (models.unfitted(recipe).n_jobs == 1 and "n_jobs" not in allowed)


def test_folds_are_of_equal_size_and_depend_on_recipe_and_repeat_only():
    fold = models.folds(RECIPE, 50)
    assert np.bincount(fold).tolist() == [17, 17, 16]
    assert np.array_equal(fold, models.folds({**RECIPE}, 50))
    assert not np.array_equal(fold, models.folds(RECIPE, 50, repeat=1))
    assert not np.array_equal(fold, models.folds({**RECIPE, "max_depth": 5}, 50))
    assert models.folds({"estimator": "XGBRegressor"}, 50) is None


@pytest.mark.parametrize(
    "measure",
    [
        {"importance": "tree_shap"},
        {"importance": "saabas", "output": "predicted"},
        {"importance": "local_mdi"},
        {"importance": "tree_shap_interventional", "output": 1},
    ],
    ids=lambda m: m["importance"],
)
def test_a_row_is_explained_by_the_model_fitted_without_its_fold(tmp_path, iris, measure):
    """The same bits: also the baseline, the explained output and the background of the rest."""
    crossed = Batch(tmp_path, iris, RECIPE).fit().explained(**measure)
    compute = function_of(measure["importance"])
    options = {k: v for k, v in measure.items() if k != "importance"}
    fold = models.folds(RECIPE, len(iris.X))
    for f in range(3):
        in_training, fold_rows = fold != f, np.flatnonzero(fold == f)
        forest = to_forest(models.fit(RECIPE, iris.X[in_training], iris.y[in_training]))
        if "interventional" in measure["importance"]:
            options["background"] = iris.X[in_training]
        expected = compute(forest, iris.X[fold_rows], **options)
        assert np.array_equal(crossed.values[fold_rows], expected.values)
        baseline = np.broadcast_to(expected.baseline, crossed.baseline[fold_rows].shape)
        assert np.array_equal(crossed.baseline[fold_rows], baseline)
        if expected.output_index is not None:
            assert np.array_equal(crossed.output_index[fold_rows], expected.output_index)
    assert crossed.output_names == expected.output_names
    assert crossed.parameters["folds"] == 3


def test_without_folds_the_model_explains_the_rows_it_was_fitted_on(tmp_path, iris):
    recipe = {k: v for k, v in RECIPE.items() if k != "folds"}
    result = Batch(tmp_path, iris, recipe).fit().explained(importance="saabas")
    forest = to_forest(models.fit(recipe, iris.X, iris.y))
    assert np.array_equal(result.values, function_of("saabas")(forest, iris.X).values)
    assert result.baseline.shape == (3,)


def test_what_folds_cannot_do_is_refused(tmp_path, iris):
    with pytest.raises(ValueError, match=r"mdi does not explain single rows.*without `folds`"):
        Batch(tmp_path, iris, RECIPE).fit().explained(importance="mdi")
    rare = iris.take(np.r_[0:50, 50:51])
    with pytest.raises(ValueError, match="different classes: use fewer folds"):
        Batch(tmp_path, rare, {**RECIPE, "folds": 2}).fit().explained(importance="saabas")
    for k in (1, 51):
        with pytest.raises(ValueError, match=rf"folds: {k} is not in 2\.\.50"):
            models.folds({**RECIPE, "folds": k}, 50)
    forest = to_forest(models.fit({"estimator": "DecisionTreeClassifier"}, iris.X, iris.y))
    with pytest.raises(ValueError, match=r"fold must lie in 0\.\.0: one forest a fold"):
        CrossFitted((forest,), np.array([0, 1]))


def test_a_bundle_holds_forests_and_cross_fitted_ones(tmp_path, iris):
    forest = to_forest(models.fit({"estimator": "DecisionTreeClassifier"}, iris.X, iris.y))
    bundle = {"one": forest, "two": CrossFitted((forest, forest), np.arange(150) % 2)}
    storage.write_bundle(tmp_path / "models.npz", bundle)
    stored = storage.read_bundle(tmp_path / "models.npz", cross_fitted)
    assert isinstance(stored["one"], Forest)
    assert isinstance(stored["two"], CrossFitted)
    assert np.array_equal(stored["two"].fold, bundle["two"].fold)
    for restored in (stored["one"], *stored["two"].forests):
        assert restored.to_arrays().keys() == forest.to_arrays().keys()
        for name, array in forest.to_arrays().items():
            assert np.array_equal(restored.to_arrays()[name], array), name
