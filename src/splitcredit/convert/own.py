"""What a fitted model itself predicts, and whether the trees that were made of it do the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from splitcredit._containers import first
from splitcredit._tables import rows_at
from splitcredit.convert._means import vote_weights
from splitcredit.convert._unwrap import unwrap
from splitcredit.convert.units import library_of
from splitcredit.kernels.nodes import cached_per_forest, largest_values

# Packages whose models predict what the trees do, or what docs/models.md says of them.
_KNOWN = """
    catboost gpboost imblearn lightgbm ngboost pyod quantile_forest sklearn sksurv xgboost
""".split()
# Classes that call every tree from Python, which takes longer than to explain the row.
_SLOW = ("AdaBoostClassifier", "IsolationForest", "NGBoost")
# Rows of a call that are compared.
COMPARED = 3
_COLUMNS = "pass the columns that the model was fitted on"
_WITHOUT = "check_additivity=False (--no-check) leaves the check out"
# How far a method of a subclass may round in another way, as a share of the largest number.
_ALIKE = 1e-6


def check(model, X, forest, table, offset=None, piece=None, of_class=False) -> None:
    """Compare a few rows with what the model itself predicts, if it is at hand and can do that.

    ValueError if they differ by more than rounding can make; the message says by how much.

    Parameters
    ----------
    model : fitted model, Forest or path, as it was given
    X : rows as they were given
    forest : Forest
    table : array, sparse matrix or DataFrame (n_samples, n_features)
        The rows as the trees see them.
    offset : float64 (n_samples, n_outputs), optional
        What is added to each row beside the trees.
    piece : Attribution, optional
        Of the first rows, to all outputs of the raw prediction. Its totals are compared, and
        without it the prediction of the trees.
    of_class : bool
        Whether the class that a row is predicted as counts, too.
    """
    inner, _ = unwrap(model)
    n_samples = table.shape[0] if piece is None else len(piece.values)
    if library_of(inner) is None or n_samples == 0:
        return
    rows = sorted({0, n_samples // 2, n_samples - 1})
    has_offset = offset is not None and hasattr(X, "num_row")  # of a DMatrix or Pool
    if has_offset:
        rows = list(range(min(n_samples, COMPARED)))
    given = as_the_model_takes_them(forest, rows_at(table, rows))
    check_replaced(inner, given, of_class)
    if inner is not model:
        check_replaced(model, lambda: rows_at(X, rows), of_class)
    predicted = None
    if not any(base.__name__ in _SLOW for base in type(inner).__mro__):
        predicted = own_prediction(inner, forest, first(X, COMPARED) if has_offset else given)
    if predicted is not None:
        predicted, name = predicted[: len(rows)], f"this {type(inner).__name__}"
        allowed = rounding(forest) + 2.0**-23 * np.abs(predicted).max()
        if piece is None:
            ours = forest.predict(rows_at(table, rows)) + (0 if offset is None else offset[rows])
            compare(ours, predicted, allowed, "its trees predict", name, rows)
        else:
            values = piece.values[rows]
            baseline = np.broadcast_to(piece.baseline, (n_samples, values.shape[2]))[rows]
            ours = values.sum(axis=1, dtype=np.float64) + baseline
            allowed += 2.0**-23 * np.abs(values).sum(axis=1).max()  # they may be float32
            compare(ours, predicted, allowed, "the attributions add up to", name, rows)


def compare(one, other, allowed, what_one_does, what_other_is, rows=None, remedy=_COLUMNS) -> None:
    """Compare two predictions of some rows, (n_samples, n_outputs); ValueError if they differ."""
    with np.errstate(invalid="ignore"):
        gap = abs(one - other)
        right = (gap <= allowed) | (one == other) | (np.isnan(one) & np.isnan(other))
    if not right.all():
        i, c = np.argwhere(~right)[0]
        raise ValueError(
            f"additivity check: for row {i if rows is None else rows[i]} {what_one_does} "
            f"{one[i, c]:.9g}, and {what_other_is} gives {other[i, c]:.9g}, {gap[i, c]:.3g} away: "
            f"{remedy}; {_WITHOUT}"
        )


@cached_per_forest
def rounding(forest) -> float:
    """How far a sum over the trees in single precision may be off.

    Each of the additions is off by at most 2**-24 of the largest partial sum, which the sum of the
    largest values of all trees bounds. Twice as much is allowed, for the rounding of the values.
    """
    largest = largest_values(forest)
    total = largest.mean() if forest.aggregate == "mean" else largest.sum()
    return float(2.0**-23 * (forest.n_trees + 1) * (total + abs(forest.base).max()))


def as_the_model_takes_them(forest, rows):
    """Rows in the order of the features, with labels of categories where the model has any."""
    return forest.prepare(rows) if forest.categories is None else forest.in_order(rows)


def check_replaced(model, rows, of_class=False) -> None:
    """Compare what a subclass has in place of a method of its library with that method.

    ValueError if they differ. Rows are a table, or a function that cuts it. Which class is
    predicted counts only `of_class`.
    """
    scores = "predict_proba", "decision_function", "score_samples"
    names = [name for name in scores if hasattr(model, name)]
    for name in [*names, "predict"] if of_class or not names else names:
        base = _replaced(model, name)
        if base is None:
            continue
        try:
            X = _with_names(model, rows() if callable(rows) else rows)
            own, plain = np.ravel(getattr(model, name)(X)), np.ravel(getattr(base, name)(model, X))
            is_number = own.dtype.kind in "biuf" and plain.dtype.kind in "biuf"
            if not is_number and own.dtype.kind != plain.dtype.kind:
                continue  # a label in place of its number
            differ = own != plain
            if is_number:
                differ = ~np.isclose(own, plain, _ALIKE, _ALIKE * abs(plain).max(), equal_nan=True)
        except Exception:  # the model's own
            continue
        if differ.any():
            k = int(np.argmax(differ))
            away = f", {abs(float(own[k]) - float(plain[k])):.3g} away" if is_number else ""
            raise ValueError(
                f"additivity check: {type(model).__name__}.{name} gives {own[k]}, and that of "
                f"{base.__name__}, whose trees are explained, {plain[k]}{away}; {_WITHOUT}"
            )


def _replaced(model, name) -> Any:
    """The class of a known package in place of whose method the model has another, or None."""
    owners = [base for base in type(model).__mro__ if name in vars(base)]
    known = next((base for base in owners if base.__module__.partition(".")[0] in _KNOWN), None)
    is_own = name in getattr(model, "__dict__", ()) or owners[:1] != [known]
    return known if is_own else None


def own_prediction(model, forest, X) -> np.ndarray | None:
    """Raw prediction of a fitted model by its own library.

    Returns float64 (n_samples, n_outputs), or None if the model is of no library, such as a Forest,
    or fails.

    Parameters
    ----------
    model : fitted model, without pipelines around it
    forest : Forest
        Of the model.
    X : array or DataFrame (n_samples, n_features), or a DMatrix or Pool of such rows
        In the order of the forest's features.
    """
    predict = {
        "xgboost": _xgboost,
        "lightgbm": _lightgbm,
        "catboost": _catboost,
        "sklearn": _sklearn,
    }
    library = library_of(model)
    if library is None:
        return None
    try:
        raw = np.asarray(predict[library](model, forest, X), np.float64)
    except Exception:  # the model's own, such as one that was made by another release
        return None
    return raw.reshape(-1, forest.n_outputs)


def _xgboost(model, forest, X):
    from xgboost import DMatrix

    from splitcredit.convert.xgboost import _writer

    booster = model.get_booster() if hasattr(model, "get_booster") else model
    best = booster.attr("best_iteration") if booster is not model else None
    # By one thread: on a busy machine several wait for each other for a hundred times as long.
    predicted = _writer().submit(
        booster.predict,
        _matrix(DMatrix, X, booster, getattr(model, "missing", np.nan)),
        output_margin=True,
        iteration_range=(0, 0 if best is None else int(best) + 1),
        # An array of rows has no names. The columns of a DMatrix may be in another order.
        validate_features=isinstance(X, DMatrix) and X.feature_names is not None,
    )
    return predicted.result()


def _matrix(kind, X, booster, missing):
    """A DMatrix of rows; columns of an array may hold codes of categories, so types go with it."""
    if isinstance(X, kind):
        return X
    types = {} if hasattr(X, "columns") else {"feature_types": booster.feature_types}
    X = X if hasattr(X, "columns") else X.astype(float)
    return kind(X, missing=missing, enable_categorical=True, nthread=1, **types)


def _lightgbm(model, forest, X):
    booster = model.booster_ if hasattr(model, "booster_") else model
    raw = booster.predict(X, raw_score=True)
    # Of its random forests LightGBM gives the sum.
    rounds = forest.n_trees // forest.n_outputs
    return raw / rounds if forest.aggregate == "mean" else raw


def _catboost(model, forest, X):
    from catboost import CatBoost

    # Of a ranker the method of this name gives raw values only, and takes no type.
    return CatBoost.predict(model, X, prediction_type="RawFormulaVal")


def _sklearn(model, forest, X):
    from joblib import parallel_config
    from sklearn.base import is_classifier
    from sklearn.ensemble import IsolationForest

    if hasattr(model, "pred_param"):  # of NGBoost
        return model.pred_param(np.asarray(X))
    if type(model).__module__.startswith("sksurv."):
        return model.predict(np.asarray(X))
    if type(model).__module__.startswith("quantile_forest."):  # which predicts quantiles
        return _mean_of_trees(model.estimators_, X)
    of_trees = None if forest.categories is not None else _mean(model, X)
    if of_trees is not None:
        return of_trees
    X = _with_names(model, X)
    if hasattr(model, "_raw_predict") and hasattr(model, "_baseline_prediction"):
        return model._raw_predict(_with_objects_for_labels(model, X), n_threads=1)
    with parallel_config(backend="sequential"):  # whatever its n_jobs: processes take long to start
        if isinstance(model, IsolationForest):
            return _path_length(model, X)
        if not is_classifier(model):
            return model.predict(X)
        if hasattr(model, "learning_rate"):
            return model.decision_function(X)
        fractions = model.predict_proba(X)
    # Of several targets scikit-learn gives a list.
    return np.concatenate(fractions, axis=1) if isinstance(fractions, list) else fractions


def _with_names(model, X):
    """Rows with names of columns where the model was fitted with them, and without elsewhere."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and not hasattr(X, "columns"):
        import pandas as pd

        return pd.DataFrame(X, columns=names)
    return X.to_numpy() if names is None and hasattr(X, "to_numpy") else X


def _with_objects_for_labels(model, X):
    """Rows without columns of numbers where scikit-learn keeps labels as objects.

    It cannot compare the two. To pandas a column without a label, only missing ones, is of numbers.
    """
    if model.is_categorical_ is None:
        return X
    labels = model._preprocessor.named_transformers_["encoder"].categories_
    features = np.flatnonzero(model.is_categorical_).tolist()
    of_objects = [j for j, own in zip(features, labels, strict=True) if own.dtype == object]
    if isinstance(X, np.ndarray):
        return X.astype(object) if of_objects and X.dtype.kind in "biuf" else X
    if not hasattr(X, "iloc"):  # tables of other libraries tell a column of text without any
        return X
    numbers = [j for j in of_objects if getattr(X.dtypes.iloc[j], "kind", "O") in "biuf"]
    return X.astype({X.columns[j]: object for j in numbers}) if numbers else X


def _mean(model, X):
    """What scikit-learn's forests, bags and votes of trees predict; None of other models.

    For a few rows the checks of every tree take nearly all the time of the library's own method.
    """
    from sklearn import ensemble, tree

    forests = (
        ensemble.RandomForestClassifier,
        ensemble.RandomForestRegressor,
        ensemble.ExtraTreesClassifier,
        ensemble.ExtraTreesRegressor,
    )
    X = np.ascontiguousarray(X, np.float32)
    if any(_replaced(model, name) for name in ("predict", "predict_proba")):
        return None
    if isinstance(model, tree.BaseDecisionTree):
        return _mean_of_trees([model], X)
    if isinstance(model, forests):
        return _mean_of_trees(model.estimators_, X)
    if isinstance(model, (ensemble.BaggingClassifier, ensemble.BaggingRegressor)):
        pairs = zip(model.estimators_, model.estimators_features_, strict=True)
        parts, shares = [_mean(one, X[:, own]) for one, own in pairs], None
    elif isinstance(model, (ensemble.VotingClassifier, ensemble.VotingRegressor)):
        parts, shares = [_mean(one, X) for one in model.estimators_], vote_weights(model)
    else:
        return None
    if any(part is None for part in parts):
        return None
    if hasattr(model, "classes_"):  # of which a part may know some only
        whole = np.zeros((len(parts), len(X), len(model.classes_)))
        for of_part, part, one in zip(whole, parts, model.estimators_, strict=True):
            of_part[:, np.asarray(one.classes_, int)] = part
        parts = whole
    return np.average(parts, axis=0, weights=shares)


def _mean_of_trees(trees, X):
    """Mean of the values of the leaves, with those of all targets beside one another."""
    X = np.ascontiguousarray(X, np.float32)
    values = sum(one.tree_.predict(X) for one in trees) / len(trees)
    if values.ndim == 2:
        return values
    counts = trees[0].tree_.n_classes
    return np.concatenate([values[:, k, :n] for k, n in enumerate(counts)], axis=1)


def _path_length(model, X):
    """Mean length of the paths, from the score ``-2 ** (-length / c)``."""
    from splitcredit.convert._sklearn_votes import mean_length

    return -mean_length(model.max_samples_) * np.log2(-model.score_samples(X))
