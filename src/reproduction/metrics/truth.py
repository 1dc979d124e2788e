"""Global scores against what is known of simulated outcomes: the questions of the study trust."""

import zlib
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control, norm, rankdata, spearmanr
from sklearn.metrics import roc_auc_score

from reproduction.metrics import GLOBAL, _scores, declared
from reproduction.parameters import Count, Probability
from reproduction.peers.permutation_loss import losses

# A feature is associated with the outcome if it explains so much of its variance alone.
ASSOCIATED = 0.02
# Probabilities that a refitted model predicts are at least so far from 0 and 1.
_LEAST = 0.01


@declared("importance", "yardstick", **GLOBAL)
def truth_scores(
    attributions,
    forest,
    data,
    training,
    refit,
    *,
    n_test: Count = 100,
    refit_share: Probability = 0.1,
    rate: Probability = 0.1,
    no_test: Sequence[str] = (),
) -> pd.DataFrame:
    """Score how well global scores answer each question about a simulated outcome.

    One row a measure and ``yardstick``. Areas under the ROC curve: ``association``, features that
    tell the outcome alone against permuted copies; ``conditional``, signals against all others, and
    against one kind of these, ``signal_noise`` and ``signal_proxy``. Spearman's correlations:
    ``reliance``, with the mean squared change of the model's output if a feature is redrawn, and
    ``refit``, with the rise of the loss on fresh rows of a model fitted without the feature, on a
    `refit_share` of the problems. Where a measure has p values or standard errors, its discoveries
    at a false discovery rate of `rate` (Benjamini and Hochberg): ``power``, the share of the
    features with an association, ``false_discoveries``, the share that are permuted copies, and
    ``type_one``, whether there is any where nothing tells the outcome. The first `n_test` rows of
    `data` are those that the measures had; truths are of the others. ``drop_column`` is a measure
    here, as it shares the fits: the rise of the loss on the rows of the test. `no_test` names
    measures whose standard errors make no test, as they cannot be 0 on average.
    """
    if not data.roles:
        raise ValueError(
            "which importance is right is known of the data set simulated_response only"
        )
    role, association = np.array(data.roles), np.array(data.association)
    is_signal, is_noise = role == "signal", role == "noise"
    is_null = not association.any()
    associated = association >= ASSOCIATED
    scores = {name: _scores.global_scores(computed)[0] for name, computed in attributions.items()}
    tested = {name: of for name, of in attributions.items() if name not in no_test}
    p_values = {name: _p_values(computed) for name, computed in tested.items()}
    truths = {"reliance": _reliance(forest, data.X[n_test:])}
    if zlib.crc32(training.X.tobytes()) % 1000 < 1000 * refit_share:
        rises = _rises(training, data, refit)
        scores["drop_column"] = rises[:n_test].mean(axis=0)
        truths["refit"] = rises[n_test:].mean(axis=0)
        error = rises[:n_test].std(axis=0, ddof=1) / np.sqrt(n_test)
        p_values["drop_column"] = norm.sf(scores["drop_column"] / np.maximum(error, 1e-300))
    contrasts = {
        "association": (associated, is_noise),
        "conditional": (is_signal, ~is_signal),
        "signal_noise": (is_signal, is_noise),
        "signal_proxy": (is_signal, role == "proxy"),
    }
    rows = []
    for name, values in scores.items():
        found = {}
        for yardstick, (positive, negative) in {} if is_null else contrasts.items():
            among = positive | negative
            if positive.any() and negative.any():
                found[yardstick] = roc_auc_score(positive[among], values[among])
        for yardstick, truth in truths.items():
            if np.ptp(truth) > 0:
                found[yardstick] = spearmanr(truth, values)[0] if np.ptp(values) > 0 else 0.0
        if p_values.get(name) is not None:
            is_found = false_discovery_control(p_values[name]) <= rate
            if is_null:
                found["type_one"] = float(is_found.any())
            else:
                found["false_discoveries"] = (is_found & is_noise).sum() / max(is_found.sum(), 1)
                if associated.any():
                    found["power"] = is_found[associated].mean()
        rows += [(name, yardstick, value) for yardstick, value in found.items()]
    return pd.DataFrame(rows, columns=["importance", "yardstick", "value"])


def _p_values(computed):
    """Return one-sided p values of a measure's own test; None if it has none."""
    if "p_values" in computed.parameters:
        return np.array(computed.parameters["p_values"])
    error = getattr(computed, "standard_error", None)
    if error is None or not np.isfinite(error).all() or not error.any():
        return None
    ratio = np.divide(computed.values, error, out=np.zeros_like(error), where=error > 0)
    return norm.sf(ratio)


def _reliance(forest, X, n_rows=200, n_draws=2):
    """Measure the mean squared change of the raw prediction if one feature is redrawn."""
    X = X[:n_rows]
    rng = np.random.default_rng(zlib.crc32(X.tobytes()))
    before, changes = forest.predict(X), np.empty(X.shape[1])
    for j in range(X.shape[1]):
        changed = np.repeat(X[None], n_draws, axis=0)
        for rows in changed:
            rows[:, j] = rng.permutation(rows[:, j])
        after = forest.predict(changed.reshape(-1, X.shape[1])).reshape(n_draws, *before.shape)
        changes[j] = ((after - before) ** 2).sum(axis=2).mean()
    return changes


def _rises(training, data, refit):
    """Measure the rise of the loss of each row if a feature is left out of the fit, by column."""
    whole = _losses_of(refit(training.X, training.y), data.X, data.y)
    rises = []
    for j in range(data.X.shape[1]):
        model = refit(np.delete(training.X, j, axis=1), training.y)
        rises.append(_losses_of(model, np.delete(data.X, j, axis=1), data.y) - whole)
    return np.column_stack(rises)


def _losses_of(model, X, y):
    if not hasattr(model, "predict_proba"):
        return (model.predict(X) - y) ** 2
    share = model.predict_proba(X)[np.arange(len(y)), y]
    return -np.log(np.clip(share, _LEAST, 1 - _LEAST))


@declared(values=("fit", "n", "p", "correlation", "spread", "n_signals"))
def problem_facts(attributions, forest, data, training, n_test: Count = 100) -> pd.DataFrame:
    """Measure what a reader knows of a model and its data: one row.

    ``fit``: share of the loss of a constant prediction that the model saves on the rows of the
    test; ``n`` and ``p``, training rows and features; ``correlation``, the largest absolute rank
    correlation of two features; ``spread``, the largest number of values of a feature by the
    smallest.
    """
    X, y = data.X[:n_test], data.y[:n_test]
    if data.class_names:
        share = np.clip(np.bincount(training.y, minlength=2) / len(training.y), _LEAST, None)
        constant = -np.log(share[y])
    else:
        y = y.astype(float)
        constant = (y - training.y.mean()) ** 2
    correlations = np.abs(np.nan_to_num(np.corrcoef(rankdata(training.X, axis=0), rowvar=False)))
    np.fill_diagonal(correlations, 0.0)
    n_values = [len(np.unique(column)) for column in training.X.T]
    row = {"fit": 1 - losses(forest, X, y).mean() / constant.mean()}
    row |= {"n": len(training.X), "p": X.shape[1], "correlation": correlations.max()}
    row |= {"spread": max(n_values) / min(n_values)}
    return pd.DataFrame([row | {"n_signals": len(data.relevant)}])
