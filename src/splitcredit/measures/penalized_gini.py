"""Penalized Gini PG(alpha, lambda): impurity decreases that mix in-bag and out-of-bag rows."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from splitcredit.kernels.walks import oob
from splitcredit.measures._calls import checked
from splitcredit.models.opened import Opened
from splitcredit.models.training import ROWS, refuse_without_oob, sums_of_nodes
from splitcredit.results.attribution import Importance
from splitcredit.rows.tables import check_choice, check_whole

REQUIRES = ("bootstrap",)

_PLAIN = {"weights": "oob", "min_child_oob": 0, "min_child_inbag": 0, "correction": "none"}
_PLAIN |= {"per_row": False}
_TABLE_1 = {**_PLAIN, "min_child_oob": 2}
_HAT = {**_TABLE_1, "correction": "own"}
_UFI = {**_PLAIN, "weights": "inbag", "min_child_oob": 1, "per_row": True}
# Name -> all settings. "hat" is the bias correction; the digits are alpha and lambda.
PRESETS = {
    "pg_10": {"alpha": 1.0, "penalty": 0.0, **_TABLE_1},
    "pg_hat_10": {"alpha": 1.0, "penalty": 0.0, **_HAT},
    "pg_051": {"alpha": 0.5, "penalty": 1.0, **_TABLE_1},
    "pg_hat_051": {"alpha": 0.5, "penalty": 1.0, **_HAT},
    "pg_hat_0505": {"alpha": 0.5, "penalty": 0.5, **_HAT},
    "pg_hat_11": {"alpha": 1.0, "penalty": 1.0, **_HAT},
    "pg_12": {"alpha": 1.0, "penalty": 2.0, **_PLAIN},
    "loecher2020": {"alpha": 0.5, "penalty": 1.0, **_TABLE_1, "correction": "oob"},
    "ufi": {"alpha": 0.5, "penalty": 1.0, **_UFI},
    "mdi_oob": {"alpha": 0.5, "penalty": 1.0, **_PLAIN, "per_row": True},
    "mdi_inbag": {"alpha": 0.0, "penalty": 0.0, **_PLAIN, "weights": "inbag", "per_row": True},
}


@checked
def penalized_gini(
    model: object,
    X: ArrayLike,
    y: ArrayLike,
    *,
    preset: Literal[
        "pg_10",
        "pg_hat_10",
        "pg_051",
        "pg_hat_051",
        "pg_hat_0505",
        "pg_hat_11",
        "pg_12",
        "loecher2020",
        "ufi",
        "mdi_oob",
        "mdi_inbag",
    ] = "pg_hat_10",
    alpha: float | None = None,
    penalty: float | None = None,
    weights: Literal["inbag", "oob"] | None = None,
    min_child_oob: Annotated[int, ">= 0"] | None = None,
    min_child_inbag: Annotated[int, ">= 0"] | None = None,
    correction: Literal["none", "own", "oob"] | None = None,
    per_row: bool | None = None,
    features: Literal["columns", "transformed"] = "columns",
    check_additivity: bool = True,
) -> Importance:
    """Measure penalized Gini importances, mean over the trees (loecher2022, Eq. 1 to 5).

    The impurity of a node is ``alpha v_oob + (1 - alpha) v_in + penalty / 2 * sum_d (m_oob,d -
    m_in,d)^2``; see `kernels.walks.oob.penalized_gini`. For a classifier v is the Gini impurity,
    for a regressor the variance.

    Parameters
    ----------
    model, X, features, check_additivity
        See `splitcredit.oob_attributions`.
    y : (n_train,)
        Class labels, or numbers for a regressor.
    preset : str
        Settings that hold where no other is given; one of `PRESETS`.
    alpha : float, optional
        Share of the out-of-bag impurity.
    penalty : float, optional
        lambda, the weight of the squared distance of in-bag and out-of-bag means.
    weights : {"inbag", "oob"}, optional
        Weigh a node by its number of in-bag or of out-of-bag rows.
    min_child_oob, min_child_inbag : int, optional
        A split adds nothing if one of its children has fewer out-of-bag, or in-bag, rows. With less
        than 2 out-of-bag rows the bias correction leaves a bias; the programs behind Table 1 use 2
        (their ``zeroLeaf``), the paper does not say so.
    correction : {"none", "own", "oob"}, optional
        Factor n / (n - 1) on impurities (PG with a hat). n is the number of the rows whose impurity
        it is (``"own"``), or of the out-of-bag rows for both impurities (``"oob"``), as in the
        author's program of 2020.
    per_row : bool, optional
        Whether the decreases are divided by the weight of the root. If not, they are in units of
        rows times impurity, as in the R packages.

    Returns
    -------
    Importance
        In units of rows times impurity, or of impurity if `per_row` is true. Values may be
        negative. ``parameters`` holds the preset and every setting.

    Raises
    ------
    ValueError
        If the forest is not bagged, X and y are not its training data, or no tree has an out-of-bag
        row and the score needs some.

    Notes
    -----
    In print, the sum over the classes in Eq. 3 covers the penalty and in Eq. 4 it must; here
    PG(1, 2) of two classes is 2 g_oob + 2 (p_oob - p_in)^2 and PG(0.5, 1) is g_oob + g_in +
    (p_oob - p_in)^2, g = p (1 - p). With out-of-bag weights PG(0.5, 1) of a classifier is MDI-oob
    and with in-bag weights UFI. PG(1, 2) is not MDI-oob, contrary to section 6.

    Examples
    --------
    >>> splitcredit.penalized_gini(model, X, y, preset="pg_hat_10", per_row=True).values.round(2)
    array([0.08, 0.  , 0.24, 0.23])
    """
    check_choice("preset", preset, tuple(PRESETS))
    overrides = {
        "alpha": alpha,
        "penalty": penalty,
        "weights": weights,
        "min_child_oob": min_child_oob,
        "min_child_inbag": min_child_inbag,
        "correction": correction,
        "per_row": per_row,
    }
    settings = PRESETS[preset] | {k: v for k, v in overrides.items() if v is not None}
    opened = Opened(model, X, of_training=True, features=features).checked(check_additivity)
    found = importances(opened.forest, opened.rows, y, {preset: settings})
    return opened.by_columns(found[preset])


def importances(forest, X, y, scores=tuple(PRESETS)) -> dict[str, Importance]:
    """Compute several penalized Gini importances from one pass over the forest.

    Parameters
    ----------
    forest, X, y
        As for `splitcredit.penalized_gini`.
    scores : sequence of str, or dict of dict
        Names of presets; or all settings of a score by its name, as `PRESETS` has them.

    Returns
    -------
    dict of Importance, by the names in `scores`

    Examples
    --------
    >>> from splitcredit.measures import penalized_gini
    >>> scores = penalized_gini.importances(model, X, y, ["ufi", "mdi_oob"])
    >>> scores["ufi"].values.round(2)
    array([0.07, 0.  , 0.26, 0.25])
    """
    opened = Opened(forest, X, of_training=True)
    forest, X = opened.forest, opened.rows
    if not isinstance(scores, dict):
        scores = list(scores)
        for name in scores:
            check_choice("preset", name, tuple(PRESETS))
        scores = {name: PRESETS[name] for name in scores}
    records = np.array([_record(settings) for settings in scores.values()], oob.SCORE)
    sums = sums_of_nodes(forest, X, y)
    if any(_needs_oob(settings) for settings in scores.values()):
        refuse_without_oob(forest)
    means = oob.penalized_gini(forest, sums, records).mean(axis=0)
    names = forest.feature_names
    return {
        name: Importance(values, names, "penalized_gini", {"preset": name, **_plain(settings)})
        for (name, settings), values in zip(scores.items(), means, strict=True)
    }


def _plain(settings):
    """Convert settings to plain Python types, so that results can be stored."""
    kinds = {"alpha": float, "penalty": float, "per_row": bool}
    kinds |= {"min_child_oob": int, "min_child_inbag": int}
    return {name: kinds.get(name, str)(value) for name, value in settings.items()}


def _needs_oob(settings):
    """Return whether a score uses out-of-bag rows: by weights, impurity or penalty."""
    return settings["weights"] == "oob" or settings["alpha"] != 0 or settings["penalty"] != 0


def _record(settings):
    """Convert a score to the record that the kernel takes."""
    missing = [name for name in oob.SCORE.names if name not in settings]
    extra = [name for name in settings if name not in oob.SCORE.names]
    if missing or extra:
        raise ValueError(
            f"the settings of a score lack {missing}, and {extra} are unknown: give all of "
            f"{', '.join(oob.SCORE.names)}, such as PRESETS['ufi'] | {{'alpha': 1.0}}"
        )
    check_choice("weights", settings["weights"], ROWS)
    check_choice("correction", settings["correction"], oob.CORRECTIONS)
    check_choice("per_row", settings["per_row"], (True, False))
    for name in ("alpha", "penalty"):
        number = isinstance(settings[name], (int, float, np.integer, np.floating))
        if not number or not np.isfinite(settings[name]):
            raise ValueError(f"{name}={settings[name]!r}: expected a finite number")
    for name in ("min_child_oob", "min_child_inbag"):
        check_whole(name, settings[name])
    by_inbag = settings["weights"] == "inbag"
    if by_inbag and _needs_oob(settings) and settings["min_child_oob"] < 1:
        raise ValueError(
            "min_child_oob=0 with in-bag weights: the impurity of a node without out-of-bag rows "
            "is not defined; use min_child_oob=1 or more"
        )
    coded = settings | {
        "weights": ROWS.index(settings["weights"]),
        "correction": oob.CORRECTIONS.index(settings["correction"]),
    }
    return tuple(coded[field] for field in oob.SCORE.names)
