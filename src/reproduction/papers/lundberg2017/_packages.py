"""The consistency of section 3 on the packages themselves, called as users call them.

A pair of random functions on the cube {0, 1}^3, in which feature 0 matters more in the second, is
fitted by one tree each. The rows are the corners of the cube, so that data and model match. Only
pairs that both trees reproduce count: greedy trees make no split that saves nothing at once.

The R package gbm, which the paper names too, is not in the environment.
"""

import numpy as np

from reproduction.papers.lundberg2017 import _consistency, _peers

M = 3
# Falls below this are rounding of float32; the numbers are halves, quarters and eighths.
MARGIN = 1e-3
# Importance of a package -> the game in which feature 0 must matter more.
GAMES = {
    "gain": _consistency.gain_game,
    "split count": _consistency.gain_game,
    "contribution by the path": _consistency.output_game,
    "contribution by SHAP": _consistency.output_game,
}


def violations(n_pairs: int, seed: int) -> dict[str, list[tuple[str, int, int]]]:
    """Package with version -> (importance, pairs that count, pairs in which it falls)."""
    corners = np.indices([2] * M).reshape(M, -1).T.astype(float)
    pairs = {}
    for game in dict.fromkeys(GAMES.values()):
        rng = np.random.default_rng([seed, 5])
        pairs[game] = [f.reshape(n_pairs, -1) for f in _consistency.pairs(rng, M, n_pairs, game)]
    falls = {}
    for package, fit in (("sklearn", _sklearn), ("xgboost", _xgboost), ("lightgbm", _lightgbm)):
        name = f"{package} {_peers.release(package)}"
        models = {
            game: [[fit(corners, y) for y in functions] for functions in function_pair]
            for game, function_pair in pairs.items()
        }
        offered = [q for q in GAMES if q in models[GAMES[q]][0][0][1]]
        falls[name] = [(q, *_falls(models[GAMES[q]], pairs[GAMES[q]], q)) for q in offered]
    return falls


def _falls(models, functions, quantity):
    n = falls = 0
    for first, second, f, g in zip(*models, *functions, strict=True):
        is_reproduced = all(np.abs(p - y).max() < MARGIN for (p, _), y in ((first, f), (second, g)))
        n += is_reproduced
        falls += is_reproduced and second[1][quantity] < first[1][quantity] - MARGIN
    return n, falls


# Each gives the predictions of the corners, and the package's importances of feature 0.


def _sklearn(X, y):
    from sklearn.tree import DecisionTreeRegressor

    model = DecisionTreeRegressor(random_state=0).fit(X, y)
    # These are the `feature_importances_` before they are scaled to the sum 1.
    gain = model.tree_.compute_feature_importances(normalize=False)
    return model.predict(X), {"gain": gain[0]}


def _xgboost(X, y):
    import xgboost

    rows = xgboost.DMatrix(X, y, nthread=1)
    settings = {"max_depth": M, "eta": 1.0, "lambda": 0.0, "min_child_weight": 0.0}
    settings |= {"base_score": 0.0, "tree_method": "exact", "nthread": 1}
    booster = xgboost.train(settings, rows, 1)
    last = xgboost.DMatrix(X[-1:], nthread=1)
    path, shap = (
        booster.predict(last, pred_contribs=True, approx_contribs=approximate).flat[0]
        for approximate in (True, False)
    )
    scores = {
        "gain": booster.get_score(importance_type="total_gain").get("f0", 0.0),
        "split count": booster.get_score(importance_type="weight").get("f0", 0.0),
        "contribution by the path": path,
        "contribution by SHAP": shap,
    }
    return booster.predict(rows), scores


def _lightgbm(X, y):
    import lightgbm

    settings = {"num_leaves": 2**M, "learning_rate": 1.0, "min_data_in_leaf": 1}
    settings |= {"min_sum_hessian_in_leaf": 0.0, "min_data_in_bin": 1, "verbosity": -1}
    settings |= {"num_threads": 1, "deterministic": True, "boost_from_average": False}
    rows = lightgbm.Dataset(X, y, params={"verbosity": -1, "min_data_in_bin": 1})
    booster = lightgbm.train({**settings, "objective": "regression"}, rows, 1)
    scores = {
        "gain": booster.feature_importance("gain")[0],
        "split count": booster.feature_importance("split")[0],
        "contribution by SHAP": booster.predict(X[-1:], pred_contrib=True, num_threads=1).flat[0],
    }
    return booster.predict(X, num_threads=1), scores
