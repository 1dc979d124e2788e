"""Data sets: one file each, found by its file name, with ``load(**parameters) -> Dataset``.

Those of scikit-learn are functions of one file.

A loader that draws rows takes ``random_state``; the others are the same for every repeat. The file
of a real data set is declared as ``TABLE``, or by a function ``files`` of the parameters of
``load``. What can be checked before the first job is checked by a function ``check`` of these
parameters, whose ValueError begins with the name of one.

Every recipe also takes ``outcome``: see `OUTCOMES`.
"""

import inspect
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from reproduction import registry, seeds, storage

# File with a function for each of several data sets -> their names.
FAMILIES = {"scikit_learn": ("breast_cancer", "diabetes", "digits", "iris", "wine")}
# ``permuted`` permutes the outcomes among the rows: no feature has information about them then.
OUTCOMES = ("observed", "permuted")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows and target of one data set: float64 X, and y of int64 classes or float64 values."""

    X: np.ndarray
    y: np.ndarray
    feature_names: tuple[str, ...]
    # Empty for regression.
    class_names: tuple[str, ...] = ()
    # Of drawn data: the features that y depends on. Empty if there are none, or nobody knows.
    relevant: tuple[int, ...] = ()
    # Of simulated outcomes, by feature: see `simulated_response`.
    roles: tuple[str, ...] = ()
    association: tuple[float, ...] = ()
    # Models are fitted on so many rows, the first, and the others are explained; else all are both.
    n_training: int | None = None

    def take(self, rows) -> "Dataset":
        """The data set of some rows: their numbers, or bool (n_samples,)."""
        return replace(self, X=self.X[rows], y=self.y[rows], n_training=None)

    @property
    def training(self) -> "Dataset":
        """The rows that models are fitted on."""
        return self if self.n_training is None else self.take(slice(self.n_training))

    @property
    def explained(self) -> "Dataset":
        """The rows that are explained."""
        return self if self.n_training is None else self.take(slice(self.n_training, None))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Every field as an array that `numpy.savez` can store."""
        return {
            "X": self.X,
            "y": self.y,
            "feature_names": np.array(self.feature_names, dtype=str),
            "class_names": np.array(self.class_names, dtype=str),
            "relevant": np.array(self.relevant, dtype=np.int64),
            "roles": np.array(self.roles, dtype=str),
            "association": np.array(self.association, dtype=np.float64),
            "n_training": np.array(-1 if self.n_training is None else self.n_training),
        }

    @classmethod
    def from_arrays(cls, arrays) -> "Dataset":
        """Inverse of `to_arrays`."""
        names = ("feature_names", "class_names", "relevant", "roles", "association")
        fields = {name: tuple(arrays[name].tolist()) for name in names}
        n_training = int(arrays["n_training"])
        fields["n_training"] = None if n_training < 0 else n_training
        return cls(arrays["X"], arrays["y"], **fields)


def available() -> list[str]:
    """Names of the data sets."""
    return registry.names(__name__, FAMILIES)


def loader(name: str):
    """The ``load`` function of one data set; ValueError lists the data sets."""
    found = registry.load(__name__, name, "data set", FAMILIES)
    return found if callable(found) else found.load


def files(recipe: dict) -> list[Path]:
    """The files that the data set of a recipe is read from, if there are any."""
    module = inspect.getmodule(loader(recipe["dataset"]))
    if hasattr(module, "files"):
        parameters = {k: v for k, v in recipe.items() if k not in ("dataset", "outcome")}
        return module.files(**parameters)
    return [module.TABLE.path] if hasattr(module, "TABLE") else []


def load(recipe: dict, repeat: int = 0) -> Dataset:
    """Load or draw the data set of a recipe.

    ``dataset`` names it, ``outcome`` is one of `OUTCOMES`, ``"observed"`` if it is not given; the
    rest are the parameters of its ``load``. `repeat` is the number of the draw, for data sets that
    are drawn, and for permuted outcomes.
    """
    outcome = recipe.get("outcome", "observed")
    if outcome not in OUTCOMES:
        raise ValueError(f"outcome={outcome!r}: expected one of {', '.join(OUTCOMES)}")
    # A control has the features of its original, so both have the same seed.
    recipe = {k: v for k, v in recipe.items() if k != "outcome"}
    parameters = {k: v for k, v in recipe.items() if k != "dataset"}
    load = loader(recipe["dataset"])
    if "random_state" in inspect.signature(load).parameters:
        parameters["random_state"] = seeds.derive(recipe, repeat, "data")
    try:
        data = load(**parameters)
    except ValueError as error:
        raise (storage.TableError(str(error)) if "path" in parameters else error) from None
    _check_shapes(data, recipe["dataset"])
    return _permuted(data, recipe, repeat) if outcome == "permuted" else data


def _check_shapes(data, name):
    """Refuse wrong shapes from a user's loader here, where the loader is known."""
    shape, n_targets, n_names = np.shape(data.X), np.shape(data.y), len(data.feature_names)
    if len(shape) != 2 or n_targets != shape[:1] or n_names != shape[1]:
        raise ValueError(
            f"data set {name}: X has the shape {shape}, y {n_targets}, and there are {n_names} "
            "feature_names; expected (n_samples, n_features), (n_samples,) and n_features"
        )


def _permuted(data, recipe, repeat):
    """The data set with its outcomes dealt anew to the rows."""
    # A recipe's own random_state also draws its rows: the repeat keeps the streams apart.
    seed = [seeds.derive(recipe, repeat, "permuted outcome"), 1 + repeat]
    order = np.random.default_rng(seed).permutation(len(data.y))
    return replace(data, y=data.y[order], relevant=())


def from_table(features, y, class_names=()) -> Dataset:
    """The data set of a DataFrame of features; for regression without `class_names`."""
    return Dataset(
        X=np.ascontiguousarray(features, dtype=np.float64),
        y=y.to_numpy(np.int64 if class_names else np.float64),
        feature_names=tuple(features.columns),
        class_names=class_names,
    )
