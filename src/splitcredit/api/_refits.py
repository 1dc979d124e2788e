"""Measure importances of copies of a model that are fitted to resamples of its rows."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from splitcredit.measures import _methods
from splitcredit.measures._calls import needs
from splitcredit.models.formats._unwrap import unfrozen
from splitcredit.results import progress_bar
from splitcredit.rows.names import are_made_up
from splitcredit.rows.tables import check_whole, records, refuse_container, rows_at


def refuse(model, X) -> None:
    """Raise a TypeError if a model cannot be fitted anew, or there are no rows to fit it to."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    can_fit = hasattr(model, "fit") and hasattr(model, "get_params")
    if not can_fit or unfrozen(last) is not last:
        raise TypeError(
            f"refits are fits of copies of the model, and a {type(last).__name__} cannot be fitted "
            "anew: pass the fitted estimator, or leave refits out"
        )
    if X is None:
        raise TypeError(needs("refits", "X"))


def values_of(measured, method, model, X, y, refits, *, random_state, names, progress):
    """Fit and measure each copy of the model; return the values (n_refits, n_features)."""
    check_whole("random_state", random_state)
    X = records(X, model)
    refuse_container(X)
    X = X.to_pandas() if hasattr(X, "to_pandas") else X.tocsr() if hasattr(X, "tocsr") else X
    X, y = (a if hasattr(a, "shape") or a is None else np.asarray(a) for a in (X, y))
    is_measure = _methods.is_measure(method)
    needed = _methods.look_up(method, "importance").needs if is_measure else ()
    of_training = "bootstrap" in needed or "refit" in needed
    splits = _splits(refits, X, y, random_state, of_training)
    values = np.empty((len(splits), len(names)))
    with progress_bar.bar(len(splits), progress, "refits", "fewer refits take less") as done:
        for k, (fitted, apart) in enumerate(splits):
            own = fitted if of_training else apart
            try:
                copy = _copy(model, random_state, k).fit(rows_at(X, fitted), rows_at(y, fitted))
                found = measured(copy, rows_at(X, own), rows_at(y, own))
            except Exception as error:  # any error of the estimator or the measure
                raise ValueError(
                    f"refit {k + 1} of {len(splits)}: {error}. If its rows lack a class or a "
                    "category, pass splits with all, such as refits=StratifiedShuffleSplit(20)"
                ) from error
            values[k] = _in_order(found, names)
            done(1)
    return values


def _splits(refits, X, y, random_state, of_training):
    """Return for each copy the rows to fit it to, and rows that it does not see."""
    n, every = X.shape[0], np.arange(X.shape[0])
    if hasattr(refits, "split") or hasattr(refits, "__iter__"):
        given = refits.split(X, y) if hasattr(refits, "split") else refits
        try:
            splits = [(every[np.asarray(a)], every[np.asarray(b)]) for a, b in given]
        except (IndexError, TypeError, ValueError) as error:
            raise ValueError(f"refits must be pairs of rows, (train, test): {error}") from None
        if len(splits) < 2:
            raise ValueError("refits: pass at least two pairs of rows, (train, test)")
        return splits
    check_whole("refits", refits, 2)
    drawn = [np.random.default_rng([random_state, k]).integers(n, size=n) for k in range(refits)]
    apart = [np.setdiff1d(every, rows) for rows in drawn]
    # A row that is there twice may be in the bag of a tree and out of it, or leak its own target.
    drawn = [np.unique(rows) for rows in drawn] if of_training else drawn
    return list(zip(drawn, apart, strict=True))


def _copy(model, random_state, k):
    """Clone the model, and set its random states that are None."""
    copy = clone(model)
    given = copy.get_params().items()
    is_open = (name for name, value in given if value is None and name.endswith("random_state"))
    seed = np.random.default_rng([random_state, k, 1]).integers(1 << 31)
    return copy.set_params(**dict.fromkeys(is_open, int(seed)))


def _in_order(found, names):
    """Order values by the features of the model, with 0 for features that a copy lacks."""
    if found.feature_names == names:
        return found.values
    if are_made_up(names) or len(set(names)) < len(names):
        raise ValueError(
            "the steps of the pipeline make other features of other rows, and give them no names: "
            "give the last of them get_feature_names_out, or fix its categories"
        )
    by_name = dict(zip(found.feature_names, found.values, strict=True))
    return [by_name.get(name, 0.0) for name in names]
