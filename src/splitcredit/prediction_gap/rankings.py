"""Store rankings of features, row by row, and select the sets of their first features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from splitcredit.results.stored import SHOWN, Shown, more
from splitcredit.rows.names import indexed, row_index

# Sets of features are compared as bits of an integer, as far as these go.
_BITS = 62


@dataclass(frozen=True, eq=False, repr=False)
class Rankings(Shown):
    """Rankings of the features of some rows, and the gaps of the first of them.

    Parameters
    ----------
    rankings : int64 (n_samples, n_ranked)
        All features, or only the first; the most important feature first.
    gaps : float64 (n_samples, n_ranked), optional
        PG^2 of the first k features in column k - 1, in squared units of the prediction.
    feature_names : tuple of str, optional
        Names of the features by their index.
    index : pandas.Index (n_samples,), optional
        Labels of the rows, where they came from a DataFrame.

    Examples
    --------
    >>> import numpy as np
    >>> from splitcredit.prediction_gap.rankings import Rankings
    >>> order, gaps = np.array([[1, 0]]), np.array([[3.0, 4.0]])
    >>> Rankings(order, gaps, feature_names=("age", "dose")).to_frame()
       sample  place feature  gap
    0       0      1    dose  3.0
    1       0      2     age  4.0
    """

    rankings: np.ndarray
    gaps: np.ndarray | None
    feature_names: tuple[str, ...] | None = field(default=None, kw_only=True)
    index: Any = field(default=None, kw_only=True)

    @property
    def pgi2(self) -> np.ndarray:
        """PGI^2 under the perturbation of the gaps, float64 (n_samples,); needs all gaps."""
        if self.gaps is None:
            raise ValueError(
                "these rankings were not made from gaps: measure them with "
                "splitcredit.faithfulness(model, X, rankings)"
            )
        if self.feature_names is not None and self.gaps.shape[1] < len(self.feature_names):
            raise ValueError(
                f"PGI^2 is a mean over all {len(self.feature_names)} features, and "
                f"{self.gaps.shape[1]} are ranked: rank with top={len(self.feature_names)}"
            )
        return self.gaps.mean(axis=1)

    def __repr__(self):
        n, d = self.rankings.shape
        whole = d if self.feature_names is None else len(self.feature_names)
        which = f"{d} features" if d == whole else f"the first {d} of {whole} features"
        return f"{type(self).__name__}({n} samples, {which})"

    def _summary(self):
        """Tabulate the feature that most rows have in each first place, and the mean gap there."""
        import pandas as pd

        n, n_places = self.rankings.shape
        columns: dict[str, list] = {"place": [], "feature": [], "share of rows": []}
        for place in range(min(n_places, SHOWN) if n else 0):
            features, counts = np.unique(self.rankings[:, place], return_counts=True)
            feature = features[counts.argmax()]
            names = self.feature_names
            columns["place"].append(place + 1)
            columns["feature"].append(str(feature) if names is None else names[feature])
            columns["share of rows"].append(counts.max() / n)
        if self.gaps is not None and n:
            columns["mean gap"] = self.gaps.mean(axis=0)[:SHOWN].tolist()
        return pd.DataFrame(columns), more(n_places, "places")

    def to_frame(self):
        """Convert to a DataFrame: sample, place (from 1), feature, and gap if there are gaps.

        The index has the labels of rows from a DataFrame, each as often as features are ranked.
        """
        import pandas as pd

        n, d = self.rankings.shape
        features = self.rankings
        if self.feature_names is not None:
            features = np.array(self.feature_names, dtype=object)[features]
        columns = {
            "sample": np.repeat(np.arange(n), d),
            "place": np.tile(np.arange(1, d + 1), n),
            "feature": features.ravel(),
        }
        if self.gaps is not None:
            columns["gap"] = self.gaps.ravel()
        return indexed(pd.DataFrame(columns), self.index, d, own=len(columns))


def refuse_other_features(ranking, forest) -> None:
    """Raise a ValueError if a ranking, attribution or importance has other features."""
    names = getattr(ranking, "feature_names", None)
    if names is not None and tuple(forest.known(names)) != forest.feature_names:
        raise ValueError(
            f"{ranking!r} has the features {list(names)[:5]}, and the model has "
            f"{list(forest.feature_names)[:5]}: rank the features of this model"
        )


def refuse_another_order_of_rows(ranking, X) -> None:
    """Raise a ValueError if a ranking or attribution has the rows in another order."""
    own: Any = getattr(ranking, "index", None)
    labels: Any = row_index(X)
    if labels is None or hasattr(ranking, "iloc") or not hasattr(own, "equals"):
        return
    if own.equals(labels) or len(own) != len(labels) or not own.is_unique:
        return
    if set(own) == set(labels):
        raise ValueError(
            f"{ranking!r} has the rows {[*own[:3], ...]}, and X has them in another order, "
            f"{[*labels[:3], ...]}: pass X.loc[ranking.index]"
        )


def rankings_of_model(rankings, X, forest) -> np.ndarray:
    """Call `validate_rankings` for the rows of X and the features of a forest, in order."""
    refuse_another_order_of_rows(rankings, X)
    refuse_other_features(rankings, forest)
    return validate_rankings(rankings, np.shape(X)[0], forest.n_features)


def validate_rankings(rankings, n_rows: int, n_features: int) -> np.ndarray:
    """Return rankings, int64 (n_rows, n_ranked), of distinct features; else a ValueError."""
    array = np.asarray(getattr(rankings, "rankings", rankings))
    if array.ndim != 2 or len(array) != n_rows or array.shape[1] > n_features:
        raise ValueError(
            f"rankings have shape {array.shape}, expected {n_rows} rows "
            f"of at most {n_features} features"
        )
    if array.dtype.kind not in "iu":
        raise ValueError(
            f"rankings are {array.dtype}, expected the indices of features: of scores, pass "
            "np.argsort(-abs(scores), axis=1)"
        )
    array = array.astype(np.int64)
    if array.size and (array.min() < 0 or array.max() >= n_features):
        raise ValueError(f"rankings name features outside 0..{n_features - 1}")
    if (np.diff(np.sort(array, axis=1), axis=1) == 0).any():
        raise ValueError("a row of the rankings names a feature twice")
    return array


def checked_ks(ks) -> list:
    """Return numbers of features that are perturbed together, as a list that is not empty."""
    if not hasattr(ks, "__iter__"):
        raise ValueError(f"ks={ks!r}: pass a list of numbers of features, such as [1, 2]")
    ks = list(ks)
    if not ks:
        raise ValueError("ks is empty: pass at least one number of features")
    return ks


def top_k_mask(rankings, k: int, n_features: int) -> np.ndarray:
    """Return the first k features of each row as a mask, bool (n_rows, n_features)."""
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)):
        raise ValueError(f"k={k!r} is not a whole number")
    if not 1 <= k <= rankings.shape[1]:
        raise ValueError(f"k={k} is not in 1..{rankings.shape[1]}, the features in the rankings")
    masks = np.zeros((len(rankings), n_features), np.bool_)
    np.put_along_axis(masks, rankings[:, :k], True, axis=1)
    return masks


def first_of_same(masks) -> np.ndarray:
    """Return for each set of a row the index of the first equal one, int64 (n_rows, n_sets)."""
    n_rows, n_sets, n_features = masks.shape
    if n_features > _BITS:
        return np.broadcast_to(np.arange(n_sets), (n_rows, n_sets))
    bits = masks @ (1 << np.arange(n_features))
    return (bits[:, :, None] == bits[:, None, :]).argmax(axis=2)


def of_attribution(attribution) -> np.ndarray:
    """Rank by absolute attribution to one output; of equal ones the lowest index first."""
    if attribution.values.shape[2] != 1:
        raise ValueError(
            f"{attribution.method} explains {attribution.values.shape[2]} outputs, and a "
            "ranking needs one: choose it with output="
        )
    return np.argsort(-np.abs(attribution.values[:, :, 0]), axis=1, kind="stable")
