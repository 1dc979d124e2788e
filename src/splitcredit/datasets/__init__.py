"""Data sets: one file each, found by its file name, with ``load(**parameters) -> Dataset``.

A loader that draws rows takes ``random_state``; the others are the same for every repeat.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import numpy as np

from splitcredit import registry, seeds


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows and target of one data set.

    Parameters
    ----------
    X : float64 (n_samples, n_features)
    y : (n_samples,), int64 classes or float64 values
    feature_names : tuple of str
    class_names : tuple of str, empty for regression
    """

    X: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...] = ()

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Every field as an array that `numpy.savez` can store."""
        return {
            "X": self.X,
            "y": self.y,
            "feature_names": np.array(self.feature_names, dtype=str),
            "class_names": np.array(self.class_names, dtype=str),
        }

    @classmethod
    def from_arrays(cls, arrays) -> Dataset:
        """Inverse of `to_arrays`."""
        names = {k: tuple(arrays[k].tolist()) for k in ("feature_names", "class_names")}
        return cls(X=arrays["X"], y=arrays["y"], **names)


def available() -> list[str]:
    """Names of the data sets."""
    return registry.names(__name__)


def loader(name: str):
    """The ``load`` function of one data set; ValueError lists what there is."""
    return registry.load(__name__, name, "data set").load


def load(recipe: dict, repeat: int = 0) -> Dataset:
    """Load or draw the data set of a recipe.

    Parameters
    ----------
    recipe : dict
        ``dataset`` names the file; the rest are the parameters of its ``load``.
    repeat : int
        Number of the draw, for data sets that are drawn.
    """
    parameters = {k: v for k, v in recipe.items() if k != "dataset"}
    load = loader(recipe["dataset"])
    if "random_state" in inspect.signature(load).parameters:
        parameters["random_state"] = seeds.derive(recipe, repeat, "data")
    return load(**parameters)


def from_sklearn(bunch, rows: int | None = None) -> Dataset:
    """Wrap what a ``sklearn.datasets.load_...`` function returns, or its first `rows` rows."""
    rows = slice(rows)
    return Dataset(
        X=np.ascontiguousarray(bunch.data[rows], dtype=np.float64),
        y=bunch.target[rows].astype(np.int64),
        feature_names=tuple(str(n) for n in bunch.feature_names),
        class_names=tuple(str(n) for n in bunch.target_names),
    )
